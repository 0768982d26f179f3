// Strong integer ids.
//
// The owner of a kind of object holds a vector of it; everybody else holds an `Id<Tag>`, an index
// into that vector. Ids of different tags never convert into each other, so a semaphore number
// cannot be used to look up a buffer. An id does not know its owner and promises nothing about
// range.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace spatialcert::ir {

template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}
  constexpr explicit Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  /// Index into the owner's vector; meaningless while `valid()` is false.
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr bool valid() const { return value_ != kNone; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value_ = kNone;
};

using TensorId = Id<struct TensorTag>;
using BufferId = Id<struct BufferTag>;
using SemaphoreId = Id<struct SemaphoreTag>;
using StageId = Id<struct StageTag>;
using SectionId = Id<struct SectionTag>;
using BoundaryId = Id<struct BoundaryTag>;
using SpaceId = Id<struct SpaceTag>;
using EngineId = Id<struct EngineTag>;
using HandoffId = Id<struct HandoffTag>;
/// One engine program: the ops of one (site, engine).
using ProgramId = Id<struct EngineProgramTag>;
/// A counter of the token game: a semaphore, or the filled or the free pages of a FIFO.
using CounterId = Id<struct CounterTag>;
/// An op instance of the unrolled program, which is a transition of the net.
using TransitionId = Id<struct TransitionTag>;

}  // namespace spatialcert::ir
