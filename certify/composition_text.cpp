// What happens between sections: ops that slip through a boundary, sections that interfere.
#include <fmt/format.h>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using proofs::Counterexample;
using proofs::Kind;

std::string op_line(const OpNames& names, ir::TransitionId t, char letter, const char* what) {
  return fmt::format("  ({}) {}, {}{}", letter, names.engine(t), names.placed_op(t), what);
}

void slip_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  const ir::Program& program = names.program();
  const ir::SectionId after = program.boundaries[c.index].after;
  out.push_back(fmt::format("slip-through: the boundary after section {} does not hold up an op",
                            program.sections[after.value()].name));
  out.push_back(op_line(names, c.ops[0], 'a', ", after the boundary: performed"));
  out.push_back(op_line(names, c.ops[1], 'b', ", before the boundary: not yet performed"));
  if (!c.schedules.empty()) out.push_back("  reached " + after_steps(c.schedules[0]));
  out.push_back(fmt::format(
      "remedy: {} must post its arrival after (b), the root must wait for all arrivals before it",
      names.engine(c.ops[1])));
  out.push_back(fmt::format("  releases, and {} must wait for its release before (a)",
                            names.engine(c.ops[0])));
}

void interference_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  const ir::Program& program = names.program();
  out.push_back(
      "interference: two sections that run at the same time share what one of them changes");
  for (std::size_t i = 0; i < 2; ++i) {
    const char letter = i == 0 ? 'a' : 'b';
    if (c.range) {
      const ir::Access& access = program.accesses[c.accesses[i].access];
      out.push_back(op_line(names, c.accesses[i].transition, letter,
                            fmt::format(", {} {}", access.write ? "writes" : "reads",
                                        region_text(program, access.region))
                                .c_str()));
    } else {
      out.push_back(op_line(names, c.ops[i], letter, ""));
    }
  }
  if (c.range) {
    out.push_back("  both touch " +
                  ir::describe(program, c.range->storage, c.range->low, c.range->high));
    out.push_back("remedy: close a boundary between the two sections, or give each its own");
    return;
  }
  out.push_back("  both use " + counter_text(program, names.counters()[c.counter]));
  out.push_back("remedy: give each section its own, or declare it as a link if it is to join them");
}

}  // namespace

void composition_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.kind == Kind::slip_through) {
    slip_lines(names, c, out);
  } else {
    interference_lines(names, c, out);
  }
}

}  // namespace spatialcert::certify
