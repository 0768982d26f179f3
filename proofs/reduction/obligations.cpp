// What the postconditions ask of the final contents of a run.
#include <algorithm>
#include <map>
#include <set>

#include "proofs/reduction/values.hpp"

namespace spatialcert::proofs::reduction {
namespace {

/// Terms of a postcondition as (storage, first byte) per part of its region, in order.
struct Parts {
  std::vector<ir::AccessMap::Position> positions;
};

/// The expected terms of the region's bytes beginning at `at`.
std::vector<Term> expected_at(const SymbolicRun& run, const std::vector<Parts>& terms,
                              std::uint64_t at) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> sum;
  for (const Parts& term : terms) {
    std::uint64_t passed = 0;
    for (const auto& p : term.positions) {
      const std::uint64_t bytes = (p.high - p.low) * run.unit(p.storage);
      if (at < passed + bytes) {
        ++sum[{p.storage, p.low * run.unit(p.storage) + (at - passed)}];
        break;
      }
      passed += bytes;
    }
  }
  std::vector<Term> out;
  for (const auto& [key, factor] : sum) out.push_back({key.first, key.second, factor});
  return out;
}

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
  std::vector<Obligation> out;
  std::map<ValueRef, std::vector<std::size_t>> known;
  for (std::uint32_t c = 0; c < subject.program->postconditions.size(); ++c) {
    const ir::Postcondition& post = subject.program->postconditions[c];
    const auto type = element_type(*subject.program, post);
    std::vector<Parts> terms;
    std::set<std::uint64_t> cuts;  // bytes at which a part of the region or of a term ends
    const auto parts = [&](const ir::Region& region) {
      Parts p{subject.accesses.locate(*subject.program, region)};
      std::uint64_t at = 0;
      for (const auto& position : p.positions)
        cuts.insert(at += (position.high - position.low) * run.unit(position.storage));
      return p;
    };
    const Parts region = parts(post.region);
    for (const ir::Region& term : post.terms) terms.push_back(parts(term));
    std::uint64_t at = 0;
    for (const auto& position : region.positions) {
      const std::uint64_t unit = run.unit(position.storage);
      std::uint64_t low = position.low * unit;
      for (Piece piece : run.contents(position.storage, position.low, position.high)) {
        while (piece.length > 0) {
          const std::uint64_t step = std::min(piece.length, *cuts.upper_bound(at) - at);
          Obligation o{c,           position.storage,
                       low / unit,  (low + step) / unit,
                       piece.value, expected_at(run, terms, at),
                       type};
          auto& same = known[piece.value];
          const bool listed = std::any_of(same.begin(), same.end(), [&](std::size_t i) {
            return out[i].expected == o.expected && out[i].type == o.type &&
                   out[i].high - out[i].low >= o.high - o.low;
          });
          if (!listed) {
            same.push_back(out.size());
            out.push_back(std::move(o));
          }
          piece.length -= step;
          piece.value.offset += step;
          low += step;
          at += step;
        }
      }
    }
  }
  return out;
}

}  // namespace spatialcert::proofs::reduction
