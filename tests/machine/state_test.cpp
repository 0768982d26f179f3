// What is defined when: tokens, iterations, lifetimes, windows, tiles and views.
#include <doctest/doctest.h>

#include "tests/machine/one_run.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {
namespace {

using ir::machine::Ending;
using ir::machine::rounded;

const std::string kTile = R"("tile": {"rows": 4, "cols": 4, "dtype": "f32"})";

Matrix filled(double value) { return reals(DType::f32, 4, 4, std::vector<double>(16, value)); }

Inputs with_x(double value) {
  Inputs inputs;
  inputs.tensors["x"] = filled(value);
  return inputs;
}

void check_finished(const Outcome& outcome) {
  CHECK_MESSAGE(outcome.ending == Ending::finished, outcome.text);
}

void check_holds(const Machine& m, const std::string& tensor, double value) {
  CAPTURE(tensor);
  const auto found = m.tensor(tensor);
  REQUIRE(found.has_value());
  const auto text = ir::machine::difference(*found, filled(value));
  CHECK_MESSAGE(!text, *text);
}

TEST_CASE("a restarted program keeps its state and gets new inputs") {
  Draft draft("counter");
  draft.tensor("x", "external").tensor("y").tensor("total", "zero").tensor("w");
  draft.member("carried", R"(["total"])").stage("s", "add");
  const ir::Program program =
      draft.engine("compute", {"run s x total > y", "run c y > total"}).program();
  Machine m = machine(program, with_x(1));
  check_finished(m.run());
  check_holds(m, "total", 1);
  REQUIRE_FALSE(m.restart(with_x(10)).has_value());
  CHECK_FALSE(m.tensor("y")->defined());
  check_holds(m, "total", 1);
  check_holds(m, "x", 10);
  check_finished(m.run());
  check_holds(m, "total", 11);
  // Without inputs x is drawn anew, not kept.
  Inputs drawn;
  drawn.seed = 5;
  REQUIRE_FALSE(m.restart(drawn).has_value());
  check_finished(m.run());
  CHECK(ir::machine::difference(*m.tensor("x"), filled(10)).has_value());
}

TEST_CASE("weights and state stay, activations die, and what is zero at the start is zero again") {
  ir::Program program = Draft("roles")
                            .tensor("x", "external")
                            .tensor("weight", "external")
                            .tensor("state")
                            .tensor("zero", "zero")
                            .tensor("y")
                            .engine("compute", {"run c x > state", "run c x > zero", "run c x > y"})
                            .program();
  program.tensors[1].role = ir::TensorRole::weight;
  program.tensors[2].role = ir::TensorRole::state;
  Inputs first = with_x(3);
  first.tensors["weight"] = filled(7);
  Machine m = machine(program, first);
  check_finished(m.run());
  Inputs second = with_x(4);
  REQUIRE_FALSE(m.restart(second).has_value());
  check_holds(m, "weight", 7);
  check_holds(m, "state", 3);
  check_holds(m, "zero", 0);
  CHECK_FALSE(m.tensor("y")->defined());
  second.tensors["weight"] = filled(8);
  check_finished(m.run());
  REQUIRE_FALSE(m.restart(second).has_value());
  check_holds(m, "weight", 8);
}

TEST_CASE("a resident buffer lives through a restart, one of its section does not") {
  const auto program = [](const std::string& more) {
    return Draft("buffers")
        .tensor("x", "external")
        .tensor("y")
        .buffer("b", kTile + more)
        .engine("compute", {"run c x > y", "run c b > y", "run c x > b"})
        .program();
  };
  const ir::Program resident = program(R"(, "lifetime": "resident", "init": "zero")");
  Machine m = machine(resident, with_x(5));
  check_finished(m.run());
  check_holds(m, "y", 0);
  REQUIRE_FALSE(m.restart(with_x(6)).has_value());
  check_finished(m.run());
  check_holds(m, "y", 5);
  const ir::Program section = program(R"(, "init": "zero")");
  Machine n = machine(section, with_x(5));
  check_finished(n.run());
  REQUIRE_FALSE(n.restart(with_x(6)).has_value());
  check_finished(n.run());
  check_holds(n, "y", 0);
}

TEST_CASE("a buffer of its section holds nothing when the program starts again") {
  ir::Program program = Draft("scratch")
                            .tensor("x", "external")
                            .tensor("y")
                            .buffer("b", kTile)
                            .engine("compute", {"run c x > b"})
                            .engine("store", {"run c b > y"})
                            .program();
  Machine m = machine(program, with_x(5));
  check_finished(m.run(Schedule::script({0, 1})));
  REQUIRE_FALSE(m.restart(with_x(6)).has_value());
  const Outcome outcome = m.run(Schedule::script({1, 0}));
  CHECK(outcome.ending == Ending::fault);
  CHECK(*outcome.fault == FaultKind::undefined_read);
}

TEST_CASE("a part of a row of a tile is a row") {
  const ir::Program program = Draft("row")
                                  .tensor("x", "external")
                                  .buffer("b", kTile)
                                  .buffer("c", kTile)
                                  .stage("s", "softmax")
                                  .engine("compute", {"run l x > b", "run s b[20:32] > c[0:12]"})
                                  .program();
  Machine m = machine(program, with_x(5));
  check_finished(m.run());
  CHECK(m.buffer("c")->at<double>(0, 2) == rounded(1.0 / 3, DType::f32));
}

void check_no_restart(Machine& m, const std::string& path, const std::string& found) {
  const auto refusal = m.restart();
  REQUIRE(refusal.has_value());
  INFO(refusal->message());
  CHECK(refusal->path == path);
  CHECK(refusal->found.find(found) != std::string::npos);
}

TEST_CASE("no restart of what has not finished or left something behind") {
  const ir::Program left = Draft("left").semaphore("s").engine("load", {"post s"}).program();
  Machine m = machine(left);
  check_no_restart(m, "$.programs", "has not");
  check_finished(m.run());
  check_no_restart(m, "$", "semaphore s at 1 instead of 0");
  const ir::Program reset = Draft("reset")
                                .semaphore("s", 0, 15, R"("restart": "reset")")
                                .engine("load", {"post s"})
                                .program();
  Machine fine = machine(reset);
  check_finished(fine.run());
  CHECK_FALSE(fine.restart().has_value());
  const ir::Program fifo =
      Draft("fifo").fifo("q", 2).engine("load", {"reserve q", "push q"}).program();
  Machine filled_fifo = machine(fifo);
  check_finished(filled_fifo.run());
  check_no_restart(filled_fifo, "$", "filled pages of q at 1");
  const ir::Program wraps = Draft("wraps").persistent().engine("load", {"run c"}).program();
  Machine persistent = machine(wraps);
  check_no_restart(persistent, "$.execution", "persistent");
}

TEST_CASE("a persistent program: what its buffers and tensors carry on") {
  const auto program = [](const std::string& more, const std::string& from) {
    return Draft("wraps")
        .persistent()
        .tensor("x", "external")
        .tensor("y")
        .tensor("kept", "zero")
        .buffer("b", kTile + R"(, "init": "zero")" + more)
        .stage("s", "add")
        .engine("compute", {"run s x " + from + " > y", "run c y > b", "run c y > kept"})
        .program();
  };
  const ir::Program dies = program("", "b");
  Machine one = machine(dies, with_x(2), 1);
  check_finished(one.run());
  check_holds(one, "y", 2);
  Machine two = machine(dies, with_x(2), 2);
  const Outcome outcome = two.run();
  CHECK(outcome.ending == Ending::fault);
  CHECK(*outcome.fault == FaultKind::undefined_read);
  CHECK(outcome.text.find("read buffer b: byte 0 of what it reads is of iteration 0") !=
        std::string::npos);
  const ir::Program resident = program(R"(, "lifetime": "resident")", "b");
  Machine three = machine(resident, with_x(2), 3);
  check_finished(three.run());
  check_holds(three, "y", 6);
  const ir::Program tensor = program("", "kept");
  Machine four = machine(tensor, with_x(2), 4);
  check_finished(four.run());
  check_holds(four, "y", 8);
}

TEST_CASE("a page that is in flight crosses the wrap-around") {
  const ir::Program program = Draft("in flight")
                                  .persistent()
                                  .tensor("x", "external")
                                  .tensor("y")
                                  .fifo("q", 2)
                                  .engine("load", {"reserve q", "run c x > q", "push q"})
                                  .engine("compute", {"front q", "run d q > y", "pop q"})
                                  .program();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine m = machine(program, with_x(1), 5);
    check_finished(m.run(Schedule::random(seed)));
    check_holds(m, "y", 1);
  }
}

