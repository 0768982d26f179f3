// Repairs: what to change so that a refuted program is certified, and the program that was.
//
// `suggest` looks for edits by the kind of the counterexample (certify/repair/propose.hpp), applies
// them to a copy and certifies that copy with all rules, like any program. Only what the pipeline
// certifies is called a repair. Several faults are repaired one after the other, each round
// beginning with what the pipeline finds in the program so far; what is left after the last round
// is reported as a partial repair and never as a certified one.
//
// What is promised: every run is still performed, in its order, and touches what it did, but for
// the operands of all-reduces that an edit names. What is not: that no other repair is better, or
// that there is none where none was found; of two accesses that nothing orders, which order was
// meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "certify/repair/edit.hpp"
#include "ir/program.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify::repair {

struct Limits {
  unsigned rounds = 4;
  unsigned certifications = 60;
  /// Op instances that all certifications may look at together; two are always tried.
  std::uint64_t transitions = 3'000'000;
};

/// One edit in words, and where it is made.
struct EditReport {
  std::string kind;
  std::string text;
  std::string engine;               ///< `compute at chip 0 (2,3)`; empty if no ops of one change
  std::optional<std::uint32_t> op;  ///< in its engine program, before the edits of the step
  std::string source;               ///< `attention.py:120`; empty if the program has none there
};

/// One round: what removed one counterexample.
struct Step {
  proofs::Rule rule = proofs::Rule::liveness;
  proofs::Kind kind = proofs::Kind::cycle;
  std::string idea;
  std::vector<EditReport> edits;  ///< of the program after the steps before
  Cost cost;
  std::vector<std::string> remarks;  ///< what else was shown, e.g. that less is not enough
};

/// `partial`: the steps remove counterexamples, but what is left is not certified.
enum class Outcome : std::uint8_t { certified, partial, none };
[[nodiscard]] const char* to_string(Outcome outcome);

struct Suggestion {
  Outcome outcome = Outcome::none;
  std::vector<Step> steps;
  Cost cost;                           ///< of all steps
  std::optional<ir::Program> program;  ///< after all steps; nothing if there are none
  std::string digest;                  ///< of it
  std::string remaining;               ///< partial: its verdict, in one line
  std::vector<std::string> tried;      ///< ideas, of the last round
  std::vector<std::string> obstacles;
  unsigned certifications = 0;  ///< programs that were certified to find this
  bool limited = false;         ///< candidates were left because a limit was reached
};

/// Of a program and what the pipeline found in it. `first`: the counterexample to begin with; if
/// nothing, the first one of the report. `options` are those of every certification, but that all
/// rules are asked and no witnesses are kept.
[[nodiscard]] Suggestion suggest(const ir::Program& program, const ProgramReport& report,
                                 const Options& options,
                                 const proofs::Counterexample* first = nullptr,
                                 const Limits& limits = {});

/// Lines for people, newline-terminated. `written`: the file that holds the repaired program, if
/// any.
[[nodiscard]] std::string suggestion_text(const Suggestion& suggestion,
                                          const std::string& written = {});
/// The member `suggestion` of a report (docs/report.md), `indentation` levels deep.
[[nodiscard]] std::string suggestion_json(const Suggestion& suggestion, std::size_t indentation,
                                          const std::string& written = {});

}  // namespace spatialcert::certify::repair
