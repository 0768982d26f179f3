// A composition means what its sections mean one after the other: on the reference machine, under
// many schedules, over several tokens and iterations; and without one of its rendezvous it does
// not.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/composition/composer.hpp"
#include "compose/composition/phase_memory.hpp"
#include "ir/validate.hpp"
#include "tests/composition/edits.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/generator.hpp"
#include "tests/oracle/sketch.hpp"
#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using compose::sections::add;
using compose::sections::Copy;
using compose::sections::Elementwise;
using compose::sections::Matmul;
using compose::sections::sub;
using compose::sections::tensor;
using compose::sections::Work;
using ir::machine::Ending;
using ir::machine::Schedule;

constexpr std::uint64_t kSize = 4, kTokens = 3, kSchedules = 6, kMostSchedules = 300;
/// What tensors hold, by name.
using World = std::map<std::string, Matrix>;

std::uint64_t chains() { return std::getenv("SPATIALCERT_LONG") == nullptr ? 20 : 300; }

/// Sections `k0`, `k1`, ..., each of which reads what the one before it has written: the next of
/// h0, h1, ..., or the state `s`, which it has updated in place.
struct Chain {
  std::vector<ir::Program> sections;
  bool state = false;

  [[nodiscard]] compose::ComposeOptions options(ir::Execution execution) const {
    compose::ComposeOptions out;
    out.execution = execution;
    if (state) out.carried = {"s"};
    return out;
  }
};

Variation random_variation(Random& random) {
  return {1 + random.below(3),
          random.chance(50) ? Split::rows : Split::columns,
          random.chance(50) ? Handover::fifo : Handover::semaphores,
          1 + random.below(2),
          {1 + random.below(4), 2 + random.below(3), 2 + random.below(3)}};
}

Chain random_chain(std::uint64_t seed) {
  Random random(seed);
  Chain out;
  std::vector<SectionTensor> tensors;
  const auto hold = [&](const std::string& name) {
    for (const SectionTensor& t : tensors) {
      if (t.name == name) return;
    }
    const auto role = name == "w" ? ir::TensorRole::weight : ir::TensorRole::input;
    tensors.push_back({name, kSize, kSize, DType::i32, role});
  };
  for (const char* name : {"x", "w", "s"}) hold(name);
  std::string last = "x", before = "x";
  int products = 0;
  const std::uint32_t length = 2 + random.below(3);
  for (std::uint32_t k = 0; k < length; ++k) {
    std::string result = fmt::format("h{}", k);
    Work work = Copy{last, result};
    const std::uint32_t kind = random.below(5);
    if (kind == 0 && products++ < 2) {
      work = Matmul{last, "w", result, {}};
    } else if (kind <= 2 && last != "s") {
      result = std::string("s");
      work = Elementwise{add(tensor("s"), tensor(last)), "s"};
      out.state = true;
    } else if (kind == 3) {
      work = Elementwise{sub(tensor(last), tensor("w")), result};
    } else if (before != last) {
      work = Elementwise{add(tensor(last), tensor(before)), result};
    }
    hold(result);
    SectionDescription description = describe(std::move(work), tensors, random_variation(random));
    description.name = fmt::format("k{}", k);
    description.target.handoffs = {{"link", true}};
    const auto built = compose::build_section(description);
    REQUIRE_MESSAGE(built.has_value(), built.error().message());
    out.sections.push_back(*built);
    before = last;
    last = result;
  }
  return out;
}

ir::Program program_of(const Chain& chain, ir::Execution execution) {
  return composed(compose::compose(chain.sections, {}, chain.options(execution))).program;
}

/// What the host puts in for token number `token`.
Matrix input_of(std::uint64_t seed, std::uint64_t token) {
  Random random(seed * 100 + token);
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < kSize * kSize; ++i) values.push_back(random.between(-9, 9));
  return Matrix::of(DType::i32, kSize, kSize, std::move(values));
}

World first_world(std::uint64_t seed) {
  World world;
  world["x"] = input_of(seed, 0);
  world["w"] = input_of(seed, 50);
  world["s"] = input_of(seed, 60);
  return world;
}

Machine machine_of(const ir::Program& program, const World& world, std::uint32_t iterations = 1) {
  Inputs inputs;
  for (const ir::Tensor& t : program.tensors) {
    if (t.init == ir::Init::external) inputs.tensors[t.name] = world.at(t.name);
  }
  auto made = Machine::make(program, inputs, iterations);
  REQUIRE_MESSAGE(made.has_value(), made.error().message());
  return std::move(made).value();
}

/// Every section on a machine of its own, with what those before have left.
void perform(const Chain& chain, World& world) {
  for (const ir::Program& section : chain.sections) {
    Machine m = machine_of(section, world);
    const auto outcome = m.run();
    REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
    for (const ir::Tensor& t : section.tensors) world[t.name] = *m.tensor(t.name);
  }
}

/// How the tensors of a machine differ from those of `world`; nothing if they do not.
std::optional<std::string> wrong(const Machine& m, const World& world) {
  for (const ir::Tensor& t : m.program().tensors) {
    if (const auto text = ir::machine::difference(*m.tensor(t.name), world.at(t.name)))
      return fmt::format("{}: {}", t.name, *text);
  }
  return std::nullopt;
}

void check_certified(const ir::Program& program) {
  const auto report = certify::certify(program);
  CHECK_MESSAGE(report.verdict == Verdict::certified, certify::report_text(program, report, false));
}

