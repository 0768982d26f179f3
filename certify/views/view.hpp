// Views: what one run of the pipeline found, in the formats of other tools.
//
// All of them show the same objects, the reports and their counterexamples; none judges anything.
// There are two kinds. A view of a *run* is one file for all programs of a run, those that were
// refused included. A view of a *counterexample* is one file per counterexample.
//
// Promised of every view: names as the user wrote them, escaped as the format wants it; source
// locations where the program carries them; equal bytes for equal input, whatever the number of
// threads (so there are no times and no dates); UTF-8. A limit that cut something is named in the
// view itself. Everything is returned as text; nothing is written here.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "certify/report.hpp"

namespace spatialcert::certify::views {

/// One program that was judged.
struct Judged {
  /// Whole if its report has a counterexample. Otherwise it may be an outline (`outline`).
  ir::Program program;
  ProgramReport report;
};
/// A fault of our own, instead of a verdict.
struct Fault {
  std::string what;
};

/// A rule that does not hold, and why that is accepted: an exception of a gate's policy.
struct Excuse {
  proofs::Rule rule = proofs::Rule::liveness;
  std::string reason;
};

/// What became of one program, or of a file that is none.
struct Entry {
  Provenance provenance;  ///< `file` is always set
  std::variant<Judged, ir::Refusal, Fault> outcome;
  std::vector<Excuse> excuses = {};

  /// Nothing if the rule is not excused.
  [[nodiscard]] const Excuse* excuse_of(proofs::Rule rule) const {
    for (const Excuse& excuse : excuses) {
      if (excuse.rule == rule) return &excuse;
    }
    return nullptr;
  }
};

/// In the order of the command line; variants of one file in the order of the report.
struct Run {
  std::vector<Entry> entries;
  int exit_status = 0;      ///< that the run ends with
  bool has_policy = false;  ///< that may excuse what does not hold
};

struct Options {
  /// Net (DOT, PNML): every op instance instead of the part around the counterexample.
  bool whole_net = false;
  /// Op instances that a net shows at most. A part is cut where it is farthest from the
  /// counterexample, a whole net after the first ones of every engine program.
  std::uint32_t most_transitions = 400;
  /// Steps of a schedule that a view shows at most: the last ones, because what matters comes at
  /// the end. Earlier ones are played and not shown.
  std::uint32_t most_steps = 20'000;
};

/// `program` without its ops and what only they use, for a run with more programs than memory: its
/// name, objects, sections and the spans of its engine programs remain (which say how many ops
/// there were).
[[nodiscard]] ir::Program outline(ir::Program program);

// ---- of a run -----------------------------------------------------------------------------------

/// One self-contained HTML page: no network, no script but its own. Summary per program and rule;
/// per counterexample the lanes of engine programs, its ops lit up, and its schedule step by step.
[[nodiscard]] std::string html_view(const Run& run, const Options& options);
/// SARIF 2.1.0, one run: `rules` has every proof rule; a result per rule that was refuted, or that
/// is undecided, suppressed where it is excused; files that were refused are notifications of the
/// invocation.
[[nodiscard]] std::string sarif_view(const Run& run, const Options& options);
/// JUnit XML: a test suite per program, a test case per rule. Refuted is a failure, undecided an
/// error, what was not evaluated, does not apply or is excused is skipped. A file that was refused
/// is a suite with one error.
[[nodiscard]] std::string junit_view(const Run& run, const Options& options);

// ---- of a counterexample ------------------------------------------------------------------------
//
// `program` must be the one that the counterexample was found in, and the counterexample one that
// was replayed: it is played again, and what does not play is a fault of ours.

/// Graphviz: op instances in a cluster per engine program, hand-offs as edges; the ops of the
/// counterexample and what they wait for in colour.
[[nodiscard]] std::string dot_view(const ir::Program& program,
                                   const proofs::Counterexample& counterexample,
                                   const Options& options);
/// PNML (ISO/IEC 15909-2), a place/transition net: the hand-offs of the net with their tokens, and
/// the program order of every engine program with one token where it begins.
[[nodiscard]] std::string pnml_view(const ir::Program& program,
                                    const proofs::Counterexample& counterexample,
                                    const Options& options);
/// A trace for ui.perfetto.dev (the JSON of trace events), of every schedule of the
/// counterexample: a process per site with a track per engine program and per semaphore and FIFO,
/// one microsecond per step, arrows where one engine program supplies another, and what is blocked
/// at the end. A counterexample without a schedule is shown with one that plays until nobody can
/// step.
[[nodiscard]] std::string perfetto_view(const ir::Program& program,
                                        const proofs::Counterexample& counterexample,
                                        const Options& options);
/// JSON, format `spatialcert-explanation`, version 1 (docs/explanation.schema.json): program, rule,
/// the counterexample as `--cex` writes it, and its text.
[[nodiscard]] std::string explanation_json(const ir::Program& program,
                                           const proofs::Counterexample& counterexample,
                                           const Provenance& provenance);

}  // namespace spatialcert::certify::views
