// Tensors, buffers, semaphores, stages and edges.
#include <fmt/format.h>

#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr Key kTensorKeys[] = {
    {"name"},        {"role"},         {"rows"},        {"cols"},          {"dtype"},
    {"init", false}, {"owner", false}, {"view", false}, {"source", false}, {"values", false}};
constexpr Key kBufferKeys[] = {{"name"},           {"kind"},           {"site"},
                               {"space"},          {"address", false}, {"page_bytes"},
                               {"pages"},          {"tile", false},    {"depth", false},
                               {"handoff", false}, {"init", false},    {"lifetime", false},
                               {"view", false},    {"source", false}};
constexpr Key kSemaphoreKeys[] = {{"name"},    {"site"},           {"initial", false},
                                  {"maximum"}, {"restart", false}, {"handoff", false}};
constexpr Key kStageKeys[] = {{"name"},         {"kind"},           {"op", false},
                              {"scale", false}, {"section", false}, {"source", false}};
constexpr Key kEdgeKeys[] = {{"producer"}, {"buffer"}, {"consumer"}, {"handoff", false}};
constexpr Key kViewKeys[] = {{"of"}, {"offset", false}};
constexpr Key kTileKeys[] = {{"rows"}, {"cols"}, {"dtype"}};
constexpr Key kResidentKeys[] = {{"resident"}};

}  // namespace

template <typename BaseId, typename Assign>
View<BaseId> ProgramReader::read_view(NameKind kind, Value& value, Assign assign) {
  View<BaseId> view;
  json_.members(value, "a view", kViewKeys, [&](std::size_t key, Value& member) {
    if (key == 1) {
      view.offset = json_.natural(member);
      return;
    }
    later(kind, member,
          [assign](Program& program, std::uint32_t id) { assign(program, BaseId(id)); });
  });
  return view;
}

void ProgramReader::read_tensor(Value& value) {
  const std::size_t number = program_.tensors.size();
  Tensor& tensor = program_.tensors.emplace_back();
  json_.members(value, "a tensor", kTensorKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        tensor.name = name(member);
        break;
      case 1:
        tensor.role = enumeration<TensorRole>(member);
        break;
      case 2:
        tensor.rows = json_.natural(member);
        break;
      case 3:
        tensor.cols = json_.natural(member);
        break;
      case 4:
        tensor.dtype = enumeration<DType>(member);
        break;
      case 5:
        tensor.init = enumeration<Init>(member);
        break;
      case 6:
        tensor.owner = json_.index(member);
        break;
      case 7:
        tensor.view = read_view<TensorId>(NameKind::tensor, member,
                                          [number](Program& program, TensorId base) {
                                            program.tensors[number].view->base = base;
                                          });
        break;
      case 8:
        tensor.location = location(member);
        break;
      default:
        tensor.values = value_range(member);
        break;
    }
  });
}

void ProgramReader::read_buffer(Value& value) {
  const std::size_t number = program_.buffers.size();
  Buffer& buffer = program_.buffers.emplace_back();
  const char* const at = JsonReader::start(value);
  bool has_address = false;
  json_.members(value, "a buffer", kBufferKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        buffer.name = name(member);
        break;
      case 1:
        buffer.kind = enumeration<BufferKind>(member);
        break;
      case 2:
        buffer.site = site(member);
        break;
      case 3:
        later(NameKind::space, member, [number](Program& program, std::uint32_t id) {
          program.buffers[number].space = SpaceId(id);
        });
        break;
      case 4:
        buffer.address = json_.natural(member);
        has_address = true;
        break;
      case 5:
        buffer.page_bytes = json_.natural(member);
        break;
      case 6:
        buffer.pages = json_.natural(member);
        break;
      case 7:
        buffer.tile = read_tile(member);
        break;
      case 8:
        buffer.depth = enumeration<Depth>(member);
        break;
      case 9:
        later(NameKind::handoff, member, [number](Program& program, std::uint32_t id) {
          program.buffers[number].handoff = HandoffId(id);
        });
        break;
      case 10:
        buffer.init = enumeration<Init>(member);
        break;
      case 11:
        read_lifetime(member, number);
        break;
      case 12:
        buffer.view = read_view<BufferId>(NameKind::buffer, member,
                                          [number](Program& program, BufferId base) {
                                            program.buffers[number].view->base = base;
                                          });
        break;
      default:
        buffer.location = location(member);
        break;
    }
  });
  if (!has_address) address_left_out(at, static_cast<std::uint32_t>(number));
}

Tile ProgramReader::read_tile(Value& value) {
  Tile tile;
  json_.members(value, "a tile", kTileKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        tile.rows = json_.natural(member);
        break;
      case 1:
        tile.cols = json_.natural(member);
        break;
      default:
        tile.dtype = enumeration<DType>(member);
        break;
    }
  });
  return tile;
}

void ProgramReader::address_left_out(const char* at, std::uint32_t number) {
  const Buffer& buffer = program_.buffers[number];
  if (buffer.view) {
    views_without_address_.push_back(number);
  } else if (buffer.depth != Depth::guaranteed) {
    JsonReader::refuse_missing(at, "address");
  }
}

