#include "tests/composition/section_maker.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "ir/program_file.hpp"
#include "ir/validate.hpp"

namespace spatialcert::tests {
namespace {

template <typename Items>
std::uint32_t find(const Items& items, const std::string& name) {
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return i;
  }
  return 0xffffffffU;
}

}  // namespace

ir::Target test_target() {
  ir::Target target;
  target.name = "four chips";
  target.chips = 4;
  target.mesh_width = 4;
  target.mesh_height = 4;
  target.engines = {"load", "compute", "store"};
  target.spaces = {{"sram", 4096, 64}, {"dram", 65536, 1}};
  target.semaphores_per_site = 16;
  target.semaphore_maximum = 31;
  target.handoffs = {{"noc", false}, {"link", true}};
  return target;
}

SectionMaker::SectionMaker(const std::string& name, ir::Target target) {
  program_.name = name;
  program_.target = std::move(target);
  program_.sections.push_back({name, 0, {}, ir::kNoLocation});
}

SectionMaker& SectionMaker::tensor(const std::string& name, ir::TensorRole role, ir::Init init) {
  ir::Tensor tensor;
  tensor.name = name;
  tensor.role = role;
  tensor.rows = 4;
  tensor.cols = 4;
  tensor.init = init;
  program_.tensors.push_back(tensor);
  return *this;
}

SectionMaker& SectionMaker::buffer(const std::string& name, ir::BufferKind kind, ir::Site site,
                                   std::uint64_t address, std::uint64_t pages) {
  ir::Buffer buffer;
  buffer.name = name;
  buffer.kind = kind;
  buffer.site = site;
  buffer.space = ir::SpaceId(std::uint32_t{0});
  buffer.address = address;
  buffer.page_bytes = 64;
  buffer.pages = pages;
  program_.buffers.push_back(buffer);
  return *this;
}

SectionMaker& SectionMaker::resident(const std::string& name, ir::Site site,
                                     std::uint64_t address) {
  buffer(name, ir::BufferKind::scratch, site, address);
  program_.buffers.back().lifetime = ir::Lifetime::resident;
  return *this;
}

SectionMaker& SectionMaker::semaphore(const std::string& name, ir::Site site) {
  ir::Semaphore semaphore;
  semaphore.name = name;
  semaphore.site = site;
  semaphore.maximum = 15;
  program_.semaphores.push_back(semaphore);
  return *this;
}

SectionMaker& SectionMaker::at(ir::Site site, Engine engine) {
  const ir::EngineId id(static_cast<std::uint32_t>(engine));
  for (current_ = 0; current_ < program_.programs.size(); ++current_) {
    const auto& one = program_.programs[current_];
    if (one.site == site && one.engine == id) return *this;
  }
  program_.programs.push_back({site, id, {}, {}});
  return *this;
}

SectionMaker& SectionMaker::op(ir::OpCode code, const std::string& object, std::int64_t count) {
  const bool semaphore =
      code == ir::OpCode::wait || code == ir::OpCode::await || code == ir::OpCode::post;
  ir::Op made;
  made.code = code;
  made.object = semaphore ? find(program_.semaphores, object) : find(program_.buffers, object);
  made.count = count;
  program_.programs.at(current_).ops.push_back(made);
  return *this;
}

ir::Region SectionMaker::region(const std::string& name) const {
  ir::Region region;
  if (const std::uint32_t t = find(program_.tensors, name); t != 0xffffffffU) {
    region.kind = ir::RegionKind::tensor;
    region.object = t;
    region.bound[1] = static_cast<std::int64_t>(program_.tensors[t].rows);
    region.bound[3] = static_cast<std::int64_t>(program_.tensors[t].cols);
    return region;
  }
  region.object = find(program_.buffers, name);
  const ir::Buffer& buffer = program_.buffers.at(region.object);
  const bool fifo = buffer.kind == ir::BufferKind::fifo;
  region.kind = fifo ? ir::RegionKind::page : ir::RegionKind::bytes;
  region.bound[1] = static_cast<std::int64_t>(fifo ? buffer.page_bytes : buffer.bytes());
  return region;
}

SectionMaker& SectionMaker::run(const std::string& stage, const std::vector<std::string>& reads,
                                const std::vector<std::string>& writes) {
  ir::Op made;
  made.code = ir::OpCode::run;
  made.object = find(program_.stages, stage);
  if (made.object == 0xffffffffU) {
    made.object = static_cast<std::uint32_t>(program_.stages.size());
    ir::Stage& fresh = program_.stages.emplace_back();
    fresh.name = stage;
    fresh.section = ir::SectionId(std::uint32_t{0});
  }
  made.first_access = static_cast<std::uint32_t>(program_.accesses.size());
  made.accesses = static_cast<std::uint32_t>(reads.size() + writes.size());
  for (const std::string& name : reads) program_.accesses.push_back({region(name), false});
  for (const std::string& name : writes) program_.accesses.push_back({region(name), true});
  program_.programs.at(current_).ops.push_back(made);
  return *this;
}

