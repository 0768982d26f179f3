// A decoding step of an attention layer, section by section, against plain loops.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "certify/pipeline.hpp"
#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using namespace compose::sections;  // NOLINT: the words of descriptions
using ir::machine::Ending;
using ir::machine::Schedule;

constexpr std::uint64_t kModel = 10, kHead = 6, kPositions = 7, kPosition = 4;
using Row = std::vector<double>;

/// Tensors between sections, as the host holds them.
class Host {
 public:
  void hold(const std::string& name, std::uint64_t rows, std::uint64_t cols) {
    tensors_.push_back({name, rows, cols, DType::f32, ir::TensorRole::input});
  }
  void set(const std::string& name, Row values) {
    for (const SectionTensor& t : tensors_) {
      if (t.name == name) world_[name] = Matrix::of(t.dtype, t.rows, t.cols, std::move(values));
    }
  }

  void run(const Work& work, const std::string& result, bool by_columns = false) {
    CAPTURE(result);
    const Variation variation{2,
                              by_columns ? Split::columns : Split::rows,
                              ++sections_ % 2 == 0 ? Handover::fifo : Handover::semaphores,
                              2,
                              {2, 4, 3}};
    const auto built = compose::build_section(describe(work, tensors_, variation));
    REQUIRE_MESSAGE(built.has_value(), built.error().message());
    const auto report = certify::certify(*built);
    CHECK_MESSAGE(report.verdict == certify::Verdict::certified, report.reason);
    Inputs inputs;
    for (const ir::Tensor& t : built->tensors) {
      if (t.init == ir::Init::external && world_.count(t.name) != 0) {
        inputs.tensors[t.name] = world_.at(t.name);
      }
    }
    auto made = Machine::make(*built, inputs);
    REQUIRE_MESSAGE(made.has_value(), made.error().message());
    // What nobody has set yet is drawn, and is the same from now on.
    for (const auto& t : built->tensors) {
      if (t.init == ir::Init::external) world_[t.name] = *made->tensor(t.name);
    }
    const auto outcome = made->run(Schedule::random(sections_));
    REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
    before_ = world_;
    world_[result] = *made->tensor(result);
  }

  [[nodiscard]] const Row& of(const std::string& name) const { return world_.at(name).reals; }
  /// Before the last section.
  [[nodiscard]] const Row& before(const std::string& name) const { return before_.at(name).reals; }

 private:
  std::vector<SectionTensor> tensors_;
  std::map<std::string, Matrix> world_, before_;
  std::uint64_t sections_ = 0;
};

/// x, a row, times a matrix of `cols` columns.
Row times(const Row& x, const Row& matrix, std::uint64_t cols) {
  Row out(cols, 0);
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (std::uint64_t c = 0; c < cols; ++c) out[c] += x[k] * matrix[k * cols + c];
  }
  return out;
}

Row turned(const Row& x, const Row& cosine, const Row& sine) {
  Row out(x.size());
  const std::size_t half = x.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    out[i] = x[i] * cosine[i] - x[i + half] * sine[i];
    out[i + half] = x[i + half] * cosine[i] + x[i] * sine[i];
  }
  return out;
}

/// The whole step, from the input and what the caches held.
Row attended(const Host& host, Row keys, Row values) {
  const Row& x = host.of("x");
  double mean = 0;
  for (const double value : x) mean += value * value / static_cast<double>(x.size());
  Row normed = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    normed[i] = x[i] / std::sqrt(mean + 1e-6) * host.of("norm")[i];
  }
  const Row q = turned(times(normed, host.of("wq"), kHead), host.of("cos"), host.of("sin"));
  const Row k = turned(times(normed, host.of("wk"), kHead), host.of("cos"), host.of("sin"));
  const Row v = times(normed, host.of("wv"), kHead);
  for (std::uint64_t i = 0; i < kHead; ++i) {
    keys[i * kPositions + kPosition] = k[i];
    values[kPosition * kHead + i] = v[i];
  }
  Row p = times(q, keys, kPositions);
  double sum = 0;
  for (std::uint64_t i = 0; i < kPositions; ++i) {
    p[i] = i <= kPosition ? std::exp(p[i] * 0.5) : 0;
    sum += p[i];
  }
  for (double& weight : p) weight /= sum;
  Row out = times(times(p, values, kHead), host.of("wo"), kModel);
  for (std::size_t i = 0; i < x.size(); ++i) out[i] += x[i];
  return out;
}

TEST_CASE("a decoding step of attention, built as sections") {
  Host host;
  host.hold("x", 1, kModel), host.hold("norm", 1, kModel), host.hold("normed", 1, kModel);
  for (const char* const name : {"wq", "wk", "wv"}) host.hold(name, kModel, kHead);
  for (const char* const name : {"q", "k", "v", "q turned", "k turned", "out"}) {
    host.hold(name, 1, kHead);
  }
  host.hold("cos", 1, kHead / 2), host.hold("sin", 1, kHead / 2);
  host.hold("keys", kHead, kPositions), host.hold("values", kPositions, kHead);
  for (const char* const name : {"scores", "masked", "weights", "mask"}) {
    host.hold(name, 1, kPositions);
  }
  host.hold("wo", kHead, kModel), host.hold("projected", 1, kModel), host.hold("y", 1, kModel);
  Row mask(kPositions, 0);
  for (std::uint64_t i = kPosition + 1; i < kPositions; ++i) mask[i] = -1e30;
  host.set("mask", mask);

  host.run(RmsNorm{"x", "norm", "normed"}, "normed");
  host.run(Matmul{"normed", "wq", "q", {}}, "q", true);
  host.run(Matmul{"normed", "wk", "k", {}}, "k", true);
  host.run(Matmul{"normed", "wv", "v", {}}, "v", true);
  host.run(Rope{"q", "cos", "sin", "q turned"}, "q turned");
  host.run(Rope{"k", "cos", "sin", "k turned"}, "k turned");
  host.run(AppendColumn{"k turned", "keys", kPosition}, "keys", true);
  const Row keys = host.before("keys");
  host.run(AppendRows{"v", "values", kPosition}, "values", true);
  const Row values = host.before("values");
  host.run(Matmul{"q turned", "keys", "scores", {}}, "scores", true);
  host.run(Elementwise{add(scale(tensor("scores"), 0.5), tensor("mask")), "masked"}, "masked",
           true);
  host.run(Softmax{"masked", "weights"}, "weights");
  host.run(Matmul{"weights", "values", "out", {}}, "out", true);
  host.run(Matmul{"out", "wo", "projected", {}}, "projected", true);
  host.run(Elementwise{add(tensor("x"), tensor("projected")), "y"}, "y", true);

  const Row expected = attended(host, keys, values);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(std::abs(host.of("y")[i] - expected[i]) < 1e-5);
  }
}

}  // namespace
}  // namespace spatialcert::tests
