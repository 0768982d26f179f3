#include "proofs/reduction/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/require.hpp"

namespace spatialcert::proofs::reduction {
namespace {

enum class Make : std::uint64_t { nothing, tensor, full, op, blend, kept, any };

std::uint64_t tag(Make make) { return static_cast<std::uint64_t>(make); }

}  // namespace

Types::Types(const ir::Program& program) : program_(program), declared_(program.tensors.size()) {
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t s = 0; s < program.sliced.size(); ++s) {
    const ir::SlicedTensor& sliced = program.sliced[s];
    const auto [at, fresh] =
        by_name.emplace(sliced.dimension, static_cast<std::uint32_t>(dimensions_.size()));
    if (fresh)
      dimensions_.push_back({sliced.dimension, static_cast<std::uint32_t>(sliced.slices.size())});
    dimension_of_.push_back(at->second);
    for (std::uint32_t p = 0; p < sliced.slices.size(); ++p) {
      declared_[sliced.slices[p].tensor.value()] = {s, p};
    }
  }
  intern({tag(Make::nothing)});
  number(Type{});
}

TypeId Types::number(const Type& type) {
  const auto [at, fresh] = index_.emplace(type, static_cast<TypeId>(types_.size()));
  if (fresh) types_.push_back(&at->first);
  return at->second;
}

TypeId Types::replicated(ValueId value) {
  Type type;
  type.kind = Type::Kind::replicated;
  type.value = value;
  return number(type);
}

TypeId Types::slice(const Declared& declared, ValueId value) {
  const ir::SlicedTensor& sliced = program_.sliced[declared.sliced];
  Type type;
  type.kind = Type::Kind::slice;
  type.along = sliced.axis == ir::Axis::rows ? Along::rows : Along::columns;
  type.stacked = sliced.stacked;
  type.dimension = dimension_of_[declared.sliced];
  type.value = value;
  type.parts = part(type.dimension, declared.part);
  return number(type);
}

TypeId Types::unclear(const std::string& why) {
  const auto [at, fresh] =
      reason_index_.emplace(why, static_cast<std::uint32_t>(reason_index_.size()));
  if (fresh) reasons_.push_back(&at->first);
  Type type;
  type.kind = Type::Kind::unclear;
  type.value = at->second;
  return number(type);
}

TypeId Types::kept(TypeId id, std::uint64_t storage, std::uint64_t low) {
  Type type = (*this)[id];
  if (type.kind == Type::Kind::zero || type.kind == Type::Kind::unclear) return id;
  type.value = intern({tag(Make::kept), storage, low});
  return number(type);
}

const std::string& Types::reason(TypeId unclear) const {
  return *reasons_.at((*this)[unclear].value);
}

std::uint32_t Types::number_of(const ir::ValueRange& range) {
  const auto [at, fresh] = range_index_.emplace(range, static_cast<std::uint32_t>(ranges_.size()));
  if (fresh) ranges_.push_back(&at->first);
  return at->second;
}

TypeId Types::with_range(TypeId id, std::uint32_t range) {
  if ((*this)[id].range == range) return id;
  Type type = (*this)[id];
  type.range = range;
  return number(type);
}

Parts Types::part(std::uint32_t dimension, std::uint32_t p) const {
  Parts parts((dimensions_[dimension].parts + 63) / 64, 0);
  parts[p / 64] |= std::uint64_t{1} << (p % 64);
  return parts;
}

bool Types::all_parts(std::uint32_t dimension, const Parts& parts) const {
  for (std::uint32_t p = 0; p < dimensions_[dimension].parts; ++p) {
    if ((parts[p / 64] >> (p % 64) & 1U) == 0) return false;
  }
  return true;
}

ValueId Types::intern(std::vector<std::uint64_t> description) {
  const auto [at, fresh] =
      values_.emplace(std::move(description), static_cast<ValueId>(descriptions_.size()));
  if (fresh) descriptions_.push_back(&at->first);
  return at->second;
}

ValueId Types::tensor_value(std::uint32_t tensor) { return intern({tag(Make::tensor), tensor}); }
ValueId Types::full_value(std::uint32_t sliced) { return intern({tag(Make::full), sliced}); }

