#include <doctest/doctest.h>

#include "proofs/memory/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs::memory {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

/// Buffers of 64 bytes at these addresses.
Draft layout(const std::vector<int>& addresses) {
  Draft d("layout");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    d.buffer("b" + std::to_string(i), "\"address\": " + std::to_string(addresses[i]));
  }
  return d.engine("load", {"run load > b0"});
}

Witness in_order(const std::vector<std::uint32_t>& buffers) {
  Witness w{{{}}};
  for (const std::uint32_t b : buffers) w.order[0].emplace_back(b);
  return w;
}

TEST_CASE("memory: disjoint buffers are proved and their order accepted") {
  auto drafts = tests::all_samples();
  drafts.push_back(layout({128, 0, 64, 4032}));
  for (const Draft& draft : drafts) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const auto search = prove(f.subject, f.session);
    REQUIRE(outcome(search) == "proved");
    CHECK(outcome(check(f.subject, tests::witness(search))) == "accepted");
  }
}

TEST_CASE("memory: a witness with too few or too many occupancies is rejected") {
  Fixture f(layout({0, 64}));
  CHECK(outcome(check(f.subject, Witness{})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, Witness{{{}, {}}})) == rejected(Reason::wrong_size));
}

TEST_CASE("memory: every buffer that lives there must be named, and no other") {
  Fixture f(layout({0, 64}));
  for (const auto& buffers : {std::vector<std::uint32_t>{0}, {0, 0}, {0, 1, 1}, {0, 7}, {}}) {
    CHECK(outcome(check(f.subject, in_order(buffers))) == rejected(Reason::missing_obligation));
  }
  CHECK(outcome(check(f.subject, in_order({0, 1}))) == "accepted");
}

TEST_CASE("memory: an order that is none is rejected") {
  Fixture f(layout({0, 64, 128}));
  CHECK(outcome(check(f.subject, in_order({0, 2, 1}))) == rejected(Reason::not_sorted));
  CHECK(outcome(check(f.subject, in_order({1, 0, 2}))) == rejected(Reason::not_sorted));
}

void refutes(const Draft& draft, const Witness& witness, const std::string& kind, Reason reason) {
  Fixture f(draft);
  const auto search = prove(f.subject, f.session);
  REQUIRE(outcome(search) == "refuted: " + kind);
  CHECK(tests::replayed(f.program, tests::counterexample(search)) == "reproduced");
  CHECK(outcome(check(f.subject, witness)) == rejected(reason));
}

TEST_CASE("memory: what collides, does not fit or is not aligned is refuted and rejected") {
  refutes(layout({0, 60}), in_order({0, 1}), "overlap", Reason::overlapping);
  refutes(layout({0, 0}), in_order({0, 1}), "overlap", Reason::overlapping);
  refutes(layout({0, 4036}), in_order({0, 1}), "out-of-memory", Reason::out_of_range);
  refutes(layout({0, 66}), in_order({0, 1}), "misaligned", Reason::misaligned);
}

TEST_CASE("memory: a large buffer behind a small one is not hidden by the order") {
  Draft d("long and short");
  d.buffer("long", R"("page_bytes": 256, "address": 0)")
      .buffer("inside", R"("address": 64)")
      .buffer("after", R"("address": 128)");
  d.engine("load", {"run load > long"});
  refutes(d, in_order({0, 1, 2}), "overlap", Reason::overlapping);
}

TEST_CASE("memory: views share by design") {
  Draft d("views");
  d.buffer("base").buffer("part", R"("page_bytes": 32, "view": {"of": "base", "offset": 16})");
  d.engine("load", {"run load > base"});
  Fixture f(d);
  const auto search = prove(f.subject, f.session);
  REQUIRE(outcome(search) == "proved");
  CHECK(tests::witness(search).order == std::vector<std::vector<ir::BufferId>>{{ir::BufferId(0U)}});
}

TEST_CASE("memory: many buffers are asked about in windows, and the overlap of any two is found") {
  std::vector<int> addresses;
  for (int i = 0; i < 60; ++i) addresses.push_back(64 * i);
  for (const int at : {0, 1, 31, 58}) {
    CAPTURE(at);
    auto moved = addresses;
    moved[static_cast<std::size_t>(at)] += 4;
    refutes(layout(moved), in_order([&] {
              std::vector<std::uint32_t> all(60);
              for (std::uint32_t i = 0; i < 60; ++i) all[i] = i;
              return all;
            }()),
            "overlap", Reason::overlapping);
  }
}

TEST_CASE("memory: a long buffer that reaches over several windows") {
  Draft d("windows");
  d.member("target", R"({"name": "t", "spaces": [{"name": "sram", "bytes": 1048576}]})");
  d.buffer("long", R"("page_bytes": 12800, "address": 0)");
  for (int i = 0; i < 200; ++i)
    d.buffer("b" + std::to_string(i), "\"address\": " + std::to_string(12800 + 64 * i));
  Fixture right(d.engine("load", {"run load > long"}));
  CHECK(outcome(prove(right.subject, right.session)) == "proved");
  Draft wrong("windows");
  wrong.member("target", R"({"name": "t", "spaces": [{"name": "sram", "bytes": 1048576}]})");
  wrong.buffer("long", R"("page_bytes": 12804, "address": 0)");
  for (int i = 0; i < 200; ++i)
    wrong.buffer("b" + std::to_string(i), "\"address\": " + std::to_string(64 * i + 12800));
  Fixture f(wrong.engine("load", {"run load > long"}));
  CHECK(outcome(prove(f.subject, f.session)) == "refuted: overlap");
}

}  // namespace
}  // namespace spatialcert::proofs::memory