Schedule schedule(std::uint64_t seed) {
  return seed == 0 ? Schedule::any() : Schedule::random(seed);
}

TEST_CASE("a composition computes what its sections compute one after the other, token by token") {
  std::uint64_t executed = 0;
  int with_state = 0;
  for (std::uint64_t seed = 1; seed <= chains(); ++seed) {
    const Chain chain = random_chain(seed);
    with_state += chain.state ? 1 : 0;
    const auto program = program_of(chain, ir::Execution::once);
    CAPTURE(seed);
    check_certified(program);
    for (std::uint64_t s = 0; s < kSchedules; ++s) {
      World world = first_world(seed);
      Machine m = machine_of(program, world);
      for (std::uint64_t token = 0; token < kTokens; ++token) {
        CAPTURE(token);
        world["x"] = input_of(seed, token);
        if (token > 0) {
          Inputs inputs;
          inputs.tensors["x"] = world["x"];
          const auto refused = m.restart(inputs);
          REQUIRE_MESSAGE(!refused, refused->message());
        }
        const auto outcome = m.run(schedule(s * kTokens + token));
        REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
        perform(chain, world);
        const auto text = wrong(m, world);
        CHECK_MESSAGE(!text, *text);
        ++executed;
      }
    }
  }
  CHECK(with_state * 3 > static_cast<int>(chains()));
  count("composed tokens executed", executed);
}

TEST_CASE("a persistent composition updates its state iteration by iteration") {
  std::uint64_t executed = 0;
  for (std::uint64_t seed = 1; seed <= chains(); ++seed) {
    const Chain chain = random_chain(seed);
    const auto program = program_of(chain, ir::Execution::persistent);
    CAPTURE(seed);
    check_certified(program);
    World world = first_world(seed);
    for (std::uint64_t round = 0; round < kTokens; ++round) perform(chain, world);
    for (std::uint64_t s = 0; s < kSchedules; ++s) {
      Machine m = machine_of(program, first_world(seed), kTokens);
      const auto outcome = m.run(schedule(s));
      REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
      const auto text = wrong(m, world);
      CHECK_MESSAGE(!text, *text);
      ++executed;
    }
  }
  count("composed tokens executed", executed);
}

/// The rendezvous of boundary `b` taken out; the boundary stays, open, or is gone.
ir::Program without(ir::Program program, std::uint32_t b, bool gone) {
  for (ir::EngineProgram& one : program.programs) {
    for (std::uint32_t i = static_cast<std::uint32_t>(one.ops.size()); i-- > 0;) {
      if (one.spans[span_of(one, i)].boundary == ir::BoundaryId(b)) erase_op(one, i);
    }
    for (ir::Span& span : one.spans) {
      if (gone && span.boundary.valid() && span.boundary.value() > b)
        span.boundary = ir::BoundaryId(span.boundary.value() - 1);
    }
  }
  if (gone) {
    program.boundaries.erase(program.boundaries.begin() + b);
  } else {
    program.boundaries[b].closed = false;
  }
  const ir::Status refused = ir::validate(program);
  REQUIRE_MESSAGE(!refused, refused->message());
  return program;
}

bool refuted(const certify::ProgramReport& report, proofs::Rule rule) {
  for (const certify::RuleReport& r : report.rules) {
    if (r.rule == rule) return r.verdict == Verdict::refuted;
  }
  return false;
}

/// Does some schedule read what is not there, or end with other values?
bool shows(const ir::Program& program, const World& before, const World& after) {
  for (std::uint64_t seed = 0; seed < kMostSchedules; ++seed) {
    Machine m = machine_of(program, before);
    const auto outcome = m.run(schedule(seed));
    if (outcome.ending != Ending::finished || wrong(m, after)) return true;
  }
  return false;
}

TEST_CASE(
    "without one rendezvous the pipeline refutes, and some schedule computes something else") {
  std::uint64_t broken = 0, in_order = 0;
  for (std::uint64_t seed = 1; seed <= chains(); ++seed) {
    const Chain chain = random_chain(seed);
    const auto whole = program_of(chain, ir::Execution::once);
    const World before = first_world(seed);
    World after = before;
    perform(chain, after);
    for (std::uint32_t b = 0; b + 1 < chain.sections.size(); ++b) {
      const bool gone = (seed + b) % 2 == 0;
      ir::Program program = without(whole, b, gone);
      CAPTURE(seed);
      CAPTURE(b);
      CAPTURE(gone);
      const auto report = certify::certify(program);
      INFO(certify::report_text(program, report, false));
      CHECK(report.verdict == Verdict::refuted);
      CHECK(refuted(report, proofs::Rule::isolation));
      ++broken;
      if (refuted(report, proofs::Rule::ordering)) {
        CHECK(shows(program, before, after));
        continue;
      }
      // On one site, shallow hand-overs can hold the next section's load back for as long as it
      // takes. Then nothing but the bytes that both use is wrong.
      ++in_order;
      REQUIRE_FALSE(
          std::holds_alternative<compose::Refused>(compose::separate_phase_memory(program)));
      CHECK_FALSE(shows(program, before, after));
    }
  }
  CHECK(in_order * 20 <= broken);
  count("compositions without a rendezvous found out", broken);
}

}  // namespace
}  // namespace spatialcert::tests
