// Programs that look right and are not: each fails in some play, or does not do what it says, so
// none may be certified.
#include <doctest/doctest.h>

#include "certify/pipeline.hpp"
#include "ir/program_file.hpp"
#include "tests/proofs/draft.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests {
namespace {

/// Refused, refuted or undecided, but not certified.
void is_not_certified(const Draft& draft) {
  CAPTURE(draft.name());
  const auto program = ir::parse_program(draft.json(), draft.name());
  if (program.has_value()) CHECK(certify::certify(*program).verdict != certify::Verdict::certified);
}

TEST_CASE("a FIFO that is a view shares its bytes with the base") {
  Draft d("written beside the FIFO");
  d.tensor("x", "external").tensor("y").buffer("b").fifo("q", 1, R"("view": {"of": "b"})");
  d.engine("load", {"reserve q", "run load x > q", "push q"});
  d.engine("store", {"front q", "run store q > y", "pop q"});
  d.engine("move", {"run clear x > b"});
  is_not_certified(d);
}

TEST_CASE("two FIFOs that are views of one buffer share its bytes") {
  Draft d("two FIFOs in one place");
  d.tensor("x", "external").tensor("y").buffer("b");
  d.fifo("q", 1, R"("view": {"of": "b"})").fifo("r", 1, R"("view": {"of": "b"})");
  d.engine("load",
           {"reserve q", "reserve r", "run load x > q", "run other x > r", "push q", "push r"});
  d.engine("store", {"front q", "run store q > y", "pop q", "front r", "pop r"});
  is_not_certified(d);
}

TEST_CASE("a FIFO of guaranteed depth may be deeper, and then lets more posts through") {
  Draft d("kept below the maximum by a FIFO");
  d.fifo("q", 1, R"("depth": "guaranteed")").semaphore("s", 0, 1);
  d.engine("load", {"reserve q", "push q", "post s", "reserve q", "push q", "post s"});
  d.engine("store", {"wait s", "front q", "pop q", "wait s", "front q", "pop q"});
  is_not_certified(d);
}

TEST_CASE("a result is compared element by element, not byte by byte") {
  Draft d("other element types");
  d.tensor("x", "external", 1, "i8").tensor("y", "zero", 4, "i32").stage("widen", "copy");
  d.member("postconditions",
           R"([{"region": {"tensor": "y"}, "sum": [{"tensor": "x", "rows": [0, 1]}]}])");
  d.member("tensors", R"([
      {"name": "x", "role": "input", "rows": 1, "cols": 4, "dtype": "i8", "init": "external"},
      {"name": "y", "role": "output", "rows": 1, "cols": 4, "dtype": "i32", "init": "zero"}])");
  d.member("programs", R"([{"site": [0, 0, 0], "engine": "compute", "ops": [
      {"run": "widen", "reads": [{"tensor": "x"}], "writes": [{"tensor": "y", "cols": [0, 1]}]}]}])");
  is_not_certified(d);
}

TEST_CASE("an integer and a float have no sum of bytes") {
  Draft d("integer plus float");
  d.tensor("x0", "external", 4, "i32").tensor("x1", "external").tensor("y", "undefined", 4, "i32");
  d.stage("add", "add").engine("compute", {"run add x0 x1 > y"}).sum("y", {"x0", "x1"});
  is_not_certified(d);
}

TEST_CASE("an element that is added in two parts loses its carry") {
  Draft d("added in two parts");
  d.tensor("x0", "external", 4, "i32")
      .tensor("x1", "external", 4, "i32")
      .tensor("y", "undefined", 4, "i32");
  d.buffer("a").buffer("b").buffer("c").stage("add", "add").sum("y", {"x0", "x1"});
  d.engine("compute", {"run copy x0 > a", "run copy x1 > b", "run add a[0:2] b[0:2] > c[0:2]",
                       "run add a[2:64] b[2:64] > c[2:64]", "run copy c > y"});
  is_not_certified(d);
}

/// y = x0 + x1, by way of tensors of another type that take the bytes as they are.
Draft added_as(const std::string& type, const std::string& meant, bool through_buffer) {
  Draft d(meant + " added as " + type);
  for (const char* x : {"x0", "x1"}) d.tensor(x, "external", 4, meant);
  d.tensor("y", "undefined", 4, meant);
  for (const char* t : {"a", "b", "c"}) d.tensor(t, "undefined", 4, type);
  d.buffer("u").stage("add", "add").sum("y", {"x0", "x1"});
  if (!through_buffer) {
    return d.engine("compute",
                    {"run copy x0 > a", "run copy x1 > b", "run add a b > c", "run copy c > y"});
  }
  return d.engine("compute",
                  {"run copy x0 > u", "run copy u > a", "run copy x1 > u", "run copy u > b",
                   "run add a b > c", "run copy c > u", "run copy u > y"});
}

