#include "certify/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "certify/report.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify {
namespace {

using ir::CounterKind;
using ir::OpCode;
using ir::RegionKind;

std::string bound_text(const ir::Program& program, const ir::Region& region, int which) {
  std::string text;
  for (std::uint32_t i = 0; i < region.terms; ++i) {
    const ir::AffineTerm& term = program.affine_terms[region.first_term + i];
    if (term.bound != which) continue;
    if (term.coefficient < 0 || !text.empty()) text += term.coefficient < 0 ? "-" : "+";
    // Unsigned, because the least integer has no absolute value.
    const auto coefficient = static_cast<std::uint64_t>(term.coefficient);
    const std::uint64_t size = term.coefficient < 0 ? 0 - coefficient : coefficient;
    text += size == 1 ? fmt::format("i{}", term.level) : fmt::format("{}*i{}", size, term.level);
  }
  const std::int64_t constant = region.bound[which];
  if (text.empty()) return fmt::format("{}", constant);
  if (constant != 0) text += fmt::format("{:+}", constant);
  return text;
}

std::string range_text(const ir::Program& program, const ir::Region& region, int first) {
  return fmt::format("{}:{}", bound_text(program, region, first),
                     bound_text(program, region, first + 1));
}

bool is_whole(const ir::Region& region, std::uint64_t first, std::uint64_t second) {
  const auto spans = [&](int at, std::uint64_t size) {
    return region.bound[at] == 0 && region.bound[at + 1] >= 0 &&
           static_cast<std::uint64_t>(region.bound[at + 1]) == size;
  };
  return region.terms == 0 && spans(0, first) &&
         (region.kind != RegionKind::tensor || spans(2, second));
}

std::string accesses_text(const ir::Program& program, const ir::Op& op) {
  std::string reads;
  std::string writes;
  for (std::uint32_t a = 0; a < op.accesses; ++a) {
    const ir::Access& access = program.accesses[op.first_access + a];
    std::string& side = access.write ? writes : reads;
    if (!side.empty()) side += ", ";
    side += region_text(program, access.region);
  }
  if (writes.empty()) return reads;
  return reads.empty() ? "-> " + writes : reads + " -> " + writes;
}

}  // namespace

std::string site_text(const ir::Program& program, const ir::Site& site) {
  if (program.target.mesh_width == 1 && program.target.mesh_height == 1) {
    return fmt::format("chip {}", site.chip);
  }
  return fmt::format("chip {} ({},{})", site.chip, site.x, site.y);
}

std::string engine_text(const ir::Program& program, ir::ProgramId id) {
  const ir::EngineProgram& engine = program.programs[id.value()];
  return fmt::format("{} at {}", program.target.engines[engine.engine.value()],
                     site_text(program, engine.site));
}

std::string part_text(const ir::Program& program, ir::ProgramId id, std::uint32_t op) {
  const auto& spans = program.programs[id.value()].spans;
  const auto span = std::find_if(spans.begin(), spans.end(),
                                 [&](const ir::Span& s) { return s.begin <= op && op < s.end; });
  if (span == spans.end()) return "no section";
  if (span->section.valid()) {
    return fmt::format("section {}", program.sections[span->section.value()].name);
  }
  const ir::SectionId after = program.boundaries[span->boundary.value()].after;
  return fmt::format("the boundary after section {}", program.sections[after.value()].name);
}

std::string source_text(const ir::Program& program, ir::LocationIndex location) {
  if (location == ir::kNoLocation) return {};
  const ir::SourceLocation& source = program.locations[location];
  const std::string& file = program.source_files[source.file];
  if (source.column == 0) return fmt::format("{}:{}", file, source.line);
  return fmt::format("{}:{}:{}", file, source.line, source.column);
}

