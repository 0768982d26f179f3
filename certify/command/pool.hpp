// A fixed number of threads that take tasks from one queue.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace spatialcert::command {

/// Tasks must not throw. The destructor drops the tasks that nobody has begun and waits for the
/// others.
class Pool {
 public:
  explicit Pool(unsigned threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Behind everything that waits.
  void add(std::function<void()> task);
  /// Before everything that waits: what was begun is finished before something new is.
  void add_first(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace spatialcert::command
