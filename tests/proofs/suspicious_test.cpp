// Programs that look right and are not: each fails in some play, or does not do what it says, so
// none may be certified.
#include <doctest/doctest.h>

#include "certify/pipeline.hpp"
#include "ir/program_file.hpp"
#include "tests/proofs/draft.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests {
namespace {

void is_not_certified(const Draft& draft) {
  CAPTURE(draft.name());
  const auto report = certify::certify(draft.program());
  CAPTURE(report.reason);
  CHECK(report.verdict != certify::Verdict::certified);
}

TEST_CASE("a FIFO that is a view shares its bytes with the base") {
  Draft base("written beside the FIFO");
  base.tensor("x", "external").tensor("y").buffer("b").fifo("q", 1, R"("view": {"of": "b"})");
  base.engine("load", {"reserve q", "run load x > q", "push q"});
  base.engine("store", {"front q", "run store q > y", "pop q"});
  base.engine("move", {"run clear x > b"});
  is_not_certified(base);
  Draft twice("two FIFOs in one place");
  twice.tensor("x", "external")
      .tensor("y")
      .buffer("b")
      .fifo("q", 1, R"("view": {"of": "b"})")
      .fifo("r", 1, R"("view": {"of": "b"})");
  twice.engine("load",
               {"reserve q", "reserve r", "run load x > q", "run other x > r", "push q", "push r"});
  twice.engine("store", {"front q", "run store q > y", "pop q", "front r", "pop r"});
  is_not_certified(twice);
}

TEST_CASE("a FIFO of guaranteed depth may be deeper, and then lets more posts through") {
  Draft d("kept below the maximum by a FIFO");
  d.fifo("q", 1, R"("depth": "guaranteed")").semaphore("s", 0, 1);
  d.engine("load", {"reserve q", "push q", "post s", "reserve q", "push q", "post s"});
  d.engine("store", {"wait s", "front q", "pop q", "wait s", "front q", "pop q"});
  is_not_certified(d);
}

TEST_CASE("a sum is one of elements, not of bytes") {
  Draft types("other element types");
  types.tensor("x", "external", 1, "i8")
      .tensor("y", "zero", 4, "i32")
      .member("postconditions", R"([{
      "region": {"tensor": "y", "rows": [0, 1]}, "sum": [{"tensor": "x", "cols": [0, 4]}]}])");
  types.engine("compute", {"run copy x > y[0:1]"});
  const auto parsed = ir::parse_program(types.json(), "types");
  if (parsed.has_value()) is_not_certified(types);
  Draft mixed("integer plus float");
  mixed.tensor("x0", "external", 4, "i32")
      .tensor("x1", "external")
      .tensor("y", "undefined", 4, "i32")
      .stage("add", "add");
  mixed.engine("compute", {"run add x0 x1 > y"}).sum("y", {"x0", "x1"});
  if (ir::parse_program(mixed.json(), "mixed").has_value()) is_not_certified(mixed);
  Draft halves("an element added in two parts");
  halves.tensor("x0", "external")
      .tensor("x1", "external")
      .tensor("y")
      .buffer("a")
      .buffer("b")
      .buffer("c")
      .stage("add", "add");
  halves.engine("compute", {"run copy x0 > a", "run copy x1 > b", "run add a[0:2] b[0:2] > c[0:2]",
                            "run add a[2:64] b[2:64] > c[2:64]", "run copy c > y"});
  is_not_certified(halves.sum("y", {"x0", "x1"}));
}

TEST_CASE("a buffer of a section is undefined when the section starts again") {
  Draft d("kept across the wrap-around");
  d.persistent().tensor("x", "external").tensor("y").buffer("b", R"("init": "zero")");
  d.engine("load", {"run store b > y", "run load x > b"});
  is_not_certified(d);
}

TEST_CASE("FIFOs of guaranteed depth have no address and collide with nothing") {
  Draft d("no address");
  d.tensor("x", "external").tensor("y").buffer("b");
  d.fifo("q", 2, R"("depth": "guaranteed", "address": 0)")
      .fifo("r", 2, R"("depth": "guaranteed", "address": 0)");
  d.engine("load", {"reserve q", "run load x > q", "push q"});
  d.engine("compute", {"front q", "reserve r", "run work q > r", "push r", "pop q"});
  d.engine("store", {"front r", "run store r > y", "pop r"});
  CHECK(certify::certify(d.program()).verdict == certify::Verdict::certified);
}

}  // namespace
}  // namespace spatialcert::tests
