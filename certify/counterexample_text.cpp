// Text of a counterexample: one function per kind, by what has to be said.
#include <fmt/format.h>

#include <algorithm>

#include "certify/narrative.hpp"
#include "certify/report.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify {
namespace {

using proofs::Counterexample;
using proofs::Kind;
using proofs::Rule;

std::string buffer_line(const ir::Program& program, ir::BufferId id) {
  const ir::Buffer& buffer = program.buffers[id.value()];
  std::string lifetime = "resident";
  if (buffer.lifetime == ir::Lifetime::section) {
    lifetime = "of one section";
  } else if (buffer.resident_from.valid() && buffer.resident_to.valid()) {
    lifetime = fmt::format("resident from section {} to {}",
                           program.sections[buffer.resident_from.value()].name,
                           program.sections[buffer.resident_to.value()].name);
  }
  const std::string source = source_text(program, buffer.location);
  return fmt::format("  {} {}: bytes [{}, {}) of {} on {}, {}{}", to_string(buffer.kind),
                     buffer.name, buffer.address, buffer.address + buffer.bytes(),
                     program.target.spaces[buffer.space.value()].name,
                     site_text(program, buffer.site), lifetime,
                     source.empty() ? "" : fmt::format(" [{}]", source));
}

void overlap_lines(const ir::Program& program, const Counterexample& c, Lines& out) {
  const ir::Buffer& first = program.buffers[c.buffers[0].value()];
  const ir::Buffer& second = program.buffers[c.buffers[1].value()];
  const std::uint64_t low = std::max(first.address, second.address);
  const std::uint64_t high =
      std::min(first.address + first.bytes(), second.address + second.bytes());
  out.push_back(
      fmt::format("overlap: two buffers that live at the same time share {}",
                  count_text(static_cast<std::int64_t>(high > low ? high - low : 0), "byte")));
  out.push_back(buffer_line(program, c.buffers[0]));
  out.push_back(buffer_line(program, c.buffers[1]));
  out.push_back(fmt::format("  first shared byte: {} of {} on {}", c.value,
                            program.target.spaces[first.space.value()].name,
                            site_text(program, first.site)));
  const std::uint64_t alignment = program.target.spaces[first.space.value()].alignment;
  const ir::Buffer& lower = first.address <= second.address ? first : second;
  const ir::Buffer& upper = first.address <= second.address ? second : first;
  const std::uint64_t end = lower.address + lower.bytes();
  out.push_back(fmt::format("remedy: move {} to {} or beyond", upper.name,
                            (end + alignment - 1) / alignment * alignment));
}

void fit_lines(const ir::Program& program, const Counterexample& c, Lines& out) {
  const ir::Buffer& buffer = program.buffers[c.buffers[0].value()];
  const ir::MemorySpace& space = program.target.spaces[buffer.space.value()];
  if (c.kind == Kind::out_of_memory) {
    const std::uint64_t end = buffer.address + buffer.bytes();
    out.push_back(fmt::format("out of memory: a buffer ends at byte {}, but {} of {} has {}", end,
                              space.name, site_text(program, buffer.site), space.bytes));
    out.push_back(buffer_line(program, c.buffers[0]));
    out.push_back(fmt::format("  past the end by {}",
                              count_text(static_cast<std::int64_t>(end - space.bytes), "byte")));
    return;
  }
  out.push_back(fmt::format("misaligned: a buffer begins at byte {}, but {} wants multiples of {}",
                            buffer.address, space.name, space.alignment));
  out.push_back(buffer_line(program, c.buffers[0]));
  out.push_back(fmt::format("remedy: move it to {}",
                            (buffer.address / space.alignment + 1) * space.alignment));
}

constexpr std::size_t kMostTerms = 12;

void result_lines(const ir::Program& program, const Counterexample& c, Lines& out) {
  const ir::Postcondition& post = program.postconditions[c.index];
  out.push_back(fmt::format("wrong result: {} does not hold what it must (postcondition {})",
                            region_text(program, post.region), c.index));
  if (c.range) {
    out.push_back("  first wrong: " +
                  ir::describe(program, c.range->storage, c.range->low, c.range->high));
  }
  for (std::size_t i = 0; i < c.terms.size() && i < kMostTerms; ++i) {
    const proofs::TermDifference& term = c.terms[i];
    out.push_back(fmt::format("  contribution {}: found {}, expected {}", term.source,
                              count_text(term.found, "time"), count_text(term.expected, "time")));
  }
  if (c.terms.size() > kMostTerms) {
    out.push_back(fmt::format("  and {} more contributions", c.terms.size() - kMostTerms));
  }
  if (!c.schedules.empty()) out.push_back("  seen " + after_steps(c.schedules[0]) + ", at the end");
}

void append(const ir::Program& program, const Counterexample& c, Lines& out) {
  if (!c.slices.empty()) return slice_lines(program, c, out);
  const bool typed = rule_of(c) == Rule::reduction && c.kind != Kind::wrong_result;
  if (typed) return type_lines(OpNames(program, c.iterations), c, out);
  switch (c.kind) {
    case Kind::cycle:
    case Kind::starved:
      deadlock_lines(OpNames(program, c.iterations), c, out);
      return;
    case Kind::leftover:
    case Kind::overflow:
    case Kind::misuse:
      counter_lines(OpNames(program, c.iterations), c, out);
      return;
    case Kind::race:
    case Kind::wrong_order:
    case Kind::undefined_read:
    case Kind::wrong_producer:
      access_lines(OpNames(program, c.iterations), c, out);
      return;
    case Kind::slip_through:
    case Kind::interference:
      composition_lines(OpNames(program, c.iterations), c, out);
      return;
    case Kind::overlap:
    case Kind::out_of_memory:
    case Kind::misaligned:
      memory_lines(program, c, out);
      return;
    case Kind::wrong_result:
      result_lines(program, c, out);
      return;
    case Kind::leak:
    case Kind::missing_chip:
    case Kind::double_contribution:
      shard_lines(OpNames(program, c.iterations), c, out);
      return;
    case Kind::uncovered:
      out.push_back("uncovered: no rule covers " + c.note);
      return;
    case Kind::nonlinear:
    case Kind::mismatch:
    case Kind::gap:
      break;  // above
  }
  ir::require_failed("counterexample kind", "enumerator out of range", __FILE__, __LINE__);
}

}  // namespace

