#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "proofs/slices/rule.hpp"
#include "proofs/slices/tiling.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::slices {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Ranges = std::vector<ir::IndexRange>;
using Reason = Rejected::Reason;

std::string json_of(const Ranges& ranges) {
  std::vector<std::string> out;
  for (const ir::IndexRange& r : ranges) out.push_back(fmt::format("[{}, {}]", r.begin, r.end));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

int length(const Ranges& ranges) {
  std::uint64_t sum = 0;
  for (const ir::IndexRange& r : ranges) sum += r.end - r.begin;
  return static_cast<int>(sum);
}

/// A full tensor of `rows` x 4 whose rows are cut, or as many columns; part p is on chip
/// `owners[p]`.
struct Cut {
  std::string name;
  int rows = 8;
  std::vector<Ranges> parts;
  std::vector<int> owners;
  int copies = 1;
  std::string dimension = "heads";
  bool columns = false;  ///< 4 x `rows`, and columns are cut
};

Draft cut(const std::string& name, const std::vector<Cut>& cuts) {
  Draft d = tests::shards::sharded(name, 4);
  std::vector<std::string> all;
  for (const Cut& c : cuts) {
    std::vector<std::string> parts;
    for (std::size_t p = 0; p < c.parts.size(); ++p) {
      const std::string tensor = fmt::format("{}.{}", c.name, p);
      const int owner = c.owners.empty() ? static_cast<int>(p) : c.owners[p];
      d.tensor(tensor, "external", c.columns ? 4 : length(c.parts[p]), "f32",
               tests::shards::owned(owner));
      parts.push_back(
          fmt::format(R"({{"tensor": "{}", "ranges": {}}})", tensor, json_of(c.parts[p])));
    }
    all.push_back(fmt::format(
        R"({{"full": "{}", "rows": {}, "cols": {}, "axis": "{}", "dimension": "{}", "copies": {}, "parts": [{}]}})",
        c.name, c.columns ? 4 : c.rows, c.columns ? c.rows : 4, c.columns ? "columns" : "rows",
        c.dimension, c.copies, fmt::join(parts, ", ")));
  }
  d.member("slices", fmt::format("[{}]", fmt::join(all, ", ")));
  return d.tensor("x", "external").tensor("y").engine("compute", {"run work x > y"});
}

void proves(const Draft& draft) {
  CAPTURE(draft.name());
  Fixture f(draft);
  CHECK(outcome(prove(f.subject, f.session)) == "proved");
  CHECK(outcome(check(f.subject, {})) == "accepted");
}

Counterexample refutes(const Draft& draft, const std::string& kind, Reason reason) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto answer = prove(f.subject, f.session);
  REQUIRE(outcome(answer) == "refuted: " + kind);
  const Counterexample c = tests::counterexample(answer);
  CHECK(tests::replayed(f.program, c) == "reproduced");
  CHECK(outcome(check(f.subject, {})) == rejected(reason));
  return c;
}

TEST_CASE("slices: ranges that tile, in one run per part or in several") {
  proves(cut("halves", {{"w", 8, {{{0, 4}}, {{4, 8}}}, {}}}));
  proves(cut("several", {{"w", 8, {{{0, 2}, {4, 6}}, {{2, 4}, {6, 8}}}, {}}}));
  proves(cut("one part", {{"w", 8, {{{0, 8}}}, {}}}));
  proves(cut("copies", {{"w", 4, {{{0, 2}}, {{0, 2}}, {{2, 4}}, {{2, 4}}}, {}, 2}}));
  proves(cut("out of order", {{"w", 8, {{{4, 8}, {0, 2}}, {{2, 4}}}, {}}}));
}

