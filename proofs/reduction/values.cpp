#include "proofs/reduction/values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/require.hpp"

namespace spatialcert::proofs::reduction {
namespace {

std::uint64_t length_of(const std::vector<Piece>& pieces) {
  std::uint64_t sum = 0;
  for (const Piece& p : pieces) sum += p.length;
  return sum;
}

void append(std::vector<Piece>& pieces, const Piece& piece) {
  if (!pieces.empty()) {
    Piece& last = pieces.back();
    if (last.value.node == piece.value.node &&
        last.value.offset + last.length == piece.value.offset) {
      last.length += piece.length;
      return;
    }
  }
  pieces.push_back(piece);
}

/// Bytes [low, high) of a sequence of pieces.
void slice(const std::vector<Piece>& from, std::uint64_t low, std::uint64_t high,
           std::vector<Piece>& out) {
  std::uint64_t at = 0;
  for (const Piece& p : from) {
    const std::uint64_t begin = std::max(low, at), end = std::min(high, at + p.length);
    if (begin < end) append(out, {end - begin, {p.value.node, p.value.offset + (begin - at)}});
    at += p.length;
    if (at >= high) return;
  }
}

std::uint64_t hash(const std::vector<Summand>& summands) {
  std::uint64_t h = 0x9e3779b97f4a7c15U;
  const auto mix = [&](std::uint64_t v) { h = (h ^ v) * 0xff51afd7ed558ccdU, h ^= h >> 32; };
  for (const Summand& s : summands) {
    mix(s.value.node);
    mix(s.value.offset);
    mix(static_cast<std::uint64_t>(s.factor));
  }
  return h;
}

/// The linear combination that the stage computes of its operands, or nothing: factors per operand.
std::optional<std::vector<std::int64_t>> factors(const ir::Stage& stage, std::size_t operands) {
  std::vector<std::int64_t> out(operands, 1);
  switch (stage.op) {
    case ir::OpKind::copy:
      return operands == 1 ? std::optional(out) : std::nullopt;
    case ir::OpKind::add:
      return operands >= 1 ? std::optional(out) : std::nullopt;
    case ir::OpKind::sub:
      if (operands < 2) return std::nullopt;
      std::fill(out.begin() + 1, out.end(), -1);
      return out;
    case ir::OpKind::neg:
      return operands == 1 ? std::optional(std::vector<std::int64_t>{-1}) : std::nullopt;
    case ir::OpKind::scale:
      if (operands != 1 || std::nearbyint(stage.scale) != stage.scale ||
          std::abs(stage.scale) > 1e6)
        return std::nullopt;
      return std::vector<std::int64_t>{static_cast<std::int64_t>(stage.scale)};
    default:
      return std::nullopt;
  }
}

constexpr std::uint64_t kLargestElement = 8;

}  // namespace

SymbolicRun::SymbolicRun(const Subject& subject, const std::vector<std::uint32_t>& position)
    : subject_(subject), contents_(subject.accesses.segments.size()) {
  for (const ir::Postcondition& post : subject.program->postconditions) {
    // What no tensor is part of may have elements of any size.
    const auto type = element_type(*subject.program, post);
    element_ = std::max(element_, type ? ir::size_of(*type) : kLargestElement);
  }
  // One leaf per storage, then zero, then undefined.
  for (std::uint32_t s = 0; s < subject.accesses.storages.size(); ++s)
    add_node({NodeKind::input, s, 0, 0, type_of(s)});
  const std::uint32_t zero = add_node({NodeKind::zero, 0, 0, 0});
  const std::uint32_t undefined = add_node({NodeKind::undefined, 0, 0, 0});
  for (std::size_t i = 0; i < contents_.size(); ++i) {
    const ir::Segment& segment = subject.accesses.segments[i];
    const std::uint64_t bytes = unit(segment.storage);
    const bool external = segment.init == ir::Init::external;
    const std::uint32_t node = external                         ? segment.storage
                               : segment.init == ir::Init::zero ? zero
                                                                : undefined;
    contents_[i] = {
        {(segment.high - segment.low) * bytes, {node, external ? segment.low * bytes : 0}}};
  }
  std::vector<std::uint32_t> begin(subject.stretch.transitions() + 1, 0);
  for (const ir::ResolvedAccess& a : subject.accesses.accesses) ++begin[a.transition.value() + 1];
  for (std::size_t t = 1; t < begin.size(); ++t) begin[t] += begin[t - 1];
  std::vector<std::uint32_t> sequence(position.size());
  for (std::uint32_t t = 0; t < position.size(); ++t) sequence[position[t]] = t;
  for (const std::uint32_t t : sequence) {
    if (begin[t] != begin[t + 1]) perform(t, begin[t], begin[t + 1]);
  }
}

std::uint64_t SymbolicRun::unit(std::uint32_t storage) const {
  const ir::Storage& s = subject_.accesses.storages[storage];
  return s.kind == ir::Storage::Kind::tensor
             ? ir::size_of(subject_.program->tensors[s.object].dtype)
             : 1;
}

std::optional<ir::DType> SymbolicRun::type_of(std::uint32_t storage) const {
  const ir::Storage& s = subject_.accesses.storages[storage];
  if (s.kind != ir::Storage::Kind::tensor) return std::nullopt;
  return subject_.program->tensors[s.object].dtype;
}

std::uint32_t SymbolicRun::add_node(Node node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

ValueRef SymbolicRun::sum(std::vector<Summand> parts, const Node& as) {
  std::erase_if(parts, [&](const Summand& s) {
    return s.factor == 0 || nodes_[s.value.node].kind == NodeKind::zero;
  });
  std::sort(parts.begin(), parts.end());
  if (parts.empty()) return {static_cast<std::uint32_t>(subject_.accesses.storages.size()), 0};
  if (parts.size() == 1 && parts[0].factor == 1) return parts[0].value;
  const std::uint64_t key = hash(parts);
  const auto [low, high] = sums_.equal_range(key);
  for (auto at = low; at != high; ++at) {
    const Node& n = nodes_[at->second];
    if (n.count == parts.size() && n.type == as.type &&
        std::equal(parts.begin(), parts.end(), summands_.begin() + n.first)) {
      return {at->second, 0};
    }
  }
  const auto first = static_cast<std::uint32_t>(summands_.size());
  summands_.insert(summands_.end(), parts.begin(), parts.end());
  const std::uint32_t node = add_node(
      {NodeKind::sum, as.subject, first, static_cast<std::uint32_t>(parts.size()), as.type});
  sums_.emplace(key, node);
  return {node, 0};
}

std::vector<Piece> SymbolicRun::gather(std::uint32_t first, std::uint32_t end) const {
  std::vector<Piece> out;
  for (std::uint32_t a = first; a < end; ++a) {
    const ir::ResolvedAccess& access = subject_.accesses.accesses[a];
    for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s) {
      for (const Piece& p : contents_[s]) append(out, p);
    }
  }
  return out;
}

void SymbolicRun::write(std::uint32_t first, std::uint32_t end, const std::vector<Piece>& value) {
  std::uint64_t at = 0;
  for (std::uint32_t a = first; a < end; ++a) {
    const ir::ResolvedAccess& access = subject_.accesses.accesses[a];
    for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s) {
      const ir::Segment& segment = subject_.accesses.segments[s];
      const std::uint64_t bytes = (segment.high - segment.low) * unit(segment.storage);
      contents_[s].clear();
      slice(value, at, at + bytes, contents_[s]);
      at += bytes;
    }
  }
}

