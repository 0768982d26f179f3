// Everything that the builder refuses, by place and reason.
#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using namespace compose::sections;  // NOLINT: the words of descriptions
using ir::OpKind;

using Tensors = std::vector<SectionTensor>;

SectionTensor of(const std::string& name, std::uint64_t rows, std::uint64_t cols,
                 DType type = DType::i32) {
  return {name, rows, cols, type, ir::TensorRole::input};
}

SectionDescription product() {
  return describe(Matmul{"a", "b", "c", {}}, {of("a", 4, 6), of("b", 6, 8), of("c", 4, 8)},
                  {2, Split::rows, Handover::fifo, 2, {2, 2, 2}});
}

void refused(const std::function<void(SectionDescription&)>& edit, const std::string& path,
             const std::string& wanted, const std::string& found) {
  SectionDescription description = product();
  edit(description);
  check_refused(description, path, wanted, found);
}

void refused_work(const Work& work, const Tensors& tensors, const std::string& path,
                  const std::string& wanted, const std::string& found,
                  DType float_type = DType::f32) {
  check_refused(describe(work, tensors, {}, float_type), path, wanted, found);
}

TEST_CASE("the description that the others are edits of is good") {
  CHECK(compose::build_section(product()).has_value());
}

TEST_CASE("refused: names, sites, engines, spaces, targets") {
  refused([](auto& d) { d.name = ""; }, "section .name", "not empty", "\"\"");
  refused([](auto& d) { d.sites.clear(); }, "section part.sites", "at least one site", "none");
  refused([](auto& d) { d.sites.push_back(d.sites[1]); }, "section part.sites", "every site once",
          "[0,0,0] twice");
  refused([](auto& d) { d.sites[0].chip = 2; }, "section part.sites", "sites of the target",
          "[2,0,1]");
  refused([](auto& d) { d.sites[0].x = 2; }, "section part.sites", "sites of the target",
          "[1,2,1]");
  refused([](auto& d) { d.sites[0].y = 2; }, "section part.sites", "sites of the target",
          "[1,0,2]");
  refused([](auto& d) { d.compute_engine = "vector"; }, "section part.engines",
          "an engine \"vector\"", "none");
  refused([](auto& d) { d.load_engine = ""; }, "section part.engines", "an engine \"\"", "none");
  refused([](auto& d) { d.store_engine = "load"; }, "section part.engines", "three different",
          "\"load\" twice");
  refused([](auto& d) { d.space = "hbm"; }, "section part.space", "a memory space", "\"hbm\"");
  refused([](auto& d) { d.target.spaces[1].alignment = 48; },
          "section part.target.spaces[1].alignment", "a power of two", "48");
  refused([](auto& d) { d.target.chips = 0; }, "section part.target.chips", "at least 1", "0");
  refused(
      [](auto& d) {
        d.handover = Handover::semaphores;
        d.target.semaphore_maximum = 0;
      },
      "section part.handover", "count to 1", "0");
}

TEST_CASE("refused: tiles of nothing") {
  refused([](auto& d) { d.tile.rows = 0; }, "section part.tile.rows", "at least 1", "0");
  refused([](auto& d) { d.tile.cols = 0; }, "section part.tile.cols", "at least 1", "0");
  refused([](auto& d) { d.tile.inner = 0; }, "section part.tile.inner", "at least 1", "0");
  refused([](auto& d) { d.depth = 0; }, "section part.depth", "at least 1", "0");
}

TEST_CASE("refused: tensors") {
  refused([](auto& d) { d.tensors[0].name = ""; }, "section part.tensors", "not empty", "\"\"");
  refused([](auto& d) { d.tensors[1].name = "a"; }, "section part.tensors[\"a\"]", "once", "again");
  refused([](auto& d) { d.tensors.pop_back(); }, "section part.tensors[\"c\"]", "a declared tensor",
          "none");
  refused([](auto& d) { d.tensors[0].rows = 0; }, "section part.tensors[\"a\"]", "rows and columns",
          "0 x 6");
  refused([](auto& d) { d.tensors[2].cols = 0; }, "section part.tensors[\"c\"]", "rows and columns",
          "4 x 0");
  refused([](auto& d) { d.tensors[0].rows = std::uint64_t{1} << 60U; },
          "section part.tensors[\"a\"]", "fewer than 2^63 bytes", "1152921504606846976 x 6");
}

