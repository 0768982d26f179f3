#include "certify/division.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "certify/judgement.hpp"
#include "ir/program_file.hpp"
#include "ir/require.hpp"
#include "proofs/composition/find.hpp"
#include "proofs/composition/labels.hpp"
#include "proofs/composition/prove_joins.hpp"
#include "proofs/composition/prove_types.hpp"
#include "proofs/composition/types.hpp"
#include "proofs/memory/rule.hpp"
#include "proofs/slices/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::certify {
namespace {

using proofs::Rule;
using proofs::composition::Division;
using Clock = std::chrono::steady_clock;

constexpr std::size_t index_of(Rule rule) { return static_cast<std::size_t>(rule); }

/// Questions of all sections, numbered within their rule.
class Numbered {
 public:
  explicit Numbered(const Options& options) : options_(options) {}

  [[nodiscard]] Options apply(Options options) {
    options.on_query = nullptr;
    if (!options_.on_query) return options;
    options.on_query = [this](std::string_view rule, std::uint64_t /*number*/,
                              const std::string& smt2) {
      options_.on_query(rule, ++asked_[std::string(rule)], smt2);
    };
    return options;
  }

 private:
  const Options& options_;
  std::map<std::string, std::uint64_t> asked_;
};

class Composition {
 public:
  Composition(const ir::Program& program, const Options& options, const Division& division)
      : program_(program), options_(options), division_(division) {
    for (const Rule rule : proofs::all_rules()) of_rule_[index_of(rule)].rule = rule;
  }

  /// False if a section does not hold.
  bool judge(const JudgeSection& judge_section) {
    Options trial = options_;
    trial.on_query = nullptr;  // nobody wants the questions of what comes to nothing
    if (contents_are_followed()) trial.keep_witnesses = true;
    if (contents_are_followed()) trial.fold_from.reset();  // they pass through all trips
    for (const auto& one : division_.classes) {
      ProgramReport judged = judge_section(proofs::composition::program_of(program_, one), trial);
      if (!holds(judged)) return false;
      add(std::move(judged), one.sections);
    }
    if (contents_are_followed()) translate();
    return of_whole(nullptr) && shard() && types(nullptr);
  }

  /// Asks everything once more, for whoever wants the questions.
  void ask_again(const JudgeSection& judge_section) {
    Numbered numbered(options_);
    Options again = numbered.apply(options_);
    if (contents_are_followed()) again.fold_from.reset();
    for (const auto& one : division_.classes)
      static_cast<void>(judge_section(proofs::composition::program_of(program_, one), again));
    static_cast<void>(of_whole(again.on_query));
    static_cast<void>(types(again.on_query));
  }

  ProgramReport report(const ProgramReport& head, const ir::Digest& digest) {
    ProgramReport out = head;
    out.digest = ir::to_hex(digest);
    out.divided = DividedSections{division_.sections.size(), division_.classes.size(), looked_at_};
    // Of a rendezvous: from every arrival to the root, and from there to every release, its own
    // ones aside.
    const std::uint64_t others = division_.participants - (division_.participants == 0 ? 0 : 1);
    out.places = places_ + 2 * others * division_.boundaries;
    out.pairs = pairs_;
    for (const Rule rule : proofs::all_rules()) out.rules.push_back(conclusion(rule));
    conclude(out);
    if (!options_.keep_witnesses) return out;
    out.certificate = certificate_head(program_, digest);
    out.certificate->class_of = division_.class_of;
    out.certificate->classes = std::move(proofs_);
    out.certificate->shard = shard_;
    if (typing_) out.certificate->reduction = proofs::reduction::Witness{typing_};
    if (applies(Rule::slices)) out.certificate->slices = proofs::slices::Witness{};
    return out;
  }