TEST_CASE("slices: an index that nobody has, at either end or between") {
  const auto gap = [](const std::string& name, std::vector<Ranges> parts, std::int64_t index) {
    const Counterexample c =
        refutes(cut(name, {{"w", 8, std::move(parts), {}}}), "gap", Reason::gap);
    CHECK(c.value == index);
  };
  gap("first", {{{1, 4}}, {{4, 8}}}, 0);
  gap("between", {{{0, 4}}, {{5, 8}}}, 4);
  gap("last", {{{0, 4}}, {{4, 7}}}, 7);
  const std::vector<Ranges> halves{{{0, 4}}, {{4, 8}}};
  const Counterexample columns =
      refutes(cut("columns", {{"w", 12, halves, {}, 1, "heads", true}}), "gap", Reason::gap);
  CHECK(columns.value == 8);
  const Counterexample later = refutes(
      cut("of a later tensor", {{"w", 8, halves, {}}, {"v", 9, halves, {}}}), "gap", Reason::gap);
  REQUIRE(later.slices.size() == 1);
  CHECK(later.slices[0].sliced == 1);
  const Counterexample c =
      refutes(cut("one copy more", {{"w", 4, {{{0, 2}}, {{0, 3}}, {{2, 4}}, {{2, 4}}}, {}, 2}}),
              "overlap", Reason::overlapping);
  CHECK(c.value == 2);
  CHECK(refutes(cut("one copy less", {{"w", 4, {{{0, 2}}, {{0, 2}}, {{2, 4}}, {{3, 4}}}, {}, 2}}),
                "gap", Reason::gap)
            .value == 2);
}

TEST_CASE("slices: an index that two parts have, or one part twice") {
  const Counterexample two =
      refutes(cut("two", {{"w", 8, {{{0, 5}}, {{4, 8}}}, {}}}), "overlap", Reason::overlapping);
  CHECK(two.value == 4);
  REQUIRE(two.slices.size() == 2);
  CHECK(two.slices[0].part == 0);
  CHECK(two.slices[1].part == 1);
  // As many as there should be of every index, but not in two parts.
  refutes(cut("twice in one", {{"w", 4, {{{0, 2}, {0, 2}}, {{2, 4}, {2, 4}}}, {}, 2}}), "overlap",
          Reason::overlapping);
  refutes(cut("copies that are not declared", {{"w", 4, {{{0, 4}}, {{0, 4}}}, {}}}), "overlap",
          Reason::overlapping);
}

TEST_CASE("slices: parts of one dimension are cut alike and stand on one chip") {
  const std::vector<Ranges> halves{{{0, 4}}, {{4, 8}}};
  const std::vector<Ranges> swapped{{{4, 8}}, {{0, 4}}};
  proves(cut("alike", {{"q", 8, halves, {}}, {"o", 8, halves, {}}}));
  const Counterexample c = refutes(cut("swapped", {{"q", 8, halves, {}}, {"o", 8, swapped, {}}}),
                                   "mismatch", Reason::mismatch);
  REQUIRE(c.slices.size() == 2);
  CHECK(c.slices[1].sliced == 1);
  proves(cut("other dimensions", {{"q", 8, halves, {}}, {"o", 8, swapped, {}, 1, "ffn"}}));
  proves(cut("other lengths", {{"q", 8, halves, {}}, {"k", 4, {{{0, 2}}, {{2, 4}}}, {}}}));
  proves(cut("other copies", {{"q", 8, {{{0, 2}}, {{2, 4}}, {{4, 6}}, {{6, 8}}}, {}},
                              {"k", 8, {{{0, 4}}, {{0, 4}}, {{4, 8}}, {{4, 8}}}, {}, 2}}));
  refutes(cut("another chip", {{"w", 8, halves, {}}, {"scale", 4, {{{0, 2}}, {{2, 4}}}, {1, 0}}}),
          "mismatch", Reason::mismatch);
  const std::vector<Ranges> quarters{{{0, 2}}, {{2, 4}}, {{4, 8}}};
  const std::vector<Ranges> first_alike{{{0, 2}}, {{4, 8}}, {{2, 4}}};
  const Counterexample second =
      refutes(cut("a later part", {{"q", 8, quarters, {}}, {"o", 8, first_alike, {}}}), "mismatch",
              Reason::mismatch);
  REQUIRE(second.slices.size() == 2);
  CHECK(second.slices[1].part == 1);
  refutes(cut("another chip for a later part",
              {{"w", 8, quarters, {}}, {"scale", 4, {{{0, 1}}, {{1, 2}}, {{2, 4}}}, {0, 2, 1}}}),
          "mismatch", Reason::mismatch);
}

