// Writes the steps of one rank.
//
// Addresses are asked for by what they mean (a chunk of the input, of the result, of scratch). In
// place, input and result are one memory, and the builder then names one buffer only, the larger
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "compose/collectives/model.hpp"

namespace spatialcert::compose {

/// What an algorithm needs to know of the request.
struct Plan {
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 2;
  std::uint32_t ranks_per_node = 1;
  std::uint32_t fifo_depth = 2;  ///< messages that a connection holds
  bool in_place = false;
  bool send_first =
      false;  ///< the fault of that name: partners send before they receive, in one block
};

/// Chunks that a piece of the algorithm is cut in. One, unless partners are to send first: then as
/// many as it takes that their largest exchange, of `pieces` pieces, does not fit in a FIFO chunk
/// by chunk.
[[nodiscard]] constexpr std::uint32_t chunks_per_piece(const Plan& plan, std::uint32_t pieces) {
  return plan.send_first ? plan.fifo_depth / pieces + 1 : 1;
}

/// The block that sends and the block that receives; one and the same if partners send first.
struct Lanes {
  std::uint32_t out = 0;
  std::uint32_t in = 0;
};

class RankBuilder {
 public:
  RankBuilder(const Plan& plan, std::uint32_t chunks, std::uint32_t rank);

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] Address input(std::uint32_t chunk) const;
  [[nodiscard]] Address output(std::uint32_t chunk) const;
  /// Scratch has a slot for every chunk of the logical buffer.
  [[nodiscard]] Address scratch(std::uint32_t chunk);

  [[nodiscard]] std::uint32_t sender(std::uint32_t to, std::uint32_t channel = 0);
  [[nodiscard]] std::uint32_t receiver(std::uint32_t from, std::uint32_t channel = 0);
  [[nodiscard]] std::uint32_t local_block();
  [[nodiscard]] Lanes lanes(std::uint32_t to, std::uint32_t from, std::uint32_t channel,
                            bool send_first);

  void send(std::uint32_t block, Address source, std::uint32_t count);
  void receive(std::uint32_t block, Address destination, std::uint32_t count);
  void receive_reduce(std::uint32_t block, Address source, Address destination,
                      std::uint32_t count);
  void copy(std::uint32_t block, Address source, Address destination, std::uint32_t count);
  void reduce(std::uint32_t block, Address source, Address destination, std::uint32_t count);
  /// Out of place, puts the rank's own `count` chunks where the result wants them; in place they
  /// are there.
  void place_own_input(std::uint32_t input_chunk, std::uint32_t output_chunk, std::uint32_t count);

  [[nodiscard]] Rank take() { return std::move(built_); }

 private:
  std::uint32_t add_block(Block block);
  void add(StepType type, std::uint32_t block, Address source, Address destination,
           std::uint32_t count);

  Plan plan_;
  std::uint32_t chunks_;
  std::uint32_t rank_;
  Rank built_;
};

/// Runs `write` for every rank of a program of `chunks` chunks.
[[nodiscard]] CollectiveProgram build_ranks(const Plan& plan, std::uint32_t chunks,
                                            const std::function<void(RankBuilder&)>& write);

}  // namespace spatialcert::compose