ValueId Types::value_of(ir::OpKind op, std::uint64_t how, const std::vector<ValueId>& operands) {
  std::vector<std::uint64_t> description{tag(Make::op), static_cast<std::uint64_t>(op), how};
  description.insert(description.end(), operands.begin(), operands.end());
  return intern(std::move(description));
}

// A blend is the set of what is in it, so that the order of the parts does not matter.
ValueId Types::blend(ValueId a, ValueId b) {
  if (a == b) return a;
  std::vector<std::uint64_t> members;
  for (const ValueId value : {a, b}) {
    const std::vector<std::uint64_t>& description = *descriptions_[value];
    if (description.front() == tag(Make::blend)) {
      members.insert(members.end(), description.begin() + 1, description.end());
    } else {
      members.push_back(value);
    }
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  members.insert(members.begin(), tag(Make::blend));
  return intern(std::move(members));
}

ValueId Types::any(std::uint32_t number) { return intern({tag(Make::any), number}); }

const std::uint64_t* Types::operands(ValueId value) const {
  const std::vector<std::uint64_t>& description = *descriptions_[value];
  std::size_t fixed = description.size();
  if (description.front() == tag(Make::op)) fixed = 3;
  if (description.front() == tag(Make::blend)) fixed = 1;
  return description.data() + fixed;
}

// Operands have been interned before what is made of them.
std::vector<ValueId> Types::terms_of(const std::vector<ValueId>& values) const {
  std::vector<ValueId> found;
  std::vector<ValueId> left = values;
  std::unordered_set<ValueId> seen;
  while (!left.empty()) {
    const ValueId value = left.back();
    left.pop_back();
    if (!seen.insert(value).second) continue;
    found.push_back(value);
    const auto* const end = descriptions_[value]->data() + descriptions_[value]->size();
    for (const auto* o = operands(value); o != end; ++o) left.push_back(static_cast<ValueId>(*o));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<ValueId> Types::instances(const std::vector<ValueId>& terms,
                                      const std::vector<ValueId>& stands_for) {
  std::vector<ValueId> out;
  const auto instance = [&](std::uint64_t term) {
    const auto at = std::lower_bound(terms.begin(), terms.end(), term);
    SPATIALCERT_REQUIRE(at != terms.end() && *at == term, "operands come first");
    return out[static_cast<std::size_t>(at - terms.begin())];
  };
  for (const ValueId term : terms) {
    std::vector<std::uint64_t> description = *descriptions_[term];
    const auto first = operands(term) - descriptions_[term]->data();
    for (auto o = description.begin() + first; o != description.end(); ++o) *o = instance(*o);
    const auto make = static_cast<Make>(description.front());
    if (make == Make::any) {
      out.push_back(stands_for.at(description[1]));
    } else if (make == Make::blend) {
      auto all = static_cast<ValueId>(description[1]);
      for (std::size_t m = 2; m < description.size(); ++m)
        all = blend(all, static_cast<ValueId>(description[m]));
      out.push_back(all);
    } else {
      out.push_back(intern(std::move(description)));
    }
  }
  return out;
}

std::string describe(const Types& types, TypeId id) {
  const Type& type = types[id];
  const auto parts = [&] {
    std::string numbers;
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < types.dimensions()[type.dimension].parts; ++p) {
      if ((type.parts[p / 64] >> (p % 64) & 1U) == 0) continue;
      numbers += fmt::format("{}{}", count++ == 0 ? "" : ", ", p);
    }
    return fmt::format("part{} {} of {}", count == 1 ? "" : "s", numbers,
                       types.dimensions()[type.dimension].name);
  };
  switch (type.kind) {
    case Type::Kind::zero:
      return "zero";
    case Type::Kind::replicated:
      return "replicated";
    case Type::Kind::slice:
      return "a slice, " + parts();
    case Type::Kind::partial:
      return fmt::format("a partial {} over {}", type.largest ? "maximum" : "sum", parts());
    case Type::Kind::unclear:
      break;
  }
  return types.reason(id);
}

}  // namespace spatialcert::proofs::reduction
