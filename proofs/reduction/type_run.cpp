#include "proofs/reduction/type_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace spatialcert::proofs::reduction {
namespace {

using TypeKind = Type::Kind;

/// Bounds 2k and 2k + 1 of a region: their distance, if it is the same in every trip.
std::optional<std::uint64_t> extent(const ir::Program& program, const ir::Region& region, int k) {
  std::int64_t length = 0;
  if (__builtin_sub_overflow(region.bound[2 * k + 1], region.bound[2 * k], &length) || length < 0)
    return std::nullopt;
  std::vector<std::int64_t> moves;
  for (std::uint32_t i = region.first_term; i < region.first_term + region.terms; ++i) {
    const ir::AffineTerm& term = program.affine_terms[i];
    if (term.bound / 2 != k) continue;
    if (moves.size() <= term.level) moves.resize(term.level + 1U, 0);
    std::int64_t& move = moves[term.level];
    const bool overflows = term.bound % 2 == 0
                               ? __builtin_sub_overflow(move, term.coefficient, &move)
                               : __builtin_add_overflow(move, term.coefficient, &move);
    if (overflows) return std::nullopt;
  }
  if (std::any_of(moves.begin(), moves.end(), [](std::int64_t move) { return move != 0; }))
    return std::nullopt;
  return static_cast<std::uint64_t>(length);
}

/// Of an integer type.
ir::ValueRange values_of(ir::DType type) {
  const auto bits = static_cast<unsigned>(8 * ir::size_of(type));
  const auto largest = static_cast<std::int64_t>(~std::uint64_t{0} >> (65U - bits));
  return {-largest - 1, largest};
}

}  // namespace

TypeRun::TypeRun(const ir::Program& program, const ir::Program& text, const ir::Unrolled& unrolled,
                 const ir::AccessMap& accesses)
    : program_(program),
      text_(text),
      unrolled_(unrolled),
      accesses_(accesses),
      dataflow_(program, unrolled, accesses),
      own_(std::in_place, program),
      types_(*own_) {
  for (std::uint32_t s = 0; s < accesses.segments.size(); ++s) initial_.push_back(initial(s));
  contents_ = initial_;
  fresh_.assign(contents_.size(), 0);
}

TypeRun::TypeRun(Types& types, const Declared& declared, const ir::Program& program,
                 const ir::Unrolled& unrolled, const ir::AccessMap& accesses,
                 std::vector<TypeId> contents)
    : program_(program),
      text_(program),
      unrolled_(unrolled),
      accesses_(accesses),
      dataflow_(program, unrolled, accesses),
      types_(types),
      declared_(&declared),
      contents_(std::move(contents)),
      fresh_(contents_.size(), 0) {}

std::uint32_t TypeRun::base_of(std::uint32_t tensor) const {
  while (program_.tensors[tensor].view) tensor = program_.tensors[tensor].view->base.value();
  return tensor;
}

TypeId TypeRun::initial(std::uint32_t segment) {
  const ir::Segment& s = accesses_.segments[segment];
  const ir::Storage& storage = accesses_.storages[s.storage];
  if (storage.kind != ir::Storage::Kind::tensor)
    return untouched(types_, s.init, std::nullopt, program_);
  const Types::Declared& slice = declared(storage.object);
  if (slice.is()) return types_.slice(slice, types_.full_value(slice.sliced));
  return untouched(types_, s.init, storage.object, program_);
}

TypeId TypeRun::untouched(Types& types, ir::Init init, const std::optional<std::uint32_t>& tensor,
                          const ir::Program& program) {
  if (init == ir::Init::zero) return Types::kZero;
  if (init == ir::Init::undefined) return types.unclear("contents that nothing wrote");
  if (!tensor) return types.unclear("a buffer that the host fills is no declared slice");
  const ir::Tensor& its = program.tensors[*tensor];
  if (!its.owner) return types.replicated(types.tensor_value(*tensor));
  return types.unclear(
      fmt::format("{} belongs to chip {} and is no declared slice", its.name, *its.owner));
}

void TypeRun::find_regions(std::uint32_t t) {
  reads_.clear();
  writes_.clear();
  for (std::uint32_t a = dataflow_.begin(t); a < dataflow_.begin(t + 1); ++a) {
    const ir::ResolvedAccess& access = accesses_.accesses[a];
    std::vector<Region>& list = access.write ? writes_ : reads_;
    // Several resolved accesses make up one region whose rows are not whole.
    if (list.empty() || list.back().access != access.access) list.push_back({access.access, {}});
    for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s)
      list.back().segments.push_back(s);
  }
}

