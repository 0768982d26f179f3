// A collective algorithm as steps of ranks, before it is printed.
//
// The steps of a rank stand in one list, in an order in which the rank could run them one after the
// other. That order is what gives the program its meaning: `add_dependencies` derives from it every
// wait between thread blocks, so that no algorithm has to state any. Waits name positions of this
// list; step numbers inside a block, and the extra `nop` steps for several waits, exist only in the
// printed form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compose/collectives/collectives.hpp"

namespace spatialcert::compose {

enum class ChunkBuffer : std::uint8_t { input, output, scratch };

/// A chunk of a buffer of the rank itself.
struct Address {
  ChunkBuffer buffer = ChunkBuffer::input;
  std::uint32_t offset = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

enum class StepType : std::uint8_t {
  send,            ///< s: push source
  receive,         ///< r: destination := message
  receive_reduce,  ///< rrc: destination := source + message; source may be another address
  copy,            ///< cpy: destination := source
  reduce           ///< re: destination := destination + source
};

struct Step {
  StepType type = StepType::copy;
  std::uint32_t block = 0;
  Address source;
  Address destination;
  std::uint32_t count = 1;
  std::vector<std::uint32_t> waits;  ///< positions in Rank::steps, all of other blocks
};

[[nodiscard]] constexpr bool receives(const Step& step) {
  return step.type == StepType::receive || step.type == StepType::receive_reduce;
}
[[nodiscard]] constexpr bool reads_source(const Step& step) {
  return step.type != StepType::receive;
}
[[nodiscard]] constexpr bool writes(const Step& step) { return step.type != StepType::send; }

inline constexpr std::int32_t kNoPeer = -1;

struct Block {
  std::int32_t send = kNoPeer;
  std::int32_t receive = kNoPeer;
  std::uint32_t channel = 0;
};

struct Rank {
  std::uint32_t chunks[3] = {0, 0, 0};  ///< by ChunkBuffer; 0 if the program never names the buffer
  std::vector<Block> blocks;
  std::vector<Step> steps;

  [[nodiscard]] std::uint32_t size(ChunkBuffer buffer) const {
    return chunks[static_cast<std::size_t>(buffer)];
  }
};

struct CollectiveProgram {
  std::uint32_t chunks = 0;  ///< of the logical buffer
  std::vector<Rank> ranks;
};

/// Gives every step the waits that order it after the earlier steps of other blocks that it
/// conflicts with (read after write, write after read, write after write). Only what no other wait
/// of the rank implies is kept; orders that happen to follow from messages of other ranks are not
/// relied on.
void add_dependencies(Rank& rank);

/// The document. Blocks without steps are left out.
[[nodiscard]] std::string print_msccl(const CollectiveProgram& program,
                                      const CollectiveOptions& options);

}  // namespace spatialcert::compose
