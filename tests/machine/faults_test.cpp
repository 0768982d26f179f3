// Everything that the machine refuses to execute.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "ir/validate.hpp"
#include "tests/machine/one_run.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {
namespace {

using ir::machine::Ending;

constexpr DType i8 = DType::i8, i32 = DType::i32, i64 = DType::i64, f32 = DType::f32;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Matrix row(std::vector<std::int64_t> values) {
  const std::uint64_t n = values.size();
  return ints(i32, 1, n, std::move(values));
}

/// Runs round robin and expects this fault.
void check_draft(const Draft& draft, FaultKind kind, const std::vector<std::string>& texts,
                 const Schedule& schedule = {}) {
  const ir::Program program = draft.program();
  Machine m = machine(program);
  const Outcome outcome = m.run(schedule);
  INFO(outcome.text);
  CHECK(outcome.ending == Ending::fault);
  REQUIRE(outcome.fault.has_value());
  CHECK(*outcome.fault == kind);
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(outcome.text.find(text) != std::string::npos);
  }
}

TEST_CASE("integers that overflow") {
  check_fault(OpKind::add, {ints(i8, 1, 1, {127}), ints(i8, 1, 1, {1})}, ints(i8, 1, 1, {0}),
              FaultKind::integer_overflow, "128 is no i8");
  check_fault(OpKind::sub, {ints(i32, 1, 1, {-2147483648}), row({1})}, row({0}),
              FaultKind::integer_overflow, "-2147483649 is no i32");
  check_fault(OpKind::add, {ints(i64, 1, 1, {kMost}), row({1})}, ints(i64, 1, 1, {0}),
              FaultKind::integer_overflow, "64 bits");
  check_fault(OpKind::mul, {ints(i64, 1, 1, {kMost}), row({2})}, ints(i64, 1, 1, {0}),
              FaultKind::integer_overflow, "64 bits");
  check_fault(OpKind::neg, {ints(i64, 1, 1, {-kMost - 1})}, ints(i64, 1, 1, {0}),
              FaultKind::integer_overflow, "64 bits");
  check_fault(OpKind::neg, {ints(i8, 1, 1, {-128})}, ints(i8, 1, 1, {0}),
              FaultKind::integer_overflow, "128 is no i8");
  check_fault(OpKind::scale, {ints(i32, 1, 1, {1 << 30})}, row({0}), FaultKind::integer_overflow,
              "2147483648 is no i32", 2);
  check_fault(OpKind::matmul, {ints(i8, 1, 2, {127, 127}), ints(i8, 2, 1, {127, 127})},
              ints(i8, 1, 1, {0}), FaultKind::integer_overflow, "32258 is no i8");
}

TEST_CASE("operands: too few, too many") {
  const Matrix x = reals(f32, 1, 2, {1, 2});
  check_fault(OpKind::sub, {x}, x, FaultKind::operands, "it reads 1 regions, at least 2");
  check_fault(OpKind::mul, {x}, x, FaultKind::operands, "at least 2");
  check_fault(OpKind::add, {}, x, FaultKind::operands, "at least 1");
  check_fault(OpKind::copy, {x, x}, x, FaultKind::operands, "it reads 2 regions, 1 are wanted");
  check_fault(OpKind::copy, {}, x, FaultKind::operands, "it reads 0 regions");
  check_fault(OpKind::matmul, {x}, x, FaultKind::operands, "2 to 3");
  check_fault(OpKind::rmsnorm, {x, x, x}, x, FaultKind::operands, "1 to 2");
  check_fault(OpKind::conv1d, {x}, x, FaultKind::operands, "2 to 3");
  check_fault(OpKind::gated_delta, {x, x}, x, FaultKind::operands, "5 are wanted");
  check_fault(OpKind::select, {x, x}, x, FaultKind::operands, "3 are wanted");
  check_fault(OpKind::rope, {x, x}, x, FaultKind::operands, "3 are wanted");
  check_fault(OpKind::gather, {x}, x, FaultKind::operands, "2 are wanted");
  check_fault(OpKind::dequantise, {x}, x, FaultKind::operands, "2 are wanted");
  for (const OpKind op :
       {OpKind::scale, OpKind::neg, OpKind::silu, OpKind::gelu, OpKind::sigmoid, OpKind::exp,
        OpKind::sum, OpKind::max, OpKind::softmax, OpKind::cast, OpKind::topk}) {
    check_fault(op, {x, x}, x, FaultKind::operands, "1 are wanted");
  }
}

