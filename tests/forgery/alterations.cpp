// One thing changed in a decoded certificate.
#include <algorithm>
#include <limits>
#include <utility>

#include "tests/forgery/claims.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Certificate;

constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();

struct Forger {
  Certificate& c;
  std::uint32_t transitions;
  Random& random;

  /// Mostly a number that could be meant.
  std::uint32_t id(std::uint32_t old, std::uint32_t bound) {
    const std::uint32_t other = random.below(bound + 2);
    return random.chance(5) ? 0xffffffffU : random.chance(40) ? old + 1 : other;
  }
  template <typename T>
  T& any(std::vector<T>& items) {
    return items[random.below(items.size())];
  }
  template <typename T>
  std::ptrdiff_t place_in(const std::vector<T>& items, bool end) {
    return static_cast<std::ptrdiff_t>(random.below(items.size() + (end ? 1 : 0)));
  }
};

std::string digests(Forger& f) {
  if (f.random.chance(10)) {
    f.c.producer = "somebody else";
    return "producer";
  }
  if (f.random.chance(20)) {
    std::swap(f.c.program, f.c.target);
    return "digests exchanged";
  }
  const bool target = f.random.chance(50);
  (target ? f.c.target : f.c.program)[f.random.below(32)] ^=
      static_cast<std::uint8_t>(1U << f.random.below(8));
  return target ? "target's digest" : "program's digest";
}

/// Some loops are said to be folded that are not, or differently.
std::string foldings(Forger& f) {
  auto& folding = f.c.folding;
  if (!folding.empty() && f.random.chance(50)) {
    ir::FoldedGroup& group = f.any(folding);
    if (f.random.chance(50) || group.loops.empty()) {
      group.removed = std::max<std::int64_t>(group.removed + f.random.between(-2, 2), 0);
      return "folding: segments";
    }
    ir::FoldedLoop& loop = f.any(group.loops);
    std::int64_t& number = f.random.chance(50) ? loop.turns : loop.skip;
    number = std::max<std::int64_t>(number + f.random.between(-1, 1), 0);
    return "folding: loop";
  }
  ir::FoldedGroup group{f.random.between(0, 3), {}};
  for (std::uint32_t p = 0; p < 3; ++p) {
    if (f.random.chance(60)) group.loops.push_back({p, f.random.below(4), 1, f.random.below(2)});
  }
  folding.push_back(std::move(group));
  return "folding claimed";
}

std::string one_place(Forger& f) {
  ir::Place& p = f.any(f.c.justified);
  switch (f.random.below(5)) {
    case 0:
      p.from = ir::TransitionId(f.id(p.from.value(), f.transitions));
      return "place: from";
    case 1:
      p.to = ir::TransitionId(f.id(p.to.value(), f.transitions));
      return "place: to";
    case 2:
      p.tokens +=
          static_cast<std::int32_t>(f.random.between(-2, 2)) * (f.random.chance(5) ? 1 << 29 : 1);
      return "place: tokens";
    case 3:
      p.counter = ir::CounterId(f.id(p.counter.value(), 6));
      return "place: counter";
    default:
      p.credit = !p.credit;
      return "place: credit";
  }
}

std::string all_places(Forger& f) {
  auto& places = f.c.justified;
  if (places.empty() || f.random.chance(20)) {
    places.insert(places.begin() + f.place_in(places, true),
                  {ir::TransitionId(f.random.below(f.transitions)),
                   ir::TransitionId(f.random.below(f.transitions)), 0,
                   ir::CounterId(f.random.below(4)), false});
    return "place added";
  }
  const auto at = f.place_in(places, false);
  switch (f.random.below(5)) {
    case 0:
      places.erase(places.begin() + at);
      return "place dropped";
    case 1:
      places.insert(places.begin() + f.place_in(places, true),
                    ir::Place(places[static_cast<std::size_t>(at)]));
      return "place doubled";
    case 2:
      std::reverse(places.begin(), places.end());
      return "places reversed";
    case 3:
      std::swap(f.any(places), f.any(places));
      return "places exchanged";
    default:
      places.clear();
      return "all places dropped";
  }
}

