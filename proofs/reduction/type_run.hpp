// The types of all contents, as runs are performed. Trusted.
//
// Follows the actual accesses, never what stages declare. A declared slice holds what it is
// declared to hold: what is stored to it must be of its part. Owned tensors and buffers that the
// host fills and that are no declared slices are *unclear*, and so is what derives from them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proofs/reduction/transfer.hpp"
#include "proofs/shard/labels.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::reduction {

/// A step of a run, as its types and shapes: all that its result depends on.
struct StepText {
  OpText op;
  bool reduces = false;  ///< an all-reduce, element by element
  std::vector<Operand> operands;
  Shape out;
  TypeId result = Types::kZero;
  /// An all-reduce that adds up integers: values of its operands, and bits of its result.
  std::vector<ir::ValueRange> values;
  unsigned bits = 0;
};

struct TypeFault {
  enum class Kind : std::uint8_t {
    violation,  ///< of the rule
    no_room,    ///< an all-reduce whose type may not hold the sum
    unclear     ///< an all-reduce, or a store to the spine, of which nothing can be said
  };
  Kind kind = Kind::violation;
  ir::TransitionId transition;
  std::uint32_t segment = 0;  ///< of the operand that shows it, or that is written
  Violation violation;        ///< `what` is set in any case
};

class TypeRun {
 public:
  using Declared = std::vector<Types::Declared>;  ///< per tensor: the slice that it is

  /// `text`: the program whose regions have the shapes of what is really accessed; `program` with
  /// more trips, or itself. All must outlive the run.
  TypeRun(const ir::Program& program, const ir::Program& text, const ir::Unrolled& unrolled,
          const ir::AccessMap& accesses);
  /// One round, from other contents than the initial ones, with types that others use too; all must
  /// outlive it. `program` itself declares no slices.
  TypeRun(Types& types, const Declared& declared, const ir::Program& program,
          const ir::Unrolled& unrolled, const ir::AccessMap& accesses,
          std::vector<TypeId> contents);

  /// Performs transition `t`.
  std::optional<TypeFault> perform(std::uint32_t t);
  /// The next round begins: contents of segments that are not marked begin anew, and the others
  /// are those that the model keeps. A sentence if chips would keep contents that are not of one
  /// full tensor.
  [[nodiscard]] std::optional<std::string> restart(const std::vector<char>& kept);

  [[nodiscard]] const std::vector<TypeId>& contents() const { return contents_; }  ///< per segment
  /// Of the latest run performed: the types of its results.
  [[nodiscard]] const std::vector<TypeId>& results() const { return results_; }
  [[nodiscard]] Types& types() { return types_; }
  [[nodiscard]] const Types& types() const { return types_; }
  [[nodiscard]] shard::Dataflow& dataflow() { return dataflow_; }
  /// Are they the same but for which contents of the model they are?
  [[nodiscard]] bool alike(TypeId a, TypeId b) const;
  /// From now on, keep the steps of the latest run.
  void keep_steps() { keep_steps_ = true; }
  [[nodiscard]] const std::vector<StepText>& steps() const { return steps_; }
  [[nodiscard]] std::uint64_t obligations() const { return obligations_; }
  /// Has a segment received different results of one step, a term of a sum among them? Its type is
  /// then that of no part of it.
  [[nodiscard]] bool blurred() const { return blurred_; }
  /// What a content is that nothing has been written to, in a tensor that is no slice, or in a
  /// buffer (no `tensor`).
  [[nodiscard]] static TypeId untouched(Types& types, ir::Init init,
                                        const std::optional<std::uint32_t>& tensor,
                                        const ir::Program& program);

 private:
  struct Region {
    std::uint32_t access = 0;  ///< into Program::accesses
    std::vector<std::uint32_t> segments;
  };
  void find_regions(std::uint32_t t);
  [[nodiscard]] const Types::Declared& declared(std::uint32_t tensor) const {
    return declared_ == nullptr ? types_.declared(tensor) : (*declared_)[tensor];
  }
  [[nodiscard]] Shape shape_of(std::uint32_t access) const;
  [[nodiscard]] TypeId initial(std::uint32_t segment);
  /// What a read finds, as a matrix of its region.
  [[nodiscard]] TypeId read(const Region& region);
  [[nodiscard]] TypeId seen_through(std::uint32_t access, TypeId type);
  void write(std::uint32_t t, const Region& region, TypeId result);
  void receive(std::uint32_t segment, TypeId type);
  /// Columns of a buffer's tile; 0 of tensors and where there is none.
  [[nodiscard]] std::uint64_t width_of(const ir::Region& region) const;
  /// How the storage of a region keeps what is written to it.
  [[nodiscard]] TypeId kept_as(std::uint32_t t, const Region& written, TypeId type);
  [[nodiscard]] TypeId as_declared(std::uint32_t t, std::uint32_t segment, std::uint32_t tensor,
                                   TypeId type);
  /// Segments of a declared slice: [first, second).
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> segments_of(std::uint32_t tensor) const;
  [[nodiscard]] std::optional<std::string> rename_slices(std::uint32_t sliced,
                                                         const std::vector<char>& kept,
                                                         std::vector<char>& renamed);
  void ordinary(const OpText& op, std::uint32_t t);
  [[nodiscard]] Transferred result_of(const OpText& op, std::uint32_t t,
                                      std::vector<Operand> operands, Shape out);
  void element_by_element(const OpText& op, std::uint32_t t, const shard::Step& step);
  void fault(TypeFault::Kind kind, std::uint32_t t, std::uint32_t segment, Violation violation);
  /// Does the type of what an all-reduce writes hold the sum of its operands?
  void check_room(std::uint32_t t, std::uint32_t segment, StepText& step);
  [[nodiscard]] std::uint32_t range_of(std::uint32_t access, TypeId type);
  [[nodiscard]] ir::ValueRange values_read(std::uint32_t access, TypeId type);
  [[nodiscard]] std::optional<bool> adds_integers();
  [[nodiscard]] std::optional<ir::DType> dtype_of(std::uint32_t access) const;
  void check_store(std::uint32_t t, const Region& region);
  [[nodiscard]] std::uint32_t base_of(std::uint32_t tensor) const;

  const ir::Program& program_;
  const ir::Program& text_;
  const ir::Unrolled& unrolled_;
  const ir::AccessMap& accesses_;
  shard::Dataflow dataflow_;
  std::optional<Types> own_;
  Types& types_;
  const Declared* declared_ = nullptr;  // those of `types_`, if nothing
  std::vector<TypeId> initial_;
  std::vector<TypeId> contents_;
  std::vector<char> fresh_;  // per segment: nothing has been written to it in this step
  std::vector<Region> reads_, writes_;
  std::vector<TypeId> results_;
  std::vector<StepText> steps_;
  bool keep_steps_ = false;
  std::optional<TypeFault> fault_;
  std::uint64_t obligations_ = 0;
  bool blurred_ = false;
};

}  // namespace spatialcert::proofs::reduction
