// Tensors' elements and buffers' bytes, with what is known of every byte: undefined, or which byte
// of an element of which type.
//
// Buffers lie where their addresses say, so what overlaps in the program overlaps here; views are
// the storage of their base. A FIFO of exact depth has its slots there too, and page i of a window
// is slot (head + i) mod pages; one of guaranteed depth has `pages` slots of its own. A page that
// is popped becomes undefined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/machine/evaluate.hpp"
#include "ir/machine/fault.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"
#include "ir/token_game.hpp"

namespace spatialcert::ir::machine {

/// Bytes of all storages together, and of one region, that the machine takes on.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31U;

/// Bytes with their marks: 0 undefined, kZeroOfAnyType, or 1 + 8 * type + byte of the element.
struct Bytes {
  std::vector<std::uint8_t> byte;
  std::vector<std::uint8_t> mark;
};
inline constexpr std::uint8_t kZeroOfAnyType = 255;

/// Where a region lies: `runs` stretches of `run_bytes`, one every `stride` bytes.
struct Place {
  std::uint32_t storage = 0;
  std::uint64_t start = 0;
  std::uint64_t runs = 1;
  std::uint64_t run_bytes = 0;
  std::uint64_t stride = 0;
  Target known;         ///< shape and type, where the tensor or the tile says them
  bool mortal = false;  ///< its contents do not outlive an iteration (proofs::outlives)
  [[nodiscard]] std::uint64_t bytes() const { return runs * run_bytes; }
};

class Memory {
 public:
  /// `program` must outlive it. Everything is undefined. Refused if it is larger than kMostBytes.
  static Result<Memory> make(const Program& program);

  /// Throws Failure (outside).
  [[nodiscard]] Place locate(const Region& region, const std::int64_t bounds[4], bool write,
                             const PlayState& state) const;
  [[nodiscard]] Place tensor_place(std::uint32_t tensor) const;
  [[nodiscard]] Place buffer_place(std::uint32_t buffer) const;

  /// Throws Failure (undefined_read). `iteration` is the reader's.
  [[nodiscard]] Bytes read(const Place& place, std::uint32_t iteration) const;
  /// What is there, undefined or not.
  [[nodiscard]] Bytes look(const Place& place) const;
  void write(const Place& place, const Bytes& bytes, std::uint32_t iteration);
  void undefine(const Place& place);
  void fill_with_zeros(const Place& place);
  /// The pages that `pop` of `count` pages frees, before it is performed.
  void free_pages(std::uint32_t fifo, std::int64_t count, const PlayState& state);

 private:
  struct Storage {
    Bytes bytes;
    std::vector<std::uint32_t> iteration;  ///< of what was written; memory of persistent programs
  };
  struct Home {
    std::uint32_t storage = 0;
    std::uint64_t offset = 0;
  };

  explicit Memory(const Program& program) : program_(&program) {}
  bool place_tensors();
  bool place_buffers();
  [[nodiscard]] std::optional<std::uint32_t> add_storage(std::uint64_t bytes, bool memory);
  [[nodiscard]] Place page_place(const Region& region, const std::int64_t bounds[4], bool write,
                                 const PlayState& state) const;
  void set_tile(Place& place, const Buffer& buffer, std::uint64_t low) const;

  const Program* program_;
  std::vector<Storage> storages_;
  std::vector<Home> tensors_;
  std::vector<Home> buffers_;
  std::vector<char> mortal_;  ///< per buffer
  std::uint64_t total_ = 0;
};

/// Elements from bytes. `type` is what they are if their marks do not say it (zeros of any type).
/// Throws Failure (wrong_type).
[[nodiscard]] Operand decoded(const Bytes& bytes, const Target& known, std::optional<DType> type);
/// The type that marks say, if any.
[[nodiscard]] std::optional<DType> type_of(const Bytes& bytes);
/// Throws Failure (wrong_type) unless the bytes are whole elements of `type`.
void expect_elements(const Bytes& bytes, DType type);
/// All elements, those that are undefined or torn marked as such.
[[nodiscard]] Matrix seen(const Bytes& bytes, const Shape& shape, DType type);
[[nodiscard]] Bytes encoded(const Matrix& value);

}  // namespace spatialcert::ir::machine
