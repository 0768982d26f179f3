#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "proofs/issues.hpp"
#include "proofs/shard/labels.hpp"
#include "proofs/shard/path.hpp"
#include "proofs/shard/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::shard {
namespace {

/// Terms of one query, roughly.
constexpr std::size_t kQuerySize = 6'000;
/// Rounds that are looked at for a refutation where nothing can be proved.
constexpr std::uint32_t kRoundsWithoutProof = 3;

/// A label as the solver found it.
struct Known {
  /// Numbers of chips (positions in Labels::chips()), ascending; true: in all of the content.
  std::vector<std::pair<std::uint32_t, bool>> chips;
  bool doubled = false;  ///< some of them twice
  friend auto operator<=>(const Known&, const Known&) = default;
};

/// What the solver found every content's label to be, as numbers of labels.
class Knowledge {
 public:
  Knowledge() { number(Known{}); }
  std::uint32_t number(const Known& label) {
    const auto [at, fresh] = index_.emplace(label, static_cast<std::uint32_t>(labels_.size()));
    if (fresh) labels_.push_back(&at->first);
    return at->second;
  }
  [[nodiscard]] const Known& operator[](std::uint32_t number) const { return *labels_[number]; }

 private:
  std::map<Known, std::uint32_t> index_;
  std::vector<const Known*> labels_;  // into index_
};

/// A label as booleans; chips without one are certainly not in it.
struct Bits {
  struct Chip {
    std::uint32_t number;
    smt::Term some;                ///< in some of the content, at least
    std::optional<smt::Term> all;  ///< in all of it; nothing: certainly not
  };
  std::vector<Chip> chips;
  std::optional<smt::Term> doubled;
};

/// Some runs, as equations of the labels that they read and write.
class Equations {
 public:
  Equations(smt::Query& query, const Knowledge& knowledge, const std::vector<std::uint32_t>& known,
            std::size_t chips, bool all_chips_own)
      : query_(query),
        knowledge_(knowledge),
        known_(known),
        chips_(chips),
        all_chips_own_(all_chips_own) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Segments that were written, with their labels.
  [[nodiscard]] const std::unordered_map<std::uint32_t, Bits>& written() const { return written_; }
  /// "A content with a label that is not empty is stored to the spine", one term per such store.
  [[nodiscard]] const std::vector<smt::Term>& violations() const { return violations_; }

  void add(const Step& step, const Dataflow& flow) {
    std::vector<Bits> results;
    for (const Part& part : step.parts) {
      std::vector<Bits> operands;
      std::size_t at = 0;
      for (const std::size_t end : part.ends) {
        // Most operands are many segments of one label: each label once.
        std::vector<Bits> stretches;
        std::set<std::uint64_t> seen;
        for (; at < end; ++at) {
          const std::uint32_t segment = part.reads[at];
          const bool here = written_.count(segment) != 0;
          const std::uint64_t key = here ? segment : kFromBefore + known_[segment];
          if (seen.insert(key).second) stretches.push_back(content(segment));
        }
        operands.push_back(blended(stretches));
      }
      results.push_back(step.reduces ? reduced(operands) : joined(operands));
    }
    std::map<std::uint32_t, std::vector<Bits>> to;
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
      for (const std::uint32_t s : step.parts[p].writes) to[s].push_back(results[p]);
    }
    if (!step.mixed.empty()) {
      const Bits all = blended(results);
      for (const std::uint32_t s : step.mixed) to[s].push_back(all);
    }
    for (const auto& [segment, parts] : to) {
      Bits bits = blended(parts);
      if (flow.spine(segment) && !bits.chips.empty()) violations_.push_back(any(bits));
      written_[segment] = std::move(bits);
      ++size_;
    }
  }

 private:
  /// What some labels say of one chip, in order: of those that may have it.
  struct Column {
    std::vector<smt::Term> some, all;
  };
  static std::map<std::uint32_t, Column> columns(const std::vector<Bits>& labels) {
    std::map<std::uint32_t, Column> out;
    for (const Bits& bits : labels) {
      for (const Bits::Chip& chip : bits.chips) {
        Column& column = out[chip.number];
        column.some.push_back(chip.some);
        if (chip.all) column.all.push_back(*chip.all);
      }
    }
    return out;
  }
  smt::Term any(const Bits& bits) {
    std::vector<smt::Term> terms;
    for (const Bits::Chip& chip : bits.chips) terms.push_back(chip.some);
    return one_of(terms);
  }
  smt::Term one_of(const std::vector<smt::Term>& terms) {
    size_ += terms.size();
    return terms.size() == 1 ? terms.front() : query_.any_of(terms);
  }
  smt::Term all_of(const std::vector<smt::Term>& terms) {
    size_ += terms.size();
    return terms.size() == 1 ? terms.front() : query_.all_of(terms);
  }
  /// A variable that stands for `value`, so that terms do not grow with the chain of runs.
  smt::Term named(smt::Term value) {
    const smt::Term name = query_.boolean(fmt::format("b{}", names_++));
    query_.require(query_.equal(name, value));
    size_ += 2;
    return name;
  }
  smt::Term named_one_of(const std::vector<smt::Term>& terms) {
    return terms.size() == 1 ? terms.front() : named(one_of(terms));
  }
  smt::Term named_all_of(const std::vector<smt::Term>& terms) {
    return terms.size() == 1 ? terms.front() : named(all_of(terms));
  }
  smt::Term holds() {
    const smt::Term name = query_.boolean(fmt::format("b{}", names_++));
    query_.require(name);
    ++size_;
    return name;
  }