SectionMaker& SectionMaker::run(const std::string& stage, std::initializer_list<const char*> reads,
                                std::initializer_list<const char*> writes) {
  return run(stage, std::vector<std::string>(reads.begin(), reads.end()),
             std::vector<std::string>(writes.begin(), writes.end()));
}

ir::Tensor& SectionMaker::tensor_of(const std::string& name) {
  return program_.tensors.at(find(program_.tensors, name));
}

ir::Buffer& SectionMaker::buffer_of(const std::string& name) {
  return program_.buffers.at(find(program_.buffers, name));
}

ir::Program SectionMaker::unchecked() const {
  ir::Program program = program_;
  std::sort(program.programs.begin(), program.programs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.site, a.engine) < std::pair(b.site, b.engine);
  });
  for (ir::EngineProgram& one : program.programs) {
    if (one.ops.empty()) continue;
    one.spans.push_back({ir::SectionId(std::uint32_t{0}), ir::BoundaryId(), 0,
                         static_cast<std::uint32_t>(one.ops.size())});
  }
  return program;
}

ir::Program SectionMaker::section() const {
  ir::Program program = unchecked();
  const ir::Status refused = ir::validate(program);
  REQUIRE_MESSAGE(!refused, refused->message());
  return program;
}

ir::Program step_section(const std::string& name, const std::vector<std::string>& inputs,
                         const std::vector<TestPlace>& places) {
  SectionMaker maker(name);
  for (const std::string& input : inputs) maker.input(input);
  for (std::size_t p = 0; p < places.size(); ++p) {
    const std::string result = fmt::format("{}.{}", name, p);
    maker.output(result).at(places[p].site, places[p].engine);
    maker.run(fmt::format("{}.run{}", name, p), inputs, {result});
  }
  return maker.section();
}

std::vector<ir::Program> chain(std::uint32_t count, const std::vector<TestPlace>& places) {
  std::vector<ir::Program> sections;
  std::vector<std::string> inputs{"x"};
  for (std::uint32_t s = 0; s < count; ++s) {
    const std::string name = fmt::format("s{}", s);
    sections.push_back(step_section(name, inputs, places));
    inputs.clear();
    for (std::size_t p = 0; p < places.size(); ++p) inputs.push_back(fmt::format("{}.{}", name, p));
  }
  return sections;
}

ir::Program pipeline_section(const std::string& name, const std::string& input,
                             const std::string& output, ir::Site site, std::int64_t tiles) {
  const std::string in = name + ".in", out = name + ".out";
  SectionMaker m(name);
  m.input(input).output(output);
  m.buffer(in, ir::BufferKind::fifo, site, 0, 2).buffer(out, ir::BufferKind::fifo, site, 128, 2);
  m.at(site, Engine::load);
  for (std::int64_t t = 0; t < tiles; ++t)
    m.op(ir::OpCode::reserve, in).run(name + ".load", {input}, {in}).op(ir::OpCode::push, in);
  m.at(site, Engine::compute);
  for (std::int64_t t = 0; t < tiles; ++t) {
    m.op(ir::OpCode::front, in).op(ir::OpCode::reserve, out).run(name + ".compute", {in}, {out});
    m.op(ir::OpCode::push, out).op(ir::OpCode::pop, in);
  }
  m.at(site, Engine::store);
  for (std::int64_t t = 0; t < tiles; ++t)
    m.op(ir::OpCode::front, out).run(name + ".store", {out}, {output}).op(ir::OpCode::pop, out);
  return m.section();
}

compose::Composed composed(const compose::Outcome<compose::Composed>& outcome) {
  if (const auto* refused = std::get_if<compose::Refused>(&outcome)) FAIL(refused->message());
  const auto& result = std::get<compose::Composed>(outcome);
  const ir::Status wrong = ir::validate(result.program);
  REQUIRE_MESSAGE(!wrong, wrong->message());
  const std::string text = ir::serialise(result.program);
  const auto again = ir::parse_program(text, "composed");
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  CHECK(ir::serialise(*again) == text);
  return result;
}

void check_refused(const compose::Outcome<compose::Composed>& outcome,
                   compose::RefusalReason reason, const std::vector<std::string>& words) {
  const auto* refused = std::get_if<compose::Refused>(&outcome);
  REQUIRE(refused != nullptr);
  INFO(refused->message());
  CHECK(to_string(refused->reason) == to_string(reason));
  CHECK_FALSE(refused->remedy.empty());
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(refused->what.find(word) != std::string::npos);
  }
}

}  // namespace spatialcert::tests
