#include "ir/validate.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include "ir/io/names.hpp"
#include "ir/io/validation.hpp"

namespace spatialcert::ir {
namespace io {
namespace {

bool is_integer(DType type) { return type <= DType::i64; }
bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

std::string_view name_of(const std::string& name) { return name; }
template <typename Item>
std::string_view name_of(const Item& item) {
  return item.name;
}

}  // namespace

std::string to_text(const Site& site) {
  return fmt::format("[{},{},{}]", site.chip, site.x, site.y);
}

void Validation::check_text(std::string_view text, const std::string& path) const {
  if (text.empty()) refuse(path, "text that is not empty", "\"\"");
  if (!simdjson::validate_utf8(text.data(), text.size()))
    refuse(path, "valid UTF-8", "other bytes");
}

// `list` is the path up to the index.
template <typename Items>
void Validation::check_names(const char* list, const Items& items) const {
  constexpr bool kPlain = std::is_convertible_v<typename Items::value_type, std::string_view>;
  NameTable seen;
  seen.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view name = name_of(items[i]);
    const auto path = [&] { return fmt::format("{}[{}]{}", list, i, kPlain ? "" : ".name"); };
    if (name.empty()) refuse(path(), "a name that is not empty", "\"\"");
    if (!simdjson::validate_utf8(name.data(), name.size()))
      refuse(path(), "valid UTF-8", "other bytes");
    if (const auto first = seen.add(name)) {
      refuse(path(), "a name that no other of its kind has",
             fmt::format("\"{}\", which is {}[{}] already", name, list, *first));
    }
  }
}

void Validation::check_target() const {
  const Target& target = program_.target;
  check_text(program_.name, "$.name");
  check_text(target.name, "$.target.name");
  if (target.chips < 1) refuse("$.target.chips", "at least 1", "0");
  if (target.mesh_width < 1 || target.mesh_height < 1) {
    refuse("$.target.mesh", "at least [1, 1]",
           fmt::format("[{}, {}]", target.mesh_width, target.mesh_height));
  }
  if (target.engines.empty()) refuse("$.target.engines", "at least one engine", "none");
  check_names("$.target.engines", target.engines);
  check_names("$.target.spaces", target.spaces);
  for (std::size_t i = 0; i < target.spaces.size(); ++i) {
    if (is_power_of_two(target.spaces[i].alignment)) continue;
    refuse(fmt::format("$.target.spaces[{}].alignment", i), "a power of two",
           fmt::format("{}", target.spaces[i].alignment));
  }
  if (target.semaphore_maximum < 0) {
    refuse("$.target.semaphores.maximum", "at least 0",
           fmt::format("{}", target.semaphore_maximum));
  }
  check_names("$.target.handoffs", target.handoffs);
  if (target.tile_rows < 1 || target.tile_cols < 1) {
    refuse("$.target.tile", "at least [1, 1]",
           fmt::format("[{}, {}]", target.tile_rows, target.tile_cols));
  }
  if (is_integer(target.float_type)) {
    refuse("$.target.float_type", "a floating-point type",
           fmt::format("\"{}\"", to_string(target.float_type)));
  }
  if (!is_integer(target.widest_integer)) {
    refuse("$.target.widest_integer", "an integer type",
           fmt::format("\"{}\"", to_string(target.widest_integer)));
  }
}

void Validation::check_site(const Site& site, const std::string& path) const {
  const Target& target = program_.target;
  if (site.chip < target.chips && site.x < target.mesh_width && site.y < target.mesh_height) return;
  refuse(path,
         fmt::format("a site of the target, below [{},{},{}]", target.chips, target.mesh_width,
                     target.mesh_height),
         to_text(site));
}

void Validation::check_handoff(HandoffId handoff, const char* list, std::size_t item) const {
  if (!handoff.valid() || handoff.value() < program_.target.handoffs.size()) return;
  refuse(fmt::format("$.{}[{}].handoff", list, item), "a hand-off of the target",
         fmt::format("number {}", handoff.value()));
}

void Validation::check_source_files() const {
  for (std::size_t i = 0; i < program_.source_files.size(); ++i) {
    check_text(program_.source_files[i], fmt::format("$.source_files[{}]", i));
  }
}

// Everything is numbered in 32 bits, the last number meaning "none".
void Validation::check_counts() const {
  const std::pair<const char*, std::size_t> counts[] = {
      {"tensors", program_.tensors.size()},       {"buffers", program_.buffers.size()},
      {"semaphores", program_.semaphores.size()}, {"stages", program_.stages.size()},
      {"sections", program_.sections.size()},     {"boundaries", program_.boundaries.size()},
      {"programs", program_.programs.size()},     {"target.spaces", program_.target.spaces.size()},
      {"programs", program_.accesses.size()},     {"programs", program_.affine_terms.size()},
      {"programs", op_count(program_)},           {"source_files", program_.locations.size()}};
  for (const auto& [list, count] : counts) {
    if (count >= kNone) {
      refuse(fmt::format("$.{}", list), fmt::format("fewer than {} elements", kNone),
             fmt::format("{}", count));
    }
  }
}

void Validation::run() {
  check_counts();
  check_target();
  check_source_files();
  // Names before everything that is referred to by name: what a doubled name leads to is
  // misleading.
  check_names("$.tensors", program_.tensors);
  check_names("$.buffers", program_.buffers);
  check_names("$.semaphores", program_.semaphores);
  check_names("$.stages", program_.stages);
  check_names("$.sections", program_.sections);
  check_names("$.slices", program_.sliced);
  check_tensors();
  check_buffers();
  check_semaphores();
  check_stages();
  check_edges();
  check_sections();
  check_boundaries();
  check_links();
  check_carried();
  check_postconditions();
  check_slices();
  check_programs();
}

}  // namespace io

Status validate(const Program& program) {
  try {
    io::Validation(program).run();
    return std::nullopt;
  } catch (const Refusal& refusal) {
    return refusal;
  }
}

}  // namespace spatialcert::ir
