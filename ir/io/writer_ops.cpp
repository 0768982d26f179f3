#include <algorithm>
#include <utility>

#include "ir/io/program_writer.hpp"

namespace spatialcert::ir::io {

// Spans by section and boundary, with positions counted in top-level ops.
void ProgramWriter::place_spans() {
  for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
    const EngineProgram& program = program_.programs[p];
    std::uint32_t at = 0;
    std::uint32_t number = 0;
    const auto number_of = [&](std::uint32_t position) {
      for (; at < position; ++number) at += 1 + program.ops[at].body;
      return number;
    };
    for (const Span& span : program.spans) {
      const std::uint32_t begin = number_of(span.begin);
      const std::uint32_t end = number_of(span.end);
      auto& spans = span.section.valid() ? section_spans_[span.section.value()]
                                         : boundary_spans_[span.boundary.value()];
      spans.push_back({p, begin, end});
    }
  }
}

void ProgramWriter::write_spans(const std::vector<PlacedSpan>& spans) {
  out_ << ",\"ops\":[";
  std::string_view separator;
  for (const PlacedSpan& span : spans) {
    const EngineProgram& program = program_.programs[span.program];
    out_ << std::exchange(separator, ",") << "{\"site\":";
    write_site(program.site);
    out_ << ",\"engine\":";
    out_.quoted(program_.target.engines[program.engine.value()]) << ",\"range\":[";
    out_.number(span.begin) << ",";
    out_.number(span.end) << "]}";
  }
  out_ << "]";
}

void ProgramWriter::write_postcondition(const Postcondition& postcondition) {
  out_ << "{\"region\":";
  write_region(postcondition.region);
  out_ << ",\"sum\":[";
  std::string_view separator;
  for (const Region& term : postcondition.terms) {
    out_ << std::exchange(separator, ",");
    write_region(term);
  }
  out_ << "]}";
}

void ProgramWriter::write_program(const EngineProgram& program) {
  out_ << "{\"site\":";
  write_site(program.site);
  out_ << ",\"engine\":";
  out_.quoted(program_.target.engines[program.engine.value()]) << ",\"ops\":[";
  write_ops(program.ops, 0, static_cast<std::uint32_t>(program.ops.size()));
  out_ << (program.ops.empty() ? "]}" : "\n]}");
}

// Recursion is bounded: validated loops nest at most 64 deep.
void ProgramWriter::write_ops(const std::vector<Op>& ops, std::uint32_t begin, std::uint32_t end) {
  std::string_view separator = "\n";
  for (std::uint32_t at = begin; at < end; at += 1 + ops[at].body) {
    const Op& op = ops[at];
    out_ << std::exchange(separator, ",\n");
    write_op(op);
    if (op.code == OpCode::repeat) {
      out_ << ",\"ops\":[";
      write_ops(ops, at + 1, at + 1 + op.body);
      out_ << "\n]";
    }
    out_ << "}";
    out_.flush();
  }
}

void ProgramWriter::write_op(const Op& op) {
  out_ << "{\"" << to_string(op.code) << "\":";
  switch (op.code) {
    case OpCode::wait:
    case OpCode::post:
      out_ << semaphore_names_[op.object] << ",\"n\":";
      out_.number(op.count);
      break;
    case OpCode::await:
      out_ << semaphore_names_[op.object] << ",\"value\":";
      out_.number(op.count);
      break;
    case OpCode::reserve:
    case OpCode::push:
    case OpCode::front:
    case OpCode::pop:
      out_ << buffer_names_[op.object] << ",\"n\":";
      out_.number(op.count);
      break;
    case OpCode::run:
      out_ << stage_names_[op.object];
      write_accesses(op, false);
      write_accesses(op, true);
      break;
    case OpCode::repeat:
      out_.number(op.count);
      break;
  }
  write_source(op.location);
}

void ProgramWriter::write_accesses(const Op& op, bool write) {
  std::string_view separator = write ? ",\"writes\":[" : ",\"reads\":[";
  for (std::uint32_t i = 0; i < op.accesses; ++i) {
    const Access& access = program_.accesses[op.first_access + i];
    if (access.write != write) continue;
    out_ << std::exchange(separator, ",");
    write_region(access.region);
  }
  if (separator == ",") out_ << "]";
}

void ProgramWriter::write_region(const Region& region) {
  switch (region.kind) {
    case RegionKind::tensor:
      out_ << "{\"tensor\":";
      out_.quoted(program_.tensors[region.object].name);
      write_bounds(",\"rows\":[", region, 0);
      write_bounds(",\"cols\":[", region, 2);
      break;
    case RegionKind::bytes:
      out_ << "{\"buffer\":" << buffer_names_[region.object];
      write_bounds(",\"bytes\":[", region, 0);
      break;
    case RegionKind::page:
      out_ << "{\"fifo\":" << buffer_names_[region.object] << ",\"page\":";
      out_.number(region.page);
      write_bounds(",\"bytes\":[", region, 0);
      break;
  }
  out_ << "}";
}

void ProgramWriter::write_bounds(std::string_view key, const Region& region, std::uint8_t first) {
  out_ << key;
  write_bound(region, first);
  out_ << ",";
  write_bound(region, static_cast<std::uint8_t>(first + 1));
  out_ << "]";
}

void ProgramWriter::write_bound(const Region& region, std::uint8_t which) {
  std::vector<AffineTerm> terms;
  for (std::uint32_t i = 0; i < region.terms; ++i) {
    const AffineTerm& term = program_.affine_terms[region.first_term + i];
    if (term.bound == which && term.coefficient != 0) terms.push_back(term);
  }
  if (terms.empty()) {
    out_.number(region.bound[which]);
    return;
  }
  std::sort(terms.begin(), terms.end(),
            [](const AffineTerm& a, const AffineTerm& b) { return a.level < b.level; });
  out_ << "{\"const\":";
  out_.number(region.bound[which]);
  for (const AffineTerm& term : terms) {
    out_ << ",\"i";
    out_.number(std::uint32_t{term.level}) << "\":";
    out_.number(term.coefficient);
  }
  out_ << "}";
}

}  // namespace spatialcert::ir::io
