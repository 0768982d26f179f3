// The checks of a description, one after the other. Each throws the ir::Refusal of the first thing
// that is wrong.
#pragma once

#include <string>
#include <utility>

#include "compose/sections/section.hpp"

namespace spatialcert::compose::sections {

class Checker {
 public:
  explicit Checker(const SectionDescription& description) : about_(description) {
    section_.description = &description;
  }

  Section run();

 private:
  // check.cpp: the description, whatever it computes; check_tensors.cpp: its tensors
  [[noreturn]] void refuse(const std::string& where, std::string expected, std::string found) const;
  void check_target() const;
  void check_sites() const;
  void check_tiles() const;
  void check_tensors() const;
  void check_storage(const SectionTensor& t) const;
  /// The tensors that are used in the order in which they are declared.
  void put_in_order();
  /// Number of the tensor of that name among those that are used.
  std::uint32_t use(const std::string& name);
  void expect_shape(const SectionTensor& t, std::uint64_t rows, std::uint64_t cols) const;
  void expect_type(const SectionTensor& t, ir::DType type) const;
  /// A type that the elementwise datapath computes in.
  void expect_computed(const SectionTensor& t);
  /// That, or what real numbers are summed up in.
  void expect_sums(const SectionTensor& t);
  void expect_integer(const SectionTensor& t) const;
  /// Rows and columns of the scales divide those of the values; tiles do not cut blocks.
  void expect_blocks(const SectionTensor& values, const SectionTensor& scales,
                     std::uint64_t tile_rows, std::uint64_t tile_cols);
  void expect_real(const SectionTensor& t, ir::OpKind op) const;
  void expect_other(const SectionTensor& result, const std::string& operand) const;
  void check_split() const;
  /// Bases of the views that are used, and what is read and written through them.
  void add_bases();
  void check_views() const;
  [[nodiscard]] const SectionTensor* declared(const std::string& name) const;
  static std::string place(const std::string& tensor) { return ".tensors[\"" + tensor + "\"]"; }
  /// The tensor of that name, which the work reads (writes).
  SectionTensor reads(const std::string& name) {
    const std::uint32_t t = use(name);
    section_.read[t] = 1;
    return section_.tensors[t];
  }
  SectionTensor writes(const std::string& name) {
    const std::uint32_t t = use(name);
    section_.written[t] = 1;
    return section_.tensors[t];
  }

  // check_work.cpp: each kind of work
  void check(const Matmul& work);
  void check_factors(const Matmul& work, const SectionTensor& a, const SectionTensor& b,
                     const SectionTensor& result) const;
  /// The type of a tensor in an expression: the result's, narrower integers too, or any.
  enum class Takes : std::uint8_t { same, narrower, anything };
  /// Rows and columns of the value of an expression.
  std::pair<std::uint64_t, std::uint64_t> shape(const Expression& e, const SectionTensor& result,
                                                Takes takes = Takes::same);
  void check_op(const Expression& e, const SectionTensor& result) const;
  void check(const Elementwise& work);
  void check(const RowReduction& work);
  void check_rows(const SectionTensor& x, const SectionTensor& result, ir::OpKind op);
  void check(const Softmax& work);
  void check(const RmsNorm& work);
  void check(const Rope& work);
  void check(const GatherRows& work);
  void check(const AppendRows& work);
  void check(const AppendColumn& work);
  void check(const ShiftRows& work);
  void check(const RepeatRows& work);
  void check(const Conv1d& work);
  void check(const TopK& work);
  void check(const Rescale& work);
  void check(const DeltaUpdate& work);
  void check(const Copy& work);

  const SectionDescription& about_;
  Section section_;
};

[[nodiscard]] constexpr bool is_integer(ir::DType type) { return type <= ir::DType::i64; }

/// `2 x 3`.
[[nodiscard]] std::string shape_text(const SectionTensor& t);

}  // namespace spatialcert::compose::sections
