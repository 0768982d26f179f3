// Views of runs that the command line cannot be made to have: faults of our own.
#include <doctest/doctest.h>

#include "certify/views/view.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert;
using command::test::contains;
namespace views = certify::views;

namespace {

views::Run faulty_run() {
  views::Run run;
  run.entries.push_back({{"model <1>.json", {}, {}, {}}, views::Fault{"out of \"memory\" & luck"}});
  certify::ProgramReport report;
  report.name = "no rules";
  report.verdict = certify::Verdict::undecided;
  report.reason = "the program has no ops";
  run.entries.push_back({{"empty.json", {}, {}, {}}, views::Judged{{}, std::move(report)}});
  run.exit_status = 70;
  return run;
}

}  // namespace

TEST_CASE("a fault of our own is an error in every view of a run, and no pass") {
  const std::string junit = views::junit_view(faulty_run(), {});
  CHECK(contains(junit, "errors=\"2\""));
  CHECK(contains(junit, "name=\"model &lt;1>.json\""));
  CHECK(contains(junit, "out of &quot;memory&quot; &amp; luck"));
  const std::string sarif = views::sarif_view(faulty_run(), {});
  CHECK(contains(sarif, "\"executionSuccessful\": false"));
  CHECK(contains(sarif, "\"exitCode\": 70"));
  CHECK(contains(sarif, "{\"id\": \"fault\"}"));
  CHECK(contains(sarif, "model%20%3C1%3E.json"));
  CHECK(contains(views::html_view(faulty_run(), {}), "out of"));
}

TEST_CASE("a program that is undecided without any rule being so is an error all the same") {
  const std::string junit = views::junit_view(faulty_run(), {});
  CHECK(contains(junit, "<error message=\"the program has no ops\" type=\"undecided\" />"));
  const std::string sarif = views::sarif_view(faulty_run(), {});
  CHECK(contains(sarif, "no rules: undecided: the program has no ops"));
}
