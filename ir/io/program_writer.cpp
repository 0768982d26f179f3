#include "ir/io/program_writer.hpp"

#include <openssl/evp.h>

#include <memory>

#include "ir/program_file.hpp"
#include "ir/require.hpp"

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
  write_target();
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
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  io::TextSink out([&](std::string_view piece) {
    good = good && EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1;
  });
  io::ProgramWriter(program, out).write();
  Digest result{};
  unsigned length = 0;
  good = good && EVP_DigestFinal_ex(context.get(), result.data(), &length) == 1;
  SPATIALCERT_REQUIRE(good && length == result.size(), "SHA-256 of OpenSSL failed");
  return result;
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace spatialcert::ir
