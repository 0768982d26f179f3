// From a program to a verdict: translate, apply every rule, check every witness, replay every
// counterexample.
//
// A verdict is *certified* only if every applicable rule was proved by Z3 and the independent check
// accepted its witness; *refuted* only if a counterexample was replayed. Everything else is
// *undecided* and says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "proofs/certificate/certificate.hpp"
#include "proofs/counterexample.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::certify {

/// `not_evaluated`: another rule's refutation makes the question meaningless. `not_applicable`: the
/// program has nothing that the rule speaks of. The verdict on a program is one of the first three.
enum class Verdict : std::uint8_t { certified, refuted, undecided, not_evaluated, not_applicable };
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct RuleReport {
  proofs::Rule rule = proofs::Rule::liveness;
  Verdict verdict = Verdict::undecided;
  std::string detail;  ///< what was proved, or why undecided; one line
  std::uint64_t obligations = 0;
  std::uint64_t queries = 0;   ///< to Z3
  std::uint64_t resource = 0;  ///< Z3 resource units
  double seconds = 0;
  std::uint64_t undeclared = 0;  ///< flow: reads without a declared producer
  std::optional<proofs::Counterexample> counterexample;  ///< refuted only; replayed
};

/// Loops that were certified without being unrolled (proofs/folding/).
struct FoldedLoops {
  std::uint64_t loops = 0;
  std::uint64_t transitions = 0;  ///< that remained
};

/// Sections that were certified once per class (proofs/composition/).
struct DividedSections {
  std::uint64_t sections = 0;     ///< with an op
  std::uint64_t classes = 0;      ///< sections that are alike are one
  std::uint64_t transitions = 0;  ///< that were looked at, of one section per class
};

struct ProgramReport {
  std::string name;
  std::string digest;  ///< SHA-256, hexadecimal
  Verdict verdict = Verdict::undecided;
  std::string reason;             ///< undecided: the first reason
  std::uint64_t ops = 0;          ///< op texts
  std::uint64_t transitions = 0;  ///< op instances of one iteration
  std::uint64_t places = 0;       ///< hand-off places of one iteration, loops folded
  std::optional<FoldedLoops> folded;
  std::optional<DividedSections> divided;
  /// Conflicting pairs of different engine programs that were ordered; if sections were certified
  /// per class, those inside sections.
  std::uint64_t pairs = 0;
  double seconds = 0;              ///< without reading
  std::vector<RuleReport> rules;   ///< in the order of proofs::all_rules(), requested ones only
  std::vector<std::string> notes;  ///< e.g. that the result was not specified
  bool partial = false;            ///< rules were asked for by name: never certified
  /// If witnesses were kept: of a certified program, or, if partial, of the rules that were asked
  /// for and those that they presuppose, where all that were asked for hold.
  std::optional<proofs::Certificate> certificate;
};

struct Options {
  std::vector<proofs::Rule> rules;     ///< empty = all
  std::uint64_t rlimit = 400'000'000;  ///< Z3 resource units per query
  bool keep_witnesses = false;         ///< for ProgramReport::certificate
  /// Ask about the whole program at once, and about every part of it, however many are equal: slow,
  /// and the same verdict. To compare with.
  bool monolithic = false;
  /// Programs of at least so many op instances have their loops folded, where that leaves at most
  /// half of them. Nothing: never.
  std::optional<std::uint64_t> fold_from = 10'000;
  /// Composed programs of at least so many op instances are certified section by section, sections
  /// that are alike once, where that leaves at most so many percent of the op texts. Nothing:
  /// never. Nor where rules are asked for by name.
  std::optional<std::uint64_t> divide_from = 10'000;
  unsigned divide_percent = 50;
  /// Threads that work on the program, the calling one included. The report and what is handed out
  /// do not depend on it, save for the seconds.
  unsigned jobs = 1;
  /// Instead of threads of its own, if the caller has some: performs part(0) to part(count - 1), in
  /// any order and perhaps several at once, and returns when all are done.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& part)> performer;
  /// Called with rule name, number within the rule (from 1), and SMT-LIB 2 text of every query,
  /// before it is asked. One thread asks Z3 then.
  std::function<void(std::string_view rule, std::uint64_t number, const std::string& smt2)>
      on_query;
  /// Called when a rule starts, by one thread at a time.
  std::function<void(std::string_view what)> on_progress;
};

/// Certifies one validated program.
[[nodiscard]] ProgramReport certify(const ir::Program& program, const Options& options = {});

}  // namespace spatialcert::certify
