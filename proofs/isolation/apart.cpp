#include "proofs/isolation/apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "proofs/canonical.hpp"

namespace spatialcert::proofs::isolation {
namespace {

/// Intervals per window of a line of locations, and per query (see memory/prove.cpp).
constexpr std::size_t kWindow = 64;
constexpr std::size_t kPerQuery = 128;

/// Joins what one unit touches in one piece, and sorts by phase, line and location.
std::vector<Interval> joined(std::vector<Interval> all) {
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) {
    return std::tie(a.phase, a.line, a.unit, a.writes, a.low) <
           std::tie(b.phase, b.line, b.unit, b.writes, b.low);
  });
  std::vector<Interval> out;
  for (const Interval& i : all) {
    const bool follows =
        !out.empty() &&
        std::tie(out.back().phase, out.back().line, out.back().unit, out.back().writes) ==
            std::tie(i.phase, i.line, i.unit, i.writes) &&
        i.low <= out.back().high;
    if (follows) {
      out.back().high = std::max(out.back().high, i.high);
    } else {
      out.push_back(i);
    }
  }
  std::sort(out.begin(), out.end(), [](const Interval& a, const Interval& b) {
    return std::tie(a.phase, a.line, a.low, a.high, a.unit, a.writes) <
           std::tie(b.phase, b.line, b.low, b.high, b.unit, b.writes);
  });
  return out;
}

struct Window {
  std::vector<Interval> members;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

class Asker {
 public:
  explicit Asker(smt::Session& session) : session_(session) {}

  std::optional<smt::Answer> run(const std::vector<Interval>& all) {
    for (std::size_t first = 0; first < all.size();) {
      std::size_t last = first;
      bool writes = false, several = false;
      for (; last < all.size() && all[last].phase == all[first].phase &&
             all[last].line == all[first].line;
           ++last) {
        writes |= all[last].writes;
        several |= all[last].unit != all[first].unit;
      }
      // What one unit has to itself, or nobody writes, is no question.
      if (writes && several) cut(all, first, last);
      first = last;
      if (pending_ < kPerQuery) continue;
      if (auto other = ask()) return other;
    }
    return ask();
  }

 private:
  void cut(const std::vector<Interval>& all, std::size_t begin, std::size_t end) {
    std::vector<Interval> reaching;
    for (std::size_t first = begin; first < end; first += kWindow) {
      const std::size_t last = std::min(end, first + kWindow);
      Window window;
      window.low = all[first].low;
      window.high = last == end ? std::uint64_t{1} << 62U : all[last].low;
      std::erase_if(reaching, [&](const Interval& i) { return i.high <= window.low; });
      window.members = reaching;
      window.members.insert(window.members.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                            all.begin() + static_cast<std::ptrdiff_t>(last));
      reaching = window.members;
      if (session_.classes && !asked_.insert(key_of(window)).second) {
        ++session_.repeated;
        continue;
      }
      pending_ += window.members.size();
      windows_.push_back(std::move(window));
    }
  }

  /// Equal sets are one question, whatever they are sets of.
  [[nodiscard]] static smt::QuestionKey key_of(const Window& window) {
    CanonicalText text('i');
    // Only the order of the ends matters.
    std::vector<std::uint64_t> ends{window.low, window.high};
    for (const Interval& i : window.members) {
      ends.push_back(i.low);
      ends.push_back(i.high);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    const auto rank = [&](std::uint64_t end) {
      return static_cast<std::uint64_t>(std::lower_bound(ends.begin(), ends.end(), end) -
                                        ends.begin());
    };
    std::map<std::uint32_t, std::uint32_t> number;
    text.number(rank(window.low));
    text.number(rank(window.high));
    for (const Interval& i : window.members) {
      text.number(rank(i.low));
      text.number(rank(i.high));
      text.number(number.emplace(i.unit, number.size()).first->second);
      text.number(i.writes ? 1 : 0);
    }
    return text.key();
  }

  std::optional<smt::Answer> ask() {
    if (windows_.empty()) return std::nullopt;
    smt::Query query = session_.query(smt::Logic::linear);
    std::vector<smt::Term> wrong;
    for (std::size_t w = 0; w < windows_.size(); ++w) wrong.push_back(shared(query, w));
    windows_.clear();
    pending_ = 0;
    query.require(query.any_of(wrong));
    smt::Answer answer = session_.solve(query);
    if (std::holds_alternative<smt::Impossible>(answer)) return std::nullopt;
    return answer;
  }

  /// "Two units touch location w of window w, and one of them writes it."
  smt::Term shared(smt::Query& query, std::size_t w) const {
    const auto number = [&](std::uint64_t v) {
      return query.constant(static_cast<std::int64_t>(v));
    };
    auto members = windows_[w].members;
    std::sort(members.begin(), members.end(),
              [](const Interval& a, const Interval& b) { return a.unit < b.unit; });
    const smt::Term at = query.integer(fmt::format("location_{}", w));
    std::vector<smt::Term> touching, writing;
    for (std::size_t i = 0; i < members.size();) {
      std::vector<smt::Term> holds;
      const std::uint32_t unit = members[i].unit;
      for (; i < members.size() && members[i].unit == unit; ++i) {
        holds.push_back(query.all_of(
            {query.at_most(number(members[i].low), at), query.less(at, number(members[i].high))}));
        if (members[i].writes) writing.push_back(holds.back());
      }
      touching.push_back(
          query.if_then_else(query.any_of(holds), query.constant(1), query.constant(0)));
    }
    if (writing.empty()) return query.any_of({});
    return query.all_of(
        {query.at_most(number(windows_[w].low), at), query.less(at, number(windows_[w].high)),
         query.at_most(query.constant(2), query.sum(touching)), query.any_of(writing)});
  }

  smt::Session& session_;
  std::vector<Window> windows_;
  std::size_t pending_ = 0;
  std::set<smt::QuestionKey> asked_;
};

}  // namespace

std::optional<smt::Answer> ask_apart(std::vector<Interval> all, smt::Session& session) {
  return Asker(session).run(joined(std::move(all)));
}

}  // namespace spatialcert::proofs::isolation
