// Reports: what the pipeline found, as text and as JSON. Pure formatting; prints nothing itself.
//
// Text is for people and may change; JSON is versioned (docs/report.md, docs/report.schema.json).
// Both are deterministic: equal input gives equal bytes, times apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "certify/pipeline.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"
#include "proofs/counterexample.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::certify {

/// A program that is live for small messages only.
struct SizeLimit {
  std::uint64_t bytes = 0;                ///< largest message at which it still finishes
  std::uint32_t chunks_per_transfer = 0;  ///< that a transfer carries up to that size, at least
};

/// Where a certificate was asked for, and what became of it.
struct CertificateFile {
  std::string path;
  std::uint64_t bytes = 0;  ///< 0: none was written, and what was there was not touched
};

/// Where a program comes from, and what is known of the file besides.
struct Provenance {
  std::string file = {};     ///< as the user gave it; empty if the program was never a file
  std::string variant = {};  ///< of a foreign file: which of its programs; otherwise empty
  std::optional<SizeLimit> deadlocks_above = {};
  std::optional<CertificateFile> certificate = {};
  std::string suggestion_text = {};  ///< lines about a repair, where one was asked for
  std::string suggestion_json = {};  ///< the same as JSON, three levels deep
};

/// Numbered, named by site, engine, section and source location, with the remedy where it is known.
[[nodiscard]] std::string counterexample_text(const ir::Program& program,
                                              const proofs::Counterexample& counterexample);
/// The verdict block of one program: header, table of rules, report of each counterexample, notes.
[[nodiscard]] std::string report_text(const ir::Program& program, const ProgramReport& report,
                                      bool with_times = true, const Provenance& provenance = {});
/// Its first line: `NAME: VERDICT`, with the refuting rules or the reason.
[[nodiscard]] std::string verdict_line(const ProgramReport& report);
/// `deadlocks above 8 MiB (8388608 bytes) of message: ...`
[[nodiscard]] std::string size_limit_text(const SizeLimit& limit);

/// The rule whose counterexamples are of this kind.
[[nodiscard]] proofs::Rule rule_of(const proofs::Counterexample& counterexample);

/// JSON of a counterexample (format `spatialcert-counterexample`, version 1), which `replay` reads.
/// `rule` defaults to `rule_of` its kind.
[[nodiscard]] std::string counterexample_json(const ir::Program& program,
                                              const proofs::Counterexample& counterexample,
                                              std::optional<proofs::Rule> rule = {});
/// Reads it back. Refuses by JSON path; refuses one that was made for a program with another
/// digest.
[[nodiscard]] ir::Result<proofs::Counterexample> parse_counterexample(std::string_view json,
                                                                      const std::string& file,
                                                                      const ir::Program& program);
/// The same with whatever digest the file names: which program of several it belongs to.
[[nodiscard]] ir::Result<std::string> counterexample_digest(std::string_view json,
                                                            const std::string& file);

/// JSON of one program's report (an element of `programs` in format `spatialcert-report`, version
/// 1).
[[nodiscard]] std::string report_json(const ir::Program& program, const ProgramReport& report,
                                      const Provenance& provenance = {});
/// The element of `programs` that stands for a file that was refused.
[[nodiscard]] std::string refusal_json(const std::string& file, const ir::Refusal& refusal);
/// The element of `programs` that stands for a fault of our own.
[[nodiscard]] std::string fault_json(const std::string& file, const std::string& what);

/// How many programs ended how, over one run.
struct Totals {
  std::uint64_t certified = 0;
  std::uint64_t refuted = 0;
  std::uint64_t undecided = 0;
  std::uint64_t refused = 0;
  std::uint64_t faults = 0;

  /// 70, then 1, 3, 2, 0 (DESIGN 13.11).
  [[nodiscard]] int exit_status() const;
};
/// What stands before and after the comma-separated elements of `programs`.
[[nodiscard]] std::string report_json_head();
[[nodiscard]] std::string report_json_tail(const Totals& totals, double seconds);

/// Version of this tool and of the solver behind it.
[[nodiscard]] std::string_view tool_version();
[[nodiscard]] std::string solver_version();

/// Readable listing of a program: target, objects, sections, engine programs with numbered ops.
[[nodiscard]] std::string show_text(const ir::Program& program);

/// One op as text, e.g. `front kv 1`, `run L1 (x[0:16, 0:16] -> kv)`.
[[nodiscard]] std::string op_text(const ir::Program& program, const ir::Op& op);

}  // namespace spatialcert::certify
