// The sections of a relay's system, the host's copies among them, and the order of their
// performance. Throws Refused.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/parallel/relay.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// One section, in the order of performance.
struct RelayStep {
  std::uint32_t section = 0;  ///< position in RelayPlan::sections
  bool host = false;          ///< a copy
  std::uint32_t chip = 0;     ///< otherwise: where it runs
  std::uint32_t group = 0;    ///< steps of one group lie between two closed boundaries
  bool run_goes_on = false;   ///< the next step is of the same run
};

struct RelayPlan {
  std::vector<ir::Program> sections;  ///< in source order
  std::vector<RelayStep> steps;
  ir::EngineId host;
  ir::HandoffId handoff;
};

[[nodiscard]] RelayPlan plan_relay(const ChipSections& chips,
                                   const std::vector<Transfer>& transfers,
                                   const std::vector<RelayRound>& rounds, const Sharding& sharding,
                                   const RelayOptions& options);

/// Closes the boundaries between groups, and puts the signals of host and chips into a program that
/// was composed of the plan with all boundaries open.
void add_halts(ir::Program& program, const RelayPlan& plan, std::uint32_t chips);

}  // namespace spatialcert::compose::parallel
