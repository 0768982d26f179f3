#include "proofs/boundary/gather.hpp"

#include <algorithm>
#include <utility>

namespace spatialcert::proofs::boundary {
void Range::cover(Range other) {
  if (begin == end) begin = other.begin;
  end = std::max(end, other.end);
}

Meetings::Meetings(const Subject& subject)
    : subject_(subject),
      persistent_(subject.persistent()),
      entry_(subject.program->programs.size(), kNone) {
  const ir::Program& program = *subject.program;
  const ir::Phases phases = ir::phases_of(program);
  std::vector<std::uint32_t> number(program.boundaries.size(), kNone);
  for (std::uint32_t k = 0; k < phases.closed.size(); ++k) number[phases.closed[k].value()] = k;
  participants_.resize(phases.closed.size());
  in_phase_.resize(phases.count);
  for (const ir::Piece& piece : ir::pieces_of(program, subject.one)) {
    if (!piece.section.valid()) {
      add(piece, kNone, number[piece.boundary.value()]);
      continue;
    }
    const std::uint32_t section = piece.section.value(), p = piece.program.value();
    auto& programs = in_phase_[phases.of[section]];
    // Pieces come program by program, and a merged phase has two of some of them.
    if (programs.empty() || programs.back() != p) programs.push_back(p);
    add(piece, phases.in_order[section], kNone);
  }
}

/// Adds a piece of section ops in `phase`, between the boundaries `phase - 1` and `phase`, or one
/// of a boundary.
void Meetings::add(const ir::Piece& piece, std::uint32_t phase, std::uint32_t boundary) {
  const bool own = boundary != kNone;
  const std::uint32_t middle = own ? boundary : phase;
  for (std::uint32_t k = middle == 0 ? 0 : middle - 1; k <= middle + (own ? 1 : 0) && k < size();
       ++k) {
    auto& all = participants_[k];
    if (all.empty() || all.back().program != piece.program.value())
      all.push_back({piece.program.value(), {}, {}, kNone, kNone});
    Participant& part = all.back();
    part.around.cover({piece.begin, piece.end});
    if (own && k == boundary) part.own.cover({piece.begin, piece.end});
    if (!own && k == phase) part.last = piece.end - 1;
    if (!own && k != phase && part.first == kNone) part.first = piece.begin;
  }
}

const Participant* Meetings::participant(std::size_t boundary, std::uint32_t program) const {
  const auto& all = participants_[boundary];
  const auto at =
      std::lower_bound(all.begin(), all.end(), program,
                       [](const Participant& part, std::uint32_t p) { return part.program < p; });
  return at != all.end() && at->program == program ? &*at : nullptr;
}

const std::vector<std::uint32_t>& Meetings::before(std::size_t boundary) const {
  return in_phase_[boundary];
}

const std::vector<std::uint32_t>& Meetings::after(std::size_t boundary) const {
  if (boundary + 1 < in_phase_.size()) return in_phase_[boundary + 1];
  return persistent_ ? in_phase_[0] : none_;
}

std::optional<std::size_t> Meetings::previous(std::size_t boundary) const {
  if (boundary > 0) return boundary - 1;
  return persistent_ ? std::optional(size() - 1) : std::nullopt;
}

std::uint32_t Meetings::at(std::uint32_t t, std::uint32_t round) const {
  const std::uint32_t p = subject_.one.program[t];
  return subject_.stretch.begin[p] + round * subject_.one.length(ir::ProgramId(p)) +
         (t - subject_.one.begin[p]);
}

std::optional<std::uint32_t> Meetings::last_before(std::size_t boundary, std::uint32_t round,
                                                   std::uint32_t p) const {
  const Participant* const part = participant(boundary, p);
  if (part != nullptr && part->last != kNone) return at(part->last, round);
  if (round == 0) return std::nullopt;
  // Its ops of that phase are in the iteration before, behind the last boundary.
  return at(subject_.one.begin[p + 1] - 1, round - 1);
}

std::uint32_t Meetings::first_after(std::size_t boundary, std::uint32_t round,
                                    std::uint32_t p) const {
  const Participant* const part = participant(boundary, p);
  if (part != nullptr && part->first != kNone) return at(part->first, round);
  return at(subject_.one.begin[p], round + 1);  // of the next iteration, before its first boundary
}

std::optional<Meetings::Gap> Meetings::gap(std::size_t boundary,
                                           const std::vector<std::uint32_t>& centre) {
  for (std::uint32_t round = 0; round < rounds(); ++round) {
    const Place own{boundary, round, Scope::own}, around{boundary, round, Scope::around};
    std::optional<Gap> found;
    if (centre[boundary] == kNone) {
      found = not_joined(around);
    } else {
      if (not_gathered(own, centre)) found = not_gathered(around, centre);
      if (found) return found;
      if (not_released(own, centre[boundary])) found = not_released(around, centre[boundary]);
    }
    if (found) return found;
  }
  return std::nullopt;
}

namespace {

/// What is noted for `program`; `kNone` if nothing is.
std::uint32_t noted(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& reached,
                    std::uint32_t program) {
  const auto found =
      std::lower_bound(reached.begin(), reached.end(), program,
                       [](const auto& one, std::uint32_t p) { return one.first < p; });
  return found != reached.end() && found->first == program ? found->second : kNone;
}

}  // namespace

std::optional<std::uint32_t> Meetings::not_leading(const Place& place, const Reached& leads) const {
  for (const std::uint32_t p : before(place.boundary)) {
    const auto last = last_before(place.boundary, place.round, p);
    const std::uint32_t op = noted(leads, p);
    if (last && (op == kNone || op < *last)) return p;
  }
  return std::nullopt;
}

std::optional<Meetings::Gap> Meetings::not_gathered(const Place& place,
                                                    const std::vector<std::uint32_t>& centre) {
  const std::uint32_t middle = centre[place.boundary];
  const std::uint32_t to = subject_.one.program[middle];
  const Reached leads = reached(place, at(middle, place.round), Direction::backward);
  if (const auto p = not_leading(place, leads)) return Gap{*p, to};
  const auto other = previous(place.boundary);
  const bool in_round_before = place.boundary == 0;
  if (!other || centre[*other] == kNone || (in_round_before && place.round == 0))
    return std::nullopt;
  const std::uint32_t op = noted(leads, subject_.one.program[centre[*other]]);
  if (op == kNone || op < at(centre[*other], place.round - (in_round_before ? 1 : 0)))
    return Gap{subject_.one.program[centre[*other]], to};
  return std::nullopt;
}

std::optional<Meetings::Gap> Meetings::not_released(const Place& place, std::uint32_t centre) {
  const Reached waits = reached(place, at(centre, place.round), Direction::forward);
  for (const std::uint32_t q : after(place.boundary)) {
    const std::uint32_t op = noted(waits, q);
    if (op > first_after(place.boundary, place.round, q))  // `kNone` included
      return Gap{subject_.one.program[centre], q};
  }
  return std::nullopt;
}

/// Without a centre nothing orders what is several phases apart but what lies between, so there
/// must be something.
std::optional<Meetings::Gap> Meetings::not_joined(const Place& place) {
  if (before(place.boundary).empty() || after(place.boundary).empty()) return Gap{};
  for (const std::uint32_t q : after(place.boundary)) {
    const std::uint32_t first = first_after(place.boundary, place.round, q);
    if (const auto p = not_leading(place, reached(place, first, Direction::backward)))
      return Gap{*p, q};
  }
  return std::nullopt;
}

/// The ops of `program` that a search may pass through. Around a boundary they lead from the one
/// before it to the one after it, which may be those of the iteration before and after.
Range Meetings::range(const Place& place, std::uint32_t program) const {
  Range out;
  const auto cover = [&](std::size_t boundary, std::uint32_t round) {
    const Participant* const part = participant(boundary, program);
    if (part == nullptr) return;
    const Range& ops = place.scope == Scope::own ? part->own : part->around;
    if (ops.begin != ops.end) out.cover({at(ops.begin, round), at(ops.end - 1, round) + 1});
  };
  const bool wraps = persistent_ && place.scope == Scope::around;
  if (wraps && place.boundary == 0 && place.round > 0) cover(size() - 1, place.round - 1);
  cover(place.boundary, place.round);
  if (wraps && place.boundary + 1 == size()) cover(0, place.round + 1);
  return out;
}

/// From `origin` along program order and places, without leaving the scope. Every op is looked at
/// once.
Meetings::Reached Meetings::reached(const Place& place, std::uint32_t origin, Direction direction) {
  std::vector<std::uint32_t> open{origin};
  Reached out;
  while (!open.empty()) {
    const std::uint32_t t = open.back();
    open.pop_back();
    const std::uint32_t p = subject_.stretch.program[t];
    const Range inside = range(place, p);
    if (!inside.holds(t)) continue;
    // What is known already of this program: everything up to (from) its entry.
    std::uint32_t& entry = entry_[p];
    if (entry == kNone) out.emplace_back(p, kNone);
    if (direction == Direction::backward) {
      const std::uint32_t from = entry == kNone ? inside.begin : entry + 1;
      for (std::uint32_t u = from; u <= t; ++u) collect(direction, u, open);
      entry = entry == kNone ? t : std::max(entry, t);
    } else {
      const std::uint32_t end = entry == kNone ? inside.end : entry;
      for (std::uint32_t u = t; u < end; ++u) collect(direction, u, open);
      entry = std::min(entry, t);
    }
  }
  for (auto& [program, entry] : out) entry = std::exchange(entry_[program], kNone);
  std::sort(out.begin(), out.end());
  return out;
}

/// Never over a credit: a FIFO may be deeper than guaranteed.
void Meetings::collect(Direction direction, std::uint32_t t,
                       std::vector<std::uint32_t>& open) const {
  const bool backward = direction == Direction::backward;
  for (const std::uint32_t i : backward ? subject_.order.into(t) : subject_.order.out_of(t)) {
    const ir::Place& place = subject_.places[i];
    open.push_back((backward ? place.from : place.to).value());
  }
}

}  // namespace spatialcert::proofs::boundary
