#include "proofs/reduction/values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

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

}  // namespace

SymbolicRun::SymbolicRun(const Subject& subject, const std::vector<std::uint32_t>& position)
    : subject_(subject), contents_(subject.accesses.segments.size()) {
  for (const ir::Postcondition& post : subject.program->postconditions) {
    if (post.region.kind != ir::RegionKind::tensor) continue;
    element_ = std::max(element_, ir::size_of(subject.program->tensors[post.region.object].dtype));
  }
  // One leaf per storage, then zero, then undefined.
  for (std::uint32_t s = 0; s < subject.accesses.storages.size(); ++s)
    add_node({NodeKind::input, s, 0, 0});
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

std::uint32_t SymbolicRun::add_node(Node node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

ValueRef SymbolicRun::sum(std::vector<Summand> parts) {
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
    if (n.count == parts.size() &&
        std::equal(parts.begin(), parts.end(), summands_.begin() + n.first)) {
      return {at->second, 0};
    }
  }
  const auto first = static_cast<std::uint32_t>(summands_.size());
  summands_.insert(summands_.end(), parts.begin(), parts.end());
  const std::uint32_t node =
      add_node({NodeKind::sum, 0, first, static_cast<std::uint32_t>(parts.size())});
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

std::vector<Piece> SymbolicRun::result(const ir::Stage& stage,
                                       const std::vector<std::vector<Piece>>& operands,
                                       std::uint32_t transition, std::uint64_t length) {
  const auto weights = factors(stage, operands.size());
  const bool same_length = std::all_of(operands.begin(), operands.end(),
                                       [&](const auto& o) { return length_of(o) == length; });
  if (!weights || !same_length)
    return {{length, {add_node({NodeKind::opaque, transition, 0, 0}), 0}}};
  std::set<std::uint64_t> cuts{length};
  for (const auto& operand : operands) {
    std::uint64_t at = 0;
    for (const Piece& p : operand) cuts.insert(at += p.length);
  }
  std::vector<Piece> out;
  std::uint64_t at = 0;
  bool whole_elements = true;
  for (const std::uint64_t cut : cuts) {
    std::vector<Summand> parts;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      std::vector<Piece> piece;
      slice(operands[o], at, cut, piece);
      SPATIALCERT_REQUIRE(piece.size() == 1, "cut at all ends of all operands");
      whole_elements &= begins_an_element(piece[0].value);
      parts.push_back({piece[0].value, (*weights)[o]});
    }
    whole_elements &= cut % element_ == 0;
    append(out, {cut - at, sum(std::move(parts))});
    at = cut;
  }
  // A copy may move parts of elements; arithmetic on a part loses the carry into the rest.
  if (stage.op != ir::OpKind::copy && !whole_elements) {
    return {{length, {add_node({NodeKind::opaque, transition, 0, 0}), 0}}};
  }
  return out;
}

/// Contents of buffers carry no type; of everything else the position tells.
bool SymbolicRun::begins_an_element(ValueRef value) const {
  const Node& n = nodes_[value.node];
  const bool typed = n.kind == NodeKind::sum ||
                     (n.kind == NodeKind::input &&
                      subject_.accesses.storages[n.subject].kind == ir::Storage::Kind::tensor);
  return !typed || value.offset % element_ == 0;
}

void SymbolicRun::perform(std::uint32_t transition, std::uint32_t first, std::uint32_t end) {
  const auto& accesses = subject_.accesses.accesses;
  const auto& stage =
      subject_.program
          ->stages[subject_.stretch.op_of(*subject_.program, ir::TransitionId(transition)).object];
  // Several resolved accesses make up one region whose rows are not whole.
  std::vector<std::vector<Piece>> operands;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  for (std::uint32_t a = first; a < end;) {
    std::uint32_t next = a + 1;
    while (next < end && accesses[next].access == accesses[a].access) ++next;
    if (accesses[a].write) {
      writes.emplace_back(a, next);
    } else {
      operands.push_back(gather(a, next));
    }
    a = next;
  }
  std::vector<std::vector<Piece>> results;
  for (const auto& [low, high] : writes) {
    std::uint64_t length = 0;
    for (std::uint32_t a = low; a < high; ++a)
      length += (accesses[a].high - accesses[a].low) * unit(accesses[a].storage);
    results.push_back(result(stage, operands, transition, length));
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

Combination SymbolicRun::combination(ValueRef value) const {
  Combination out;
  // Children have smaller node numbers than their sum, so going through the values from the largest
  // down adds up every factor before it is passed on.
  std::map<ValueRef, std::int64_t, std::greater<>> pending{{value, 1}};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> leaves;
  while (!pending.empty()) {
    const auto [at, factor] = *pending.begin();
    pending.erase(pending.begin());
    const Node& n = nodes_[at.node];
    if (n.kind == NodeKind::opaque) out.opaque = n.subject;
    out.undefined |= n.kind == NodeKind::undefined;
    if (n.kind == NodeKind::input) leaves[{n.subject, at.offset}] += factor;
    if (n.kind != NodeKind::sum) continue;
    for (std::uint32_t i = n.first; i < n.first + n.count; ++i) {
      std::int64_t product = 0;
      std::int64_t& total =
          pending[{summands_[i].value.node, summands_[i].value.offset + at.offset}];
      out.overflow |= __builtin_mul_overflow(factor, summands_[i].factor, &product) ||
                      __builtin_add_overflow(total, product, &total);
    }
  }
  for (const auto& [leaf, factor] : leaves) {
    if (factor != 0) out.terms.push_back({leaf.first, leaf.second, factor});
  }
  return out;
}

namespace {

/// The part of a region from one of its bytes on, up to `end`: byte `at` of the region is byte
/// `base + at` of the storage. `base` may wrap around zero.
struct Part {
  std::uint64_t end = 0;
  std::uint32_t storage = 0;
  std::uint64_t base = 0;
};

std::vector<Part> parts_of(const Subject& subject, const SymbolicRun& run,
                           const ir::Region& region) {
  std::vector<Part> out;
  std::uint64_t at = 0;
  for (const auto& p : subject.accesses.locate(*subject.program, region)) {
    const std::uint64_t unit = run.unit(p.storage);
    const std::uint64_t base = p.low * unit - at;
    at += (p.high - p.low) * unit;
    out.push_back({at, p.storage, base});
  }
  return out;
}

/// What the bytes of a postcondition's region must hold. In a stretch of bytes in which no part of
/// any term ends, it is one list of terms whose offsets are relative to the region's first byte;
/// equal lists are kept once, over all postconditions, and known by their index.
class Expectations {
 public:
  struct Stretch {
    std::uint64_t end = 0;  ///< first byte of the region after it
    std::uint32_t list = 0;
  };

  std::vector<Stretch> stretches(const Subject& subject, const SymbolicRun& run,
                                 const ir::Postcondition& post) {
    std::vector<std::vector<Part>> terms;
    std::set<std::uint64_t> ends;
    for (const ir::Region& term : post.terms) {
      terms.push_back(parts_of(subject, run, term));
      for (const Part& part : terms.back()) ends.insert(part.end);
    }
    std::vector<std::size_t> current(terms.size(), 0);
    std::vector<Stretch> out;
    for (const std::uint64_t end : ends) {
      std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> sum;
      for (std::size_t t = 0; t < terms.size(); ++t) {
        if (current[t] == terms[t].size()) continue;
        const Part& part = terms[t][current[t]];
        ++sum[{part.storage, part.base}];
        if (part.end == end) ++current[t];
      }
      out.push_back({end, intern(sum)});
    }
    return out;
  }

  /// The terms of a list at a byte of the region, by (storage, offset).
  [[nodiscard]] std::vector<Term> at(std::uint32_t list, std::uint64_t byte) const {
    std::vector<Term> out = *lists_[list];
    for (Term& term : out) term.offset += byte;
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::uint32_t intern(const std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t>& sum) {
    std::vector<Term> list;
    for (const auto& [key, factor] : sum) list.push_back({key.first, key.second, factor});
    const auto [entry, fresh] =
        index_.emplace(std::move(list), static_cast<std::uint32_t>(lists_.size()));
    if (fresh) lists_.push_back(&entry->first);
    return entry->second;
  }

  std::map<std::vector<Term>, std::uint32_t> index_;
  std::vector<const std::vector<Term>*> lists_;  // into index_, whose nodes stay in place
};

/// Collects the obligations, every distinct one once.
class Collector {
 public:
  Collector(const Subject& subject, const SymbolicRun& run) : subject_(subject), run_(run) {}

  void add(std::uint32_t index, const ir::Postcondition& post) {
    const auto stretches = expectations_.stretches(subject_, run_, post);
    auto stretch = stretches.begin();
    std::uint64_t at = 0;
    for (const auto& position : subject_.accesses.locate(*subject_.program, post.region)) {
      std::uint64_t low = position.low * run_.unit(position.storage);
      for (Piece piece : run_.contents(position.storage, position.low, position.high)) {
        while (piece.length > 0) {
          while (stretch != stretches.end() && stretch->end <= at) ++stretch;
          SPATIALCERT_REQUIRE(stretch != stretches.end(), "terms are as long as their region");
          const std::uint64_t step = std::min(piece.length, stretch->end - at);
          add({index, position.storage, low, low + step, piece.value, {}}, stretch->list, at);
          piece.length -= step;
          piece.value.offset += step;
          low += step;
          at += step;
        }
      }
    }
  }

  std::vector<Obligation> take() { return std::move(out_); }

 private:
  /// The same value with the same expectation at the same place needs to be shown once. `bytes` is
  /// an obligation whose range is still in bytes.
  void add(Obligation bytes, std::uint32_t list, std::uint64_t at) {
    const std::uint64_t unit = run_.unit(bytes.storage);
    const std::uint64_t length = bytes.high - bytes.low;
    std::uint64_t& longest = known_[{bytes.value, list, at}];
    if (longest >= length) return;
    longest = length;
    bytes.low /= unit;
    bytes.high /= unit;
    bytes.expected = expectations_.at(list, at);
    out_.push_back(std::move(bytes));
  }

  const Subject& subject_;
  const SymbolicRun& run_;
  Expectations expectations_;
  std::map<std::tuple<ValueRef, std::uint32_t, std::uint64_t>, std::uint64_t> known_;
  std::vector<Obligation> out_;
};

}  // namespace

std::optional<std::uint32_t> unfounded_postcondition(const Subject& subject) {
  const auto& segments = subject.accesses.segments;
  const auto external = [&](const ir::AccessMap::Position& p) {
    for (std::uint64_t at = p.low; at < p.high;) {
      const std::uint32_t s = subject.accesses.segment_at(p.storage, at);
      if (s == 0xffffffffU || segments[s].init != ir::Init::external) return false;
      at = segments[s].high;
    }
    return true;
  };
  for (std::uint32_t c = 0; c < subject.program->postconditions.size(); ++c) {
    for (const ir::Region& term : subject.program->postconditions[c].terms) {
      const auto parts = subject.accesses.locate(*subject.program, term);
      if (!std::all_of(parts.begin(), parts.end(), external)) return c;
    }
  }
  return std::nullopt;
}

std::vector<Obligation> obligations(const Subject& subject, const SymbolicRun& run) {
  Collector collector(subject, run);
  for (std::uint32_t c = 0; c < subject.program->postconditions.size(); ++c) {
    collector.add(c, subject.program->postconditions[c]);
  }
  return collector.take();
}

}  // namespace spatialcert::proofs::reduction
