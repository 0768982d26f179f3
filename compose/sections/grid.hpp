// The tile grid: what of it a site does, and its rectangles of tiles of one size.
#pragma once

#include <cstdint>
#include <vector>

namespace spatialcert::compose::sections {

/// Tiles of one size along one dimension: `trips` of them from element `first` on.
struct TileRun {
  std::uint64_t first = 0;
  std::uint64_t trips = 0;
  std::uint64_t size = 0;
};

struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Elements of share `number` of `shares` of a dimension of `length`, cut at multiples of `tile`;
/// may be empty.
[[nodiscard]] inline Interval share_of(std::uint64_t length, std::uint64_t tile,
                                       std::uint64_t number, std::uint64_t shares) {
  const std::uint64_t tiles = (length - 1) / tile + 1;
  const auto cut = [&](std::uint64_t i) {
    // The first tiles % shares of them get one tile more.
    const std::uint64_t before = tiles / shares * i + (i < tiles % shares ? i : tiles % shares);
    return before < tiles ? before * tile : length;
  };
  return {cut(number), cut(number + 1)};
}

/// The full tiles of an interval, then the smaller last one if there is one.
[[nodiscard]] inline std::vector<TileRun> runs_of(Interval interval, std::uint64_t tile) {
  std::vector<TileRun> out;
  const std::uint64_t length = interval.end - interval.begin;
  const std::uint64_t full = length / tile;
  if (full > 0) out.push_back({interval.begin, full, tile});
  if (length % tile > 0) out.push_back({interval.begin + full * tile, 1, length % tile});
  return out;
}

}  // namespace spatialcert::compose::sections
