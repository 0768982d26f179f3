// The checks behind ir/validate.hpp, in document order.
//
// A check that fails throws the Refusal; validate() catches it. Paths are only built then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir::io {

class Validation {
 public:
  explicit Validation(const Program& program) : program_(program) {}

  /// Throws the first Refusal.
  void run();

 private:
  [[noreturn]] static void refuse(std::string path, std::string expected, std::string found = {}) {
    throw Refusal{"", 0, std::move(path), std::move(expected), std::move(found)};
  }

  // validate.cpp
  void check_target() const;
  void check_text(std::string_view text, const std::string& path) const;
  template <typename Items>
  void check_names(const char* list, const Items& items) const;
  void check_site(const Site& site, const std::string& path) const;
  template <typename Path>
  void check_location(LocationIndex location, Path path) const;
  void check_handoff(HandoffId handoff, const char* list, std::size_t item) const;
  void check_source_files() const;
  void check_counts() const;

  // validate_objects.cpp
  void check_tensors() const;
  void check_tensor_view(std::size_t number) const;
  void check_buffers() const;
  void check_buffer_size(std::size_t number) const;
  void check_tile(std::size_t number) const;
  void check_buffer_kind(std::size_t number) const;
  void check_lifetime(std::size_t number) const;
  void check_buffer_view(std::size_t number) const;
  void check_semaphores() const;
  void check_stages() const;
  void check_edges() const;
  template <typename Objects>
  void check_view_chains(const char* list, const Objects& objects) const;

  // validate_composition.cpp
  void check_sections() const;
  void check_boundaries() const;
  void check_links() const;
  void check_carried() const;
  void check_postconditions();
  void check_spans(std::size_t program) const;
  void check_runs(std::size_t program, const Span& span) const;
  [[nodiscard]] std::uint64_t span_rank(std::size_t program, const Span& span) const;
  [[nodiscard]] std::string span_name(const Span& span) const;

  // validate_slices.cpp
  void check_values(std::size_t tensor) const;
  void check_slices() const;
  void check_sliced_tensor(std::size_t number) const;
  void check_slice(std::size_t sliced, std::size_t part) const;

  // validate_ops.cpp
  void check_programs();
  void check_program_places() const;
  void check_ops(std::size_t program);
  void check_semaphore_op(const Op& op) const;
  void check_fifo_op(const Op& op);
  void check_run(const Op& op, std::uint32_t depth);
  void check_repeat(const Op& op, std::uint32_t end, std::size_t depth) const;
  void set_end(std::uint32_t fifo, bool producing, const std::string& member);
  void check_fifo_ends() const;
  [[nodiscard]] std::string op_path(std::size_t program, std::uint32_t op) const;
  [[nodiscard]] std::string program_name(std::uint32_t program) const;
  [[noreturn]] void refuse_op(const std::string& member, std::string expected,
                              std::string found = {}) const {
    refuse(op_path(at_program_, at_op_) + member, std::move(expected), std::move(found));
  }

  // validate_regions.cpp
  void check_region(const Region& region, std::uint32_t depth) const;
  void check_region_object(const Region& region) const;
  std::uint32_t check_terms(const Region& region, std::uint32_t depth) const;
  void check_bounds(const Region& region, std::uint32_t affine, int first, std::uint64_t size,
                    const char* key) const;
  [[nodiscard]] std::string region_path() const;

  const Program& program_;

  // Where the walk over the ops is; only read when something is refused.
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::size_t at_program_ = 0;
  std::uint32_t at_op_ = 0;
  std::uint32_t at_access_ = 0;
  // Set while postconditions are checked: which, and which term (kNone = its region).
  std::uint32_t at_postcondition_ = kNone;
  std::uint32_t at_term_ = kNone;

  // Per buffer: the engine programs at the ends of a FIFO.
  std::vector<std::uint32_t> producer_, consumer_;
};

/// `path()` makes the path of the item, which is only needed for a refusal.
template <typename Path>
void Validation::check_location(LocationIndex location, Path path) const {
  if (location == kNoLocation) return;
  if (location >= program_.locations.size()) refuse(path() + ".source", "a known source location");
  const SourceLocation& place = program_.locations[location];
  if (place.file >= program_.source_files.size()) {
    refuse(path() + ".source",
           "one of the " + std::to_string(program_.source_files.size()) + " source files",
           "file " + std::to_string(place.file));
  }
  if (place.line < 1) refuse(path() + ".source", "a line of at least 1", "0");
}

/// `[chip,x,y]`.
[[nodiscard]] std::string to_text(const Site& site);

}  // namespace spatialcert::ir::io
