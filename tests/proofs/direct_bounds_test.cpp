// How high a semaphore can rise, told from the places between the program that raises it and the
// one that lowers it (ir/direct_bounds.hpp): exact values on small programs, never too low on any.
#include "ir/direct_bounds.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "ir/counter_bounds.hpp"
#include "ir/search/justify.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {
namespace {

ir::Unrolled unrolled(const ir::Program& program, std::uint32_t iterations) {
  return std::get<ir::Unrolled>(ir::unroll(program, iterations));
}

/// A program, its places, and what is said of its semaphores.
class Measured {
 public:
  explicit Measured(const Draft& draft) : Measured(draft.program()) {}
  explicit Measured(ir::Program p)
      : program(std::move(p)), one(unrolled(program, 1)), net(ir::build_net(program, one)) {}
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  [[nodiscard]] std::optional<ir::DirectBound> bound(const std::string& name) const {
    const auto shares = ir::counter_shares(program, one, ir::Counters(program));
    REQUIRE(shares);
    std::vector<ir::CounterId> all;
    for (std::uint32_t s = 0; s < program.semaphores.size(); ++s) all.emplace_back(s);
    return ir::direct_bounds(program, one, net, *shares, all).at(number(name));
  }
  /// The direct bound as text; `none` if there is none.
  [[nodiscard]] std::string direct(const std::string& name) const {
    const auto found = bound(name);
    return found ? std::to_string(found->largest) : "none";
  }
  /// What the rule `bounds` goes by: of all that is known. `loose` if all posts fit.
  [[nodiscard]] std::string known(const std::string& name) const {
    for (const ir::SemaphoreBound& b : ir::semaphore_bounds(program, one, net)) {
      if (b.semaphore.value() != number(name)) continue;
      return b.largest ? std::to_string(*b.largest) : "none";
    }
    return "loose";
  }
  [[nodiscard]] ir::TransitionId op(std::uint32_t engine, std::uint32_t n) const {
    return ir::TransitionId(one.begin[engine] + n);
  }
  [[nodiscard]] std::uint32_t number(const std::string& name) const {
    std::uint32_t n = 0;
    while (program.semaphores.at(n).name != name) ++n;
    return n;
  }

