#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <sstream>

namespace spatialcert::ir::fixtures {

void File::close_block() {
  if (in_block_) lines_.push_back("    </tb>");
  in_block_ = false;
}

void File::close_gpu() {
  close_block();
  if (in_gpu_) lines_.push_back("  </gpu>");
  in_gpu_ = false;
}

File& File::gpu(int input, int output, int scratch) {
  close_gpu();
  lines_.push_back(fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">",
                               gpus_++, input, output, scratch));
  in_gpu_ = true;
  blocks_ = 0;
  return *this;
}

File& File::block(int send, int receive, int channel) {
  close_block();
  lines_.push_back(fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">", blocks_++,
                               send, receive, channel));
  in_block_ = true;
  steps_ = 0;
  return *this;
}

File& File::step(const StepText& step) {
  const auto operand = [](const std::string& text, const char* name) {
    return fmt::format("{}buf=\"{}\" {}off=\"{}\"", name, text.substr(0, 1), name, text.substr(2));
  };
  lines_.push_back(fmt::format(
      "      <step s=\"{}\" type=\"{}\" {} {} cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>",
      steps_++, step.type, operand(step.source, "src"), operand(step.destination, "dst"),
      step.count, step.depid, step.deps, step.hasdep));
  return *this;
}

File& File::raw(const std::string& line) {
  lines_.push_back(line);
  return *this;
}

std::string File::text() const {
  File closed = *this;
  closed.close_gpu();
  std::string text = (attributes_.empty() ? head(1) : attributes_) + "\n";
  for (const std::string& line : closed.lines_) text += line + "\n";
  return text + "</algo>\n";
}

std::string head(int chunks, const std::string& more, const std::string& protocol,
                 const std::string& collective, int ranks, int channels) {
  return fmt::format(
      "<algo name=\"t\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
      "coll=\"{}\" "
      "{}>",
      protocol, channels, chunks, ranks, collective, more);
}

MscclVariant import_one(const std::string& text, MscclOptions options) {
  if (!options.transfers) options.transfers = MscclTransfers{};
  Result<MscclImport> imported = import_msccl_text(text, "t.xml", options);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->variants.size() == 1);
  return std::move(imported->variants.front());
}

Program import_program(const std::string& text, MscclRuntime runtime) {
  MscclOptions options;
  options.runtime = runtime;
  return import_one(text, options).program;
}

Refusal import_refusal(const std::string& text, const MscclOptions& options) {
  const Result<MscclImport> imported = import_msccl_text(text, "t.xml", options);
  CHECK(!imported.has_value());
  return imported.has_value() ? Refusal{} : imported.error();
}

std::string show(const Program& program, const Region& region) {
  const Buffer& buffer = program.buffers[region.object];
  const auto unit = static_cast<std::int64_t>(program.buffers.front().page_bytes);
  return fmt::format("{}[{},{})", buffer.name, region.bound[0] / unit, region.bound[1] / unit);
}

namespace {

std::string show_run(const Program& program, const Op& op) {
  std::string reads;
  std::string writes;
  for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
    const Access& access = program.accesses[a];
    (access.write ? writes : reads) += " " + show(program, access.region);
  }
  return fmt::format("{}{} ->{}", program.stages[op.object].name, reads, writes);
}

std::string show_op(const Program& program, const Op& op) {
  switch (op.code) {
    case OpCode::run:
      return show_run(program, op);
    case OpCode::wait:
    case OpCode::await:
    case OpCode::post:
      return fmt::format("{} {} {}", to_string(op.code), program.semaphores[op.object].name,
                         op.count);
    default:
      return fmt::format("{} {} {}", to_string(op.code), program.buffers[op.object].name, op.count);
  }
}

}  // namespace

std::string ops_of(const Program& program, std::uint32_t chip, const std::string& engine) {
  std::string text;
  for (const EngineProgram& one : program.programs) {
    if (one.site.chip != chip || program.target.engines[one.engine.value()] != engine) continue;
    for (const Op& op : one.ops) text += show_op(program, op) + "\n";
  }
  return text;
}

}  // namespace spatialcert::ir::fixtures
