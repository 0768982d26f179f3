#include "compose/composition/manifest.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "compose/composition/manifest_text.hpp"
#include "compose/composition/phase_memory.hpp"
#include "compose/parallel/attach.hpp"
#include "compose/parallel/sharding.hpp"
#include "ir/bytes_file.hpp"
#include "ir/io/json_reader.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::compose {
namespace {

namespace io = ir::io;

enum Member : std::size_t {
  kFormatKey,
  kVersionKey,
  kName,
  kExecution,
  kSections,
  kCarried,
  kPlacement,
  kPhases,
  kSeparateMemory,
  kLostPostconditions,
  kParallelism
};
constexpr io::Key kMembers[] = {{"format"},
                                {"version"},
                                {"name"},
                                {"execution", false},
                                {"sections"},
                                {"carried", false},
                                {"placement", false},
                                {"phases", false},
                                {"separate_memory", false},
                                {"lost_postconditions", false},
                                {"parallelism", false}};
constexpr io::Key kSectionKeys[] = {{"file"}, {"name", false}, {"tensors", false}};
constexpr io::Key kRegionKeys[] = {{"regions"}};
constexpr io::Key kPhaseKeys[] = {{"barrier_after"}};

class ManifestReader {
 public:
  explicit ManifestReader(const io::JsonReader& json) : json_(json) {}

  Manifest read(io::Object root, const char* at) {
    json_.members_of(root, at, kMembers,
                     [&](std::size_t key, io::Value& value) { read_member(key, value); });
    const auto kind = manifest_.phases.kind;
    manifest_.separate_memory = separate_memory_.value_or(kind == WantedPhases::Kind::automatic);
    return std::move(manifest_);
  }

 private:
  void read_member(std::size_t key, io::Value& value) {
    switch (key) {
      case kName:
        manifest_.options.name = text(value);
        break;
      case kExecution:
        manifest_.options.execution =
            choice(value, "once", "persistent") ? ir::Execution::persistent : ir::Execution::once;
        break;
      case kSections:
        read_sections(value);
        break;
      case kCarried:
        json_.elements(value, "the carried tensors", [&](io::Value& item, std::size_t) {
          manifest_.options.carried.push_back(text(item));
        });
        break;
      case kPlacement:
        read_placement(value);
        break;
      case kPhases:
        read_phases(value);
        break;
      case kSeparateMemory:
        separate_memory_ = json_.boolean(value);
        break;
      case kLostPostconditions:
        manifest_.options.drop_lost_postconditions = choice(value, "refuse", "leave-out");
        break;
      case kParallelism:
        manifest_.parallelism = text(value);
        break;
      default:
        break;  // format and version have been checked
    }
  }

  [[nodiscard]] std::string text(io::Value& value) const { return text_in(json_, value); }

  /// Is it the second one?
  [[nodiscard]] bool choice(io::Value& value, std::string_view first,
                            std::string_view second) const {
    const char* const at = io::JsonReader::start(value);
    const std::string_view word = json_.string(value);
    if (word != first && word != second)
      json_.refuse(at, fmt::format("\"{}\" or \"{}\"", first, second));
    return word == second;
  }

  void read_sections(io::Value& value) {
    const char* const at = io::JsonReader::start(value);
    json_.elements(value, "the sections", [&](io::Value& item, std::size_t) {
      SectionFile& section = manifest_.sections.emplace_back();
      if (io::JsonReader::is_string(item)) {
        section.file = text(item);
        return;
      }
      json_.members(item, "a file name or {\"file\", \"name\", \"tensors\"}", kSectionKeys,
                    [&](std::size_t key, io::Value& member) {
                      if (key == 2) {
                        read_tensors(member, section.tensors);
                      } else {
                        (key == 0 ? section.file : section.name) = text(member);
                      }
                    });
    });
    if (manifest_.sections.empty()) io::JsonReader::refuse(at, "at least one section", "none");
  }

  /// An object whose keys are names of tensors.
  void read_tensors(io::Value& value, Renamings& renamings) {
    std::unordered_set<std::string> seen;
    for (auto member : json_.object(value, "new names of tensors")) {
      io::Field field;
      io::JsonReader::check(std::move(member).get(field));
      const char* const key_at = io::JsonReader::key_start(field);
      std::string from(io::JsonReader::key(field));
      if (!seen.insert(from).second) io::JsonReader::refuse_duplicate(key_at, from);
      renamings.emplace_back(std::move(from), text(field.value()));
    }
  }

  void read_placement(io::Value& value) {
    constexpr const char* kExpected =
        "\"same-sites\", \"own-regions\" or {\"regions\": a number from 1}";
    Placement& placement = manifest_.placement;
    const char* const at = io::JsonReader::start(value);
    if (!io::JsonReader::is_string(value)) {
      placement.kind = Placement::Kind::round_robin_regions;
      json_.members(value, kExpected, kRegionKeys, [&](std::size_t, io::Value& member) {
        placement.regions = json_.index(member, 1);
      });
      return;
    }
    const std::string_view word = json_.string(value);
    if (word == "own-regions") {
      placement.kind = Placement::Kind::own_regions;
    } else if (word != "same-sites") {
      json_.refuse(at, kExpected);
    }
  }

  void read_phases(io::Value& value) {
    constexpr const char* kExpected = "\"auto\", \"all\" or {\"barrier_after\": [...]}";
    WantedPhases& phases = manifest_.phases;
    const char* const at = io::JsonReader::start(value);
    if (!io::JsonReader::is_string(value)) {
      json_.members(value, kExpected, kPhaseKeys,
                    [&](std::size_t, io::Value& member) { read_barriers(member, phases); });
      return;
    }
    const std::string_view word = json_.string(value);
    if (word == "all") {
      phases.kind = WantedPhases::Kind::all;
    } else if (word != "auto") {
      json_.refuse(at, kExpected);
    }
  }

