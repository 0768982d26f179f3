// Forgeries about composed programs and about programs of several chips.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/validate.hpp"
#include "tests/composed/compositions.hpp"
#include "tests/composition/edits.hpp"
#include "tests/counts.hpp"
#include "tests/forgery/forger.hpp"
#include "tests/proofs/sharded.hpp"

namespace spatialcert::tests {
namespace {

/// Calls `use` with every program that differs in one op: left out, doubled, moved, or with another
/// count, semaphore or FIFO; or in one boundary.
void for_each_change(const ir::Program& program,
                     const std::function<void(ir::Program, const std::string&)>& use) {
  for (std::size_t p = 0; p < program.programs.size(); ++p) {
    for (std::uint32_t i = 0; i < program.programs[p].ops.size(); ++i) {
      const auto with = [&](const std::string& what,
                            const std::function<void(ir::EngineProgram&)>& change) {
        ir::Program other = program;
        change(other.programs[p]);
        use(std::move(other), what);
      };
      const ir::Op& op = program.programs[p].ops[i];
      if (op.code == ir::OpCode::repeat) continue;
      with("op dropped", [i](ir::EngineProgram& one) { erase_op(one, i); });
      with("op doubled", [i](ir::EngineProgram& one) { insert_op(one, i, ir::Op(one.ops[i])); });
      if (i + 1 < program.programs[p].ops.size())
        with("op moved", [i](ir::EngineProgram& one) { move_behind_next(one, i); });
      if (i > 0) with("op moved", [i](ir::EngineProgram& one) { move_before_previous(one, i); });
      if (op.code == ir::OpCode::run) continue;
      with("count raised", [i](ir::EngineProgram& one) { ++one.ops[i].count; });
      with("count lowered", [i](ir::EngineProgram& one) { --one.ops[i].count; });
      with("another object", [i](ir::EngineProgram& one) { ++one.ops[i].object; });
    }
  }
  for (std::size_t b = 0; b < program.boundaries.size(); ++b) {
    ir::Program other = program;
    other.boundaries[b].closed = !other.boundaries[b].closed;
    use(std::move(other), "boundary opened or closed");
  }
}

}  // namespace

TEST_CASE("forgeries about composed programs are denied, or true") {
  Court court;
  Random random(29);
  std::uint64_t taken = 0, closed = 0, programs = 0;
  const std::uint64_t wanted = std::max<std::uint64_t>(specimens() / 4, 20);
  for (std::uint64_t seed = 1; taken < wanted && court.in_order(); ++seed) {
    const auto s = specimen(fmt::format("composition {}", seed), random_composition(seed).program);
    if (!s) continue;
    if (!s->certificate.boundary && closed * 4 < taken * 3) continue;
    ++taken;
    closed += s->certificate.boundary ? 1 : 0;
    forge_certificate(*s, random, court);
    for (int i = 0; i < 8; ++i) {
      ir::Program other = s->program;
      const std::string fault = damage_composition(other, random);
      if (fault.empty()) continue;
      claim_for(other, *s, fault, random, court);
      ++programs;
    }
    if (taken > 8) continue;
    for_each_change(s->program, [&](const ir::Program& other, const std::string& what) {
      if (ir::validate(other)) return;  // no reader would take it
      claim_for(other, *s, what, random, court);
      ++programs;
    });
  }
  MESSAGE(fmt::format("{} certificates, {} of them with closed boundaries; {} other programs\n",
                      taken, closed, programs)
          << court.text());
  count("forgeries", court.forgeries);
  CHECK(closed * 2 >= taken);
  CHECK(court.about_false * 4 >= court.forgeries);
  CHECK(court.accepted > 0);
  CHECK(court.too_large * 20 <= court.accepted);
  for (const char* reason : {"slip-through", "interference", "against the order of the sections"}) {
    CAPTURE(reason);
    CHECK(court.reasons.contains(reason));
  }
}

TEST_CASE("forgeries about programs of several chips are denied, or true") {
  Court court;
  Random random(31);
  std::uint64_t taken = 0, programs = 0;
  const std::uint64_t wanted = std::max<std::uint64_t>(specimens() / 6, 20);
  for (std::uint64_t seed = 1; taken < wanted && court.in_order(); ++seed) {
    const auto s =
        specimen(fmt::format("chips {}", seed), in_bytes(sharded_program(seed).program()));
    if (!s || !s->certificate.shard) continue;
    ++taken;
    forge_certificate(*s, random, court);
    programs += forge_program(*s, 24, random, court);
  }
  MESSAGE(fmt::format("{} certificates; {} other programs\n", taken, programs) << court.text());
  count("forgeries", court.forgeries);
  CHECK(court.about_false * 4 >= court.forgeries);
  CHECK(court.accepted > 0);
  for (const char* reason : {"leak", "missing chip", "double contribution", "misplaced access"}) {
    CAPTURE(reason);
    CHECK(court.reasons.contains(reason));
  }
}

}  // namespace spatialcert::tests
