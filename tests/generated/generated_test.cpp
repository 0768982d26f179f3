// The collectives that `generate` writes, through the whole job: right ones certify at any message
// size, and every fault is refuted by the rule that owns it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "compose/collectives/collectives.hpp"
#include "ir/import/msccl.hpp"
#include "tests/collectives/cases.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using compose::CollectiveOptions;
using compose::Fault;
using proofs::Rule;

bool everything() { return std::getenv("SPATIALCERT_LONG") != nullptr; }

/// SPATIALCERT_LONG: every number of ranks from 2 to 64.
std::vector<std::uint32_t> ranks() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t n = 2; n <= (everything() ? 64 : 9); ++n) out.push_back(n);
  if (!everything()) out.insert(out.end(), {12, 16, 31, 32, 64});
  return out;
}

/// Pairs whose steps grow with the square of the ranks are left to the long run from here on.
constexpr std::uint64_t kMostSteps = 2'500;

CollectiveOptions options(const compose::SupportedPair& pair, std::uint32_t ranks) {
  CollectiveOptions out;
  out.algorithm = pair.algorithm;
  out.collective = pair.collective;
  out.ranks = ranks;
  out.ranks_per_node = ranks % 8 == 0 ? 8 : ranks % 4 == 0 ? 4 : ranks % 2 == 0 ? 2 : 1;
  return out;
}

std::vector<certify::ProgramReport> certified(const ir::MscclImport& imported) {
  std::vector<certify::ProgramReport> reports;
  for (const ir::MscclVariant& variant : imported.variants) {
    reports.push_back(certify::certify(variant.program));
    count("generated programs", 1);
    for (const auto& rule : reports.back().rules) {
      count("queries", rule.queries);
      if (rule.verdict == Verdict::certified) count("witnesses accepted", 1);
      if (rule.verdict == Verdict::refuted) count("counterexamples replayed", 1);
    }
  }
  return reports;
}

TEST_CASE("every supported collective certifies at any message size") {
  for (const auto& pair : compose::supported_pairs()) {
    for (const std::uint32_t n : ranks()) {
      if (!test::takes(pair, n)) continue;
      for (const bool in_place : {false, true}) {
        CollectiveOptions wanted = options(pair, n);
        wanted.in_place = in_place;
        CAPTURE(test::describe(wanted));
        const auto text = compose::generate_collective(wanted);
        REQUIRE(text.has_value());
        const auto imported = ir::import_msccl_text(*text, "generated.xml", {});
        REQUIRE(imported.has_value());
        if (!everything() && imported->summary.steps > kMostSteps) continue;
        for (const certify::ProgramReport& report : certified(*imported)) {
          CHECK_MESSAGE(report.verdict == Verdict::certified, report.reason);
        }
      }
    }
  }
}

/// The rules that may refute a fault; none: it is refused when it is read.
std::vector<Rule> owners(Fault fault) {
  switch (fault) {
    case Fault::drop_dependency:
      return {Rule::ordering};
    case Fault::dependency_cycle:
    case Fault::send_first:
      return {Rule::liveness};
    case Fault::wrong_slot:
      return {Rule::reduction, Rule::ordering};
    case Fault::reduce_twice:
    case Fault::skip_rank:
      return {Rule::reduction};
    default:
      return {};
  }
}

/// What is wrong with how a faulty algorithm was judged; empty: nothing. Some variant must be
/// refuted, by an owner, and none by anything else.
std::string judged_wrongly(const CollectiveOptions& wanted, const std::string& text) {
  const auto imported = ir::import_msccl_text(text, "generated.xml", {});
  const auto own = owners(wanted.fault);
  if (!imported) return own.empty() ? "" : "refused: " + imported.error().message();
  if (own.empty()) return "not refused";
  bool refuted = false;
  for (const certify::ProgramReport& report : certified(*imported)) {
    if (report.verdict == Verdict::undecided) return "undecided: " + report.reason;
    if (report.verdict != Verdict::refuted) continue;
    refuted = std::any_of(report.rules.begin(), report.rules.end(), [&](const auto& rule) {
      return rule.verdict == Verdict::refuted &&
             std::find(own.begin(), own.end(), rule.rule) != own.end();
    });
    if (!refuted) return "refuted by another rule";
  }
  return refuted ? "" : "certified";
}

TEST_CASE("every fault of every collective is refuted by the rule that owns it, or refused") {
  std::vector<std::uint32_t> sizes{3, 4, 6, 8};
  if (everything()) sizes.insert(sizes.end(), {2, 5, 7, 9, 12, 16, 32, 64});
  for (const auto& pair : compose::supported_pairs()) {
    for (const std::uint32_t n : sizes) {
      if (!test::takes(pair, n)) continue;
      for (const Fault fault : pair.faults) {
        CollectiveOptions wanted = options(pair, n);
        wanted.fault = fault;
        CAPTURE(test::describe(wanted));
        const auto text = compose::generate_collective(wanted);
        if (!text) continue;  // no place for the fault in so small a program
        CHECK(judged_wrongly(wanted, *text) == "");
        count("faulty collectives", 1);
      }
    }
  }
}

}  // namespace
}  // namespace spatialcert::tests
