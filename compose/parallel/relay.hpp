// Relay deployment: one program per chip, and a host that runs them and carries tensors between.
//
// The whole is judged as ONE system: a program of all chips' sections and of the host, which is an
// engine program of its own. `certify` says of it what it says of any program; nothing is proved
// here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compose/parallel/link_points.hpp"
#include "compose/parallel/manifest.hpp"
#include "compose/parallel/refusal.hpp"
#include "compose/parallel/relay_schedule.hpp"
#include "compose/parallel/sharding.hpp"
#include "compose/parallel/transfers.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// A section of one chip (relocate.hpp; fold_section of allreduce.hpp for a collective), and the
/// position of its statement: of the last one, if it stands for several.
struct RelaySection {
  ir::Program section;
  std::uint32_t statement = 0;
};
/// By chip, each in the order of statements.
using ChipSections = std::vector<std::vector<RelaySection>>;

struct RelayOptions {
  std::string name = "relay";
  std::string engine = "host";   ///< of the host, added to the target
  std::string handoff = "host";  ///< by which chips and host signal to each other, added as well
};

struct Relay {
  std::vector<Transfer> transfers;
  std::vector<ir::Program> programs;  ///< by chip; a chip without sections has an empty one
  std::vector<ChipHalts> halts;       ///< by chip
  std::vector<RelayRound> rounds;
  ir::Program system;  ///< what relay_program makes; buffers of `programs` have its addresses
};

/// Everything from sections to a system: composes the sections of every chip with a rendezvous
/// after each, finds what crosses, where chips halt and what the host does. `statements` are those
/// of the manifest, folds of collectives included. Refused: what any of these refuses, and sections
/// that cannot be composed (not-composable).
[[nodiscard]] Outcome<Relay> relay(const ChipSections& chips,
                                   const std::vector<SourceOp>& statements,
                                   const Sharding& sharding, const RelayOptions& options = {});

/// The system of sections, transfers and rounds. Every section of every chip is in the runs of the
/// rounds once, in order.
///
/// **Tensors.** A chip's program has memory of its own, so what is the spine's, or another chip's,
/// is there a copy `NAME@CHIP` that belongs to the chip; only the root has the spine itself. What
/// is in no transfer is the host's, and is placed on every chip that reads it before anything runs.
///
/// **Host.** It stands on [0,0,0] with an engine and a hand-off that are added to the target, and
/// with semaphores of its own there, for which the site gets room. In every round it releases the
/// chips that run, waits until each has halted, and makes the copies, a section each.
///
/// **Halts.** A chip halts by the rendezvous of its engine programs: its root waits for them all,
/// tells the host, and waits to be released before it releases them. Between sections of one run
/// it is the same without the host. Rounds, and the copies after them, are phases: the boundary
/// between is closed by the host, who has waited for all chips of the round. Sections of one run
/// are of one phase, joined by the semaphores of the chip's rendezvous as declared links, and get
/// bytes of their own (phase_memory.hpp).
///
/// **Source order.** Sections have the position of their statement, a copy follows its writer.
///
/// Refused: another number of chips than the manifest's; a section that stands elsewhere than on
/// its chip (several-chips); a chip that reads what another one stores and no round brings
/// (missing-transfer); a transfer from a chip that does not have the tensor (wrong-chip), or to one
/// that does not load it (receives-unloaded); sections that cannot be composed, names of the host
/// that are taken, semaphores or bytes that do not suffice (not-composable).
[[nodiscard]] Outcome<ir::Program> relay_program(const ChipSections& chips,
                                                 const std::vector<Transfer>& transfers,
                                                 const std::vector<RelayRound>& rounds,
                                                 const Sharding& sharding,
                                                 const RelayOptions& options = {});

}  // namespace spatialcert::compose::parallel
