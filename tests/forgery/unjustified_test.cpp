// Places that a forger gives and that do not hold: the heart of what recheck must find out, because
// every rule rests on the places of the net.
#include <doctest/doctest.h>

#include "ir/search/justify.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/command/child.hpp"
#include "tests/forgery/claims.hpp"
#include "tests/forgery/court.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {
namespace {

using command::test::contains;
using proofs::Denial;

/// An op by engine program and number; programs here have no loops.
struct At {
  std::uint32_t program = 0;
  std::uint32_t op = 0;
};

class Claims {
 public:
  explicit Claims(const Draft& draft)
      : program_(draft.program()), one_(std::get<ir::Unrolled>(ir::unroll(program_))) {}

  Claims& place(At from, At to, std::uint32_t counter, std::int32_t tokens = 0) {
    places_.push_back({at(from), at(to), tokens, ir::CounterId(counter), false});
    return *this;
  }
  [[nodiscard]] proofs::Outcome outcome() const {
    return proofs::recheck(program_, best_claim(program_, places_));
  }
  /// How it was denied, with what is said about it; `valid` if it was not.
  [[nodiscard]] std::string answer() const {
    const proofs::Outcome o = outcome();
    return o.denial ? std::string(to_string(*o.denial)) + ": " + o.detail : "valid";
  }
  [[nodiscard]] std::string untrue(std::uint32_t wraps = kWraps) const {
    return Oracle(program_, wraps).untrue(places_);
  }
  [[nodiscard]] Findings findings() const { return examine(program_); }
  [[nodiscard]] const ir::Program& program() const { return program_; }
  [[nodiscard]] const std::vector<ir::Place>& places() const { return places_; }
  void drop(std::size_t i) { places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(i)); }

 private:
  [[nodiscard]] ir::TransitionId at(At op) const {
    return ir::TransitionId(one_.begin[op.program] + op.op);
  }

  ir::Program program_;
  ir::Unrolled one_;
  std::vector<ir::Place> places_;
};

/// Two boundaries on one site with two engines. `colour`: the release semaphore of the second one.
/// Every place that its ops are meant to have is claimed.
Claims two_boundaries(const std::string& colour) {
  Draft d("two-boundaries");
  d.semaphore("arrived").semaphore("red").semaphore("blue");
  d.engine("load", {"post arrived", "wait arrived 2", "post red 2", "wait red", "post arrived",
                    "wait arrived 2", "post " + colour + " 2", "wait " + colour});
  d.engine("compute", {"post arrived", "wait red", "post arrived", "wait " + colour});
  Claims claims(d);
  const std::uint32_t second = colour == "red" ? 1 : 2;
  claims.place({1, 0}, {0, 1}, 0).place({0, 2}, {1, 1}, 1);
  claims.place({1, 2}, {0, 5}, 0).place({0, 6}, {1, 3}, second);
  return claims;
}

}  // namespace

TEST_CASE("a rendezvous whose release semaphores alternate: its places are justified") {
  const Claims claims = two_boundaries("blue");
  CHECK(claims.answer() == "valid");
  CHECK(claims.untrue().empty());
}

TEST_CASE("one release semaphore for two boundaries: the places it is meant to have are no order") {
  Claims claims = two_boundaries("red");
  CHECK(claims.findings().stuck);
  CHECK_FALSE(claims.untrue().empty());
  CHECK(contains(claims.answer(), "unjustified place: a place into compute at chip 0 (0,0) op 3"));
  claims.drop(3);
  CHECK(contains(claims.answer(), "witness rejected: liveness: inexact test ("));
}

TEST_CASE("no way to claim places makes one release semaphore do for two boundaries") {
  const Claims claims = two_boundaries("red");
  const auto all = conceivable_places(claims.program());
  Oracle oracle(claims.program());
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const auto most = most_places(claims.program(), random, 30);
    CHECK(oracle.untrue(most) == "");
    const auto outcome = proofs::recheck(claims.program(), best_claim(claims.program(), most));
    CHECK(outcome.denial == Denial::rejected);
  }
  CHECK(all.size() >= 20);
}

