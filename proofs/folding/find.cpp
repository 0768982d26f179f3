#include "proofs/folding/find.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "proofs/find_subject.hpp"
#include "proofs/folding/check.hpp"
#include "proofs/folding/groups.hpp"
#include "proofs/folding/segments.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::proofs::folding {
namespace {

constexpr int kMostAttempts = 24;
/// Op instances of a folded program that are looked at.
constexpr std::uint64_t kMostLeft = 3'000'000;
/// Segments that are left at first; most programs need a few more, or fewer.
constexpr std::int64_t kFirstSegments = 9;

class Finder {
 public:
  Finder(const ir::Program& program, std::int64_t least_trips)
      : program_(program), whole_(ir::op_instances(program)) {
    if (!program.postconditions.empty()) {  // which the check would refuse
      why_ = "values pass through all trips, and reduction follows them";
      return;
    }
    for (Candidate& candidate : candidate_groups(program, least_trips))
      trials_.push_back({std::move(candidate), kFirstSegments, false, {}});
    if (trials_.empty()) why_ = "no loop of many trips whose counters balance";
  }

  std::variant<Fold, NoFold> run() {
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      if (!choose()) return NoFold{why_.empty() ? "no loop has trips to spare" : why_};
      if (looked_at_ > whole_) return no("folding it costs more than it saves");
      looked_at_ += ir::op_count(program_);
      auto made = ir::fold(program_, folding_);
      if (const auto* unfoldable = std::get_if<ir::Unfoldable>(&made)) {
        drop(unfoldable->group, unfoldable->why);
        continue;
      }
      auto folded = std::make_unique<ir::Folded>(std::move(std::get<ir::Folded>(made)));
      const std::uint64_t left = ir::op_instances(folded->program);
      looked_at_ += left;
      if (left > kMostLeft || left > whole_ / 2)
        return no(fmt::format("folded it still has {} ops", left));
      auto subject = find_subject(folded->program);
      if (std::holds_alternative<Untranslatable>(subject)) return NoFold{"too many iterations"};
      auto& made_subject = std::get<Subject>(subject);
      const auto objections = check(folding_, *folded, made_subject);
      if (objections.empty())
        return Fold{std::move(folding_), std::move(folded), std::move(made_subject)};
      for (const Objection& objection : objections) meet(objection, *folded, made_subject);
    }
    return no(fmt::format("not settled after {} attempts", kMostAttempts));
  }

 private:
  /// With why the first group was given up, if one was.
  [[nodiscard]] NoFold no(const std::string& why) const {
    return {why_.empty() ? why : why_ + "; " + why};
  }

  struct Trial {
    Candidate candidate;
    std::int64_t segments = 0;  ///< to be left
    bool skewed = false;
    std::vector<std::int64_t> skew;  ///< per loop: segments that are skipped at first
    bool dropped = false;
  };

  /// Makes `folding_` of the groups that have segments to spare.
  bool choose() {
    folding_.clear();
    trial_.clear();
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const Trial& trial = trials_[i];
      if (trial.dropped) continue;
      ir::FoldedGroup group;
      group.loops = trial.candidate.loops;
      std::int64_t most = 0;
      for (std::size_t l = 0; l < trial.skew.size(); ++l) {
        group.loops[l].skip = trial.skew[l] * group.loops[l].turns;
        most = std::max(most, trial.skew[l]);
      }
      group.removed = trial.candidate.segments - trial.segments - most;
      if (group.removed < 1) continue;
      folding_.push_back(std::move(group));
      trial_.push_back(i);
    }
    return !folding_.empty();
  }

  void drop(std::uint32_t group, const std::string& why) {
    trials_[trial_[group]].dropped = true;
    if (why_.empty()) why_ = why;
  }

  void meet(const Objection& objection, const ir::Folded& folded, const Subject& subject) {
    Trial& trial = trials_[trial_[objection.group]];
    if (objection.kind == Objection::Kind::too_few) {
      trial.segments = objection.segments;
      return;
    }
    if (objection.kind == Objection::Kind::backwards && !trial.skewed &&
        skew(objection.group, folded, subject))
      return;
    drop(objection.group, objection.why);
  }

  /// Lets loops begin their first segment later, so that no place inside leads backwards.
  bool skew(std::uint32_t group, const ir::Folded& folded, const Subject& subject) {
    Trial& trial = trials_[trial_[group]];
    trial.skewed = true;
    const auto labelled = segments_at(folding_, folded, subject.one, folded.depth[group]);
    const auto* segments = std::get_if<Segments>(&labelled);
    if (segments == nullptr) return false;
    std::map<std::uint32_t, std::size_t> loop_of;
    for (std::size_t l = 0; l < folding_[group].loops.size(); ++l)
      loop_of[folding_[group].loops[l].program] = l;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> least;
    for (const ir::Place& place : subject.net.places) {
      const std::uint32_t from = place.from.value();
      const std::uint32_t to = place.to.value();
      const std::uint32_t instance = segments->instance[from];
      if (instance == kNone || segments->instance[to] != instance || place.tokens != 0 ||
          segments->group[instance] != group)
        continue;
      const std::int64_t lag =
          std::int64_t{segments->segment[to]} - std::int64_t{segments->segment[from]};
      const std::pair ends{loop_of.at(subject.one.program[from]),
                           loop_of.at(subject.one.program[to])};
      const auto [at, fresh] = least.emplace(ends, lag);
      at->second = std::min(at->second, lag);
    }
    return relax(least, trial);
  }

  /// Least skews with skew(from) >= skew(to) - lag for every pair of loops; none if they grow
  /// without end.
  bool relax(const std::map<std::pair<std::size_t, std::size_t>, std::int64_t>& least,
             Trial& trial) {
    std::vector<std::int64_t> skew(trial.candidate.loops.size(), 0);
    for (std::size_t round = 0; round <= skew.size(); ++round) {
      bool changed = false;
      for (const auto& [ends, lag] : least) {
        if (skew[ends.first] >= skew[ends.second] - lag) continue;
        skew[ends.first] = skew[ends.second] - lag;
        changed = true;
      }
      if (!changed) {
        trial.skew = std::move(skew);
        return true;
      }
    }
    return false;
  }

  const ir::Program& program_;
  std::uint64_t whole_;          // op instances
  std::uint64_t looked_at_ = 0;  // in all attempts
  std::vector<Trial> trials_;
  ir::Folding folding_;
  std::vector<std::size_t> trial_;  // group of folding_ -> its trial
  std::string why_;                 // why the first group was given up
};

}  // namespace

std::variant<Fold, NoFold> find(const ir::Program& program, std::int64_t least_trips) {
  return Finder(program, least_trips).run();
}

}  // namespace spatialcert::proofs::folding
