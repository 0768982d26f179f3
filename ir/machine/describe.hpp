// Texts of what went wrong, in the names of the program.
#pragma once

#include <optional>
#include <string>

#include "ir/token_game.hpp"

namespace spatialcert::ir::machine {

/// `run S (matmul), op 3 of engine compute on [0,0,0], reads a, b, writes c`.
[[nodiscard]] std::string run_text(const Program& program, const Unrolled& unrolled,
                                   TransitionId t);
/// `tensor x` or `buffer q`.
[[nodiscard]] std::string object_text(const Program& program, const Region& region);
[[nodiscard]] std::string fault_text(const TokenGame& game, const PlayFault& fault);
/// Of the engine programs that have not finished, the first few and what holds them back.
[[nodiscard]] std::string waiting_text(const TokenGame& game, const PlayState& state);
/// The first semaphore that is kept, or FIFO, that is not as it was at the start.
[[nodiscard]] std::optional<std::string> leftover_text(const TokenGame& game,
                                                       const PlayState& state);

}  // namespace spatialcert::ir::machine
