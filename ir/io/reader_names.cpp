// Names and the small elements that every object shares.
#include <fmt/format.h>

#include "ir/io/enumerations.hpp"
#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr const char* kKindNames[kNameKinds] = {"tensor",  "buffer",       "semaphore", "stage",
                                                "section", "memory space", "engine",    "hand-off"};

}  // namespace

void ProgramReader::later(NameKind kind, Value& value,
                          std::function<void(Program&, std::uint32_t)> assign) {
  const char* const at = JsonReader::start(value);
  pending_.push_back({kind, at, std::string(json_.string(value)), std::move(assign)});
}

std::uint32_t ProgramReader::resolve(NameKind kind, const char* at, std::string_view name) {
  const std::uint32_t number = names(kind).find(name);
  if (number == NameTable::kNone) {
    json_.refuse(at, fmt::format("the name of a declared {}{}", kKindNames[static_cast<int>(kind)],
                                 names(kind).suggestion(name)));
  }
  return number;
}

void ProgramReader::resolve_pending() {
  for (const PendingName& pending : pending_) {
    pending.assign(program_, resolve(pending.kind, pending.at, pending.name));
  }
  pending_.clear();
  for (const auto& [stage, at] : stages_without_section_) {
    if (program_.sections.size() != 1) JsonReader::refuse_missing(at, "section");
    program_.stages[stage].section = SectionId(std::uint32_t{0});
  }
}

std::string ProgramReader::name(Value& value) const { return std::string(json_.string(value)); }

std::vector<std::string> ProgramReader::names_in(Value& value, const char* what) const {
  std::vector<std::string> names;
  json_.elements(value, what, [&](Value& item, std::size_t) { names.push_back(name(item)); });
  return names;
}

Site ProgramReader::site(Value& value) const {
  const char* const at = JsonReader::start(value);
  std::uint32_t part[3] = {0, 0, 0};
  const std::size_t count =
      json_.elements(value, "a site [chip, x, y]", [&](Value& item, std::size_t position) {
        const std::uint32_t number = json_.index(item);
        if (position < 3) part[position] = number;
      });
  if (count != 3) {
    JsonReader::refuse(at, "a site [chip, x, y]", fmt::format("{} numbers", count));
  }
  return {part[0], part[1], part[2]};
}

LocationIndex ProgramReader::location(Value& value) {
  const char* const at = JsonReader::start(value);
  constexpr const char* kExpected = "a source location [file index, line] or [..., column]";
  std::uint32_t part[3] = {0, 0, 0};
  const std::size_t count =
      json_.elements(value, kExpected, [&](Value& item, std::size_t position) {
        const std::uint32_t number = json_.index(item);
        if (position < 3) part[position] = number;
      });
  if (count != 2 && count != 3) {
    JsonReader::refuse(at, kExpected, fmt::format("{} numbers", count));
  }
  if (count == 3 && part[2] == 0) JsonReader::refuse(at, "a column of at least 1", "0");
  const SourceLocation place{part[0], part[1], part[2]};
  // Items in a row often come from one line.
  if (program_.locations.empty() || program_.locations.back() != place) {
    program_.locations.push_back(place);
  }
  return static_cast<LocationIndex>(program_.locations.size() - 1);
}

template <typename Enum>
Enum ProgramReader::enumeration(Value& value) const {
  const char* const at = JsonReader::start(value);
  const auto result = enumerator<Enum>(json_.string(value));
  if (!result) json_.refuse(at, enumerator_names<Enum>());
  return *result;
}

template DType ProgramReader::enumeration<DType>(Value&) const;
template TensorRole ProgramReader::enumeration<TensorRole>(Value&) const;
template Init ProgramReader::enumeration<Init>(Value&) const;
template BufferKind ProgramReader::enumeration<BufferKind>(Value&) const;
template Depth ProgramReader::enumeration<Depth>(Value&) const;
template Restart ProgramReader::enumeration<Restart>(Value&) const;
template StageKind ProgramReader::enumeration<StageKind>(Value&) const;
template OpKind ProgramReader::enumeration<OpKind>(Value&) const;
template Execution ProgramReader::enumeration<Execution>(Value&) const;
template Axis ProgramReader::enumeration<Axis>(Value&) const;

}  // namespace spatialcert::ir::io