  void read_barriers(io::Value& value, WantedPhases& phases) {
    phases.kind = WantedPhases::Kind::after_sections;
    json_.elements(value, "a list of true and false, or of sections",
                   [&](io::Value& item, std::size_t position) {
                     const char* const at = io::JsonReader::start(item);
                     const bool name = io::JsonReader::is_string(item);
                     if (position == 0 && !name) phases.kind = WantedPhases::Kind::flags;
                     if (name != (phases.kind == WantedPhases::Kind::after_sections))
                       json_.refuse(at, "either true and false, or names of sections");
                     if (name) {
                       phases.sections.push_back(text(item));
                     } else {
                       phases.closed.push_back(json_.boolean(item));
                     }
                   });
  }

  const io::JsonReader& json_;
  Manifest manifest_;
  std::optional<bool> separate_memory_;
};

constexpr ManifestFormat kText{"a composition (a JSON object)", "spatialcert-composition", 1};

ir::Result<std::uint64_t> look(std::string_view beginning, const std::string& file) {
  if (ir::Status refused = ir::look_at_json(beginning, file, kText.what)) {
    return *std::move(refused);
  }
  return ir::kMaximumInputBytes;
}

PhaseOrder in_order(std::size_t sections, std::vector<bool> barrier_after) {
  PhaseOrder order{{}, std::move(barrier_after)};
  for (std::uint32_t s = 0; s < sections; ++s) order.order.push_back(s);
  return order;
}

Outcome<PhaseOrder> after_sections(const std::vector<std::string>& names,
                                   const std::vector<ir::Program>& sections) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t s = 0; s < sections.size(); ++s) {
    if (!sections[s].sections.empty()) numbers.emplace(sections[s].sections.front().name, s);
  }
  std::vector<bool> closed(sections.size(), false);
  for (const std::string& name : names) {
    const auto found = numbers.find(name);
    if (found == numbers.end()) {
      return Refused{RefusalReason::bad_barriers,
                     fmt::format("a boundary is closed after \"{}\", which is no section", name),
                     "name sections of the composition"};
    }
    closed[found->second] = true;
  }
  return in_order(sections.size(), std::move(closed));
}

}  // namespace

ir::Result<Manifest> parse_manifest(std::string_view json, const std::string& file) {
  Manifest manifest;
  const auto read = [&](const io::JsonReader& reader, io::Object root, const char* at) {
    manifest = ManifestReader(reader).read(root, at);
  };
  if (ir::Status refused = read_manifest_text(json, file, kText, read)) return *std::move(refused);
  return manifest;
}

ir::Result<Manifest> read_manifest(const std::string& path) {
  const ir::Result<std::string> bytes = ir::read_bytes(path, ir::kMaximumInputBytes, look);
  if (!bytes) return bytes.error();
  return parse_manifest(*bytes, path);
}

std::string path_of(const std::string& manifest, const std::string& file) {
  return (std::filesystem::path(manifest).parent_path() / file).string();
}

Outcome<PhaseOrder> wanted_order(const Manifest& manifest,
                                 const std::vector<ir::Program>& sections) {
  const bool persistent = manifest.options.execution == ir::Execution::persistent;
  switch (manifest.phases.kind) {
    case WantedPhases::Kind::automatic: {
      PhaseOrder order = phases_of(sections);
      if (!order.barrier_after.empty()) order.barrier_after.back() = persistent;
      return order;
    }
    case WantedPhases::Kind::all: {
      std::vector<bool> closed(sections.size(), true);
      if (!closed.empty()) closed.back() = persistent;
      return in_order(sections.size(), std::move(closed));
    }
    case WantedPhases::Kind::flags:
      return in_order(sections.size(), manifest.phases.closed);
    case WantedPhases::Kind::after_sections:
      break;
  }
  return after_sections(manifest.phases.sections, sections);
}

namespace {

Outcome<Composed> compose_as_they_are(const Manifest& manifest,
                                      const std::vector<ir::Program>& sections) {
  Outcome<PhaseOrder> order = wanted_order(manifest, sections);
  if (auto* refused = std::get_if<Refused>(&order)) return std::move(*refused);
  Outcome<Composed> result =
      compose_ordered(sections, std::get<PhaseOrder>(order), manifest.placement, manifest.options);
  if (!manifest.separate_memory || std::holds_alternative<Refused>(result)) return result;
  auto memory = separate_phase_memory(std::get<Composed>(result).program);
  if (auto* refused = std::get_if<Refused>(&memory)) return std::move(*refused);
  return result;
}

Refused as_composition(const parallel::Refused& refused) {
  return {RefusalReason::bad_parallelism,
          fmt::format("{}: {}", to_string(refused.reason), refused.what), refused.remedy};
}

}  // namespace

Outcome<Composed> compose_manifest(const Manifest& manifest,
                                   const std::vector<ir::Program>& sections,
                                   const std::optional<parallel::Manifest>& parallelism) {
  if (!parallelism) return compose_as_they_are(manifest, sections);
  const parallel::Sharding sharding(*parallelism);
  std::vector<ir::Program> owned = sections;
  for (ir::Program& section : owned) {
    if (const auto refused = parallel::assign_owners(section, sharding))
      return as_composition(*refused);
  }
  Outcome<Composed> result = compose_as_they_are(manifest, owned);
  if (auto* made = std::get_if<Composed>(&result)) {
    if (const auto refused = parallel::attach(made->program, *parallelism))
      return as_composition(*refused);
  }
  return result;
}

}  // namespace spatialcert::compose
