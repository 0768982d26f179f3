#include "compose/parallel/fusion.hpp"

#include <fmt/format.h>

#include "compose/parallel/text.hpp"

namespace spatialcert::compose::parallel {

std::optional<Refused> check_fusion(const SourceOp& op, const Sharding& sharding) {
  if (op.members.size() < 2) return std::nullopt;
  const Statement& first = op.members.front();
  const auto owner = sharding.owner(first.name);
  for (const Statement& member : op.members) {
    const Statement& other = &member == &first ? op.members[1] : first;
    if (sharding.collective_of(member.name)) {
      return Refused{RefusalReason::fused_fold,
                     fmt::format("\"{}\" is a fold of a collective and is fused with \"{}\"",
                                 member.name, other.name),
                     "leave folds alone: one section replaces them all"};
    }
    const auto own = sharding.owner(member.name);
    if (own == owner) continue;
    return Refused{RefusalReason::mixed_owners,
                   fmt::format("\"{}\" of {} and \"{}\" of {} are fused", first.name,
                               owner_text(owner), member.name, owner_text(own)),
                   "fuse statements of one chip, or of the spine"};
  }
  return std::nullopt;
}

std::optional<Refused> check_fusions(const Manifest& manifest) {
  const Sharding sharding(manifest);
  for (const SourceOp& op : manifest.statements) {
    if (auto refused = check_fusion(op, sharding)) return refused;
  }
  return std::nullopt;
}

}  // namespace spatialcert::compose::parallel
