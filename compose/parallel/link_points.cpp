#include "compose/parallel/link_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "compose/composition/initial_contents.hpp"

namespace spatialcert::compose::parallel {
namespace {

constexpr std::uint32_t kNever = 0xffffffffU;

/// By storage (a tensor that is no view): which sections touch it.
struct Touched {
  std::vector<std::uint32_t> first_load, last_store;

  explicit Touched(const ir::Program& program)
      : first_load(program.tensors.size(), kNever), last_store(program.tensors.size(), kNever) {
    std::vector<std::uint32_t> root(program.tensors.size());
    for (std::uint32_t t = 0; t < root.size(); ++t) root[t] = root_of(program.tensors, t);
    for (const ir::EngineProgram& one : program.programs) {
      for (const ir::Span& span : one.spans) {
        if (!span.section.valid()) continue;
        for (std::uint32_t o = span.begin; o < span.end; ++o)
          note(program, one.ops[o], span.section.value(), root);
      }
    }
  }

  void note(const ir::Program& program, const ir::Op& op, std::uint32_t section,
            const std::vector<std::uint32_t>& root) {
    if (op.code != ir::OpCode::run) return;
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      const ir::Access& access = program.accesses[a];
      if (access.region.kind != ir::RegionKind::tensor) continue;
      const std::uint32_t tensor = root[access.region.object];
      if (access.write) {
        std::uint32_t& last = last_store[tensor];
        last = last == kNever ? section : std::max(last, section);
      } else {
        first_load[tensor] = std::min(first_load[tensor], section);
      }
    }
  }
};

Refused unfit(RefusalReason reason, const Transfer& transfer, const std::string& what,
              const char* remedy) {
  return {reason,
          fmt::format("\"{}\" goes from chip {} to chip {}, and {}", transfer.tensor, transfer.from,
                      transfer.to, what),
          remedy};
}

}  // namespace

Outcome<ChipHalts> link_points(const ir::Program& program, std::uint32_t chip,
                               const std::vector<Transfer>& transfers) {
  const Touched touched(program);
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t)
    numbers.emplace(program.tensors[t].name, root_of(program.tensors, t));
  const auto section_in = [&](const std::vector<std::uint32_t>& of, const std::string& name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? kNever : of[found->second];
  };
  std::map<std::uint32_t, Halt> halts;
  for (std::uint32_t t = 0; t < transfers.size(); ++t) {
    const Transfer& transfer = transfers[t];
    const std::uint32_t stored = section_in(touched.last_store, transfer.tensor);
    if (transfer.from == chip) {
      if (stored == kNever) {
        return unfit(RefusalReason::sends_unstored, transfer,
                     fmt::format("no section of chip {} stores it", chip),
                     "send what the chip computes");
      }
      halts[stored + 1].sends.push_back(t);
    }
    if (transfer.to == chip) {
      if (stored != kNever) {
        return unfit(
            RefusalReason::receives_own, transfer,
            fmt::format("section \"{}\" of chip {} stores it", program.sections[stored].name, chip),
            "receive what other chips compute");
      }
      const std::uint32_t loaded = section_in(touched.first_load, transfer.tensor);
      if (loaded == kNever) {
        return unfit(RefusalReason::receives_unloaded, transfer,
                     fmt::format("no section of chip {} loads it", chip), "leave the transfer out");
      }
      halts[loaded].receives.push_back(t);
    }
  }
  ChipHalts result;
  result.sections = static_cast<std::uint32_t>(program.sections.size());
  for (auto& [boundary, halt] : halts) {
    halt.boundary = boundary;
    result.halts.push_back(std::move(halt));
  }
  return result;
}

}  // namespace spatialcert::compose::parallel
