// The canonical form: fixed member order, no optional spelling, one op per line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::ir::io {

/// Text that is handed on in pieces, so that a digest needs no copy of the whole file.
class TextSink {
 public:
  using Consumer = std::function<void(std::string_view)>;
  explicit TextSink(Consumer consumer) : consumer_(std::move(consumer)) {}
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;
  ~TextSink() = default;

  TextSink& operator<<(std::string_view text) {
    buffer_ += text;
    return *this;
  }
  TextSink& number(std::int64_t value);
  TextSink& number(std::uint64_t value);
  TextSink& number(std::uint32_t value) { return number(std::uint64_t{value}); }
  TextSink& real(double value);
  TextSink& quoted(std::string_view text);
  /// To be called now and then (between lines), and once at the end with `all`.
  void flush(bool all = false);

 private:
  Consumer consumer_;
  std::string buffer_;
};

/// The object that describes the hardware.
void write_target(const Target& target, TextSink& out);

/// Writes one program, which must satisfy `validate`.
class ProgramWriter {
 public:
  ProgramWriter(const Program& program, TextSink& out);
  void write();

 private:
  struct PlacedSpan {
    std::uint32_t program = 0;
    std::uint32_t begin = 0;  // in top-level ops
    std::uint32_t end = 0;
  };

  // program_writer.cpp
  void write_tensor(const Tensor& tensor);
  void write_buffer(const Buffer& buffer);
  void write_semaphore(const Semaphore& semaphore);
  void write_stage(const Stage& stage);
  void write_edge(const Edge& edge);
  void write_section(SectionId id);
  void write_boundary(BoundaryId id);
  void write_link(const Link& link);
  void write_sliced_tensor(const SlicedTensor& sliced);
  void write_slice(const Slice& slice);
  void write_site(const Site& site);
  void write_source(LocationIndex location);

  // writer_ops.cpp
  void place_spans();
  void write_spans(const std::vector<PlacedSpan>& spans);
  void write_postcondition(const Postcondition& postcondition);
  void write_program(const EngineProgram& program);
  void write_ops(const std::vector<Op>& ops, std::uint32_t begin, std::uint32_t end);
  void write_op(const Op& op);
  void write_accesses(const Op& op, bool write);
  void write_region(const Region& region);
  void write_bounds(std::string_view key, const Region& region, std::uint8_t first);
  void write_bound(const Region& region, std::uint8_t which);

  /// A list member of the program, one element per line.
  template <typename Items, typename Write>
  void list(std::string_view key, const Items& items, Write write) {
    out_ << ",\n\"" << key << "\":[";
    std::string_view separator = "\n";
    for (const auto& item : items) {
      out_ << separator;
      write(item);
      out_.flush();
      separator = ",\n";
    }
    out_ << (items.empty() ? "]" : "\n]");
  }

  const Program& program_;
  TextSink& out_;
  std::vector<std::vector<PlacedSpan>> section_spans_;
  std::vector<std::vector<PlacedSpan>> boundary_spans_;
  std::vector<std::string> semaphore_names_, buffer_names_, stage_names_;  // quoted once
};

}  // namespace spatialcert::ir::io
