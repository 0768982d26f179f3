// What each kind of work must satisfy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compose/sections/checker.hpp"

namespace spatialcert::compose::sections {

void Checker::check(const Matmul& work) {
  const SectionTensor a = reads(work.a);
  const SectionTensor b = reads(work.b);
  const SectionTensor result = writes(work.result);
  for (const SectionTensor& t : {a, b, result}) expect_computed(t);
  expect_type(b, a.dtype);
  expect_shape(b, a.cols, b.cols);
  expect_shape(result, a.rows, b.cols);
  if (is_integer(result.dtype) != is_integer(a.dtype)) expect_type(result, a.dtype);
  expect_other(result, work.a);
  expect_other(result, work.b);
  if (!work.accumulator) return;
  const ir::DType sums = *work.accumulator;
  const bool integers = is_integer(a.dtype);
  const std::uint64_t widest = integers ? ir::size_of(about_.target.widest_integer) : 8;
  if (is_integer(sums) != integers || ir::size_of(sums) > widest ||
      ir::size_of(sums) < ir::size_of(a.dtype)) {
    refuse(".accumulator", fmt::format("a type that sums {}", ir::to_string(a.dtype)),
           std::string(ir::to_string(sums)));
  }
}

// Ops take integers of any width, and make them as wide as the result; a copy takes what it gives.
std::pair<std::uint64_t, std::uint64_t> Checker::shape(const Expression& e,
                                                       const SectionTensor& result,
                                                       const Expression* whole) {
  if (e.is_tensor()) {
    const SectionTensor t = reads(e.tensor);
    const bool widens = is_integer(t.dtype) && is_integer(result.dtype) && &e != whole &&
                        ir::size_of(t.dtype) < ir::size_of(result.dtype);
    if (!widens) expect_type(t, result.dtype);
    if ((t.rows != result.rows && t.rows != 1) || (t.cols != result.cols && t.cols != 1)) {
      refuse(place(t.name),
             fmt::format("{} x {}, or one row or column instead", result.rows, result.cols),
             shape_text(t));
    }
    return {t.rows, t.cols};
  }
  check_op(e, result);
  std::pair<std::uint64_t, std::uint64_t> out{1, 1};
  for (const Expression& argument : e.arguments) {
    const auto [rows, cols] = shape(argument, result, whole);
    out = {std::max(out.first, rows), std::max(out.second, cols)};
  }
  return out;
}

void Checker::check_op(const Expression& e, const SectionTensor& result) const {
  const std::string text = fmt::format("\"{}\" of {}", ir::to_string(e.op), e.arguments.size());
  std::size_t most = 1;
  switch (e.op) {
    case ir::OpKind::add:
    case ir::OpKind::sub:
    case ir::OpKind::mul:
      if (e.arguments.size() < 2) refuse(".work", "two arguments at least", text);
      return;
    case ir::OpKind::scale:
      if (!std::isfinite(e.factor) ||
          (is_integer(result.dtype) && std::nearbyint(e.factor) != e.factor)) {
        refuse(".work", fmt::format("a factor for {}", ir::to_string(result.dtype)),
               fmt::format("{}", e.factor));
      }
      break;
    case ir::OpKind::neg:
      break;
    case ir::OpKind::silu:
    case ir::OpKind::gelu:
    case ir::OpKind::sigmoid:
    case ir::OpKind::exp:
      expect_real(result, e.op);
      break;
    default:
      most = 0;
  }
  if (e.arguments.size() > most) refuse(".work", "an elementwise op on its arguments", text);
}

void Checker::check(const Elementwise& work) {
  const SectionTensor result = writes(work.result);
  expect_computed(result);
  const auto [rows, cols] = shape(work.value, result, &work.value);
  if (rows != result.rows || cols != result.cols) {
    refuse(place(result.name), fmt::format("{} x {}", rows, cols), shape_text(result));
  }
  if (work.value.is_tensor()) expect_other(result, work.value.tensor);
}

void Checker::check(const RowReduction& work) {
  if (work.op != ir::OpKind::sum && work.op != ir::OpKind::max) {
    refuse(".work", "\"sum\" or \"max\" of rows", fmt::format("\"{}\"", ir::to_string(work.op)));
  }
  const SectionTensor x = reads(work.operand);
  const SectionTensor result = writes(work.result);
  expect_computed(x);
  expect_type(result, x.dtype);
  expect_shape(result, x.rows, 1);
  expect_other(result, work.operand);
}

void Checker::check_rows(const SectionTensor& x, const SectionTensor& result, ir::OpKind op) {
  expect_computed(x);
  expect_real(x, op);
  expect_type(result, x.dtype);
  expect_shape(result, x.rows, x.cols);
}

void Checker::check(const Softmax& work) {
  const SectionTensor x = reads(work.operand);
  check_rows(x, writes(work.result), ir::OpKind::softmax);
}

void Checker::check(const RmsNorm& work) {
  const SectionTensor x = reads(work.operand);
  const SectionTensor weight = reads(work.weight);
  const SectionTensor result = writes(work.result);
  check_rows(x, result, ir::OpKind::rmsnorm);
  expect_type(weight, x.dtype);
  expect_shape(weight, 1, x.cols);
  expect_other(result, work.weight);
}

void Checker::check(const Rope& work) {
  const SectionTensor x = reads(work.operand);
  const SectionTensor result = writes(work.result);
  expect_computed(x);
  expect_type(result, x.dtype);
  expect_shape(result, x.rows, x.cols);
  const std::uint64_t half = reads(work.cosine).cols;
  for (const std::string& name : {work.cosine, work.sine}) {
    const SectionTensor angle = reads(name);
    expect_type(angle, x.dtype);
    expect_shape(angle, angle.rows == 1 ? 1 : x.rows, half);
    expect_other(result, name);
  }
  if (half > x.cols || x.cols % (2 * half) != 0) {
    refuse(place(x.name), fmt::format("runs of {} columns", 2 * half), shape_text(x));
  }
}

void Checker::check(const GatherRows& work) {
  const SectionTensor table = reads(work.table);
  const SectionTensor index = reads(work.index);
  const SectionTensor result = writes(work.result);
  if (!is_integer(index.dtype)) {
    refuse(place(index.name), "an integer type", std::string(ir::to_string(index.dtype)));
  }
  expect_shape(index, index.rows, 1);
  expect_type(result, table.dtype);
  expect_shape(result, index.rows, table.cols);
  expect_other(result, work.table);
  expect_other(result, work.index);
}

void Checker::check(const AppendRows& work) {
  const SectionTensor source = reads(work.source);
  const SectionTensor cache = writes(work.cache);
  section_.written_in_part[use(work.cache)] = 1;
  expect_type(cache, source.dtype);
  expect_other(cache, work.source);
  if (source.cols != cache.cols) expect_shape(cache, cache.rows, source.cols);
  if (source.rows > cache.rows || work.position > cache.rows - source.rows) {
    refuse(place(cache.name),
           fmt::format("room for {} rows from row {} on", source.rows, work.position),
           fmt::format("{} rows", cache.rows));
  }
}

void Checker::check(const AppendColumn& work) {
  const SectionTensor source = reads(work.source);
  const SectionTensor cache = writes(work.cache);
  section_.written_in_part[use(work.cache)] = 1;
  expect_shape(source, 1, source.cols);
  expect_type(cache, source.dtype);
  expect_other(cache, work.source);
  if (source.cols != cache.rows) expect_shape(cache, source.cols, cache.cols);
  if (work.position >= cache.cols) {
    refuse(place(cache.name), fmt::format("a column {}", work.position),
           fmt::format("{} columns", cache.cols));
  }
}

void Checker::check(const DeltaUpdate& work) {
  const SectionTensor state = reads(work.state);
  writes(work.state);
  expect_computed(state);
  const std::uint64_t tokens = reads(work.key).rows;
  const auto operand = [&](const std::string& name, std::uint64_t cols) {
    const SectionTensor t = reads(name);
    expect_type(t, state.dtype);
    expect_shape(t, tokens, cols);
    expect_other(state, name);
  };
  operand(work.key, state.rows);
  operand(work.value, state.cols);
  operand(work.decay, 1);
  operand(work.rate, 1);
}

void Checker::check(const Copy& work) {
  const SectionTensor source = reads(work.source);
  const SectionTensor result = writes(work.result);
  expect_type(result, source.dtype);
  expect_shape(result, source.rows, source.cols);
  expect_other(result, work.source);
}

}  // namespace spatialcert::compose::sections
