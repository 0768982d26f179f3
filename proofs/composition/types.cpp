#include "proofs/composition/types.hpp"

#include <fmt/format.h>

#include <tuple>

#include "proofs/issues.hpp"
#include "proofs/shard/rule.hpp"

namespace spatialcert::proofs::composition {

using reduction::Type;
using reduction::TypeRun;
using Kind = Type::Kind;

namespace {

/// Has it a value of the model? That of zeros is nothing, that of others a reason.
bool has_value(const Type& type) { return type.kind != Kind::zero && type.kind != Kind::unclear; }

}  // namespace

TypeRounds::TypeRounds(const ir::Program& program, const Division& division,
                       const std::vector<Subject>& subjects)
    : program_(program),
      division_(division),
      types_(program),
      effects_(division.classes.size()),
      carried_(
          program, [this](std::uint32_t t) { return first_type(t); },
          [this](std::uint32_t) {
            return TypeRun::untouched(types_, ir::Init::undefined, std::nullopt, program_);
          }),
      kept_(kept_tensors(program)) {
  if (!program.postconditions.empty()) {
    obstacle_ = "results are declared, which are contents of the whole program";
    return;
  }
  auto made = pieces(program, division, subjects);
  if (auto* why = std::get_if<std::string>(&made)) {
    obstacle_ = std::move(*why);
    return;
  }
  pieces_ = std::get<std::vector<Piece>>(std::move(made));
  number_cuts();
  fill();
}

TypeRounds::TypeId TypeRounds::first_type(std::uint32_t tensor) {
  const auto& declared = types_.declared(tensor);
  if (declared.is()) return types_.slice(declared, types_.full_value(declared.sliced));
  return TypeRun::untouched(types_, ir::Init::undefined, tensor, program_);
}

/// With what is there at the start.
void TypeRounds::fill() {
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const Place place = place_of_tensor(program_, t);
    const ir::Init init = program_.tensors[t].init;
    if (init == ir::Init::undefined || types_.declared(place.base).is()) continue;
    carried_.tensors()[place.base].assign(place.where,
                                          TypeRun::untouched(types_, init, place.base, program_));
  }
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const ir::Init init = program_.buffers[b].init;
    if (init == ir::Init::undefined || !is_resident(program_, b)) continue;
    const Place place = place_of_buffer(program_, b);
    carried_.buffers()[place.base].assign(place.where,
                                          TypeRun::untouched(types_, init, std::nullopt, program_));
  }
  first_ = carried_.tensors();
}

/// All that `Types::slice` looks at, but for the value.
void TypeRounds::number_cuts() {
  using Cut = std::tuple<ir::Axis, bool, std::uint32_t, std::uint32_t>;
  std::map<Cut, std::uint32_t> numbers;
  cut_.assign(program_.tensors.size(), 0);
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const auto& declared = types_.declared(t);
    if (!declared.is()) continue;
    const ir::SlicedTensor& sliced = program_.sliced[declared.sliced];
    const Cut cut{sliced.axis, sliced.stacked, types_.dimension_of(declared.sliced), declared.part};
    cut_[t] = numbers.emplace(cut, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
  }
}