  ir::Program program;
  ir::Unrolled one;
  ir::Net net;
};

/// `s` from load to store, `t` back.
Draft between(int initial_s, int initial_t, Ops load, Ops store, int maximum = 31) {
  Draft d("between two");
  d.semaphore("s", initial_s, maximum).semaphore("t", initial_t, 31);
  d.engine("load", std::move(load)).engine("store", std::move(store));
  return d;
}

TEST_CASE("direct bounds: a post is held back by what its program waited for before") {
  const Measured m(between(0, 0, {"post s 2", "wait t", "post s 2", "post s", "wait t", "post s 4"},
                           {"wait s 2", "post t", "wait s 3", "wait s", "post t", "wait s 3"}));
  REQUIRE(m.net.exact());
  // Before the second wait 5 are posted and 2 known to be taken; then 9, and only 6.
  CHECK(m.direct("s") == "3");
  CHECK(m.bound("s")->post == m.op(0, 3));
  CHECK(m.direct("t") == "1");
}

TEST_CASE("direct bounds: a wait behind the hand-off back is not known to have taken anything") {
  const Measured m(between(0, 0, {"post s", "wait t", "post s"}, {"post t", "wait s", "wait s"}));
  CHECK(m.direct("s") == "2");
}

TEST_CASE("direct bounds: of several hand-offs back the last one that came before counts") {
  const Measured late(between(0, 0, {"post s", "wait t", "post s", "wait t", "post s"},
                              {"wait s", "wait s", "post t", "post t", "wait s"}));
  CHECK(late.direct("s") == "1");
  // The wait that comes last may tell less.
  const Measured less(
      between(2, 0, {"wait u", "wait t", "post s 3"}, {"post t", "wait s 2", "post u", "wait s 3"})
          .semaphore("u"));
  CHECK(less.direct("s") == "3");
}

TEST_CASE("direct bounds: what a semaphore holds at first is part of its value") {
  CHECK(
      Measured(between(3, 0, {"post s", "wait t", "post s"}, {"wait s 2", "post t"})).direct("s") ==
      "4");
  // Never above it: all that is posted was taken before.
  const Measured m(between(3, 0, {"wait t", "post s 2"}, {"wait s 3", "post t"}));
  CHECK(m.direct("s") == "3");
  CHECK_FALSE(m.bound("s")->post.valid());
}

TEST_CASE("direct bounds: a program that takes what it posts knows its own value") {
  const Measured m(
      between(1, 0, {"post s 2", "wait s 3", "post s 4", "wait s 2", "post t"}, {"wait t"}));
  CHECK(m.direct("s") == "4");
  CHECK(m.bound("s")->post == m.op(0, 2));
  Draft d("alone, for ever");
  d.persistent().semaphore("s", 2, 31);
  const Measured again(d.engine("load", {"post s 3", "wait s 2", "post s", "wait s 2"}));
  CHECK(again.direct("s") == "5");
}

TEST_CASE("direct bounds: without a way back all posts may come first") {
  const Measured m(
      between(0, 0, {"post s", "post s", "post s"}, {"wait s", "wait s", "wait s"}, 2));
  CHECK(m.direct("s") == "3");
  CHECK(m.known("s") == "3");
  Draft d("runs ahead");
  d.persistent().semaphore("s", 0, 31).engine("load", {"post s"}).engine("store", {"wait s"});
  const Measured ahead(d);
  CHECK(ahead.direct("s") == "none");
  CHECK(ahead.known("s") == "none");
}

TEST_CASE("direct bounds: a way back through a third program is left to known order") {
  for (const bool persistent : {false, true}) {
    Draft d("through a third");
    if (persistent) d.persistent();
    d.semaphore("s", 0, 1).semaphore("t", 0, 31).semaphore("u", persistent ? 1 : 0, 1);
    const Ops first = persistent ? Ops{"wait u", "post s"} : Ops{"post s", "wait u", "post s"};
    d.engine("load", first).engine("compute", {"wait t", "post u"});
    d.engine("store", persistent ? Ops{"wait s", "post t"} : Ops{"wait s", "post t", "wait s"});
    const Measured m(d);
    REQUIRE(m.net.exact());
    CHECK(m.direct("s") == (persistent ? "none" : "2"));
    CHECK(m.known("s") == "1");
  }
}

TEST_CASE("direct bounds: several that raise or lower are left to known order") {
  Draft d("two of each");
  d.semaphore("s", 0, 31).semaphore("t", 0, 31).semaphore("u", 0, 31);
  d.engine("load", {"post s", "post t"}).engine("compute", {"post s", "wait t"});
  const Measured m(d.engine("store", {"wait s 2", "wait t"}));
  CHECK(m.direct("s") == "none");
  CHECK(m.direct("t") == "none");
  CHECK(m.direct("u") == "none");
  // Both of them are looked for, wherever they stand.
  for (const bool twice : {false, true}) {
    Draft other("the other way round");
    other.semaphore("s", 0, 31).semaphore("t", 0, 31);
    other.engine("load", {"wait s", "wait t"}).engine("compute", {"wait t", "post s"});
    other.engine("store", {"post t 2", twice ? "post s" : "post t"});
    CHECK(Measured(other).direct("s") == (twice ? "none" : "1"));
  }
}

TEST_CASE("direct bounds: several semaphores between the same programs") {
  Draft d("four at once");
  for (const char* name : {"s", "t", "u", "v"}) d.semaphore(name, 0, 1);
  d.engine("load", {"post s", "wait t", "post u", "wait v", "post s", "wait t", "post u"});
  const Measured m(
      d.engine("store", {"wait s", "post t", "wait u", "post v", "wait s", "post t", "wait u"}));
  REQUIRE(m.net.exact());
  for (const char* name : {"s", "t", "u", "v"}) {
    CAPTURE(name);
    CHECK(m.direct(name) == "1");
    CHECK(m.known(name) == (std::string(name) == "v" ? "loose" : "1"));
  }
}

TEST_CASE("direct bounds: the way back of one pair of programs is not that of another") {
  Draft d("three");
  d.persistent().semaphore("s", 0, 31).semaphore("t", 1, 31).semaphore("u", 0, 31);
  d.engine("load", {"wait s", "post t", "wait u"});
  d.engine("compute", {"wait t", "post s"});
  const Measured m(d.engine("store", {"post u"}));
  CHECK(m.direct("s") == "1");
  CHECK(m.direct("u") == "none");
}

Draft credits(int credits, Ops load, Ops store) {
  Draft d("credits");
  d.persistent().semaphore("s", 0, 31).semaphore("t", credits, 31);
  d.engine("load", std::move(load)).engine("store", std::move(store));
  return d;
}

TEST_CASE("direct bounds: credits bound a persistent program") {
  for (const int n : {1, 2, 5, 6, 7}) {
    CAPTURE(n);
    const Measured m(credits(n, {"wait t", "post s"}, {"wait s", "post t"}));
    CHECK(m.direct("s") == std::to_string(n));
    CHECK(m.direct("t") == std::to_string(n));
  }
}

TEST_CASE("direct bounds: unequal rates in a persistent program") {
  const Measured m(
      credits(7, {"wait t 3", "post s 3", "wait t 3", "post s 3"},
              {"wait s 2", "post t 2", "wait s 2", "post t 2", "wait s 2", "post t 2"}));
  REQUIRE(m.net.exact());
  // 6 of 7 credits are spent twice; the third time 9 are needed, so 2 were given back.
  CHECK(m.direct("s") == "7");
  CHECK(m.direct("t") == "7");
}

TEST_CASE("direct bounds: what comes after a post was passed in the iteration before") {
  // The only wait stands behind the post: the store may be one iteration behind.
  const Measured m(credits(0, {"post s 2", "wait t"}, {"wait s 2", "post t"}));
  CHECK(m.direct("s") == "2");
  const Measured more(credits(1, {"post s 2", "wait t"}, {"wait s 2", "post t"}));
  CHECK(more.direct("s") == "4");
  // Two waits: the one before the post tells more, then the one behind it.
  const Measured before(
      credits(2, {"wait u", "post s", "wait t"}, {"wait s", "post t", "post u"}).semaphore("u", 2));
  CHECK(before.direct("s") == "2");
  const Measured both(
      credits(2, {"wait u", "post s", "wait t"}, {"wait s", "post t", "post u"}).semaphore("u", 5));
  CHECK(both.direct("s") == "3");
}

TEST_CASE("direct bounds: a program that gains or loses in every iteration is not bounded") {
  Draft d("gains");
  d.persistent().semaphore("s", 0, 31).semaphore("t", 1, 31);
  d.engine("load", {"wait t", "post s 2"}).engine("store", {"wait s", "post t"});
  CHECK(Measured(d).direct("s") == "none");
  Draft alone("alone");
  alone.persistent().semaphore("s", 0, 31).engine("load", {"post s 2", "wait s"});
  CHECK(Measured(alone).direct("s") == "none");
}

TEST_CASE("direct bounds: pages of a FIFO that may be deeper hold nobody back") {
  for (const bool guaranteed : {false, true}) {
    Draft d("pages");
    d.persistent().semaphore("s", 0, 31);
    d.fifo("q", 2, guaranteed ? R"("depth": "guaranteed")" : "");
    const Measured m(d.engine("load", {"reserve q", "push q", "post s"})
                         .engine("store", {"front q", "wait s", "pop q"}));
    REQUIRE(m.net.exact());
    CHECK(m.direct("s") == (guaranteed ? "none" : "2"));
    CHECK(m.known("s") == (guaranteed ? "none" : "2"));
  }
}

TEST_CASE("direct bounds: a hand-off from a later iteration is not used") {
  // Iteration i of the wait needs iteration i + 1 of the post; in the first iteration what comes
  // after the post of `s` was not passed before.
  Measured m(credits(0, {"post s", "wait t"}, {"wait s", "post t"}));
  REQUIRE(m.net.places.size() == 2);
  for (ir::Place& place : m.net.places) {
    if (place.counter.value() == m.number("t")) place.tokens = -1;
  }
  CHECK(m.direct("s") == "none");
}

TEST_CASE("direct bounds: sums that do not fit bound nothing") {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  for (const std::int64_t posted : {kMany, std::int64_t{1}}) {
    ir::Program p = credits(1, {"wait t", "post s"}, {"wait s", "post t"}).program();
    p.semaphores[1].initial = (std::int64_t{1} << 30) + 1;
    p.programs[0].ops[1].count = posted;
    p.programs[1].ops[0].count = posted;
    const Measured m(std::move(p));
    CHECK(m.direct("s") == (posted == 1 ? std::to_string((std::int64_t{1} << 30) + 1) : "none"));
  }
}

/// The largest value of the semaphore in any schedule; nothing if there are too many.
std::optional<std::int64_t> largest_of_all(const ir::Program& program, std::uint32_t semaphore) {
  const bool persistent = program.execution == ir::Execution::persistent;
  const ir::Unrolled many = unrolled(program, persistent ? 5 : 1);
  const Exploration all(ir::TokenGame(program, many), 20'000);
  if (!all.complete) return std::nullopt;
  std::vector<std::vector<std::int64_t>> sums;
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    sums.push_back({0});
    for (std::uint32_t t = many.begin[p]; t < many.begin[p + 1]; ++t) {
      const ir::Op& op = many.op_of(program, ir::TransitionId(t));
      std::int64_t delta = 0;
      if (op.object == semaphore && op.code == ir::OpCode::post) delta = op.count;
      if (op.object == semaphore && op.code == ir::OpCode::wait) delta = -op.count;
      sums[p].push_back(sums[p].back() + delta);
    }
  }
  std::int64_t largest = program.semaphores[semaphore].initial;
  for (const Front& front : all.states) {
    std::int64_t value = program.semaphores[semaphore].initial;
    for (std::uint32_t p = 0; p < sums.size(); ++p) value += sums[p].at(front.at(p));
    largest = std::max(largest, value);
  }
  return largest;
}

/// Compares what is said of all small programs with what all schedules do.
void compare(bool persistent, std::size_t longest) {
  std::uint64_t bounded = 0, reached = 0, held = 0;
  for (const auto& [s, t] : {std::pair(0, 0), std::pair(1, 0), std::pair(0, 2), std::pair(1, 3)}) {
    for (const Ops& load : sequences({"post s", "wait t", "post s 2"}, longest)) {
      for (const Ops& store : sequences({"wait s", "post t", "wait s 2"}, longest)) {
        if (load.empty() || store.empty()) continue;
        Draft d = between(s, t, load, store);
        if (persistent) d.persistent();
        const Measured m(d);
        if (!m.net.exact()) continue;
        for (const char* name : {"s", "t"}) {
          const auto bound = m.bound(name);
          const auto largest = largest_of_all(m.program, m.number(name));
          if (!bound || !largest) continue;
          CAPTURE(d.json());
          CAPTURE(name);
          CHECK(bound->largest >= *largest);
          ++bounded;
          reached += bound->largest == *largest ? 1 : 0;
          held += *largest < 3 ? 1 : 0;
        }
      }
    }
  }
  CAPTURE(persistent);
  CHECK(bounded > 200);
  CHECK(held > 50);
  CHECK(reached * 10 > bounded * 8);
  MESSAGE(bounded << " bounds, " << reached << " of them reached");
}

TEST_CASE("direct bounds: no schedule passes them") {
  compare(false, 4);
  compare(true, 4);
}

}  // namespace
}  // namespace spatialcert::tests
