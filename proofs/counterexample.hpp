// A counterexample: why a rule does not hold, in a form that can be replayed or recomputed.
//
// One object for every kind; which members are set depends on the kind, as said below. Transitions
// refer to the program unrolled `iterations` times. Printing is elsewhere (certify/report.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/accesses.hpp"
#include "ir/program.hpp"
#include "ir/token_game.hpp"

namespace spatialcert::proofs {

enum class Kind : std::uint8_t {
  cycle,    ///< chain closes a circle; schedules[0] reaches a state in which nobody can step
  starved,  ///< chain ends at a test that nothing can satisfy; schedules[0] reaches the stuck state
  leftover,  ///< counter ends at `value` instead of `limit`; schedules[0] plays to the end
  overflow,  ///< counter passes its maximum: `value` > `limit`; schedules[0] ends just before the
             ///< post
  misuse,  ///< an op outside its window or a region outside its object; schedules[0] ends before it
  race,    ///< accesses[0], accesses[1]; schedules[0] and [1] perform them in either order
  wrong_order,     ///< accesses[0] and then accesses[1], as schedules[0] performs them: against the
                   ///< order of their sections
  undefined_read,  ///< accesses[0] reads `range` that nothing wrote; schedules[0] ends before it
  wrong_producer,  ///< accesses[0] reads what accesses[1] wrote, which is not a declared producer
  overlap,         ///< buffers[0], buffers[1] share byte `value` of their space
  out_of_memory,   ///< buffers[0] ends at `value`, the space has `limit` bytes
  misaligned,      ///< buffers[0] is at `value`, the space wants multiples of `limit`
  wrong_result,    ///< postcondition `index`: `terms` differ; schedules[0] plays to the end
  uncovered,       ///< `note` names what no rule covers
  slip_through,    ///< boundary `index`: schedules[0] performs ops[0], after it, and not ops[1],
                   ///< before it
  interference,    ///< of two sections of one phase, accesses[0] and accesses[1] touch `range`, or
                   ///< ops[0] and ops[1] use `counter`
  leak,  ///< a chip's own data reach the spine. `accesses` are the path, a read and a write per op,
         ///< the last one to `range`; `terms` are chips; schedules[0] ends with that store. Without
         ///< a schedule: accesses[0] is of another chip's tensor, or it and accesses[1] are of one
         ///< tensor from chips that nothing joins
  missing_chip,         ///< the same, through an all-reduce that left chips out
  double_contribution,  ///< the same, through an all-reduce that took a chip's data twice; or, with
                        ///< `ops`, what `note` says
  nonlinear,  ///< ops[0], with which schedules[0] ends, meets the content of `range`, of which the
              ///< types say what `note` says
  mismatch,   ///< the same; or, without a schedule, slices[0] and slices[1] are parts that do not
              ///< belong together (index `value`, or their chips)
  gap  ///< index `value` of the axis of a full tensor is in `limit` parts less than it should be;
       ///< `overlap` with slices: slices[0] and slices[1] both have it, and it is in too many
};
[[nodiscard]] std::string_view to_string(Kind kind);

/// Step of a chain: `waiter` is blocked on `counter`; `supplier` (if valid) is the op that would
/// raise it. The next link's waiter stands at or before that supplier in its engine program.
struct WaitLink {
  ir::TransitionId waiter;
  ir::CounterId counter;
  std::int64_t need = 0;
  std::int64_t have = 0;
  ir::TransitionId supplier;
};

struct AccessRef {
  ir::TransitionId transition;
  std::uint32_t access = 0;  ///< into Program::accesses
};

/// A contribution of `wrong_result`, or a chip: it is contained `found` times instead of `expected`
/// times.
struct TermDifference {
  std::string source;  ///< readable name of the contribution
  std::int64_t found = 0;
  std::int64_t expected = 0;
};

struct LocationRange {
  ir::Storage storage;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// A part of a full tensor.
struct SliceRef {
  std::uint32_t sliced = 0;  ///< into Program::sliced
  std::uint32_t part = 0;
};

struct Counterexample {
  Kind kind = Kind::uncovered;
  std::uint32_t iterations = 1;
  std::vector<WaitLink> chain;
  std::vector<AccessRef> accesses;
  std::vector<ir::TransitionId> ops;
  std::optional<LocationRange> range;
  std::vector<ir::Schedule> schedules;
  /// Guaranteed FIFOs that are deeper than declared, in schedules[1] of a race or schedules[0] of
  /// an overflow: buffer, extra pages.
  std::vector<std::pair<ir::BufferId, std::int64_t>> deeper;
  ir::TransitionId transition;  ///< overflow, misuse: the op
  ir::CounterId counter;
  std::int64_t value = 0;
  std::int64_t limit = 0;
  std::vector<ir::BufferId> buffers;
  std::uint32_t index = 0;
  std::vector<TermDifference> terms;
  std::vector<SliceRef> slices;
  std::string note;
};

/// Replaying: did the counterexample do on the token game (or on the recomputed layout) what it
/// claims?
struct Reproduced {};
struct NotReproduced {
  std::string why;
};
using ReplayResult = std::variant<Reproduced, NotReproduced>;

/// Replays any counterexample against `program`. Trusted; uses neither the net nor Z3. Dynamic
/// kinds are played on the token game, static kinds recomputed.
[[nodiscard]] ReplayResult replay(const ir::Program& program, const Counterexample& counterexample);

}  // namespace spatialcert::proofs
