// Forgeries about composed programs and about programs of several chips.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "certify/pipeline.hpp"
#include "ir/validate.hpp"
#include "proofs/composition/find.hpp"
#include "tests/composed/compositions.hpp"
#include "tests/composition/edits.hpp"
#include "tests/counts.hpp"
#include "tests/forgery/claims.hpp"
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

/// Section by section, nothing if it cannot be certified so.
std::optional<proofs::Certificate> by_sections(const ir::Program& program) {
  certify::Options options;
  options.divide_from = 0;
  options.divide_percent = 100;
  options.keep_witnesses = true;
  auto report = certify::certify(program, options);
  if (!report.divided) return std::nullopt;
  return std::move(report.certificate);
}

/// One thing changed in what a certificate says of sections and their classes.
std::string alter_classes(proofs::Certificate& claim, Random& random) {
  auto& of = claim.class_of;
  auto& classes = claim.classes;
  const auto some = [&](std::size_t size) {
    return random.below(static_cast<std::uint32_t>(size));
  };
  switch (random.below(8)) {
    case 0:
      of[some(of.size())] = some(classes.size() + 1);
      return "a section of another class";
    case 1:
      of.pop_back();
      return "a section left out";
    case 2:
      of.push_back(some(classes.size()));
      return "a section more";
    case 3:
      std::swap(classes[some(classes.size())], classes[some(classes.size())]);
      return "proofs of classes exchanged";
    case 4:
      classes[some(classes.size())] = classes[some(classes.size())];
      return "the proof of another class";
    case 5:
      // All of one class, whatever they are.
      std::fill(of.begin(), of.end(), 0);
      classes.resize(1);
      return "all of one class";
    case 6:
      static_cast<proofs::Proof&>(claim) = classes[some(classes.size())];
      of.clear();
      classes.clear();
      return "the proof of a section for the whole";
    default:
      proofs::Certificate alone;
      proofs::Proof& proof = classes[some(classes.size())];
      static_cast<proofs::Proof&>(alone) = proof;
      const std::string how = alter(alone, 30, random);
      proof = alone;
      return "of a class: " + how;
  }
}

/// The best that can be said of a program section by section, if its premises hold; and the same
/// with what was said of another one's sections.
std::vector<proofs::Certificate> claims_by_sections(const ir::Program& program,
                                                    const proofs::Certificate& old,
                                                    Random& random) {
  std::vector<proofs::Certificate> out{claimed_for(program, old)};
  const auto found = proofs::composition::find(program, 100);
  const auto* division = std::get_if<proofs::composition::Division>(&found);
  if (division == nullptr) return out;
  proofs::Certificate best = out.front();
  best.class_of = division->class_of;
  best.classes.clear();
  for (const auto& one : division->classes) {
    const ir::Program section = proofs::composition::program_of(program, one);
    best.classes.push_back(best_claim(section, most_places(section, random, 6)));
  }
  out.push_back(best);
  if (best.classes.size() > old.classes.size() && best.class_of.size() == old.class_of.size()) {
    best.class_of = old.class_of;
    best.classes.resize(old.classes.size());
    out.push_back(best);
  }
  return out;
}

TEST_CASE("forgeries about programs certified section by section are denied, or true") {
  Court court;
  Random random(37);
  std::uint64_t taken = 0, programs = 0;
  const std::uint64_t wanted = std::max<std::uint64_t>(specimens() / 6, 20);
  for (std::uint64_t seed = 1; taken < wanted && court.in_order(); ++seed) {
    const ir::Program program =
        seed % 3 == 0 ? random_composition(seed).program : repeated_composition(seed).program;
    const auto good = by_sections(program);
    if (!good) continue;
    ++taken;
    court.open(program);
    for (int i = 0; i < 12; ++i) {
      proofs::Certificate claim = *good;
      const std::string how = alter_classes(claim, random);
      court.judge(claim, how);
    }
    const auto claim_all = [&](const ir::Program& other, const std::string& what) {
      court.open(other);
      for (const proofs::Certificate& claim : claims_by_sections(other, *good, random))
        court.judge(claim, what + ", section by section");
      ++programs;
    };
    for (int i = 0; i < 8; ++i) {
      ir::Program other = program;
      const std::string fault = damage_composition(other, random);
      if (!fault.empty()) claim_all(other, fault);
    }
    if (taken > 6) continue;
    for_each_change(program, [&](const ir::Program& other, const std::string& what) {
      if (!ir::validate(other)) claim_all(other, what);
    });
  }
  MESSAGE(fmt::format("{} certificates; {} other programs\n", taken, programs) << court.text());
  count("forgeries", court.forgeries);
  CHECK(court.about_false * 4 >= court.forgeries);
  CHECK(court.accepted > 0);
  CHECK(court.too_large * 20 <= court.accepted);
  for (const char* denial : {"wrong classes", "witness rejected", "unjustified place"}) {
    CAPTURE(denial);
    CHECK(court.denials.contains(denial));
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
    programs += forge_program(*s, 40, random, court);
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
