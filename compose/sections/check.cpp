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
  check_views();
  add_bases();
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
