// One op on typed operands: what all kinds of ops need. Private to the table of types. Trusted.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proofs/reduction/transfer.hpp"

namespace spatialcert::proofs::reduction {

using TypeKind = Type::Kind;

/// Which axes a reduction goes over.
inline constexpr std::uint64_t kRows = 1, kColumns = 2, kBoth = 3, kNeither = 4, kUnknown = 5;

inline bool is(const Type& type, TypeKind kind) { return type.kind == kind; }
[[nodiscard]] bool same_slice(const Type& a, const Type& b);

/// The op, its operands as they lie, and the ways to answer.
class OpStep {
 protected:
  OpStep(Types& types, const OpText& what, const std::vector<Operand>& operands, Shape out);

  [[nodiscard]] const Type& type(const Operand& operand) const { return types_[operand.type]; }
  [[nodiscard]] std::string text(std::size_t operand) const {
    return describe(types_, operands_[operand].type);
  }
  [[nodiscard]] std::string_view name() const { return ir::to_string(what_.op); }

  /// What the op makes of the values of its operands.
  ValueId value_of_all(const std::vector<ValueId>& values);

  Transferred violated(Kind kind, std::size_t operand, std::string what) const {
    return {Types::kZero, Violation{kind, static_cast<std::uint32_t>(operand), std::move(what)}};
  }
  Transferred unclear(const std::string& why) { return {types_.unclear(why), std::nullopt}; }
  Transferred of(Type result) {
    if (is(result, TypeKind::zero)) result = Type{};
    if (!is(result, TypeKind::zero)) result.value = value_;
    return {types_.number(result), std::nullopt};
  }
  Transferred replicated() { return {types_.replicated(value_), std::nullopt}; }
  Transferred slice(const Type& like, Along along, bool stacked) {
    Type result = like;
    result.along = along;
    result.stacked = stacked;
    return of(result);
  }

  /// The first operand that is partial.
  [[nodiscard]] std::optional<std::size_t> partial() const;
  Transferred nonlinear(std::size_t operand) const {
    return violated(Kind::nonlinear, operand,
                    fmt::format("{} of {}, before its all-reduce", name(), text(operand)));
  }
  Transferred mismatched(std::size_t a, std::size_t b) const {
    return violated(Kind::mismatch, b,
                    fmt::format("{} joins {} with {}", name(), text(a), text(b)));
  }

  /// An operand's axis in the result, over whose rows or columns it may be spread.
  [[nodiscard]] Along spread(const Operand& operand) const;
  /// Of the first operand: one of kRows to kUnknown.
  [[nodiscard]] std::uint64_t reduced_axes() const;
  /// Element by element over operands none of which is partial.
  Transferred elementwise();
  /// The same for a product, of which one factor may be partial.
  Transferred product();
  /// A sum over the indices of one part. With one part there is nothing to add to it.
  Transferred term_of(const Type& like, bool largest);

  Types& types_;
  const OpText& what_;
  std::vector<Operand> operands_;
  Shape out_;
  ValueId value_ = 0;
};

/// `matmul`, `gather`, `conv1d` and `gated-delta`; no operand is unclear.
[[nodiscard]] Transferred matrix_op(Types& types, const OpText& what,
                                    const std::vector<Operand>& operands, Shape out);

}  // namespace spatialcert::proofs::reduction
