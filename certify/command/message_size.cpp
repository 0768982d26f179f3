#include "certify/command/message_size.hpp"

#include "ir/token_game.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::command {
namespace {

/// Does one play of the token game finish? In a marked graph every play does if one does. Nothing
/// if the program cannot be made or is too large.
std::optional<bool> finishes(const LoadedFile& file, ir::MscclPlacement placement,
                             ir::MscclRuntime runtime, std::uint32_t chunks_per_transfer) {
  const auto variant = ir::import_msccl_with_transfers(file.text, file.path, placement, runtime,
                                                       chunks_per_transfer);
  if (!variant) return std::nullopt;
  const auto unrolled = ir::unroll(variant->program);
  if (!std::holds_alternative<ir::Unrolled>(unrolled)) return std::nullopt;
  const ir::TokenGame game(variant->program, std::get<ir::Unrolled>(unrolled));
  return ir::play_freely(game).result.complete;
}

}  // namespace

std::optional<certify::SizeLimit> find_size_limit(const LoadedFile& file,
                                                  ir::MscclPlacement placement,
                                                  ir::MscclRuntime runtime) {
  if (!file.foreign) return std::nullopt;
  std::uint32_t deadlocks = 1;
  std::uint32_t live = file.foreign->largest_count;
  while (live - deadlocks > 1) {
    const std::uint32_t middle = deadlocks + (live - deadlocks) / 2;
    const auto finished = finishes(file, placement, runtime, middle);
    if (!finished) return std::nullopt;
    (*finished ? live : deadlocks) = middle;
  }
  const std::uint64_t bytes = ir::largest_message(*file.foreign, runtime, live);
  if (bytes == 0) return std::nullopt;
  return certify::SizeLimit{bytes, live};
}

}  // namespace spatialcert::command
