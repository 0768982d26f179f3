// What the back end of a compiler does to have its programs certified: it lowers a chain of
// elementwise kernels to one site of a tile array, as an ir::Program, and asks for a verdict. `emit
// --unfused` has a loop per kernel, which is wrong: the second begins only when the first is done,
// and there is no room for all tiles between them.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "certify/report.hpp"
#include "ir/program_file.hpp"
#include "ir/validate.hpp"

namespace ir = spatialcert::ir;

namespace {

// What the compiler has at this point: kernels over a matrix of 64 x 32 floats, done in tiles of 16
// rows.
struct Kernel {
  std::string name;
  ir::OpKind op;
  std::uint32_t line;  // in the user's model
};
constexpr std::uint64_t kRows = 64, kCols = 32, kTileRows = 16, kTileBytes = kTileRows * kCols * 4;

enum Engine : std::size_t { kLoad, kCompute, kStore };

class Emitter {
 public:
  Emitter() {
    program_.name = "elementwise";
    program_.target.name = "three-engine tile";
    program_.target.engines = {"load", "compute", "store"};
    program_.target.spaces = {{"sram", 65536, 64}};
    program_.sections = {{"elementwise", 0, {}, ir::kNoLocation}};
    program_.source_files = {"model.py"};
    ops_.resize(program_.target.engines.size());
  }

  // Objects: their position in the program's list is their id.
  ir::TensorId tensor(std::string name, ir::TensorRole role, ir::Init init) {
    ir::Tensor tensor;
    tensor.name = std::move(name);
    tensor.role = role;
    tensor.rows = kRows;
    tensor.cols = kCols;
    tensor.init = init;
    program_.tensors.push_back(tensor);
    return ir::TensorId(program_.tensors.size() - 1);
  }
  ir::BufferId fifo(std::string name, std::uint64_t pages) {
    ir::Buffer buffer;
    buffer.name = std::move(name);
    buffer.kind = ir::BufferKind::fifo;
    buffer.space = ir::SpaceId(std::size_t{0});
    buffer.address = next_address_;
    buffer.page_bytes = kTileBytes;
    buffer.pages = pages;
    next_address_ += buffer.bytes();
    program_.buffers.push_back(buffer);
    return ir::BufferId(program_.buffers.size() - 1);
  }
  ir::StageId stage(std::string name, ir::StageKind kind, ir::OpKind op) {
    program_.stages.push_back(
        {std::move(name), kind, op, 1.0, ir::SectionId(std::size_t{0}), ir::kNoLocation});
    return ir::StageId(program_.stages.size() - 1);
  }

  // Ops. A loop is a `repeat` op and, behind it, its body.
  void on(Engine engine) { engine_ = engine; }
  void at_line(std::uint32_t line) {
    program_.locations.push_back({0, line, 0});
    location_ = static_cast<ir::LocationIndex>(program_.locations.size() - 1);
  }
  void begin_loop() {
    add({ir::OpCode::repeat, 0, kRows / kTileRows}), loop_ = ops_[engine_].size() - 1;
  }
  void end_loop() {
    ops_[engine_][loop_].body = static_cast<std::uint32_t>(ops_[engine_].size() - loop_ - 1);
  }
  void hand_off(ir::OpCode code, ir::BufferId fifo) { add({code, fifo.value(), 1}); }
  void run(ir::StageId stage, const std::vector<ir::Access>& accesses) {
    ir::Op op{ir::OpCode::run, stage.value(), 0};
    op.first_access = static_cast<std::uint32_t>(program_.accesses.size());
    op.accesses = static_cast<std::uint32_t>(accesses.size());
    program_.accesses.insert(program_.accesses.end(), accesses.begin(), accesses.end());
    add(op);
  }
  // The rows of the loop's tile: [16 i, 16 i + 16).
  ir::Access tile_of(ir::TensorId tensor, bool write) {
    ir::Region region{ir::RegionKind::tensor, tensor.value()};
    region.bound[1] = kTileRows;
    region.bound[3] = kCols;
    region.first_term = static_cast<std::uint32_t>(program_.affine_terms.size());
    region.terms = 2;
    for (std::uint8_t bound = 0; bound < 2; ++bound)
      program_.affine_terms.push_back({bound, 0, kTileRows});
    return {region, write};
  }
  static ir::Access page_of(ir::BufferId fifo, bool write) {
    ir::Region region{ir::RegionKind::page, fifo.value()};
    region.bound[1] = kTileBytes;
    return {region, write};
  }

