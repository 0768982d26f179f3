// The values of a run as linear combinations of initial contents. Trusted.
//
// One symbolic run in a given order: every location holds a reference into a graph of values, whose
// leaves are initial contents, zero, and results of ops that are no linear combination (opaque).
// Equal sums are one node, and a copy shares its source's node, so that an output costs what its
// own sum costs.
//
// Sums are formed element by element, in the type of the tensors that the op touches or whose
// contents it reads; an op that meets two types gives an opaque value, because the bytes of an i32
// that are added as four i8 lose their carries. Ops on buffers alone, with contents of buffers,
// have no type of their own: they are taken to work in the type of the postcondition that they end
// in.
//
// Positions are in bytes throughout: element positions of a tensor times the size of an element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::proofs::reduction {

enum class NodeKind : std::uint8_t { input, zero, undefined, sum, opaque };

/// The value that `node` has at byte `offset`.
struct ValueRef {
  std::uint32_t node = 0;
  std::uint64_t offset = 0;
  friend auto operator<=>(const ValueRef&, const ValueRef&) = default;
};

/// A child of a sum; its value is taken at the child's offset plus the offset into the sum.
struct Summand {
  ValueRef value;
  std::int64_t factor = 1;
  friend auto operator<=>(const Summand&, const Summand&) = default;
};

struct Node {
  NodeKind kind = NodeKind::zero;
  std::uint32_t subject = 0;  ///< input: storage; opaque, sum: transition
  std::uint32_t first = 0;    ///< sum: into summands
  std::uint32_t count = 0;
  /// Type of its elements: a tensor's contents, sums of such. Nothing if no tensor says it.
  std::optional<ir::DType> type = std::nullopt;
};

/// `length` bytes of consecutive values beginning at `value`.
struct Piece {
  std::uint64_t length = 0;
  ValueRef value;
};

/// One term of a combination: `factor` times the initial contents of `storage` at byte `offset`.
struct Term {
  std::uint32_t storage = 0;
  std::uint64_t offset = 0;
  std::int64_t factor = 1;
  friend auto operator<=>(const Term&, const Term&) = default;
};

/// What a value is a combination of, terms by (storage, offset). `opaque`: transition of an op that
/// keeps it from being one; ~0 if none. `overflow`: a factor does not fit.
struct Combination {
  std::vector<Term> terms;
  std::uint32_t opaque = 0xffffffffU;
  bool overflow = false;
  bool undefined = false;  ///< contains contents that nothing wrote
};

class SymbolicRun {
 public:
  /// Performs all runs of the stretch in the order of `position`.
  SymbolicRun(const Subject& subject, const std::vector<std::uint32_t>& position);

  /// Final contents of [low, high) of a storage (in its own units).
  [[nodiscard]] std::vector<Piece> contents(std::uint32_t storage, std::uint64_t low,
                                            std::uint64_t high) const;
  /// As a value of elements of `type`, if that is given: a sum that was formed in another type is
  /// opaque.
  [[nodiscard]] Combination combination(ValueRef value, std::optional<ir::DType> type) const;
  [[nodiscard]] bool mistyped(ValueRef value, std::optional<ir::DType> type) const;
  [[nodiscard]] const Node& node(std::uint32_t n) const { return nodes_[n]; }
  [[nodiscard]] const std::vector<Summand>& summands() const { return summands_; }
  [[nodiscard]] std::uint64_t unit(std::uint32_t storage) const;  ///< bytes per location

 private:
  [[nodiscard]] bool begins_an_element(ValueRef value, std::uint64_t element) const;
  [[nodiscard]] std::optional<ir::DType> type_of(std::uint32_t storage) const;
  std::uint32_t add_node(Node node);
  ValueRef sum(std::vector<Summand> summands, const Node& as);
  void perform(std::uint32_t transition, std::uint32_t first_access, std::uint32_t end_access);
  std::vector<Piece> gather(std::uint32_t first, std::uint32_t end) const;
  void write(std::uint32_t first, std::uint32_t end, const std::vector<Piece>& result);
  /// The sum of the operands, all of them of `length` bytes and of the type of `as`; nothing if
  /// elements would be added in parts.
  std::optional<std::vector<Piece>> weighted(const std::vector<std::int64_t>& weights,
                                             const std::vector<std::vector<Piece>>& operands,
                                             std::uint64_t length, const Node& as);
  struct Run {
    const ir::Stage* stage = nullptr;
    std::uint32_t transition = 0;
    std::vector<std::vector<Piece>> operands;
    std::vector<ir::DType>
        types;  ///< of the tensors that it reads and writes, and of what it reads
  };
  std::vector<Piece> result(const Run& run, std::uint64_t length);

  const Subject& subject_;
  std::uint64_t element_ = 1;  // bytes of the largest element that a postcondition may speak of
  std::vector<Node> nodes_;
  std::vector<Summand> summands_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> sums_;  // hash of summands -> node
  std::vector<std::vector<Piece>> contents_;                    // per segment
};

/// Type of the elements that a postcondition speaks of: its region's, else its terms'.
[[nodiscard]] std::optional<ir::DType> element_type(const ir::Program& program,
                                                    const ir::Postcondition& postcondition);

/// A postcondition with a term that is not entirely given from outside: there is nothing to compare
/// with.
[[nodiscard]] std::optional<std::uint32_t> unfounded_postcondition(const Subject& subject);

/// One thing to show: some bytes of a postcondition's region hold the sum of `expected`.
struct Obligation {
  std::uint32_t postcondition = 0;
  std::uint32_t storage = 0;  ///< of the region
  std::uint64_t low = 0;      ///< in the storage's units
  std::uint64_t high = 0;
  ValueRef value;
  std::vector<Term> expected;                    ///< by (storage, offset), factors added up
  std::optional<ir::DType> type = std::nullopt;  ///< of the elements, if the postcondition says it
};

/// All obligations of all postconditions, in their order, against the final contents of `run`.
/// Pieces with the same value and the same expectation relative to it are listed once.
[[nodiscard]] std::vector<Obligation> obligations(const Subject& subject, const SymbolicRun& run);

}  // namespace spatialcert::proofs::reduction
