#include "proofs/cuts.hpp"

#include "proofs/boundary/gather.hpp"

namespace spatialcert::proofs {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

}  // namespace

Cuts cuts_of(const Subject& subject, const std::vector<std::uint32_t>& position,
             const std::vector<std::uint32_t>& centre) {
  Cuts cuts;
  const ir::Unrolled& u = subject.stretch;
  for (const std::uint32_t t : centre) {
    if (t == boundary::kNone) continue;
    const std::uint32_t p = subject.one.program[t];
    for (std::uint32_t i = 0; i < u.iterations; ++i) {
      cuts.centre.push_back(u.begin[p] + i * subject.one.length(ir::ProgramId(p)) +
                            (t - subject.one.begin[p]));
    }
  }
  std::sort(cuts.centre.begin(), cuts.centre.end(),
            [&](std::uint32_t a, std::uint32_t b) { return position[a] < position[b]; });
  for (const std::uint32_t t : cuts.centre) cuts.position.push_back(position[t]);
  return cuts;
}

Crossings::Crossings(const Subject& subject, const std::vector<std::uint32_t>& position,
                     const Cuts& cuts)
    : subject_(subject),
      position_(position),
      cuts_(cuts),
      before_(cuts.centre.size()),
      after_(cuts.centre.size()) {}

Crossings::Joints Crossings::fresh(std::uint32_t centre) const {
  Joints out;
  out.known = true;
  out.entry.assign(subject_.program->programs.size(), kNone);
  out.link.assign(subject_.program->programs.size(), kNone);
  out.entry[subject_.stretch.program[cuts_.centre[centre]]] = cuts_.centre[centre];
  return out;
}

/// Backwards from the centre: the latest op of every engine program that leads to it.
void Crossings::join_before(std::uint32_t centre) {
  const ir::Unrolled& u = subject_.stretch;
  Joints joints = fresh(centre);
  const std::uint32_t least = centre == 0 ? 0 : cuts_.position[centre - 1] + 1;
  std::vector<std::uint32_t> scanned(joints.entry.size(), 0);  // one past the last op looked at
  std::vector<std::uint32_t> open{u.program[cuts_.centre[centre]]};
  while (!open.empty()) {
    const std::uint32_t p = open.back();
    open.pop_back();
    const std::uint32_t end = joints.entry[p] + 1;
    std::uint32_t t = end;
    while (t > std::max(scanned[p], u.begin[p]) && position_[t - 1] >= least) --t;
    scanned[p] = end;
    for (; t < end; ++t) {
      for (const std::uint32_t i : subject_.order.into(t)) {
        const std::uint32_t from = subject_.places[i].from.value();
        const std::uint32_t q = u.program[from];
        if (position_[from] < least || (joints.entry[q] != kNone && joints.entry[q] >= from))
          continue;
        joints.entry[q] = from;
        joints.link[q] = i;
        open.push_back(q);
      }
    }
  }
  before_[centre] = std::move(joints);
}

/// Forwards from the centre: the first op of every engine program that it leads to.
void Crossings::join_after(std::uint32_t centre) {
  const ir::Unrolled& u = subject_.stretch;
  Joints joints = fresh(centre);
  const bool ends = centre + 1 == cuts_.position.size();
  const std::uint32_t most = ends ? kNone : cuts_.position[centre + 1];
  std::vector<std::uint32_t> scanned(joints.entry.size(), kNone);  // the first op looked at
  std::vector<std::uint32_t> open{u.program[cuts_.centre[centre]]};
  while (!open.empty()) {
    const std::uint32_t p = open.back();
    open.pop_back();
    const std::uint32_t end = std::min(scanned[p], u.begin[p + 1]);
    scanned[p] = joints.entry[p];
    for (std::uint32_t t = joints.entry[p]; t < end && position_[t] <= most; ++t) {
      for (const std::uint32_t i : subject_.order.out_of(t)) {
        const std::uint32_t to = subject_.places[i].to.value();
        const std::uint32_t q = u.program[to];
        if (position_[to] > most || joints.entry[q] <= to) continue;
        joints.entry[q] = to;
        joints.link[q] = i;
        open.push_back(q);
      }
    }
  }
  after_[centre] = std::move(joints);
}

std::optional<std::vector<std::uint32_t>> Crossings::path(std::uint32_t first, std::uint32_t last) {
  const ir::Unrolled& u = subject_.stretch;
  const std::uint32_t centre = cuts_.window(position_[first]);
  if (centre >= cuts_.centre.size() || cuts_.window(position_[last]) <= centre) return std::nullopt;
  if (!before_[centre].known) join_before(centre);
  if (!after_[centre].known) join_after(centre);
  const Joints& before = before_[centre];
  const Joints& after = after_[centre];
  const std::uint32_t middle = u.program[cuts_.centre[centre]];
  std::uint32_t p = u.program[first], q = u.program[last];
  if (before.entry[p] == kNone || before.entry[p] < first) return std::nullopt;
  if (after.entry[q] == kNone || after.entry[q] > last) return std::nullopt;
  std::vector<std::uint32_t> there, back;
  for (; p != middle; p = u.program[subject_.places[there.back()].to.value()])
    there.push_back(before.link[p]);
  for (; q != middle; q = u.program[subject_.places[back.back()].from.value()])
    back.push_back(after.link[q]);
  there.insert(there.end(), back.rbegin(), back.rend());
  return there;
}

}  // namespace spatialcert::proofs