  // Every engine program, all of it part of the only section.
  ir::Program finish() {
    for (std::size_t engine = 0; engine < ops_.size(); ++engine) {
      ir::EngineProgram& program = program_.programs.emplace_back();
      program.engine = ir::EngineId(engine);
      program.ops = ops_[engine];
      const auto end = static_cast<std::uint32_t>(ops_[engine].size());
      program.spans = {{ir::SectionId(std::size_t{0}), {}, 0, end}};
    }
    return std::move(program_);
  }

 private:
  void add(ir::Op op) {
    op.location = location_;
    ops_[engine_].push_back(op);
  }

  ir::Program program_;
  std::vector<std::vector<ir::Op>> ops_;
  std::size_t engine_ = kLoad, loop_ = 0;
  std::uint64_t next_address_ = 0;
  ir::LocationIndex location_ = ir::kNoLocation;
};

// x -> kernel -> kernel -> ... -> y: the load engine brings tiles of x, the compute engine does the
// kernels, with a FIFO of two pages before and after each, and the store engine takes the results
// away.
ir::Program lower(const std::vector<Kernel>& kernels, bool fused) {
  using enum ir::OpCode;
  Emitter emit;
  const auto x = emit.tensor("x", ir::TensorRole::input, ir::Init::external);
  const auto y = emit.tensor("y", ir::TensorRole::output, ir::Init::undefined);
  std::vector<ir::BufferId> fifo = {emit.fifo("x tiles", 2)};
  for (const Kernel& kernel : kernels) fifo.push_back(emit.fifo(kernel.name + " tiles", 2));

  emit.on(kLoad);
  emit.begin_loop();
  emit.hand_off(reserve, fifo.front());
  const auto load = emit.stage("load x", ir::StageKind::load, ir::OpKind::copy);
  emit.run(load, {emit.tile_of(x, false), Emitter::page_of(fifo.front(), true)});
  emit.hand_off(push, fifo.front());
  emit.end_loop();

  emit.on(kCompute);
  if (fused) emit.begin_loop();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto stage = emit.stage(kernels[k].name, ir::StageKind::compute, kernels[k].op);
    emit.at_line(kernels[k].line);
    if (!fused) emit.begin_loop();
    emit.hand_off(front, fifo[k]);
    emit.hand_off(reserve, fifo[k + 1]);
    emit.run(stage, {Emitter::page_of(fifo[k], false), Emitter::page_of(fifo[k + 1], true)});
    emit.hand_off(push, fifo[k + 1]);
    emit.hand_off(pop, fifo[k]);
    if (!fused) emit.end_loop();
  }
  if (fused) emit.end_loop();

  emit.on(kStore);
  emit.begin_loop();
  emit.hand_off(front, fifo.back());
  const auto store = emit.stage("store y", ir::StageKind::store, ir::OpKind::copy);
  emit.run(store, {Emitter::page_of(fifo.back(), false), emit.tile_of(y, true)});
  emit.hand_off(pop, fifo.back());
  emit.end_loop();
  return emit.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const bool fused = argc < 2 || std::string_view(argv[1]) != "--unfused";
  const std::vector<Kernel> kernels = {{"silu", ir::OpKind::silu, 12},
                                       {"negate", ir::OpKind::neg, 13}};
  const ir::Program program = lower(kernels, fused);

  // 1. Is it well-formed? A refusal here is a bug of the emitter, named by its place in the file.
  if (const ir::Status malformed = ir::validate(program)) {
    std::fprintf(stderr, "%s\n", malformed->message().c_str());
    return 70;
  }
  // 2. Keep what will be uploaded: this file, and no other, is what the certificate is about.
  if (const ir::Status failed = ir::write_program(program, "elementwise.json")) {
    std::fprintf(stderr, "%s\n", failed->message().c_str());
    return 70;
  }
  // 3. Ask. Only `certified` is a pass: `undecided` is not, nor is an exception.
  const auto report = spatialcert::certify::certify(program);
  std::fputs(spatialcert::certify::report_text(program, report).c_str(), stdout);
  return report.verdict == spatialcert::certify::Verdict::certified ? 0 : 1;
}