Shape TypeRun::shape_of(std::uint32_t access) const {
  const ir::Region& region = text_.accesses[access].region;
  const auto first = extent(text_, region, 0);
  if (region.kind == ir::RegionKind::tensor) {
    const auto second = extent(text_, region, 1);
    return first && second ? Shape{*first, *second} : Shape{};
  }
  const auto& tile = text_.buffers[region.object].tile;
  if (!tile || !first) return {};
  // Bytes of a tile are a matrix if they are whole rows of it or lie in one of them.
  const std::uint64_t element = ir::size_of(tile->dtype);
  const std::uint64_t row = tile->cols * element;
  const auto low = static_cast<std::uint64_t>(region.bound[0]);
  bool steps_by_rows = true;
  for (std::uint32_t i = region.first_term; i < region.first_term + region.terms; ++i) {
    steps_by_rows =
        steps_by_rows && text_.affine_terms[i].coefficient % static_cast<std::int64_t>(row) == 0;
  }
  if (!steps_by_rows || region.bound[0] < 0) return {};
  if (low % row == 0 && *first % row == 0) return {*first / row, tile->cols};
  if (low / row == (low + *first - 1) / row && *first % element == 0) return {1, *first / element};
  return {};
}

TypeId TypeRun::seen_through(std::uint32_t access, TypeId type) {
  if (types_[type].kind != TypeKind::slice) return type;
  const ir::Region& region = text_.accesses[access].region;
  const Shape shape = shape_of(access);
  Type out = types_[type];
  if (region.kind == ir::RegionKind::tensor) {
    const Types::Declared& slice = declared(region.object);
    const ir::Tensor& base = text_.tensors[base_of(region.object)];
    if (slice.is() && types_.dimension_of(slice.sliced) == out.dimension &&
        types_.part(out.dimension, slice.part) == out.parts) {
      return types_.slice(slice, out.value);
    }
    if (text_.tensors[region.object].cols != base.cols)
      return reshaped(types_, type, {base.rows, base.cols}, shape);
  }
  const bool oriented = out.along == Along::rows || out.along == Along::columns;
  if (oriented && (shape.none() || out.width != width_of(region))) out.along = Along::unclear;
  out.width = 0;
  return types_.number(out);
}

std::uint64_t TypeRun::width_of(const ir::Region& region) const {
  if (region.kind == ir::RegionKind::tensor) return 0;
  const auto& tile = text_.buffers[region.object].tile;
  return tile ? tile->cols : 0;
}

TypeId TypeRun::read(const Region& region) {
  TypeId type = contents_[region.segments.front()];
  for (const std::uint32_t s : region.segments) type = blend(types_, type, contents_[s]);
  return seen_through(region.access, type);
}

std::optional<ir::DType> TypeRun::dtype_of(std::uint32_t access) const {
  const ir::Region& region = text_.accesses[access].region;
  if (region.kind == ir::RegionKind::tensor) return text_.tensors[region.object].dtype;
  const auto& tile = text_.buffers[region.object].tile;
  return tile ? std::optional(tile->dtype) : std::nullopt;
}

std::uint32_t TypeRun::range_of(std::uint32_t access, TypeId type) {
  const ir::Region& region = text_.accesses[access].region;
  if (region.kind != ir::RegionKind::tensor) return types_[type].range;
  const ir::Tensor& tensor = text_.tensors[region.object];
  if (tensor.values) return types_.number_of(*tensor.values);
  const ir::Tensor& base = text_.tensors[base_of(region.object)];
  if (base.values) return types_.number_of(*base.values);
  return tensor.dtype > ir::DType::i64 ? 0 : types_.number_of(values_of(tensor.dtype));
}

/// Unknown ones may be any.
ir::ValueRange TypeRun::values_read(std::uint32_t access, TypeId type) {
  if (const std::uint32_t range = range_of(access, type)) return types_.range(range);
  const auto dtype = dtype_of(access);
  return values_of(dtype && *dtype <= ir::DType::i64 ? *dtype : ir::DType::i64);
}

/// Elements of an op are all integers or all real numbers. Nothing if no region says which.
std::optional<bool> TypeRun::adds_integers() {
  std::optional<bool> out;
  for (const std::vector<Region>* list : {&reads_, &writes_}) {
    for (const Region& region : *list) {
      const auto dtype = dtype_of(region.access);
      const bool known = !region.segments.empty() &&
                         range_of(region.access, contents_[region.segments.front()]) != 0;
      if (known || (dtype && *dtype <= ir::DType::i64)) return true;
      if (dtype) out = false;
    }
  }
  return out;
}