/// As one that any other value might have. What is unclear is so for any reason.
TypeRounds::TypeId TypeRounds::of_any_value(TypeId id) {
  const auto [known, is_new] = of_any_value_.emplace(id, id);
  if (!is_new) return known->second;
  Type type = types_[id];
  if (type.kind == Kind::unclear) {
    known->second = types_.unclear("contents of which nothing is known");
  } else if (has_value(type)) {
    const auto [at, fresh] =
        number_of_value_.emplace(type.value, static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(type.value);
    type.value = types_.any(at->second);
    known->second = types_.number(type);
  }
  return known->second;
}

/// False if terms of several sums lie where the class's program has one segment.
bool TypeRounds::find(std::size_t at) {
  begin_.clear();
  values_.clear();
  number_of_value_.clear();
  of_any_value_.clear();
  const std::uint32_t number = division_.class_of[at];
  const std::size_t first = division_.first_tensor[at];
  for (std::size_t i = 0; i < division_.classes[number].excerpt.tensors.size(); ++i)
    begin_.push_back(cut_[division_.tensors[first + i]]);
  const auto type_of = [&](const Runs& runs, const Interval& where) {
    std::optional<TypeId> found;
    bool several = false, terms = false;
    runs.each(where, [&](std::uint64_t, std::uint64_t, TypeId one) {
      several = several || found.value_or(one) != one;
      terms = terms || reduction::is_term(types_[one]);
      found = found ? reduction::blend(types_, *found, one) : one;
    });
    return several && terms ? std::nullopt : std::optional(of_any_value(*found));
  };
  return list_begin(division_, pieces_[number], at, carried_, begin_, type_of);
}

const TypeRounds::Effect* TypeRounds::effect(std::size_t at) {
  const std::uint32_t number = division_.class_of[at];
  const Piece& piece = pieces_[number];
  auto& known = effects_[number];
  if (const auto same = known.find(begin_); same != known.end()) return &same->second;

  // Of the section at hand, in the order of its class's.
  const std::size_t tensors = division_.classes[number].excerpt.tensors.size();
  TypeRun::Declared declared;
  for (std::size_t i = 0; i < tensors; ++i)
    declared.push_back(types_.declared(division_.tensors[division_.first_tensor[at] + i]));
  const Subject& subject = *piece.subject;
  const TypeId nothing = TypeRun::untouched(types_, ir::Init::undefined, std::nullopt, program_);
  std::vector<TypeId> contents;
  for (const ir::Segment& segment : subject.accesses.segments) {
    const bool zero = segment.init == ir::Init::zero &&
                      subject.accesses.storages[segment.storage].kind != ir::Storage::Kind::tensor;
    contents.push_back(zero ? reduction::Types::kZero : nothing);
  }
  const std::vector<TypeId> found = per_part(piece, begin_, tensors);
  for (std::size_t p = 0; p < piece.parts.size(); ++p) contents[piece.parts[p].segment] = found[p];
  TypeRun run(types_, declared, piece.program, subject.stretch, subject.accesses,
              std::move(contents));
  if (see_) run.keep_steps();
  for (const std::uint32_t t : piece.order) {
    if (const auto fault = run.perform(t)) {
      fault_ =
          fmt::format("{}: {}", transition_text(piece.program, subject.stretch, fault->transition),
                      fault->violation.what);
      return nullptr;
    }
    if (!see_) continue;
    for (const reduction::StepText& step : run.steps()) see_(step);
  }
  if (run.blurred()) {
    fault_ = "what a section writes are terms of other sums in its parts";
    return nullptr;
  }
  Effect effect;
  effect.obligations = run.obligations();
  std::vector<ValueId> values;
  for (const std::uint32_t p : piece.written) {
    const TypeId left = run.contents()[piece.parts[p].segment];
    effect.left.push_back(left);
    if (has_value(types_[left])) values.push_back(types_[left].value);
  }
  effect.terms = types_.terms_of(values);
  return &known.emplace(begin_, std::move(effect)).first->second;
}

void TypeRounds::leave(std::size_t at, const Effect& effect) {
  const std::uint32_t number = division_.class_of[at];
  const Class& its = division_.classes[number];
  const std::uint32_t* const objects = division_.objects.data() + division_.first_object[at];
  const std::vector<ValueId> values = types_.instances(effect.terms, values_);
  const Piece& piece = pieces_[number];
  for (std::size_t w = 0; w < piece.written.size(); ++w) {
    Type type = types_[effect.left[w]];
    if (has_value(type)) {
      const auto term = std::lower_bound(effect.terms.begin(), effect.terms.end(), type.value);
      type.value = values[static_cast<std::size_t>(term - effect.terms.begin())];
    }
    const Part& part = piece.parts[piece.written[w]];
    carried_.of(its.touched[part.touched], objects[part.touched])
        .assign(part.where, types_.number(type));
  }
}

std::optional<std::string> TypeRounds::section(std::size_t at) {
  fault_ = "what it touches are terms of several sums in its parts";
  const Effect* const its = find(at) ? effect(at) : nullptr;
  if (its == nullptr)
    return fmt::format("section {}: {}", program_.sections[division_.sections[at]].name, fault_);
  obligations_ += its->obligations;
  leave(at, *its);
  return std::nullopt;
}

/// As TypeRun::restart has it.
std::optional<std::string> TypeRounds::restart() {
  renamed_.assign(program_.tensors.size(), Runs());
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const ir::Tensor& tensor = program_.tensors[t];
    if (!tensor.view) renamed_[t] = Runs(tensor.rows * tensor.cols, 0);
  }
  for (std::uint32_t s = 0; s < program_.sliced.size(); ++s) {
    if (auto why = rename_slices(s)) return why;
  }
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    if (!program_.tensors[t].view) renew_rest(t);
  }
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    Runs& runs = carried_.buffers()[b];
    const Runs old = runs;
    for (const auto& [low, run] : old.all())
      runs.assign({low, run.high}, types_.kept(run.number, 2 * std::uint64_t{b} + 1, low));
  }
  return std::nullopt;
}

