#include "compose/models/statements.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace spatialcert::compose::models {
namespace {

using namespace sections;  // NOLINT: the kinds of work
using ir::OpKind;

/// A work as one op: what it binds, and what it reads.
struct Plain {
  OpKind op = OpKind::copy;
  std::string binds;
  std::vector<std::string> reads;
};

struct AsOne {
  Plain operator()(const Matmul& w) const { return {OpKind::matmul, w.result, {w.a, w.b}}; }
  Plain operator()(const Elementwise& w) const { return {w.value.op, w.result, {}}; }
  Plain operator()(const RowReduction& w) const { return {w.op, w.result, {w.operand}}; }
  Plain operator()(const RmsNorm& w) const {
    return {OpKind::rmsnorm, w.result, {w.operand, w.weight}};
  }
  Plain operator()(const Softmax& w) const { return {OpKind::softmax, w.result, {w.operand}}; }
  Plain operator()(const Rope& w) const {
    return {OpKind::rope, w.result, {w.operand, w.cosine, w.sine}};
  }
  Plain operator()(const GatherRows& w) const {
    return {OpKind::gather, w.result, {w.table, w.index}};
  }
  Plain operator()(const AppendRows& w) const { return {OpKind::copy, w.cache, {w.source}}; }
  Plain operator()(const AppendColumn& w) const { return {OpKind::copy, w.cache, {w.source}}; }
  Plain operator()(const ShiftRows& w) const {
    return {OpKind::copy, w.state, {w.source, w.state}};
  }
  Plain operator()(const RepeatRows& w) const { return {OpKind::copy, w.result, {w.source}}; }
  Plain operator()(const Conv1d& w) const {
    Plain out{OpKind::conv1d, w.result, {w.operand, w.weight}};
    if (!w.bias.empty()) out.reads.push_back(w.bias);
    return out;
  }
  Plain operator()(const TopK& w) const { return {OpKind::topk, w.result, {w.operand}}; }
  Plain operator()(const Rescale& w) const { return {w.op, w.result, {w.operand, w.scales}}; }
  Plain operator()(const DeltaUpdate& w) const {
    return {OpKind::gated_delta, w.state, {w.state, w.key, w.value, w.decay, w.rate}};
  }
  Plain operator()(const Copy& w) const { return {OpKind::copy, w.result, {w.source}}; }
};

void tensors_of(const Expression& e, std::vector<std::string>& out) {
  if (e.is_tensor()) out.push_back(e.tensor);
  for (const Expression& argument : e.arguments) tensors_of(argument, out);
}

/// Members of a fused op, innermost first.
class Fused {
 public:
  Fused(const std::function<std::string(const std::string&)>& called, std::string result)
      : called_(called), result_(std::move(result)) {}

  /// Name of the value.
  std::string add(const Expression& e, bool last) {
    if (e.is_tensor() && !last) return called_(e.tensor);
    parallel::Statement statement{{}, e.op, {}};
    if (e.is_tensor()) statement.reads.push_back(called_(e.tensor));
    for (const Expression& argument : e.arguments) statement.reads.push_back(add(argument, false));
    return add(std::move(statement), last);
  }
  std::string add(parallel::Statement statement, bool last) {
    statement.name = last ? result_ : fmt::format("{}:{}", result_, op_.members.size());
    op_.members.push_back(std::move(statement));
    return op_.members.back().name;
  }
  parallel::SourceOp take() { return std::move(op_); }

 private:
  const std::function<std::string(const std::string&)>& called_;
  std::string result_;
  parallel::SourceOp op_;
};

}  // namespace

std::vector<std::string> names_of(const Work& work) {
  Plain plain = std::visit(AsOne{}, work);
  if (const auto* elementwise = std::get_if<Elementwise>(&work)) {
    tensors_of(elementwise->value, plain.reads);
  }
  if (const auto* product = std::get_if<Matmul>(&work)) {
    if (!product->scales.empty()) plain.reads.push_back(product->scales);
  }
  plain.reads.push_back(plain.binds);
  return std::move(plain.reads);
}

parallel::SourceOp statements_of(const Work& work,
                                 const std::function<std::string(const std::string&)>& called) {
  const Plain plain = std::visit(AsOne{}, work);
  Fused out(called, called(plain.binds));
  if (const auto* elementwise = std::get_if<Elementwise>(&work)) {
    out.add(elementwise->value, true);
    return out.take();
  }
  parallel::Statement statement{{}, plain.op, {}};
  for (const std::string& name : plain.reads) statement.reads.push_back(called(name));
  if (const auto* product = std::get_if<Matmul>(&work); product && !product->scales.empty()) {
    statement.reads[1] =
        out.add({{}, OpKind::dequantise, {called(product->b), called(product->scales)}}, false);
  }
  out.add(std::move(statement), true);
  return out.take();
}

}  // namespace spatialcert::compose::models
