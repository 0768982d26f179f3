#include "ir/net.hpp"

#include <algorithm>

#include "ir/counter_events.hpp"
#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

/// Who raises and lowers a counter: the question that decides how its tests are justified.
struct Parties {
  const CounterShare* raiser = nullptr;
  const CounterShare* lowerer = nullptr;
  bool several_raise = false;
  bool several_lower = false;
  std::int64_t gain = 0;  ///< per iteration, over all programs

  explicit Parties(const std::vector<CounterShare>& shares) {
    for (const CounterShare& share : shares) {
      gain += share.net();
      if (share.raises) {
        several_raise |= raiser != nullptr;
        raiser = &share;
      }
      if (share.lowers) {
        several_lower |= lowerer != nullptr;
        lowerer = &share;
      }
    }
  }

  /// Counting decides the tests of `share` if the counter depends on its own program, whose past is
  /// fixed, and on one program that only raises it.
  [[nodiscard]] bool counting_decides(const CounterShare& share) const {
    if (several_raise || several_lower) return false;
    return lowerer == nullptr || lowerer == &share;
  }
};

class Counting {
 public:
  Counting(const Program& program, CountedNet& out)
      : program_(program), counters_(program), out_(out), net_(out.net) {}

  void run() {
    out_.decided.resize(counters_.size());
    for (std::uint32_t c = 0; c < counters_.size(); ++c) counter(c);
  }

 private:
  void counter(std::uint32_t c) {
    const auto& shares = out_.shares[c];
    const Parties parties(shares);
    const CounterId id(c);
    for (const CounterShare& share : shares) {
      for (const CounterEvent& event : share.events) net_.tests += event.need > 0 ? 1 : 0;
    }
    if (program_.execution == Execution::persistent && parties.gain != 0) {
      const std::int64_t raised = parties.raiser == nullptr ? 0 : parties.raiser->net();
      net_.issues.push_back({TestIssue::Kind::unbalanced, {}, id, parties.gain, raised});
      return;
    }
    bool needs_order = false;
    for (const CounterShare& share : shares) {
      out_.decided[c].push_back(parties.counting_decides(share) ? 1 : 0);
      if (!share.tests) continue;
      if (out_.decided[c].back() != 0) {
        count(id, parties, share);
      } else {
        needs_order = true;
      }
    }
    if (needs_order) out_.by_order.push_back(c);
  }

  /// Justification by counting: the test depends on the op that brings the raiser's total to the
  /// demand.
  void count(CounterId id, const Parties& parties, const CounterShare& share) {
    const Counter& counter = counters_[id];
    const bool credit = counter.kind == CounterKind::free &&
                        program_.buffers[counter.object].depth == Depth::guaranteed;
    const bool own_supply = parties.raiser == nullptr || parties.raiser == &share;
    for (std::size_t e = 0; e < share.events.size(); ++e) {
      const CounterEvent& event = share.events[e];
      if (event.need <= 0) continue;
      const std::int64_t demand = event.need - counter.initial - share.prefix[e];
      if (own_supply) {
        if (demand > 0) starve(event, id, demand, 0);
        continue;
      }
      connect(event, id, demand, *parties.raiser, credit);
    }
  }

  void starve(const CounterEvent& event, CounterId id, std::int64_t demand, std::int64_t supply) {
    net_.issues.push_back({TestIssue::Kind::starved, event.transition, id, demand, supply});
  }

