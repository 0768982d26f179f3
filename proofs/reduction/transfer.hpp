// What an op makes of contents, as types. Trusted.
//
// Sound in this sense: if every operand is to the operand of the unsharded op as its type says,
// then the result is to the unsharded result as the type says that comes out. For every kind of
// step that a program has, the prover asks Z3 for a counterexample (proofs/reduction/lemmas.hpp).
// Stacked axes and what is inside a part are families of independent contents, one per part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proofs/counterexample.hpp"
#include "proofs/reduction/types.hpp"

namespace spatialcert::proofs::reduction {

/// Of a region as a matrix; 0 x 0 if it has no shape.
struct Shape {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  [[nodiscard]] bool none() const { return rows == 0; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Operand {
  TypeId type = Types::kZero;
  Shape shape;
};

/// An op that no sum over parts goes through.
struct Violation {
  Kind kind = Kind::nonlinear;
  std::uint32_t operand = 0;  ///< that shows it
  std::string what;
};

struct Transferred {
  TypeId type = Types::kZero;
  std::optional<Violation> violation;
};

/// A line's axis in a vector of this shape.
[[nodiscard]] Along oriented(Along along, Shape shape);

/// `what`: the op and its constant; `out`: shape of what is written.
struct OpText {
  ir::OpKind op = ir::OpKind::copy;
  double scale = 1.0;
  friend bool operator==(const OpText&, const OpText&) = default;
};
[[nodiscard]] Transferred transfer(Types& types, const OpText& what,
                                   const std::vector<Operand>& operands, Shape out);

/// Does an all-reduce take it for a term of its sum? What is inside one part, a head's or an
/// expert's own, is one of the sum over all of them.
[[nodiscard]] bool is_term(const Type& type);
/// Of an all-reduce by `op` (`add`, `sum` or `max`), element by element.
[[nodiscard]] Transferred all_reduce(Types& types, ir::OpKind op,
                                     const std::vector<TypeId>& operands);

/// Of a content whose parts have these types.
[[nodiscard]] TypeId blend(Types& types, TypeId a, TypeId b);

/// The type of a matrix of shape `from` whose elements, in their order, are taken as one of shape
/// `to`.
[[nodiscard]] TypeId reshaped(Types& types, TypeId type, Shape from, Shape to);

}  // namespace spatialcert::proofs::reduction