std::vector<Piece> SymbolicRun::result(const Run& run, std::uint64_t length) {
  const auto& operands = run.operands;
  const auto opaque = [&]() -> std::vector<Piece> {
    return {{length, {add_node({NodeKind::opaque, run.transition, 0, 0}), 0}}};
  };
  const auto weights = factors(*run.stage, operands.size());
  const bool same_length = std::all_of(operands.begin(), operands.end(),
                                       [&](const auto& o) { return length_of(o) == length; });
  if (!weights || !same_length) return opaque();
  if (run.stage->op == ir::OpKind::copy) return operands.front();
  Node as{NodeKind::sum, run.transition, 0, 0};
  for (const ir::DType type : run.types) {
    if (as.type.value_or(type) != type) return opaque();
    as.type = type;
  }
  auto sum = weighted(*weights, operands, length, as);
  return sum ? std::move(*sum) : opaque();
}

std::optional<std::vector<Piece>> SymbolicRun::weighted(
    const std::vector<std::int64_t>& weights, const std::vector<std::vector<Piece>>& operands,
    std::uint64_t length, const Node& as) {
  const std::uint64_t element = as.type ? ir::size_of(*as.type) : element_;
  std::set<std::uint64_t> cuts{length};
  for (const auto& operand : operands) {
    std::uint64_t at = 0;
    for (const Piece& p : operand) cuts.insert(at += p.length);
  }
  std::vector<Piece> out;
  std::uint64_t at = 0;
  for (const std::uint64_t cut : cuts) {
    // Arithmetic on a part of an element loses the carry into the rest.
    if (cut % element != 0) return std::nullopt;
    std::vector<Summand> parts;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      std::vector<Piece> piece;
      slice(operands[o], at, cut, piece);
      SPATIALCERT_REQUIRE(piece.size() == 1, "cut at all ends of all operands");
      if (!begins_an_element(piece[0].value, element)) return std::nullopt;
      parts.push_back({piece[0].value, weights[o]});
    }
    append(out, {cut - at, sum(std::move(parts), as)});
    at = cut;
  }
  return out;
}

/// Contents of buffers carry no type; of everything else the position tells.
bool SymbolicRun::begins_an_element(ValueRef value, std::uint64_t element) const {
  const Node& n = nodes_[value.node];
  const bool typed = n.kind == NodeKind::sum ||
                     (n.kind == NodeKind::input &&
                      subject_.accesses.storages[n.subject].kind == ir::Storage::Kind::tensor);
  return !typed || value.offset % element == 0;
}

