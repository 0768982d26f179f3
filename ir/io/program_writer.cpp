#include "ir/io/program_writer.hpp"

#include "ir/io/hasher.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::ir {
namespace io {
namespace {

template <typename Items>
std::vector<std::string> quoted_names(const Items& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) {
    std::string& name = names.emplace_back();
    TextSink sink([&](std::string_view text) { name += text; });
    sink.quoted(item.name).flush(true);
  }
  return names;
}

}  // namespace

ProgramWriter::ProgramWriter(const Program& program, TextSink& out)
    : program_(program),
      out_(out),
      section_spans_(program.sections.size()),
      boundary_spans_(program.boundaries.size()),
      semaphore_names_(quoted_names(program.semaphores)),
      buffer_names_(quoted_names(program.buffers)),
      stage_names_(quoted_names(program.stages)) {}

void ProgramWriter::write() {
  place_spans();
  out_ << "{\"format\":\"spatialcert-program\",\"version\":1,\n\"name\":";
  out_.quoted(program_.name) << ",\n\"target\":";
  write_target(program_.target, out_);
  out_ << ",\n\"execution\":\"" << to_string(program_.execution) << "\"";
  list("tensors", program_.tensors, [&](const Tensor& tensor) { write_tensor(tensor); });
  list("buffers", program_.buffers, [&](const Buffer& buffer) { write_buffer(buffer); });
  list("semaphores", program_.semaphores,
       [&](const Semaphore& semaphore) { write_semaphore(semaphore); });
  list("stages", program_.stages, [&](const Stage& stage) { write_stage(stage); });
  list("edges", program_.edges, [&](const Edge& edge) { write_edge(edge); });
  std::uint32_t number = 0;
  list("sections", program_.sections, [&](const Section&) { write_section(SectionId(number++)); });
  number = 0;
  list("boundaries", program_.boundaries,
       [&](const Boundary&) { write_boundary(BoundaryId(number++)); });
  list("links", program_.links, [&](const Link& link) { write_link(link); });
  list("carried", program_.carried, [&](const std::string& name) { out_.quoted(name); });
  list("postconditions", program_.postconditions,
       [&](const Postcondition& postcondition) { write_postcondition(postcondition); });
  // Left out if there are none, so that digests of programs without slices stay what they were.
  if (!program_.sliced.empty()) {
    list("slices", program_.sliced,
         [&](const SlicedTensor& sliced) { write_sliced_tensor(sliced); });
  }
  out_ << ",\n\"result_unspecified\":" << (program_.result_unspecified ? "true" : "false");
  list("source_files", program_.source_files, [&](const std::string& name) { out_.quoted(name); });
  list("programs", program_.programs, [&](const EngineProgram& one) { write_program(one); });
  out_ << "}\n";
  out_.flush(true);
}

}  // namespace io

std::string serialise(const Program& program) {
  std::string text;
  io::TextSink out([&](std::string_view piece) { text += piece; });
  io::ProgramWriter(program, out).write();
  return text;
}

Digest digest(const Program& program) {
  io::Hasher hasher;
  io::TextSink out([&](std::string_view piece) { hasher.add(piece); });
  io::ProgramWriter(program, out).write();
  return hasher.finish();
}

Digest target_digest(const Program& program) {
  io::Hasher hasher;
  io::TextSink out([&](std::string_view piece) { hasher.add(piece); });
  io::write_target(program.target, out);
  out.flush(true);
  return hasher.finish();
}

}  // namespace spatialcert::ir