TEST_CASE("elements are added in their own type") {
  for (const bool through_buffer : {false, true}) {
    is_not_certified(added_as("i8", "i32", through_buffer));
    is_not_certified(added_as("i32", "f32", through_buffer));
    is_not_certified(added_as("f32", "i32", through_buffer));
    CHECK(certify::certify(added_as("i32", "i32", through_buffer).program()).verdict ==
          certify::Verdict::certified);
  }
}

TEST_CASE(
    "a tensor's type is that of an op that reads buffers and writes the tensor, or reads it") {
  for (const std::string op : {"run add u v > c", "run add u c > v", "run sub u c > c"}) {
    Draft d("typed by one operand");
    d.tensor("x0", "external", 4, "i32").tensor("x1", "external", 4, "i32");
    d.tensor("c", "zero", 4, "i8").tensor("y", "undefined", 4, "i32");
    d.buffer("u").buffer("v").stage("add", "add").stage("sub", "sub");
    d.engine("compute", {"run copy x0 > u", "run copy x1 > v", op, "run copy c > y"});
    is_not_certified(d.sum("y", {"x0", "x1"}));
  }
}

TEST_CASE("what is added as i8 is no i32, though it is written as one") {
  Draft d("mixed");
  d.tensor("x0", "external", 4, "i32").tensor("x1", "external", 4, "i32");
  d.tensor("a", "undefined", 4, "i8").tensor("b", "undefined", 4, "i8");
  d.tensor("y", "undefined", 4, "i32").stage("add", "add").sum("y", {"x0", "x1"});
  is_not_certified(d.engine("compute", {"run copy x0 > a", "run copy x1 > b", "run add a b > y"}));
}

/// Two given buffers, added in a type that only the result's tensor says.
Draft added_buffers(const std::string& result, const std::string& meant) {
  Draft d("buffers added as " + result);
  d.buffer("a", R"("init": "external")").buffer("b", R"("init": "external")").stage("add", "add");
  d.tensor("c", "undefined", 4, result).tensor("y", "undefined", 4, meant);
  d.engine("compute", {"run add a b > c", "run copy c > y"});
  return d.sum("y", {"a", "b"});
}

TEST_CASE("what buffers hold is added in the type of the result") {
  is_not_certified(added_buffers("i8", "i32"));
  is_not_certified(added_buffers("i32", "f32"));
  CHECK(certify::certify(added_buffers("i32", "i32").program()).verdict ==
        certify::Verdict::certified);
}

TEST_CASE("equal sums in two types are two values") {
  Draft d("twice");
  d.buffer("a", R"("init": "external")").buffer("b", R"("init": "external")").stage("add", "add");
  d.tensor("i", "undefined", 4, "i32").tensor("f", "undefined", 4, "f32");
  d.engine("compute", {"run add a b > i", "run add a b > f"});
  d.sum("i", {"a", "b"}).sum("f", {"a", "b"});
  CHECK(certify::certify(d.program()).verdict == certify::Verdict::certified);
}

TEST_CASE("one sum is not what two postconditions of two types ask for") {
  Draft d("copied into another type");
  d.buffer("a", R"("init": "external")").buffer("b", R"("init": "external")").stage("add", "add");
  d.tensor("i", "undefined", 4, "i32").tensor("f", "undefined", 4, "f32");
  d.engine("compute", {"run add a b > i", "run copy i > f"});
  is_not_certified(d.sum("i", {"a", "b"}).sum("f", {"a", "b"}));
}

TEST_CASE("a sum in a buffer has the type of its terms, or elements of any size") {
  for (const std::string term : {"x", "a"}) {
    for (const std::string cut : {"2", "4", "8"}) {
      CAPTURE(term);
      CAPTURE(cut);
      Draft d("added in two parts");
      d.tensor("x0", "external", 4, "i32").tensor("x1", "external", 4, "i32");
      d.buffer("a0", R"("init": "external")").buffer("a1", R"("init": "external")");
      d.buffer("b0").buffer("b1").buffer("c").stage("add", "add");
      const std::string low = "[0:" + cut + "]", high = "[" + cut + ":64]";
      d.engine("compute", {"run copy " + term + "0 > b0", "run copy " + term + "1 > b1",
                           "run add b0" + low + " b1" + low + " > c" + low,
                           "run add b0" + high + " b1" + high + " > c" + high});
      d.sum("c", {term + "0", term + "1"});
      const bool whole = cut == "8" || (cut == "4" && term == "x");
      CHECK((certify::certify(d.program()).verdict == certify::Verdict::certified) == whole);
    }
  }
}