TEST_CASE("pages of a window, and bytes of a page") {
  Draft draft("window");
  draft.tensor("x", "external", 12).tensor("y", "undefined", 12).tensor("z", "undefined", 12);
  draft.fifo("q", 3, kTile).stage("s", "softmax");
  const ir::Program program =
      draft
          .engine("load", {"reserve q 3", "run c x[0:4] > q", "run c x[4:8] > q@1", "push q 2",
                           "run c x[8:12] > q@0", "push q"})
          .engine("compute",
                  {"front q 2", "run c q@1 > y[4:8]", "pop q", "front q 2", "run c q@1 > y[8:12]",
                   "run c q[0:32] > y[0:2]", "run c q[36:44] > z[0:1]", "pop q 2"})
          .program();
  ir::Program narrow = program;
  // Columns 1 and 2 of row 2 of the page, into two columns of z.
  for (ir::Access& a : narrow.accesses) {
    if (a.write && a.region.kind == ir::RegionKind::tensor && a.region.object == 2) {
      a.region.bound[3] = 2;
    }
  }
  Inputs inputs;
  std::vector<double> values;
  for (int i = 0; i < 48; ++i) values.push_back(i);
  inputs.tensors["x"] = reals(DType::f32, 12, 4, values);
  Machine m = machine(narrow, inputs);
  check_finished(m.run());
  const Matrix y = *m.tensor("y");
  CHECK(y.at<double>(4, 0) == 16);
  CHECK(y.at<double>(11, 3) == 47);
  CHECK(y.at<double>(0, 0) == 16);
  CHECK(y.at<double>(1, 3) == 23);
  const Matrix z = *m.tensor("z");
  CHECK(z.at<double>(0, 0) == 25);
  CHECK(z.at<double>(0, 1) == 26);
  CHECK(z.undefined[2] == 1);
}

