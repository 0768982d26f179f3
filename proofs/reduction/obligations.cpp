// What the postconditions ask of the final contents of a run.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ir/require.hpp"
#include "proofs/reduction/values.hpp"

namespace spatialcert::proofs::reduction {
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
    const auto type = element_type(*subject_.program, post);
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
          add({index, position.storage, low, low + step, piece.value, {}, type}, stretch->list, at);
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
  /// The same value with the same expectation at the same place needs to be shown once: value and
  /// expectation go on alike, so a longer piece asks no more than a shorter one. `bytes` is an
  /// obligation whose range is still in bytes.
  void add(Obligation bytes, std::uint32_t list, std::uint64_t at) {
    if (!known_.insert({bytes.value, bytes.type, list, at}).second) return;
    const std::uint64_t unit = run_.unit(bytes.storage);
    bytes.low /= unit;
    bytes.high /= unit;
    bytes.expected = expectations_.at(list, at);
    out_.push_back(std::move(bytes));
  }

  const Subject& subject_;
  const SymbolicRun& run_;
  Expectations expectations_;
  std::set<std::tuple<ValueRef, std::optional<ir::DType>, std::uint32_t, std::uint64_t>> known_;
  std::vector<Obligation> out_;
};

}  // namespace

std::optional<ir::DType> element_type(const ir::Program& program, const ir::Postcondition& post) {
  if (post.region.kind == ir::RegionKind::tensor) return program.tensors[post.region.object].dtype;
  for (const ir::Region& term : post.terms) {
    if (term.kind == ir::RegionKind::tensor) return program.tensors[term.object].dtype;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> unfounded_postcondition(const Subject& subject) {
  const auto& segments = subject.accesses.segments;
  // Terms recur in many postconditions. What was found not to be given ends the search.
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> walked;
  const auto external = [&](const ir::AccessMap::Position& p) {
    if (!walked.insert({p.storage, p.low, p.high}).second) return true;
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