std::string potentials(Forger& f) {
  auto& w = *f.c.liveness;
  if (w.potential.empty() || f.random.chance(25)) {
    constexpr std::int64_t kPeriods[] = {0, -1, 1, 2, kHigh, kLow};
    w.period = kPeriods[f.random.below(6)];
    return "liveness: period";
  }
  switch (f.random.below(7)) {
    case 0:
      f.any(w.potential) += f.random.between(-3, 3);
      return "liveness: one potential";
    case 1:
      f.any(w.potential) = f.random.chance(50) ? kHigh : kLow;
      return "liveness: an extreme potential";
    case 2:
      std::swap(f.any(w.potential), f.any(w.potential));
      return "liveness: two potentials exchanged";
    case 3:
      w.potential.erase(w.potential.begin() + f.place_in(w.potential, false));
      return "liveness: a potential dropped";
    case 4:
      w.potential.insert(w.potential.begin() + f.place_in(w.potential, true), 0);
      return "liveness: a potential more";
    case 5:
      std::fill(w.potential.begin(), w.potential.end(), 0);
      return "liveness: no potential";
    default:
      std::rotate(w.potential.begin(), w.potential.begin() + f.place_in(w.potential, false),
                  w.potential.end());
      return "liveness: potentials rotated";
  }
}

std::string paths_of_pairs(Forger& f) {
  auto& w = *f.c.ordering;
  switch (f.random.below(w.places.empty() ? 2 : 5)) {
    case 0:
      f.any(w.begin) += f.random.chance(50) ? 1U : 0xffffffffU;
      return "ordering: where a path begins";
    case 1:
      if (w.begin.size() > 1 && f.random.chance(50)) {
        w.begin.pop_back();
        w.places.resize(std::min<std::size_t>(w.places.size(), w.begin.back()));
        return "ordering: a path dropped";
      }
      w.begin.push_back(w.begin.back());
      return "ordering: a path more";
    case 2: {
      std::uint32_t& place = f.any(w.places);
      place = f.id(place, 20);
      return "ordering: a place of a path";
    }
    case 3:
      std::swap(f.any(w.places), f.any(w.places));
      return "ordering: places exchanged";
    default: {
      const auto at = f.random.below(w.places.size());
      w.places.erase(w.places.begin() + at);
      for (std::uint32_t& begin : w.begin) begin -= begin > at ? 1 : 0;
      return "ordering: a place of a path dropped";
    }
  }
}

std::string layouts(Forger& f) {
  auto& order = f.c.memory->order;
  if (order.empty() || f.random.chance(15)) {
    order.emplace_back();
    return "memory: an occupancy more";
  }
  auto& buffers = f.any(order);
  if (buffers.empty() || f.random.chance(15)) {
    order.erase(order.begin() + f.place_in(order, false));
    return "memory: an occupancy dropped";
  }
  switch (f.random.below(4)) {
    case 0:
      std::swap(f.any(buffers), f.any(buffers));
      return "memory: two buffers exchanged";
    case 1:
      buffers.erase(buffers.begin() + f.place_in(buffers, false));
      return "memory: a buffer dropped";
    case 2:
      buffers.push_back(ir::BufferId(f.any(buffers)));
      return "memory: a buffer doubled";
    default:
      f.any(buffers) = ir::BufferId(f.random.below(6));
      return "memory: another buffer";
  }
}

std::string counts(Forger& f) {
  auto& w = *f.c.coverage;
  std::uint64_t* const all[] = {&w.tests, &w.supplies, &w.runs, &w.loops};
  if (f.random.chance(25)) {
    std::swap(*all[f.random.below(4)], *all[f.random.below(4)]);
    return "coverage: counts exchanged";
  }
  *all[f.random.below(4)] += f.random.chance(50) ? 1 : ~std::uint64_t{0};
  return "coverage: a count";
}

