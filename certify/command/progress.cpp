#include "certify/command/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "certify/command/command.hpp"

namespace spatialcert::command {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kWidth = 78;

}  // namespace

Progress::Progress(bool wanted, std::size_t files)
    : active_(wanted && ::isatty(STDERR_FILENO) == 1), files_(files) {}

void Progress::doing(std::string_view program, std::string_view what) {
  if (!active_) return;
  const std::lock_guard lock(mutex_);
  doing_ = fmt::format("{}: {}", program, what);
}

void Progress::draw() {
  if (!active_ || std::chrono::steady_clock::now() - start_ < kPatience) return;
  std::string line;
  {
    const std::lock_guard lock(mutex_);
    line = fmt::format("{} of {} files done; {}", finished_, files_, doing_);
  }
  complain("\r\x1b[K" + line.substr(0, kWidth));
  drawn_ = true;
}

void Progress::erase() {
  if (drawn_) complain("\r\x1b[K");
  drawn_ = false;
}

}  // namespace spatialcert::command
