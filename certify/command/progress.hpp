// One line on a terminal that says how far a long run is.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace spatialcert::command {

/// Draws nothing during the first second, nor if standard error is no terminal.
class Progress {
 public:
  Progress(bool wanted, std::size_t files);

  /// What is being done now; called by any thread.
  void doing(std::string_view program, std::string_view what);

  // By the printing thread only:
  void finished_file() { ++finished_; }
  void draw();
  void erase();

 private:
  bool active_;
  std::size_t files_;
  std::size_t finished_ = 0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::string doing_;
};

}  // namespace spatialcert::command
