// `shard`, section by section. Trusted.
//
// The labels of tensors and resident buffers (proofs/shard/labels.hpp) are carried from section to
// section, in the order of the program: one of the schedules that perform round after round, as
// nothing but rendezvous joins sections (proofs/composition/check.hpp). A section does to the
// labels what the program of its class does, so it is looked at once for every class and every
// combination of labels that it finds: of two sections of one class that find the same labels, the
// one leaves what the other leaves.
//
// Premises: those of the division, every rule but `shard` holds of the programs of all classes,
// none of them with loops folded; (a) of the rule (proofs/shard/rule.hpp), of the whole program; a
// segment of a class's program has one label all over, whenever a section begins, and receives
// one result from every run, so that cutting it into smaller ones, as the whole program would,
// changes nothing; the host fills no buffer that is not resident. Then labels are those of the
// whole program, location by location, and (b) and (c) of the rule are looked at as there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proofs/composition/check.hpp"
#include "proofs/shard/labels.hpp"
#include "proofs/shard/rule.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::composition {

/// The labels of what outlives sections, round after round.
class LabelRounds {
 public:
  /// `subjects`: of the programs of the classes, without folded loops, on which all other rules
  /// hold. All three must outlive it.
  LabelRounds(const ir::Program& program, const Division& division,
              const std::vector<Subject>& subjects);
  ~LabelRounds();
  LabelRounds(const LabelRounds&) = delete;
  LabelRounds& operator=(const LabelRounds&) = delete;

  /// Why no round can be looked at, if none can.
  [[nodiscard]] const std::optional<std::string>& obstacle() const { return obstacle_; }
  /// One round of all sections, and what is left to the next. Why it does not hold, if so.
  [[nodiscard]] std::optional<std::string> perform();
  /// Remembers the labels as they are.
  void remember();
  /// Are they as they were?
  [[nodiscard]] bool recurs() const;
  /// To the spine, so far.
  [[nodiscard]] std::uint64_t stores() const { return stores_; }

 private:
  struct Run {
    std::uint64_t high = 0;
    shard::LabelId label = shard::kReplicated;
  };
  using Runs = std::map<std::uint64_t, Run>;  ///< by first location; without gaps
  /// A segment of a class's program that belongs to what outlives sections.
  struct Part {
    std::uint32_t segment = 0;
    std::uint32_t touched = 0;  ///< entry of Class::touched
    Interval where;
  };
  struct Effect {
    std::vector<shard::LabelId> left;  ///< per part
    std::uint64_t stores = 0;
  };
  struct Piece;  ///< a class

  void begin();
  void keep_tensors();
  void list_parts(std::uint32_t number);
  [[nodiscard]] std::optional<std::string> section(std::size_t at);
  [[nodiscard]] const Effect* effect(std::uint32_t number,
                                     const std::vector<shard::LabelId>& found);
  [[nodiscard]] Runs& runs(const Touched& what, std::uint32_t object) {
    return (what.tensor ? tensors_ : buffers_)[object];
  }
  static void assign(Runs& all, const Interval& where, shard::LabelId label);
  void restart();

  const ir::Program& program_;
  const Division& division_;
  shard::Labels labels_;
  std::optional<std::string> obstacle_;
  std::vector<Piece> classes_;
  std::vector<Runs> tensors_, buffers_;  ///< by number in the program; views have none
  std::vector<Intervals> kept_;          ///< per tensor: what a token leaves to the next
  std::vector<Runs> remembered_tensors_, remembered_buffers_;
  std::string leak_;
  std::uint64_t stores_ = 0;
};

/// Does the witness show that nothing leaks? Why not, otherwise; the number of stores looked at.
[[nodiscard]] std::variant<std::uint64_t, std::string> check_labels(
    const ir::Program& program, const Division& division, const std::vector<Subject>& subjects,
    const shard::Witness& witness);

}  // namespace spatialcert::proofs::composition
