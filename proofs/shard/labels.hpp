// From which chips' own data a content derives. Trusted.
//
// A label is the set of chips whose own data went into a content and were not cleared by an
// all-reduce over every chip, and two subsets of those: the ones that went in twice through an
// all-reduce, and the ones that may have gone into a part of the content only. Equal labels are one
// number, so a content costs four bytes whatever the number of chips. Labels are computed from the
// actual accesses, never from what stages declare.
//
// What a run writes has the labels of all that it reads, joined, index operands included. The parts
// of one operand are *blended* first: as which of them a written element derives from is not known,
// a chip that is in some of them only may be missing from it. An
// `allreduce` stage whose op is `add`, `sum` or `max` and whose operands have one size works
// element by element: so its labels are computed piece by piece, a piece being the most of it in
// which no operand changes its segment. Any other `allreduce` stage is an ordinary run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/accesses.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::proofs::shard {

/// Index into Labels.
using LabelId = std::uint32_t;
/// Derives from no chip's own data, or all-reduced: replicated.
inline constexpr LabelId kReplicated = 0;

/// Sets of chips as bits: bit i is chip `Labels::chips()[i]`.
struct Label {
  std::vector<std::uint64_t> chips;
  std::vector<std::uint64_t> doubled;  ///< a subset of chips
  std::vector<std::uint64_t> partly;   ///< a subset of chips: missing from some of it, perhaps
  bool reduced = false;                ///< passed through an all-reduce that did not clear it
  friend auto operator<=>(const Label&, const Label&) = default;
};

class Labels {
 public:
  explicit Labels(const ir::Program& program);
  Labels(const Labels&) = delete;
  Labels& operator=(const Labels&) = delete;

  /// Chips that own a tensor, or a buffer that the host fills; ascending. No other chip is ever in
  /// a label.
  [[nodiscard]] const std::vector<std::uint32_t>& chips() const { return chips_; }
  /// Position of `chip` in chips(); it must be one of them.
  [[nodiscard]] std::size_t number(std::uint32_t chip) const;

  /// Data of `chip` alone.
  [[nodiscard]] LabelId own(std::uint32_t chip);
  /// Of something that derives from both.
  [[nodiscard]] LabelId join(LabelId a, LabelId b);
  /// Of something whose parts derive from one or the other.
  [[nodiscard]] LabelId blend(LabelId a, LabelId b);
  /// The label of an all-reduce of operands with these labels.
  [[nodiscard]] LabelId reduce(const std::vector<LabelId>& operands);

  [[nodiscard]] const Label& operator[](LabelId id) const { return *labels_[id]; }
  /// Do they have the same chips, partly or not, and both or neither some of them twice? What
  /// becomes of a content depends on nothing else: the rest of a label is for reports.
  [[nodiscard]] bool alike(LabelId a, LabelId b) const;
  [[nodiscard]] bool has(LabelId id, std::size_t chip_number) const;
  [[nodiscard]] bool has_twice(LabelId id, std::size_t chip_number) const;
  [[nodiscard]] bool has_partly(LabelId id, std::size_t chip_number) const;

 private:
  [[nodiscard]] Label empty() const;
  [[nodiscard]] bool everybody(const std::vector<std::uint64_t>& chips) const;
  LabelId intern(Label label);

  std::uint32_t of_target_;
  std::vector<std::uint32_t> chips_;
  std::map<Label, LabelId> index_;
  std::vector<const Label*> labels_;  // into index_, whose nodes stay in place
  std::unordered_map<std::uint64_t, LabelId> joined_, blended_;
};

/// Segments that are read together, and those that receive the result.
struct Part {
  std::vector<std::uint32_t> reads;  ///< operand by operand
  std::vector<std::size_t> ends;     ///< of every operand's, as sizes of what comes up to there
  std::vector<std::uint32_t> writes;
};

/// One run, as the segments that it reads and writes. A segment in the `writes` of several parts
/// receives the blend of their results.
struct Step {
  bool reduces = false;  ///< one read per operand and part, combined by an all-reduce
  std::vector<Part> parts;
  /// Receive the blend of all results: written regions of another size than the operands.
  std::vector<std::uint32_t> mixed;
};