TEST_CASE("types that do not mix") {
  const Matrix x = reals(f32, 1, 2, {1, 2});
  const Matrix n = row({1, 2});
  check_fault(OpKind::add, {x, n}, x, FaultKind::wrong_type, "operands 0 and 1 are of f32 and i32");
  check_fault(OpKind::add, {x, x}, n, FaultKind::wrong_type, "\"cast\" converts");
  check_fault(OpKind::copy, {x}, n, FaultKind::wrong_type, "elements of f32 where i32");
  check_fault(OpKind::scale, {n}, n, FaultKind::wrong_type, "integers are scaled by 0.5", 0.5);
  for (const OpKind op : {OpKind::silu, OpKind::gelu, OpKind::sigmoid, OpKind::exp, OpKind::rmsnorm,
                          OpKind::softmax}) {
    check_fault(op, {n}, n, FaultKind::wrong_type, "a floating-point type is wanted");
  }
  check_fault(OpKind::gather, {x, x}, x, FaultKind::wrong_type, "an integer type is wanted");
  check_fault(OpKind::dequantise, {x, x}, x, FaultKind::wrong_type, "an integer type is wanted");
  check_fault(OpKind::dequantise, {n, n}, x, FaultKind::wrong_type, "floating-point");
  check_fault(OpKind::quantise, {n, x}, n, FaultKind::wrong_type, "floating-point");
  check_fault(OpKind::quantise, {x, x}, x, FaultKind::wrong_type, "an integer type is wanted");
  check_fault(OpKind::topk, {n}, x, FaultKind::wrong_type, "\"cast\" converts");
  check_fault(OpKind::select, {n, x, n}, x, FaultKind::wrong_type, "operands 1 and 2");
}

TEST_CASE("shapes that do not go together") {
  const Matrix x = reals(f32, 2, 3, {1, 2, 3, 4, 5, 6});
  const Matrix y = reals(f32, 3, 2, {1, 2, 3, 4, 5, 6});
  const auto wrong = [](OpKind op, const std::vector<Matrix>& operands, const Matrix& to,
                        const std::string& text) {
    check_fault(op, operands, to, FaultKind::wrong_shape, text);
  };
  wrong(OpKind::add, {x, y}, x, "operands of 2 x 3, 3 x 2");
  wrong(OpKind::add, {x, x}, y, "2 x 3 into a region of 3 x 2");
  wrong(OpKind::add, {x, reals(f32, 1, 2, {1, 2})}, x, "2 x 3, 1 x 2");
  wrong(OpKind::copy, {x}, y, "2 x 3 into a region of 3 x 2");
  wrong(OpKind::matmul, {x, x}, x, "operands of 2 x 3, 2 x 3");
  wrong(OpKind::matmul, {x, y, x}, reals(f32, 2, 2, {0, 0, 0, 0}), "2 x 3, 3 x 2, 2 x 3");
  wrong(OpKind::matmul, {x, y}, x, "2 x 2 into a region of 2 x 3");
  wrong(OpKind::sum, {x}, y, "2 x 3 cannot become 3 x 2");
  wrong(OpKind::max, {x}, reals(f32, 1, 2, {0, 0}), "cannot become 1 x 2");
  wrong(OpKind::rmsnorm, {x, y}, x, "2 x 3, 3 x 2");
  wrong(OpKind::rope, {x, x, x}, x, "2 x 3");  // an odd number of columns
  wrong(OpKind::rope, {y, y, y}, y, "3 x 2");  // angles are half as wide
  wrong(OpKind::conv1d, {x, y}, x, "2 x 3, 3 x 2");
  wrong(OpKind::conv1d, {reals(f32, 1, 3, {1, 2, 3}), x}, x, "1 x 3, 2 x 3");
  wrong(OpKind::gated_delta, {x, x, x, x, x}, x, "2 x 3");
  wrong(OpKind::topk, {x}, reals(f32, 2, 4, std::vector<double>(8)), "no 2 x 4 of the largest");
  wrong(OpKind::quantise, {x, reals(f32, 1, 2, {1, 1})}, ints(i8, 2, 3, {0, 0, 0, 0, 0, 0}),
        "2 x 3, 1 x 2");
  wrong(OpKind::gather, {x, ints(i32, 2, 2, {0, 0, 0, 0})}, x, "2 x 3, 2 x 2");
}