 private:
  void add(ProgramReport judged, std::uint64_t sections) {
    places_ += judged.places * sections;
    pairs_ += judged.pairs * sections;
    looked_at_ += judged.folded ? judged.folded->transitions : judged.transitions;
    for (const RuleReport& rule : judged.rules) {
      RuleReport& sum = of_rule_[index_of(rule.rule)];
      counts_[index_of(rule.rule)].push_back(rule.obligations);
      sum.queries += rule.queries;
      sum.resource += rule.resource;
      sum.seconds += rule.seconds;
      sum.undeclared += rule.undeclared * sections;
    }
    if (judged.certificate) proofs_.push_back(std::move(*judged.certificate));
  }

  [[nodiscard]] bool applies(Rule rule) const { return proofs::applies(rule, program_); }
  [[nodiscard]] bool contents_are_followed() const {
    return applies(Rule::shard) || applies(Rule::reduction);
  }

  /// Asks Z3 about the whole program: true if `prove(session)` is. One session does for all rules,
  /// because a fresh one costs more than most of them.
  template <typename Prove>
  bool ask(Rule rule, const decltype(Options::on_query)& on_query, Prove prove) {
    const auto start = Clock::now();
    session_.limits.resource = options_.rlimit;
    session_.queries = session_.resource = 0;
    if (on_query) {
      session_.on_query = [&](const std::string& smt2) {
        on_query(proofs::to_string(rule), session_.queries, smt2);
      };
      session_.performer = nullptr;
      session_.impossible.clear();  // what has been asked before is asked again
      session_.solved.clear();
    } else {
      session_.performer = options_.performer;
    }
    const bool proved = prove(session_);
    if (!on_query) {  // asked once more, it is the same again
      RuleReport& sum = of_rule_[index_of(rule)];
      sum.queries += session_.queries;
      sum.resource += session_.resource;
      sum.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    }
    return proved;
  }

  /// Rules that need no class.
  bool of_whole(const decltype(Options::on_query)& on_query) {
    return boundary(on_query) && isolation(on_query) && memory(on_query) && slices(on_query);
  }

  bool boundary(const decltype(Options::on_query)& on_query) {
    return ask(Rule::boundary, on_query, [&](smt::Session& session) {
      return !proofs::composition::prove_boundaries(program_, session);
    });
  }

  bool isolation(const decltype(Options::on_query)& on_query) {
    return ask(Rule::isolation, on_query, [&](smt::Session& session) {
      return !proofs::composition::prove_isolation(program_, division_, session);
    });
  }

  /// Where buffers lie is a matter of the whole program.
  bool memory(const decltype(Options::on_query)& on_query) {
    return ask(Rule::memory, on_query, [&](smt::Session& session) {
      proofs::Subject layout;  // the rule looks at nothing but the program
      layout.program = &program_;
      const auto search = proofs::memory::prove(layout, session);
      return std::holds_alternative<proofs::Proved<proofs::memory::Witness>>(search);
    });
  }

  /// So is how full tensors are cut.
  bool slices(const decltype(Options::on_query)& on_query) {
    if (!applies(Rule::slices)) return true;
    return ask(Rule::slices, on_query, [&](smt::Session& session) {
      proofs::Subject declared;  // the rule looks at nothing but the program
      declared.program = declared.text = &program_;
      const auto search = proofs::slices::prove(declared, session);
      if (!std::holds_alternative<proofs::Proved<proofs::slices::Witness>>(search)) return false;
      const auto checked = proofs::slices::check(declared, {});
      const auto* accepted = std::get_if<proofs::Accepted>(&checked);
      if (accepted != nullptr) slices_ = accepted->obligations;
      return accepted != nullptr;
    });
  }

  /// The classes' programs, whose loops are not folded.
  void translate() {
    programs_.reserve(division_.classes.size());  // subjects refer to them
    for (std::size_t c = 0; c < division_.classes.size(); ++c) {
      programs_.push_back(proofs::composition::program_of(program_, division_.classes[c]));
      auto made = proofs::make_subject(programs_.back(), proofs_[c].justified);
      SPATIALCERT_REQUIRE(std::holds_alternative<proofs::Subject>(made),
                          "it was translated before");
      subjects_.push_back(std::move(std::get<proofs::Subject>(made)));
    }
  }