std::string centres(Forger& f) {
  auto& centre = f.c.boundary->centre;
  if (centre.empty() || f.random.chance(15)) {
    centre.push_back(f.random.below(f.transitions));
    return "boundary: a centre more";
  }
  switch (f.random.below(4)) {
    case 0:
      centre.erase(centre.begin() + f.place_in(centre, false));
      return "boundary: a centre dropped";
    case 1:
      std::swap(f.any(centre), f.any(centre));
      return "boundary: centres exchanged";
    case 2:
      f.any(centre) = proofs::boundary::kNone;
      return "boundary: no centre";
    default: {
      std::uint32_t& one = f.any(centre);
      one = f.id(one, f.transitions);
      return "boundary: another centre";
    }
  }
}

std::string rounds(Forger& f) {
  auto& w = *f.c.shard;
  if (f.random.chance(20)) {
    std::swap(w.first, w.rounds);
    return "shard: rounds exchanged";
  }
  // No reader takes more.
  (f.random.chance(50) ? w.first : w.rounds) = f.random.below(proofs::shard::kMostRounds + 1);
  return "shard: other rounds";
}

template <typename Witness>
void drop_or_add(std::optional<Witness>& witness) {
  if (witness) {
    witness.reset();
  } else {
    witness.emplace();
  }
}

std::string whole_witness(Forger& f) {
  switch (f.random.below(11)) {
    case 0:
      drop_or_add(f.c.liveness);
      return "witness of liveness";
    case 1:
      drop_or_add(f.c.bounds);
      return "witness of bounds";
    case 2:
      drop_or_add(f.c.quiescence);
      return "witness of quiescence";
    case 3:
      drop_or_add(f.c.ordering);
      return "witness of ordering";
    case 4:
      drop_or_add(f.c.flow);
      return "witness of flow";
    case 5:
      drop_or_add(f.c.memory);
      return "witness of memory";
    case 6:
      drop_or_add(f.c.reduction);
      return "witness of reduction";
    case 7:
      drop_or_add(f.c.shard);
      return "witness of shard";
    case 8:
      drop_or_add(f.c.boundary);
      return "witness of boundary";
    case 9:
      drop_or_add(f.c.isolation);
      return "witness of isolation";
    default:
      drop_or_add(f.c.coverage);
      return "witness of coverage";
  }
}

}  // namespace

namespace {

/// The proof of the whole is that of all sections.
std::string sections(Forger& f) {
  f.c.classes.assign(1 + f.random.below(2), f.c);
  f.c.class_of.assign(1 + f.random.below(3), 0);
  if (f.c.classes.size() == 2) f.c.class_of.push_back(1);
  static_cast<proofs::Proof&>(f.c) = {};
  return "classes of sections claimed";
}

}  // namespace

std::string alter(Certificate& certificate, std::uint32_t transitions, Random& random) {
  Forger f{certificate, std::max(transitions, 1U), random};
  if (certificate.boundary && random.chance(25)) return centres(f);
  if (certificate.shard && random.chance(25)) return rounds(f);
  const std::uint32_t draw = random.below(100);
  if (draw < 5) return digests(f);
  if (draw < 8) return foldings(f);
  if (draw < 10 && certificate.classes.empty()) return sections(f);
  if (draw < 30 && !certificate.justified.empty()) return one_place(f);
  if (draw < 45) return all_places(f);
  if (draw < 60 && certificate.liveness) return potentials(f);
  if (draw < 78 && certificate.ordering && !certificate.ordering->begin.empty())
    return paths_of_pairs(f);
  if (draw < 86 && certificate.memory) return layouts(f);
  if (draw < 91 && certificate.coverage) return counts(f);
  return whole_witness(f);
}

}  // namespace spatialcert::tests