TEST_CASE("two places that justify each other in a circle") {
  // X, the wait of `load`, can have the token that is there from the start. If both others had
  // taken and returned a token before it, it would need both. Each of the two places is
  // justified once the other is known: by that order the other two have taken their tokens.
  Draft d("circle");
  d.semaphore("s", 1).semaphore("u").semaphore("v");
  d.engine("load", {"wait s"});
  d.engine("compute", {"wait s", "post u", "wait v", "post s"});
  d.engine("store", {"wait s", "post v", "wait u", "post s"});
  Claims both(d), turned(d);
  both.place({1, 3}, {0, 0}, 0).place({2, 3}, {0, 0}, 0);
  turned.place({2, 3}, {0, 0}, 0).place({1, 3}, {0, 0}, 0);
  for (const Claims* claims : {&both, &turned}) {
    CHECK_FALSE(claims->untrue().empty());
    CHECK(contains(claims->answer(), "unjustified place: a place into load at chip 0 (0,0) op 0"));
  }
}

TEST_CASE("two places through two tests, on a cycle") {
  Draft d("cycle");
  d.semaphore("s").semaphore("t");
  d.engine("load", {"wait s", "post t"});
  d.engine("compute", {"wait t", "post s"});
  d.engine("store", {"post s", "post t", "wait s", "wait t"});
  Claims claims(d);
  claims.place({1, 1}, {0, 0}, 0).place({0, 1}, {1, 0}, 1);
  CHECK_FALSE(claims.untrue().empty());
  CHECK(contains(claims.answer(), "unjustified place: a place into "));
}

TEST_CASE("a place that is its own reason: with it known, nothing else could supply the test") {
  // If `post s` of compute came before the wait, so would all that compute does before it, and
  // store, which waits for that, could not have supplied it first. But that was to be shown.
  Draft d("own-reason");
  d.semaphore("s").semaphore("u");
  d.engine("load", {"wait s", "post u"});
  d.engine("compute", {"post s"});
  d.engine("store", {"post s", "wait u", "wait s"});
  Claims claims(d);
  claims.place({1, 0}, {0, 0}, 0);
  CHECK_FALSE(claims.untrue().empty());
  CHECK(contains(claims.answer(), "unjustified place: a place into load"));
}

TEST_CASE("a place from an op after the test in its own engine program") {
  Draft d("later-op");
  d.semaphore("s");
  d.engine("load", {"wait s", "post s", "wait s"});
  d.engine("compute", {"post s"});
  Claims claims(d);
  claims.place({0, 1}, {0, 0}, 0);
  CHECK(contains(claims.answer(), "unjustified place: a place into load at chip 0 (0,0) op 0"));
}

TEST_CASE(
    "a place into a test that counting decides, of a counter of which it does not decide all") {
  Draft d("decided");
  d.semaphore("s", 0, 15, R"("restart": "reset")");
  d.engine("load", {"post s", "post s"});
  d.engine("compute", {"wait s"});
  d.engine("store", {"await s 1"});
  Claims claims(d);
  claims.place({0, 1}, {1, 0}, 0);
  CHECK_FALSE(claims.untrue().empty());
  CHECK(contains(claims.answer(), "unjustified place: a place into compute at chip 0 (0,0) op 0"));
}

TEST_CASE("a place that counting decides is not to be given") {
  Draft d("counted");
  d.semaphore("s").engine("load", {"post s"}).engine("compute", {"wait s"});
  Claims claims(d);
  CHECK(claims.answer() == "valid");
  claims.place({0, 0}, {1, 0}, 0);
  CHECK(claims.untrue().empty());  // it is true, and recomputed; nothing is taken from elsewhere
  CHECK(contains(claims.answer(), "unjustified place: a place into compute at chip 0 (0,0) op 0"));
}

// What holds for the first iterations need not hold for later ones.

TEST_CASE("a place that holds until one program lags behind") {
  Draft d("laggard");
  d.persistent().semaphore("s", 0, 31);
  d.engine("load", {"wait s"});
  d.engine("compute", {"post s 2"});
  d.engine("store", {"wait s"});
  for (const std::int32_t back : {2, 3, 4}) {
    CAPTURE(back);
    Claims claims(d);
    claims.place({1, 0}, {0, 0}, 0, back);
    const auto holds = static_cast<std::uint32_t>(2 * back + 1);
    CHECK(claims.untrue(holds).empty());
    CHECK_FALSE(claims.untrue(holds + 1).empty());
    CHECK(contains(claims.answer(), "unjustified place: a place into load"));
  }
}

