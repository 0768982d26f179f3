// Counterexamples as JSON: what is written reads back as the same, and what is wrong is refused by
// path.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "certify/report.hpp"
#include "ir/program_file.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert;
using namespace spatialcert::command::test;
using proofs::Counterexample;
using proofs::Kind;

namespace {

ir::Program program() { return *ir::read_program(golden("double-buffer-overwrite")); }

/// Every member set to something that no other member has.
Counterexample complete() {
  Counterexample c;
  c.kind = Kind::race;
  c.chain = {{ir::TransitionId(3U), ir::CounterId(0U), 5, std::numeric_limits<std::int64_t>::min(),
              ir::TransitionId(7U)},
             {ir::TransitionId(4U), ir::CounterId(2U), 6, -1, ir::TransitionId()}};
  c.accesses = {{ir::TransitionId(1U), 0}, {ir::TransitionId(13U), 4}};
  c.range = {{ir::Storage::Kind::memory, {0, 0, 0}, ir::SpaceId(0U), 0},
             3,
             std::numeric_limits<std::uint64_t>::max()};
  c.schedules = {{{ir::ProgramId(0U), 2}, {ir::ProgramId(1U), 1}}, {}, {{ir::ProgramId(1U), 4}}};
  c.transition = ir::TransitionId(9U);
  c.counter = ir::CounterId(1U);
  c.value = std::numeric_limits<std::int64_t>::max();
  c.limit = -12;
  c.buffers = {ir::BufferId(1U), ir::BufferId(0U)};
  c.index = 4'000'000'000U;
  c.terms = {{"quoted \"x\" \\ \n \x01 \xC3\xA9", -3, 2}, {"", 0, 1}};
  c.note = "a note\twith a tab";
  return c;
}

void check_same(const Counterexample& a, const Counterexample& b) {
  CHECK(a.kind == b.kind);
  CHECK(a.iterations == b.iterations);
  REQUIRE(a.chain.size() == b.chain.size());
  for (std::size_t i = 0; i < a.chain.size(); ++i) {
    CHECK(a.chain[i].waiter == b.chain[i].waiter);
    CHECK(a.chain[i].counter == b.chain[i].counter);
    CHECK(a.chain[i].need == b.chain[i].need);
    CHECK(a.chain[i].have == b.chain[i].have);
    CHECK(a.chain[i].supplier == b.chain[i].supplier);
  }
  REQUIRE(a.accesses.size() == b.accesses.size());
  for (std::size_t i = 0; i < a.accesses.size(); ++i) {
    CHECK(a.accesses[i].transition == b.accesses[i].transition);
    CHECK(a.accesses[i].access == b.accesses[i].access);
  }
  REQUIRE(a.range.has_value() == b.range.has_value());
  if (a.range) {
    CHECK(a.range->storage.kind == b.range->storage.kind);
    CHECK(a.range->storage.site == b.range->storage.site);
    CHECK(a.range->storage.space == b.range->storage.space);
    CHECK(a.range->storage.object == b.range->storage.object);
    CHECK(a.range->low == b.range->low);
    CHECK(a.range->high == b.range->high);
  }
  REQUIRE(a.schedules.size() == b.schedules.size());
  for (std::size_t i = 0; i < a.schedules.size(); ++i) {
    REQUIRE(a.schedules[i].size() == b.schedules[i].size());
    for (std::size_t k = 0; k < a.schedules[i].size(); ++k) {
      CHECK(a.schedules[i][k].program == b.schedules[i][k].program);
      CHECK(a.schedules[i][k].steps == b.schedules[i][k].steps);
    }
  }
  CHECK(a.deeper == b.deeper);
  CHECK(a.transition == b.transition);
  CHECK(a.counter == b.counter);
  CHECK(a.value == b.value);
  CHECK(a.limit == b.limit);
  CHECK(a.buffers == b.buffers);
  CHECK(a.index == b.index);
  REQUIRE(a.terms.size() == b.terms.size());
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    CHECK(a.terms[i].source == b.terms[i].source);
    CHECK(a.terms[i].found == b.terms[i].found);
    CHECK(a.terms[i].expected == b.terms[i].expected);
  }
  CHECK(a.note == b.note);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a counterexample with every member reads back as it was") {
  const ir::Program p = program();
  const Counterexample c = complete();
  const std::string json = certify::counterexample_json(p, c);
  const auto back = certify::parse_counterexample(json, "c.json", p);
  REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message()));
  check_same(c, *back);
  CHECK(certify::counterexample_json(p, *back) == json);
  CHECK(*certify::counterexample_digest(json, "c.json") == ir::to_hex(ir::digest(p)));
}

