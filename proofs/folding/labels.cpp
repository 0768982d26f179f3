#include "proofs/folding/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "proofs/folding/segments.hpp"
#include "proofs/issues.hpp"
#include "proofs/reduction/type_run.hpp"
#include "proofs/shard/labels.hpp"
#include "proofs/shard/rounds.hpp"

namespace spatialcert::proofs::folding {
namespace {

/// With which earlier transitions a transition has to agree, at one depth.
class Likes {
 public:
  Likes(const ir::Folded& folded, const ir::Unrolled& one, const Segments& segments)
      : folded_(folded),
        one_(one),
        segments_(segments),
        before_(one.transitions(), kNone),
        first_(one.transitions(), kNone) {
    for (std::uint32_t p = 0; p < folded.program.programs.size(); ++p) look(p);
  }

  /// Is it in the loops?
  [[nodiscard]] bool inside(std::uint32_t t) const {
    return segments_.around[t] != kNone && segments_.beside[t] == 0;
  }
  /// Its like in the segment before; ~0 if there is none.
  [[nodiscard]] std::uint32_t before(std::uint32_t t) const { return before_[t]; }
  /// If it writes where writes were widened, the first execution of its op; otherwise ~0.
  [[nodiscard]] std::uint32_t first(std::uint32_t t) const { return first_[t]; }

 private:
  void look(std::uint32_t p) {
    const auto& ops = folded_.program.programs[p].ops;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> latest(ops.size(), {kNone, kNone});
    std::uint32_t start = 0;   // of the segment
    std::uint32_t length = 0;  // of the one before, 0 if there is none
    for (std::uint32_t t = one_.begin[p]; t < one_.begin[p + 1]; ++t) {
      const std::uint32_t instance = segments_.instance[t];
      const bool goes_on = t > one_.begin[p] && segments_.instance[t - 1] == instance;
      if (instance != kNone && (!goes_on || segments_.segment[t - 1] != segments_.segment[t])) {
        length = goes_on ? t - start : 0;
        start = t;
      }
      if (instance != kNone && length != 0) before_[t] = t - length;
      if (!inside(t) || !writes_widened(ops[one_.op[t]], segments_.group[segments_.around[t]]))
        continue;
      auto& [execution, first] = latest[one_.op[t]];
      if (execution != segments_.around[t]) {
        execution = segments_.around[t];
        first = t;
      }
      first_[t] = first;
    }
  }

  [[nodiscard]] bool writes_widened(const ir::Op& op, std::uint32_t group) const {
    const auto& widened = folded_.widened[group];
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      const ir::Access& access = folded_.program.accesses[a];
      if (access.write && access.region.kind == ir::RegionKind::tensor &&
          std::binary_search(widened.begin(), widened.end(), ir::TensorId(access.region.object)))
        return true;
    }
    return false;
  }

  const ir::Folded& folded_;
  const ir::Unrolled& one_;
  const Segments& segments_;
  std::vector<std::uint32_t> before_, first_;
};

/// What differs between labels and types.
struct OfLabels : shard::LabelRun {
  OfLabels(const Subject& reduced, const shard::Round& round)
      : LabelRun(*reduced.program, round.unrolled(), round.accesses()) {}
  static constexpr const char* kParts = "parts of what it reads derive from different chips";
  static constexpr const char* kTrips = "what it writes derives from other chips in other trips";
  [[nodiscard]] bool like(shard::LabelId a, shard::LabelId b) const { return a == b; }
};
struct OfTypes : reduction::TypeRun {
  OfTypes(const Subject& reduced, const shard::Round& round)
      : TypeRun(*reduced.program, *reduced.text, round.unrolled(), round.accesses()) {}
  static constexpr const char* kParts = "parts of what it reads are of different types";
  static constexpr const char* kTrips = "what it writes is of another type in other trips";
  [[nodiscard]] bool like(reduction::TypeId a, reduction::TypeId b) const { return alike(a, b); }
};

template <typename Run>
class Comparison {
 public:
  Comparison(const ir::Folded& folded, const Subject& reduced, const shard::Round& round,
             const std::vector<Segments>& depths)
      : subject_(reduced),
        round_(round),
        run_(reduced, round),
        written_(reduced.one.transitions(), 0) {
    for (const Segments& segments : depths) likes_.emplace_back(folded, reduced.one, segments);
  }

  std::optional<std::string> run(std::uint32_t rounds) {
    for (std::uint32_t r = 0; r < rounds; ++r) {
      for (const std::uint32_t t : round_.order()) {
        if (auto why = perform(t)) return why;
      }
      static_cast<void>(run_.restart(round_.kept()));
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> perform(std::uint32_t t) {
    const bool inside = std::any_of(likes_.begin(), likes_.end(),
                                    [&](const Likes& likes) { return likes.inside(t); });
    const auto named = [&](const char* what) {
      return fmt::format("{}: {}", transition_text(subject_, t), what);
    };
    if (inside && !operands_are_uniform(t)) return named(Run::kParts);
    static_cast<void>(run_.perform(t));
    if (!inside) return std::nullopt;
    const auto [at, fresh] =
        number_.emplace(run_.results(), static_cast<std::uint32_t>(number_.size()));
    written_[t] = at->second;
    for (const Likes& likes : likes_) {
      for (const std::uint32_t like : {likes.before(t), likes.first(t)}) {
        if (like != kNone && written_[like] != written_[t]) return named(Run::kTrips);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool operands_are_uniform(std::uint32_t t) {
    const shard::Step& step = run_.dataflow().step(t);
    const ir::AccessMap& accesses = run_.dataflow().accesses();
    for (const shard::Part& part : step.parts) {
      std::size_t at = 0;
      for (const std::size_t end : part.ends) {
        const std::uint32_t label = run_.contents()[part.reads[at]];
        for (; at < end; ++at) {
          const std::uint32_t storage = accesses.segments[part.reads[at]].storage;
          if (accesses.storages[storage].kind == ir::Storage::Kind::tensor &&
              !run_.like(run_.contents()[part.reads[at]], label))
            return false;
        }
      }
    }
    return true;
  }

  const Subject& subject_;
  const shard::Round& round_;
  Run run_;
  std::vector<Likes> likes_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> number_;  // labels of what a run writes
  std::vector<std::uint32_t> written_;                          // in the latest round
};

template <typename Run>
std::optional<std::string> change(const ir::Folding& folding, const ir::Folded& folded,
                                  const Subject& reduced, std::uint32_t rounds) {
  const auto round = shard::round_of(reduced);
  if (const auto* why = std::get_if<std::string>(&round)) return *why;
  std::vector<Segments> depths;
  for (const std::uint32_t depth :
       std::set<std::uint32_t>(folded.depth.begin(), folded.depth.end())) {
    auto segments = segments_at(folding, folded, reduced.one, depth);
    if (std::holds_alternative<Uneven>(segments)) return "loops run unequally often";
    depths.push_back(std::move(std::get<Segments>(segments)));
  }
  return Comparison<Run>(folded, reduced, std::get<shard::Round>(round), depths).run(rounds);
}

}  // namespace

std::optional<std::string> labels_change(const ir::Folding& folding, const ir::Folded& folded,
                                         const Subject& reduced, const shard::Witness& witness) {
  return change<OfLabels>(folding, folded, reduced, witness.rounds);
}

std::optional<std::string> types_change(const ir::Folding& folding, const ir::Folded& folded,
                                        const Subject& reduced, const reduction::Typing& witness) {
  return change<OfTypes>(folding, folded, reduced, witness.rounds);
}

}  // namespace spatialcert::proofs::folding
