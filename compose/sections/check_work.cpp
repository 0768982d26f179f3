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
  expect_computed(a);
  expect_sums(result);
  check_factors(work, a, b, result);
  if (is_integer(result.dtype) != is_integer(a.dtype)) expect_type(result, a.dtype);
  expect_other(result, work.a);
  expect_other(result, work.b);
  if (work.scales.empty()) {
    expect_type(b, a.dtype);
  } else {
    expect_type(b, ir::DType::i8);
    const SectionTensor scales = reads(work.scales);
    expect_type(scales, a.dtype);
    expect_other(result, work.scales);
    const auto tile = [](std::uint64_t most, std::uint64_t size) { return std::min(most, size); };
    const std::uint64_t cols = work.one_row ? result.cols / work.batch : result.cols;
    expect_blocks(b, scales, tile(about_.tile.inner, a.cols), tile(about_.tile.cols, cols));
    if (a.cols % (b.rows / scales.rows) != 0 || cols % (b.cols / scales.cols) != 0) {
      refuse(place(b.name), "blocks that are used whole", shape_text(scales));
    }
  }
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

void Checker::check_factors(const Matmul& work, const SectionTensor& a, const SectionTensor& b,
                            const SectionTensor& result) const {
  const std::uint64_t batch = work.batch;
  if (batch == 1 && !work.prefix) {
    expect_shape(b, a.cols, b.cols);
    return expect_shape(result, a.rows, b.cols);
  }
  const std::uint64_t across = work.one_row ? result.cols : result.rows;
  if (batch == 0 || across % batch != 0) {
    refuse(place(result.name),
           fmt::format("{} of {} products", work.one_row ? "columns" : "rows", batch),
           shape_text(result));
  }
  const std::uint64_t own_rows = work.one_row ? result.rows : result.rows / batch;
  const std::uint64_t own_cols = work.one_row ? result.cols / batch : result.cols;
  if (batch == 1 || a.rows != own_rows) {
    expect_shape(a, work.one_row ? own_rows : result.rows, a.cols);
  }
  const std::uint64_t stacked = work.side_by_side ? b.cols : b.rows;
  if (stacked % batch != 0) {
    refuse(place(b.name), fmt::format("{} matrices of one size", batch), shape_text(b));
  }
  const std::uint64_t rows = work.side_by_side ? b.rows : b.rows / batch;
  const std::uint64_t cols = work.side_by_side ? b.cols / batch : b.cols;
  if (work.prefix && rows >= a.cols && cols >= own_cols) return;
  expect_shape(b, a.cols * (work.side_by_side ? 1 : batch),
               own_cols * (work.side_by_side ? batch : 1));
}

