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
#include <optional>
#include <string>
#include <vector>

#include "proofs/composition/carried.hpp"
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
  struct Effect {
    std::vector<shard::LabelId> left;  ///< per part that is written
    std::uint64_t stores = 0;
  };
  using Effects = std::map<Begin, Effect>;

  [[nodiscard]] shard::LabelId first_label(std::uint32_t tensor);
  void fill_buffers();
  [[nodiscard]] std::optional<std::string> section(std::size_t at);
  [[nodiscard]] const Effect* effect(std::uint32_t number, const Begin& begin);
  void restart();

  const ir::Program& program_;
  const Division& division_;
  shard::Labels labels_;
  std::optional<std::string> obstacle_;
  std::vector<Piece> pieces_;
  std::vector<Effects> effects_;  ///< per class
  Carried carried_;
  std::vector<Intervals> kept_;
  std::optional<Carried> remembered_;
  std::string leak_;
  std::uint64_t stores_ = 0;
};

/// Does the witness show that nothing leaks? Why not, otherwise; the number of stores looked at.
[[nodiscard]] std::variant<std::uint64_t, std::string> check_labels(
    const ir::Program& program, const Division& division, const std::vector<Subject>& subjects,
    const shard::Witness& witness);

}  // namespace spatialcert::proofs::composition
