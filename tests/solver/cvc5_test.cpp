// The exported text means the same to another solver.
#include <doctest/doctest.h>

#include "solvers.hpp"
#include "tests/counts.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::tests {
namespace {

TEST_CASE("cvc5 and Z3 answer the exported queries of certified programs alike") {
  std::vector<ExternalSolver> solvers;
  for (const ExternalSolver& solver : {z3_command(), cvc5_command()}) {
    if (solver.installed()) {
      solvers.push_back(solver);
    } else {
      MESSAGE("skipped: there is no " << solver.path());
    }
  }
  std::size_t asked = 0;
  for (const Draft& draft : all_samples()) {
    CAPTURE(draft.name());
    for (const AskedQuery& query : all_queries(draft.program())) {
      ++asked;
      CAPTURE(to_string(query.rule));
      CHECK(query.text.find("(set-logic") != std::string::npos);
      CHECK(query.text.find("(check-sat)") != std::string::npos);
      for (const ExternalSolver& solver : solvers)
        CHECK(solver.answer(query.text) == certified_answer(query.rule));
    }
  }
  count("queries put to other solvers", asked * solvers.size());
  MESSAGE(asked << " queries, " << solvers.size() << " solvers");
  CHECK(asked > 20);
}

/// Refuted: the answers are the other way round, and again the same.
TEST_CASE("cvc5 and Z3 agree that a faulty program is faulty") {
  if (!cvc5_command().installed()) {
    MESSAGE("skipped: there is no " << cvc5_command().path());
    return;
  }
  Draft cycle("cycle"), race("race"), leftover("leftover"), overlap("overlap"), sum("sum");
  cycle.semaphore("s")
      .semaphore("t")
      .engine("load", {"wait s", "post t"})
      .engine("store", {"wait t", "post s"});
  race.tensor("x", "external")
      .buffer("b")
      .engine("load", {"run load x > b"})
      .engine("store", {"run other x > b"});
  leftover.semaphore("s").engine("load", {"post s 2"}).engine("store", {"wait s"});
  overlap.buffer("a").buffer("b", R"("address": 60)").engine("load", {"run load > a"});
  sum.tensor("x", "external")
      .tensor("y")
      .stage("neg", "neg")
      .sum("y", {"x"})
      .engine("load", {"run neg x > y"});
  for (const Draft& draft : {cycle, race, leftover, overlap, sum}) {
    CAPTURE(draft.name());
    const auto queries = all_queries(draft.program());
    const AskedQuery* const query = flipped(queries, cvc5_command());
    REQUIRE(query != nullptr);
    if (z3_command().installed())
      CHECK(z3_command().answer(query->text) == cvc5_command().answer(query->text));
  }
}

}  // namespace
}  // namespace spatialcert::tests