// Ops take integers of any width, and make them as wide as the result; a copy takes what it gives.
std::pair<std::uint64_t, std::uint64_t> Checker::shape(const Expression& e,
                                                       const SectionTensor& result, Takes takes) {
  if (e.is_tensor()) {
    const SectionTensor t = reads(e.tensor);
    const bool widens = takes == Takes::narrower && is_integer(t.dtype) &&
                        is_integer(result.dtype) &&
                        ir::size_of(t.dtype) < ir::size_of(result.dtype);
    if (takes != Takes::anything && !widens) expect_type(t, result.dtype);
    if (!is_integer(t.dtype) && is_integer(result.dtype)) {
      section_.approximate = "rounded to integers";
    }
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
    const bool first = &argument == e.arguments.data();
    const bool any = first && (e.op == ir::OpKind::cast || e.op == ir::OpKind::select);
    const auto [rows, cols] = shape(argument, result, any ? Takes::anything : Takes::narrower);
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
    case ir::OpKind::cast:
      if (e.arguments.size() == 1 && !e.arguments.front().is_tensor()) {
        refuse(".work", "a cast of a tensor", "one of an expression");
      }
      break;
    case ir::OpKind::select:
      if (e.arguments.size() != 3) refuse(".work", "three arguments", text);
      if (!e.arguments.front().is_tensor()) {
        refuse(".work", "a tensor as condition", "an expression");
      }
      return;
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
  const auto [rows, cols] = shape(work.value, result);
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
  expect_integer(index);
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

void Checker::check(const ShiftRows& work) {
  const SectionTensor source = reads(work.source);
  const SectionTensor state = reads(work.state);
  writes(work.state);
  expect_type(source, state.dtype);
  expect_other(state, work.source);
  if (source.cols != state.cols) expect_shape(source, source.rows, state.cols);
  if (source.rows >= state.rows) {
    refuse(place(source.name), fmt::format("fewer rows than {}", shape_text(state)),
           shape_text(source));
  }
}

void Checker::check(const RepeatRows& work) {
  const SectionTensor source = reads(work.source);
  const SectionTensor result = writes(work.result);
  expect_type(result, source.dtype);
  expect_other(result, work.source);
  if (source.cols != result.cols) expect_shape(result, result.rows, source.cols);
  if (result.rows % source.rows != 0) {
    refuse(place(result.name), fmt::format("a multiple of {} rows", source.rows),
           shape_text(result));
  }
}

void Checker::check(const Conv1d& work) {
  const SectionTensor x = reads(work.operand);
  const SectionTensor weight = reads(work.weight);
  const SectionTensor result = writes(work.result);
  expect_computed(x);
  expect_type(weight, x.dtype);
  expect_type(result, x.dtype);
  if (weight.rows > x.rows) {
    refuse(place(weight.name), fmt::format("at most {} rows", x.rows), shape_text(weight));
  }
  expect_shape(weight, weight.rows, x.cols);
  expect_shape(result, x.rows - weight.rows + 1, x.cols);
  expect_other(result, work.operand);
  expect_other(result, work.weight);
  if (work.bias.empty()) return;
  const SectionTensor bias = reads(work.bias);
  expect_type(bias, x.dtype);
  expect_shape(bias, 1, x.cols);
  expect_other(result, work.bias);
}

void Checker::check(const TopK& work) {
  const SectionTensor x = reads(work.operand);
  const SectionTensor result = writes(work.result);
  expect_computed(x);
  if (!is_integer(result.dtype)) expect_type(result, x.dtype);
  expect_shape(result, x.rows, result.cols);
  if (result.cols > x.cols) {
    refuse(place(result.name), fmt::format("at most {} columns", x.cols), shape_text(result));
  }
  expect_other(result, work.operand);
}

void Checker::check(const Rescale& work) {
  if (work.op != ir::OpKind::quantise && work.op != ir::OpKind::dequantise) {
    refuse(".work", "\"quantise\" or \"dequantise\"",
           fmt::format("\"{}\"", ir::to_string(work.op)));
  }
  const SectionTensor x = reads(work.operand);
  const SectionTensor scales = reads(work.scales);
  const SectionTensor result = writes(work.result);
  expect_blocks(x, scales, std::min(about_.tile.rows, x.rows), std::min(about_.tile.cols, x.cols));
  const bool apart = work.op == ir::OpKind::quantise;
  expect_integer(apart ? result : x);
  expect_type(apart ? x : result, scales.dtype);
  expect_shape(result, x.rows, x.cols);
  expect_other(result, work.scales);
}

void Checker::check(const DeltaUpdate& work) {
  const SectionTensor state = reads(work.state);
  writes(work.state);
  expect_computed(state);
  const SectionTensor key = reads(work.key);
  if (work.heads == 0 || state.rows % work.heads != 0 || key.rows % work.heads != 0) {
    refuse(place(state.name), fmt::format("{} heads of one size", work.heads), shape_text(state));
  }
  const auto operand = [&](const std::string& name, std::uint64_t cols) {
    const SectionTensor t = reads(name);
    expect_type(t, state.dtype);
    expect_shape(t, key.rows, cols);
    expect_other(state, name);
  };
  operand(work.key, state.rows / work.heads);
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
