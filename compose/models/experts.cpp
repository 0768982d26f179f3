// A mixture of experts, which are spread over the chips.
//
// Which experts a token takes is known only when the program runs, and its schedule before that. So
// every chip computes all chosen experts, each from a row of its own table of weights: the last row
// is an expert of zeros, and stands for those that other chips have. A map per chip says which row
// an expert is.
#include "compose/models/parts.hpp"

namespace spatialcert::compose::models {
namespace {

using namespace sections;  // NOLINT: the kinds of work

class ExpertsPart {
 public:
  explicit ExpertsPart(ModelWriter& writer)
      : w_(writer),
        about_(*writer.configuration().experts),
        hidden_(writer.configuration().hidden) {}

  void write(const std::string& mid, const std::string& h) {
    route(h);
    for (std::uint32_t c = 0; c < w_.chips(); ++c) write_chip(c, h);
    w_.allreduce("routed", hidden_);
    Expression sum = add(tensor(mid), w_.rounded("routed"));
    if (about_.shared_ffn != 0) {
      share(h);
      sum = add(std::move(sum), w_.rounded("shared"));
    }
    const std::string next = w_.activation("next", {}, 1, hidden_);
    w_.section("forward", {}, Elementwise{std::move(sum), next});
  }

 private:
  /// Which experts, and how much of each: the softmax over the chosen ones' scores.
  void route(const std::string& h) {
    const std::uint64_t count = about_.count, k = about_.routed;
    const std::string weight = w_.outside("wrouter", {}, hidden_, count, ir::TensorRole::weight);
    const std::string scores = w_.activation("router", {}, 1, count);
    w_.section("router", {}, Matmul{h, weight, scores});
    const std::string chosen = w_.activation("chosen", {}, 1, k, ir::DType::i32);
    w_.section("chosen", {}, TopK{scores, chosen});
    chosen_ = w_.view("chosen.column", {}, chosen, k, 1);
    const std::string column = w_.view("router.column", {}, scores, count, 1);
    const std::string picked = w_.activation("picked", {}, k, 1);
    w_.section("picked", {}, GatherRows{column, chosen_, picked});
    const std::string row = w_.view("picked.row", {}, picked, 1, k);
    gates_ = w_.activation("gates", {}, 1, k);
    w_.softmax("gates", {}, row, gates_);
  }

  /// The weights of the chosen experts, `rows` x `cols` each, one below the other.
  std::string chosen_weights(const std::string& name, std::uint32_t c, const std::string& index,
                             std::uint64_t rows, std::uint64_t cols) {
    const std::uint64_t count = about_.count, chips = w_.chips(), k = about_.routed;
    // Behind the experts the full table has one of zeros for every chip.
    const std::string table =
        w_.part("w" + name, c, count + chips, rows * cols, {ir::Axis::rows, "experts", true, 1},
                {share_of_chip(count, c, w_.chips()), {count + c, count + c + 1}});
    const std::string taken = w_.activation(name + ".taken", c, k, rows * cols);
    w_.section(name + ".taken", c, GatherRows{table, index, taken});
    return w_.view(name + ".matrices", c, taken, k * rows, cols);
  }

  void write_chip(std::uint32_t c, const std::string& h) {
    const std::uint64_t count = about_.count, k = about_.routed, ffn = about_.ffn;
    const std::string map =
        w_.part("map", c, count, w_.chips(), {ir::Axis::columns, "experts", true, 1},
                {share_of_chip(w_.chips(), c, w_.chips())}, ir::TensorRole::weight, ir::DType::i32);
    w_.below(map, count / w_.chips() + 1);
    const std::string own = w_.activation("own", c, k, 1, ir::DType::i32);
    w_.section("own", c, GatherRows{map, chosen_, own});
    const auto middle = [&](const std::string& name) {
      const std::string weights = chosen_weights(name, c, own, hidden_, ffn);
      const std::string result = w_.activation(name, c, k, ffn);
      w_.section(name, c, Matmul{h, weights, result, {}, k, false, false, {}});
      return result;
    };
    const std::string gate = middle("expert.gate");
    const std::string up = middle("expert.up");
    const std::string act = w_.activation("expert.act", c, k, ffn);
    w_.section("expert.act", c, Elementwise{mul(w_.silu(tensor(gate)), tensor(up)), act});
    const std::string weights = chosen_weights("expert.down", c, own, ffn, hidden_);
    const std::string down = w_.activation("expert.down", c, k, hidden_);
    w_.section("expert.down", c, Matmul{act, weights, down, {}, k, false, false, {}});
    const std::string partial = w_.activation(w_.partial("routed"), c, 1, hidden_, w_.sum_type());
    w_.section(w_.partial("routed"), c, Matmul{gates_, down, partial});
  }

  /// The expert that every token takes, times its gate.
  void share(const std::string& h) {
    const std::string weight = w_.outside("wsharegate", {}, hidden_, 1, ir::TensorRole::weight);
    const std::string score = w_.activation("sharescore", {}, 1, 1);
    w_.section("sharescore", {}, Matmul{h, weight, score});
    const std::string gate = w_.activation("sharegate", {}, 1, 1);
    w_.section("sharegate", {}, Elementwise{w_.sigmoid(tensor(score)), gate});
    write_swiglu(w_, "shared", h, about_.shared_ffn, gate);
  }

  ModelWriter& w_;
  const Experts& about_;
  std::uint64_t hidden_;
  std::string chosen_, gates_;
};

}  // namespace

void write_experts(ModelWriter& writer, const std::string& prefix, const std::string& next) {
  const std::uint64_t hidden = writer.configuration().hidden;
  writer.expect_divided(writer.configuration().experts->count, "experts");
  writer.begin("experts", prefix, {{"next", next}});
  const std::string mid = writer.activation("mid", {}, 1, hidden);
  const std::string weight = writer.outside("wffnnorm", {}, 1, hidden, ir::TensorRole::weight);
  const std::string h = writer.activation("g", {}, 1, hidden);
  writer.rms_norm("ffnnorm", {}, mid, weight, h);
  ExpertsPart(writer).write(mid, h);
}

}  // namespace spatialcert::compose::models
