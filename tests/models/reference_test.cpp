// A model on one chip against plain loops over its weights, which know nothing of sections.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

using Row = std::vector<double>;

/// The decoding step as its papers have it, one token after the other.
class Reference {
 public:
  Reference(const models::Configuration& about, World& world) : about_(about), world_(world) {}

  Row token(std::uint64_t position) {
    world_.turn(position);
    const Matrix table = full("embedding", about_.vocabulary, about_.hidden);
    const auto number =
        static_cast<std::uint64_t>(world_.full("token", DType::i32, 1, 1, 1).integers.front());
    Row x(about_.hidden);
    for (std::uint64_t i = 0; i < x.size(); ++i) x[i] = table.reals[number * x.size() + i];
    for (std::uint64_t l = 0; l < about_.layers; ++l) {
      layer_ = fmt::format("L{}.", l);
      const Row h = normed(x, "wnorm");
      x = sum(x, models::is_linear(about_, l) ? linear(h) : attention(h));
      const Row g = normed(x, "wffnnorm");
      x = sum(x, about_.experts ? experts(g) : swiglu(g, "wffn", about_.ffn));
    }
    layer_.clear();
    return times(normed(x, "wnorm"), "wlogits", about_.vocabulary);
  }

 private:
  Matrix full(const std::string& name, std::uint64_t rows, std::uint64_t cols) const {
    return world_.full(layer_ + name, DType::f64, rows, cols, 1);
  }
  static Row sum(Row a, const Row& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  static double silu(double x) { return x * sigmoid(x); }

  Row times(const Row& x, const std::string& weight, std::uint64_t cols) const {
    const Matrix w = full(weight, x.size(), cols);
    Row out(cols, 0);
    for (std::size_t k = 0; k < x.size(); ++k) {
      for (std::uint64_t c = 0; c < cols; ++c) out[c] += x[k] * w.reals[k * cols + c];
    }
    return out;
  }
  Row normed(Row x, const std::string& weight) const {
    const Matrix w = full(weight, 1, x.size());
    double mean = 0;
    for (const double v : x) mean += v * v / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= w.reals[i] / std::sqrt(mean + 1e-6);
    return x;
  }
  static Row head(const Row& x, std::uint64_t number, std::uint64_t dim) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(number * dim);
    return {begin, begin + static_cast<std::ptrdiff_t>(dim)};
  }
  static double dot(const Row& a, const Row& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  Row turned(Row x) const {
    const std::uint64_t half = x.size() / 2;
    const Matrix cosine = world_.full("cos", DType::f64, 1, half, 1);
    const Matrix sine = world_.full("sin", DType::f64, 1, half, 1);
    Row out(x.size());
    for (std::size_t i = 0; i < half; ++i) {
      out[i] = x[i] * cosine.reals[i] - x[i + half] * sine.reals[i];
      out[i + half] = x[i + half] * cosine.reals[i] + x[i] * sine.reals[i];
    }
    return out;
  }

  static Row softmax(Row x) {
    double all = 0;
    for (double& v : x) all += v = std::exp(v);
    for (double& v : x) v /= all;
    return x;
  }

  /// Keys and values of the positions so far, by head: what caches held before, then these.
  struct Cache {
    std::vector<std::vector<Row>> keys, values;
  };

  Row attention(const Row& h) {
    const auto& a = about_.attention;
    const std::uint64_t dim = a.head_dim;
    const Row q = times(h, "wq", a.heads * dim), k = times(h, "wk", a.kv_heads * dim);
    const Row v = times(h, "wv", a.kv_heads * dim);
    Cache& cache = caches_[layer_];
    cache.keys.resize(a.kv_heads);
    cache.values.resize(a.kv_heads);
    for (std::uint64_t g = 0; g < a.kv_heads; ++g) {
      Row key = head(k, g, dim);
      if (a.qk_norm) key = normed(key, "wknorm");
      cache.keys[g].push_back(turned(key));
      cache.values[g].push_back(head(v, g, dim));
    }
    Row out;
    for (std::uint64_t n = 0; n < a.heads; ++n) {
      const std::uint64_t g = n / (a.heads / a.kv_heads);
      Row query = head(q, n, dim);
      if (a.qk_norm) query = normed(query, "wqnorm");
      query = turned(query);
      Row scores;
      for (const Row& key : cache.keys[g]) {
        scores.push_back(dot(query, key) / std::sqrt(static_cast<double>(dim)));
      }
      const Row weights = softmax(scores);
      Row one(dim, 0);
      for (std::size_t p = 0; p < weights.size(); ++p) {
        for (std::uint64_t i = 0; i < dim; ++i) one[i] += weights[p] * cache.values[g][p][i];
      }
      out.insert(out.end(), one.begin(), one.end());
    }
    if (a.output_gate) {
      const Row gate = times(h, "wgate", out.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= sigmoid(gate[i]);
    }
    return times(out, "wo", about_.hidden);
  }

  Row linear(const Row& h) {
    const auto& l = *about_.linear_attention;
    const std::uint64_t keys = l.key_heads * l.key_dim, values = l.value_heads * l.value_dim;
    const std::uint64_t channels = 2 * keys + values;
    const Row mixed = times(h, "wqkv", channels);
    auto& window = windows_[layer_];
    if (window.empty()) {
      const Matrix before = full("window", l.convolution, channels);
      for (std::uint64_t t = 0; t < l.convolution; ++t)
        window.push_back(head(before.reals, t, channels));
    }
    window.erase(window.begin());
    window.push_back(mixed);
    const Matrix w = full("wconv", l.convolution, channels);
    Row convolved(channels, 0);
    for (std::uint64_t c = 0; c < channels; ++c) {
      for (std::uint64_t t = 0; t < l.convolution; ++t) {
        convolved[c] += w.reals[t * channels + c] * window[t][c];
      }
      convolved[c] = silu(convolved[c]);
    }
    const Row b = times(h, "wb", l.value_heads), a = times(h, "wa", l.value_heads);
    const Matrix bias = full("wdt", 1, l.value_heads);
    const Row z = times(h, "wz", values);
    Row& state = states_[layer_];
    if (state.empty()) state = full("state", l.value_heads * l.key_dim, l.value_dim).reals;
    Row out;
    for (std::uint64_t n = 0; n < l.value_heads; ++n) {
      const std::uint64_t of = n % l.key_heads;
      const Row q = normed(head(convolved, of, l.key_dim), "wqnorm");
      const Row k =
          normed(head(Row(convolved.begin() + static_cast<std::ptrdiff_t>(keys), convolved.end()),
                      of, l.key_dim),
                 "wknorm");
      const Row v =
          head(Row(convolved.begin() + static_cast<std::ptrdiff_t>(2 * keys), convolved.end()), n,
               l.value_dim);
      const double decay = sigmoid(-(a[n] + bias.reals[n])), rate = sigmoid(b[n]);
      Row one(l.value_dim, 0);
      double* const s = state.data() + n * l.key_dim * l.value_dim;
      for (std::uint64_t e = 0; e < l.value_dim; ++e) {
        double seen = 0;
        for (std::uint64_t d = 0; d < l.key_dim; ++d)
          seen += k[d] * (s[d * l.value_dim + e] *= decay);
        for (std::uint64_t d = 0; d < l.key_dim; ++d) {
          s[d * l.value_dim + e] += k[d] * rate * (v[e] - seen);
          one[e] += q[d] * s[d * l.value_dim + e];
        }
      }
      one = normed(one, "woutnorm");
      for (std::uint64_t e = 0; e < l.value_dim; ++e) {
        out.push_back(one[e] * silu(z[n * l.value_dim + e]));
      }
    }
    return times(out, "wo", about_.hidden);
  }

  Row swiglu(const Row& x, const std::string& name, std::uint64_t columns) const {
    const Row up = times(x, name + ".up", columns);
    Row act = times(x, name + ".gate", columns);
    for (std::size_t i = 0; i < act.size(); ++i) act[i] = silu(act[i]) * up[i];
    return times(act, name + ".down", about_.hidden);
  }

  /// Row `expert` of a table of flattened weights.
  Row of_expert(const Row& x, const std::string& name, std::uint64_t expert,
                std::uint64_t cols) const {
    const std::uint64_t size = x.size() * cols;
    const Matrix table = full("wexpert." + name, about_.experts->count + 1, size);
    Row out(cols, 0);
    for (std::size_t k = 0; k < x.size(); ++k) {
      for (std::uint64_t c = 0; c < cols; ++c) {
        out[c] += x[k] * table.reals[expert * size + k * cols + c];
      }
    }
    return out;
  }

  Row experts(const Row& g) const {
    const auto& e = *about_.experts;
    const Row scores = times(g, "wrouter", e.count);
    std::vector<std::uint64_t> order(e.count);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return scores[a] > scores[b]; });
    Row chosen;
    for (std::uint64_t s = 0; s < e.routed; ++s) chosen.push_back(scores[order[s]]);
    const Row gates = softmax(chosen);
    Row out(about_.hidden, 0);
    for (std::uint64_t s = 0; s < e.routed; ++s) {
      const Row up = of_expert(g, "up", order[s], e.ffn);
      Row act = of_expert(g, "gate", order[s], e.ffn);
      for (std::size_t i = 0; i < act.size(); ++i) act[i] = silu(act[i]) * up[i];
      const Row one = of_expert(act, "down", order[s], about_.hidden);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += gates[s] * one[i];
    }
    if (e.shared_ffn == 0) return out;
    const double gate = sigmoid(times(g, "wsharegate", 1).front());
    const Row shared = swiglu(g, "wshared", e.shared_ffn);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += gate * shared[i];
    return out;
  }

