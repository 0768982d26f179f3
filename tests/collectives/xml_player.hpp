// Plays an MSCCL document by the text of docs/msccl.md alone, with symbolic values.
//
// It shares nothing with the generator nor with the importer, and knows nothing of certificates:
// what it says is the yardstick for both. A value is the sorted list of the initial chunks that
// were added up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spatialcert::test {

struct XmlStep {
  std::string type;
  char source = 'i';
  char destination = 'o';
  std::int64_t source_offset = 0;
  std::int64_t destination_offset = 0;
  std::uint32_t count = 0;
  std::int32_t depends_on_block = -1;
  std::int32_t depends_on_step = -1;
  bool posts = false;

  [[nodiscard]] bool sends() const { return type == "s"; }
  [[nodiscard]] bool receives() const { return type == "r" || type == "rrc"; }
  [[nodiscard]] bool reads_source() const { return type != "r" && type != "nop"; }
  [[nodiscard]] bool writes() const { return type != "s" && type != "nop"; }
};

struct XmlBlock {
  std::int32_t send = -1;
  std::int32_t receive = -1;
  std::uint32_t channel = 0;
  std::vector<XmlStep> steps;
};

struct XmlRank {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t scratch = 0;
  std::vector<XmlBlock> blocks;
};

struct XmlProgram {
  std::string collective;
  std::string protocol;
  std::uint32_t chunks = 0;
  std::uint32_t channels = 0;
  bool in_place = false;
  bool out_of_place = false;
  std::vector<XmlRank> ranks;

  [[nodiscard]] std::uint32_t share() const {
    return chunks / static_cast<std::uint32_t>(ranks.size());
  }
  [[nodiscard]] std::size_t fifo_depth() const { return protocol == "Simple" ? 2 : 8; }
};

[[nodiscard]] XmlProgram parse_document(const std::string& xml);

/// What is wrong with the shape: ends of a connection driven twice, messages that do not pair,
/// addresses or waits out of range. Empty if nothing.
[[nodiscard]] std::string shape_fault(const XmlProgram& program);
/// What a loader would refuse for size: steps per block, counts, channels, peers per channel. Empty
/// if nothing.
[[nodiscard]] std::string limit_fault(const XmlProgram& program);

using Terms = std::shared_ptr<const std::vector<std::uint32_t>>;  ///< null: undefined

struct PlayOptions {
  std::uint32_t chunks_per_transfer = 1000;
  std::uint64_t seed = 1;
  bool find_races = false;  ///< happens-before by vector clocks; costs blocks squared
};

struct Played {
  bool finished = false;
  bool right = false;            ///< the postcondition holds, every contribution exactly once
  bool input_preserved = false;  ///< out of place only
  bool race = false;
};

/// Plays a well-formed program until nobody can step.
[[nodiscard]] Played play_document(const XmlProgram& program, const PlayOptions& options);

}  // namespace spatialcert::test
