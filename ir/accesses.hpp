// What every `run` reads and writes, resolved to physical locations and cut into segments.
//
// A *storage* is a line of locations: the bytes of one memory space of one site, the elements of
// one tensor, or the bytes of the pages that pass through one FIFO, numbered by page since the
// start (the pages of a FIFO are handed over by its ops: page k + pages cannot be reserved before
// page k is popped, so two pages that share a slot never conflict). Views resolve to what they
// share. A *segment* is a maximal run of locations that no access and no initialised region
// divides; conflicts, definedness and values are the same for all of it.
//
// Linear in the accesses times their segments, up to sorting of the ends; `limit` is set, and
// nothing else is usable, if that exceeds the work limit or a position does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

struct Storage {
  enum class Kind : std::uint8_t { memory, tensor, fifo };
  Kind kind = Kind::memory;
  Site site;                 ///< memory
  SpaceId space;             ///< memory
  std::uint32_t object = 0;  ///< base tensor, or FIFO buffer
};

struct ResolvedAccess {
  TransitionId transition;
  std::uint32_t access = 0;  ///< index into Program::accesses
  std::uint32_t storage = 0;
  std::uint64_t low = 0;   ///< first location
  std::uint64_t high = 0;  ///< one past the last
  std::uint32_t first_segment = 0;
  std::uint32_t last_segment = 0;  ///< one past the last
  bool write = false;
};

/// A region that leaves its object, or bounds that do not fit 63 bits.
struct AccessFault {
  TransitionId transition;
  std::uint32_t access = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint64_t size = 0;  ///< of the object, page or dimension
};

struct Segment {
  std::uint32_t storage = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  Init init = Init::undefined;
};

struct AccessMap {
  std::vector<Storage> storages;
  std::vector<std::uint32_t> storage_of_tensor;  ///< TensorId -> storage (views: that of the base)
  std::vector<std::uint32_t> storage_of_buffer;  ///< BufferId -> storage
  std::vector<ResolvedAccess> accesses;  ///< by transition, in the order of the op's accesses
  std::vector<Segment> segments;         ///< by storage, then position
  std::vector<AccessFault> faults;
  bool limit = false;

  /// Where a constant region over a tensor or a byte buffer lies; several parts if its rows are not
  /// whole.
  struct Position {
    std::uint32_t storage = 0xffffffffU;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  [[nodiscard]] std::vector<Position> locate(const Program& program, const Region& region) const;
  /// Segment that holds location `at` of `storage`, or ~0.
  [[nodiscard]] std::uint32_t segment_at(std::uint32_t storage, std::uint64_t at) const;
};

[[nodiscard]] AccessMap resolve_accesses(const Program& program, const Unrolled& unrolled);

/// Readable name of a location range, e.g. `buffer o@3 bytes [16, 32)`, `tensor x elements [0, 4)`.
[[nodiscard]] std::string describe(const Program& program, const Storage& storage,
                                   std::uint64_t low, std::uint64_t high);

}  // namespace spatialcert::ir
