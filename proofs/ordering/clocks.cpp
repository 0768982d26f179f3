#include "proofs/ordering/clocks.hpp"

#include <algorithm>
#include <map>

#include "ir/require.hpp"
#include "proofs/cuts.hpp"

namespace spatialcert::proofs::ordering {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
/// Ops that the search for a single hand-off looks back from the later access.
constexpr std::uint32_t kLookBack = 64;
/// Clock entries (8 bytes each) of one sweep.
constexpr std::size_t kClockLimit = 700'000'000;

/// One sweep for a set of columns (engine programs whose ops are tracked) over a set of rows
/// (transitions).
class Sweep {
 public:
  Sweep(const Subject& subject, const std::vector<std::uint32_t>& columns,
        const std::vector<std::uint32_t>& rows)
      : subject_(subject),
        u_(subject.stretch),
        columns_(static_cast<std::uint32_t>(columns.size())),
        column_(u_.begin.size() - 1, kNone),
        row_(u_.transitions(), kNone) {
    for (std::uint32_t i = 0; i < columns_; ++i) column_[columns[i]] = i;
    for (std::uint32_t i = 0; i < rows.size(); ++i) row_[rows[i]] = i;
    latest_.assign(rows.size() * columns_, 0);
    arrived_.assign(rows.size() * columns_, kNone);
    for (const std::uint32_t t : rows) fill(t);
  }

  /// Is `from` (of a column's program) known before `to`? Both must be rows.
  [[nodiscard]] bool before(std::uint32_t from, std::uint32_t to) const {
    return latest_[index(to, column_[u_.program[from]])] > from;
  }

  /// A path from `from` to `to`, which are of different programs and ordered.
  [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> places;
    const std::uint32_t column = column_[u_.program[from]];
    std::uint32_t at = to;
    while (u_.program[at] != u_.program[from]) {
      const std::uint32_t via = arrived_[index(at, column)];
      SPATIALCERT_REQUIRE(via != kNone, "knowledge arrives through a place");
      places.push_back(via);
      at = subject_.places[via].from.value();
    }
    std::reverse(places.begin(), places.end());
    return places;
  }

 private:
  [[nodiscard]] std::size_t index(std::uint32_t t, std::uint32_t column) const {
    return std::size_t{row_[t]} * columns_ + column;
  }

  void fill(std::uint32_t t) {
    const std::size_t base = index(t, 0);
    const std::uint32_t own = column_[u_.program[t]];
    if (t > u_.begin[u_.program[t]]) {
      const std::size_t previous = index(t - 1, 0);
      std::copy_n(latest_.begin() + static_cast<std::ptrdiff_t>(previous), columns_,
                  latest_.begin() + static_cast<std::ptrdiff_t>(base));
      std::copy_n(arrived_.begin() + static_cast<std::ptrdiff_t>(previous), columns_,
                  arrived_.begin() + static_cast<std::ptrdiff_t>(base));
      if (own != kNone) latest_[base + own] = t;  // t - 1 is known; numbers are one up
    }
    for (const std::uint32_t p : subject_.order.into(t)) {
      const std::uint32_t from = subject_.places[p].from.value();
      if (row_[from] == kNone) continue;
      for (std::uint32_t c = 0; c < columns_; ++c) raise(base + c, latest_[index(from, c)], p);
      const std::uint32_t column = column_[u_.program[from]];
      if (column != kNone) raise(base + column, from + 1, p);
    }
  }

  void raise(std::size_t at, std::uint32_t known, std::uint32_t place) {
    if (known <= latest_[at]) return;
    latest_[at] = known;
    arrived_[at] = place;
  }

  const Subject& subject_;
  const ir::Unrolled& u_;
  std::uint32_t columns_;
  std::vector<std::uint32_t> column_, row_;
  std::vector<std::uint32_t> latest_;   // one more than the latest op known before
  std::vector<std::uint32_t> arrived_;  // the place through which it became known in this program
};

class Finder {
 public:
  Finder(const Subject& subject, const std::vector<std::uint32_t>& position,
         const std::vector<Pair>& pairs, const Cuts& cuts)
      : subject_(subject),
        pairs_(pairs),
        crossings_(subject, position, cuts),
        sequence_(position.size()) {
    for (std::uint32_t t = 0; t < position.size(); ++t) sequence_[position[t]] = t;
    paths_.found.assign(pairs.size(), 0);
    paths_.reach.assign(pairs.size(), Reach::anywhere);
    paths_.places.resize(pairs.size());
  }

