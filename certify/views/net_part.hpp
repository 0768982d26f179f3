// The part of a program's net that a view shows. Private to the reports.
//
// Nodes are the op instances of one iteration; those of a counterexample over several iterations
// stand for the same op of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "certify/names.hpp"
#include "certify/views/marks.hpp"
#include "certify/views/view.hpp"
#include "ir/net.hpp"

namespace spatialcert::certify::views {

struct NetPart {
  ir::Net net;
  std::vector<std::uint32_t> shown;   ///< transitions of one iteration, ascending
  std::vector<std::uint32_t> places;  ///< of `net`, both ends of which are shown
  std::uint64_t transitions = 0;      ///< there are, of one iteration
  std::vector<std::string> notes;     ///< what was left out, a sentence each
};

/// Op instances up to two steps away from `marks`, as far as `options` go; of the whole net, or
/// where nothing is marked, the first ones of every engine program. `one` names one iteration;
/// `marks` are of the unrolling that `names` has.
[[nodiscard]] NetPart net_part(const OpNames& one, const OpNames& names,
                               const std::vector<Mark>& marks, const Options& options);

/// The op instance of one iteration that is the same op as `t`.
[[nodiscard]] std::uint32_t in_one_iteration(const OpNames& one, const OpNames& names,
                                             ir::TransitionId t);

/// `fetched`, `fetched, 2 tokens`, `kv (a deeper fifo does not wait)`.
[[nodiscard]] std::string place_text(const OpNames& one, const ir::Place& place);

/// Can the counterexample's transitions be named at all? Those of memory and slices may be of a
/// program that is too large to be unrolled.
[[nodiscard]] bool can_unroll(const ir::Program& program,
                              const proofs::Counterexample& counterexample);

}  // namespace spatialcert::certify::views