TypeId TypeRun::kept_as(std::uint32_t t, const Region& written, TypeId type) {
  const ir::Region& region = text_.accesses[written.access].region;
  const Shape shape = shape_of(written.access);
  if (region.kind != ir::RegionKind::tensor) {
    if (types_[type].kind != TypeKind::slice) return type;
    Type out = types_[type];
    const bool odd = shape.none() && text_.buffers[region.object].tile;
    if (odd && out.along != Along::inside) out.along = Along::unclear;
    out.width = width_of(region);
    return types_.number(out);
  }
  const std::uint32_t base = base_of(region.object);
  const Shape of_base{text_.tensors[base].rows, text_.tensors[base].cols};
  const Shape of_view{text_.tensors[region.object].rows, text_.tensors[region.object].cols};
  const bool slice = declared(region.object).is();
  type = as_declared(t, written.segments.front(), region.object, type);
  if (region.object == base) return type;
  if (of_view.cols != of_base.cols) type = reshaped(types_, type, slice ? of_view : shape, of_base);
  return as_declared(t, written.segments.front(), base, type);
}

TypeId TypeRun::as_declared(std::uint32_t t, std::uint32_t segment, std::uint32_t tensor,
                            TypeId type) {
  const Types::Declared& slice = declared(tensor);
  const Type found = types_[type];
  if (!slice.is() || found.kind == TypeKind::zero) return type;
  const Type wanted = types_[types_.slice(slice, found.value)];
  const std::string what = fmt::format("{} is stored to {}, part {} of {}", describe(types_, type),
                                       program_.tensors[tensor].name, slice.part,
                                       types_.dimensions()[wanted.dimension].name);
  const auto unclear = [&](const std::string& why) {
    fault(TypeFault::Kind::unclear, t, segment, {Kind::mismatch, 0, why});
    return types_.unclear(why);
  };
  if (found.kind != TypeKind::slice || found.dimension != wanted.dimension) return unclear(what);
  if (found.parts != wanted.parts) {
    fault(TypeFault::Kind::violation, t, segment, {Kind::mismatch, 0, what});
    return types_.unclear(what);
  }
  const bool another_axis = (found.along == Along::rows && wanted.along == Along::columns) ||
                            (found.along == Along::columns && wanted.along == Along::rows);
  if (another_axis) return unclear(what + ", along another axis");
  return types_.slice(slice, found.value);
}

void TypeRun::receive(std::uint32_t segment, TypeId type) {
  TypeId& content = contents_[segment];
  if (std::exchange(fresh_[segment], char{0}) != 0) {
    content = type;
    return;
  }
  const auto term = [&](TypeId id) { return is_term(types_[id]); };
  blurred_ = blurred_ || (content != type && (term(content) || term(type)));
  content = blend(types_, content, type);
}

void TypeRun::write(std::uint32_t t, const Region& region, TypeId result) {
  TypeId type = kept_as(t, region, result);
  // Of a tensor it is known whenever it is read.
  if (text_.accesses[region.access].region.kind == ir::RegionKind::tensor)
    type = types_.with_range(type, 0);
  for (const std::uint32_t s : region.segments) receive(s, type);
}

void TypeRun::fault(TypeFault::Kind kind, std::uint32_t t, std::uint32_t segment,
                    Violation violation) {
  if (!fault_) fault_ = TypeFault{kind, ir::TransitionId(t), segment, std::move(violation)};
}

void TypeRun::ordinary(const OpText& op, std::uint32_t t) {
  std::vector<Operand> operands;
  std::uint32_t range = 0;  // of the last operand
  for (const Region& region : reads_) {
    const TypeId type = read(region);
    range = range_of(region.access, type);
    operands.push_back({types_.with_range(type, 0), shape_of(region.access)});
  }
  // Nothing is written before all results are known. Without writes the op may still be wrong.
  std::vector<Transferred> made;
  for (std::size_t w = 0; w < std::max<std::size_t>(writes_.size(), 1); ++w) {
    const Shape out = writes_.empty() ? Shape{} : shape_of(writes_[w].access);
    made.push_back(result_of(op, t, operands, out));
  }
  const bool copies = op.op == ir::OpKind::copy && operands.size() == 1;
  for (std::size_t w = 0; w < writes_.size(); ++w) {
    TypeId type = made[w].type;
    if (copies) {
      type = types_.with_range(
          reshaped(types_, type, operands[0].shape, shape_of(writes_[w].access)), range);
    }
    write(t, writes_[w], type);
  }
}

