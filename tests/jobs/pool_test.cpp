#include "certify/pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace spatialcert::certify {

TEST_CASE("pool: every part is performed once, with helpers or none") {
  for (const unsigned threads : {0U, 1U, 4U}) {
    Pool pool(threads);
    for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
      std::vector<int> performed(count, 0);
      pool.each(count, [&](std::size_t i) { ++performed[i]; });
      CHECK(performed == std::vector<int>(count, 1));
    }
  }
}

TEST_CASE("pool: parts may be divided again, and several tasks at once") {
  Pool pool(3);
  std::atomic<int> performed{0}, tasks{0};
  for (int t = 0; t < 4; ++t) {
    pool.add([&] {
      pool.each(10, [&](std::size_t) { pool.each(10, [&](std::size_t) { ++performed; }); });
      ++tasks;
    });
  }
  pool.each(10, [&](std::size_t) { pool.each(10, [&](std::size_t) { ++performed; }); });
  while (tasks < 4) std::this_thread::yield();
  CHECK(performed == 500);
}

TEST_CASE("pool: what waits as a task comes before what could be helped with") {
  Pool pool(1);
  std::atomic<bool> begun{false}, task{false};
  std::atomic<int> helped_before{0};
  const std::thread::id here = std::this_thread::get_id();
  pool.add([&] {
    begun = true;
    while (!task) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  std::atomic<bool> second{false};
  pool.add([&] { second = true; });
  pool.each(200, [&](std::size_t i) {
    if (i == 100) task = true;
    if (std::this_thread::get_id() != here && !second) ++helped_before;
    if (i > 100) std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  CHECK(helped_before == 0);
  while (!second) std::this_thread::yield();
}

TEST_CASE("pool: of several parts that throw, the first is heard, after all are done") {
  Pool pool(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> performed{0};
    std::string heard;
    try {
      pool.each(20, [&](std::size_t i) {
        ++performed;
        if (i % 7 == 3) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& e) {
      heard = e.what();
    }
    CHECK(heard == "3");
    CHECK(performed == 20);
  }
}

}  // namespace spatialcert::certify
