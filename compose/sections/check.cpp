// What a description must satisfy, whatever it computes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compose/sections/checker.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose::sections {

std::string shape_text(const SectionTensor& t) { return fmt::format("{} x {}", t.rows, t.cols); }

Section Checker::run() {
  if (about_.name.empty()) refuse(".name", "not empty", "\"\"");
  check_target();
  check_sites();
  check_tiles();
  check_tensors();
  std::visit([&](const auto& work) { check(work); }, about_.work);
  check_split();
  put_in_order();
  return std::move(section_);
}

void Checker::refuse(const std::string& where, std::string expected, std::string found) const {
  throw ir::Refusal{"", 0, fmt::format("section {}{}", about_.name, where), std::move(expected),
                    std::move(found)};
}

void Checker::check_target() const {
  ir::Program alone;
  alone.name = about_.name;
  alone.target = about_.target;
  if (const ir::Status status = ir::validate(alone)) {
    if (status->path.rfind("$.target", 0) == 0) {
      refuse("." + status->path.substr(2), status->expected, status->found);
    }
  }
  const auto& engines = about_.target.engines;
  const std::string names[] = {about_.load_engine, about_.compute_engine, about_.store_engine};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (std::count(engines.begin(), engines.end(), names[i]) == 0) {
      refuse(".engines", fmt::format("an engine \"{}\" in the target", names[i]), "none");
    }
    if (std::count(names, names + i, names[i]) != 0) {
      refuse(".engines", "three different engines", fmt::format("\"{}\" twice", names[i]));
    }
  }
  const auto& spaces = about_.target.spaces;
  if (std::none_of(spaces.begin(), spaces.end(),
                   [&](const ir::MemorySpace& s) { return s.name == about_.space; })) {
    refuse(".space", "a memory space of the target", fmt::format("\"{}\"", about_.space));
  }
  if (about_.handover == Handover::semaphores && about_.target.semaphore_maximum < 1) {
    refuse(".handover", "a target whose semaphores count to 1 at least", "a maximum of 0");
  }
}

void Checker::check_sites() const {
  if (about_.sites.empty()) refuse(".sites", "at least one site", "none");
  std::set<ir::Site> seen;
  for (const ir::Site& s : about_.sites) {
    const std::string text = fmt::format("[{},{},{}]", s.chip, s.x, s.y);
    if (s.chip >= about_.target.chips || s.x >= about_.target.mesh_width ||
        s.y >= about_.target.mesh_height) {
      refuse(".sites", "sites of the target", text);
    }
    if (!seen.insert(s).second) refuse(".sites", "every site once", text + " twice");
  }
}

void Checker::check_tiles() const {
  const auto nonzero = [&](const char* member, std::uint64_t value) {
    if (value == 0) refuse(member, "at least 1", "0");
  };
  nonzero(".tile.rows", about_.tile.rows);
  nonzero(".tile.cols", about_.tile.cols);
  nonzero(".tile.inner", about_.tile.inner);
  nonzero(".depth", about_.depth);
}

void Checker::check_tensors() const {
  std::set<std::string> names;
  for (const SectionTensor& t : about_.tensors) {
    if (t.name.empty()) refuse(".tensors", "names that are not empty", "\"\"");
    const std::string where = place(t.name);
    if (!names.insert(t.name).second) refuse(where, "every tensor once", "it again");
    if (t.rows == 0 || t.cols == 0) refuse(where, "rows and columns", shape_text(t));
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(t.rows, t.cols, &bytes) ||
        __builtin_mul_overflow(bytes, ir::size_of(t.dtype), &bytes)) {
      refuse(where, "fewer than 2^63 bytes", shape_text(t));
    }
  }
}

void Checker::put_in_order() {
  Section& s = section_;
  Section ordered;
  for (const SectionTensor& t : about_.tensors) {
    const auto at = std::find_if(s.tensors.begin(), s.tensors.end(),
                                 [&](const SectionTensor& u) { return u.name == t.name; });
    if (at == s.tensors.end()) continue;
    const auto i = static_cast<std::size_t>(at - s.tensors.begin());
    ordered.tensors.push_back(t);
    ordered.read.push_back(s.read[i]);
    ordered.written.push_back(s.written[i]);
    ordered.written_in_part.push_back(s.written_in_part[i]);
  }
  s.tensors = std::move(ordered.tensors);
  s.read = std::move(ordered.read);
  s.written = std::move(ordered.written);
  s.written_in_part = std::move(ordered.written_in_part);
}

std::uint32_t Checker::use(const std::string& name) {
  auto& known = section_.tensors;
  const auto same = [&](const SectionTensor& t) { return t.name == name; };
  const auto at = std::find_if(known.begin(), known.end(), same);
  if (at != known.end()) return static_cast<std::uint32_t>(at - known.begin());
  const auto declared = std::find_if(about_.tensors.begin(), about_.tensors.end(), same);
  if (declared == about_.tensors.end()) refuse(place(name), "a declared tensor", "none");
  known.push_back(*declared);
  section_.read.push_back(0);
  section_.written.push_back(0);
  section_.written_in_part.push_back(0);
  return static_cast<std::uint32_t>(known.size() - 1);
}

void Checker::expect_shape(const SectionTensor& t, std::uint64_t rows, std::uint64_t cols) const {
  if (t.rows == rows && t.cols == cols) return;
  refuse(place(t.name), fmt::format("{} x {}", rows, cols), shape_text(t));
}

void Checker::expect_type(const SectionTensor& t, ir::DType type) const {
  if (t.dtype == type) return;
  refuse(place(t.name), fmt::format("elements of {}", ir::to_string(type)),
         std::string(ir::to_string(t.dtype)));
}

void Checker::expect_computed(const SectionTensor& t) {
  const ir::Target& target = about_.target;
  if (!is_integer(t.dtype)) {
    section_.approximate = fmt::format("rounded to {} after every op", ir::to_string(t.dtype));
  }
  const bool good = is_integer(t.dtype) ? ir::size_of(t.dtype) <= ir::size_of(target.widest_integer)
                                        : t.dtype == target.float_type;
  if (good) return;
  refuse(place(t.name),
         fmt::format("{}, or integers of at most {}", ir::to_string(target.float_type),
                     ir::to_string(target.widest_integer)),
         std::string(ir::to_string(t.dtype)));
}

void Checker::expect_real(const SectionTensor& t, ir::OpKind op) const {
  if (!is_integer(t.dtype)) return;
  refuse(place(t.name), fmt::format("a floating-point type, for {}", ir::to_string(op)),
         std::string(ir::to_string(t.dtype)));
}

void Checker::expect_other(const SectionTensor& result, const std::string& operand) const {
  if (result.name != operand) return;
  refuse(place(result.name), "a result that is no operand", "one in place");
}

void Checker::check_split() const {
  if (about_.sites.size() == 1) return;
  const Grid grid = grid_of(section_);
  if (about_.split == Split::columns && grid.whole_rows) {
    refuse(".split", "rows, as the op needs whole rows", "columns");
  }
  if (about_.split == Split::rows && grid.whole_columns) {
    refuse(".split", "columns, as the op needs whole columns", "rows");
  }
}

Section checked(const SectionDescription& description) { return Checker(description).run(); }

}  // namespace spatialcert::compose::sections
