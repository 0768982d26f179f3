// The types of `reduction`, section by section. Trusted.
//
// The types of tensors and resident buffers (proofs/reduction/types.hpp) are carried from section
// to section, in the order of the program, as labels are (proofs/composition/labels.hpp). A section
// does to types what the program of its class does, if its tensors are parts of full tensors in the
// same way. So one is looked at for every class, way of being cut, and combination of types that
// are found, with contents of the model that may be any: values are numbered as they are found, and
// what was found to hold of any values is then said of those that are really there. Values that are
// equal whatever they are made of are equal; that others differ is nothing that a type relies on.
//
// Premises: those of the division, every rule but `shard` and `reduction` holds of the programs of
// all classes, none of them with loops folded; the program has no postconditions. A segment of a
// class's program may begin with contents of several types, but then not with terms of sums, so
// that no all-reduce meets terms whose places are not told apart; nor does a run leave such a term
// in a part of a segment. Types say less then than they would of the whole program, and nothing
// else. Otherwise rounds, and what must not be found in them, are those of the rule
// (proofs/reduction/rule.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "proofs/composition/carried.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/reduction/type_run.hpp"

namespace spatialcert::proofs::composition {

/// The types of what outlives sections, round after round.
class TypeRounds {
 public:
  /// As for LabelRounds.
  TypeRounds(const ir::Program& program, const Division& division,
             const std::vector<Subject>& subjects);

  /// Why no round can be looked at, if none can.
  [[nodiscard]] const std::optional<std::string>& obstacle() const { return obstacle_; }
  /// One round of all sections, and what is left to the next. Why it does not hold, if so.
  [[nodiscard]] std::optional<std::string> perform();
  /// Remembers the types as they are.
  void remember() { remembered_ = carried_; }
  /// Are they as they were?
  [[nodiscard]] bool recurs() const;
  /// Things looked at so far.
  [[nodiscard]] std::uint64_t obligations() const { return obligations_; }

  [[nodiscard]] reduction::Types& types() { return types_; }
  /// `see` is shown every kind of step, once or more.
  void watch(std::function<void(const reduction::StepText&)> see) { see_ = std::move(see); }

 private:
  using TypeId = reduction::TypeId;
  using ValueId = reduction::ValueId;
  /// What one looking at a class has found.
  struct Effect {
    std::vector<TypeId> left;  ///< per part that is written, with values of what is found
    std::vector<ValueId> terms;
    std::uint64_t obligations = 0;
  };

  [[nodiscard]] TypeId first_type(std::uint32_t tensor);
  void fill();
  void number_cuts();
  [[nodiscard]] bool find(std::size_t at);
  [[nodiscard]] TypeId of_any_value(TypeId type);
  [[nodiscard]] std::optional<std::string> section(std::size_t at);
  [[nodiscard]] const Effect* effect(std::size_t at);
  void leave(std::size_t at, const Effect& effect);
  [[nodiscard]] std::optional<std::string> restart();
  [[nodiscard]] std::optional<std::string> rename_slices(std::uint32_t sliced);
  void renew_rest(std::uint32_t tensor);

  const ir::Program& program_;
  const Division& division_;
  reduction::Types types_;
  std::optional<std::string> obstacle_;
  std::vector<Piece> pieces_;
  /// Per class, by how its tensors are cut and then what parts begin with.
  std::vector<std::map<Begin, Effect>> effects_;
  std::vector<std::uint32_t> cut_;  ///< per tensor: equal ones are cut alike
  Carried carried_;
  std::vector<Runs> first_;  ///< per tensor: as the program starts
  std::vector<Intervals> kept_;
  std::vector<Runs> renamed_;  ///< per tensor: where contents have been named anew, as 1
  std::optional<Carried> remembered_;
  // What the section at hand finds: values are numbered as they occur.
  Begin begin_;
  std::vector<ValueId> values_;
  std::unordered_map<ValueId, std::uint32_t> number_of_value_;
  std::unordered_map<TypeId, TypeId> of_any_value_;
  std::string fault_;
  std::function<void(const reduction::StepText&)> see_;
  std::uint64_t obligations_ = 0;
};

/// Does the witness show that no run is at fault? Why not, otherwise; how many things were looked
/// at.
[[nodiscard]] std::variant<std::uint64_t, std::string> check_types(
    const ir::Program& program, const Division& division, const std::vector<Subject>& subjects,
    const reduction::Typing& witness);

}  // namespace spatialcert::proofs::composition
