// The gated feed-forward network [Shazeer 2020], embedding and output projection.
#include "compose/models/parts.hpp"

namespace spatialcert::compose::models {

using namespace sections;  // NOLINT: the kinds of work

void write_swiglu(ModelWriter& writer, const std::string& name, const std::string& x,
                  std::uint64_t columns, const std::string& scale) {
  const std::uint64_t hidden = writer.configuration().hidden;
  writer.expect_divided(columns, "columns of the feed-forward network");
  const Cut by_columns{ir::Axis::columns, "ffn", false, 1};
  const Cut by_rows{ir::Axis::rows, "ffn", false, 1};
  for (std::uint32_t c = 0; c < writer.chips(); ++c) {
    const ir::IndexRange share = share_of_chip(columns, c, writer.chips());
    const std::string gate = writer.project(name + ".gate", "w" + name + ".gate", c, x, hidden,
                                            columns, by_columns, {share});
    const std::string up = writer.project(name + ".up", "w" + name + ".up", c, x, hidden, columns,
                                          by_columns, {share});
    const std::string act = writer.activation(name + ".act", c, 1, share.end - share.begin);
    Expression value = mul(writer.silu(tensor(gate)), tensor(up));
    if (!scale.empty()) value = mul(std::move(value), tensor(scale));
    writer.section(name + ".act", c, Elementwise{std::move(value), act});
    writer.project(name, "w" + name + ".down", c, act, columns, hidden, by_rows, {share}, true);
  }
  writer.allreduce(name, hidden);
}

void write_feed_forward(ModelWriter& writer, const std::string& prefix, const std::string& next) {
  writer.begin("ffn", prefix, {{"next", next}});
  const std::uint64_t hidden = writer.configuration().hidden;
  const std::string mid = writer.activation("mid", {}, 1, hidden);
  const std::string weight = writer.outside("wffnnorm", {}, 1, hidden, ir::TensorRole::weight);
  const std::string h = writer.activation("g", {}, 1, hidden);
  writer.rms_norm("ffnnorm", {}, mid, weight, h);
  write_swiglu(writer, "ffn", h, writer.configuration().ffn, {});
  const std::string out = writer.activation("next", {}, 1, hidden);
  writer.section("forward", {}, Elementwise{add(tensor(mid), writer.rounded("ffn")), out});
}

void write_embedding(ModelWriter& writer, const std::string& next) {
  writer.begin("embedding", "", {{"next", next}});
  const Configuration& about = writer.configuration();
  const std::string token =
      writer.outside("token", {}, 1, 1, ir::TensorRole::input, ir::DType::i32);
  writer.below(token, about.vocabulary);
  const std::string table =
      writer.outside("embedding", {}, about.vocabulary, about.hidden, ir::TensorRole::weight);
  const std::string out = writer.activation("next", {}, 1, about.hidden);
  writer.section("embed", {}, GatherRows{table, token, out});
}

void write_head(ModelWriter& writer, const std::string& last) {
  writer.begin("head", "", {{"last", last}});
  const Configuration& about = writer.configuration();
  writer.expect_divided(about.vocabulary, "entries of the vocabulary");
  const std::string x = writer.activation("last", {}, 1, about.hidden);
  const std::string weight = writer.outside("wnorm", {}, 1, about.hidden, ir::TensorRole::weight);
  const std::string h = writer.activation("final", {}, 1, about.hidden);
  writer.rms_norm("norm", {}, x, weight, h);
  for (std::uint32_t c = 0; c < writer.chips(); ++c) {
    writer.project("logits", "wlogits", c, h, about.hidden, about.vocabulary,
                   {ir::Axis::columns, "vocabulary", false, 1},
                   {share_of_chip(about.vocabulary, c, writer.chips())});
  }
}

}  // namespace spatialcert::compose::models