TEST_CASE("views are what they are views of, and neighbours in memory are not") {
  Draft draft("views");
  draft.tensor("x", "external")
      .tensor("y")
      .tensor("low", "undefined", 2, "f32", R"("view": {"of": "y", "offset": 8})");
  draft.buffer("b", kTile)
      .buffer("next", kTile)
      .buffer("part", R"("page_bytes": 16, "view": {"of": "b", "offset": 48},
                 "tile": {"rows": 2, "cols": 2, "dtype": "f32"})");
  draft.stage("s", "neg");
  const ir::Program program =
      draft
          .engine("compute", {"run c x > b", "run c b > y", "run s part > part",
                              "run c part > low[0:1]", "run c b[48:64] > low[1:2]"})
          .program();
  // `part` is 2 x 2 and a row of `low` 1 x 4: shapes differ, so the fourth run is a fault.
  Machine m = machine(program, with_x(3));
  const Outcome outcome = m.run();
  CHECK(outcome.ending == Ending::fault);
  CHECK(*outcome.fault == FaultKind::wrong_shape);
  CHECK(outcome.steps == 3);
  const Matrix b = *m.buffer("b");
  CHECK(b.rows == 4);
  CHECK(b.at<double>(2, 3) == 3);
  CHECK(b.at<double>(3, 0) == -3);
  CHECK(m.buffer("part")->at<double>(1, 1) == -3);
  CHECK(m.buffer("part")->rows == 2);
  CHECK_FALSE(m.buffer("next")->defined());
  CHECK_FALSE(m.buffer("none").has_value());
  CHECK_FALSE(m.tensor("none").has_value());
  check_holds(m, "y", 3);
  CHECK(m.tensor("low")->at<double>(0, 0) == 3);
}

TEST_CASE("bytes without a tile carry elements of any type, and zeros of every type") {
  Draft draft("bytes");
  draft.tensor("x", "external", 4, "i32").tensor("y", "undefined", 4, "i32");
  draft.buffer("a").buffer("b").buffer("zeros", R"("init": "zero")").stage("s", "add");
  const ir::Program program =
      draft.engine("compute", {"run c x > a", "run s a zeros a > b", "run s b > y"}).program();
  Inputs inputs;
  std::vector<std::int64_t> values, doubled;
  for (std::int64_t i = 0; i < 16; ++i) values.push_back(i), doubled.push_back(2 * i);
  inputs.tensors["x"] = ints(DType::i32, 4, 4, values);
  Machine m = machine(program, inputs);
  check_finished(m.run());
  CHECK_FALSE(ir::machine::difference(*m.tensor("y"), ints(DType::i32, 4, 4, doubled)));
  CHECK(m.buffer("a")->dtype == DType::i32);
}

TEST_CASE("differences of matrices and machines") {
  using ir::machine::difference;
  CHECK(*difference(reals(DType::f32, 1, 2, {1, 2}), reals(DType::f32, 1, 2, {1, 3})) ==
        "row 0, column 1: 2 and 3");
  CHECK(difference(reals(DType::f32, 1, 1, {0.0}), reals(DType::f32, 1, 1, {-0.0})).has_value());
  CHECK(difference(reals(DType::f32, 1, 1, {0}), reals(DType::f64, 1, 1, {0})).has_value());
  Matrix undefined = reals(DType::f32, 1, 1, {0});
  undefined.undefined = {1};
  CHECK(*difference(undefined, reals(DType::f32, 1, 1, {0})) == "row 0, column 0: undefined and 0");
  CHECK_FALSE(difference(undefined, undefined).has_value());
  const ir::Program program =
      Draft("two").tensor("x", "external").tensor("y").engine("load", {"run c x > y"}).program();
  Machine a = machine(program, with_x(1));
  Machine b = machine(program, with_x(1));
  CHECK_FALSE(difference(a, b).has_value());
  check_finished(a.run());
  CHECK(*difference(a, b) == "tensor y: row 0, column 0: 1 and undefined");
  check_finished(b.run());
  CHECK_FALSE(difference(a, b).has_value());
  // Equal names and seeds draw equal contents in different programs.
  const ir::Program other =
      Draft("other").tensor("z").tensor("x", "external").engine("load", {"run c x > z"}).program();
  CHECK_FALSE(difference(*machine(program).tensor("x"), *machine(other).tensor("x")));
  Inputs inputs;
  inputs.seed = 2;
  CHECK(difference(*machine(program).tensor("x"), *machine(program, inputs).tensor("x")));
}

}  // namespace
}  // namespace spatialcert::tests