  Paths run() {
    std::map<ir::Site, std::vector<std::uint32_t>> pairs_of;  // by the site of the earlier access
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      if (!look_back(i) && !cross(i)) pairs_of[site(first(i))].push_back(i);
    }
    const auto rows_of = rows_by_site();
    for (auto& [site, members] : pairs_of) {
      const auto columns = programs_of(site);
      resolve(Sweep(subject_, columns, rows_of.at(site)), members, Reach::site);
      if (members.empty()) continue;
      if (sequence_.size() * columns.size() > kClockLimit) {
        paths_.limit = true;
        continue;
      }
      resolve(Sweep(subject_, columns, sequence_), members, Reach::anywhere);
    }
    return std::move(paths_);
  }

 private:
  [[nodiscard]] std::uint32_t first(std::uint32_t pair) const {
    return subject_.accesses.accesses[pairs_[pair].earlier].transition.value();
  }
  [[nodiscard]] std::uint32_t last(std::uint32_t pair) const {
    return subject_.accesses.accesses[pairs_[pair].later].transition.value();
  }
  [[nodiscard]] ir::Site site(std::uint32_t t) const {
    return subject_.program->programs[subject_.stretch.program[t]].site;
  }
  [[nodiscard]] std::vector<std::uint32_t> programs_of(const ir::Site& wanted) const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t p = 0; p < subject_.program->programs.size(); ++p) {
      if (subject_.program->programs[p].site == wanted) out.push_back(p);
    }
    return out;
  }
  [[nodiscard]] std::map<ir::Site, std::vector<std::uint32_t>> rows_by_site() const {
    std::map<ir::Site, std::vector<std::uint32_t>> out;
    std::vector<std::vector<std::uint32_t>*> of_program;
    for (const ir::EngineProgram& p : subject_.program->programs)
      of_program.push_back(&out[p.site]);
    for (const std::uint32_t t : sequence_) of_program[subject_.stretch.program[t]]->push_back(t);
    return out;
  }

  /// Is there one hand-off from the earlier access's engine program, at or after it, to a few ops
  /// before the later?
  bool look_back(std::uint32_t i) {
    const ir::Unrolled& u = subject_.stretch;
    const std::uint32_t a = first(i), b = last(i);
    const std::uint32_t begin = u.begin[u.program[b]];
    for (std::uint32_t t = b, steps = 0; steps < kLookBack; --t, ++steps) {
      for (const std::uint32_t p : subject_.order.into(t)) {
        const std::uint32_t from = subject_.places[p].from.value();
        if (u.program[from] != u.program[a] || from < a) continue;
        paths_.found[i] = 1;
        paths_.reach[i] = Reach::direct;
        paths_.places[i] = {p};
        return true;
      }
      if (t == begin) break;
    }
    return false;
  }

  bool cross(std::uint32_t i) {
    auto path = crossings_.path(first(i), last(i));
    if (!path) return false;
    paths_.found[i] = 1;
    paths_.reach[i] = Reach::boundary;
    paths_.places[i] = std::move(*path);
    return true;
  }

  /// Records the paths the sweep has and keeps in `members` the pairs that are left.
  void resolve(const Sweep& sweep, std::vector<std::uint32_t>& members, Reach reach) {
    const bool local = reach == Reach::site;
    std::vector<std::uint32_t> left;
    for (const std::uint32_t i : members) {
      if ((local && site(first(i)) != site(last(i))) || !sweep.before(first(i), last(i))) {
        left.push_back(i);
        continue;
      }
      paths_.found[i] = 1;
      paths_.reach[i] = reach;
      paths_.places[i] = sweep.path(first(i), last(i));
    }
    members = std::move(left);
  }

  const Subject& subject_;
  const std::vector<Pair>& pairs_;
  Crossings crossings_;
  std::vector<std::uint32_t> sequence_;
  Paths paths_;
};

}  // namespace

Paths find_paths(const Subject& subject, const std::vector<std::uint32_t>& position,
                 const std::vector<Pair>& pairs, const Cuts& cuts) {
  return Finder(subject, position, pairs, cuts).run();
}

}  // namespace spatialcert::proofs::ordering