TEST_CASE("refused: a memory or semaphores that do not suffice") {
  // Two pages each of a, b (2 x 2 of i32) and c, and the sums: 16 bytes each, at multiples of 64.
  refused([](auto& d) { d.target.spaces[1].bytes = 64; }, "section part.sites[0,0,0]",
          "at most the 64 bytes", "224");
  SectionDescription exact = product();
  exact.target.spaces[1].bytes = 224;
  CHECK(compose::build_section(exact).has_value());
  exact.target.spaces[1].bytes = 223;
  check_refused(exact, "section part.sites[0,0,0]", "at most the 223 bytes", "224");
  exact.target.spaces[1].bytes = 1U << 20U;
  exact.handover = Handover::semaphores;
  exact.target.semaphores_per_site = 12;
  CHECK(compose::build_section(exact).has_value());
  exact.target.semaphores_per_site = 11;
  check_refused(exact, "section part.sites[0,0,0]", "at most the 11 semaphores", "12");
  // Sizes that no memory has are needed, not wrapped around.
  SectionDescription huge = describe(
      Copy{"x", "y"},
      {of("x", std::uint64_t{1} << 40U, 1 << 20U), of("y", std::uint64_t{1} << 40U, 1 << 20U)},
      {1,
       Split::rows,
       Handover::fifo,
       4'000'000'000U,
       {std::uint64_t{1} << 40U, std::uint64_t{1} << 20U, 1}});
  check_refused(huge, "section part.sites[1,0,1]", "at most the 65536 bytes",
                "18446744073709551615");
}

TEST_CASE("refused: a matmul") {
  refused([](auto& d) { d.tensors[1].rows = 5; }, "section part.tensors[\"b\"]", "6 x 8", "5 x 8");
  refused([](auto& d) { d.tensors[2].rows = 3; }, "section part.tensors[\"c\"]", "4 x 8", "3 x 8");
  refused([](auto& d) { d.tensors[2].cols = 9; }, "section part.tensors[\"c\"]", "4 x 8", "4 x 9");
  refused([](auto& d) { d.tensors[1].dtype = DType::i8; }, "section part.tensors[\"b\"]",
          "elements of i32", "i8");
  refused([](auto& d) { d.tensors[2].dtype = DType::f32; }, "section part.tensors[\"c\"]",
          "elements of i32", "f32");
  refused([](auto& d) { d.tensors[0].dtype = DType::i64; }, "section part.tensors[\"a\"]",
          "integers of at most i32", "i64");
  refused([](auto& d) { d.tensors[0].dtype = DType::bf16; }, "section part.tensors[\"a\"]",
          "f32, or", "bf16");
  for (const DType sums : {DType::i8, DType::i16, DType::i64, DType::f32}) {
    refused([&](auto& d) { std::get<Matmul>(d.work).accumulator = sums; },
            "section part.accumulator", "a type that sums i32", std::string(ir::to_string(sums)));
  }
  refused_work(Matmul{"a", "b", "a", {}}, {of("a", 4, 4), of("b", 4, 4)},
               "section part.tensors[\"a\"]", "no operand", "in place");
  refused_work(Matmul{"b", "a", "a", {}}, {of("a", 4, 4), of("b", 4, 4)},
               "section part.tensors[\"a\"]", "no operand", "in place");
}

