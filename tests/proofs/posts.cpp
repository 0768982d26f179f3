#include "tests/proofs/posts.hpp"

#include <fmt/format.h>

#include <random>

namespace spatialcert::tests {

Draft posts(const char* name, bool persistent, const std::vector<Ops>& engines) {
  constexpr const char* kNames[] = {"load", "compute", "store", "move"};
  Draft d(name);
  if (persistent) d.persistent();
  for (std::size_t e = 0; e < engines.size(); ++e) d.engine(kNames[e], engines[e]);
  return d;
}

std::vector<Sly> sly_programs() {
  std::vector<Sly> all;
  const auto add = [&](std::uint32_t iterations, Draft draft) {
    all.push_back({std::move(draft), iterations});
  };
  add(13, posts("a waiter runs ahead", true, {{"wait s", "post s 3"}, {"wait s 2"}})
              .semaphore("s", 20, 31));
  add(12, posts("two posters lag behind", true, {{"wait s 2"}, {"post s"}, {"post s"}})
              .semaphore("s", 20, 31));
  add(12, posts("a poster runs ahead of the other", true, {{"wait s 10"}, {"post s 9"}, {"post s"}})
              .semaphore("s", 0, 31));
  add(6, posts("a loan from a program that lags behind", true,
               {{"reserve q", "wait s", "push q"},
                {"front q 5", "post s", "wait s", "pop q"},
                {"post s"}})
             .semaphore("s", 0, 31)
             .fifo("q", 8));
  add(6, posts("a loan to a program that lags behind", true,
               {{"reserve q", "wait s", "push q", "post s"},
                {"front q 5", "wait s", "post s", "pop q"}})
             .semaphore("s", 1, 31)
             .fifo("q", 8));
  add(6, posts("a loan before the source", true,
               {{"wait s", "post s"}, {"post s", "post s 2", "wait s 3"}})
             .semaphore("s", 0, 31));
  add(8, posts("a source before every window", true, {{"wait s", "post s"}, {"post s", "wait s"}})
             .semaphore("s", 12, 31));
  add(7, posts("a window that slides ahead", true,
               {{"reserve q", "push q", "post s"},
                {"front q 3", "wait s", "pop q"},
                {"wait s", "post s"}})
             .semaphore("s", 0, 31)
             .fifo("q", 4));
  add(7, posts("a loan, long after the source, from a program that lags behind", true,
               {{"wait s"},
                {"front q 5", "post s", "wait s", "pop q"},
                {"post s", "reserve q", "push q"}})
             .semaphore("s", 0, 31)
             .fifo("q", 8));
  Draft lender = posts("an order that a deeper FIFO does not give", false,
                       {{"reserve q", "push q", "reserve q", "push q", "post t"},
                        {"front q", "post s", "pop q"},
                        {"wait t", "wait s"},
                        {"post s"}});
  lender.semaphore("s").semaphore("t").fifo("q", 1, R"("depth": "guaranteed")");
  add(1, lender);
  return all;
}

Draft random_posts(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random() % n); };
  const bool persistent = below(2) == 0;
  Draft d(fmt::format("posts {}", seed));
  if (persistent) d.persistent();
  std::vector<Ops> engines(2 + below(3));
  const std::size_t most = persistent ? (engines.size() == 2 ? 5 : 3) : 5;
  const auto put = [&](std::size_t e, const std::string& op) {
    if (engines[e].size() >= most) return false;
    engines[e].insert(
        engines[e].begin() + static_cast<std::ptrdiff_t>(below(engines[e].size() + 1)), op);
    return true;
  };
  const std::size_t semaphores = 1 + below(3);
  for (std::size_t s = 0; s < semaphores; ++s) {
    const char name = "stu"[s];
    const bool awaited = below(4) == 0;
    d.semaphore(std::string(1, name), static_cast<int>(below(3)), 31,
                awaited ? R"("restart": "reset")" : "");
    for (std::size_t pair = 1 + below(3); pair > 0; --pair) {
      const std::size_t n = 1 + below(4) / 3;
      const bool split = n > 1 && below(2) == 0;
      const std::size_t poster = below(engines.size());
      const std::size_t waiter = below(engines.size());
      if (engines[poster].size() + 2 > most || engines[waiter].size() + 1 > most) continue;
      put(waiter, fmt::format("wait {} {}", name, n));
      for (std::size_t k = split ? n : 1; k > 0; --k)
        put(poster, fmt::format("post {} {}", name, split ? 1 : n));
    }
    if (awaited) put(below(engines.size()), fmt::format("await {} {}", name, 1 + below(3)));
  }
  if (below(3) == 0) {
    d.fifo("q", 1 + static_cast<int>(below(3)));
    const std::size_t producer = below(engines.size());
    const std::size_t consumer = (producer + 1 + below(engines.size() - 1)) % engines.size();
    for (const char* op : {"reserve q", "push q"}) engines[producer].push_back(op);
    for (const char* op : {"front q", "pop q"}) engines[consumer].push_back(op);
  }
  constexpr const char* kNames[] = {"load", "compute", "store", "move"};
  for (std::size_t e = 0; e < engines.size(); ++e) {
    if (!engines[e].empty()) d.engine(kNames[e], engines[e]);
  }
  return d;
}

}  // namespace spatialcert::tests
