// Attention over a cache of keys and values, query heads in groups [Ainslie et al. 2023].
#include <cmath>

#include "compose/models/parts.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose::models {
namespace {

using namespace sections;  // NOLINT: the kinds of work

class AttentionPart {
 public:
  explicit AttentionPart(ModelWriter& writer)
      : w_(writer),
        about_(writer.configuration().attention),
        hidden_(writer.configuration().hidden) {}

  void write() {
    check_chips();
    const std::uint32_t chips = w_.chips();
    heads_ = about_.heads / chips;
    kv_heads_ = std::max<std::uint64_t>(about_.kv_heads / chips, 1);
    const std::string x = w_.activation("x", {}, 1, hidden_);
    const std::string weight = w_.outside("wnorm", {}, 1, hidden_, ir::TensorRole::weight);
    h_ = w_.activation("h", {}, 1, hidden_);
    w_.rms_norm("norm", {}, x, weight, h_);
    for (std::uint32_t c = 0; c < chips; ++c) write_chip(c);
    w_.allreduce("attended", hidden_);
    const std::string mid = w_.activation("mid", {}, 1, hidden_);
    w_.section("attend", {}, Elementwise{add(tensor(x), w_.rounded("attended")), mid});
  }

 private:
  void check_chips() {
    w_.expect_divided(about_.heads, "heads of attention");
    const std::uint64_t kv = about_.kv_heads, chips = w_.chips();
    if (kv % chips == 0 || chips % kv == 0) return;
    w_.expect_divided(kv, "key and value heads, or is a multiple of them");
  }

  /// What a chip has of `per_head` entries for every key and value head.
  [[nodiscard]] std::vector<ir::IndexRange> kv_range(std::uint32_t chip,
                                                     std::uint64_t per_head) const {
    const std::uint64_t first = about_.kv_heads * chip / w_.chips();
    return {{first * per_head, (first + kv_heads_) * per_head}};
  }
  [[nodiscard]] std::uint32_t copies() const {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(w_.chips() / about_.kv_heads, 1));
  }

  void write_chip(std::uint32_t c) {
    const std::uint64_t dim = about_.head_dim, kv = about_.kv_heads;
    const Cut by_heads{ir::Axis::columns, "heads", false, 1};
    const Cut by_kv{ir::Axis::columns, "heads", false, copies()};
    const auto share = share_of_chip(about_.heads * dim, c, w_.chips());
    const std::string q =
        w_.project("q", "wq", c, h_, hidden_, about_.heads * dim, by_heads, {share});
    const std::string k = w_.project("k", "wk", c, h_, hidden_, kv * dim, by_kv, kv_range(c, dim));
    const std::string v = w_.project("v", "wv", c, h_, hidden_, kv * dim, by_kv, kv_range(c, dim));
    append(c, turned("k", c, k, kv_heads_), v);
    std::string out = attended(c, turned("q", c, q, heads_));
    if (about_.output_gate) {
      const std::string gate =
          w_.project("gate", "wgate", c, h_, hidden_, about_.heads * dim, by_heads, {share});
      const std::string rows = w_.view("gate.heads", c, gate, heads_, dim);
      const std::string gated = w_.activation("gated", c, heads_, dim);
      w_.section("gated", c, Elementwise{mul(tensor(out), w_.sigmoid(tensor(rows))), gated});
      out = gated;
    }
    const std::string row = w_.view("out.row", c, out, 1, heads_ * dim);
    w_.project("attended", "wo", c, row, about_.heads * dim, hidden_,
               {ir::Axis::rows, "heads", false, 1}, {share}, true);
  }

  /// Queries or keys, normalised if the model does, and turned by the position.
  std::string turned(const std::string& name, std::uint32_t c, const std::string& x,
                     std::uint64_t heads) {
    const std::uint64_t dim = about_.head_dim;
    std::string rows = w_.view(name + ".heads", c, x, heads, dim);
    if (about_.qk_norm) {
      const std::string weight =
          w_.outside("w" + name + "norm", {}, 1, dim, ir::TensorRole::weight);
      const std::string normed = w_.activation(name + ".normed", c, heads, dim);
      w_.rms_norm(name + ".norm", c, rows, weight, normed);
      rows = normed;
    }
    const std::string cosine = w_.outside("cos", {}, 1, dim / 2, ir::TensorRole::input);
    const std::string sine = w_.outside("sin", {}, 1, dim / 2, ir::TensorRole::input);
    const std::string out = w_.activation(name + ".turned", c, heads, dim);
    w_.section(name + ".rope", c, Rope{rows, cosine, sine, out});
    return out;
  }

  /// Keys in columns, head by head below one another; values in rows, heads side by side.
  void append(std::uint32_t c, const std::string& k, const std::string& v) {
    const std::uint64_t dim = about_.head_dim, kv = about_.kv_heads;
    const std::uint64_t context = w_.options().context, position = w_.options().position;
    keys_ = w_.part("keys", c, kv * dim, context, {ir::Axis::rows, "heads", true, copies()},
                    kv_range(c, dim), ir::TensorRole::state);
    values_ = w_.part("values", c, context, kv * dim, {ir::Axis::columns, "heads", true, copies()},
                      kv_range(c, dim), ir::TensorRole::state);
    w_.carry(keys_);
    w_.carry(values_);
    const std::string row = w_.view("k.row", c, k, 1, kv_heads_ * dim);
    w_.section("keys", c, AppendColumn{row, keys_, position});
    w_.section("values", c, AppendRows{v, values_, position});
  }

  /// The positions so far, weighed by every query head.
  std::string attended(std::uint32_t c, const std::string& q) {
    const std::uint64_t dim = about_.head_dim, seen = w_.options().position + 1;
    const std::string scores = w_.activation("scores", c, heads_, seen);
    w_.section("scores", c, Matmul{q, keys_, scores, {}, kv_heads_, false, true, {}});
    const std::string scaled = w_.activation("scaled", c, heads_, seen);
    w_.section("scaled", c,
               Elementwise{w_.scaled(scores, 1 / std::sqrt(static_cast<double>(dim))), scaled});
    const std::string weights = w_.activation("weights", c, heads_, seen);
    w_.softmax("weights", c, scaled, weights);
    const std::string out = w_.activation("out", c, heads_, dim);
    w_.section("out", c, Matmul{weights, values_, out, {}, kv_heads_, true, true, {}});
    return out;
  }

  ModelWriter& w_;
  const Attention& about_;
  std::uint64_t hidden_;
  std::uint64_t heads_ = 0, kv_heads_ = 0;  ///< of a chip
  std::string h_, keys_, values_;
};

}  // namespace

ir::IndexRange share_of_chip(std::uint64_t size, std::uint32_t chip, std::uint32_t parts) {
  SPATIALCERT_REQUIRE(size % parts == 0, "shares are equal");
  return {size / parts * chip, size / parts * (chip + 1)};
}

void write_attention(ModelWriter& writer, const std::string& prefix) {
  writer.begin("attention", prefix, {{"cos", "cos"}, {"sin", "sin"}});
  AttentionPart(writer).write();
}

}  // namespace spatialcert::compose::models