TEST_CASE("FIFOs of guaranteed depth have no address and collide with nothing") {
  Draft d("no address");
  d.tensor("x", "external").tensor("y");
  d.fifo("q", 2, R"("depth": "guaranteed", "address": 0)")
      .fifo("r", 2, R"("depth": "guaranteed", "address": 0)");
  d.engine("load", {"reserve q", "run load x > q", "push q"});
  d.engine("compute", {"front q", "reserve r", "run work q > r", "push r", "pop q"});
  d.engine("store", {"front r", "run store r > y", "pop r"});
  CHECK(certify::certify(d.program()).verdict == certify::Verdict::certified);
}

TEST_CASE("an engine that waits for ever is found although another one runs on") {
  Draft d("starved beside a free runner");
  d.persistent().tensor("x", "external").fifo("q", 1).semaphore("s").semaphore("t");
  d.engine("load", {"run load x"})
      .engine("compute", {"wait s", "post t"})
      .engine("store", {"wait t", "post s"});
  CHECK(certify::certify(d.program()).verdict == certify::Verdict::refuted);
}

TEST_CASE("a resident view does not keep the contents of a base that dies with its section") {
  Draft d("kept through a view");
  d.persistent().tensor("x", "external").tensor("y").buffer("b", R"("init": "zero")");
  d.buffer("v", R"("lifetime": "resident", "view": {"of": "b"})");
  d.engine("load", {"run store v > y", "run load x > b"});
  is_not_certified(d);
}

TEST_CASE("replay: an empty range is read by nobody") {
  Draft d("written in two parts");
  d.tensor("x", "external", 8).tensor("y").buffer("b");
  d.engine("load", {"run load x[0:2] > b[0:32]", "run load x[2:4] > b[32:64]", "run store b > y"});
  Fixture f(d);
  proofs::Counterexample c;
  c.kind = proofs::Kind::undefined_read;
  c.accesses = {{f.at(0, 2), 4}};
  c.schedules = {{{ir::ProgramId(0U), 2}}};
  const auto& storage = f.subject.accesses.storages[f.subject.accesses.storage_of_buffer[0]];
  c.range = proofs::LocationRange{storage, 32, 32};
  CHECK(replayed(f.program, c) != "reproduced");
  c.range = proofs::LocationRange{storage, 33, 32};
  CHECK(replayed(f.program, c) != "reproduced");
}

TEST_CASE("replay: what the host resets is not left over") {
  Draft d("reset");
  d.semaphore("s", 0, 15, R"("restart": "reset")")
      .engine("load", {"post s"})
      .engine("store", {"await s 1"});
  proofs::Counterexample c;
  c.kind = proofs::Kind::leftover;
  c.counter = ir::CounterId(0U);
  c.value = 1;
  c.schedules = {{{ir::ProgramId(0U), 1}, {ir::ProgramId(1U), 1}}};
  CHECK(replayed(d.program(), c) != "reproduced");
}

TEST_CASE("replay: what a counterexample says of its counter is looked at") {
  Draft d("two semaphores");
  d.semaphore("s", 0, 1)
      .semaphore("t", 0, 1)
      .engine("load", {"post s 2"})
      .engine("store", {"wait t"});
  const auto program = d.program();
  proofs::Counterexample c;
  c.kind = proofs::Kind::overflow;
  c.transition = ir::TransitionId(0U);
  c.counter = ir::CounterId(0U);
  c.value = 2;
  c.limit = 1;
  c.schedules.resize(1);
  CHECK(replayed(program, c) == "reproduced");
  c.counter = ir::CounterId(1U);
  CHECK(replayed(program, c) != "reproduced");
  c.counter = ir::CounterId(0U);
  c.value = 7;
  CHECK(replayed(program, c) != "reproduced");
}

TEST_CASE("replay: a link of a chain waits for the counter that it names") {
  Draft d("crossed");
  d.semaphore("s").semaphore("t");
  d.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
  proofs::Counterexample c;
  c.kind = proofs::Kind::cycle;
  c.schedules.resize(1);
  c.chain = {{ir::TransitionId(0U), ir::CounterId(0U), 1, 0, ir::TransitionId(3U)},
             {ir::TransitionId(2U), ir::CounterId(1U), 1, 0, ir::TransitionId(1U)}};
  CHECK(replayed(d.program(), c) == "reproduced");
  c.chain[0].counter = ir::CounterId(1U);
  CHECK(replayed(d.program(), c) != "reproduced");
}

TEST_CASE("replay: a postcondition is not refuted by another one") {
  Draft d("one of two");
  d.tensor("x0", "external").tensor("x1", "external").tensor("y").tensor("z");
  d.engine("load", {"run load x0 > y", "run load x0 > z"}).sum("y", {"x0"}).sum("z", {"x1"});
  proofs::Counterexample c;
  c.kind = proofs::Kind::wrong_result;
  c.index = 1;
  c.schedules = {{{ir::ProgramId(0U), 2}}};
  CHECK(replayed(d.program(), c) == "reproduced");
  c.index = 0;
  CHECK(replayed(d.program(), c) != "reproduced");
}

}  // namespace
}  // namespace spatialcert::tests