TEST_CASE("refused: an expression") {
  const Tensors tensors = {of("x", 4, 6), of("y", 4, 5), of("row", 1, 6), of("z", 4, 6),
                           of("real", 4, 6, DType::f32)};
  const auto bad = [&](const Expression& value, const std::string& path, const std::string& wanted,
                       const std::string& found) {
    refused_work(Elementwise{value, "z"}, tensors, path, wanted, found);
  };
  bad(add(tensor("x"), tensor("none")), "section part.tensors[\"none\"]", "declared", "none");
  bad(add(tensor("x"), tensor("y")), "section part.tensors[\"y\"]", "4 x 6, or one row", "4 x 5");
  bad(neg(tensor("row")), "section part.tensors[\"z\"]", "1 x 6", "4 x 6");
  bad(tensor("row"), "section part.tensors[\"z\"]", "1 x 6", "4 x 6");
  bad(tensor("z"), "section part.tensors[\"z\"]", "no operand", "in place");
  bad(add(tensor("x"), tensor("real")), "section part.tensors[\"real\"]", "elements of i32", "f32");
  refused_work(Elementwise{add(tensor("x"), tensor("x")), "narrow"},
               {of("x", 4, 6), of("narrow", 4, 6, DType::i8)}, "section part.tensors[\"x\"]",
               "elements of i8", "i32");
  refused_work(Elementwise{tensor("narrow"), "x"}, {of("x", 4, 6), of("narrow", 4, 6, DType::i8)},
               "section part.tensors[\"narrow\"]", "elements of i32", "i8");
  bad(scale(tensor("x"), 0.5), "section part.work", "a factor for i32", "0.5");
  bad(scale(tensor("x"), std::numeric_limits<double>::infinity()), "section part.work", "a factor",
      "inf");
  for (const OpKind op : {OpKind::silu, OpKind::gelu, OpKind::sigmoid, OpKind::exp}) {
    bad(apply(op, {tensor("x")}), "section part.tensors[\"z\"]", "a floating-point type", "i32");
  }
  for (const OpKind op : {OpKind::add, OpKind::sub, OpKind::mul}) {
    bad(apply(op, {tensor("x")}), "section part.work", "two arguments", "of 1");
  }
  bad(apply(OpKind::neg, {tensor("x"), tensor("x")}), "section part.work", "elementwise", "of 2");
  bad(apply(OpKind::scale, {tensor("x"), tensor("x")}), "section part.work", "elementwise", "of 2");
  bad(apply(OpKind::softmax, {tensor("x")}), "section part.work", "elementwise", "softmax");
  bad(apply(OpKind::copy, {tensor("x")}), "section part.work", "elementwise", "copy");
}

TEST_CASE("refused: work on rows") {
  const DType f32 = DType::f32;
  const Tensors tensors = {of("x", 4, 6, f32), of("y", 4, 6, f32), of("w", 1, 6, f32),
                           of("v", 4, 1, f32), of("n", 4, 6),      of("m", 4, 1)};
  const auto bad = [&](const Work& work, const std::string& tensor, const std::string& wanted,
                       const std::string& found) {
    refused_work(work, tensors, "section part.tensors[\"" + tensor + "\"]", wanted, found);
  };
  refused_work(RowReduction{OpKind::add, "x", "v"}, tensors, "section part.work",
               "\"sum\" or \"max\"", "add");
  bad(RowReduction{OpKind::sum, "x", "y"}, "y", "4 x 1", "4 x 6");
  bad(RowReduction{OpKind::sum, "x", "m"}, "m", "elements of f32", "i32");
  bad(RowReduction{OpKind::sum, "v", "v"}, "v", "no operand", "in place");
  bad(Softmax{"n", "n"}, "n", "floating-point", "i32");
  bad(Softmax{"x", "v"}, "v", "4 x 6", "4 x 1");
  bad(RmsNorm{"n", "w", "n"}, "n", "floating-point", "i32");
  bad(RmsNorm{"x", "v", "y"}, "v", "1 x 6", "4 x 1");
  bad(RmsNorm{"x", "w", "v"}, "v", "4 x 6", "4 x 1");
  bad(RmsNorm{"w", "w", "w"}, "w", "no operand", "in place");
  for (const Work& work : {Work{Softmax{"x", "y"}}, Work{RmsNorm{"x", "w", "y"}},
                           Work{RowReduction{OpKind::max, "x", "v"}}}) {
    check_refused(describe(work, tensors, {2, Split::columns, Handover::fifo, 2, {2, 2, 2}}),
                  "section part.split", "needs whole rows", "columns");
  }
}

