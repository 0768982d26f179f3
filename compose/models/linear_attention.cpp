// Gated DeltaNet [Yang, Kautz, Hatamizadeh 2025], as Qwen3-Next has it: a short convolution over
// queries, keys and values, a state per value head, a gated norm.
//
// Key heads are tiled across value heads: value head v has key head v modulo their number. So what
// a chip has of the value heads are as many ranges as there are value heads to a key head.
#include <cmath>

#include "compose/models/parts.hpp"

namespace spatialcert::compose::models {
namespace {

using namespace sections;  // NOLINT: the kinds of work

class LinearPart {
 public:
  explicit LinearPart(ModelWriter& writer)
      : w_(writer),
        about_(*writer.configuration().linear_attention),
        hidden_(writer.configuration().hidden),
        keys_(about_.key_heads / writer.chips()),
        values_(about_.value_heads / writer.chips()) {}

  void write() {
    const std::string x = w_.activation("x", {}, 1, hidden_);
    const std::string weight = w_.outside("wnorm", {}, 1, hidden_, ir::TensorRole::weight);
    h_ = w_.activation("h", {}, 1, hidden_);
    w_.rms_norm("norm", {}, x, weight, h_);
    for (std::uint32_t c = 0; c < w_.chips(); ++c) write_chip(c);
    w_.allreduce("attended", hidden_);
    const std::string mid = w_.activation("mid", {}, 1, hidden_);
    w_.section("attend", {}, Elementwise{add(tensor(x), w_.rounded("attended")), mid});
  }

 private:
  /// The value heads of a chip, `per_head` entries each, from `first` on.
  [[nodiscard]] std::vector<ir::IndexRange> value_ranges(std::uint32_t chip, std::uint64_t per_head,
                                                         std::uint64_t first = 0) const {
    std::vector<ir::IndexRange> out;
    for (std::uint64_t round = 0; round < about_.value_heads / about_.key_heads; ++round) {
      const std::uint64_t head = round * about_.key_heads + keys_ * chip;
      out.push_back({first + head * per_head, first + (head + keys_) * per_head});
    }
    return out;
  }

  /// Queries, keys and values behind one another: what a chip has of these channels.
  [[nodiscard]] std::vector<ir::IndexRange> channels(std::uint32_t chip) const {
    const std::uint64_t keys = about_.key_heads * about_.key_dim;
    const ir::IndexRange own = share_of_chip(keys, chip, w_.chips());
    std::vector<ir::IndexRange> out{own, {keys + own.begin, keys + own.end}};
    for (const ir::IndexRange& r : value_ranges(chip, about_.value_dim, 2 * keys)) out.push_back(r);
    return out;
  }

  void write_chip(std::uint32_t c) {
    const Cut by_heads{ir::Axis::columns, "key-heads", false, 1};
    const std::uint64_t values = about_.value_heads * about_.value_dim;
    convolved_ = convolved(c);
    const std::string q = tiled("q", c, 0);
    const std::string k = tiled("k", c, keys_ * about_.key_dim);
    const std::string v =
        w_.view("v", c, convolved_, values_, about_.value_dim, 2 * keys_ * about_.key_dim);
    const std::string state = update(c, k, v);
    const std::string out = w_.activation("out", c, values_, about_.value_dim);
    w_.section("out", c, Matmul{q, state, out, {}, values_, false, false, {}});
    const std::string gate =
        w_.project("z", "wz", c, h_, hidden_, values, by_heads, value_ranges(c, about_.value_dim));
    const std::string row =
        w_.view("gated.row", c, gated(c, out, gate), 1, values_ * about_.value_dim);
    w_.project("attended", "wo", c, row, values, hidden_, {ir::Axis::rows, "key-heads", false, 1},
               value_ranges(c, about_.value_dim), true);
  }

