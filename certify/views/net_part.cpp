#include "certify/views/net_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "proofs/find_subject.hpp"

namespace spatialcert::certify::views {
namespace {

constexpr std::uint32_t kRadius = 2;
/// Above that, places that counting alone justifies are all there are: searching for more costs as
/// much as certifying.
constexpr std::uint32_t kMostSearched = 200'000;

ir::Net net_of(const OpNames& one, std::vector<std::string>& notes) {
  const ir::Unrolled& unrolled = one.unrolled();
  if (unrolled.transitions() <= kMostSearched) {
    auto subject = proofs::find_subject(one.program());
    if (auto* found = std::get_if<proofs::Subject>(&subject)) return std::move(found->net);
  }
  notes.emplace_back(
      "hand-offs of which several engine programs raise or lower the counter were "
      "not searched for");
  return ir::count_net(one.program(), unrolled).net;
}

class Selection {
 public:
  Selection(const ir::Unrolled& one, const ir::Net& net, std::uint32_t most)
      : one_(one), net_(net), order_(one.transitions(), net.places, true), most_(most) {
    distance_.assign(one.transitions(), kFar);
  }

  void around(const std::vector<std::uint32_t>& seeds) {
    std::deque<std::uint32_t> queue;
    for (const std::uint32_t t : seeds) reach(t, 0, queue);
    while (!queue.empty()) {
      const std::uint32_t t = queue.front();
      queue.pop_front();
      if (distance_[t] == kRadius) continue;
      const std::uint32_t next = distance_[t] + 1;
      const std::uint32_t p = one_.program[t];
      if (t > one_.begin[p]) reach(t - 1, next, queue);
      if (t + 1 < one_.begin[p + 1]) reach(t + 1, next, queue);
      for (const std::uint32_t place : order_.into(t)) {
        reach(net_.places[place].from.value(), next, queue);
      }
      for (const std::uint32_t place : order_.out_of(t)) {
        reach(net_.places[place].to.value(), next, queue);
      }
    }
  }

  /// Of every engine program equally many, as far as it has them.
  void beginnings() {
    const auto programs = static_cast<std::uint32_t>(one_.begin.size() - 1);
    bool added = true;
    for (std::uint32_t depth = 0; added && count_ < most_; ++depth) {
      added = false;
      for (std::uint32_t p = 0; p < programs && count_ < most_; ++p) {
        const std::uint32_t t = one_.begin[p] + depth;
        if (t >= one_.begin[p + 1]) continue;
        added = true;
        if (distance_[t] == kFar) take(t, 0);
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> taken() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t t = 0; t < distance_.size(); ++t) {
      if (distance_[t] != kFar) all.push_back(t);
    }
    return all;
  }

 private:
  static constexpr std::uint32_t kFar = 0xffffffffU;

  void take(std::uint32_t t, std::uint32_t distance) {
    distance_[t] = distance;
    ++count_;
  }
  void reach(std::uint32_t t, std::uint32_t distance, std::deque<std::uint32_t>& queue) {
    if (distance_[t] != kFar || count_ >= most_) return;
    take(t, distance);
    queue.push_back(t);
  }

  const ir::Unrolled& one_;
  const ir::Net& net_;
  ir::Adjacency order_;
  std::uint32_t most_;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> distance_;
};

}  // namespace

bool can_unroll(const ir::Program& program, const proofs::Counterexample& c) {
  return std::holds_alternative<ir::Unrolled>(ir::unroll(program, c.iterations));
}

std::uint32_t in_one_iteration(const OpNames& one, const OpNames& names, ir::TransitionId t) {
  const std::uint32_t p = names.program_of(t).value();
  const std::uint32_t length = names.unrolled().length(ir::ProgramId(p));
  return one.unrolled().begin[p] + (t.value() - names.unrolled().begin[p]) % length;
}

NetPart net_part(const OpNames& one, const OpNames& names, const std::vector<Mark>& marks,
                 const Options& options) {
  NetPart part;
  part.net = net_of(one, part.notes);
  part.transitions = one.unrolled().transitions();
  std::vector<std::uint32_t> seeds;
  for (const Mark& mark : marks) {
    if (mark.transition.valid()) seeds.push_back(in_one_iteration(one, names, mark.transition));
  }
  Selection selection(one.unrolled(), part.net, options.most_transitions);
  // Of a whole net that is too large, what is marked remains.
  if (!seeds.empty()) selection.around(seeds);
  if (seeds.empty() || options.whole_net) selection.beginnings();
  part.shown = selection.taken();
  std::uint64_t cut = 0;
  const auto shown = [&](ir::TransitionId t) {
    return std::binary_search(part.shown.begin(), part.shown.end(), t.value());
  };
  for (std::uint32_t i = 0; i < part.net.places.size(); ++i) {
    const bool from = shown(part.net.places[i].from);
    const bool to = shown(part.net.places[i].to);
    if (from && to) part.places.push_back(i);
    if (from != to) ++cut;
  }
  if (part.shown.size() < part.transitions) {
    part.notes.push_back(
        fmt::format("{} of {} op instances are shown", part.shown.size(), part.transitions));
  }
  if (cut != 0) {
    part.notes.push_back(fmt::format("{} from or to what is not shown {} left out",
                                     count_text(static_cast<std::int64_t>(cut), "hand-off"),
                                     cut == 1 ? "is" : "are"));
  }
  return part;
}

std::string place_text(const OpNames& one, const ir::Place& place) {
  std::string text = counter_text(one.program(), one.counters()[place.counter]);
  if (place.tokens != 0) text += ", " + count_text(place.tokens, "token");
  if (place.credit) text += " (a deeper fifo does not wait)";
  return text;
}

}  // namespace spatialcert::certify::views