  /// What the segment holds now: written here, or known from before.
  const Bits& content(std::uint32_t segment) {
    if (const auto here = written_.find(segment); here != written_.end()) return here->second;
    const auto [at, fresh] = before_.try_emplace(known_[segment]);
    if (!fresh) return at->second;
    const Known& label = knowledge_[known_[segment]];
    for (const auto& [number, all] : label.chips) {
      const smt::Term term = holds();
      at->second.chips.push_back({number, term, all ? std::optional(term) : std::nullopt});
    }
    if (label.doubled) at->second.doubled = holds();
    return at->second;
  }

  static std::vector<smt::Term> doubled(const std::vector<Bits>& all) {
    std::vector<smt::Term> out;
    for (const Bits& bits : all) {
      if (bits.doubled) out.push_back(*bits.doubled);
    }
    return out;
  }

  /// Of something that derives from all of these.
  Bits joined(const std::vector<Bits>& labels) {
    if (labels.size() == 1) return labels.front();
    Bits out;
    for (const auto& [number, column] : columns(labels)) {
      out.chips.push_back({number, named_one_of(column.some), {}});
      if (!column.all.empty()) out.chips.back().all = named_one_of(column.all);
    }
    const auto twice = doubled(labels);
    if (!twice.empty()) out.doubled = named(one_of(twice));
    return out;
  }

  /// Of something whose parts derive from one or the other of these.
  Bits blended(const std::vector<Bits>& labels) {
    if (labels.size() == 1) return labels.front();
    Bits out;
    for (const auto& [number, column] : columns(labels)) {
      out.chips.push_back({number, named_one_of(column.some), {}});
      if (column.all.size() == labels.size()) out.chips.back().all = named_all_of(column.all);
    }
    const auto twice = doubled(labels);
    if (!twice.empty()) out.doubled = named(one_of(twice));
    return out;
  }

  Bits reduced(const std::vector<Bits>& operands) {
    Bits out;
    auto twice = doubled(operands);
    std::vector<smt::Term> present;
    for (const auto& [number, column] : columns(operands)) {
      // An operand that has the chip after another one that has it.
      smt::Term seen = column.some.front();
      for (std::size_t i = 1; i < column.some.size(); ++i) {
        twice.push_back(named(query_.all_of({seen, column.some[i]})));
        seen = named(query_.any_of({seen, column.some[i]}));
      }
      out.chips.push_back({number, seen, {}});
      if (column.all.empty()) continue;
      out.chips.back().all = named_one_of(column.all);
      present.push_back(*out.chips.back().all);
    }
    if (!twice.empty()) out.doubled = named(one_of(twice));
    if (!all_chips_own_ || present.size() != chips_) return out;
    if (out.doubled) present.push_back(query_.negation(*out.doubled));
    size_ += present.size();
    const smt::Term stays = named(query_.negation(query_.all_of(present)));
    for (Bits::Chip& chip : out.chips) {
      chip.some = named(query_.all_of({chip.some, stays}));
      chip.all = named(query_.all_of({*chip.all, stays}));
    }
    return out;
  }

  smt::Query& query_;
  const Knowledge& knowledge_;
  const std::vector<std::uint32_t>& known_;
  std::size_t chips_;
  bool all_chips_own_;
  static constexpr std::uint64_t kFromBefore = std::uint64_t{1} << 32U;
  std::unordered_map<std::uint32_t, Bits> written_;
  std::unordered_map<std::uint32_t, Bits> before_;  ///< by number of the label
  std::vector<smt::Term> violations_;
  std::uint64_t names_ = 0;
  std::size_t size_ = 0;
};

class Prover {
 public:
  Prover(const Subject& subject, const Round& round, smt::Session& session)
      : subject_(subject),
        round_(round),
        session_(session),
        labels_(*subject.program),
        flow_(*subject.program, round.unrolled(), round.accesses()) {
    for (std::uint32_t s = 0; s < round.accesses().segments.size(); ++s) {
      const auto owner = flow_.initial_owner(s);
      initial_.push_back(
          owner ? knowledge_.number(
                      {{{static_cast<std::uint32_t>(labels_.number(*owner)), true}}, false})
                : 0);
    }
    now_ = initial_;
  }

