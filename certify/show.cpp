// Readable listing of a program, in the order of its file.
#include <fmt/format.h>

#include "certify/names.hpp"
#include "certify/report.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::certify {
namespace {

/// Terms of a sum that are spelled out.
constexpr std::size_t kMostTerms = 16;

class Listing {
 public:
  explicit Listing(const ir::Program& program) : program_(program) {}

  std::string take() {
    line("program {} ({})", program_.name, to_string(program_.execution));
    line("  digest {}", ir::to_hex(ir::digest(program_)));
    line("  {} ops in {} engine programs", ir::op_count(program_), program_.programs.size());
    target();
    objects();
    dataflow();
    composition();
    postconditions();
    slices();
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) engine_program(ir::ProgramId(p));
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  [[nodiscard]] std::string source(ir::LocationIndex location) const {
    const std::string text = source_text(program_, location);
    return text.empty() ? text : fmt::format("  [{}]", text);
  }
  [[nodiscard]] std::string via(ir::HandoffId handoff) const {
    if (!handoff.valid()) return {};
    return fmt::format(", via {}", program_.target.handoffs[handoff.value()].name);
  }

  void target();
  void objects();
  void buffer(const ir::Buffer& buffer);
  void dataflow();
  void composition();
  void postconditions();
  void slices();
  void engine_program(ir::ProgramId id);
  void op(const ir::EngineProgram& program, std::uint32_t index, std::size_t depth);

