// From JSON text to a program model, syntax and names; what the model must satisfy is validate's
// business.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/io/json_reader.hpp"
#include "ir/io/names.hpp"
#include "ir/program.hpp"

namespace spatialcert::ir::io {

enum class NameKind : std::uint8_t {
  tensor,
  buffer,
  semaphore,
  stage,
  section,
  space,
  engine,
  handoff
};
inline constexpr std::size_t kNameKinds = 8;

/// Reads one text. Members may stand in any order: names are resolved when all of them are known,
/// and engine programs are read in the first walk over the text if all that they name stands before
/// them (as in canonical files), in a second one otherwise.
class ProgramReader {
 public:
  explicit ProgramReader(std::string_view text) : json_(text) {}

  /// Throws RefusedAt or BrokenText.
  void read(simdjson::ondemand::document& document);

  [[nodiscard]] Program& program() { return program_; }
  /// Position in the file of every engine program, which the model sorts.
  [[nodiscard]] const std::vector<std::uint32_t>& file_position() const { return file_position_; }

 private:
  struct PendingName {
    NameKind kind;
    const char* at;
    std::string name;
    std::function<void(Program&, std::uint32_t)> assign;
  };
  struct PendingSpan {
    const char* at = nullptr;  // of the range
    const char* engine_at = nullptr;
    Site site;
    std::string engine;
    Span span;  // in top-level ops until resolved
    std::uint32_t program = 0;
  };

  // program_reader.cpp
  void check_format(Object& root);
  void walk(simdjson::ondemand::document& document, bool second);
  bool read_member(std::size_t key, Value& value, bool second);
  void read_objects(std::size_t key, Value& value);
  [[nodiscard]] bool all_known(std::uint32_t keys) const { return (read_ & keys) == keys; }
  void finish();

  // names (reader_names.cpp)
  NameTable& names(NameKind kind) { return names_[static_cast<std::size_t>(kind)]; }
  void later(NameKind kind, Value& value, std::function<void(Program&, std::uint32_t)> assign);
  [[nodiscard]] std::uint32_t resolve(NameKind kind, const char* at, std::string_view name);
  std::uint32_t resolve(NameKind kind, Value& value) {
    const char* const at = JsonReader::start(value);
    return resolve(kind, at, json_.string(value));
  }
  void resolve_pending();
  template <typename Items>
  void declare(NameKind kind, const Items& items);

  // common elements (reader_names.cpp)
  [[nodiscard]] std::string name(Value& value) const;
  [[nodiscard]] std::vector<std::string> names_in(Value& value, const char* what) const;
  void list(Value& value, const char* what, void (ProgramReader::*read_one)(Value&)) {
    json_.elements(value, what, [&](Value& item, std::size_t) { (this->*read_one)(item); });
  }
  [[nodiscard]] Site site(Value& value) const;
  [[nodiscard]] LocationIndex location(Value& value);
  template <typename Enum>
  [[nodiscard]] Enum enumeration(Value& value) const;

  // reader_target.cpp
  void read_target(Value& value);
  void read_spaces(Value& value);
  void read_handoffs(Value& value);

  // reader_objects.cpp
  template <typename BaseId, typename Assign>
  View<BaseId> read_view(NameKind kind, Value& value, Assign assign);
  void read_tensor(Value& value);
  void read_buffer(Value& value);
  void address_left_out(const char* at, std::uint32_t buffer);
  Tile read_tile(Value& value);
  void read_lifetime(Value& value, std::size_t buffer);
  void read_semaphore(Value& value);
  void read_stage(Value& value);
  void read_edge(Value& value);
  void compute_view_addresses();

  // reader_composition.cpp
  void read_section(Value& value);
  void read_numerics(Value& value, Numerics& numerics);
  void read_boundary(Value& value);
  void read_span(Value& value, SectionId section, BoundaryId boundary);
  void read_link(Value& value);
  void read_postcondition(Value& value);

  // reader_slices.cpp
  void read_sliced_tensor(Value& value);
  void read_slice(Value& value, std::size_t sliced);
  [[nodiscard]] IndexRange index_range(Value& value) const;
  [[nodiscard]] ValueRange value_range(Value& value) const;

  // reader_composition.cpp
  void sort_programs();
  void resolve_spans();
  void find_programs_of_spans();

  // reader_ops.cpp, reader_regions.cpp
  void read_program(Value& value);
  void read_ops(Value& value, std::vector<Op>& ops, std::uint32_t depth);
  void read_op(Value& value, std::vector<Op>& ops, std::uint32_t depth);
  [[noreturn]] void refuse_op_part(OpCode code, const char* key_at) const;
  void read_op_key(OpCode code, Value& value, Op& op);
  void read_accesses(Value& value, bool write, Op& op, std::uint32_t depth);
  [[nodiscard]] Region read_region(Value& value, std::uint32_t depth);
  void read_bounds(Value& value, std::uint8_t first, Region& region, std::uint32_t depth);
  void read_bound(Value& value, std::uint8_t which, Region& region, std::uint32_t depth);
  void complete_region(Region& region, std::uint32_t given) const;

  JsonReader json_;
  const char* root_at_ = nullptr;
  Program program_;
  NameTable names_[kNameKinds];
  std::vector<PendingName> pending_;
  std::vector<std::uint32_t> views_without_address_;
  std::vector<std::pair<std::uint32_t, const char*>> stages_without_section_;
  std::vector<PendingSpan> spans_;
  std::vector<std::pair<std::uint32_t, const char*>> sections_without_ops_;
  std::vector<Op> scratch_ops_;
  std::vector<std::uint32_t> file_position_;
  std::uint32_t read_ = 0;  // bit per top-level key
};

template <typename Items>
void ProgramReader::declare(NameKind kind, const Items& items) {
  names(kind).reserve(items.size());
  for (const auto& item : items) {
    std::string_view text;
    if constexpr (std::is_convertible_v<decltype(item), std::string_view>) {
      text = item;
    } else {
      text = item.name;
    }
    names(kind).add(text);
  }
}

}  // namespace spatialcert::ir::io
