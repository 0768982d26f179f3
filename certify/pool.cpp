#include "certify/pool.hpp"

#include <algorithm>
#include <utility>

namespace spatialcert::certify {

Pool::Pool(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::add(std::function<void()> task) { add(std::move(task), false); }
void Pool::add_first(std::function<void()> task) { add(std::move(task), true); }

void Pool::add(std::function<void()> task, bool first) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.insert(first ? tasks_.begin() : tasks_.end(), std::move(task));
  }
  changed_.notify_one();
}

void Pool::each(std::size_t count, const std::function<void(std::size_t)>& part) {
  Division division{part, count};
  std::unique_lock lock(mutex_);
  const auto here = divisions_.insert(divisions_.end(), &division);
  if (count > 1) changed_.notify_all();
  while (division.next < count) perform_next(division, lock);
  divisions_.erase(here);
  finished_.wait(lock, [&] { return division.done == count; });
  if (division.fault) std::rethrow_exception(division.fault);
}

void Pool::perform_next(Division& division, std::unique_lock<std::mutex>& lock) {
  const std::size_t i = division.next++;
  lock.unlock();
  std::exception_ptr fault;
  try {
    division.part(i);
  } catch (...) {
    fault = std::current_exception();
  }
  lock.lock();
  if (fault && (!division.fault || i < division.faulty)) {
    division.faulty = i;
    division.fault = std::move(fault);
  }
  if (++division.done == division.count) finished_.notify_all();
}

Pool::Division* Pool::divided() {
  const auto at = std::find_if(divisions_.begin(), divisions_.end(),
                               [](const Division* d) { return d->next < d->count; });
  return at == divisions_.end() ? nullptr : *at;
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty() || divided() != nullptr; });
    if (stopping_) return;
    if (tasks_.empty()) {
      perform_next(*divided(), lock);
      continue;
    }
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds may be large
    lock.lock();
  }
}

}  // namespace spatialcert::certify