  /// The channels, after the convolution over the last inputs.
  std::string convolved(std::uint32_t c) {
    const std::uint64_t all =
        2 * about_.key_heads * about_.key_dim + about_.value_heads * about_.value_dim;
    const std::uint64_t width = about_.convolution;
    const Cut by_heads{ir::Axis::columns, "key-heads", false, 1};
    const Cut stacked{ir::Axis::columns, "key-heads", true, 1};
    const std::string mixed = w_.project("qkv", "wqkv", c, h_, hidden_, all, by_heads, channels(c));
    const std::uint64_t own = 2 * keys_ * about_.key_dim + values_ * about_.value_dim;
    const std::string window =
        w_.part("window", c, width, all, stacked, channels(c), ir::TensorRole::state);
    w_.carry(window);
    w_.section("window", c, ShiftRows{mixed, window});
    const std::string weight = w_.part("wconv", c, width, all, stacked, channels(c));
    const std::string sums = w_.activation("conv", c, 1, own);
    w_.section("conv", c, Conv1d{window, weight, sums, {}});
    const std::string out = w_.activation("conv.act", c, 1, own);
    w_.section("conv.act", c, Elementwise{w_.silu(tensor(sums)), out});
    return out;
  }

  /// Queries or keys of unit length (up to a factor that the weight has), for every value head.
  std::string tiled(const std::string& name, std::uint32_t c, std::uint64_t offset) {
    const std::uint64_t dim = about_.key_dim;
    const std::string rows = w_.view(name, c, convolved_, keys_, dim, offset);
    const std::string weight = w_.outside("w" + name + "norm", {}, 1, dim, ir::TensorRole::weight);
    const std::string normed = w_.activation(name + ".normed", c, keys_, dim);
    w_.rms_norm(name + ".norm", c, rows, weight, normed);
    if (values_ == keys_) return normed;
    const std::string out = w_.activation(name + ".tiled", c, values_, dim);
    w_.section(name + ".tiled", c, RepeatRows{normed, out});
    return out;
  }

  /// The states after this token.
  std::string update(std::uint32_t c, const std::string& k, const std::string& v) {
    const std::uint64_t heads = about_.value_heads;
    const Cut by_heads{ir::Axis::columns, "key-heads", false, 1};
    const std::string b =
        w_.project("b", "wb", c, h_, hidden_, heads, by_heads, value_ranges(c, 1));
    const std::string a =
        w_.project("a", "wa", c, h_, hidden_, heads, by_heads, value_ranges(c, 1));
    const std::string bias =
        w_.part("wdt", c, 1, heads, {ir::Axis::columns, "key-heads", true, 1}, value_ranges(c, 1));
    const std::string rate = w_.activation("rate", c, 1, values_);
    w_.section("rate", c, Elementwise{w_.sigmoid(tensor(b)), rate});
    const std::string decay = w_.activation("decay", c, 1, values_);
    w_.section("decay", c, Elementwise{w_.sigmoid(neg(add(tensor(a), tensor(bias)))), decay});
    const std::uint64_t rows = heads * about_.key_dim;
    const std::string state =
        w_.part("state", c, rows, about_.value_dim, {ir::Axis::rows, "key-heads", true, 1},
                value_ranges(c, about_.key_dim), ir::TensorRole::state);
    w_.carry(state);
    w_.section("state", c,
               DeltaUpdate{state, k, v, w_.view("decay.column", c, decay, values_, 1),
                           w_.view("rate.column", c, rate, values_, 1), values_});
    return state;
  }

  std::string gated(std::uint32_t c, const std::string& out, const std::string& gate) {
    const std::uint64_t dim = about_.value_dim;
    const std::string weight = w_.outside("woutnorm", {}, 1, dim, ir::TensorRole::weight);
    const std::string normed = w_.activation("out.normed", c, values_, dim);
    w_.rms_norm("out.norm", c, out, weight, normed);
    const std::string rows = w_.view("z.heads", c, gate, values_, dim);
    const std::string result = w_.activation("gated", c, values_, dim);
    w_.section("gated", c, Elementwise{mul(tensor(normed), w_.silu(tensor(rows))), result});
    return result;
  }

  ModelWriter& w_;
  const LinearAttention& about_;
  std::uint64_t hidden_;
  std::uint64_t keys_, values_;  ///< heads of a chip
  std::string h_, convolved_;
};

}  // namespace

void write_linear_attention(ModelWriter& writer, const std::string& prefix) {
  writer.expect_divided(writer.configuration().linear_attention->key_heads,
                        "key heads of linear attention");
  writer.begin("linear", prefix, {});
  LinearPart(writer).write();
}

}  // namespace spatialcert::compose::models
