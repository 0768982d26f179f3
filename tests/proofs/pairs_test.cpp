// Which accesses have to be ordered: all short histories of a buffer, against the definition.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/proofs/fixture.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {
namespace {

/// One access: by which engine program, to which half of the buffer (0, 1, or 2 for both).
struct Use {
  std::uint32_t engine = 0;
  std::uint32_t half = 2;
  bool write = false;
};
using History = std::vector<Use>;

bool meet(const Use& a, const Use& b, std::uint32_t half) {
  return (a.half == half || a.half == 2) && (b.half == half || b.half == 2);
}

/// Does `later` see what `earlier` left in this half, or end it?
bool neighbours(const History& h, std::size_t earlier, std::size_t later, std::uint32_t half) {
  if (!meet(h[earlier], h[later], half) || (!h[earlier].write && !h[later].write)) return false;
  for (std::size_t i = earlier + 1; i < later; ++i) {
    if (!meet(h[earlier], h[i], half)) continue;
    // A write in between hides the earlier one, a read in between stands for it.
    if (h[i].write || (h[earlier].write && h[later].write)) return false;
  }
  return true;
}

using Places = std::vector<std::pair<std::size_t, std::size_t>>;  ///< in the history

Places expected(const History& h) {
  Places out;
  for (std::size_t j = 0; j < h.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (h[i].engine == h[j].engine) continue;
      if (neighbours(h, i, j, 0) || neighbours(h, i, j, 1)) out.emplace_back(i, j);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Places found(const History& h) {
  constexpr const char* kEngines[] = {"load", "compute", "store"};
  constexpr const char* kHalves[] = {"b[0:32]", "b[32:64]", "b"};
  Draft d("history");
  d.buffer("b");
  std::vector<Ops> ops(3);
  for (const Use& use : h) {
    ops[use.engine].push_back(std::string("run use ") + (use.write ? "> " : "") +
                              kHalves[use.half]);
  }
  for (std::uint32_t e = 0; e < 3; ++e) {
    if (ops[e].empty()) ops[e] = {"run nothing"};
    d.engine(kEngines[e], ops[e]);
  }
  const Fixture f(d);
  // Performed in the order of the history, whatever the net says of it.
  std::vector<std::uint32_t> next = f.subject.stretch.begin,
                             position(f.subject.stretch.transitions());
  std::vector<std::size_t> use_of(position.size(), h.size());
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const std::uint32_t t = next[h[i].engine]++;
    use_of[t] = i;
    position[t] = at++;
  }
  for (std::uint32_t t = 0; t < position.size(); ++t) {
    if (use_of[t] == h.size()) position[t] = at++;
  }
  Places out;
  for (const auto& pair : proofs::ordering::conflicting_pairs(f.subject, position)) {
    const auto use = [&](std::uint32_t access) {
      return use_of[f.subject.accesses.accesses[access].transition.value()];
    };
    out.emplace_back(use(pair.earlier), use(pair.later));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// All histories of `length` uses of this many engines and halves (3: each and both).
void compare_all(std::size_t length, std::uint32_t engines, std::uint32_t halves) {
  const std::uint32_t kinds = engines * halves * 2;
  std::uint32_t count = 1;
  for (std::size_t i = 0; i < length; ++i) count *= kinds;
  for (std::uint32_t n = 0; n < count; ++n) {
    History h;
    for (std::uint32_t rest = n; h.size() < length; rest /= kinds) {
      const std::uint32_t kind = rest % kinds;
      h.push_back({kind / 2 % engines, halves == 1 ? 2 : kind / 2 / engines, kind % 2 == 1});
    }
    REQUIRE(found(h) == expected(h));
  }
}

TEST_CASE("pairs: what three engines do to one buffer") { compare_all(4, 3, 1); }
TEST_CASE("pairs: what two engines do to the halves of a buffer") { compare_all(3, 2, 3); }

TEST_CASE("pairs: a run reads before it writes, and its own accesses are in its order") {
  Draft d("in place");
  d.buffer("b").tensor("x", "external");
  d.engine("load", {"run load x b > b"}).engine("store", {"run store x b > b"});
  const Fixture f(d);
  const std::vector<std::uint32_t> position{0, 1};
  const auto pairs = proofs::ordering::conflicting_pairs(f.subject, position);
  REQUIRE(pairs.size() == 1);
  CHECK(f.subject.accesses.accesses[pairs[0].earlier].transition == f.at(0, 0));
}

}  // namespace
}  // namespace spatialcert::tests
