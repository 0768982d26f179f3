#include "proofs/shard/misplaced.hpp"

#include <algorithm>
#include <vector>

namespace spatialcert::proofs::shard {
namespace {

bool chips_are_joined(const ir::Program& program) {
  const auto& handoffs = program.target.handoffs;
  return std::any_of(handoffs.begin(), handoffs.end(),
                     [](const ir::Handoff& h) { return h.crosses_chips; });
}

std::uint32_t chip_of(const ir::Program& program, const AccessText& at) {
  return program.programs[at.program].site.chip;
}

/// The tensor that is touched, views resolved; nothing if it is no tensor.
std::optional<std::uint32_t> tensor_of(const ir::Program& program, const AccessText& at) {
  const ir::Region& region = program.accesses[at.access].region;
  if (region.kind != ir::RegionKind::tensor) return std::nullopt;
  std::uint32_t tensor = region.object;
  while (program.tensors[tensor].view) tensor = program.tensors[tensor].view->base.value();
  return tensor;
}

bool foreign(const ir::Program& program, const AccessText& at) {
  const auto tensor = tensor_of(program, at);
  if (!tensor || !program.tensors[*tensor].owner) return false;
  if (*program.tensors[*tensor].owner == chip_of(program, at)) return false;
  const ir::Op& op = program.programs[at.program].ops[at.op];
  const ir::StageKind kind = program.stages[op.object].kind;
  const bool travels = kind == ir::StageKind::copy || kind == ir::StageKind::allreduce;
  return !travels || !chips_are_joined(program);
}

/// Two chips meet in a tensor that belongs to none, and nothing joins them.
bool apart(const ir::Program& program, const AccessText& write, const AccessText& other) {
  if (chips_are_joined(program) || !program.accesses[write.access].write) return false;
  const auto tensor = tensor_of(program, write);
  return tensor && !program.tensors[*tensor].owner && tensor == tensor_of(program, other) &&
         chip_of(program, write) != chip_of(program, other);
}

/// Calls `each` for the accesses of all runs until it returns true.
template <typename Each>
void visit(const ir::Program& program, const Each& each) {
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    const auto& ops = program.programs[p].ops;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      for (std::uint32_t a = 0; a < ops[o].accesses; ++a) {
        if (each(AccessText{p, o, ops[o].first_access + a})) return;
      }
    }
  }
}

}  // namespace

std::optional<Misplaced> misplaced(const ir::Program& program) {
  std::optional<Misplaced> found;
  std::vector<std::optional<AccessText>> writer(program.tensors.size());
  visit(program, [&](const AccessText& at) {
    if (foreign(program, at)) found = Misplaced{at, std::nullopt};
    const auto tensor = tensor_of(program, at);
    if (tensor && program.accesses[at.access].write && !writer[*tensor]) writer[*tensor] = at;
    return found.has_value();
  });
  if (found || chips_are_joined(program)) return found;
  visit(program, [&](const AccessText& at) {
    const auto tensor = tensor_of(program, at);
    if (tensor && writer[*tensor] && apart(program, *writer[*tensor], at))
      found = Misplaced{*writer[*tensor], at};
    return found.has_value();
  });
  return found;
}

bool is_misplaced(const ir::Program& program, const Misplaced& accesses) {
  return accesses.other ? apart(program, accesses.access, *accesses.other)
                        : foreign(program, accesses.access);
}

}  // namespace spatialcert::proofs::shard