  void connect(const CounterEvent& event, CounterId id, std::int64_t demand,
               const CounterShare& raiser, bool credit) {
    const std::int64_t supply = raiser.net();
    std::int64_t iterations_later = 0;
    if (program_.execution == Execution::persistent) {
      if (supply == 0) {
        if (demand > 0) starve(event, id, demand, 0);
        return;
      }
      // Demand counted from the start of the test's own iteration; floor division.
      const std::int64_t units = demand - 1;
      iterations_later = units >= 0 ? units / supply : -((-units + supply - 1) / supply);
      demand -= iterations_later * supply;
      if (iterations_later < -0x7fffffff) return;  // covered by initial tokens for practically ever
    } else if (demand <= 0) {
      return;
    } else if (demand > supply) {
      return starve(event, id, demand, supply);
    }
    if (iterations_later > kMostAhead) {
      net_.issues.push_back(
          {TestIssue::Kind::later_iteration, event.transition, id, demand, supply});
      return;
    }
    const auto at = std::lower_bound(raiser.prefix.begin(), raiser.prefix.end(), demand);
    SPATIALCERT_REQUIRE(at != raiser.prefix.begin() && at != raiser.prefix.end(),
                        "supply meets demand");
    const auto post = static_cast<std::size_t>(at - raiser.prefix.begin()) - 1;
    net_.places.push_back({raiser.events[post].transition, event.transition,
                           static_cast<std::int32_t>(-iterations_later), id, credit});
  }

  const Program& program_;
  Counters counters_;
  CountedNet& out_;
  Net& net_;
};

}  // namespace

CountedNet count_net(const Program& program, const Unrolled& unrolled) {
  SPATIALCERT_REQUIRE(unrolled.iterations == 1, "the net is that of one iteration");
  CountedNet out;
  auto shares = counter_shares(program, unrolled, Counters(program));
  if (!shares) {
    out.net.issues.push_back({TestIssue::Kind::limit, {}, {}, 0, 0});
    return out;
  }
  out.shares = std::move(*shares);
  Counting(program, out).run();
  return out;
}

Adjacency::Adjacency(std::uint32_t transitions, const std::vector<Place>& places, bool with_credit)
    : in_begin_(transitions + 1, 0), out_begin_(transitions + 1, 0) {
  const auto used = [&](const Place& p) { return with_credit || !p.credit; };
  for (const Place& p : places) {
    if (!used(p)) continue;
    ++in_begin_[p.to.value() + 1];
    ++out_begin_[p.from.value() + 1];
  }
  for (std::uint32_t t = 0; t < transitions; ++t) {
    in_begin_[t + 1] += in_begin_[t];
    out_begin_[t + 1] += out_begin_[t];
  }
  in_.resize(in_begin_.back());
  out_.resize(out_begin_.back());
  auto in_at = in_begin_;
  auto out_at = out_begin_;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (!used(places[i])) continue;
    in_[in_at[places[i].to.value()]++] = i;
    out_[out_at[places[i].from.value()]++] = i;
  }
}

std::vector<Place> expand_places(const Net& net, const Unrolled& one, const Unrolled& many,
                                 std::vector<TransitionId>* beyond) {
  std::vector<Place> out;
  out.reserve(net.places.size() * many.iterations);
  const auto at = [&](TransitionId t, std::uint32_t iteration) {
    const std::uint32_t p = one.program[t.value()];
    return TransitionId(many.begin[p] + iteration * one.length(ProgramId(p)) +
                        (t.value() - one.begin[p]));
  };
  for (std::uint32_t i = 0; i < many.iterations; ++i) {
    for (const Place& place : net.places) {
      const std::int64_t from = std::int64_t{i} - place.tokens;
      if (from < 0) continue;
      if (from >= many.iterations) {
        if (beyond != nullptr) beyond->push_back(at(place.to, i));
        continue;
      }
      out.push_back({at(place.from, static_cast<std::uint32_t>(from)), at(place.to, i), 0,
                     place.counter, place.credit});
    }
  }
  return out;
}

std::uint32_t iterations_back(const Net& net, const Unrolled& one) {
  std::vector<std::int32_t> least(one.begin.size() - 1, 0);
  for (const Place& place : net.places) {
    std::int32_t& tokens = least[one.program[place.to.value()]];
    tokens = std::min(tokens, place.tokens);
  }
  std::int64_t back = 0;
  for (const std::int32_t tokens : least) back -= tokens;
  return static_cast<std::uint32_t>(back);
}

}  // namespace spatialcert::ir
