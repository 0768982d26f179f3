// Well-formedness across elements: peers, bounds, and the pairing of sends with receives.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/import/algorithm.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir::msccl {

/// Sizes in chunks of the buffers of a rank: what the collective needs, or what is declared if that
/// is more.
struct BufferSizes {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t scratch = 0;

  [[nodiscard]] std::uint32_t of(BufferLetter which) const {
    return which == BufferLetter::input ? input : which == BufferLetter::output ? output : scratch;
  }
};
[[nodiscard]] BufferSizes buffer_sizes(const Algorithm& algorithm, std::size_t rank);

/// True if the chunks are per rank: then nchunksperloop is a multiple of the number of ranks.
[[nodiscard]] bool has_chunks_per_rank(Collective collective);

/// A connection over which something is sent.
struct Connection {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
  std::int32_t channel = 0;
  std::uint32_t sending_block = 0;
  std::uint32_t receiving_block = 0;
  std::uint32_t largest_count = 0;  ///< chunks of its largest step
};

inline constexpr std::uint32_t kNoConnection = 0xffffffffU;

/// The connections, ordered by (sender, receiver, channel), and those of every block.
struct Connections {
  std::vector<Connection> all;
  struct OfBlock {
    std::uint32_t out = kNoConnection;
    std::uint32_t in = kNoConnection;
  };
  std::vector<std::vector<OfBlock>> of_block;  ///< [rank][block]
};

/// Refuses what no placement and no message size could make right.
[[nodiscard]] Result<Connections> check(const Algorithm& algorithm);

}  // namespace spatialcert::ir::msccl
