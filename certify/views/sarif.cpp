// SARIF 2.1.0 (OASIS, errata 01): one run, a result per rule that was refuted or is undecided.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "certify/narrative.hpp"
#include "certify/views/marks.hpp"
#include "certify/views/net_part.hpp"
#include "certify/views/playback.hpp"
#include "certify/views/text.hpp"
#include "certify/views/view.hpp"
#include "ir/digest.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::views {
namespace {

using ir::io::JsonWriter;

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Steps of a schedule in a result, the last ones. Services that read SARIF limit the size of a
/// file and of a flow; the whole schedule is in the counterexample.
constexpr std::uint32_t kMostFlowSteps = 100;

/// A path as a URI reference (RFC 3986): every byte but unreserved ones and `/` as %XX.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  // Two slashes at the start would be a host.
  return path.starts_with('/') ? "file://" + uri : uri;
}

/// Text of a message: braces are placeholders unless doubled, and `[...](...)` is a link
/// (SARIF 3.11.5, 3.11.6), which no name of a program is meant to be.
std::string message_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '(' && out.ends_with(']')) out += ' ';
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

std::size_t index_of(proofs::Rule rule) {
  const auto& all = proofs::all_rules();
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), rule) - all.begin());
}

class Writer {
 public:
  explicit Writer(const Run& run) : run_(run) {}

  std::string write() {
    json_.object();
    json_.key("$schema").text(kSchema);
    json_.key("version").text("2.1.0");
    json_.key("runs").array();
    json_.object();
    json_.key("tool").object();
    json_.key("driver").object();
    json_.key("name").text("spatialcert");
    json_.key("version").text(tool_version());
    write_rules();
    json_.close();
    json_.close();
    json_.key("automationDetails").object(true);
    json_.key("id").text("spatialcert/").close();
    write_invocation();
    write_artifacts();
    json_.key("results").array();
    for (const Entry& entry : run_.entries) write_results(entry);
    json_.close();
    json_.close();
    json_.close();
    json_.close();
    return json_.take() + '\n';
  }

 private:
  void write_text(const char* key, std::string_view text) {
    json_.key(key).object(true);
    json_.key("text").text(message_of(text));
    json_.close();
  }

  void write_rules() {
    json_.key("rules").array();
    for (const proofs::Rule rule : proofs::all_rules()) {
      json_.object();
      json_.key("id").text(proofs::to_string(rule));
      write_text("shortDescription", statement_of(rule));
      write_text("fullDescription", statement_of(rule));
      write_text("help", help_of(rule));
      json_.key("defaultConfiguration").object(true);
      json_.key("level").text("error").close();
      json_.close();
    }
    json_.close();
  }

  // ---- the run ----

  void write_invocation() {
    const bool faults =
        run_.exit_status == 70 ||
        std::any_of(run_.entries.begin(), run_.entries.end(), [](const Entry& entry) {
          return std::holds_alternative<Fault>(entry.outcome);
        });
    json_.key("invocations").array();
    json_.object();
    json_.key("executionSuccessful").boolean(!faults);
    json_.key("exitCode").integer(run_.exit_status);
    json_.key("toolExecutionNotifications").array();
    for (const Entry& entry : run_.entries) write_notification(entry);
    json_.close();
    json_.close();
    json_.close();
  }

  void write_notification(const Entry& entry) {
    if (const auto* refusal = std::get_if<ir::Refusal>(&entry.outcome)) {
      notify("refused", "error", "refused: " + refusal->message(), entry, refusal->line);
    } else if (const auto* fault = std::get_if<Fault>(&entry.outcome)) {
      notify("fault", "error", "fault of spatialcert's own: " + fault->what, entry, 0);
    } else {
      // Many viewers hide results that are open, and undecided is not certified.
      const ProgramReport& report = std::get<Judged>(entry.outcome).report;
      if (report.verdict == Verdict::undecided) {
        notify("undecided", is_excused(entry, report) ? "note" : "warning", verdict_line(report),
               entry, 0);
      }
    }
  }

  /// Is every rule that is undecided excused, and is there one?
  static bool is_excused(const Entry& entry, const ProgramReport& report) {
    bool found = false;
    for (const RuleReport& rule : report.rules) {
      if (rule.verdict != Verdict::undecided) continue;
      if (entry.excuse_of(rule.rule) == nullptr) return false;
      found = true;
    }
    return found;
  }

  void notify(const char* id, const char* level, const std::string& text, const Entry& entry,
              std::uint64_t line) {
    json_.object();
    json_.key("descriptor").object(true);
    json_.key("id").text(id).close();
    json_.key("level").text(level);
    write_text("message", text);
    json_.key("locations").array();
    json_.object();
    write_physical(entry.provenance.file, line, 0);
    json_.close();
    json_.close();
    json_.close();
  }