TEST_CASE("rows that a table does not have") {
  const Matrix table = row({1, 2});
  check_fault(OpKind::gather, {table, row({1})}, table, FaultKind::index, "row 1 of a table of 1");
  check_fault(OpKind::gather, {table, row({-1})}, table, FaultKind::index, "row -1");
}

TEST_CASE("NaN where there is no value for it") {
  const Matrix x = reals(f32, 1, 2, {1, kNaN});
  check_fault(OpKind::cast, {x}, row({0, 0}), FaultKind::not_a_number, "NaN");
  check_fault(OpKind::topk, {x}, row({0}), FaultKind::not_a_number, "NaN");
  check_fault(OpKind::select, {x, row({0, 0}), row({0, 0})}, row({0, 0}), FaultKind::not_a_number,
              "NaN");
  check_fault(OpKind::quantise, {reals(f32, 1, 1, {0}), reals(f32, 1, 1, {0})}, ints(i8, 1, 1, {0}),
              FaultKind::not_a_number, "NaN");
  check_fault(OpKind::cast, {reals(f32, 1, 1, {1e30})}, row({0}), FaultKind::integer_overflow,
              "does not fit");
  check_fault(OpKind::cast, {reals(f32, 1, 1, {200})}, ints(i8, 1, 1, {0}),
              FaultKind::integer_overflow, "200 is no i8");
}

TEST_CASE("undefined contents") {
  check_draft(Draft("undefined tensor").tensor("x").tensor("y").engine("compute", {"run c x > y"}),
              FaultKind::undefined_read,
              {"run c (copy)", "engine compute on [0,0,0]", "read tensor x", "never written"});
  check_draft(Draft("undefined rows")
                  .tensor("x", "external")
                  .tensor("y")
                  .tensor("z")
                  .engine("compute", {"run c x[0:2] > y[0:2]", "run c y[1:3] > z[0:2]"}),
              FaultKind::undefined_read, {"op 1", "read tensor y", "byte 16"});
  check_draft(Draft("a page popped")
                  .tensor("x", "external")
                  .tensor("y")
                  .fifo("q", 1)
                  .engine("load", {"reserve q", "run l x > q", "push q", "reserve q", "push q"})
                  .engine("compute",
                          {"front q", "run c q > y", "pop q", "front q", "run c q > y", "pop q"}),
              FaultKind::undefined_read, {"read buffer q"});
}

