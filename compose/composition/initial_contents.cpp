#include "compose/composition/initial_contents.hpp"

#include <algorithm>

namespace spatialcert::compose {
namespace {

template <typename Object>
void share_with_views(const std::vector<Object>& objects, std::vector<Use>& uses) {
  for (std::uint32_t i = 0; i < objects.size(); ++i) {
    Use& root = uses[root_of(objects, i)];
    root.read = root.read || uses[i].read;
    root.written = root.written || uses[i].written;
  }
  for (std::uint32_t i = 0; i < objects.size(); ++i) uses[i] = uses[root_of(objects, i)];
}

bool agrees(const InitClaim& claim, ir::Init init, bool carried) {
  // A zero that an earlier section has overwritten is none, unless it is the token's before.
  if (claim.written_earlier && !carried && claim.init == ir::Init::zero) return false;
  if (claim.init == init) return true;
  if (claim.init == ir::Init::external) return claim.written_earlier;
  return claim.init == ir::Init::undefined && (claim.written_earlier || !claim.use.read);
}

}  // namespace

ObjectUses::ObjectUses(const ir::Program& section)
    : tensors(section.tensors.size()), buffers(section.buffers.size()) {
  for (const ir::EngineProgram& program : section.programs) {
    for (const ir::Op& op : program.ops) {
      if (op.code != ir::OpCode::run) continue;
      for (std::uint32_t a = 0; a < op.accesses; ++a) {
        const ir::Access& access = section.accesses[op.first_access + a];
        auto& uses = access.region.kind == ir::RegionKind::tensor ? tensors : buffers;
        Use& use = uses[access.region.object];
        (access.write ? use.written : use.read) = true;
      }
    }
  }
  share_with_views(section.tensors, tensors);
  share_with_views(section.buffers, buffers);
}

InitDecision decide_init(const std::vector<InitClaim>& claims, bool carried) {
  const InitClaim* chosen = &claims.front();
  if (carried) {
    const auto reader = std::find_if(claims.begin(), claims.end(),
                                     [](const InitClaim& claim) { return claim.use.read; });
    if (reader != claims.end()) chosen = &*reader;
  }
  InitDecision decision{chosen->init, chosen->section, std::nullopt};
  if (!carried && chosen->written_earlier && chosen->init == ir::Init::external)
    decision.init = ir::Init::undefined;
  const auto against = std::find_if(claims.begin(), claims.end(), [&](const InitClaim& claim) {
    return !agrees(claim, decision.init, carried);
  });
  if (against != claims.end()) decision.contradicted_by = *against;
  return decision;
}

}  // namespace spatialcert::compose