std::string region_text(const ir::Program& program, const ir::Region& region) {
  if (region.kind == RegionKind::tensor) {
    const ir::Tensor& tensor = program.tensors[region.object];
    if (is_whole(region, tensor.rows, tensor.cols)) return tensor.name;
    return fmt::format("{}[{}, {}]", tensor.name, range_text(program, region, 0),
                       range_text(program, region, 2));
  }
  const ir::Buffer& buffer = program.buffers[region.object];
  if (region.kind == RegionKind::bytes) {
    if (is_whole(region, buffer.bytes(), 0)) return buffer.name;
    return fmt::format("{}[{}]", buffer.name, range_text(program, region, 0));
  }
  std::string text = buffer.name;
  if (region.page != 0) text += fmt::format(" page {}", region.page);
  if (is_whole(region, buffer.page_bytes, 0)) return text;
  return fmt::format("{}[{}]", region.page != 0 ? text + " " : text,
                     range_text(program, region, 0));
}

std::string op_text(const ir::Program& program, const ir::Op& op) {
  const std::string_view code = to_string(op.code);
  switch (op.code) {
    case OpCode::wait:
    case OpCode::await:
    case OpCode::post:
      return fmt::format("{} {} {}", code, program.semaphores[op.object].name, op.count);
    case OpCode::reserve:
    case OpCode::push:
    case OpCode::front:
    case OpCode::pop:
      return fmt::format("{} {} {}", code, program.buffers[op.object].name, op.count);
    case OpCode::repeat:
      return fmt::format("{} {}", code, op.count);
    case OpCode::run:
      break;
  }
  const std::string& stage = program.stages[op.object].name;
  if (op.accesses == 0) return fmt::format("{} {}", code, stage);
  return fmt::format("{} {} ({})", code, stage, accesses_text(program, op));
}

const std::string& counter_object(const ir::Program& program, const ir::Counter& counter) {
  return counter.kind == CounterKind::semaphore ? program.semaphores[counter.object].name
                                                : program.buffers[counter.object].name;
}

std::string counter_text(const ir::Program& program, const ir::Counter& counter) {
  const std::string& name = counter_object(program, counter);
  switch (counter.kind) {
    case CounterKind::semaphore:
      return fmt::format("semaphore {}", name);
    case CounterKind::filled:
      return fmt::format("filled pages of fifo {}", name);
    case CounterKind::free:
      return fmt::format("free pages of fifo {}", name);
  }
  ir::require_failed("counter kind", "enumerator out of range", __FILE__, __LINE__);
}

std::string count_text(std::int64_t count, const char* singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  for (int unit = 3; unit >= 0; --unit) {
    const int shift = 10 * (unit + 1);
    if (bytes != 0 && bytes % (std::uint64_t{1} << shift) == 0) {
      return fmt::format("{} {} ({} bytes)", bytes >> shift, kUnits[unit], bytes);
    }
  }
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

const ir::Unrolled& OpNames::unrolled() const {
  if (!unrolled_) {
    auto result = ir::unroll(program_, iterations_);
    SPATIALCERT_REQUIRE(std::holds_alternative<ir::Unrolled>(result),
                        "a transition is named of a program that cannot be unrolled");
    unrolled_ = std::get<ir::Unrolled>(std::move(result));
  }
  return *unrolled_;
}

// Which execution of the op text is meant, where there are several.
std::string OpNames::instance(ir::TransitionId t) const {
  const ir::Unrolled& all = unrolled();
  std::string text;
  if (all.iterations > 1) text = fmt::format("iteration {}", all.iteration(t) + 1);
  std::vector<std::int64_t> indices;
  for (std::uint32_t at = all.context[t.value()]; at != 0; at = all.contexts[at].parent) {
    indices.push_back(all.contexts[at].index);
  }
  for (std::size_t level = 0; level < indices.size(); ++level) {
    text += fmt::format("{}i{} = {}", text.empty() ? "" : ", ", level,
                        indices[indices.size() - 1 - level]);
  }
  return text.empty() ? text : fmt::format(" ({})", text);
}

std::string OpNames::op(ir::TransitionId t) const {
  return fmt::format("op {} `{}`{}", unrolled().op[t.value()], op_text(program_, op_of(t)),
                     instance(t));
}

std::string OpNames::source(ir::TransitionId t) const {
  const std::string where = source_text(program_, op_of(t).location);
  return where.empty() ? where : fmt::format(" [{}]", where);
}

std::string OpNames::placed_op(ir::TransitionId t) const {
  return fmt::format("{}, {}{}", op(t),
                     part_text(program_, program_of(t), unrolled().op[t.value()]), source(t));
}

}  // namespace spatialcert::certify
