// All small witnesses of a few small programs: a check accepts exactly those for which the rule's
// statement, written down once more without regard to speed, holds.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "proofs/coverage/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {
namespace {

using Numbers = std::vector<std::uint32_t>;

bool accepted(const proofs::Check& check) { return outcome(check) == "accepted"; }

/// Calls `each` for every list of `length` numbers below `below`.
void for_all(std::size_t length, std::uint32_t below,
             const std::function<void(const Numbers&)>& each) {
  Numbers list(length, 0);
  for (;;) {
    each(list);
    std::size_t i = 0;
    while (i < length && ++list[i] == below) list[i++] = 0;
    if (i == length) return;
  }
}

/// Two engines; load hands over to store, with `initial` tokens there before.
Draft two_posts(int initial) {
  Draft d("two posts");
  d.persistent().semaphore("s", initial).semaphore("t", 1);
  return d.engine("load", {"wait t", "post s"}).engine("store", {"wait s", "post t"});
}

/// Iteration i of `to` comes after iteration i - tokens of `from`.
struct Step {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t tokens = 0;
};

/// All orders that a potential must respect.
std::vector<Step> steps(const proofs::Subject& s) {
  std::vector<Step> out;
  for (std::uint32_t p = 0; p < s.program->programs.size(); ++p) {
    const std::uint32_t begin = s.one.begin[p], end = s.one.begin[p + 1];
    for (std::uint32_t t = begin; t + 1 < end; ++t) out.push_back({t, t + 1, 0});
    if (s.persistent() && begin != end) out.push_back({end - 1, begin, 1});
  }
  for (const ir::Place& place : s.net.places)
    out.push_back({place.from.value(), place.to.value(), place.tokens});
  return out;
}

/// Is `values[t] + period * i` a time of iteration i of t that respects all steps, over the first
/// few iterations?
bool is_schedule(const std::vector<Step>& all, const Numbers& values, std::int64_t period) {
  if (period < 1) return false;
  constexpr std::int64_t kIterations = 6;
  for (const Step& step : all) {
    for (std::int64_t i = 0; i < kIterations; ++i) {
      if (i - step.tokens < 0) continue;
      const std::int64_t from = values[step.from] + period * (i - step.tokens);
      if (from >= values[step.to] + period * i) return false;
    }
  }
  return true;
}

/// Every potential with values below `values` and every period below `periods`.
void check_potentials(const Draft& draft, std::uint32_t values, std::int64_t periods) {
  CAPTURE(draft.json());
  const Fixture f(draft);
  REQUIRE(f.subject.net.exact());
  const auto all = steps(f.subject);
  std::size_t good = 0;
  for_all(f.subject.one.transitions(), values, [&](const Numbers& numbers) {
    for (std::int64_t period = 0; period < periods; ++period) {
      const proofs::liveness::Witness w{{numbers.begin(), numbers.end()}, period};
      const bool grows = is_schedule(all, numbers, period);
      const auto answer = proofs::liveness::check(f.subject, w);
      REQUIRE(accepted(answer) == grows);
      good += grows ? 1 : 0;
      if (grows) REQUIRE(std::get<proofs::Accepted>(answer).obligations == all.size());
    }
  });
  CHECK(good > 0);
}

TEST_CASE("witnesses: a potential is accepted if it grows along every step, and only then") {
  Draft relay("relay"), pages("pages"), sliding("sliding");
  relay.semaphore("s").semaphore("t").engine("load", {"post s", "wait t"});
  relay.engine("compute", {"wait s"}).engine("store", {"post t"});
  pages.fifo("q", 1, R"("depth": "guaranteed")");
  pages.engine("load", {"reserve q", "push q", "reserve q"}).engine("store", {"front q", "pop q"});
  sliding.persistent().fifo("q", 3);
  sliding.engine("load", {"reserve q", "push q"}).engine("store", {"front q 2", "pop q"});
  for (const Draft& draft : {relay, pages, two_posts(0), two_posts(1), two_posts(2)})
    check_potentials(draft, Fixture(draft).subject.one.transitions(), 6);
  // A page of the next iteration: one place with a token less than none.
  check_potentials(sliding, 7, 6);
}

/// Is there a path from `first` to `last` over exactly these places?
bool joins(const proofs::Subject& s, const std::uint32_t* begin, const std::uint32_t* end,
           ir::TransitionId first, ir::TransitionId last) {
  const auto then = [&](ir::TransitionId a, ir::TransitionId b) {
    return s.stretch.program[a.value()] == s.stretch.program[b.value()] && a.value() <= b.value();
  };
  if (begin == end) return then(first, last);
  if (*begin >= s.places.size()) return false;
  const ir::Place& place = s.places[*begin];
  return !place.credit && then(first, place.from) && joins(s, begin + 1, end, place.to, last);
}

bool orders(const proofs::Subject& s, const std::vector<proofs::ordering::Pair>& pairs,
            const proofs::ordering::Witness& w) {
  if (w.begin.size() != pairs.size() + 1 || w.begin.front() != 0) return false;
  if (w.begin.back() != w.places.size()) return false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (w.begin[i] > w.begin[i + 1] || w.begin[i + 1] > w.places.size()) return false;
    const auto at = [&](std::uint32_t access) { return s.accesses.accesses[access].transition; };
    const std::uint32_t* const places = w.places.data();
    if (!joins(s, places + w.begin[i], places + w.begin[i + 1], at(pairs[i].earlier),
               at(pairs[i].later)))
      return false;
  }
  return true;
}