Transferred TypeRun::result_of(const OpText& op, std::uint32_t t, std::vector<Operand> operands,
                               Shape out) {
  for (Operand& operand : operands) {
    if (operand.shape.none() && op.op != ir::OpKind::copy)
      operand.type = reshaped(types_, operand.type, {}, out);
  }
  Transferred made = transfer(types_, op, operands, out);
  if (made.violation) {
    fault(TypeFault::Kind::violation, t, reads_[made.violation->operand].segments.front(),
          *made.violation);
    made.type = types_.unclear(made.violation->what);
  }
  if (keep_steps_) steps_.push_back({op, false, std::move(operands), out, made.type, {}, 0});
  results_.push_back(made.type);
  ++obligations_;
  return made;
}

void TypeRun::element_by_element(const OpText& op, std::uint32_t t, const shard::Step& step) {
  std::vector<TypeId> results;
  for (const shard::Part& part : step.parts) {
    StepText text{op, true, {}, {}, Types::kZero, {}, 0};
    std::vector<TypeId> operands;
    for (std::size_t o = 0; o < part.reads.size(); ++o) {
      const TypeId type = contents_[part.reads[o]];
      text.values.push_back(values_read(reads_[o].access, type));
      operands.push_back(types_.with_range(type, 0));
    }
    if (op.op != ir::OpKind::max) check_room(t, part.reads.front(), text);
    Transferred made = all_reduce(types_, op.op, operands);
    if (made.violation) {
      fault(TypeFault::Kind::violation, t, part.reads[made.violation->operand], *made.violation);
      made.type = types_.unclear(made.violation->what);
    } else if (types_[made.type].kind == TypeKind::unclear) {
      fault(TypeFault::Kind::unclear, t, part.reads.front(),
            {Kind::nonlinear, 0,
             fmt::format("an all-reduce of contents of which nothing is known: {}",
                         types_.reason(made.type))});
    }
    if (keep_steps_) {
      text.result = made.type;
      for (const TypeId type : operands) text.operands.push_back({type, {}});
      steps_.push_back(std::move(text));
    }
    results.push_back(made.type);
    ++obligations_;
  }
  results_ = results;
  TypeId all = results.front();
  for (std::size_t p = 0; p < step.parts.size(); ++p) {
    all = blend(types_, all, results[p]);
    for (const std::uint32_t s : step.parts[p].writes) {
      const ir::Storage& storage = accesses_.storages[accesses_.segments[s].storage];
      const bool tensor = storage.kind == ir::Storage::Kind::tensor;
      receive(s, tensor ? as_declared(t, s, storage.object, results[p]) : results[p]);
    }
  }
  for (const std::uint32_t s : step.mixed) receive(s, all);
}

void TypeRun::check_room(std::uint32_t t, std::uint32_t segment, StepText& step) {
  const auto integers = adds_integers();
  if (integers == false) return;
  if (!integers) {
    return fault(TypeFault::Kind::unclear, t, segment,
                 {Kind::nonlinear, 0, "an all-reduce of bytes of which nobody says the type"});
  }
  __extension__ using Wide = __int128;
  Wide least = 0, largest = 0;
  for (const ir::ValueRange& values : step.values) {  // fewer than 2^32 of them
    least += values.least;
    largest += values.largest;
  }
  ++obligations_;
  for (const Region& region : writes_) {
    const auto type = dtype_of(region.access);
    if (type && *type > ir::DType::i64) continue;
    if (!type) {
      return fault(TypeFault::Kind::unclear, t, segment,
                   {Kind::nonlinear, 0, "an all-reduce of integers into bytes without a type"});
    }
    const ir::ValueRange holds = values_of(*type);
    step.bits = static_cast<unsigned>(8 * ir::size_of(*type));
    if (least >= holds.least && largest <= holds.largest) continue;
    return fault(TypeFault::Kind::no_room, t, segment,
                 {Kind::nonlinear, 0,
                  fmt::format("{} need not hold the sum of {} operands, as far as their values are "
                              "declared; declare the values of the tensors that they are loaded "
                              "from, or add up in a wider type",
                              to_string(*type), step.values.size())});
  }
}

void TypeRun::check_store(std::uint32_t t, const Region& region) {
  for (const std::uint32_t s : region.segments) {
    if (!dataflow_.spine(s)) continue;
    ++obligations_;
    const TypeId type = contents_[s];
    const TypeKind kind = types_[type].kind;
    if (kind == TypeKind::replicated || kind == TypeKind::zero) continue;
    const std::string& name = program_.tensors[text_.accesses[region.access].region.object].name;
    if (kind == TypeKind::unclear) {
      fault(TypeFault::Kind::unclear, t, s,
            {Kind::leak, 0,
             fmt::format("{} belongs to no chip, and of what is stored to it nothing is known: {}",
                         name, types_.reason(type))});
    } else {
      fault(TypeFault::Kind::violation, t, s,
            {kind == TypeKind::partial ? Kind::missing_chip : Kind::leak, 0,
             fmt::format("{} belongs to no chip, and {} is stored to it", name,
                         describe(types_, type))});
    }
  }
}

