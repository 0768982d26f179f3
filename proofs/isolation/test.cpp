#include <doctest/doctest.h>

#include "proofs/counterexample.hpp"
#include "proofs/isolation/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/sections.hpp"

namespace spatialcert::proofs::isolation {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Ops = std::vector<std::string>;
using Reason = Rejected::Reason;

/// Both sides must agree, and what is refuted must be recomputed. `interference` or `accepted`.
std::string judged(const Draft& draft) {
  Fixture f(draft);
  const auto search = prove(f.subject, f.session);
  const std::string checked = outcome(check(f.subject, Witness{}));
  const auto* found = std::get_if<Refuted>(&search);
  if (found == nullptr) {
    CHECK(outcome(search) == "proved");
    CHECK(checked == "accepted");
    return checked;
  }
  CHECK(checked == rejected(Reason::interference));
  CHECK(std::holds_alternative<Reproduced>(replay(f.program, found->counterexample)));
  return std::string(to_string(found->counterexample.kind));
}

Draft objects(const char* name) {
  Draft d(name);
  d.tensor("x", "external").tensor("y", "external").buffer("b", R"("lifetime": "resident")");
  return d.semaphore("s").semaphore("t").fifo("f", 2);
}

/// Two sections, on two engines, with nothing in between or a boundary that both take part in.
std::string two(const Ops& first, const Ops& second, bool closed = false) {
  Draft d = objects("two sections");
  const Ops meet = closed ? Ops{"post t 2", "wait t"} : Ops{},
            other = closed ? Ops{"wait t"} : Ops{};
  return judged(in_sections(d, {{"load", {first, meet, {}}}, {"store", {{}, other, second}}}));
}

TEST_CASE("isolation: locations") {
  CHECK(two({"run s0_a x"}, {"run s1_a x"}) == "accepted");
  CHECK(two({"run s0_a x"}, {"run s1_a > x"}) == "interference");
  CHECK(two({"run s0_a > x"}, {"run s1_a x"}) == "interference");
  CHECK(two({"run s0_a > x"}, {"run s1_a > x"}) == "interference");
  CHECK(two({"run s0_a > x"}, {"run s1_a > y"}) == "accepted");
  CHECK(two({"run s0_a > x[0:2]"}, {"run s1_a > x[2:4]"}) == "accepted");
  CHECK(two({"run s0_a > x[0:3]"}, {"run s1_a x[2:4]"}) == "interference");
  CHECK(two({"run s0_a > b"}, {"run s1_a b"}) == "interference");
  CHECK(two({"run s0_a > b[0:8]"}, {"run s1_a b[8:16]"}) == "accepted");
  // Two readers, and only then one of them writes.
  CHECK(two({"run s0_a x", "run s0_b > x"}, {"run s1_a x"}) == "interference");
  CHECK(two({"run s0_a x"}, {"run s1_a x", "run s1_b > x"}) == "interference");
  CHECK(two({"run s0_a x", "run s0_b > x", "run s0_c x"}, {"run s1_a y"}) == "accepted");
}

TEST_CASE("isolation: a closed boundary makes two phases") {
  CHECK(two({"run s0_a > x"}, {"run s1_a x"}, true) == "accepted");
  CHECK(two({"post s"}, {"wait s"}, true) == "accepted");
  // The boundary's own semaphore is nobody else's, before it and after it.
  CHECK(two({"post t"}, {"wait t"}, true) == "interference");
  CHECK(two({}, {"wait t", "post t"}, true) == "interference");
}

TEST_CASE("isolation: counters") {
  CHECK(two({"post s"}, {"wait s"}) == "interference");
  CHECK(two({"post s"}, {"post t", "wait t"}) == "accepted");
  CHECK(two({"reserve f", "push f"}, {"front f", "pop f"}) == "interference");
  Draft d("awaited");
  d.tensor("x", "external").semaphore("g", 1, 1, R"("restart": "reset")");
  CHECK(judged(in_sections(d, {{"load", {{"await g 1"}, {}, {}}},
                               {"store", {{}, {}, {"await g 1"}}}})) == "accepted");
}

TEST_CASE("isolation: links make sections of one phase a unit") {
  const auto linked = [](const char* links, const Ops& last) {
    Draft d = objects("linked");
    in_sections(d, {{"load", {{"run s0_a > x", "post s"}, {}, {}, {}, {}}},
                    {"compute", {{}, {}, {"wait s", "run s1_a x"}, {}, {}}},
                    {"store", {{}, {}, {}, {}, last}}});
    return judged(d.member("links", links));
  };
  CHECK(linked("[]", {"run s2_a y"}) == "interference");
  CHECK(linked(R"([{"semaphore": "s"}])", {"run s2_a y"}) == "accepted");
  // The third section is no part of it.
  CHECK(linked(R"([{"semaphore": "s"}])", {"run s2_a x"}) == "interference");
  CHECK(linked(R"([{"semaphore": "t"}])", {"run s2_a y"}) == "interference");
  Draft d = objects("a chain of links");
  in_sections(d, {{"load", {{"run s0_a > x", "post s"}, {}, {}, {}, {}}},
                  {"compute", {{}, {}, {"wait s", "post t"}, {}, {}}},
                  {"store", {{}, {}, {}, {}, {"wait t", "run s2_a x"}}}});
  CHECK(judged(d.member("links", R"([{"semaphore": "s"}, {"semaphore": "t"}])")) == "accepted");
  Draft f = objects("a linked FIFO");
  in_sections(f, {{"load", {{"reserve f", "run s0_a x > f", "push f"}, {}, {}}},
                  {"store", {{}, {}, {"front f", "run s1_a f", "pop f"}}}});
  CHECK(judged(f) == "interference");
  CHECK(judged(f.member("links", R"([{"fifo": "f"}])")) == "accepted");
}

TEST_CASE("isolation: a link joins those that use it in one phase, and nobody else") {
  // s0 and s1 hand over to s2 in the next phase, each by a link of its own.
  Draft d = objects("two links into the next phase");
  d.semaphore("u").semaphore("v");
  in_sections(d, {{"load", {{"run s0_a > x", "post s"}, {}, {}, {"post u", "wait v"}, {}}},
                  {"compute", {{}, {}, {"run s1_a x", "post t"}, {"post u", "wait v"}, {}}},
                  {"store", {{}, {}, {}, {"wait u 2", "post v 2"}, {"wait s", "wait t"}}}});
  CHECK(judged(d.member("links", R"([{"semaphore": "s"}, {"semaphore": "t"}])")) == "interference");
  // Two pairs of one phase.
  Draft pairs = objects("two pairs");
  in_sections(pairs, {{"load", {{"run s0_a > x", "post s"}, {}, {}, {}, {}, {}, {}}},
                      {"compute", {{}, {}, {"wait s"}, {}, {}, {}, {}}},
                      {"store", {{}, {}, {}, {}, {"run s2_a x", "post t"}, {}, {}}},
                      {"move", {{}, {}, {}, {}, {}, {}, {"wait t"}}}});
  CHECK(judged(pairs.member("links", R"([{"semaphore": "s"}, {"semaphore": "t"}])")) ==
        "interference");
}

TEST_CASE("isolation: the wrap-around of a persistent program joins its last phase to its first") {
  const auto three = [](bool persistent, const Ops& end) {
    Draft d = objects("three");
    if (persistent) d.persistent();
    d.semaphore("e");
    return judged(in_sections(
        d, {{"load", {{"run s0_a > x"}, {"post t 2", "wait t"}, {}, {}, {}, end}},
            {"store", {{}, {"wait t"}, {"run s1_a y"}, {"post s", "wait s"}, {"run s2_a x"}}}}));
  };
  CHECK(three(false, {}) == "accepted");
  CHECK(three(true, {}) == "interference");
  CHECK(three(true, {"post e", "wait e"}) == "accepted");
}

TEST_CASE(
    "isolation: the boundary after the last section lies beside the first if there is a next") {
  const auto ended = [](bool persistent) {
    Draft d = objects("ended");
    if (persistent) d.persistent();
    return judged(in_sections(
        d, {{"load",
             {{"post s", "wait s"}, {"post t", "wait t"}, {"run s1_a y"}, {"post s", "wait s"}}}}));
  };
  CHECK(ended(false) == "accepted");
  CHECK(ended(true) == "interference");
}

}  // namespace
}  // namespace spatialcert::proofs::isolation