TEST_CASE("slices: a claim that does not hold is not reproduced") {
  const std::vector<Ranges> halves{{{0, 4}}, {{4, 8}}};
  const std::vector<Ranges> swapped{{{4, 8}}, {{0, 4}}};
  Fixture f(cut("halves", {{"w", 8, halves, {}},
                           {"o", 8, halves, {}},
                           {"k", 4, {{{0, 2}}, {{2, 4}}}, {}},
                           {"v", 8, swapped, {}, 1, "ffn"}}));
  const auto claim = [&](Kind kind, std::int64_t index, std::vector<SliceRef> slices) {
    Counterexample c;
    c.kind = kind;
    c.value = index;
    c.slices = std::move(slices);
    return tests::replayed(f.program, c);
  };
  CHECK(claim(Kind::gap, 3, {{0, 0}}) == "the index is in enough parts");
  CHECK(claim(Kind::gap, 8, {{0, 0}}) == "no such index");
  CHECK(claim(Kind::gap, -1, {{0, 0}}) == "no such index");
  CHECK(claim(Kind::overlap, 3, {{0, 0}, {0, 1}}) == "the index is not in too many parts");
  CHECK(claim(Kind::mismatch, 0, {{0, 0}, {1, 0}}) == "they belong together");
  CHECK(claim(Kind::mismatch, 0, {{0, 0}, {1, 1}}) == "two parts of one number are needed");
  CHECK(claim(Kind::mismatch, 0, {{0, 0}}) == "two parts of one number are needed");
  CHECK(claim(Kind::mismatch, 0, {{0, 0}, {2, 0}}) == "they belong together");
  CHECK(claim(Kind::mismatch, 0, {{0, 0}, {3, 0}}) == "they are of two dimensions");
  CHECK(claim(Kind::gap, 0, {{4, 0}}) == "no such part");
  CHECK(claim(Kind::gap, 0, {{1U << 30U, 0}}) == "no such part");
  CHECK(claim(Kind::gap, 0, {{0, 2}}) == "no such part");
  CHECK(claim(Kind::race, 0, {{0, 0}}) == "slices do not show this kind");
  Counterexample none;
  none.kind = Kind::gap;
  CHECK(std::holds_alternative<NotReproduced>(recompute(f.program, none)));
}

TEST_CASE("slices: tensors in another number of copies are not held against each other") {
  Fixture f(cut("copies", {{"q", 8, {{{0, 2}}, {{2, 4}}, {{4, 6}}, {{6, 8}}}, {}},
                           {"k", 8, {{{0, 4}}, {{0, 4}}, {{4, 8}}, {{4, 8}}}, {}, 2}}));
  Counterexample c;
  c.kind = Kind::mismatch;
  c.slices = {{0, 0}, {1, 0}};
  CHECK(tests::replayed(f.program, c) == "they belong together");
}

TEST_CASE("slices: random ways to cut an axis, against counting") {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  int certified = 0;
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t rows = 1 + below(6);
    Cut c{"w", static_cast<int>(rows), {}, {}, 1 + static_cast<int>(below(2))};
    const std::size_t parts = static_cast<std::size_t>(c.copies) + below(3);
    for (std::size_t p = 0; p < parts; ++p) {
      Ranges ranges;
      do {
        const std::uint64_t begin = below(rows);
        ranges.push_back({begin, begin + 1 + below(rows - begin)});
      } while (below(3) == 0);
      c.parts.push_back(ranges);
      c.owners.push_back(static_cast<int>(p % 4));
    }
    bool tiles = true;
    for (std::uint64_t r = 0; r < rows; ++r) {
      int holding = 0;
      for (const Ranges& ranges : c.parts) {
        const auto times = std::count_if(ranges.begin(), ranges.end(), [&](const auto& range) {
          return range.begin <= r && r < range.end;
        });
        holding += times > 0 ? 1 : 0;
        tiles = tiles && times <= 1;
      }
      tiles = tiles && holding == c.copies;
    }
    Fixture f(cut("random", {c}));
    const auto answer = prove(f.subject, f.session);
    CHECK((outcome(answer) == "proved") == tiles);
    CHECK((outcome(check(f.subject, {})) == "accepted") == tiles);
    if (!tiles) CHECK(tests::replayed(f.program, tests::counterexample(answer)) == "reproduced");
    certified += tiles ? 1 : 0;
  }
  CHECK(certified > 20);
}

}  // namespace
}  // namespace spatialcert::proofs::slices
