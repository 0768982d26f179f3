// The program that stands for a class. Trusted.
#include "proofs/composition/check.hpp"

namespace spatialcert::proofs::composition {
namespace {

void add_tensors(const ir::Program& program, const Class& one, ir::Program& out) {
  for (std::size_t i = 0; i < one.excerpt.tensors.size(); ++i) {
    ir::Tensor& tensor = out.tensors.emplace_back(program.tensors[one.excerpt.tensors[i]]);
    tensor.init = ir::Init::undefined;
    tensor.owner.reset();
    tensor.location = ir::kNoLocation;
    if (tensor.view) tensor.view->base = ir::TensorId(one.excerpt.tensor_bases[i]);
  }
}

void add_buffers(const ir::Program& program, const Class& one, ir::Program& out) {
  for (std::size_t i = 0; i < one.excerpt.buffers.size(); ++i) {
    const std::uint32_t number = one.excerpt.buffers[i];
    ir::Buffer& buffer = out.buffers.emplace_back(program.buffers[number]);
    const bool resident = is_resident(program, number);
    buffer.lifetime = resident ? ir::Lifetime::resident : ir::Lifetime::section;
    buffer.resident_from = buffer.resident_to = ir::SectionId();
    if (resident) buffer.init = ir::Init::undefined;
    // Not `external`: that something is the host's own is no matter of a section alone.
    if (buffer.init == ir::Init::external) buffer.init = ir::Init::zero;
    buffer.location = ir::kNoLocation;
    if (buffer.view) buffer.view->base = ir::BufferId(one.excerpt.buffer_bases[i]);
  }
}

void add_engine_programs(const ir::Program& program, const Excerpt& excerpt, ir::Program& out) {
  for (std::size_t p = 0; p < excerpt.programs.size(); ++p) {
    const ir::EngineProgram& whole = program.programs[excerpt.programs[p]];
    ir::EngineProgram& part = out.programs.emplace_back();
    part.site = whole.site;
    part.engine = whole.engine;
    part.ops.assign(excerpt.ops.begin() + excerpt.begin[p],
                    excerpt.ops.begin() + excerpt.begin[p + 1]);
    part.spans.push_back({ir::SectionId(std::uint32_t{0}), ir::BoundaryId(), 0,
                          static_cast<std::uint32_t>(part.ops.size())});
  }
}

}  // namespace

ir::Program program_of(const ir::Program& program, const Class& one) {
  ir::Program out;
  const Excerpt& excerpt = one.excerpt;
  out.name = program.sections[excerpt.section].name;
  out.target = program.target;
  add_tensors(program, one, out);
  add_buffers(program, one, out);
  for (std::size_t i = 0; i < one.touched.size(); ++i) {
    if (one.defined[i] == 0) continue;
    const Touched& what = one.touched[i];
    (what.tensor ? out.tensors[what.object].init : out.buffers[what.object].init) = ir::Init::zero;
  }
  for (const std::uint32_t number : excerpt.semaphores) {
    ir::Semaphore& semaphore = out.semaphores.emplace_back(program.semaphores[number]);
    // An iteration begins with what the one before has left.
    if (program.execution == ir::Execution::persistent) semaphore.restart = ir::Restart::keep;
  }
  for (const std::uint32_t number : excerpt.stages) {
    ir::Stage& stage = out.stages.emplace_back(program.stages[number]);
    stage.section = ir::SectionId(std::uint32_t{0});
    stage.location = ir::kNoLocation;
  }
  out.edges = excerpt.edges;
  ir::Section& section = out.sections.emplace_back(program.sections[excerpt.section]);
  section.location = ir::kNoLocation;
  add_engine_programs(program, excerpt, out);
  out.accesses = excerpt.accesses;
  out.affine_terms = excerpt.terms;
  return out;
}

}  // namespace spatialcert::proofs::composition
