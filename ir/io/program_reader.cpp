#include "ir/io/program_reader.hpp"

#include <fmt/format.h>

#include "ir/io/locate.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr std::string_view kFormat = "spatialcert-program";
constexpr std::int64_t kVersion = 1;

enum Member : std::size_t {
  kFormatKey,
  kVersionKey,
  kName,
  kTarget,
  kExecution,
  kTensors,
  kBuffers,
  kSemaphores,
  kStages,
  kEdges,
  kSections,
  kBoundaries,
  kLinks,
  kCarried,
  kPostconditions,
  kSlices,
  kResultUnspecified,
  kSourceFiles,
  kPrograms
};

constexpr Key kMembers[] = {{"format"},
                            {"version"},
                            {"name"},
                            {"target"},
                            {"execution", false},
                            {"tensors", false},
                            {"buffers", false},
                            {"semaphores", false},
                            {"stages", false},
                            {"edges", false},
                            {"sections", false},
                            {"boundaries", false},
                            {"links", false},
                            {"carried", false},
                            {"postconditions", false},
                            {"slices", false},
                            {"result_unspecified", false},
                            {"source_files", false},
                            {"programs"}};

constexpr std::uint32_t bit(std::size_t member) { return 1U << member; }
constexpr std::uint32_t kNamedByRegions = bit(kTensors) | bit(kBuffers);
constexpr std::uint32_t kNamedByPrograms =
    kNamedByRegions | bit(kTarget) | bit(kSemaphores) | bit(kStages) | bit(kSections);

}  // namespace

void ProgramReader::read(simdjson::ondemand::document& document) {
  std::string_view first_token;
  JsonReader::check(document.raw_json_token().get(first_token));
  root_at_ = first_token.data();
  Object root;
  JsonReader::check(document.get_object().get(root));
  check_format(root);
  walk(document, false);
  constexpr std::uint32_t kLate = bit(kPostconditions) | bit(kPrograms);
  if ((read_ & kLate) != kLate) walk(document, true);
  finish();
}

// The version decides what every other key means, so it is looked at first wherever it stands.
void ProgramReader::check_format(Object& root) {
  Value format;
  simdjson::error_code error = root.find_field_unordered("format").get(format);
  if (error == simdjson::NO_SUCH_FIELD) JsonReader::refuse_missing(root_at_, "format");
  JsonReader::check(error);
  const char* const format_at = JsonReader::start(format);
  if (json_.string(format) != kFormat) json_.refuse(format_at, fmt::format("\"{}\"", kFormat));
  Value version;
  error = root.find_field_unordered("version").get(version);
  if (error == simdjson::NO_SUCH_FIELD) JsonReader::refuse_missing(root_at_, "version");
  JsonReader::check(error);
  const char* const version_at = JsonReader::start(version);
  std::int64_t number = 0;
  if (version.get_int64().get(number) != simdjson::SUCCESS || number != kVersion) {
    json_.refuse(version_at, fmt::format("version {} (the only one supported)", kVersion));
  }
}

void ProgramReader::walk(simdjson::ondemand::document& document, bool second) {
  document.rewind();
  Object root;
  JsonReader::check(document.get_object().get(root));
  json_.members_of(root, root_at_, kMembers, [&](std::size_t key, Value& value) {
    if ((read_ & bit(key)) == 0 && read_member(key, value, second)) read_ |= bit(key);
  });
  // Out of bounds is where a document ends that has been read whole.
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    throw BrokenText{simdjson::TRAILING_CONTENT};
  }
}

// False if what the member names has not been read yet.
bool ProgramReader::read_member(std::size_t key, Value& value, bool second) {
  switch (key) {
    case kName:
      program_.name = name(value);
      break;
    case kTarget:
      read_target(value);
      break;
    case kExecution:
      program_.execution = enumeration<Execution>(value);
      break;
    case kEdges:
      list(value, "the edges", &ProgramReader::read_edge);
      break;
    case kBoundaries:
      list(value, "the boundaries", &ProgramReader::read_boundary);
      break;
    case kLinks:
      list(value, "the links", &ProgramReader::read_link);
      break;
    case kCarried:
      program_.carried = names_in(value, "the carried tensors");
      break;
    case kSlices:
      list(value, "the sliced tensors", &ProgramReader::read_sliced_tensor);
      break;
    case kResultUnspecified:
      program_.result_unspecified = json_.boolean(value);
      break;
    case kSourceFiles:
      program_.source_files = names_in(value, "the source files");
      break;
    case kPostconditions:
      if (!second && !all_known(kNamedByRegions)) return false;
      list(value, "the postconditions", &ProgramReader::read_postcondition);
      break;
    case kPrograms:
      if (!second && !all_known(kNamedByPrograms)) return false;
      list(value, "the engine programs", &ProgramReader::read_program);
      break;
    default:
      read_objects(key, value);
      break;  // format and version have been checked
  }
  return true;
}

// Lists of objects that others refer to by name.
void ProgramReader::read_objects(std::size_t key, Value& value) {
  switch (key) {
    case kTensors:
      list(value, "the tensors", &ProgramReader::read_tensor);
      declare(NameKind::tensor, program_.tensors);
      break;
    case kBuffers:
      list(value, "the buffers", &ProgramReader::read_buffer);
      declare(NameKind::buffer, program_.buffers);
      break;
    case kSemaphores:
      list(value, "the semaphores", &ProgramReader::read_semaphore);
      declare(NameKind::semaphore, program_.semaphores);
      break;
    case kStages:
      list(value, "the stages", &ProgramReader::read_stage);
      declare(NameKind::stage, program_.stages);
      break;
    case kSections:
      list(value, "the sections", &ProgramReader::read_section);
      declare(NameKind::section, program_.sections);
      break;
    default:
      break;
  }
}

void ProgramReader::finish() {
  resolve_pending();
  compute_view_addresses();
  sort_programs();
  resolve_spans();
}

}  // namespace spatialcert::ir::io
