#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <tuple>

#include "tests/collectives/xml_player.hpp"

namespace spatialcert::test {
namespace {

XmlStep parse_step(pugi::xml_node node) {
  XmlStep step;
  step.type = node.attribute("type").value();
  step.source = node.attribute("srcbuf").value()[0];
  step.destination = node.attribute("dstbuf").value()[0];
  step.source_offset = node.attribute("srcoff").as_int();
  step.destination_offset = node.attribute("dstoff").as_int();
  step.count = node.attribute("cnt").as_uint();
  step.depends_on_block = node.attribute("depid").as_int();
  step.depends_on_step = node.attribute("deps").as_int();
  step.posts = node.attribute("hasdep").as_int() == 1;
  return step;
}

XmlRank parse_rank(pugi::xml_node node) {
  XmlRank rank;
  rank.input = node.attribute("i_chunks").as_uint();
  rank.output = node.attribute("o_chunks").as_uint();
  rank.scratch = node.attribute("s_chunks").as_uint();
  for (const auto tb : node.children("tb")) {
    XmlBlock block;
    block.send = tb.attribute("send").as_int();
    block.receive = tb.attribute("recv").as_int();
    block.channel = tb.attribute("chan").as_uint();
    for (const auto step : tb.children("step")) {
      block.steps.push_back(parse_step(step));
    }
    rank.blocks.push_back(std::move(block));
  }
  return rank;
}

using Connection =
    std::tuple<std::int32_t, std::int32_t, std::uint32_t>;  // sender, receiver, channel

/// Per connection the counts of its messages, at one end. Empty optional: two blocks drive that
/// end.
std::optional<std::map<Connection, std::vector<std::uint32_t>>> messages(const XmlProgram& program,
                                                                         bool sending) {
  std::map<Connection, std::vector<std::uint32_t>> found;
  std::set<Connection> driven;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    for (const auto& block : program.ranks[r].blocks) {
      const auto self = static_cast<std::int32_t>(r);
      const auto peer = sending ? block.send : block.receive;
      if (peer < 0) {
        continue;
      }
      const Connection connection =
          sending ? Connection{self, peer, block.channel} : Connection{peer, self, block.channel};
      if (!driven.insert(connection).second) {
        return std::nullopt;
      }
      for (const auto& step : block.steps) {
        if (sending ? step.sends() : step.receives()) {
          found[connection].push_back(step.count);
        }
      }
    }
  }
  return found;
}

bool in_bounds(const XmlRank& rank, char buffer, std::int64_t offset, std::uint32_t count) {
  const auto size = buffer == 'i' ? rank.input : buffer == 'o' ? rank.output : rank.scratch;
  return offset >= 0 && offset + count <= size;
}

bool wait_exists(const XmlRank& rank, const XmlStep& step) {
  if (step.depends_on_block < 0) {
    return step.depends_on_step == -1 && step.type != "nop";
  }
  const auto block = static_cast<std::size_t>(step.depends_on_block);
  const auto target = static_cast<std::size_t>(step.depends_on_step);
  return block < rank.blocks.size() && target < rank.blocks[block].steps.size() &&
         rank.blocks[block].steps[target].posts && rank.blocks[block].steps[target].type != "nop";
}

std::string block_limit_fault(const XmlBlock& block) {
  if (block.steps.size() > 255) {
    return fmt::format("{} steps in a block", block.steps.size());
  }
  for (const auto& step : block.steps) {
    if (step.count >= 72) {
      return fmt::format("count {}", step.count);
    }
  }
  return {};
}

}  // namespace

XmlProgram parse_document(const std::string& xml) {
  pugi::xml_document document;
  document.load_string(xml.c_str());
  const auto algo = document.child("algo");
  XmlProgram program;
  program.collective = algo.attribute("coll").value();
  program.protocol = algo.attribute("proto").value();
  program.chunks = algo.attribute("nchunksperloop").as_uint();
  program.channels = algo.attribute("nchannels").as_uint();
  program.in_place = algo.attribute("inplace").as_int() == 1;
  program.out_of_place = algo.attribute("outofplace").as_int() == 1;
  for (const auto gpu : algo.children("gpu")) {
    program.ranks.push_back(parse_rank(gpu));
  }
  return program;
}

std::string shape_fault(const XmlProgram& program) {
  const auto sent = messages(program, true);
  const auto received = messages(program, false);
  if (!sent || !received) {
    return "two blocks drive one end of a connection";
  }
  if (*sent != *received) {
    return "messages do not pair";
  }
  for (const auto& rank : program.ranks) {
    for (const auto& block : rank.blocks) {
      if (block.steps.empty()) {
        return "empty block";
      }
      for (const auto& step : block.steps) {
        if (!wait_exists(rank, step)) {
          return "wait for nothing";
        }
        if (step.type != "nop" &&
            (!in_bounds(rank, step.source, step.source_offset, step.count) ||
             !in_bounds(rank, step.destination, step.destination_offset, step.count))) {
          return "out of range";
        }
      }
    }
  }
  return {};
}

std::string limit_fault(const XmlProgram& program) {
  for (const auto& rank : program.ranks) {
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>
        peers;  // channel -> sends, receives
    for (const auto& block : rank.blocks) {
      if (auto fault = block_limit_fault(block); !fault.empty()) {
        return fault;
      }
      peers[block.channel].first += block.send >= 0 ? 1 : 0;
      peers[block.channel].second += block.receive >= 0 ? 1 : 0;
    }
    for (const auto& [channel, count] : peers) {
      if (channel >= program.channels || channel >= 32 || count.first > 32 || count.second > 32) {
        return fmt::format("channel {}: {} and {} peers", channel, count.first, count.second);
      }
    }
  }
  return {};
}

}  // namespace spatialcert::test
