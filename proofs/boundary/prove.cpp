#include <fmt/format.h>

#include <algorithm>

#include "proofs/boundary/rule.hpp"
#include "proofs/issues.hpp"
#include "proofs/reversal.hpp"
#include "proofs/schedules.hpp"

namespace spatialcert::proofs::boundary {
namespace {

/// Ops of a boundary that are tried as its centre, those with the most places into them first.
constexpr std::size_t kCandidates = 8;
/// Engine programs whose first op after a boundary is examined for what it does not wait for.
constexpr std::size_t kExamined = 64;
/// Boundaries whose questions are put together before any is asked.
constexpr std::size_t kTogether = 256;

class Prover {
 public:
  Prover(const Subject& subject, const std::vector<std::uint32_t>& position, smt::Session& session)
      : subject_(subject),
        position_(position),
        session_(session),
        meetings_(subject),
        phases_(ir::phases_of(*subject.program)),
        adjacency_(subject.one.transitions(), subject.net.places, false),
        places_into_(subject.one.transitions(), 0),
        pieces_(ir::pieces_of(*subject.program, subject.one)) {
    for (const ir::Place& place : subject.net.places) ++places_into_[place.to.value()];
    piece_begin_.assign(subject.program->programs.size() + 1, 0);
    for (const ir::Piece& piece : pieces_) ++piece_begin_[piece.program.value() + 1];
    for (std::size_t p = 1; p < piece_begin_.size(); ++p) piece_begin_[p] += piece_begin_[p - 1];
  }

  Search<Witness> run() {
    std::vector<std::uint32_t> centre(meetings_.size(), kNone);
    // In a circle, the centre before the first is not known when that is looked for.
    for (std::uint32_t rounds = meetings_.rounds(); rounds > 0; --rounds) {
      for (std::size_t k = 0; k < meetings_.size(); ++k) {
        if (!find_centre(k, centre)) return refute(k);
      }
    }
    for (std::size_t k = 0; k < meetings_.size();) {
      std::vector<std::vector<OrderedPair>> lists;
      for (const std::size_t end = std::min(meetings_.size(), k + kTogether); k < end; ++k)
        centre[k] == kNone ? add_each(k, lists) : add_about(k, centre[k], lists);
      if (auto reason = refute_near(subject_, position_, session_, lists))
        return Unknown{std::move(*reason)};
    }
    return Proved<Witness>{{std::move(centre)}};
  }

 private:
  /// Sets centre[k] to an op of boundary k that joins it and comes after the centre before it, as
  /// far as that is known; or to `kNone` if it is joined without. False if it is not.
  [[nodiscard]] bool find_centre(std::size_t k, std::vector<std::uint32_t>& centre) {
    const auto joins = [&](std::uint32_t t) {
      centre[k] = t;
      return !meetings_.gap(k, centre);
    };
    if (centre[k] != kNone && joins(centre[k])) return true;
    std::vector<std::uint32_t> candidates;
    for (const Participant& part : meetings_.participants(k)) {
      for (std::uint32_t t = part.own.begin; t < part.own.end; ++t) candidates.push_back(t);
    }
    const std::size_t tried = std::min(kCandidates, candidates.size());
    std::partial_sort(
        candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(tried),
        candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
          return places_into_[a] != places_into_[b] ? places_into_[a] > places_into_[b] : a < b;
        });
    candidates.resize(tried);
    return std::any_of(candidates.begin(), candidates.end(), joins) || joins(kNone);
  }

  // ---- the question for Z3
  // -----------------------------------------------------------------------

