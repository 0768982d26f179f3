#include "compose/parallel/relay.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "compose/composition/composer.hpp"
#include "compose/composition/phase_memory.hpp"
#include "compose/composition/text.hpp"
#include "compose/parallel/relay_plan.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose::parallel {
namespace {

Refused not_composable(const compose::Refused& refused) {
  return {RefusalReason::not_composable,
          fmt::format("{}: {}", to_string(refused.reason), refused.what), refused.remedy};
}

template <typename T>
T composed(compose::Outcome<T> outcome) {
  if (const auto* refused = std::get_if<compose::Refused>(&outcome)) throw not_composable(*refused);
  return std::get<T>(std::move(outcome));
}

template <typename T>
T accepted(Outcome<T> outcome) {
  if (auto* refused = std::get_if<Refused>(&outcome)) throw std::move(*refused);
  return std::get<T>(std::move(outcome));
}

void check_places(const ir::Program& section, std::uint32_t chip) {
  const auto check = [&](const ir::Site& site, const std::string& what) {
    if (site.chip == chip) return;
    throw Refused{RefusalReason::several_chips,
                  fmt::format("section \"{}\" of chip {} has {} on {}", section.name, chip, what,
                              text_of(site)),
                  "give every chip what stands on it, and let the relay bring the rest"};
  };
  for (const ir::EngineProgram& one : section.programs) check(one.site, "an engine program");
  for (const ir::Buffer& buffer : section.buffers)
    check(buffer.site, fmt::format("buffer \"{}\"", buffer.name));
  for (const ir::Semaphore& semaphore : section.semaphores)
    check(semaphore.site, fmt::format("semaphore \"{}\"", semaphore.name));
}

void check_chips(const ChipSections& chips, const Sharding& sharding) {
  if (chips.size() != sharding.chips()) {
    throw Refused{RefusalReason::chip_count,
                  fmt::format("there are sections for {} chips, and the manifest splits over {}",
                              chips.size(), sharding.chips()),
                  "give every chip its sections, if only none"};
  }
  for (std::uint32_t c = 0; c < chips.size(); ++c) {
    for (const RelaySection& one : chips[c]) check_places(one.section, c);
  }
}

ir::Program chip_program(const std::vector<RelaySection>& sections, std::uint32_t chip,
                         const RelayOptions& options) {
  ir::Program none;
  none.name = fmt::format("{}, chip {}", options.name, chip);
  if (sections.empty()) return none;
  std::vector<ir::Program> programs;
  for (const RelaySection& one : sections) programs.push_back(one.section);
  ComposeOptions as;
  as.name = none.name;
  return composed(compose::compose(programs, {}, as)).program;
}

ir::Program system_of(const ChipSections& chips, const std::vector<Transfer>& transfers,
                      const std::vector<RelayRound>& rounds, const Sharding& sharding,
                      const RelayOptions& options) {
  check_chips(chips, sharding);
  const RelayPlan plan = plan_relay(chips, transfers, rounds, sharding, options);
  PhaseOrder order;
  for (const RelayStep& step : plan.steps) order.order.push_back(step.section);
  order.barrier_after.assign(plan.steps.size(), false);
  ComposeOptions as;
  as.name = options.name;
  ir::Program program = composed(compose::compose_ordered(plan.sections, order, {}, as)).program;
  add_halts(program, plan, sharding.chips());
  if (const ir::Status refused = ir::validate(program)) {
    throw Refused{RefusalReason::not_composable,
                  "sections, halts and host together are no program: " + refused->message(),
                  "change what they share; docs/format.md says what a program must be"};
  }
  composed(separate_phase_memory(program));
  return program;
}

/// The addresses that the system gives to the buffers of a chip's program.
void move_buffers(ir::Program& program, const ir::Program& system) {
  std::unordered_map<std::string_view, std::uint64_t> addresses;
  for (const ir::Buffer& buffer : system.buffers) addresses.emplace(buffer.name, buffer.address);
  for (ir::Buffer& buffer : program.buffers) {
    if (const auto found = addresses.find(buffer.name); found != addresses.end())
      buffer.address = found->second;
  }
}

}  // namespace

Outcome<Relay> relay(const ChipSections& chips, const std::vector<SourceOp>& statements,
                     const Sharding& sharding, const RelayOptions& options) {
  try {
    check_chips(chips, sharding);
    Relay result;
    result.transfers = accepted(transfers(statements, sharding));
    for (std::uint32_t c = 0; c < chips.size(); ++c) {
      result.programs.push_back(chip_program(chips[c], c, options));
      result.halts.push_back(accepted(link_points(result.programs[c], c, result.transfers)));
    }
    result.rounds = accepted(relay_schedule(result.halts, result.transfers));
    result.system = system_of(chips, result.transfers, result.rounds, sharding, options);
    for (ir::Program& program : result.programs) move_buffers(program, result.system);
    return result;
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

Outcome<ir::Program> relay_program(const ChipSections& chips,
                                   const std::vector<Transfer>& transfers,
                                   const std::vector<RelayRound>& rounds, const Sharding& sharding,
                                   const RelayOptions& options) {
  try {
    return system_of(chips, transfers, rounds, sharding, options);
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose::parallel
