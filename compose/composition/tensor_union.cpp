#include "compose/composition/tensor_union.hpp"

#include <fmt/format.h>

#include <optional>

#include "compose/composition/refusal.hpp"

namespace spatialcert::compose {
namespace {

constexpr std::uint32_t kNobody = 0xffffffffU;

constexpr std::uint32_t bit(ir::TensorRole role) { return 1U << static_cast<unsigned>(role); }

std::string values_text(const ir::ValueRange& values) {
  return fmt::format("declared to be in [{}, {}]", values.least, values.largest);
}

std::string owner_text(const ir::Tensor& tensor) {
  return tensor.owner ? fmt::format("owned by chip {}", *tensor.owner) : "replicated";
}

std::string shape_text(const ir::Tensor& tensor) {
  return fmt::format("{} x {}", tensor.rows, tensor.cols);
}

std::string view_text(const std::vector<ir::Tensor>& tensors,
                      const std::optional<ir::View<ir::TensorId>>& view) {
  if (!view) return "no view";
  return fmt::format("a view of \"{}\" from element {}", tensors[view->base.value()].name,
                     view->offset);
}

}  // namespace

std::vector<std::uint32_t> TensorUnion::add(std::uint32_t source, const ObjectUses& uses,
                                            std::uint32_t first_location) {
  const std::vector<ir::Tensor>& given = sections_[source].tensors;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(given.size());
  for (const ir::Tensor& tensor : given) numbers.push_back(declare(source, tensor, first_location));
  for (std::uint32_t t = 0; t < given.size(); ++t) {  // bases have their numbers now
    ir::Tensor tensor = given[t];
    if (tensor.view) tensor.view->base = ir::TensorId(numbers[tensor.view->base.value()]);
    if (history_[numbers[t]].first == source) tensors_[numbers[t]].view = tensor.view;
    compare(source, numbers[t], tensor);
    std::optional<ir::ValueRange>& values = tensors_[numbers[t]].values;
    if (!values) values = tensor.values;
  }
  for (std::uint32_t t = 0; t < given.size(); ++t) {
    History& history = history_[numbers[t]];
    if (history.roles == bit(history.first_role) && given[t].role != history.first_role) {
      history.other_role = given[t].role;
      history.other = source;
    }
    history.roles |= bit(given[t].role);
    history.last_role = given[t].role;
    history.claims.push_back(
        {given[t].init, uses.tensors[t], written_before(source, numbers[t]), source});
  }
  for (std::uint32_t t = 0; t < given.size(); ++t) {
    std::uint32_t& writer = written_[root_of(tensors_, numbers[t])];
    if (uses.tensors[t].written && writer == kNobody) writer = source;
  }
  return numbers;
}

std::uint32_t TensorUnion::declare(std::uint32_t source, const ir::Tensor& tensor,
                                   std::uint32_t first_location) {
  const auto number = static_cast<std::uint32_t>(tensors_.size());
  const auto [known, is_new] = numbers_.emplace(tensor.name, number);
  if (!is_new) return known->second;
  ir::Tensor& made = tensors_.emplace_back(tensor);
  if (made.location != ir::kNoLocation) made.location += first_location;
  made.view.reset();
  History& history = history_.emplace_back();
  history.first = source;
  history.first_role = tensor.role;
  written_.push_back(kNobody);
  return number;
}

void TensorUnion::compare(std::uint32_t source, std::uint32_t number,
                          const ir::Tensor& tensor) const {
  const ir::Tensor& known = tensors_[number];
  const auto refuse = [&](RefusalReason reason, const std::string& before, const std::string& now,
                          const char* remedy) {
    throw Refused{
        reason,
        fmt::format("tensor \"{}\" is {} in section \"{}\" and {} in section \"{}\"", tensor.name,
                    before, section(history_[number].first), now, section(source)),
        remedy};
  };
  if (known.rows != tensor.rows || known.cols != tensor.cols) {
    refuse(RefusalReason::tensor_shape, shape_text(known), shape_text(tensor),
           "rename one of them, or give both one shape");
  }
  if (known.dtype != tensor.dtype) {
    refuse(RefusalReason::tensor_dtype, std::string(to_string(known.dtype)),
           std::string(to_string(tensor.dtype)),
           "rename one of them, or cast in a section between");
  }
  if (known.owner != tensor.owner) {
    refuse(RefusalReason::tensor_owner, owner_text(known), owner_text(tensor),
           "rename one of them, or let the same chip own both");
  }
  if (known.values && tensor.values && *known.values != *tensor.values) {
    refuse(RefusalReason::tensor_values, values_text(*known.values), values_text(*tensor.values),
           "rename one of them, or declare the same values");
  }
  const bool same_view = known.view.has_value() == tensor.view.has_value() &&
                         (!known.view || (known.view->base == tensor.view->base &&
                                          known.view->offset == tensor.view->offset));
  if (!same_view) {
    refuse(RefusalReason::tensor_view, view_text(tensors_, known.view),
           view_text(tensors_, tensor.view), "rename one of them, or declare the same view");
  }
}

std::vector<ir::Tensor> TensorUnion::finish(const std::unordered_set<std::string>& carried) {
  for (std::uint32_t t = 0; t < tensors_.size(); ++t) {
    const bool lives_on = carried.count(tensors_[t].name) != 0 ||
                          carried.count(tensors_[root_of(tensors_, t)].name) != 0;
    decide_role(t, carried.count(tensors_[t].name) != 0);
    decide_contents(t, lives_on);
  }
  for (std::uint32_t t = 0; t < tensors_.size(); ++t) check_chain(t);
  return tensors_;
}

// Declared in several roles, a tensor is what flows between its sections.
void TensorUnion::decide_role(std::uint32_t number, bool carried) {
  using ir::TensorRole;
  const History& history = history_[number];
  TensorRole& role = tensors_[number].role;
  if (carried) {
    role = TensorRole::state;
    return;
  }
  if ((history.roles & (history.roles - 1)) == 0) return;  // one role
  const bool weight = (history.roles & bit(TensorRole::weight)) != 0;
  const bool state = (history.roles & bit(TensorRole::state)) != 0;
  if (state && !weight) {
    role = TensorRole::state;
    return;
  }
  if (weight || history.first_role == TensorRole::input) {
    throw Refused{
        RefusalReason::tensor_role,
        fmt::format("tensor \"{}\" is {} in section \"{}\" and {} in section \"{}\"",
                    tensors_[number].name, to_string(history.first_role), section(history.first),
                    to_string(history.other_role), section(history.other)),
        "name it as carried, write to another tensor, or put its producer first"};
  }
  role = history.last_role == TensorRole::output ? TensorRole::output : TensorRole::activation;
}

void TensorUnion::decide_contents(std::uint32_t number, bool carried) {
  const History& history = history_[number];
  const InitDecision decision = decide_init(history.claims, carried);
  tensors_[number].init = decision.init;
  if (!decision.contradicted_by) return;
  const InitClaim& claim = *decision.contradicted_by;
  throw Refused{
      RefusalReason::init_clash,
      fmt::format("tensor \"{}\" begins as {} for section \"{}\"{} and as {} for section \"{}\"",
                  tensors_[number].name, to_string(claim.init), section(claim.section),
                  claim.written_earlier ? " (though an earlier one writes it)" : "",
                  to_string(decision.init), section(decision.section)),
      "let the sections agree, or name the tensor as carried"};
}

void TensorUnion::check_chain(std::uint32_t number) const {
  if (tensors_[number].init == ir::Init::undefined) return;
  for (std::uint32_t at = number; tensors_[at].view;) {
    at = tensors_[at].view->base.value();
    if (tensors_[at].init == ir::Init::undefined) continue;
    throw Refused{
        RefusalReason::init_clash,
        fmt::format("tensor \"{}\" (section \"{}\") and \"{}\" (section \"{}\"), of which "
                    "it is a view, both begin with contents",
                    tensors_[number].name, section(history_[number].first), tensors_[at].name,
                    section(history_[at].first)),
        "let one of them say what is in it"};
  }
}

}  // namespace spatialcert::compose