TEST_CASE("shapes that bytes do not have") {
  const std::string tile = R"("tile": {"rows": 4, "cols": 4, "dtype": "f32"})";
  const auto draft = [&](const std::string& op, const std::string& more, const std::string& run) {
    Draft d("shapes");
    d.tensor("x", "external").tensor("y").buffer("b", more).stage("s", op);
    d.engine("compute", {"run c x > b", run});
    return d;
  };
  check_draft(draft("softmax", "", "run s b > y"), FaultKind::no_shape,
              {"run s (softmax)", "reads b", "operand 0 has no shape"});
  check_draft(draft("matmul", "", "run s x b > y"), FaultKind::no_shape,
              {"operand 1 has no shape"});
  check_draft(draft("sum", "", "run s x > b"), FaultKind::no_shape, {"says the axis"});
  check_draft(draft("topk", "", "run s x > b"), FaultKind::no_shape, {"says how many"});
  check_draft(draft("add", "", "run s b[0:16] x > y"), FaultKind::no_shape,
              {"4 elements without a shape"});
  // Bytes of a tile that are neither whole rows nor in one row.
  check_draft(draft("softmax", tile, "run s b[8:24] > y"), FaultKind::no_shape, {"operand 0"});
  check_draft(draft("cast", "", "run s x > b"), FaultKind::wrong_type, {"no type to convert to"});
  check_draft(draft("copy", "", "run s x[0:1] > b"), FaultKind::wrong_shape,
              {"16 bytes into a region of 64 bytes"});
}

TEST_CASE("parts of elements") {
  check_draft(Draft("parts")
                  .tensor("x", "external")
                  .tensor("y")
                  .buffer("b")
                  .engine("compute", {"run c x > b", "run c b[2:18] > y[0:1]"}),
              FaultKind::wrong_type, {"no whole f32"});
  check_draft(Draft("other type")
                  .tensor("x", "external", 4, "i32")
                  .tensor("y")
                  .buffer("b")
                  .engine("compute", {"run c x > b", "run c b > y"}),
              FaultKind::wrong_type, {"elements of i32 where f32 is wanted"});
  check_draft(Draft("tile of another type")
                  .tensor("x", "external")
                  .buffer("b", R"("tile": {"rows": 4, "cols": 4, "dtype": "i32"})")
                  .engine("compute", {"run c x > b"}),
              FaultKind::wrong_type, {"writes b", "elements of f32 where i32 is wanted"});
  check_draft(Draft("zeros of no type")
                  .buffer("a", R"("init": "zero")")
                  .buffer("b")
                  .stage("s", "add")
                  .engine("compute", {"run s a a > b"}),
              FaultKind::wrong_type, {"nothing says the type"});
}

TEST_CASE("regions that leave their object") {
  check_draft(Draft("outside")
                  .tensor("x", "external")
                  .tensor("y")
                  .engine("compute", {"repeat 2", "run c x[2i:2i+3] > y[0:3]", "end"}),
              FaultKind::outside, {"read tensor x", "rows [2, 5) of 4"});
}

TEST_CASE("faults of the token game") {
  check_draft(Draft("overflow").semaphore("s", 0, 1).engine("load", {"post s 1", "post s 1"}),
              FaultKind::semaphore_overflow, {"op 1 of engine load", "semaphore s would be 2"});
  check_draft(Draft("misuse").fifo("q", 2).engine("load", {"reserve q", "push q 2"}),
              FaultKind::misuse, {"2 pages of q wanted, 1 are open"});
  check_draft(Draft("window").tensor("x", "external").fifo("q", 2).engine("load", {"run c x > q"}),
              FaultKind::misuse, {"1 pages of q wanted, 0 are open"});
}

TEST_CASE("schedules that cannot be followed") {
  const auto draft = [] {
    return Draft("script").semaphore("s").engine("load", {"post s"}).engine("compute", {"wait s"});
  };
  check_draft(draft(), FaultKind::bad_schedule, {"engine program 1 of 2 cannot step after 0"},
              Schedule::script({1}));
  check_draft(draft(), FaultKind::bad_schedule, {"engine program 2 of 2"}, Schedule::script({2}));
  check_draft(draft(), FaultKind::bad_schedule, {"after 1 steps"}, Schedule::script({0, 0}));
  const ir::Program program = draft().program();
  Machine stops = machine(program);
  CHECK(stops.run(Schedule::script({0})).ending == Ending::stopped);
  Machine m = machine(program);
  const Outcome finished = m.run(Schedule::script({0, 1}));
  CHECK(finished.ending == Ending::finished);
  CHECK(finished.steps == 2);
  const Outcome again = m.run();
  CHECK(again.ending == Ending::fault);
  CHECK(*again.fault == FaultKind::not_restarted);
}

