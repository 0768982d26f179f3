// An MSCCL algorithm as its file spells it: plain structs, every one with the line it stands on.
//
// `parse_algorithm` promises what can be seen on a single element: known elements and attributes,
// numbers that fit, known letters, dense ids. Everything that relates elements is the business of
// check.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/result.hpp"

namespace spatialcert::ir::msccl {

enum class StepType : std::uint8_t {
  send,                      // s
  receive,                   // r
  receive_copy_send,         // rcs
  receive_reduce_send,       // rrs
  receive_reduce_copy,       // rrc
  receive_reduce_copy_send,  // rrcs
  copy,                      // cpy
  reduce,                    // re
  nop
};

/// What a step of a type does with its operands and its two connections, on the rank that runs it.
struct StepTraits {
  std::string_view name;
  bool sends = false;
  bool receives = false;
  bool reads_source = false;
  bool reads_destination = false;
  bool writes_destination = false;
};
[[nodiscard]] const StepTraits& traits(StepType type);

enum class BufferLetter : std::uint8_t { input, output, scratch };
[[nodiscard]] char letter(BufferLetter which);

struct Operand {
  BufferLetter buffer = BufferLetter::input;
  std::int32_t offset = 0;  ///< chunks; may be -1 where the runtime does not look at it
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Step {
  StepType type = StepType::nop;
  bool has_dependents = false;  ///< `hasdep`
  std::uint32_t count = 0;      ///< `cnt`: chunks
  Operand source;
  Operand destination;
  std::int32_t depends_on_block = -1;
  std::int32_t depends_on_step = -1;
  std::uint32_t line = 0;
};

struct Block {
  std::int32_t send_peer = -1;
  std::int32_t receive_peer = -1;
  std::int32_t channel = 0;
  std::uint32_t line = 0;
  std::vector<Step> steps;  ///< position = attribute `s`
};

struct Rank {
  std::uint32_t input_chunks = 0;
  std::uint32_t output_chunks = 0;
  std::uint32_t scratch_chunks = 0;
  std::uint32_t line = 0;
  std::vector<Block> blocks;  ///< position = attribute `id`
};

enum class Protocol : std::uint8_t { simple, ll, ll128 };
enum class Collective : std::uint8_t {
  allreduce,
  allgather,
  reduce_scatter,
  alltoall,
  broadcast,
  reduce,
  custom,
  send,
  recv,
  gather,
  scatter,
  alltoallv
};
[[nodiscard]] std::string_view to_string(Protocol protocol);
[[nodiscard]] std::string_view to_string(Collective collective);

struct Algorithm {
  std::string file;  ///< labels refusals and source locations
  std::string name;
  Protocol protocol = Protocol::simple;
  Collective collective = Collective::custom;
  std::uint32_t channels = 0;
  std::uint32_t chunks = 0;  ///< nchunksperloop
  bool allows_in_place = false;
  bool allows_out_of_place = false;
  std::uint32_t line = 0;
  std::vector<Rank> ranks;  ///< position = attribute `id`

  [[nodiscard]] std::uint64_t step_count() const;
  [[nodiscard]] std::uint32_t largest_count()
      const;  ///< of the steps that do something; at least 1
};

/// More than any machine that runs these files; keeps memory in proportion to what a file can mean.
inline constexpr std::uint32_t kMaximumRanks = 4096;
inline constexpr std::uint32_t kMaximumChunks = 1U << 24;
inline constexpr std::uint32_t kMaximumCount = 71;
inline constexpr std::uint64_t kMaximumNodes = 8'000'000;

/// Parses `text`, which is consumed: the parser works in place.
[[nodiscard]] Result<Algorithm> parse_algorithm(std::string text, const std::string& file);

/// Element paths for refusals: `algo/gpu[@id=0]/tb[@id=1]/step[@s=2]`.
[[nodiscard]] std::string path_of(std::size_t rank);
[[nodiscard]] std::string path_of(std::size_t rank, std::size_t block);
[[nodiscard]] std::string path_of(std::size_t rank, std::size_t block, std::size_t step);

}  // namespace spatialcert::ir::msccl
