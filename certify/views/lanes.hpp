// What of a program a page draws for a counterexample: which engine programs, which of their ops,
// and what is marked and joined. Private to the HTML view.
//
// A program may have millions of op instances. What is chosen is bounded, and what matters most is
// chosen first: the ops that the counterexample names, those around them, where the engine programs
// stand in the end, and what the end of a schedule performs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "certify/names.hpp"
#include "certify/views/playback.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify::views {

/// An op that the counterexample names.
struct Mark {
  ir::TransitionId transition;
  std::string label;  ///< `a`, `1`; as the text of the report numbers it
  std::string role;   ///< `waiter`, `supplier`, `access`, `culprit`, `use`
  std::string text;   ///< what it does or misses
};

/// Two marked ops that the counterexample relates.
struct Link {
  ir::TransitionId from;
  ir::TransitionId to;
  std::string role;  ///< `missing`: what never comes; `behind`: stands behind it in one engine
                     ///< program; `conflict`: in each other's way; `flow`: data
  std::string text;
};

struct Scene {
  std::vector<Mark> marks;
  std::vector<Link> links;
  std::vector<ir::ProgramId> lanes;  ///< those involved first
  std::size_t involved = 0;
  std::map<ir::ProgramId, std::set<std::uint32_t>> rows;  ///< transitions, of lanes that have some
  std::size_t lanes_left_out = 0;
};

/// `playbacks`: of the counterexample's schedules.
[[nodiscard]] Scene scene_of(const OpNames& names, const proofs::Counterexample& counterexample,
                             const std::vector<Playback>& playbacks);

}  // namespace spatialcert::certify::views
