#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "compose/collectives/model.hpp"

namespace spatialcert::compose {
namespace {

/// Where a step ends up: block ids without gaps, step numbers that count the `nop` steps too.
struct Numbering {
  std::vector<std::uint32_t> block_id;  // per block of the model
  std::vector<std::uint32_t> step;      // per step of the model
  std::vector<bool> posts;              // per step: somebody waits for it
  std::vector<bool> used;               // per block: has steps
};

std::uint32_t extra_waits(const Step& step) {
  return step.waits.empty() ? 0 : static_cast<std::uint32_t>(step.waits.size() - 1);
}

Numbering number(const Rank& rank) {
  Numbering result;
  std::vector<std::uint32_t> length(rank.blocks.size(), 0);
  result.posts.resize(rank.steps.size(), false);
  for (const auto& step : rank.steps) {
    result.step.push_back(length[step.block] + extra_waits(step));
    length[step.block] = result.step.back() + 1;
    for (const auto wait : step.waits) {
      result.posts[wait] = true;
    }
  }
  std::uint32_t next = 0;
  for (const auto steps : length) {
    result.block_id.push_back(next);
    result.used.push_back(steps > 0);
    next += steps > 0 ? 1 : 0;
  }
  return result;
}

const char* type_name(StepType type) {
  switch (type) {
    case StepType::send:
      return "s";
    case StepType::receive:
      return "r";
    case StepType::receive_reduce:
      return "rrc";
    case StepType::copy:
      return "cpy";
    case StepType::reduce:
      return "re";
  }
  return "";
}

const char* buffer_name(ChunkBuffer buffer) {
  switch (buffer) {
    case ChunkBuffer::input:
      return "i";
    case ChunkBuffer::output:
      return "o";
    case ChunkBuffer::scratch:
      return "s";
  }
  return "";
}

/// The word of the `coll` attribute, which every loader but one spells like this.
const char* collective_name(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return "allreduce";
    case Collective::allgather:
      return "allgather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::alltoall:
      return "alltoall";
  }
  return "";
}

template <typename T>
void put(pugi::xml_node node, const char* name, T value) {
  node.append_attribute(name).set_value(value);
}

void put_wait(pugi::xml_node node, const Rank& rank, const Numbering& numbers, std::uint32_t wait) {
  put(node, "depid", numbers.block_id[rank.steps[wait].block]);
  put(node, "deps", numbers.step[wait]);
}

pugi::xml_node put_operation(pugi::xml_node block, std::uint32_t number, const char* type) {
  auto node = block.append_child("step");
  put(node, "s", number);
  put(node, "type", type);
  return node;
}

void put_nop(pugi::xml_node block, std::uint32_t number, const Rank& rank, const Numbering& numbers,
             std::uint32_t wait) {
  auto node = put_operation(block, number, "nop");
  put(node, "srcbuf", "i");
  put(node, "srcoff", -1);
  put(node, "dstbuf", "o");
  put(node, "dstoff", -1);
  put(node, "cnt", 0);
  put_wait(node, rank, numbers, wait);
  put(node, "hasdep", 0);
}

void put_step(pugi::xml_node block, const Rank& rank, const Numbering& numbers,
              std::size_t position) {
  const Step& step = rank.steps[position];
  const auto extra = extra_waits(step);
  const auto number = numbers.step[position];
  for (std::uint32_t k = 0; k < extra; ++k) {
    put_nop(block, number - extra + k, rank, numbers, step.waits[k]);
  }
  auto node = put_operation(block, number, type_name(step.type));
  put(node, "srcbuf", buffer_name(step.source.buffer));
  put(node, "srcoff", step.source.offset);
  put(node, "dstbuf", buffer_name(step.destination.buffer));
  put(node, "dstoff", step.destination.offset);
  put(node, "cnt", step.count);
  if (step.waits.empty()) {
    put(node, "depid", -1);
    put(node, "deps", -1);
  } else {
    put_wait(node, rank, numbers, step.waits.back());
  }
  put(node, "hasdep", numbers.posts[position] ? 1 : 0);
}

void put_rank(pugi::xml_node algorithm, const Rank& rank, std::uint32_t id) {
  auto node = algorithm.append_child("gpu");
  put(node, "id", id);
  put(node, "i_chunks", rank.size(ChunkBuffer::input));
  put(node, "o_chunks", rank.size(ChunkBuffer::output));
  put(node, "s_chunks", rank.size(ChunkBuffer::scratch));
  const auto numbers = number(rank);
  std::vector<pugi::xml_node> blocks(rank.blocks.size());
  for (std::uint32_t block = 0; block < rank.blocks.size(); ++block) {
    if (!numbers.used[block]) {
      continue;
    }
    blocks[block] = node.append_child("tb");
    put(blocks[block], "id", numbers.block_id[block]);
    put(blocks[block], "send", rank.blocks[block].send);
    put(blocks[block], "recv", rank.blocks[block].receive);
    put(blocks[block], "chan", rank.blocks[block].channel);
  }
  for (std::size_t position = 0; position < rank.steps.size(); ++position) {
    put_step(blocks[rank.steps[position].block], rank, numbers, position);
  }
}

std::uint32_t channels(const CollectiveProgram& program) {
  std::uint32_t highest = 0;
  for (const auto& rank : program.ranks) {
    for (const auto& block : rank.blocks) {
      highest = std::max(highest, block.channel);
    }
  }
  return highest + 1;
}

std::string program_name(const CollectiveOptions& options) {
  auto name = fmt::format("{}_{}_{}", to_string(options.algorithm), to_string(options.collective),
                          options.ranks);
  if (options.fault != Fault::none) {
    name += fmt::format("_with_{}", to_string(options.fault));
  }
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

std::string print_msccl(const CollectiveProgram& program, const CollectiveOptions& options) {
  pugi::xml_document document;
  auto algorithm = document.append_child("algo");
  put(algorithm, "name", program_name(options).c_str());
  put(algorithm, "proto", options.protocol.c_str());
  put(algorithm, "nchannels", channels(program));
  put(algorithm, "nchunksperloop", program.chunks);
  put(algorithm, "ngpus", static_cast<std::uint32_t>(program.ranks.size()));
  put(algorithm, "coll", collective_name(options.collective));
  put(algorithm, "inplace", options.in_place ? 1 : 0);
  put(algorithm, "outofplace", options.in_place ? 0 : 1);
  put(algorithm, "minBytes", 0);
  put(algorithm, "maxBytes", 0);
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
    put_rank(algorithm, program.ranks[rank], rank);
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration);
  return std::move(text).str();
}

}  // namespace spatialcert::compose
