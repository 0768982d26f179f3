// The oracle's verdict on a small program: everything that some schedule can do wrong
// (DESIGN 13.12).
//
// A `once` program is played to its end, a `persistent` one over a number of wraps. Programs with
// FIFOs of guaranteed depth are played twice: with the declared depth, and with one that never
// blocks, because only what holds at every depth counts as ordered (13.3).
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "ir/token_game.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/oracle/memory_model.hpp"

namespace spatialcert::tests {

inline constexpr std::uint32_t kWraps = 3;

/// The smaller one first.
using Race = std::pair<AccessInstance, AccessInstance>;

struct Findings {
  bool complete = false;  ///< false: too many states, nothing else means anything
  std::uint64_t states = 0;
  bool in_class = false;  ///< each test draws on the same posts in every schedule
  std::string why_not;    ///< a test that does not

  bool stuck = false;
  bool unbalanced = false;  ///< persistent: a counter gains or loses in every wrap
  bool overflow = false;
  bool misuse = false;  ///< outside a window, or a region outside its object
  bool leftover = false;
  bool layout = false;  ///< buffers share bytes, leave their space or are misaligned
  std::set<Race> races;
  /// Of what was never written, or (seen in one schedule) of what has not outlived the wrap-around.
  std::set<AccessInstance> undefined_reads;
  /// Reads that see what a stage wrote that no edge declares as producer, in one schedule; empty
  /// unless that schedule decides all. Only where edges are declared for the buffer and the reading
  /// stage.
  std::set<AccessInstance> wrong_producers;
  /// Postconditions that do not hold at the end of one schedule; empty unless that schedule decides
  /// all.
  std::set<std::uint32_t> wrong_results;
  /// Conflicting accesses, the first of which some schedule performs before the second, against the
  /// order of their sections. (first, second), not sorted.
  std::set<Race> wrong_orders;
  std::set<std::uint32_t> slips;  ///< closed boundaries that some schedule slips through
  bool interference = false;      ///< sections of one phase share what one of them changes
  bool unknown_result =
      false;  ///< an output is no sum of initial contents: neither right nor wrong

  [[nodiscard]] bool fails() const {
    return stuck || unbalanced || overflow || misuse || leftover || layout || !races.empty() ||
           !undefined_reads.empty() || !wrong_producers.empty() || !wrong_results.empty() ||
           !wrong_orders.empty() || !slips.empty() || interference;
  }
  [[nodiscard]] std::string text() const;
};

/// `program` is validated, has at most kMostPrograms engine programs and is small.
[[nodiscard]] Findings examine(const ir::Program& program, std::uint32_t wraps = kWraps,
                               std::uint64_t state_limit = 200'000);

/// The games to explore: the declared depth, and (if some FIFO's depth is only guaranteed) one that
/// never blocks.
[[nodiscard]] std::vector<ir::TokenGame> games_to_explore(const ir::Program& program,
                                                          const ir::Unrolled& unrolled);

}  // namespace spatialcert::tests