void memory_lines(const ir::Program& program, const Counterexample& c, Lines& out) {
  if (c.kind == Kind::overlap) {
    overlap_lines(program, c, out);
  } else {
    fit_lines(program, c, out);
  }
}

std::string counterexample_text(const ir::Program& program, const Counterexample& counterexample) {
  Lines lines;
  append(program, counterexample, lines);
  // Some kinds carry a note that belongs to the text already.
  const bool told = counterexample.kind == Kind::uncovered || counterexample.kind == Kind::misuse ||
                    rule_of(counterexample) == Rule::reduction;
  if (!told && !counterexample.note.empty()) lines.push_back("note: " + counterexample.note);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

Rule rule_of(const Counterexample& counterexample) {
  if (!counterexample.slices.empty()) return Rule::slices;
  switch (counterexample.kind) {
    case Kind::cycle:
    case Kind::starved:
      return Rule::liveness;
    case Kind::leftover:
      return Rule::quiescence;
    case Kind::overflow:
    case Kind::misuse:
      return Rule::bounds;
    case Kind::race:
    case Kind::wrong_order:
      return Rule::ordering;
    case Kind::undefined_read:
    case Kind::wrong_producer:
      return Rule::flow;
    case Kind::overlap:
    case Kind::out_of_memory:
    case Kind::misaligned:
      return Rule::memory;
    case Kind::wrong_result:
      return Rule::reduction;
    case Kind::slip_through:
      return Rule::boundary;
    case Kind::interference:
      return Rule::isolation;
    case Kind::leak:
    case Kind::missing_chip:
    case Kind::double_contribution:
      return counterexample.ops.empty() ? Rule::shard : Rule::reduction;
    case Kind::nonlinear:
    case Kind::mismatch:
      return Rule::reduction;
    case Kind::gap:
      return Rule::slices;
    case Kind::uncovered:
      return Rule::coverage;
  }
  ir::require_failed("counterexample kind", "enumerator out of range", __FILE__, __LINE__);
}

}  // namespace spatialcert::certify
