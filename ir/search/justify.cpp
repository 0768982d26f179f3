#include "ir/search/justify.hpp"

#include <algorithm>

#include "ir/known_order.hpp"
#include "ir/search/order_justifier.hpp"
#include "ir/search/periodic_justifier.hpp"

namespace spatialcert::ir {
namespace {

/// Leaves out the places into tests that the check refuses: it would take none of the others. The
/// search goes through the tests of an iteration in turns, the check through the places into one
/// test, so in programs that get stuck it may find more than the check can follow.
void keep_what_is_taken(const Program& program, const Unrolled& one, const CountedNet& counted,
                        std::vector<Place>& places) {
  constexpr int kMostRounds = 8;
  for (int round = 0; !places.empty(); ++round) {
    if (round == kMostRounds) return places.clear();
    const std::size_t before = places.size();
    for (const TestIssue& issue : check_net(program, one, counted, places).issues) {
      if (issue.kind != TestIssue::Kind::unjustified) continue;
      std::erase_if(places, [&](const Place& p) { return p.to == issue.transition; });
    }
    if (places.size() == before) return;
  }
}

}  // namespace

Justification justify(const Program& program, const Unrolled& one) {
  const CountedNet counted = count_net(program, one);
  Justification found;
  if (counted.by_order.empty()) return found;
  const Counters counters(program);
  std::vector<Place> known;
  for (const Place& place : counted.net.places) {
    if (!place.credit) known.push_back(place);
  }
  if (program.execution == Execution::persistent) {
    Net net;
    justify_periodically({program, one, counters, counted.shares, counted.by_order, counted.decided,
                          known, kKnownBytes},
                         net);
    keep_what_is_taken(program, one, counted, net.places);
    return {std::move(net.places), std::move(net.issues)};
  }
  const Window window{&one, &counted.shares, &counted.shares, &counters, &counted.decided, false,
                      false};
  if (OrderJustifier::clock_bytes(window, counted.by_order) > kKnownBytes) return found;
  OrderJustifier justifier(window, counted.by_order, known);
  justifier.run(0, 1);
  found.places = justifier.found();
  keep_what_is_taken(program, one, counted, found.places);
  found.issues = justifier.issues();
  return found;
}

void explain(Net& net, const std::vector<TestIssue>& searched) {
  for (TestIssue& issue : net.issues) {
    const auto same = std::find_if(searched.begin(), searched.end(), [&](const TestIssue& s) {
      return s.transition == issue.transition;
    });
    if (issue.kind == TestIssue::Kind::inexact && same != searched.end()) issue = *same;
  }
}

Net build_net(const Program& program, const Unrolled& one) {
  const Justification found = justify(program, one);
  Net net = check_net(program, one, count_net(program, one), found.places);
  explain(net, found.issues);
  return net;
}

}  // namespace spatialcert::ir