  void write_artifacts() {
    json_.key("artifacts").array();
    std::set<std::string> seen;
    for (const Entry& entry : run_.entries) {
      if (!seen.insert(entry.provenance.file).second) continue;
      json_.object();
      json_.key("location").object(true);
      json_.key("uri").text(uri_of(entry.provenance.file)).close();
      json_.key("roles").array(true).text("analysisTarget").close();
      json_.close();
    }
    json_.close();
  }

  // ---- results ----

  void write_results(const Entry& entry) {
    const auto* judged = std::get_if<Judged>(&entry.outcome);
    if (judged == nullptr) return;
    for (const RuleReport& rule : judged->report.rules) {
      if (rule.counterexample) {
        write_refuted(entry, *judged, rule);
      } else if (rule.verdict == Verdict::undecided) {
        write_undecided(entry, *judged, rule);
      }
    }
  }

  void begin_result(const RuleReport& rule, const char* kind, const char* level,
                    const std::string& text) {
    json_.object();
    json_.key("ruleId").text(proofs::to_string(rule.rule));
    json_.key("ruleIndex").natural(index_of(rule.rule));
    json_.key("kind").text(kind);
    json_.key("level").text(level);
    write_text("message", text);
  }

  /// `identity` must say what the finding is, and not change with lines or unrelated edits.
  void end_result(const Entry& entry, const ProgramReport& report, const RuleReport& rule,
                  const std::string& identity) {
    std::string key = report.name;
    for (const std::string_view part : {std::string_view(entry.provenance.variant),
                                        proofs::to_string(rule.rule), std::string_view(identity)}) {
      key += '\0';
      key += part;
    }
    write_suppressions(entry, rule);
    json_.key("partialFingerprints").object(true);
    json_.key("finding/v1").text(ir::to_hex(ir::sha256(key))).close();
    json_.key("properties").object();
    json_.key("program").text(report.name);
    if (!entry.provenance.variant.empty()) json_.key("variant").text(entry.provenance.variant);
    json_.key("digest").text(report.digest);
    if (rule.counterexample) {
      json_.key("counterexample").text(proofs::to_string(rule.counterexample->kind));
    }
    json_.close();
    json_.close();
  }

  /// All results of a run have them or none (SARIF 3.27.23): without a policy nobody can tell.
  void write_suppressions(const Entry& entry, const RuleReport& rule) {
    if (!run_.has_policy) return;
    json_.key("suppressions").array();
    if (const Excuse* excuse = entry.excuse_of(rule.rule)) {
      json_.object();
      json_.key("kind").text("external");
      json_.key("status").text("accepted");
      json_.key("justification").text(excuse->reason);
      json_.close();
    }
    json_.close();
  }

  void write_undecided(const Entry& entry, const Judged& judged, const RuleReport& rule) {
    begin_result(rule, "open", "none",
                 fmt::format("{}: {} is undecided: {}", judged.report.name,
                             proofs::to_string(rule.rule), rule.detail));
    json_.key("locations").array();
    json_.object();
    write_physical(entry.provenance.file, 0, 0);
    json_.key("logicalLocations").array();
    write_logical(judged.report.name, judged.report.name, "module");
    json_.close();
    json_.close();
    json_.close();
    end_result(entry, judged.report, rule, "undecided");
  }

  void write_refuted(const Entry& entry, const Judged& judged, const RuleReport& rule) {
    const proofs::Counterexample& c = *rule.counterexample;
    const OpNames names(judged.program, c.iterations);
    const std::vector<Mark> marks = marks_of(names, c, can_unroll(judged.program, c));
    begin_result(rule, "fail", "error", counterexample_text(judged.program, c));
    json_.key("locations").array();
    if (marks.empty()) {
      json_.object();
      write_physical(entry.provenance.file, 0, 0);
      json_.close();
    } else {
      write_location(judged.program, entry, marks.front(), 0, false);
    }
    json_.close();
    json_.key("relatedLocations").array();
    for (std::size_t i = 1; i < marks.size(); ++i) {
      write_location(judged.program, entry, marks[i], i, true);
    }
    json_.close();
    write_flows(entry, names, c, marks);
    std::string identity(proofs::to_string(c.kind));
    for (const Mark& mark : marks) {
      identity += '\0' + mark.place + '\0';
      identity += mark.transition.valid() ? op_text(judged.program, names.op_of(mark.transition))
                                          : mark.name;
    }
    end_result(entry, judged.report, rule, identity);
  }

  // ---- places ----

  void write_physical(const std::string& file, std::uint64_t line, std::uint64_t column) {
    json_.key("physicalLocation").object();
    json_.key("artifactLocation").object(true);
    json_.key("uri").text(uri_of(file)).close();
    if (line != 0) {
      json_.key("region").object(true);
      json_.key("startLine").natural(line);
      if (column != 0) json_.key("startColumn").natural(column);
      json_.close();
    }
    json_.close();
  }