TEST_CASE("witnesses: paths are accepted if they join every pair, and only then") {
  Draft relay("relay"), two("two pairs"), credit("credit");
  for (Draft* d : {&relay, &two, &credit}) d->tensor("x", "external").tensor("y").buffer("b");
  relay.semaphore("s").semaphore("t").engine("load", {"run load x > b", "post s"});
  relay.engine("compute", {"wait s", "post t"}).engine("store", {"wait t", "run store b > y"});
  two.buffer("c").semaphore("s").semaphore("t");
  two.engine("load", {"run load x > b", "post s", "run load x > c", "post t"});
  two.engine("store", {"wait s", "run store b > y", "wait t", "run store c > y"});
  credit.fifo("q", 1, R"("depth": "guaranteed")");
  credit.engine("load", {"reserve q", "push q", "reserve q", "run load x > b"});
  credit.engine("store", {"run store b > y", "front q", "pop q"});
  for (const Draft& draft : {relay, two, credit}) {
    CAPTURE(draft.name());
    const Fixture f(draft);
    const auto pairs = proofs::ordering::conflicting_pairs(f.subject, f.position);
    const auto places = static_cast<std::uint32_t>(f.subject.places.size());
    REQUIRE(pairs.size() <= 2);
    std::size_t good = 0;
    for (std::size_t begins = 1; begins <= pairs.size() + 2; ++begins) {
      for (std::size_t length = 0; length <= 3; ++length) {
        for_all(begins, 4, [&](const Numbers& begin) {
          for_all(length, places + 2, [&](const Numbers& path) {
            const proofs::ordering::Witness w{begin, path};
            const bool right = orders(f.subject, pairs, w);
            REQUIRE(accepted(proofs::ordering::check(f.subject, w)) == right);
            good += right ? 1 : 0;
          });
        });
      }
    }
    CHECK((good > 0) == (draft.name() != "credit"));
  }
}