  const ir::Program& program_;
  std::string out_;
};

void Listing::target() {
  const ir::Target& target = program_.target;
  line("target {}: {}, {} x {} sites each", target.name, count_text(target.chips, "chip"),
       target.mesh_width, target.mesh_height);
  std::string engines;
  for (const std::string& engine : target.engines)
    engines += (engines.empty() ? "" : ", ") + engine;
  line("  engines: {}", engines);
  for (const ir::MemorySpace& space : target.spaces) {
    line("  space {}: {} per site, alignment {}", space.name, size_text(space.bytes),
         space.alignment);
  }
  line("  semaphores: {} per site, maximum {}", target.semaphores_per_site,
       target.semaphore_maximum);
  for (const ir::Handoff& handoff : target.handoffs) {
    line("  hand-off {}{}", handoff.name, handoff.crosses_chips ? ": crosses chips" : "");
  }
  line("  tile {} x {}, float {}, widest integer {}", target.tile_rows, target.tile_cols,
       to_string(target.float_type), to_string(target.widest_integer));
}

void Listing::objects() {
  if (!program_.tensors.empty()) line("tensors");
  for (const ir::Tensor& t : program_.tensors) {
    std::string more = t.init == ir::Init::undefined ? "" : fmt::format(", {}", to_string(t.init));
    if (t.owner) more += fmt::format(", owned by chip {}", *t.owner);
    if (t.values) more += fmt::format(", values in [{}, {}]", t.values->least, t.values->largest);
    if (t.view) {
      more += fmt::format(", a view of {} from element {}",
                          program_.tensors[t.view->base.value()].name, t.view->offset);
    }
    line("  {}: {}, {} x {} {}{}{}", t.name, to_string(t.role), t.rows, t.cols, to_string(t.dtype),
         more, source(t.location));
  }
  if (!program_.buffers.empty()) line("buffers");
  for (const ir::Buffer& b : program_.buffers) buffer(b);
  if (!program_.semaphores.empty()) line("semaphores");
  for (const ir::Semaphore& s : program_.semaphores) {
    line("  {}: {}, initially {}, maximum {}, {} at restart{}", s.name, site_text(program_, s.site),
         s.initial, s.maximum, s.restart == ir::Restart::keep ? "kept" : "reset", via(s.handoff));
  }
}

void Listing::buffer(const ir::Buffer& b) {
  std::string more;
  if (b.kind == ir::BufferKind::fifo) more += fmt::format(", {} depth", to_string(b.depth));
  more += via(b.handoff);
  if (b.init != ir::Init::undefined) more += fmt::format(", {}", to_string(b.init));
  if (b.lifetime == ir::Lifetime::resident) {
    more += ", resident";
    if (b.resident_from.valid() && b.resident_to.valid()) {
      more += fmt::format(" from {} to {}", program_.sections[b.resident_from.value()].name,
                          program_.sections[b.resident_to.value()].name);
    }
  }
  if (b.view) {
    more += fmt::format(", a view of {} from byte {}", program_.buffers[b.view->base.value()].name,
                        b.view->offset);
  }
  line("  {}: {} at {}, {} [{}, {}), {} pages of {} bytes{}{}", b.name, to_string(b.kind),
       site_text(program_, b.site), program_.target.spaces[b.space.value()].name, b.address,
       b.address + b.bytes(), b.pages, b.page_bytes, more, source(b.location));
}

void Listing::dataflow() {
  if (!program_.stages.empty()) line("stages");
  for (const ir::Stage& s : program_.stages) {
    const std::string scale = s.op == ir::OpKind::scale ? fmt::format(" by {}", s.scale) : "";
    line("  {}: {} {}{}, section {}", s.name, to_string(s.kind), to_string(s.op), scale,
         program_.sections[s.section.value()].name);
  }
  if (!program_.edges.empty()) line("edges");
  for (const ir::Edge& e : program_.edges) {
    line("  {} -> {} -> {}{}", program_.stages[e.producer.value()].name,
         program_.buffers[e.buffer.value()].name, program_.stages[e.consumer.value()].name,
         via(e.handoff));
  }
}

void Listing::composition() {
  line("sections");
  for (const ir::Section& s : program_.sections) {
    line("  {}: source index {}, {}{}", s.name, s.source_index,
         s.numerics.exact ? "exact" : "approximate: " + s.numerics.reason, source(s.location));
  }
  for (const ir::Boundary& b : program_.boundaries) {
    line("  boundary after {}: {}", program_.sections[b.after.value()].name,
         b.closed ? "closed" : "open");
  }
  for (const ir::Link& l : program_.links) {
    line("  link: {} {}", l.is_fifo ? "fifo" : "semaphore",
         l.is_fifo ? program_.buffers[l.object].name : program_.semaphores[l.object].name);
  }
  for (const std::string& name : program_.carried) line("  carried: {}", name);
}

void Listing::postconditions() {
  if (program_.result_unspecified) line("postconditions: not specified");
  if (!program_.postconditions.empty()) line("postconditions");
  for (const ir::Postcondition& p : program_.postconditions) {
    std::string sum;
    for (std::size_t i = 0; i < p.terms.size() && i < kMostTerms; ++i) {
      sum += (i == 0 ? "" : " + ") + region_text(program_, p.terms[i]);
    }
    if (p.terms.size() > kMostTerms) {
      sum += fmt::format(" + {} more terms", p.terms.size() - kMostTerms);
    }
    line("  {} = {}", region_text(program_, p.region), p.terms.empty() ? "0" : sum);
  }
}

void Listing::slices() {
  if (!program_.sliced.empty()) line("slices");
  for (const ir::SlicedTensor& s : program_.sliced) {
    line("  {}: {} x {}, {} cut along dimension {}{}{}", s.name, s.rows, s.cols, to_string(s.axis),
         s.dimension, s.stacked ? ", stacked" : "",
         s.copies == 1 ? "" : fmt::format(", in {} copies", s.copies));
    for (std::size_t part = 0; part < s.slices.size(); ++part) {
      std::string ranges;
      for (const ir::IndexRange& range : s.slices[part].ranges) {
        ranges += fmt::format(" [{}, {})", range.begin, range.end);
      }
      line("    part {}: {} ={}", part, program_.tensors[s.slices[part].tensor.value()].name,
           ranges);
    }
  }
}

void Listing::engine_program(ir::ProgramId id) {
  const ir::EngineProgram& program = program_.programs[id.value()];
  line("{}", engine_text(program_, id));
  for (const ir::Span& span : program.spans) {
    line("  {}", part_text(program_, id, span.begin));
    std::vector<std::uint32_t> loop_ends;
    for (std::uint32_t i = span.begin; i < span.end; ++i) {
      while (!loop_ends.empty() && loop_ends.back() <= i) loop_ends.pop_back();
      op(program, i, loop_ends.size());
      if (program.ops[i].code == ir::OpCode::repeat)
        loop_ends.push_back(i + 1 + program.ops[i].body);
    }
  }
}

void Listing::op(const ir::EngineProgram& program, std::uint32_t index, std::size_t depth) {
  const ir::Op& op = program.ops[index];
  line("    {:>6}  {:{}}{}{}", index, "", 2 * depth, op_text(program_, op), source(op.location));
}

}  // namespace

std::string show_text(const ir::Program& program) { return Listing(program).take(); }

}  // namespace spatialcert::certify