  void write_logical(const std::string& name, const std::string& full, const char* kind) {
    json_.object(true);
    json_.key("name").text(name);
    json_.key("fullyQualifiedName").text(full);
    json_.key("kind").text(kind);
    json_.close();
  }

  /// Where the source says, or else the program's file; and what it is in the program.
  void write_parts(const ir::Program& program, const Entry& entry, const Mark& mark) {
    if (mark.location != ir::kNoLocation) {
      const ir::SourceLocation& source = program.locations[mark.location];
      write_physical(program.source_files[source.file], source.line, source.column);
    } else {
      write_physical(entry.provenance.file, 0, 0);
    }
    json_.key("logicalLocations").array();
    write_logical(mark.name, fmt::format("{}: {}: {}", program.name, mark.place, mark.name),
                  mark.transition.valid() ? "instruction" : "variable");
    json_.close();
  }

  void write_location(const ir::Program& program, const Entry& entry, const Mark& mark,
                      std::size_t id, bool related) {
    json_.object();
    if (related) json_.key("id").natural(id);
    write_parts(program, entry, mark);
    write_text("message", fmt::format("{}, {}: {}", mark.place, mark.name, mark.what));
    json_.close();
  }

  // ---- flows ----

  void write_flows(const Entry& entry, const OpNames& names, const proofs::Counterexample& c,
                   const std::vector<Mark>& marks) {
    const bool told = marks.size() > 1;
    if (!told && c.schedules.empty()) return;
    json_.key("codeFlows").array();
    if (told) {
      json_.object();
      write_text("message",
                 c.chain.empty() ? "what the counterexample names" : "who waits for whom");
      json_.key("threadFlows").array();
      json_.object();
      json_.key("locations").array();
      for (const Mark& mark : marks) write_step(names.program(), entry, mark, 0);
      json_.close();
      json_.close();
      json_.close();
      json_.close();
    }
    for (std::size_t i = 0; i < c.schedules.size(); ++i) write_schedule(entry, names, c, i);
    json_.close();
  }

  void write_step(const ir::Program& program, const Entry& entry, const Mark& mark,
                  std::uint64_t order) {
    json_.object();
    json_.key("location").object();
    write_parts(program, entry, mark);
    write_text("message", mark.what.empty()
                              ? fmt::format("{}, {}", mark.place, mark.name)
                              : fmt::format("{}, {}: {}", mark.place, mark.name, mark.what));
    json_.close();
    if (order != 0) json_.key("executionOrder").natural(order);
    json_.close();
  }

  /// One thread per engine program; the order of execution joins them.
  void write_schedule(const Entry& entry, const OpNames& names, const proofs::Counterexample& c,
                      std::size_t number) {
    const std::vector<std::int64_t> extra = extra_pages(names.program(), c, number);
    const ir::TokenGame game(names.program(), names.unrolled(), extra);
    const Playback playback = play_back(game, c.schedules[number], kMostFlowSteps, extra);
    if (playback.steps.empty()) return;
    const std::size_t programs = names.program().programs.size();
    std::vector<std::vector<std::size_t>> steps(programs);
    for (std::size_t i = 0; i < playback.steps.size(); ++i) {
      steps[names.program_of(playback.steps[i].transition).value()].push_back(i);
    }
    json_.object();
    write_text("message",
               playback.skipped == 0
                   ? fmt::format("{}: {}", schedule_title(c, number),
                                 count_text(static_cast<std::int64_t>(playback.total), "step"))
                   : fmt::format("{}: the last {} of {} steps", schedule_title(c, number),
                                 playback.steps.size(), playback.total));
    json_.key("threadFlows").array();
    for (std::size_t p = 0; p < programs; ++p) {
      if (steps[p].empty()) continue;
      json_.object();
      const auto id = ir::ProgramId(static_cast<std::uint32_t>(p));
      json_.key("id").text(engine_text(names.program(), id));
      json_.key("locations").array();
      for (const std::size_t i : steps[p]) {
        const ir::TransitionId t = playback.steps[i].transition;
        const Mark mark{Role::op,
                        t,
                        location_of(names, t),
                        names.op(t),
                        fmt::format("{}, {}", names.engine(t),
                                    part_text(names.program(), id, names.unrolled().op[t.value()])),
                        ""};
        write_step(names.program(), entry, mark, playback.skipped + i + 1);
      }
      json_.close();
      json_.close();
    }
    json_.close();
    json_.close();
  }

  const Run& run_;
  JsonWriter json_;
};

}  // namespace

std::string sarif_view(const Run& run, const Options&) { return Writer(run).write(); }

}  // namespace spatialcert::certify::views
