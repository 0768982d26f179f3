// Texts of ops, written once and named by number. Private to the HTML view.
//
// A schedule performs few ops many times; their texts would make up most of a page.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "certify/names.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::views {

/// Different texts in the order in which they were first asked for.
class Texts {
 public:
  std::uint32_t of(const std::string& text);
  /// A list of strings.
  void write(const char* key, ir::io::JsonWriter& json) const;

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> all_;
};

class OpTable {
 public:
  explicit OpTable(const OpNames& names) : names_(names) {}

  /// Writes two numbers: of the op's text and of the instance.
  void write_op(ir::TransitionId t, ir::io::JsonWriter& json);
  /// `ops`: lists of number in the engine program, text, and what numbers of `parts` and `sources`,
  /// which are texts like `instances`.
  void write(ir::io::JsonWriter& json) const;

 private:
  const OpNames& names_;
  std::vector<std::pair<ir::ProgramId, std::uint32_t>> ops_;
  std::map<std::pair<ir::ProgramId, std::uint32_t>, std::uint32_t> at_;
  Texts instances_;
};

}  // namespace spatialcert::certify::views
