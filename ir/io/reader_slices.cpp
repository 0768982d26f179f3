// Slices of full tensors, and ranges of values.
#include <fmt/format.h>

#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr Key kSlicedKeys[] = {{"full"},      {"rows"},           {"cols"},          {"axis"},
                               {"dimension"}, {"stacked", false}, {"copies", false}, {"parts"}};
constexpr Key kSliceKeys[] = {{"tensor"}, {"ranges"}};

}  // namespace

ValueRange ProgramReader::value_range(Value& value) const {
  constexpr const char* kExpected = "values [least, largest]";
  const char* const at = JsonReader::start(value);
  std::int64_t ends[2] = {0, 0};
  const std::size_t count = json_.elements(value, kExpected, [&](Value& item, std::size_t i) {
    const std::int64_t end = json_.integer(item, std::numeric_limits<std::int64_t>::min());
    if (i < 2) ends[i] = end;
  });
  if (count != 2) JsonReader::refuse(at, kExpected, fmt::format("{} numbers", count));
  return {ends[0], ends[1]};
}

IndexRange ProgramReader::index_range(Value& value) const {
  constexpr const char* kExpected = "a range [begin, end)";
  const char* const at = JsonReader::start(value);
  std::uint64_t ends[2] = {0, 0};
  const std::size_t count = json_.elements(value, kExpected, [&](Value& item, std::size_t i) {
    const std::uint64_t end = json_.natural(item);
    if (i < 2) ends[i] = end;
  });
  if (count != 2) JsonReader::refuse(at, kExpected, fmt::format("{} numbers", count));
  return {ends[0], ends[1]};
}

void ProgramReader::read_slice(Value& value, std::size_t sliced) {
  const std::size_t part = program_.sliced[sliced].slices.size();
  program_.sliced[sliced].slices.emplace_back();
  json_.members(value, "a slice", kSliceKeys, [&](std::size_t key, Value& member) {
    if (key == 0) {
      later(NameKind::tensor, member, [sliced, part](Program& program, std::uint32_t id) {
        program.sliced[sliced].slices[part].tensor = TensorId(id);
      });
      return;
    }
    json_.elements(member, "the ranges of a slice", [&](Value& item, std::size_t) {
      program_.sliced[sliced].slices[part].ranges.push_back(index_range(item));
    });
  });
}

void ProgramReader::read_sliced_tensor(Value& value) {
  const std::size_t number = program_.sliced.size();
  program_.sliced.emplace_back();
  json_.members(value, "a sliced tensor", kSlicedKeys, [&](std::size_t key, Value& member) {
    SlicedTensor& sliced = program_.sliced[number];
    switch (key) {
      case 0:
        sliced.name = name(member);
        break;
      case 1:
        sliced.rows = json_.natural(member);
        break;
      case 2:
        sliced.cols = json_.natural(member);
        break;
      case 3:
        sliced.axis = enumeration<Axis>(member);
        break;
      case 4:
        sliced.dimension = name(member);
        break;
      case 5:
        sliced.stacked = json_.boolean(member);
        break;
      case 6:
        sliced.copies = json_.index(member, 1);
        break;
      default:
        json_.elements(member, "the parts of a tensor",
                       [&](Value& item, std::size_t) { read_slice(item, number); });
        break;
    }
  });
}

}  // namespace spatialcert::ir::io
