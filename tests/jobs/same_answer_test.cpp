// However many threads work on a program: report, certificate and queries are the same to the byte.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/collectives/collectives.hpp"
#include "compose/composition/composer.hpp"
#include "ir/import/msccl.hpp"
#include "ir/program_file.hpp"
#include "tests/composed/compositions.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

using certify::Options;
using certify::Verdict;

/// All that comes out of a program but the seconds.
struct Outcome {
  std::string text, json, certificate;
  std::vector<std::string> queries;  ///< with rule and number
  Verdict verdict = Verdict::undecided;
  std::uint64_t asked = 0;
};

Outcome outcome(const ir::Program& program, Options options, bool hand_out) {
  Outcome out;
  options.keep_witnesses = true;
  if (hand_out) {
    options.on_query = [&](std::string_view rule, std::uint64_t number, const std::string& smt2) {
      out.queries.push_back(fmt::format("{} {}\n{}", rule, number, smt2));
    };
  }
  certify::ProgramReport report = certify::certify(program, options);
  report.seconds = 0;
  for (certify::RuleReport& rule : report.rules) {
    rule.seconds = 0;
    out.asked += rule.queries;
  }
  out.text = certify::report_text(program, report, false);
  out.json = certify::report_json(program, report);
  if (report.certificate) out.certificate = proofs::encode(*report.certificate);
  out.verdict = report.verdict;
  return out;
}

/// The same with 1, 2 and 5 threads; what it is.
Outcome same(const ir::Program& program, const Options& options = {}) {
  CAPTURE(program.name);
  Outcome first;
  for (const bool hand_out : {true, false}) {
    for (const unsigned jobs : {1U, 2U, 5U}) {
      CAPTURE(jobs);
      Options with = options;
      with.jobs = jobs;
      const Outcome next = outcome(program, with, hand_out);
      if (jobs == 1) first = next;
      CHECK(next.text == first.text);
      CHECK(next.json == first.json);
      CHECK(next.certificate == first.certificate);
      CHECK(next.queries == first.queries);
      CHECK((!hand_out || next.queries.size() == next.asked));
    }
  }
  count("programs certified by several threads", 1);
  return first;
}

std::vector<ir::Program> collective(compose::Algorithm algorithm, std::uint32_t ranks,
                                    compose::Fault fault = compose::Fault::none) {
  compose::CollectiveOptions options;
  options.algorithm = algorithm;
  options.ranks = ranks;
  options.fault = fault;
  const auto xml = compose::generate_collective(options);
  REQUIRE(xml.has_value());
  const auto imported = ir::import_msccl_text(*xml, "generated.xml", {});
  REQUIRE(imported.has_value());
  std::vector<ir::Program> out;
  for (const ir::MscclVariant& variant : imported->variants) out.push_back(variant.program);
  return out;
}

}  // namespace

TEST_CASE("jobs: golden programs") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(SPATIALCERT_SOURCE_DIR "/tests/golden")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t certified = 0, refuted = 0;
  for (const auto& file : files) {
    const auto program = ir::read_program(file.string());
    REQUIRE(program.has_value());
    const Verdict verdict = same(*program).verdict;
    certified += verdict == Verdict::certified ? 1 : 0;
    refuted += verdict == Verdict::refuted ? 1 : 0;
  }
  CHECK(certified > 0);
  CHECK(refuted > 0);
}

TEST_CASE("jobs: collectives with more questions than fit into one context") {
  for (const ir::Program& program : collective(compose::Algorithm::ring, 16)) {
    const Outcome out = same(program);
    CHECK(out.verdict == Verdict::certified);
    CHECK(out.asked > 20);
  }
  using compose::Fault;
  for (const Fault fault : {Fault::drop_dependency, Fault::dependency_cycle, Fault::skip_rank}) {
    for (const ir::Program& program : collective(compose::Algorithm::ring, 12, fault))
      CHECK(same(program).verdict == Verdict::refuted);
  }
}

TEST_CASE("jobs: the first question that Z3 gives up on is the first in order") {
  // Some questions of a rule are answered within these limits, others are not.
  const auto programs = collective(compose::Algorithm::ring, 16);
  std::size_t undecided = 0;
  for (const std::uint64_t limit : {1U, 3'000U, 10'000U, 30'000U, 100'000U}) {
    Options options;
    options.rlimit = limit;
    undecided += same(programs.front(), options).verdict == Verdict::undecided ? 1 : 0;
  }
  CHECK(undecided > 1);
}

TEST_CASE("jobs: composed programs, with and without classes") {
  const auto sections = chain(24, {{{0, 0, 0}, Engine::load}, {{1, 0, 0}, Engine::store}});
  const ir::Program program = composed(compose::compose(sections, {}, {})).program;
  CHECK(same(program).verdict == Verdict::certified);
  Options monolithic;
  monolithic.monolithic = true;
  CHECK(same(program, monolithic).verdict == Verdict::certified);
  for (std::uint64_t seed = 1; seed <= 25; ++seed) same(random_composition(seed).program);
}

TEST_CASE("jobs: composed programs, section by section") {
  Options sections;
  sections.divide_from = 0;
  sections.divide_percent = 100;
  const auto made = chain(24, {{{0, 0, 0}, Engine::load}, {{1, 0, 0}, Engine::store}});
  const ir::Program program = composed(compose::compose(made, {}, {})).program;
  const Outcome out = same(program, sections);
  CHECK(out.verdict == Verdict::certified);
  CHECK(out.json.find("\"divided\": {\"sections\": 24, \"classes\"") != std::string::npos);
  std::size_t divided = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    const Outcome each = same(repeated_composition(seed).program, sections);
    divided += each.json.find("\"divided\"") != std::string::npos ? 1 : 0;
  }
  CHECK(divided > 3);
}

}  // namespace spatialcert::tests