/// The runs of an unrolled program as steps.
class Dataflow {
 public:
  /// All three must outlive it. `accesses` are those of `unrolled`, without limit or faults.
  Dataflow(const ir::Program& program, const ir::Unrolled& unrolled, const ir::AccessMap& accesses);

  /// The step of transition `t`, valid until the next call. No parts if `t` touches nothing.
  [[nodiscard]] const Step& step(std::uint32_t t);
  /// Accesses of `t`: [begin(t), begin(t + 1)) of AccessMap::accesses.
  [[nodiscard]] std::uint32_t begin(std::uint32_t t) const { return begin_[t]; }
  /// Does the segment belong to a tensor without an owner?
  [[nodiscard]] bool spine(std::uint32_t segment) const;
  /// Chip whose own data the segment holds at the start, if it is anybody's.
  [[nodiscard]] std::optional<std::uint32_t> initial_owner(std::uint32_t segment) const;
  [[nodiscard]] const ir::AccessMap& accesses() const { return accesses_; }

 private:
  /// A segment of an operand: its first byte in the operand.
  struct Stretch {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t segment = 0;
  };
  using Operand = std::vector<Stretch>;

  [[nodiscard]] Operand operand(std::uint32_t first, std::uint32_t end) const;
  void ordinary(const std::vector<Operand>& reads, const std::vector<Operand>& writes);
  void element_by_element(const std::vector<Operand>& reads, const std::vector<Operand>& writes);

  const ir::Program& program_;
  const ir::Unrolled& unrolled_;
  const ir::AccessMap& accesses_;
  std::vector<std::uint32_t> begin_;
  Step step_;
};

/// A store of a content that is not replicated to a tensor without an owner.
struct Leak {
  ir::TransitionId transition;
  std::uint32_t segment = 0;
  LabelId label = kReplicated;
};

/// The labels of all contents, as runs are performed.
class LabelRun {
 public:
  LabelRun(const ir::Program& program, const ir::Unrolled& unrolled, const ir::AccessMap& accesses);
  /// From other contents than the initial ones, with labels that others use too and that outlive
  /// it.
  LabelRun(Labels& labels, const ir::Program& program, const ir::Unrolled& unrolled,
           const ir::AccessMap& accesses, std::vector<LabelId> contents);

  /// Performs transition `t`. If it is a store that must not be, its first segment that shows it.
  std::optional<Leak> perform(std::uint32_t t);
  /// The contents of segments that are not marked begin anew.
  void restart(const std::vector<char>& kept);

  [[nodiscard]] const std::vector<LabelId>& contents() const { return contents_; }  ///< per segment
  /// Of the latest run performed: the label of what each of its parts has become.
  [[nodiscard]] const std::vector<LabelId>& results() const { return results_; }
  [[nodiscard]] std::uint64_t stores() const { return stores_; }  ///< to the spine, so far
  [[nodiscard]] Dataflow& dataflow() { return dataflow_; }
  [[nodiscard]] const Labels& labels() const { return labels_; }
  /// Has a segment received different results for different parts of it?
  [[nodiscard]] bool blurred() const { return blurred_; }

 private:
  std::optional<Labels> own_;
  Labels& labels_;
  Dataflow dataflow_;
  std::vector<LabelId> initial_;
  std::vector<LabelId> contents_;
  std::vector<LabelId> results_;  // of the parts of one step
  std::vector<std::uint32_t> written_;
  std::vector<LabelId> operands_;  // of one part
  std::vector<char> fresh_;        // per segment: nothing has been written to it in this step
  std::uint64_t stores_ = 0;
  bool blurred_ = false;
};

/// How a content that reaches the spine with this label is reported: some chip's data twice; an
/// all-reduce that left chips out, of a part of it at least; no all-reduce, or one of contents that
/// had been mixed before.
[[nodiscard]] Kind kind_of(const ir::Program& program, const Labels& labels, LabelId label);

/// Chips of the target, and how often their data are in the content: once is expected. At most
/// `kMostChips` of them, those that are not in it once before the others.
inline constexpr std::size_t kMostChips = 64;
[[nodiscard]] std::vector<TermDifference> contributions(const ir::Program& program,
                                                        const Labels& labels, LabelId label);

}  // namespace spatialcert::proofs::shard
