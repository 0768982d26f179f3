// Composed programs whose sections have loops: the verdict is the same with loops folded and
// unrolled, with the program cut at its boundaries and classes asked about once, and with neither.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "compose/composition/composer.hpp"
#include "compose/composition/phase_memory.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/counts.hpp"
#include "tests/folding/loop_programs.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;

/// SPATIALCERT_LONG: 10,000 compositions, or as many as it says if that is a number above 1.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  if (wanted == nullptr) return 200;
  const std::uint64_t number = std::strtoull(wanted, nullptr, 10);
  return number > 1 ? number : 10'000;
}
std::uint64_t first_seed() {
  const char* const wanted = std::getenv("SPATIALCERT_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

/// Names of its own for everything but the input that all sections share.
void rename(ir::Program& section, const std::string& name) {
  section.sections[0].name = name;
  for (auto& buffer : section.buffers) buffer.name = name + "/" + buffer.name;
  for (auto& semaphore : section.semaphores) semaphore.name = name + "/" + semaphore.name;
  for (auto& stage : section.stages) stage.name = name + "/" + stage.name;
  for (auto& tensor : section.tensors) {
    if (tensor.name != "x") tensor.name = name + "/" + tensor.name;
  }
}

bool moves(const ir::Tensor& tensor, ir::TensorRole role) {
  return tensor.role == role && !tensor.owner && !tensor.view && tensor.rows > 1000;
}

/// What an earlier section writes, a later one reads.
void hand_on(const ir::Program& earlier, ir::Program& later) {
  for (const ir::Tensor& written : earlier.tensors) {
    if (!moves(written, ir::TensorRole::output)) continue;
    for (ir::Tensor& read : later.tensors) {
      if (!moves(read, ir::TensorRole::input)) continue;
      read.name = written.name;
      return;
    }
  }
}

std::optional<ir::Program> composition(std::uint64_t seed) {
  Random random(seed + 4711);
  std::vector<ir::Program> sections;
  std::vector<bool> barrier_after;
  const std::uint32_t count = 2 + random.below(2);
  for (std::uint32_t s = 0; s < count; ++s) {
    // Sections that occur twice are one class.
    const std::uint64_t same = random.chance(30) && s > 0 ? 0 : s;
    sections.push_back(generate_loop_section(seed * 8 + same));
    rename(sections.back(), std::string(1, static_cast<char>('a' + s)));
    if (s > 0 && random.chance(50)) hand_on(sections[s - 1], sections[s]);
    barrier_after.push_back(random.chance(80));
  }
  compose::ComposeOptions options;
  options.drop_lost_postconditions = true;
  if (random.chance(20)) options.execution = ir::Execution::persistent;
  auto made = compose::compose_phased(sections, barrier_after, {}, options);
  auto* composed = std::get_if<compose::Composed>(&made);
  if (composed == nullptr) return std::nullopt;
  ir::Program program = std::move(composed->program);
  if (random.chance(80)) static_cast<void>(compose::separate_phase_memory(program));
  program.name = fmt::format("composition-{}", seed);
  return program;
}

TEST_CASE("composed of loops: folded and unrolled, the verdict is the same") {
  std::uint64_t programs = 0, certified = 0, refuted = 0, folded = 0;
  std::map<std::string, std::uint64_t> refuted_by;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + samples(); ++seed) {
    const auto program = composition(seed);
    if (!program) continue;
    ++programs;
    certify::Options whole_options, few_options;
    whole_options.fold_from.reset();
    few_options.fold_from = 0;
    few_options.keep_witnesses = true;
    const certify::ProgramReport whole = certify::certify(*program, whole_options);
    const certify::ProgramReport few = certify::certify(*program, few_options);
    certified += whole.verdict == Verdict::certified ? 1 : 0;
    refuted += whole.verdict == Verdict::refuted ? 1 : 0;
    folded += few.folded ? 1 : 0;
    for (const certify::RuleReport& rule : whole.rules) {
      if (rule.verdict == Verdict::refuted) ++refuted_by[std::string(proofs::to_string(rule.rule))];
    }
    CHECK_MESSAGE(whole.verdict == few.verdict, "seed ", seed, ": ", to_string(whole.verdict), " ",
                  whole.reason, ", folded ", to_string(few.verdict), " ", few.reason);
    if (few.certificate) {
      const auto outcome = proofs::recheck(*program, *few.certificate);
      CHECK_MESSAGE(!outcome.denial, "seed ", seed, ": ", outcome.detail);
    }
    if (few.folded && programs % 10 == 0) {
      certify::Options monolithic = few_options;
      monolithic.monolithic = true;
      CHECK(certify::certify(*program, monolithic).verdict == Verdict::certified);
    }
  }
  count("compositions of loops compared, folded and unrolled", programs);
  std::string reasons;
  for (const auto& [rule, number] : refuted_by) reasons += fmt::format(" {} {},", number, rule);
  MESSAGE(fmt::format("{} compositions, {} certified, {} of them folded, {} refuted by{}", programs,
                      certified, folded, refuted, reasons));
  CHECK(folded * 3 > certified);
  CHECK(refuted * 10 > programs);
}

}  // namespace
}  // namespace spatialcert::tests