TEST_CASE("refused: rotations, gathers, caches, states, copies") {
  const Tensors tensors = {of("x", 4, 8),
                           of("y", 4, 8),
                           of("half", 4, 2),
                           of("one", 1, 2),
                           of("wide", 1, 8),
                           of("third", 1, 3),
                           of("long", 5, 2),
                           of("i", 4, 1),
                           of("r", 4, 1, DType::f32),
                           of("table", 9, 8),
                           of("narrow", 9, 7),
                           of("eight", 4, 8, DType::i8),
                           of("dot", 1, 1),
                           of("byte", 1, 1, DType::i8)};
  const auto bad = [&](const Work& work, const std::string& tensor, const std::string& wanted,
                       const std::string& found) {
    refused_work(work, tensors, "section part.tensors[\"" + tensor + "\"]", wanted, found);
  };
  bad(Rope{"x", "half", "third", "y"}, "third", "1 x 2", "1 x 3");
  bad(Rope{"x", "half", "long", "y"}, "long", "4 x 2", "5 x 2");
  bad(Rope{"x", "third", "third", "y"}, "x", "runs of 6 columns", "4 x 8");
  bad(Rope{"x", "wide", "wide", "y"}, "x", "runs of 16 columns", "4 x 8");
  bad(Rope{"x", "half", "half", "table"}, "table", "4 x 8", "9 x 8");
  bad(Rope{"half", "i", "i", "i"}, "i", "4 x 2", "4 x 1");
  bad(GatherRows{"table", "r", "y"}, "r", "an integer type", "f32");
  bad(GatherRows{"table", "half", "y"}, "half", "4 x 1", "4 x 2");
  bad(GatherRows{"table", "i", "half"}, "half", "4 x 8", "4 x 2");
  bad(GatherRows{"table", "i", "eight"}, "eight", "elements of i32", "i8");
  bad(GatherRows{"x", "i", "x"}, "x", "no operand", "in place");
  bad(AppendRows{"x", "narrow", 0}, "narrow", "9 x 8", "9 x 7");
  bad(AppendRows{"x", "table", 6}, "table", "room for 4 rows from row 6", "9 rows");
  bad(AppendRows{"x", "table", std::numeric_limits<std::uint64_t>::max()}, "table", "room for",
      "9 rows");
  bad(AppendRows{"table", "x", 0}, "x", "room for 9 rows", "4 rows");
  bad(AppendRows{"x", "x", 0}, "x", "no operand", "in place");
  bad(AppendRows{"eight", "x", 0}, "x", "elements of i8", "i32");
  bad(AppendColumn{"x", "table", 0}, "x", "1 x 8", "4 x 8");
  bad(AppendColumn{"wide", "x", 0}, "x", "8 x 8", "4 x 8");
  bad(AppendColumn{"one", "narrow", 0}, "narrow", "2 x 7", "9 x 7");
  bad(AppendColumn{"dot", "dot", 0}, "dot", "no operand", "in place");
  bad(AppendColumn{"dot", "wide", 8}, "wide", "a column 8", "8 columns");
  bad(AppendColumn{"dot", "byte", 0}, "byte", "elements of i32", "i8");
  bad(Copy{"x", "x"}, "x", "no operand", "in place");
  bad(Copy{"x", "table"}, "table", "4 x 8", "9 x 8");
  bad(Copy{"x", "eight"}, "eight", "elements of i32", "i8");
  const Tensors delta = {of("s", 2, 3), of("k", 1, 2), of("v", 1, 3),
                         of("d", 1, 1), of("b", 1, 1), of("long", 2, 1)};
  const auto no_state = [&](const DeltaUpdate& work, const std::string& tensor,
                            const std::string& wanted, const std::string& found) {
    refused_work(work, delta, "section part.tensors[\"" + tensor + "\"]", wanted, found);
  };
  no_state({"s", "v", "v", "d", "b"}, "v", "1 x 2", "1 x 3");
  no_state({"s", "k", "k", "d", "b"}, "k", "1 x 3", "1 x 2");
  no_state({"s", "k", "v", "long", "b"}, "long", "1 x 1", "2 x 1");
  no_state({"s", "k", "v", "d", "long"}, "long", "1 x 1", "2 x 1");
  no_state({"d", "d", "d", "d", "d"}, "d", "no operand", "in place");
  check_refused(describe(DeltaUpdate{"s", "k", "v", "d", "b"}, delta,
                         {2, Split::rows, Handover::fifo, 2, {2, 2, 2}}),
                "section part.split", "needs whole columns", "rows");
}

}  // namespace
}  // namespace spatialcert::tests
