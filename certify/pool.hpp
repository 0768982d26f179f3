// A fixed number of threads that take tasks from one queue, and help whoever divides a task.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace spatialcert::certify {

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

  /// Performs part(0) to part(count - 1) on the calling thread, with the help of threads that have
  /// no task, and returns when all are done. Parts begin in order. May be called inside of tasks
  /// and parts. If parts throw, what the first of them threw is thrown when all are done.
  void each(std::size_t count, const std::function<void(std::size_t)>& part);

 private:
  /// A divided task; lives as long as the call of each().
  struct Division {
    const std::function<void(std::size_t)>& part;
    std::size_t count = 0;
    std::size_t next = 0;
    std::size_t done = 0;
    std::size_t faulty = 0;
    std::exception_ptr fault = nullptr;
  };

  void add(std::function<void()> task, bool first);
  void work();
  void perform_next(Division& division, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Division* divided();

  std::mutex mutex_;
  std::condition_variable changed_, finished_;
  std::deque<std::function<void()>> tasks_;
  std::list<Division*> divisions_;  // oldest first
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace spatialcert::certify