TEST_CASE("witnesses: the buffers in order of address are accepted if they fit, and only then") {
  const std::uint64_t most = ~std::uint64_t{0};
  const std::vector<std::uint64_t> addresses{0, 2, 4, 5, 8, 12, 16, most - 3};
  Draft d("layout");
  for (const char* b : {"a", "b", "c"}) d.buffer(b, R"("page_bytes": 8, "address": 0)");
  Fixture f(d.engine("load", {"run load > a"}));
  auto& size = f.program.target.spaces[0].bytes;
  auto& buffers = f.program.buffers;
  buffers[0].page_bytes = 5;
  buffers[1].page_bytes = 4;
  std::size_t good = 0;
  const auto fits = [&](const Numbers& order) {
    Numbers sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != Numbers{0, 1, 2}) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      const ir::Buffer& b = buffers[order[i]];
      if (b.address > size || b.bytes() > size - b.address || b.address % 4 != 0) return false;
      if (i > 0 && buffers[order[i - 1]].address + buffers[order[i - 1]].bytes() > b.address)
        return false;
    }
    return true;
  };
  for_all(3, static_cast<std::uint32_t>(addresses.size()), [&](const Numbers& at) {
    for (std::size_t i = 0; i < 3; ++i) buffers[i].address = addresses[at[i]];
    for (size = 19; size <= 20; ++size) {
      for_all(3, 3, [&](const Numbers& order) {
        proofs::memory::Witness w{{{}}};
        for (const std::uint32_t b : order) w.order[0].emplace_back(b);
        REQUIRE(accepted(proofs::memory::check(f.subject, w)) == fits(order));
        good += fits(order) ? 1 : 0;
      });
    }
  });
  CHECK(good > 0);
}

/// Do the spans name the ops 0 to `ops` in order, each once and each for one section or boundary?
bool spans_are_right(const std::vector<ir::Span>& spans, std::size_t ops) {
  Numbers named, all(ops);
  for (const ir::Span& span : spans) {
    if (span.section.valid() == span.boundary.valid() || span.begin > span.end) return false;
    for (std::uint32_t i = span.begin; i < span.end; ++i) named.push_back(i);
  }
  std::iota(all.begin(), all.end(), 0U);
  const auto empty_elsewhere = [&, at = 0U](const ir::Span& span) mutable {
    return span.begin != std::exchange(at, span.end);
  };
  return named == all && std::none_of(spans.begin(), spans.end(), empty_elsewhere);
}

TEST_CASE("witnesses: spans are covered if they follow each other through all ops, and only then") {
  Draft d("spans");
  d.semaphore("s").engine("load", {"post s"}).engine("store", {"wait s", "post s", "wait s"});
  Fixture f(d);
  for (const std::size_t program : {0U, 1U}) {
    auto& spans = f.program.programs[program].spans;
    const auto kept = spans;
    const auto ops = f.program.programs[program].ops.size();
    std::size_t good = 0;
    for (std::size_t count = 0; count <= 3; ++count) {
      for_all(2 * count, static_cast<std::uint32_t>(ops) + 2, [&](const Numbers& ends) {
        for (std::uint32_t kind = 0; kind < (count == 0 ? 1U : 4U); ++kind) {
          spans.clear();
          for (std::size_t i = 0; i < count; ++i) {
            spans.push_back({ir::SectionId(0U), {}, ends[2 * i], ends[2 * i + 1]});
          }
          // The last one of a section, of a boundary, of both or of neither.
          if (kind % 2 == 1) spans.back().boundary = ir::BoundaryId(0U);
          if (kind >= 2) spans.back().section = {};
          const bool right = spans_are_right(spans, ops);
          REQUIRE((proofs::coverage::uncovered(f.subject) == std::nullopt) == right);
          good += right ? 1 : 0;
        }
      });
    }
    CHECK(good > 0);
    spans = kept;
  }
}

TEST_CASE("witnesses: the numbers of ops are accepted if they are right, and only then") {
  const Fixture f(fifo_pipeline());
  for_all(4, 7, [&](const Numbers& n) {
    const proofs::coverage::Witness w{n[0], n[1], n[2], n[3]};
    const bool right = n[0] == 4 && n[1] == 4 && n[2] == 3 && n[3] == 3;
    REQUIRE(accepted(proofs::coverage::check(f.subject, w)) == right);
  });
}

TEST_CASE("witnesses: every op needs an instance") {
  Fixture f(semaphore_handoff());
  auto& u = f.subject.one;
  for (std::uint32_t t = 0; t < u.transitions(); ++t) {
    CAPTURE(t);
    const std::uint32_t kept = u.op[t];
    u.op[t] = kept == 0 ? 1 : 0;
    CHECK(proofs::coverage::uncovered(f.subject) == "an op is never performed");
    u.op[t] = kept;
  }
  CHECK(proofs::coverage::uncovered(f.subject) == std::nullopt);
}

}  // namespace
}  // namespace spatialcert::tests
