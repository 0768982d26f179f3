// How a content relates to the same content of the unsharded model. Trusted.
//
// The program has slices of full tensors (ir::SlicedTensor). A content is
//
//   replicated  the content of the unsharded model, the same for all chips;
//   slice       what part p of a dimension has of it: `axis` says along which axis of the matrix
//   the
//               dimension runs. *Inside*: along none, all of it is of part p;
//   partial     one term of it: the sum (or the largest) over all parts of the dimension is the
//               content, and this one has the terms of `parts`;
//   zero        nothing but zeros, whatever else it is taken for;
//   unclear     something of which no more is known; `value` is the reason.
//
// `value` is which content of the unsharded model: equal numbers are equal contents. Values are
// made of the tensors of the model by ops, so terms of different sums have different values. They
// are those of whole tensors: which elements of it a run touches is left to the section that does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::proofs::reduction {

using TypeId = std::uint32_t;
using ValueId = std::uint32_t;

/// Where the dimension runs. `line`: along a vector that is no matrix, row or column; `unclear`:
/// along some axis, or along parts of both.
enum class Along : std::uint8_t { inside, rows, columns, line, unclear };

/// Bit p: part p.
using Parts = std::vector<std::uint64_t>;

struct Type {
  enum class Kind : std::uint8_t { zero, replicated, slice, partial, unclear };
  Kind kind = Kind::zero;
  Along along = Along::inside;  ///< slice
  bool stacked = false;         ///< slice: entries of different indices are never summed up
  bool largest = false;         ///< partial: the largest of the terms, not their sum
  std::uint32_t dimension = 0;  ///< slice, partial: into Types::dimensions()
  ValueId value = 0;
  /// Of integers that were loaded: what they are declared to be in, into Types::ranges; 0: unknown.
  std::uint32_t range = 0;
  /// Of a slice in a buffer: columns of the tile that it was written as, by which `along` is meant.
  std::uint64_t width = 0;
  Parts parts;  ///< partial: whose terms; slice: one part
  friend auto operator<=>(const Type&, const Type&) = default;
};

struct Dimension {
  std::string_view name;
  std::uint32_t parts = 0;
};

/// Types and values as numbers.
class Types {
 public:
  explicit Types(const ir::Program& program);
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;

  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// Dimension of a sliced tensor.
  [[nodiscard]] std::uint32_t dimension_of(std::uint32_t sliced) const {
    return dimension_of_[sliced];
  }
  /// The slice that a tensor is declared to be: part `part` of sliced tensor `sliced`; nothing if
  /// `sliced` is ~0.
  struct Declared {
    std::uint32_t sliced = 0xffffffffU;
    std::uint32_t part = 0;
    [[nodiscard]] bool is() const { return sliced != 0xffffffffU; }
  };
  [[nodiscard]] const Declared& declared(std::uint32_t tensor) const { return declared_[tensor]; }

  static constexpr TypeId kZero = 0;
  TypeId number(const Type& type);
  [[nodiscard]] const Type& operator[](TypeId id) const { return *types_[id]; }
  TypeId replicated(ValueId value);
  /// What a declared slice holds, as a matrix of its own shape.
  TypeId slice(const Declared& declared, ValueId value);
  TypeId unclear(const std::string& why);
  /// The same with the value of what a location keeps from one round to the next; `storage` and
  /// `low` say which.
  TypeId kept(TypeId id, std::uint64_t storage, std::uint64_t low);
  [[nodiscard]] const std::string& reason(TypeId unclear) const;

  std::uint32_t number_of(const ir::ValueRange& range);
  [[nodiscard]] const ir::ValueRange& range(std::uint32_t number) const { return *ranges_[number]; }
  [[nodiscard]] TypeId with_range(TypeId id, std::uint32_t range);

  [[nodiscard]] Parts part(std::uint32_t dimension, std::uint32_t p) const;
  [[nodiscard]] bool all_parts(std::uint32_t dimension, const Parts& parts) const;

  static constexpr ValueId kNothing = 0;
  ValueId tensor_value(std::uint32_t tensor);
  ValueId full_value(std::uint32_t sliced);
  /// What an op makes of values. `how`: whatever else decides it.
  ValueId value_of(ir::OpKind op, std::uint64_t how, const std::vector<ValueId>& operands);
  /// Of a content whose parts have these.
  ValueId blend(ValueId a, ValueId b);
  /// Stands for any value. What is equal for such ones is equal whatever they stand for.
  ValueId any(std::uint32_t number);
  /// All that values are made of, themselves included, operands first.
  [[nodiscard]] std::vector<ValueId> terms_of(const std::vector<ValueId>& values) const;
  /// `terms`, with the values that `any` stands for.
  [[nodiscard]] std::vector<ValueId> instances(const std::vector<ValueId>& terms,
                                               const std::vector<ValueId>& stands_for);

 private:
  ValueId intern(std::vector<std::uint64_t> description);
  /// Those of its description, up to the description's end.
  [[nodiscard]] const std::uint64_t* operands(ValueId value) const;

  const ir::Program& program_;
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> dimension_of_;
  std::vector<Declared> declared_;
  std::map<Type, TypeId> index_;
  std::vector<const Type*> types_;  // into index_, whose nodes stay in place
  std::map<std::vector<std::uint64_t>, ValueId> values_;
  std::vector<const std::vector<std::uint64_t>*> descriptions_;
  std::map<ir::ValueRange, std::uint32_t> range_index_;
  std::vector<const ir::ValueRange*> ranges_{nullptr};
  std::map<std::string, std::uint32_t> reason_index_;
  std::vector<const std::string*> reasons_;
};

/// "part 0 of heads", "a partial sum of parts 0 and 2 of ffn", "replicated".
[[nodiscard]] std::string describe(const Types& types, TypeId type);

}  // namespace spatialcert::proofs::reduction
