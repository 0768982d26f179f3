// What has to be true for a step to be typed as it is, as questions to Z3. Untrusted: the check
// applies the same table of types (proofs/reduction/transfer.hpp) and does without.
//
// A step of a run is an op with typed operands. The question: are there contents of two parts, and
// those of the unsharded model that they are slices, partial sums or copies of, for which what the
// op makes of the parts is not to what it makes of the whole as the type says that comes out? Ops
// that are not linear are functions of which nothing is known. Matrices have one or two rows and
// columns: a sum of two terms shows what a sum of many would. What is stacked is a family of
// contents of their own, of which there is nothing to show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proofs/reduction/type_run.hpp"

namespace spatialcert::smt {
class Query;
struct Session;
}  // namespace spatialcert::smt

namespace spatialcert::proofs::reduction {

/// A step without what does not matter: which parts, dimensions and values, and sizes beyond 2.
struct StepKind {
  struct Content {
    Type::Kind kind = Type::Kind::zero;
    Along along = Along::inside;
    bool stacked = false;
    bool largest = false;
    std::uint8_t rows = 1, cols = 1;
    friend auto operator<=>(const Content&, const Content&) = default;
  };
  ir::OpKind op = ir::OpKind::copy;
  double scale = 1.0;
  bool reduces = false;
  std::vector<Content> operands;
  Content result;
  friend auto operator<=>(const StepKind&, const StepKind&) = default;
};

[[nodiscard]] StepKind kind_of(const Types& types, const StepText& step);
/// Is there anything to show?
[[nodiscard]] bool has_lemma(const StepKind& step);
/// The question: satisfiable if the type is wrong.
void write_lemma(const StepKind& step, smt::Query& query);

/// Sums of integers of these values, and the bits that have to hold them.
struct SumKind {
  std::vector<ir::ValueRange> values;
  unsigned bits = 0;
  friend auto operator<=>(const SumKind&, const SumKind&) = default;
};
/// Satisfiable if the sum may wrap around.
void write_overflow(const SumKind& sum, smt::Query& query);

/// The kinds of steps of a program.
class Lemmas {
 public:
  explicit Lemmas(const Types& types) : types_(types) {}
  void add(const StepText& step);
  /// Asks about all of them. Why they do not hold, or are not decided.
  [[nodiscard]] std::optional<std::string> prove(smt::Session& session) const;

 private:
  [[nodiscard]] std::optional<std::string> prove_sums(smt::Session& session) const;

  const Types& types_;
  std::map<StepKind, std::uint64_t> kinds_;  ///< and how many steps are of them
  std::map<SumKind, std::uint64_t> sums_;
};

}  // namespace spatialcert::proofs::reduction