  bool types(const decltype(Options::on_query)& on_query) {
    if (!applies(Rule::reduction)) return true;
    return ask(Rule::reduction, on_query, [&](smt::Session& session) {
      const auto found = proofs::composition::prove_types(program_, division_, subjects_, session);
      const auto* typing = std::get_if<proofs::reduction::Typing>(&found);
      if (typing == nullptr) return false;
      typing_ = *typing;
      const auto checked =
          proofs::composition::check_types(program_, division_, subjects_, *typing);
      const auto* typed = std::get_if<std::uint64_t>(&checked);
      if (typed != nullptr) typed_ = *typed;
      return typed != nullptr;
    });
  }

  /// Labels that recur after one round more, which is nearly always the second one.
  bool shard() {
    if (!applies(Rule::shard)) return true;
    const auto start = Clock::now();
    proofs::composition::LabelRounds rounds(program_, division_, subjects_);
    for (std::uint32_t r = 0; r < proofs::shard::kMostRounds && !shard_; ++r) {
      rounds.remember();
      if (rounds.perform()) return false;
      if (rounds.recurs()) shard_ = proofs::shard::Witness{r, r + 1};
    }
    if (!shard_) return false;
    const auto checked = proofs::composition::check_labels(program_, division_, subjects_, *shard_);
    const auto* stores = std::get_if<std::uint64_t>(&checked);
    if (stores == nullptr) return false;
    RuleReport& sum = of_rule_[index_of(Rule::shard)];
    label_stores_ = *stores;
    sum.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    return true;
  }

  RuleReport conclusion(Rule rule) {
    RuleReport out = std::move(of_rule_[index_of(rule)]);
    if (!proofs::applies(rule, program_)) {
      out.verdict = Verdict::not_applicable;
      out.detail = proofs::absence(rule);
      return out;
    }
    out.verdict = Verdict::certified;
    out.obligations = proofs::composition::shown(rule, division_, counts_[index_of(rule)]);
    if (rule == Rule::shard) out.obligations = label_stores_;
    if (rule == Rule::reduction) out.obligations = typed_;
    if (rule == Rule::slices) out.obligations = slices_;
    if (rule == Rule::flow) out.detail = undeclared_text(out.undeclared);
    if (rule == Rule::liveness)
      out.detail = division_.classes.size() == 1
                       ? std::string("section by section, in one class")
                       : fmt::format("section by section, in {} classes", division_.classes.size());
    return out;
  }

  const ir::Program& program_;
  const Options& options_;
  const Division& division_;
  std::array<RuleReport, proofs::kRules> of_rule_;
  std::array<std::vector<std::uint64_t>, proofs::kRules> counts_;  ///< obligations, per class
  std::vector<proofs::Proof> proofs_;
  smt::Session session_;
  std::vector<ir::Program> programs_;  ///< of the classes, where contents are followed
  std::vector<proofs::Subject> subjects_;
  std::optional<proofs::shard::Witness> shard_;
  std::optional<proofs::reduction::Typing> typing_;
  std::uint64_t label_stores_ = 0, typed_ = 0, slices_ = 0;
  std::uint64_t places_ = 0, pairs_ = 0, looked_at_ = 0;
};

}  // namespace

std::optional<ProgramReport> judge_divided(const ir::Program& program, const Options& options,
                                           const ProgramReport& head,
                                           const JudgeSection& judge_section) {
  if (!options.divide_from || head.transitions < *options.divide_from || options.monolithic ||
      !options.rules.empty() || program.sections.size() < 2)
    return std::nullopt;
  if (options.on_progress) options.on_progress("sections");
  const auto found = proofs::composition::find(program, options.divide_percent);
  const auto* division = std::get_if<Division>(&found);
  if (division == nullptr) return std::nullopt;
  Composition composition(program, options, *division);
  if (!composition.judge(judge_section)) return std::nullopt;
  if (options.on_query) composition.ask_again(judge_section);
  return composition.report(head, ir::digest(program));
}

}  // namespace spatialcert::certify
