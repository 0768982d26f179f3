// Sections, boundaries, whose ops are whose, links, carried names, postconditions.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/io/names.hpp"
#include "ir/io/validation.hpp"

namespace spatialcert::ir::io {

void Validation::check_sections() const {
  std::unordered_map<std::uint32_t, std::size_t> by_index;
  for (std::size_t i = 0; i < program_.sections.size(); ++i) {
    const Section& section = program_.sections[i];
    const auto path = [&](const char* member) {
      return fmt::format("$.sections[{}].{}", i, member);
    };
    const auto [first, is_new] = by_index.emplace(section.source_index, i);
    if (!is_new) {
      refuse(path("index"), "a source index that no other section has",
             fmt::format("{}, which \"{}\" has already", section.source_index,
                         program_.sections[first->second].name));
    }
    if (section.numerics.exact && !section.numerics.reason.empty()) {
      refuse(path("numerics"), "no reason on exact numerics",
             fmt::format("\"{}\"", section.numerics.reason));
    }
    if (!section.numerics.exact) check_text(section.numerics.reason, path("numerics.approx"));
    check_location(section.location, [&] { return fmt::format("$.sections[{}]", i); });
  }
}

void Validation::check_boundaries() const {
  for (std::size_t i = 0; i < program_.boundaries.size(); ++i) {
    const SectionId after = program_.boundaries[i].after;
    const auto path = [&] { return fmt::format("$.boundaries[{}].after", i); };
    if (!(after.value() < program_.sections.size())) refuse(path(), "a declared section");
    if (i > 0 && !(program_.boundaries[i - 1].after < after)) {
      refuse(path(), "boundaries in the order of their sections, one after each",
             fmt::format("\"{}\" after \"{}\"", program_.sections[after.value()].name,
                         program_.sections[program_.boundaries[i - 1].after.value()].name));
    }
  }
}

void Validation::check_links() const {
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < program_.links.size(); ++i) {
    const Link& link = program_.links[i];
    const auto path = [&] {
      return fmt::format("$.links[{}].{}", i, link.is_fifo ? "fifo" : "semaphore");
    };
    if (link.object >= (link.is_fifo ? program_.buffers.size() : program_.semaphores.size())) {
      refuse(path(), link.is_fifo ? "a declared buffer" : "a declared semaphore");
    }
    if (link.is_fifo && program_.buffers[link.object].kind != BufferKind::fifo) {
      refuse(path(), "a buffer of kind fifo",
             fmt::format("\"{}\" of kind {}", program_.buffers[link.object].name,
                         to_string(program_.buffers[link.object].kind)));
    }
    if (!seen.insert(std::uint64_t{link.object} << 1U | (link.is_fifo ? 1U : 0U)).second) {
      refuse(path(), "every link once", "it again");
    }
  }
}

void Validation::check_carried() const {
  if (program_.carried.empty()) return;
  NameTable tensors;
  tensors.reserve(program_.tensors.size());
  for (const Tensor& tensor : program_.tensors) tensors.add(tensor.name);
  NameTable seen;
  for (std::size_t i = 0; i < program_.carried.size(); ++i) {
    const std::string& name = program_.carried[i];
    const auto path = [&] { return fmt::format("$.carried[{}]", i); };
    if (tensors.find(name) == NameTable::kNone) {
      refuse(path(), "the name of a declared tensor" + tensors.suggestion(name),
             fmt::format("\"{}\"", name));
    }
    if (seen.add(name)) refuse(path(), "every name once", fmt::format("\"{}\" again", name));
  }
}

std::string Validation::span_name(const Span& span) const {
  if (span.section.valid()) {
    return fmt::format("section \"{}\"", program_.sections[span.section.value()].name);
  }
  const Boundary& boundary = program_.boundaries[span.boundary.value()];
  return fmt::format("the boundary after \"{}\"", program_.sections[boundary.after.value()].name);
}

// Place of a span in the order of the program: section, its boundary, next section, ...
std::uint64_t Validation::span_rank(std::size_t program, const Span& span) const {
  const auto path = [&] { return op_path(program, span.begin); };
  if (span.section.valid() == span.boundary.valid()) {
    refuse(fmt::format("$.programs[{}]", program), "spans of either a section or a boundary");
  }
  if (span.section.valid()) {
    if (span.section.value() >= program_.sections.size()) refuse(path(), "a declared section");
    return 2 * std::uint64_t{span.section.value()};
  }
  if (span.boundary.value() >= program_.boundaries.size()) refuse(path(), "a declared boundary");
  const Boundary& boundary = program_.boundaries[span.boundary.value()];
  if (!boundary.closed) {
    refuse(fmt::format("$.boundaries[{}].ops", span.boundary.value()),
           "no ops, as the boundary is open", "some");
  }
  return 2 * std::uint64_t{boundary.after.value()} + 1;
}

// A section runs its own stages; a rendezvous moves no data.
void Validation::check_runs(std::size_t number, const Span& span) const {
  const auto& ops = program_.programs[number].ops;
  for (std::uint32_t i = span.begin; i < span.end; ++i) {
    if (ops[i].code != OpCode::run) continue;
    const Stage& stage = program_.stages[ops[i].object];
    if (span.section.valid() && stage.section == span.section) continue;
    refuse(op_path(number, i) + ".run",
           span.section.valid() ? fmt::format("a stage of {}", span_name(span))
                                : fmt::format("no run in {}", span_name(span)),
           fmt::format("\"{}\" of section \"{}\"", stage.name,
                       program_.sections[stage.section.value()].name));
  }
}

void Validation::check_spans(std::size_t number) const {
  const EngineProgram& program = program_.programs[number];
  const auto& ops = program.ops;
  constexpr const char* kOnce = "every op in exactly one section or boundary";
  std::uint32_t at = 0;
  const Span* previous = nullptr;
  for (const Span& span : program.spans) {
    if (span.begin >= span.end || span.end > ops.size()) {
      refuse(fmt::format("$.programs[{}].ops", number),
             fmt::format("ranges [begin, end) with begin < end <= {}", ops.size()),
             fmt::format("[{}, {})", span.begin, span.end));
    }
    const std::uint64_t rank = span_rank(number, span);
    if (span.begin > at) refuse(op_path(number, at), kOnce, "an op in none");
    if (span.begin < at) {
      const std::string two = previous == nullptr ? "" : span_name(*previous) + " and ";
      refuse(op_path(number, span.begin), kOnce,
             fmt::format("an op in {}{}", two, span_name(span)));
    }
    if (previous != nullptr && span_rank(number, *previous) > rank) {
      refuse(op_path(number, span.begin), "ops in the order of their sections",
             fmt::format("{} after {}", span_name(span), span_name(*previous)));
    }
    while (at < span.end) at += 1 + ops[at].body;
    if (at != span.end) {
      refuse(op_path(number, span.end), "ranges that do not cut a loop", "one that does");
    }
    previous = &span;
  }
  if (at != ops.size()) refuse(op_path(number, at), kOnce, "an op in none");
  for (const Span& span : program.spans) check_runs(number, span);
}

}  // namespace spatialcert::ir::io