void ProgramReader::read_lifetime(Value& value, std::size_t number) {
  constexpr const char* kExpected = "\"section\", \"resident\" or {\"resident\": [from, to]}";
  const char* const at = JsonReader::start(value);
  if (JsonReader::is_string(value)) {
    const std::string_view text = json_.string(value);
    if (text != "section" && text != "resident") json_.refuse(at, kExpected);
    program_.buffers[number].lifetime = text == "section" ? Lifetime::section : Lifetime::resident;
    return;
  }
  program_.buffers[number].lifetime = Lifetime::resident;
  json_.members(value, kExpected, kResidentKeys, [&](std::size_t, Value& member) {
    const char* const list_at = JsonReader::start(member);
    const std::size_t count =
        json_.elements(member, "[from, to]", [&](Value& item, std::size_t position) {
          later(NameKind::section, item, [number, position](Program& program, std::uint32_t id) {
            Buffer& buffer = program.buffers[number];
            (position == 0 ? buffer.resident_from : buffer.resident_to) = SectionId(id);
          });
        });
    if (count != 2) JsonReader::refuse(list_at, "[from, to]", fmt::format("{} names", count));
  });
}

void ProgramReader::read_semaphore(Value& value) {
  const std::size_t number = program_.semaphores.size();
  Semaphore& semaphore = program_.semaphores.emplace_back();
  json_.members(value, "a semaphore", kSemaphoreKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        semaphore.name = name(member);
        break;
      case 1:
        semaphore.site = site(member);
        break;
      case 2:
        semaphore.initial = json_.integer(member, 0);
        break;
      case 3:
        semaphore.maximum = json_.integer(member, 0);
        break;
      case 4:
        semaphore.restart = enumeration<Restart>(member);
        break;
      default:
        later(NameKind::handoff, member, [number](Program& program, std::uint32_t id) {
          program.semaphores[number].handoff = HandoffId(id);
        });
        break;
    }
  });
}

void ProgramReader::read_stage(Value& value) {
  const std::size_t number = program_.stages.size();
  Stage& stage = program_.stages.emplace_back();
  const char* const at = JsonReader::start(value);
  bool has_op = false;
  bool has_section = false;
  const char* scale_at = nullptr;
  json_.members(value, "a stage", kStageKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        stage.name = name(member);
        break;
      case 1:
        stage.kind = enumeration<StageKind>(member);
        break;
      case 2:
        stage.op = enumeration<OpKind>(member);
        has_op = true;
        break;
      case 3:
        scale_at = JsonReader::start(member);
        stage.scale = json_.number(member);
        break;
      case 5:
        stage.location = location(member);
        break;
      default:
        has_section = true;
        later(NameKind::section, member, [number](Program& program, std::uint32_t id) {
          program.stages[number].section = SectionId(id);
        });
        break;
    }
  });
  const bool computes = stage.kind == StageKind::compute || stage.kind == StageKind::allreduce;
  if (!has_op && computes) JsonReader::refuse_missing(at, "op");
  if (scale_at != nullptr && stage.op != OpKind::scale) {
    json_.refuse(scale_at, "\"scale\" only on a stage whose op is \"scale\"");
  }
  if (scale_at == nullptr && stage.op == OpKind::scale) JsonReader::refuse_missing(at, "scale");
  if (!has_section) stages_without_section_.emplace_back(static_cast<std::uint32_t>(number), at);
}

void ProgramReader::read_edge(Value& value) {
  const std::size_t number = program_.edges.size();
  program_.edges.emplace_back();
  json_.members(value, "an edge", kEdgeKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        later(NameKind::stage, member, [number](Program& program, std::uint32_t id) {
          program.edges[number].producer = StageId(id);
        });
        break;
      case 1:
        later(NameKind::buffer, member, [number](Program& program, std::uint32_t id) {
          program.edges[number].buffer = BufferId(id);
        });
        break;
      case 2:
        later(NameKind::stage, member, [number](Program& program, std::uint32_t id) {
          program.edges[number].consumer = StageId(id);
        });
        break;
      default:
        later(NameKind::handoff, member, [number](Program& program, std::uint32_t id) {
          program.edges[number].handoff = HandoffId(id);
        });
        break;
    }
  });
}

// Addresses that the file leaves out: base address + offset, along chains of views. A cycle or an
// overflow is left for validation, which refuses both.
void ProgramReader::compute_view_addresses() {
  std::vector<bool> unknown(program_.buffers.size(), false);
  for (const std::uint32_t view : views_without_address_) unknown[view] = true;
  std::vector<std::uint32_t> chain;
  for (std::uint32_t view : views_without_address_) {
    for (chain.clear(); unknown[view]; view = program_.buffers[view].view->base.value()) {
      unknown[view] = false;
      chain.push_back(view);
    }
    for (; !chain.empty(); chain.pop_back()) {
      Buffer& buffer = program_.buffers[chain.back()];
      buffer.address = program_.buffers[buffer.view->base.value()].address + buffer.view->offset;
    }
  }
}

}  // namespace spatialcert::ir::io