  Search<Witness> run() {
    std::vector<std::vector<std::uint32_t>> starts;
    for (std::uint32_t r = 0; r < kMostRounds; ++r) {
      starts.push_back(now_);
      for (std::size_t at = 0; at < round_.order().size();) {
        if (auto answer = batch(at)) return *std::move(answer);
      }
      for (std::size_t s = 0; s < now_.size(); ++s) {
        if (round_.kept()[s] == 0) now_[s] = initial_[s];
      }
      const auto same = std::find(starts.begin(), starts.end(), now_);
      if (same == starts.end()) continue;
      return Proved<Witness>{{static_cast<std::uint32_t>(same - starts.begin()), r + 1}};
    }
    return Unknown{fmt::format("the labels of contents do not recur within {} {}", kMostRounds,
                               subject_.persistent() ? "iterations" : "tokens")};
  }

 private:
  /// Encodes runs from `begin` on until the query is large enough; returns where it stopped.
  std::size_t encode(std::size_t begin, Equations& equations) {
    std::size_t at = begin;
    for (; at < round_.order().size() && equations.size() < kQuerySize; ++at) {
      const Step& step = flow_.step(round_.order()[at]);
      if (!step.parts.empty()) equations.add(step, flow_);
    }
    return at;
  }
  Equations equations(smt::Query& query) const {
    return {query, knowledge_, now_, labels_.chips().size(),
            labels_.chips().size() == subject_.program->target.chips};
  }

  /// Proves the stores of some runs and finds the labels after them. An answer if that is the end.
  std::optional<Search<Witness>> batch(std::size_t& at) {
    const std::size_t begin = at;
    smt::Query wrong = session_.query(smt::Logic::propositional);
    Equations stored = equations(wrong);
    at = encode(begin, stored);
    if (!stored.violations().empty()) {
      wrong.require(wrong.any_of(stored.violations()));
      const smt::Answer answer = session_.solve(wrong);
      if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
        return Unknown{undecided->reason};
      if (std::holds_alternative<smt::Satisfied>(answer)) return refute();
    }
    smt::Query query = session_.query(smt::Logic::propositional);
    Equations labels = equations(query);
    static_cast<void>(encode(begin, labels));
    if (labels.size() > 0) {
      const smt::Answer answer = session_.solve(query);
      if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
        return Unknown{undecided->reason};
      if (!std::holds_alternative<smt::Satisfied>(answer))
        return Unknown{"the solver finds no labels"};
    }
    for (const auto& [segment, bits] : labels.written()) {
      Known known;
      for (const Bits::Chip& chip : bits.chips) {
        if (query.truth(chip.some))
          known.chips.emplace_back(chip.number, chip.all && query.truth(*chip.all));
      }
      known.doubled = bits.doubled && query.truth(*bits.doubled);
      now_[segment] = knowledge_.number(known);
    }
    return std::nullopt;
  }

  Search<Witness> refute() const {
    auto found = first_leak(subject_, round_, kMostRounds);
    if (!found) return Unknown{"the solver claims a leak that the labels do not show"};
    if (!subject_.persistent() && found->round > 0) {
      return Unknown{fmt::format(
          "what a state tensor or a resident buffer keeps reaches the spine {} tokens later, which "
          "cannot be played",
          found->round)};
    }
    if (std::holds_alternative<Reproduced>(replay(*subject_.program, found->counterexample)))
      return Refuted{std::move(found->counterexample)};
    return Unknown{"a leak was found that did not replay"};
  }

  const Subject& subject_;
  const Round& round_;
  smt::Session& session_;
  Labels labels_;
  Dataflow flow_;
  Knowledge knowledge_;
  std::vector<std::uint32_t> initial_;
  std::vector<std::uint32_t> now_;
};

/// Without exact tests nothing is proved, but a leak that can be played is one.
Search<Witness> refute_by_playing(const Subject& subject, const Round& round) {
  auto found = first_leak(subject, round, subject.persistent() ? kRoundsWithoutProof : 1);
  if (found && std::holds_alternative<Reproduced>(replay(*subject.program, found->counterexample)))
    return Refuted{std::move(found->counterexample)};
  return Unknown{issue_text(subject, subject.net.issues.front())};
}

}  // namespace

Search<Witness> prove(const Subject& subject, smt::Session& session) {
  if (const auto bad = misplaced(*subject.program)) {
    Counterexample c = counterexample_of(subject, *bad);
    if (std::holds_alternative<Reproduced>(replay(*subject.program, c)))
      return Refuted{std::move(c)};
    return Unknown{"a misplaced access was found that could not be confirmed"};
  }
  const auto made = round_of(subject);
  if (const auto* why = std::get_if<std::string>(&made)) return Unknown{*why};
  const Round& round = std::get<Round>(made);
  if (!subject.net.exact()) return refute_by_playing(subject, round);
  return Prover(subject, round, session).run();
}

}  // namespace spatialcert::proofs::shard
