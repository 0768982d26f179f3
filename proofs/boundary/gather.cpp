#include "proofs/boundary/gather.hpp"

#include <algorithm>

namespace spatialcert::proofs::boundary {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

std::vector<ir::Place> within_one_iteration(const ir::Net& net) {
  std::vector<ir::Place> out;
  for (const ir::Place& place : net.places) {
    if (place.tokens == 0 && !place.credit) out.push_back(place);
  }
  return out;
}

}  // namespace

Meetings::Meetings(const Subject& subject)
    : one_(subject.one),
      persistent_(subject.persistent()),
      places_(within_one_iteration(subject.net)),
      adjacency_(subject.one.transitions(), places_, false),
      entry_(subject.program->programs.size(), kNone) {
  const ir::Phases phases = ir::phases_of(*subject.program);
  std::vector<std::uint32_t> number(subject.program->boundaries.size(), kNone);
  for (std::uint32_t k = 0; k < phases.closed.size(); ++k) number[phases.closed[k].value()] = k;
  participants_.resize(phases.closed.size());
  in_phase_.resize(phases.count);
  for (const ir::Piece& piece : ir::pieces_of(*subject.program, subject.one)) {
    const std::uint32_t p = piece.program.value();
    if (piece.section.valid()) {
      auto& programs = in_phase_[phases.of[piece.section.value()]];
      // Pieces come program by program, and a merged phase has two of some of them.
      if (programs.empty() || programs.back() != p) programs.push_back(p);
      continue;
    }
    auto& all = participants_[number[piece.boundary.value()]];
    if (!all.empty() && all.back().program == p) {
      all.back().end = piece.end;  // the ops of a boundary may be given as several ranges
    } else {
      all.push_back({p, piece.begin, piece.end});
    }
  }
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

std::vector<std::uint32_t> Meetings::gathered(std::size_t boundary, std::uint32_t centre) {
  return reached(boundary, centre, Direction::backward);
}

std::vector<std::uint32_t> Meetings::released(std::size_t boundary, std::uint32_t centre) {
  return reached(boundary, centre, Direction::forward);
}

/// From `centre` along program order and places, without leaving the boundary's ops. Every op is
/// looked at once.
std::vector<std::uint32_t> Meetings::reached(std::size_t boundary, std::uint32_t centre,
                                             Direction direction) {
  const auto& all = participants_[boundary];
  const auto of_program = [&](std::uint32_t t) -> const Participant* {
    const auto at = std::lower_bound(
        all.begin(), all.end(), one_.program[t],
        [](const Participant& participant, std::uint32_t p) { return participant.program < p; });
    const bool inside =
        at != all.end() && at->program == one_.program[t] && at->begin <= t && t < at->end;
    return inside ? &*at : nullptr;
  };
  std::vector<std::uint32_t> open{centre}, programs;
  while (!open.empty()) {
    const std::uint32_t t = open.back();
    open.pop_back();
    const Participant* const part = of_program(t);
    if (part == nullptr) continue;
    // What is known already of this program: everything up to (from) its entry.
    std::uint32_t& entry = entry_[part->program];
    if (direction == Direction::backward) {
      const std::uint32_t from = entry == kNone ? part->begin : entry + 1;
      for (std::uint32_t u = from; u <= t; ++u) collect(direction, u, open);
      if (entry == kNone) programs.push_back(part->program);
      entry = entry == kNone ? t : std::max(entry, t);
    } else {
      const std::uint32_t end = entry == kNone ? part->end : entry;
      for (std::uint32_t u = t; u < end; ++u) collect(direction, u, open);
      if (entry == kNone) programs.push_back(part->program);
      entry = std::min(entry, t);
    }
  }
  for (const std::uint32_t p : programs) entry_[p] = kNone;
  std::sort(programs.begin(), programs.end());
  return programs;
}

void Meetings::collect(Direction direction, std::uint32_t t, std::vector<std::uint32_t>& open) {
  const bool backward = direction == Direction::backward;
  for (const std::uint32_t i : backward ? adjacency_.into(t) : adjacency_.out_of(t)) {
    open.push_back((backward ? places_[i].from : places_[i].to).value());
  }
}

}  // namespace spatialcert::proofs::boundary