void SymbolicRun::perform(std::uint32_t transition, std::uint32_t first, std::uint32_t end) {
  const auto& accesses = subject_.accesses.accesses;
  Run run;
  run.transition = transition;
  run.stage =
      &subject_.program
           ->stages[subject_.stretch.op_of(*subject_.program, ir::TransitionId(transition)).object];
  // Several resolved accesses make up one region whose rows are not whole.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  for (std::uint32_t a = first; a < end;) {
    std::uint32_t next = a + 1;
    while (next < end && accesses[next].access == accesses[a].access) ++next;
    if (const auto type = type_of(accesses[a].storage)) run.types.push_back(*type);
    if (accesses[a].write) {
      writes.emplace_back(a, next);
    } else {
      run.operands.push_back(gather(a, next));
      for (const Piece& p : run.operands.back()) {
        if (const auto type = nodes_[p.value.node].type) run.types.push_back(*type);
      }
    }
    a = next;
  }
  std::vector<std::vector<Piece>> results;
  for (const auto& [low, high] : writes) {
    std::uint64_t length = 0;
    for (std::uint32_t a = low; a < high; ++a)
      length += (accesses[a].high - accesses[a].low) * unit(accesses[a].storage);
    results.push_back(result(run, length));
  }
  for (std::size_t w = 0; w < writes.size(); ++w)
    write(writes[w].first, writes[w].second, results[w]);
}

std::vector<Piece> SymbolicRun::contents(std::uint32_t storage, std::uint64_t low,
                                         std::uint64_t high) const {
  std::vector<Piece> out;
  const std::uint64_t bytes = unit(storage);
  const auto& segments = subject_.accesses.segments;
  while (low < high) {
    const std::uint32_t s = subject_.accesses.segment_at(storage, low);
    if (s ==
        0xffffffffU) {  // nothing touches this location: up to the next segment, it is undefined
      const auto next =
          std::partition_point(segments.begin(), segments.end(), [&](const ir::Segment& x) {
            return x.storage < storage || (x.storage == storage && x.low <= low);
          });
      const std::uint64_t end =
          next != segments.end() && next->storage == storage ? std::min(high, next->low) : high;
      append(out, {(end - low) * bytes,
                   {static_cast<std::uint32_t>(subject_.accesses.storages.size()) + 1, 0}});
      low = end;
      continue;
    }
    const ir::Segment& segment = subject_.accesses.segments[s];
    const std::uint64_t end = std::min(high, segment.high);
    std::vector<Piece> part;
    slice(contents_[s], (low - segment.low) * bytes, (end - segment.low) * bytes, part);
    for (const Piece& p : part) append(out, p);
    low = end;
  }
  return out;
}

bool SymbolicRun::mistyped(ValueRef value, std::optional<ir::DType> type) const {
  const Node& n = nodes_[value.node];
  return n.kind == NodeKind::sum && type && n.type && *type != *n.type;
}

Combination SymbolicRun::combination(ValueRef value, std::optional<ir::DType> type) const {
  Combination out;
  if (mistyped(value, type)) out.opaque = nodes_[value.node].subject;
  // Children have smaller node numbers than their sum, so going through the sums from the largest
  // down adds up every factor before it is passed on. Most children are initial contents: they are
  // added up at the end.
  std::map<ValueRef, std::int64_t, std::greater<>> pending{{value, 1}};
  std::vector<Term> leaves;
  while (!pending.empty()) {
    const auto [at, factor] = *pending.begin();
    pending.erase(pending.begin());
    const Node& n = nodes_[at.node];
    if (n.kind == NodeKind::opaque) out.opaque = n.subject;
    out.undefined |= n.kind == NodeKind::undefined;
    if (n.kind == NodeKind::input) leaves.push_back({n.subject, at.offset, factor});
    if (n.kind != NodeKind::sum) continue;
    for (std::uint32_t i = n.first; i < n.first + n.count; ++i) {
      const ValueRef child{summands_[i].value.node, summands_[i].value.offset + at.offset};
      std::int64_t product = 0;
      out.overflow |= __builtin_mul_overflow(factor, summands_[i].factor, &product);
      const Node& below = nodes_[child.node];
      if (below.kind == NodeKind::input) {
        leaves.push_back({below.subject, child.offset, product});
        continue;
      }
      std::int64_t& total = pending[child];
      out.overflow |= __builtin_add_overflow(total, product, &total);
    }
  }
  std::sort(leaves.begin(), leaves.end());
  for (const Term& leaf : leaves) {
    const bool same = !out.terms.empty() && out.terms.back().storage == leaf.storage &&
                      out.terms.back().offset == leaf.offset;
    if (!same) out.terms.push_back({leaf.storage, leaf.offset, 0});
    std::int64_t& total = out.terms.back().factor;
    out.overflow |= __builtin_add_overflow(total, leaf.factor, &total);
  }
  std::erase_if(out.terms, [](const Term& term) { return term.factor == 0; });
  return out;
}

}  // namespace spatialcert::proofs::reduction