/// Slices of one content are those of the tensor's own, from now on.
std::optional<std::string> TypeRounds::rename_slices(std::uint32_t sliced) {
  std::optional<ValueId> value;
  for (const ir::Slice& slice : program_.sliced[sliced].slices) {
    const Place place = place_of_tensor(program_, slice.tensor.value());
    Runs& runs = carried_.tensors()[place.base];
    std::optional<TypeId> all;
    const auto each_kept = [&](const auto& see) {
      const Runs old = runs;
      for (const Interval& kept : kept_[place.base]) {
        const Interval both{std::max(kept.low, place.where.low),
                            std::min(kept.high, place.where.high)};
        if (both.low < both.high) old.each(both, see);
      }
    };
    each_kept([&](std::uint64_t, std::uint64_t, TypeId one) {
      all = all ? reduction::blend(types_, *all, one) : one;
    });
    if (!all || types_[*all].kind != Kind::slice) continue;
    if (value && *value != types_[*all].value) {
      return fmt::format(
          "parts of {} keep contents that are not of one full tensor, as far as types show",
          program_.sliced[sliced].name);
    }
    value = types_[*all].value;
    const TypeId type =
        types_.slice(types_.declared(slice.tensor.value()), types_.full_value(sliced));
    each_kept([&](std::uint64_t low, std::uint64_t high, TypeId one) {
      if (types_[one].kind != Kind::slice) return;
      runs.assign({low, high}, type);
      renamed_[place.base].assign({low, high}, 1);
    });
  }
  return std::nullopt;
}

void TypeRounds::renew_rest(std::uint32_t tensor) {
  const Runs old = std::move(carried_.tensors()[tensor]);
  Runs fresh = first_[tensor];
  for (const Interval& kept : kept_[tensor]) {
    old.each(kept, [&](std::uint64_t low, std::uint64_t high, TypeId one) {
      renamed_[tensor].each({low, high},
                            [&](std::uint64_t from, std::uint64_t to, std::uint32_t renamed) {
                              TypeId type = one;
                              if (types_[one].kind == Kind::replicated) {
                                type = types_.replicated(types_.tensor_value(tensor));
                              } else if (renamed == 0) {
                                type = types_.kept(one, 2 * std::uint64_t{tensor}, from);
                              }
                              fresh.assign({from, to}, type);
                            });
    });
  }
  carried_.tensors()[tensor] = std::move(fresh);
}

std::optional<std::string> TypeRounds::perform() {
  if (obstacle_) return obstacle_;
  for (std::size_t at = 0; at < division_.sections.size(); ++at) {
    if (auto why = section(at)) return why;
  }
  return restart();
}

bool TypeRounds::recurs() const {
  return remembered_ &&
         Carried::equal(carried_, *remembered_, [](TypeId a, TypeId b) { return a == b; });
}

std::variant<std::uint64_t, std::string> check_types(const ir::Program& program,
                                                     const Division& division,
                                                     const std::vector<Subject>& subjects,
                                                     const reduction::Typing& witness) {
  if (witness.first >= witness.rounds || witness.rounds > shard::kMostRounds)
    return std::string("the rounds of the witness");
  TypeRounds rounds(program, division, subjects);
  for (std::uint32_t r = 0; r < witness.rounds; ++r) {
    if (r == witness.first) rounds.remember();
    if (auto wrong = rounds.perform()) return *std::move(wrong);
  }
  if (!rounds.recurs()) return std::string("types of the first and the last round");
  return rounds.obligations();
}

}  // namespace spatialcert::proofs::composition
