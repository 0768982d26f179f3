#include <fmt/format.h>

#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr Key kTargetKeys[] = {{"name"},
                               {"chips", false},
                               {"mesh", false},
                               {"engines", false},
                               {"spaces"},
                               {"semaphores", false},
                               {"handoffs", false},
                               {"tile", false},
                               {"float_type", false},
                               {"widest_integer", false}};
constexpr Key kSpaceKeys[] = {{"name"}, {"bytes"}, {"alignment", false}};
constexpr Key kHandoffKeys[] = {{"name"}, {"crosses_chips", false}};
constexpr Key kSemaphoreKeys[] = {{"per_site"}, {"maximum"}};

void read_pair(const JsonReader& json, Value& value, const char* what, std::uint32_t& first,
               std::uint32_t& second) {
  const char* const at = JsonReader::start(value);
  const std::size_t count = json.elements(value, what, [&](Value& item, std::size_t position) {
    const std::uint32_t number = json.index(item, 1);
    if (position == 0) first = number;
    if (position == 1) second = number;
  });
  if (count != 2) JsonReader::refuse(at, what, fmt::format("{} numbers", count));
}

}  // namespace

void ProgramReader::read_target(Value& value) {
  Target& target = program_.target;
  target.engines = {"load", "compute", "store"};
  json_.members(value, "the target", kTargetKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        target.name = name(member);
        break;
      case 1:
        target.chips = json_.index(member, 1);
        break;
      case 2:
        read_pair(json_, member, "a mesh [width, height]", target.mesh_width, target.mesh_height);
        break;
      case 3:
        target.engines = names_in(member, "the engines");
        break;
      case 4:
        read_spaces(member);
        break;
      case 5:
        json_.members(member, "the semaphores per site", kSemaphoreKeys,
                      [&](std::size_t inner, Value& number) {
                        if (inner == 0) target.semaphores_per_site = json_.index(number);
                        if (inner == 1) target.semaphore_maximum = json_.integer(number, 0);
                      });
        break;
      case 6:
        read_handoffs(member);
        break;
      case 7:
        read_pair(json_, member, "a tile [rows, columns]", target.tile_rows, target.tile_cols);
        break;
      case 8:
        target.float_type = enumeration<DType>(member);
        break;
      default:
        target.widest_integer = enumeration<DType>(member);
        break;
    }
  });
  declare(NameKind::engine, target.engines);
  declare(NameKind::space, target.spaces);
  declare(NameKind::handoff, target.handoffs);
}

void ProgramReader::read_spaces(Value& value) {
  json_.elements(value, "the memory spaces", [&](Value& item, std::size_t) {
    MemorySpace& space = program_.target.spaces.emplace_back();
    json_.members(item, "a memory space", kSpaceKeys, [&](std::size_t key, Value& member) {
      switch (key) {
        case 0:
          space.name = name(member);
          break;
        case 1:
          space.bytes = json_.natural(member);
          break;
        default:
          space.alignment = json_.natural(member);
          break;
      }
    });
  });
}

void ProgramReader::read_handoffs(Value& value) {
  json_.elements(value, "the hand-offs", [&](Value& item, std::size_t) {
    Handoff& handoff = program_.target.handoffs.emplace_back();
    json_.members(item, "a hand-off", kHandoffKeys, [&](std::size_t key, Value& member) {
      if (key == 0) handoff.name = name(member);
      if (key == 1) handoff.crosses_chips = json_.boolean(member);
    });
  });
}

}  // namespace spatialcert::ir::io
