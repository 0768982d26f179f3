#include "tests/composition/edits.hpp"

#include <algorithm>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::tests {
namespace {

void drop_empty_spans(ir::EngineProgram& one) {
  std::erase_if(one.spans, [](const ir::Span& s) { return s.begin == s.end; });
}

/// Place of a span in the order of the program.
std::uint32_t rank(const ir::Program& program, const ir::Span& span) {
  return span.section.valid() ? 2 * span.section.value()
                              : 2 * program.boundaries[span.boundary.value()].after.value() + 1;
}

}  // namespace

void erase_op(ir::EngineProgram& one, std::uint32_t position) {
  one.ops.erase(one.ops.begin() + position);
  for (ir::Span& span : one.spans) {
    if (span.begin > position) --span.begin;
    if (span.end > position) --span.end;
  }
  drop_empty_spans(one);
}

void insert_op(ir::EngineProgram& one, std::uint32_t position, const ir::Op& op) {
  one.ops.insert(one.ops.begin() + position, op);
  for (ir::Span& span : one.spans) {
    if (span.begin > position) ++span.begin;
    if (span.end > position) ++span.end;
  }
}

void append_to_section(ir::EngineProgram& one, std::uint32_t section, const ir::Op& op,
                       const ir::Program& program) {
  std::size_t at = 0;
  while (at < one.spans.size() && rank(program, one.spans[at]) <= 2 * section) ++at;
  const std::uint32_t position = at == 0 ? 0 : one.spans[at - 1].end;
  const bool own = at > 0 && one.spans[at - 1].section == ir::SectionId(section);
  one.ops.insert(one.ops.begin() + position, op);
  for (std::size_t i = at; i < one.spans.size(); ++i) {
    ++one.spans[i].begin;
    ++one.spans[i].end;
  }
  if (own) {
    ++one.spans[at - 1].end;
  } else {
    one.spans.insert(one.spans.begin() + static_cast<std::ptrdiff_t>(at),
                     {ir::SectionId(section), ir::BoundaryId(), position, position + 1});
  }
}

std::uint32_t span_of(const ir::EngineProgram& one, std::uint32_t position) {
  for (std::uint32_t i = 0; i < one.spans.size(); ++i) {
    if (position >= one.spans[i].begin && position < one.spans[i].end) return i;
  }
  ir::require_failed("position", "an op of the engine program", __FILE__, __LINE__);
}

void move_behind_next(ir::EngineProgram& one, std::uint32_t position) {
  const std::uint32_t from = span_of(one, position), to = span_of(one, position + 1);
  std::swap(one.ops[position], one.ops[position + 1]);
  if (from == to) return;
  --one.spans[from].end;
  --one.spans[to].begin;
  drop_empty_spans(one);
}

void move_before_previous(ir::EngineProgram& one, std::uint32_t position) {
  const std::uint32_t from = span_of(one, position), to = span_of(one, position - 1);
  std::swap(one.ops[position - 1], one.ops[position]);
  if (from == to) return;
  ++one.spans[from].begin;
  ++one.spans[to].end;
  drop_empty_spans(one);
}

}  // namespace spatialcert::tests