TEST_CASE("a test that holds until another program has taken every token") {
  // Two compete, for so many tokens at first that it takes 16 iterations of one to starve the
  // other.
  Draft d("hoard");
  d.persistent().semaphore("s", 15, 31);
  d.engine("load", {"wait s"});
  d.engine("compute", {"post s 2"});
  d.engine("store", {"wait s"});
  CHECK(contains(Claims(d).answer(), "witness rejected: liveness: inexact test (load"));
}

TEST_CASE("a place that holds until one program runs ahead") {
  Draft d("sprinter");
  d.persistent().semaphore("s", 0, 31);
  d.engine("load", {"wait s 2"});
  d.engine("compute", {"post s"});
  d.engine("store", {"post s"});
  Claims claims(d);
  claims.place({1, 0}, {0, 0}, 0, 3);
  CHECK(claims.untrue(7).empty());
  CHECK_FALSE(claims.untrue(8).empty());
  CHECK(contains(claims.answer(), "unjustified place: a place into load"));
}

TEST_CASE("a place that holds until its own program stands between a post and a wait") {
  Draft d("in-between");
  d.persistent().semaphore("s", 0, 31).semaphore("c", 2);
  d.engine("load", {"wait s 5", "post c"});
  d.engine("compute", {"post s 2", "wait s"});
  d.engine("store", {"wait c", "post s 4"});
  Claims claims(d);
  claims.place({1, 0}, {0, 0}, 0, 4);
  CHECK(claims.untrue(6).empty());
  CHECK_FALSE(claims.untrue(7).empty());
  CHECK(contains(claims.answer(), "unjustified place: a place into load"));
}

TEST_CASE("a place that reaches farther back than the first iterations") {
  Draft d("far-back");
  d.persistent().semaphore("s", 0, 31);
  d.engine("load", {"wait s 2"});
  d.engine("compute", {"post s"});
  d.engine("store", {"post s"});
  for (const std::int32_t tokens : {4, 5, 7, 100}) {
    Claims claims(d);
    claims.place({1, 0}, {0, 0}, 0, tokens);
    CHECK(contains(claims.answer(), "unjustified place: a place into load"));
  }
}

TEST_CASE("a given place that names nothing is denied, whatever it names") {
  const ir::Program none = Draft("no-counter")
                               .tensor("x", "external")
                               .tensor("y")
                               .engine("load", {"run a x > y"})
                               .program();
  const ir::Program some = two_boundaries("blue").program();
  constexpr std::uint32_t kIds[] = {0, 1, 11, 12, 1'000'000, 0x7fffffff, 0xfffffffe, 0xffffffff};
  for (const ir::Program* program : {&none, &some}) {
    for (const std::uint32_t from : kIds) {
      for (const std::uint32_t to : kIds) {
        for (const std::uint32_t counter : {2U, 3U, 0xffffffffU}) {
          const ir::Place place{ir::TransitionId(from), ir::TransitionId(to), 0,
                                ir::CounterId(counter), false};
          const auto outcome = proofs::recheck(*program, best_claim(*program, {place}));
          CHECK(outcome.denial == Denial::unjustified);
        }
      }
    }
  }
}

TEST_CASE("tokens and credits of a given place") {
  const Claims claims = two_boundaries("blue");
  for (std::size_t i = 0; i < claims.places().size(); ++i) {
    for (const std::int32_t tokens : {-1, 1, 4, 0x7fffffff, -0x7fffffff - 1}) {
      auto places = claims.places();
      places[i].tokens = tokens;
      const auto outcome = proofs::recheck(claims.program(), best_claim(claims.program(), places));
      CHECK(outcome.denial == Denial::unjustified);
    }
    auto places = claims.places();
    places[i].credit = true;
    const auto outcome = proofs::recheck(claims.program(), best_claim(claims.program(), places));
    CHECK(outcome.denial == Denial::unjustified);
  }
}

}  // namespace spatialcert::tests