  /// The first piece of `program` that stands after boundary k or belongs to it, or the end.
  [[nodiscard]] std::vector<ir::Piece>::const_iterator from_seam(std::size_t k,
                                                                 std::uint32_t program) const {
    const std::uint32_t seam = seam_of(k);
    const auto begin = pieces_.begin();
    return std::partition_point(
        begin + piece_begin_[program], begin + piece_begin_[program + 1],
        [&](const ir::Piece& piece) {
          if (piece.section.valid()) return piece.section.value() <= seam;
          return subject_.program->boundaries[piece.boundary.value()].after.value() < seam;
        });
  }
  /// The last section op of `program` before boundary k; nothing if that is in an iteration before.
  [[nodiscard]] std::optional<std::uint32_t> last_before(std::size_t k,
                                                         std::uint32_t program) const {
    for (auto at = from_seam(k, program); at != pieces_.begin() + piece_begin_[program];) {
      if ((--at)->section.valid()) return at->end - 1;
    }
    return std::nullopt;
  }
  /// The first after it; nothing if that is in the next iteration.
  [[nodiscard]] std::optional<std::uint32_t> first_after(std::size_t k,
                                                         std::uint32_t program) const {
    const auto end = pieces_.begin() + piece_begin_[program + 1];
    for (auto at = from_seam(k, program); at != end; ++at) {
      if (at->section.valid()) return at->begin;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint32_t> first_op(std::uint32_t program) const {
    for (std::uint32_t i = piece_begin_[program]; i < piece_begin_[program + 1]; ++i) {
      if (pieces_[i].section.valid()) return pieces_[i].begin;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint32_t> last_op(std::uint32_t program) const {
    for (std::uint32_t i = piece_begin_[program + 1]; i-- > piece_begin_[program];) {
      if (pieces_[i].section.valid()) return pieces_[i].end - 1;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint32_t seam_of(std::size_t k) const {
    return subject_.program->boundaries[phases_.closed[k].value()].after.value();
  }

  /// Both ends of boundary k in iteration 1 of a persistent program (that has one before it), in
  /// the only one of any other.
  void add_about(std::size_t k, std::uint32_t centre,
                 std::vector<std::vector<OrderedPair>>& lists) const {
    const std::uint32_t round = subject_.persistent() ? 1 : 0;
    const std::uint32_t middle = meetings_.at(centre, round);
    std::vector<OrderedPair> direct, others;
    const auto add = [&](std::uint32_t first, std::uint32_t last, bool joined) {
      const auto& program = subject_.stretch.program;
      if (program[first] == program[last]) return;
      const auto reach = joined ? ordering::Reach::direct : ordering::Reach::anywhere;
      (joined ? direct : others).push_back({first, last, reach, false});
    };
    const auto into = neighbours(k, centre, true), out_of = neighbours(k, centre, false);
    for (const std::uint32_t p : meetings_.before(k)) {
      if (const auto t = op_before(k, p, round))
        add(*t, middle, std::binary_search(into.begin(), into.end(), p));
    }
    for (const std::uint32_t p : meetings_.after(k)) {
      if (const auto t = op_after(k, p, round))
        add(middle, *t, std::binary_search(out_of.begin(), out_of.end(), p));
    }
    lists.push_back(std::move(direct));
    lists.push_back(std::move(others));
  }

  /// The same for a boundary without a centre.
  void add_each(std::size_t k, std::vector<std::vector<OrderedPair>>& lists) const {
    const std::uint32_t round = subject_.persistent() ? 1 : 0;
    std::vector<OrderedPair> pairs;
    for (const std::uint32_t p : meetings_.before(k)) {
      const auto last = op_before(k, p, round);
      if (!last) continue;
      for (const std::uint32_t q : meetings_.after(k)) {
        const auto first = op_after(k, q, round);
        if (first && p != q) pairs.push_back({*last, *first, ordering::Reach::anywhere, false});
      }
    }
    lists.push_back(std::move(pairs));
  }

  /// Engine programs with a place from their part of boundary k to that of the centre, up to the
  /// centre; or from there on to theirs.
  [[nodiscard]] std::vector<std::uint32_t> neighbours(std::size_t k, std::uint32_t centre,
                                                      bool into) const {
    std::vector<std::uint32_t> out;
    for (const Participant& part : meetings_.participants(k)) {
      if (part.program != subject_.one.program[centre]) continue;
      const std::uint32_t first = into ? part.own.begin : centre;
      const std::uint32_t last = into ? centre + 1 : part.own.end;
      for (std::uint32_t t = first; t < last; ++t) {
        for (const std::uint32_t i : into ? adjacency_.into(t) : adjacency_.out_of(t)) {
          const ir::Place& place = subject_.net.places[i];
          out.push_back(subject_.one.program[(into ? place.from : place.to).value()]);
        }
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  [[nodiscard]] std::optional<std::uint32_t> op_before(std::size_t k, std::uint32_t p,
                                                       std::uint32_t round) const {
    if (const auto t = last_before(k, p)) return meetings_.at(*t, round);
    if (round == 0) return std::nullopt;
    const auto t = last_op(p);
    return t ? std::optional(meetings_.at(*t, round - 1)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint32_t> op_after(std::size_t k, std::uint32_t p,
                                                      std::uint32_t round) const {
    if (const auto t = first_after(k, p)) return meetings_.at(*t, round);
    if (!subject_.persistent()) return std::nullopt;
    const auto t = first_op(p);
    return t ? std::optional(meetings_.at(*t, round + 1)) : std::nullopt;
  }

  // ---- counterexample
  // ----------------------------------------------------------------------------

  Search<Witness> refute(std::size_t k) {
    std::optional<Counterexample> best;
    // Most boundaries fail in every iteration; then the second shows it next to the first.
    for (std::uint32_t round = meetings_.rounds(); round-- > 0 && !best;) best = slip(k, round);
    if (best) return Refuted{std::move(*best)};
    return Unknown{fmt::format(
        "found neither that the boundary after section {} joins what is before it to what is after "
        "it, nor a schedule that slips through",
        subject_.program->sections[seam_of(k)].name)};
  }

  /// A schedule that performs an op after boundary k and not one before it. Of several, the one
  /// that performs the fewest ops.
  [[nodiscard]] std::optional<Counterexample> slip(std::size_t k, std::uint32_t round) const {
    std::optional<Counterexample> best;
    std::size_t fewest = 0;
    std::size_t examined = 0;
    const auto programs = static_cast<std::uint32_t>(subject_.program->programs.size());
    for (std::uint32_t q = 0; q < programs && examined < kExamined; ++q) {
      const auto first = op_after(k, q, round);
      if (!first) continue;
      ++examined;
      const auto past = causal_past(subject_, {*first}, true);
      const auto size = static_cast<std::size_t>(std::count(past.begin(), past.end(), 1));
      if (best && size >= fewest) continue;
      for (std::uint32_t p = 0; p < programs; ++p) {
        const auto last = op_before(k, p, round);
        if (p == q || !last || past[*last] != 0) continue;
        Counterexample c;
        c.kind = Kind::slip_through;
        c.iterations = subject_.stretch.iterations;
        c.index = phases_.closed[k].value();
        c.ops = {ir::TransitionId(*first), ir::TransitionId(*last)};
        c.schedules.push_back(schedule_of(subject_, position_, past));
        if (!std::holds_alternative<Reproduced>(replay(*subject_.program, c))) continue;
        best = std::move(c);
        fewest = size;
        break;
      }
    }
    return best;
  }

  const Subject& subject_;
  const std::vector<std::uint32_t>& position_;
  smt::Session& session_;
  Meetings meetings_;
  ir::Phases phases_;
  ir::Adjacency adjacency_;
  std::vector<std::uint32_t> places_into_;
  std::vector<ir::Piece> pieces_;
  std::vector<std::uint32_t> piece_begin_;  ///< per engine program
};

}  // namespace

Search<Witness> prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                      smt::Session& session) {
  return Prover(subject, position, session).run();
}

}  // namespace spatialcert::proofs::boundary