TEST_CASE("ranges of tensors and of FIFOs, and deeper FIFOs, read back") {
  const ir::Program p = *ir::read_program(golden("certified-sum"));
  Counterexample c;
  c.kind = Kind::wrong_result;
  c.range = {{ir::Storage::Kind::tensor, {}, {}, 2}, 0, 64};
  c.deeper = {{ir::BufferId(0U), 3}};
  c.counter = ir::CounterId(2U);
  auto back = certify::parse_counterexample(certify::counterexample_json(p, c), "c.json", p);
  REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message()));
  check_same(c, *back);
  c.range = {{ir::Storage::Kind::fifo, {}, {}, 0}, 256, 512};
  back = certify::parse_counterexample(certify::counterexample_json(p, c), "c.json", p);
  REQUIRE(back.has_value());
  check_same(c, *back);
}

TEST_CASE("a counterexample that does not fit the program is refused by path") {
  const ir::Program p = program();
  const std::string json = certify::counterexample_json(p, complete());
  struct Case {
    std::string from, to, path;
  };
  const Case cases[] = {
      {"\"version\": 1", "\"version\": 2", "$.version"},
      {"spatialcert-counterexample", "spatialcert-report", "$.format"},
      {"\"kind\": \"race\"", "\"kind\": \"rice\"", "$.kind"},
      {"\"rule\": \"ordering\"", "\"rule\": \"order\"", "$.rule"},
      {"\"iterations\": 1", "\"iterations\": 2", "$.iterations"},
      {"\"waiter\": 3", "\"waiter\": 27", "$.chain[0].waiter"},
      {"\"waiter\": 3", "\"waiter\": -1", "$.chain[0].waiter"},
      {"\"waiter\": 3", "\"waiting\": 3", "$.chain[0]"},
      {"\"semaphore\": \"free\"", "\"semaphore\": \"fees\"", "$.chain[0].counter.semaphore"},
      {"\"semaphore\": \"free\"", "\"filled\": \"slots\"", "$.chain[0].counter.filled"},
      {"\"access\": 4", "\"access\": 0", "$.accesses[1]"},
      {"[[0, 2], [1, 1]]", "[[0, 99], [1, 1]]", "$.schedules[0]"},
      {"[[0, 2], [1, 1]]", "[[3, 2], [1, 1]]", "$.schedules[0]"},
      {"[[0, 2], [1, 1]]", "[[0, 0], [1, 1]]", "$.schedules[0]"},
      {"\"space\": \"sram\"", "\"space\": \"dram\"", "$.range.space"},
      {"\"note\"", "\"limit\"", "$"},
      {"\"value\": 9223372036854775807", "\"value\": 9223372036854775808", "$.value"}};
  for (const Case& c : cases) {
    const auto back = certify::parse_counterexample(replaced(json, c.from, c.to), "c.json", p);
    CAPTURE(c.to);
    REQUIRE_FALSE(back.has_value());
    CAPTURE(back.error().message());
    CHECK(back.error().file == "c.json");
    CHECK(back.error().line > 0);
    CHECK(back.error().path.substr(0, c.path.size()) == c.path);
  }
  CHECK_FALSE(certify::parse_counterexample("", "c.json", p).has_value());
  CHECK_FALSE(certify::parse_counterexample("[]", "c.json", p).has_value());
  CHECK_FALSE(certify::parse_counterexample(json + "{}", "c.json", p).has_value());
}

TEST_CASE("what the report of a kind needs must be there") {
  const ir::Program p = program();
  for (int k = 0; k <= static_cast<int>(Kind::uncovered); ++k) {
    Counterexample c;
    c.kind = static_cast<Kind>(k);
    const auto back =
        certify::parse_counterexample(certify::counterexample_json(p, c), "c.json", p);
    // The program has no postcondition either, so only `uncovered` needs nothing.
    CHECK(back.has_value() == (c.kind == Kind::uncovered));
  }
}
