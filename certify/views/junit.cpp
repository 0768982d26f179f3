// JUnit XML, as continuous integration reads it: a suite per program, a case per rule.
#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "certify/views/text.hpp"
#include "certify/views/view.hpp"

namespace spatialcert::certify::views {
namespace {

struct Counts {
  std::uint64_t tests = 0;
  std::uint64_t failures = 0;
  std::uint64_t errors = 0;
  std::uint64_t skipped = 0;

  void add(const Counts& more) {
    tests += more.tests;
    failures += more.failures;
    errors += more.errors;
    skipped += more.skipped;
  }
};

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(legible(value).c_str());
}

void set_counts(pugi::xml_node node, const Counts& counts) {
  node.append_attribute("tests").set_value(counts.tests);
  node.append_attribute("failures").set_value(counts.failures);
  node.append_attribute("errors").set_value(counts.errors);
  node.append_attribute("skipped").set_value(counts.skipped);
}

pugi::xml_node add_case(pugi::xml_node suite, std::string_view suite_name, std::string_view name) {
  pugi::xml_node node = suite.append_child("testcase");
  set(node, "name", name);
  set(node, "classname", suite_name);
  return node;
}

void add_outcome(pugi::xml_node test, const char* outcome, std::string_view type,
                 std::string_view message, std::string_view text = {}) {
  pugi::xml_node node = test.append_child(outcome);
  set(node, "message", message);
  if (!type.empty()) set(node, "type", type);
  if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(legible(text).c_str());
}

Counts add_rule(pugi::xml_node suite, const std::string& name, const ir::Program& program,
                const RuleReport& rule, const Excuse* excuse) {
  Counts counts{1, 0, 0, 0};
  pugi::xml_node test = add_case(suite, name, proofs::to_string(rule.rule));
  if (excuse != nullptr) {
    ++counts.skipped;
    add_outcome(test, "skipped", {},
                fmt::format("{}, excused: {}", to_string(rule.verdict), excuse->reason));
    return counts;
  }
  switch (rule.verdict) {
    case Verdict::certified:
      break;
    case Verdict::refuted:
      ++counts.failures;
      if (rule.counterexample) {
        add_outcome(test, "failure", proofs::to_string(rule.counterexample->kind),
                    headline(program, *rule.counterexample),
                    counterexample_text(program, *rule.counterexample));
      } else {
        add_outcome(test, "failure", "refuted", rule.detail);
      }
      break;
    case Verdict::undecided:
      ++counts.errors;
      add_outcome(test, "error", "undecided", rule.detail);
      break;
    case Verdict::not_evaluated:
    case Verdict::not_applicable:
      ++counts.skipped;
      add_outcome(test, "skipped", {}, fmt::format("{}: {}", to_string(rule.verdict), rule.detail));
      break;
  }
  return counts;
}

Counts add_program(pugi::xml_node suite, const std::string& name, const Judged& judged,
                   const Entry& entry) {
  Counts counts;
  bool explained = false;
  for (const RuleReport& rule : judged.report.rules) {
    counts.add(add_rule(suite, name, judged.program, rule, entry.excuse_of(rule.rule)));
    explained = explained || rule.verdict == Verdict::undecided;
  }
  // A program may be undecided though no rule is: some were not asked for, or it has no ops.
  if (judged.report.verdict == Verdict::undecided && !explained) {
    add_outcome(add_case(suite, name, "verdict"), "error", "undecided", judged.report.reason);
    counts.add({1, 0, 1, 0});
  }
  return counts;
}

Counts add_unread(pugi::xml_node suite, const std::string& name, const Entry& entry) {
  const auto* refusal = std::get_if<ir::Refusal>(&entry.outcome);
  pugi::xml_node test = add_case(suite, name, refusal != nullptr ? "read" : "verdict");
  if (refusal != nullptr) {
    add_outcome(test, "error", "refused", refusal->message());
  } else {
    add_outcome(test, "error", "fault",
                "fault of spatialcert's own: " + std::get<Fault>(entry.outcome).what);
  }
  return {1, 0, 1, 0};
}

std::string name_of(const Entry& entry) {
  const auto* judged = std::get_if<Judged>(&entry.outcome);
  return judged != nullptr ? judged->report.name : entry.provenance.file;
}

}  // namespace

std::string junit_view(const Run& run, const Options&) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name").set_value("spatialcert");
  Counts all;
  for (const Entry& entry : run.entries) {
    pugi::xml_node suite = root.append_child("testsuite");
    const std::string name = name_of(entry);
    set(suite, "name", name);
    set(suite, "file", entry.provenance.file);
    const auto* judged = std::get_if<Judged>(&entry.outcome);
    const Counts counts = judged != nullptr ? add_program(suite, name, *judged, entry)
                                            : add_unread(suite, name, entry);
    set_counts(suite, counts);
    all.add(counts);
  }
  set_counts(root, all);
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace spatialcert::certify::views
