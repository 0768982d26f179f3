// What tensors and resident buffers hold while sections follow one another, and whether sections
// may touch them in this order. Trusted.
//
// Every location knows whether it is defined, who of which phase has touched it, and the greatest
// source index of those that have written it, and of those that have read it. Sections are taken in
// the order of the program, each one's reads before its writes. In the number of sections that
// touch a location, and logarithmic in the pieces that an object falls into.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proofs/composition/touched.hpp"

namespace spatialcert::proofs::composition {

/// A section at its place.
struct Turn {
  std::uint32_t section = 0;
  std::uint32_t phase = 0;
  std::uint32_t source = 0;  ///< index in the source
};

class Contents {
 public:
  /// As the program starts: what is declared.
  explicit Contents(const ir::Program& program);

  /// Is all of it defined? `object`: number in the program.
  [[nodiscard]] bool defined(bool tensor, std::uint32_t object, const Intervals& where) const;

  enum class Fault : std::uint8_t {
    shared,    ///< with another section of the phase, and one of them writes it
    reordered  ///< conflicts with a section that is later in the source
  };
  /// Reads and writes of one section; then what it fills is defined.
  [[nodiscard]] std::optional<Fault> touch(const Turn& turn, std::uint32_t object,
                                           const Touched& what);
  /// Uses of pieces so far.
  [[nodiscard]] std::uint64_t uses() const { return uses_; }

 private:
  struct Piece {
    std::uint64_t high = 0;
    bool defined = false;
    bool several = false;  ///< sections of `phase` touch it
    bool written = false;  ///< in `phase`
    std::uint32_t phase = kNone;
    std::uint32_t section = kNone;  ///< the first of `phase` to touch it
    std::uint32_t writer = kNone;   ///< source index
    std::uint32_t reader = kNone;   ///< greatest source index of readers
  };
  using Pieces = std::map<std::uint64_t, Piece>;  ///< by first location; the rest is untouched

  [[nodiscard]] Pieces& pieces(bool tensor, std::uint32_t object) {
    return tensor ? tensors_[object] : buffers_[object];
  }
  template <typename Each>
  void visit(Pieces& all, const Interval& where, const Each& each);
  static void split(Pieces& all, std::uint64_t at);
  void define(bool tensor, std::uint32_t object, const Interval& where);
  [[nodiscard]] static std::optional<Fault> use(Piece& piece, const Turn& turn, bool write);

  std::vector<Pieces> tensors_, buffers_;  ///< by number in the program; views have none
  std::uint64_t uses_ = 0;
};

}  // namespace spatialcert::proofs::composition