TEST_CASE("a program that is stuck says who waits for what") {
  const ir::Program program = Draft("stuck")
                                  .semaphore("s")
                                  .semaphore("t")
                                  .fifo("q", 2)
                                  .engine("load", {"wait s 2", "post t"})
                                  .engine("compute", {"wait t", "post s"})
                                  .engine("store", {"front q"})
                                  .engine("move", {"wait s"})
                                  .program();
  Machine m = machine(program);
  const Outcome outcome = m.run(Schedule::random(1));
  CHECK(outcome.ending == Ending::stuck);
  CHECK(outcome.text.find("engine load on [0,0,0] waits for semaphore s: 2 wanted, 0 there") !=
        std::string::npos);
  CHECK(outcome.text.find("filled pages of q") != std::string::npos);
  CHECK(outcome.text.find("and 1 more") != std::string::npos);
}

void check_input(const ir::Program& program, const Inputs& inputs, const std::string& path,
                 const std::string& expected, std::uint32_t iterations = 1) {
  const auto made = Machine::make(program, inputs, iterations);
  REQUIRE_FALSE(made.has_value());
  INFO(made.error().message());
  CHECK(made.error().path == path);
  CHECK(made.error().expected.find(expected) != std::string::npos);
}

TEST_CASE("refused inputs") {
  Draft draft("inputs");
  draft.tensor("x", "external")
      .tensor("y")
      .buffer("typed", R"("init": "external", "tile": {"rows": 4, "cols": 4, "dtype": "f32"})");
  const ir::Program program = draft.engine("compute", {"run c x > y"}).program();
  const Matrix good = reals(f32, 4, 4, std::vector<double>(16));
  check_input(program, {{{"z", good}}, {}, 1, {}}, "inputs.tensors[\"z\"]", "external");
  check_input(program, {{{"y", good}}, {}, 1, {}}, "inputs.tensors[\"y\"]", "external");
  check_input(program, {{{"x", reals(f32, 2, 8, std::vector<double>(16))}}, {}, 1, {}},
              "inputs.tensors[\"x\"]", "4 x 4 of f32");
  check_input(program, {{{"x", ints(i32, 4, 4, std::vector<std::int64_t>(16))}}, {}, 1, {}},
              "inputs.tensors[\"x\"]", "4 x 4 of f32");
  Matrix short_one = good;
  short_one.reals.pop_back();
  check_input(program, {{{"x", short_one}}, {}, 1, {}}, "inputs.tensors[\"x\"]", "defined values");
  check_input(program, {{}, {{"other", good}}, 1, {}}, "inputs.buffers[\"other\"]", "external");
  check_input(program, {{}, {{"typed", reals(f32, 2, 8, std::vector<double>(16))}}, 1, {}},
              "inputs.buffers[\"typed\"]", "its 64 bytes");
  check_input(program, {}, "iterations", "of a persistent program", 2);
  check_input(program, {}, "iterations", "1", 0);
  const ir::Program untyped =
      Draft("untyped").buffer("b", R"("init": "external")").engine("load", {}).program();
  check_input(untyped, {}, "inputs.buffers[\"b\"]", "without a tile");
  check_input(untyped, {{}, {{"b", ints(i8, 1, 1, {300})}}, 1, {}}, "inputs.buffers[\"b\"]",
              "64 bytes");
  check_input(untyped, {{}, {{"b", ints(i8, 1, 64, std::vector<std::int64_t>(64, 300))}}, 1, {}},
              "inputs.buffers[\"b\"]", "defined values");
  ir::Program large = program;
  large.tensors[0].rows = 1U << 30U;
  check_input(large, {}, "$", "at most 2147483648 bytes");
  const ir::Program endless = Draft("endless")
                                  .semaphore("s")
                                  .engine("load", {"repeat 40000000", "post s", "wait s", "end"})
                                  .program();
  check_input(endless, {}, "$.programs", "op instances");
}

}  // namespace
}  // namespace spatialcert::tests