  const models::Configuration& about_;
  World& world_;

  std::string layer_;
  std::map<std::string, Cache> caches_;
  std::map<std::string, std::vector<Row>> windows_;
  std::map<std::string, Row> states_;
};

void check_against_reference(const models::Configuration& about) {
  CAPTURE(about.name);
  World world(about), plain(about);
  models::ModelOptions options = small_options(1);
  Reference reference(about, plain);
  for (std::uint64_t position = 0; position < 4; ++position) {
    CAPTURE(position);
    options.position = position;
    const Ran ran = run(about, options, world, position);
    const Matrix logits = ran.tensor("logits");
    const Row expected = reference.token(position);
    REQUIRE(logits.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::abs(logits.reals[i] - expected[i]) <= 1e-9 * std::max(1.0, std::abs(expected[i])));
    }
  }
}

TEST_CASE("a model on one chip computes what its layers are in plain loops") {
  models::Configuration dense = dense_model(DType::f64);
  dense.layers = 2;
  check_against_reference(dense);
  dense.attention.qk_norm = false;
  dense.attention.kv_heads = 8;
  check_against_reference(dense);
  models::Configuration hybrid = hybrid_model(DType::f64);
  hybrid.layers = 4;
  check_against_reference(hybrid);
  hybrid.experts->shared_ffn = 0;
  hybrid.experts->routed = 3;
  hybrid.linear_attention->value_heads = 16;
  check_against_reference(hybrid);
}

}  // namespace
}  // namespace spatialcert::tests
