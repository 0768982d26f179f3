// What contents derive from over several iterations of a persistent program, or tokens of one that
// is run once.
#include "proofs/shard/rounds.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::shard {
namespace {

using namespace tests::shards;
using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

TEST_CASE("shard: labels go around with a persistent program") {
  // What an iteration leaves is stored in the next.
  Draft late = gathered("one iteration later", 2, {"run store a > y", "run cut w0 > a"});
  leaks(late.persistent().buffer("a", kResident + std::string(R"(, "init": "zero")")));
  // Three tensors hand on: the fourth iteration stores what the first loaded.
  Draft chain = gathered("three later", 2,
                         {"run store c > y", "run cut b > c", "run cut a > b", "run cut w0 > a"});
  for (const char* name : {"a", "b", "c"})
    chain.buffer(name, kResident + std::string(R"(, "init": "zero")"));
  const Counterexample c = refutes(chain.persistent(), "leak", Reason::leak);
  CHECK(c.iterations == 4);
  CHECK(c.accesses.size() == 8);
}

TEST_CASE("shard: all tensors of a persistent program keep what they hold") {
  // w0 holds chip 1's data from the first iteration on.
  Draft d = gathered("handed over", 2, {"run all w0 q1 > y", "run cut q1 > w0"});
  proves(d);
  doubles(d.persistent());
}

TEST_CASE("shard: what recurs after several iterations is proved for all") {
  // The content of a turns replicated and chip 0's by turns; every second is cleared.
  const std::string resident = kResident + std::string(R"(, "init": "zero")");
  Draft d = gathered("two states", 2,
                     {"run cut a > t", "run cut b > a", "run cut t > b", "run all w0 q1 > y"});
  d.buffer("t").buffer("a", resident).tensor("s", "external", 4, "f32", owned(0));
  d.buffer("b", R"("init": "external", )" + std::string(kResident));
  proves(d.persistent(), {0, 2});
  Draft three = gathered(
      "three states", 2,
      {"run cut a > t", "run cut b > a", "run cut c > b", "run cut t > c", "run all w0 q1 > y"});
  three.buffer("t").buffer("a", resident).buffer("b", resident);
  three.buffer("c", R"("init": "external", )" + std::string(kResident));
  proves(three.persistent(), {0, 3});
  Draft settles = gathered("settles", 2, {"run cut b > t", "run cut a > b", "run cut w0 > a"});
  settles.buffer("t").buffer("a", resident).buffer("b", resident);
  proves(settles.persistent(), {2, 3});
}

TEST_CASE("shard: a witness that does not close the circle is rejected") {
  const std::string resident = kResident + std::string(R"(, "init": "zero")");
  Draft d = gathered("settles", 2, {"run cut b > t", "run cut a > b", "run cut w0 > a"});
  d.persistent().buffer("t").buffer("a", resident).buffer("b", resident);
  Fixture f(d);
  CHECK(checked(f, {2, 3}) == "accepted");
  CHECK(checked(f, {3, 9}) == "accepted");
  CHECK(checked(f, {0, 1}) == rejected(Reason::not_inductive));
  CHECK(checked(f, {1, 3}) == rejected(Reason::not_inductive));
  CHECK(checked(f, {1, 1}) == rejected(Reason::wrong_size));
  CHECK(checked(f, {0, 0}) == rejected(Reason::wrong_size));
  CHECK(checked(f, {3, kMostRounds}) == "accepted");
  CHECK(checked(f, {3, kMostRounds + 1}) == rejected(Reason::wrong_size));
}

TEST_CASE("shard: states that take too long to recur are undecided by name") {
  Draft d = sharded("long circles", 1);
  weights(d, 1);
  const std::string resident = kResident + std::string(R"(, "init": "zero")");
  std::vector<std::string> ops;
  // Circles of 3, 4 and 7 buffers recur after 84 iterations.
  for (const int length : {3, 4, 7}) {
    for (int i = 0; i < length; ++i) {
      d.buffer(fmt::format("r{}_{}", length, i),
               i == 0 ? R"("init": "external", )" + std::string(kResident) : resident);
    }
    d.buffer(fmt::format("t{}", length));
    ops.push_back(fmt::format("run cut r{0}_0 > t{0}", length));
    for (int i = 1; i < length; ++i)
      ops.push_back(fmt::format("run cut r{0}_{1} > r{0}_{2}", length, i, i - 1));
    ops.push_back(fmt::format("run cut t{0} > r{0}_{1}", length, length - 1));
  }
  Fixture f(d.persistent().engine("load", ops));
  CHECK(outcome(found(f)) == "unknown: the labels of contents do not recur within 60 iterations");
}

TEST_CASE("shard: what a program that is run once keeps is there for the next token") {
  const auto program = [](const std::string& lifetime, const std::string& op) {
    Draft d = gathered(op, 2, {"run store a > y", op});
    return d.buffer("a", lifetime + R"(, "init": "zero")").tensor("x", "external");
  };
  proves(program(kResident, "run cut x > a"));
  proves(program(R"("lifetime": "section")", "run cut w0 > a"));
  Fixture f(program(kResident, "run cut w0 > a"));
  CHECK(outcome(found(f)) ==
        "unknown: what a state tensor or a resident buffer keeps reaches the spine 1 tokens later, "
        "which cannot be played");
  CHECK(checked(f, {0, 1}) == rejected(Reason::not_inductive));
  CHECK(checked(f, {0, 2}) == rejected(Reason::leak));
}

TEST_CASE("shard: state tensors and carried ones live on, in whole or through a view") {
  // Chip 0's data come into a tensor of chip 1, which then holds them when the next token begins.
  const auto program = [](const std::string& role, const std::string& view) {
    Draft d = sharded("state");
    weights(d, 2).fifo("q", 1, R"("handoff": "wire")");
    d.tensor("s", "external", 4, "f32", owned(1) + (view.empty() ? role : ""));
    if (!view.empty()) d.tensor("v", "undefined", 2, "f32", owned(1) + role + view);
    d.engine("load", {"reserve q", "run load w0 > q", "push q"});
    return d.engine("1:load",
                    {"front q", "run cut q[0:32] > s[0:2]", "run cut q[32:64] > s[2:4]", "pop q"});
  };
  const std::string state = R"(, "role": "state")", weight = R"(, "role": "weight")";
  const std::string first = R"(, "view": {"of": "s"})",
                    last = R"(, "view": {"of": "s", "offset": 8})";
  proves(program(weight, ""));
  proves(program(weight, first));
  proves(program(state, ""), {1, 2});
  proves(program(state, first), {1, 2});
  proves(program(state, last), {1, 2});
  proves(program(weight, "").member("carried", R"(["s"])"), {1, 2});
  proves(program(weight, "").member("carried", R"(["y"])"));
  // Only the rows that the view has are kept.
  for (const std::string& view : {first, last}) {
    Fixture f(program(state, view));
    const auto made = round_of(f.subject);
    const std::vector<char>& kept = std::get<Round>(made).kept();
    CHECK(std::count(kept.begin(), kept.end(), 1) == 1);
  }
}

}  // namespace
}  // namespace spatialcert::proofs::shard
