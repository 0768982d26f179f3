// The rendezvous of a program's closed boundaries: what they were meant to be, and edits that make
// them so. Private to the repairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "certify/repair/propose.hpp"

namespace spatialcert::certify::repair {

/// Semaphores of a rendezvous: of whom it releases, by engine program.
using Releases = std::map<std::uint32_t, std::uint32_t>;

class Rendezvous {
 public:
  Rendezvous(const ir::Program& program, Proposals& out);

  [[nodiscard]] const std::vector<ir::SectionId>& closed() const { return closed_; }
  [[nodiscard]] bool is_closed(ir::SectionId after) const;

  /// What a closed boundary lacks of a rendezvous, in one of two readings of what is left of it:
  /// what is posted is right, and what stands amid a rendezvous belongs before it; or what is
  /// waited for, and behind it. Nothing if it lacks nothing, or cannot be told.
  [[nodiscard]] Edits mended(ir::SectionId after, bool first_reading) const;

  /// A whole rendezvous, with semaphores that are there as far as they can be used. Nothing, and an
  /// obstacle, if the target has no room for it.
  /// `one_of_two`: another one is closed with it.
  [[nodiscard]] Edits closing(ir::SectionId after, bool one_of_two = false) const;

  /// The same rendezvous with releases of its own. Nothing if it shares none with its neighbours.
  [[nodiscard]] Edits recoloured(ir::SectionId after) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  [[nodiscard]] bool around() const { return program_.execution == ir::Execution::persistent; }
  [[nodiscard]] const ir::Site& site(std::uint32_t p) const { return program_.programs[p].site; }
  [[nodiscard]] const ir::Site& place(std::uint32_t semaphore) const;
  [[nodiscard]] const std::vector<ir::Op>& ops(std::uint32_t p, ir::SectionId after) const;

  /// Who posts most.
  void find_root();
  /// What most engine programs post at the root.
  void find_arrival();

  /// What everybody was meant to be released by.
  [[nodiscard]] std::optional<Releases> releases_of(ir::SectionId after, bool trust_posts) const;

  /// Closed boundaries that come next before and after it.
  [[nodiscard]] std::vector<ir::SectionId> neighbours(ir::SectionId after) const;

  /// Releases of another boundary that none of the neighbours uses.
  [[nodiscard]] std::optional<Releases> unused_colour(ir::SectionId after) const;

  /// One semaphore for every site; or, where no other rendezvous lies between this one and its next
  /// time, for every engine program, so that nobody can take a token of the one beside it.
  [[nodiscard]] std::optional<Releases> fresh_releases(std::uint32_t root, bool alone,
                                                       Edits& added) const;

  [[nodiscard]] std::optional<std::uint32_t> declared(const std::string& name, const ir::Site& at,
                                                      const std::vector<std::uint32_t>& posters,
                                                      Edits& added) const;

  /// Edits that make the ops of a boundary those of a rendezvous with these releases.
  /// Ops of others that stand amid them go behind them if that is said, and before them otherwise.
  [[nodiscard]] Edits written(ir::SectionId after, const Releases& releases, Edits edits,
                              bool others_behind = false) const;

  /// Lets the semaphore count so far: one that is there at least, a new one just that.
  [[nodiscard]] bool can_count(std::uint32_t semaphore, std::size_t count, Edits& edits) const;

  [[nodiscard]] bool is_own(const ir::Op& op) const;
  /// Semaphores of rendezvous.
  [[nodiscard]] const std::set<std::uint32_t>& own() const;

  /// Ops that an engine program does at a boundary and that are no part of a rendezvous, of `whole`
  /// ops, go to the sections beside it.
  [[nodiscard]] bool foreign_moved(std::uint32_t p, ir::SectionId after, std::size_t whole,
                                   bool amid_behind, Edits& edits) const;
  [[nodiscard]] std::size_t strays(std::uint32_t p) const;
  /// Sections do not use semaphores of rendezvous.
  void strays_removed(Edits& edits) const;

  const ir::Program& program_;
  Proposals& out_;
  std::vector<std::uint32_t> participants_;
  std::vector<ir::SectionId> closed_;
  std::map<ir::Site, std::vector<std::uint32_t>> of_site_;  ///< participants
  /// What they do at closed boundaries: by the section before it and the engine program.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<ir::Op>> ops_;
  std::uint32_t root_ = kNone;
  std::uint32_t arrival_ = kNone;
  mutable std::optional<std::set<std::uint32_t>> own_;
};

}  // namespace spatialcert::certify::repair
