// The objects of the program that an algorithm becomes: target, buffers, FIFOs, semaphores,
// postconditions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/import/algorithm.hpp"
#include "ir/import/check.hpp"
#include "ir/import/msccl.hpp"
#include "ir/import/schedule.hpp"
#include "ir/program.hpp"

namespace spatialcert::ir::msccl {

/// What distinguishes the programs that one file describes.
struct Shape {
  MscclPlacement placement = MscclPlacement::out_of_place;
  MscclRuntime runtime = MscclRuntime::msccl;
  std::uint32_t chunks_per_transfer = 1;
  std::uint64_t chunk_bytes = 16;
  std::string program_name;
};

/// An algorithm that has been found well-formed.
struct Source {
  const Algorithm& algorithm;
  const Schedules& schedules;
  const Connections& connections;
};

/// The semaphores and the engine of a block's helper (invalid if it has none).
struct Helper {
  EngineId engine;
  SemaphoreId go;    ///< block -> helper: send the next transfer
  SemaphoreId slot;  ///< helper -> block: the transfer has its slot
  SemaphoreId done;  ///< helper -> block: the source has been read and the message is out
  /// Block -> helper: what a receiving step sends on. A FIFO has one producer, and the helper's is
  /// the connection. Invalid if the block has no such step.
  BufferId hand;
};

struct Objects {
  StageId copy;
  StageId add;
  std::vector<std::array<BufferId, 3>> buffers;  ///< [rank][BufferLetter]
  std::vector<BufferId> fifos;                   ///< [connection]
  std::vector<std::vector<SemaphoreId>> flags;   ///< [rank][block]; invalid if nobody waits
  std::vector<std::vector<Helper>> helpers;      ///< [rank][block]

  [[nodiscard]] BufferId buffer(std::size_t rank, BufferLetter which) const {
    return buffers[rank][static_cast<std::size_t>(which)];
  }
};

[[nodiscard]] inline Site site_of(std::size_t rank) {
  return {static_cast<std::uint32_t>(rank), 0, 0};
}

/// True if a send of this runtime and protocol ends without a barrier (docs/msccl.md).
[[nodiscard]] inline bool sends_without_barrier(const Algorithm& algorithm, MscclRuntime runtime) {
  return runtime == MscclRuntime::rccl && algorithm.protocol == Protocol::ll;
}

/// Fills everything of `program` but its ops. Refused: an aliasing that does not fit.
[[nodiscard]] Result<Objects> lay_out(const Source& source, const Shape& shape, Program& program);

/// States what the collective promises; sets `result_unspecified` if the file does not say.
void add_postconditions(const Algorithm& algorithm, const Shape& shape, const Objects& objects,
                        Program& program);

}  // namespace spatialcert::ir::msccl