std::optional<TypeFault> TypeRun::perform(std::uint32_t t) {
  fault_.reset();
  results_.clear();
  steps_.clear();
  find_regions(t);
  if (reads_.empty() && writes_.empty()) return std::nullopt;
  for (const Region& region : writes_) {
    for (const std::uint32_t s : region.segments) fresh_[s] = 1;
  }
  const ir::Stage& stage = program_.stages[unrolled_.op_of(program_, ir::TransitionId(t)).object];
  const OpText op{stage.op, stage.scale};
  const bool may_reduce = stage.kind == ir::StageKind::allreduce;
  const shard::Step* const step = may_reduce ? &dataflow_.step(t) : nullptr;
  if (step != nullptr && step->reduces) {
    element_by_element(op, t, *step);
  } else {
    ordinary(op, t);
  }
  for (const Region& region : writes_) {
    if (text_.accesses[region.access].region.kind == ir::RegionKind::tensor) check_store(t, region);
  }
  return fault_;
}

std::pair<std::uint32_t, std::uint32_t> TypeRun::segments_of(std::uint32_t tensor) const {
  std::uint64_t low = 0;
  for (std::uint32_t v = tensor; program_.tensors[v].view;
       v = program_.tensors[v].view->base.value())
    low += program_.tensors[v].view->offset;
  const std::uint64_t high = low + program_.tensors[tensor].rows * program_.tensors[tensor].cols;
  const std::uint32_t storage = accesses_.storage_of_tensor[tensor];
  const auto& segments = accesses_.segments;
  const auto at = [&](std::uint64_t end) {
    return static_cast<std::uint32_t>(
        std::partition_point(segments.begin(), segments.end(),
                             [&](const ir::Segment& s) {
                               return s.storage < storage || (s.storage == storage && s.low < end);
                             }) -
        segments.begin());
  };
  return {at(low), at(high)};
}

std::optional<std::string> TypeRun::rename_slices(std::uint32_t sliced,
                                                  const std::vector<char>& kept,
                                                  std::vector<char>& renamed) {
  const ir::SlicedTensor& tensor = program_.sliced[sliced];
  std::optional<ValueId> value;
  for (const ir::Slice& slice : tensor.slices) {
    const std::uint32_t t = slice.tensor.value();
    std::optional<TypeId> all;
    const auto [first, last] = segments_of(t);
    for (std::uint32_t s = first; s < last; ++s) {
      if (kept[s] == 0) continue;
      all = all ? blend(types_, *all, contents_[s]) : contents_[s];
    }
    if (!all || types_[*all].kind != TypeKind::slice) continue;
    if (value && *value != types_[*all].value) {
      return fmt::format(
          "parts of {} keep contents that are not of one full tensor, as far as "
          "types show",
          tensor.name);
    }
    value = types_[*all].value;
    const TypeId type = types_.slice(types_.declared(t), types_.full_value(sliced));
    for (std::uint32_t s = first; s < last; ++s) {
      if (kept[s] == 0 || types_[contents_[s]].kind != TypeKind::slice) continue;
      contents_[s] = type;
      renamed[s] = 1;
    }
  }
  return std::nullopt;
}

bool TypeRun::alike(TypeId a, TypeId b) const {
  Type x = types_[a], y = types_[b];
  x.value = y.value = 0;
  return x == y && (x.kind != TypeKind::unclear || a == b);
}

std::optional<std::string> TypeRun::restart(const std::vector<char>& kept) {
  std::vector<char> renamed(contents_.size(), 0);
  for (std::uint32_t s = 0; s < program_.sliced.size(); ++s) {
    if (auto why = rename_slices(s, kept, renamed)) return why;
  }
  for (std::uint32_t s = 0; s < contents_.size(); ++s) {
    const ir::Storage& storage = accesses_.storages[accesses_.segments[s].storage];
    if (kept[s] == 0) {
      contents_[s] = initial_[s];
    } else if (storage.kind == ir::Storage::Kind::tensor &&
               types_[contents_[s]].kind == TypeKind::replicated) {
      contents_[s] = types_.replicated(types_.tensor_value(storage.object));
    } else if (!renamed[s]) {
      // Of the last round: what this one makes of the same tensors is something else.
      contents_[s] = types_.kept(contents_[s], s, 0);
    }
  }
  return std::nullopt;
}

}  // namespace spatialcert::proofs::reduction
