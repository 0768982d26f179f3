#include "tests/proofs/sharded.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

constexpr std::uint32_t kBuffers = 4;

class Maker {
 public:
  explicit Maker(std::uint64_t seed)
      : random_(seed), chips_(1 + random_.below(4)), draft_(fmt::format("seed {}", seed)) {
    if (random_.chance(50)) draft_.persistent();
    persistent_ = draft_.json().find("\"persistent\"") != std::string::npos;
    draft_.member("target", fmt::format(R"({{"name": "tile", "engines": ["load"], "chips": {},
        "spaces": [{{"name": "sram", "bytes": 65536, "alignment": 4}}],
        "semaphores": {{"per_site": 64, "maximum": 31}},
        "handoffs": [{{"name": "wire", "crosses_chips": true}}]}})",
                                        chips_));
    for (const char* op : {"add", "sum", "max"})
      draft_.stage(fmt::format("all_{}", op), op, R"("kind": "allreduce")");
    draft_.stage("carry", "copy", R"("kind": "copy")").stage("mul", "mul");
    objects();
    ops_.resize(chips_);
  }

  Draft make() {
    for (std::uint32_t n = 3 + random_.below(5); n > 0; --n) action();
    if (first_ && *first_ != at_) {
      // Around the wrap-around.
      if (persistent_) {
        draft_.semaphore("wrap", 1, 31, on(*first_) + R"(, "handoff": "wire")");
        ops_[at_].push_back("post wrap");
        ops_[*first_].insert(ops_[*first_].begin(), "wait wrap");
      }
    }
    for (std::uint32_t c = 0; c < chips_; ++c) {
      if (!ops_[c].empty()) draft_.engine(fmt::format("{}:load", c), ops_[c]);
    }
    return draft_;
  }

 private:
  static std::string on(std::uint32_t chip) { return fmt::format(R"("site": [{}, 0, 0])", chip); }
  static std::string own(std::uint32_t chip) { return fmt::format(R"("owner": {})", chip); }

  void objects() {
    const std::uint32_t idle = random_.chance(6) ? random_.below(chips_) : chips_;
    for (std::uint32_t c = 0; c < chips_; ++c) {
      for (const char* name : {"w", "s"}) {
        const bool owned = c != idle;
        const char* const role = name[0] == 's' && random_.chance(50) ? "state" : "weight";
        draft_.tensor(fmt::format("{}{}", name, c), random_.chance(80) ? "external" : "zero", 4,
                      "f32", (owned ? own(c) + ", " : "") + fmt::format(R"("role": "{}")", role));
      }
      for (std::uint32_t b = 0; b < kBuffers; ++b) {
        const bool filled = c != idle && random_.chance(10);
        const bool resident = persistent_ || random_.chance(30);
        draft_.buffer(
            fmt::format("b{}_{}", c, b),
            on(c) + fmt::format(R"(, "init": "{}", "lifetime": "{}")", filled ? "external" : "zero",
                                resident ? "resident" : "section"));
      }
    }
    draft_.tensor("x", "external")
        .tensor("y", "zero")
        .tensor("z", "zero", 4, "f32", R"("role": "state")");
  }

  /// The next ops are performed by `chip`.
  void at(std::uint32_t chip) {
    if (!first_) first_ = chip;
    if (chip != at_ && !ops_[at_].empty()) {
      const std::string baton = fmt::format("from{}to{}", at_, chip);
      if (batons_.insert(baton).second)
        draft_.semaphore(baton, 0, 31, on(chip) + R"(, "handoff": "wire")");
      ops_[at_].push_back("post " + baton);
      ops_[chip].push_back("wait " + baton);
    }
    at_ = chip;
  }
  void op(const std::string& text) { ops_[at_].push_back(text); }

  std::string buffer(std::uint32_t chip) {
    return fmt::format("b{}_{}", chip, random_.below(kBuffers));
  }
  /// Sometimes half of it.
  std::string half(const std::string& buffer) {
    if (!random_.chance(20)) return buffer;
    return buffer + (random_.chance(50) ? "[0:32]" : "[32:64]");
  }
  /// Seldom not all of it.
  std::string part(const std::string& buffer) {
    constexpr const char* kParts[] = {"[0:60]", "[4:64]", "[0:32]", "[16:48]"};
    return random_.chance(5) ? buffer + kParts[random_.below(4)] : buffer;
  }
  /// Something that the chip may read.
  std::string source(std::uint32_t chip) {
    switch (random_.below(6)) {
      case 0:
      case 1:
        return fmt::format("w{}", chip);
      case 2:
        return fmt::format("s{}", chip);
      case 3:
        return random_.chance(70) ? "x" : random_.chance(50) ? "y" : "z";
      default:
        return half(buffer(chip));
    }
  }

  /// Brings something from one chip to a buffer of another.
  void bring(std::uint32_t from, const std::string& what, std::uint32_t to,
             const std::string& where) {
    if (from == to) {
      at(to);
      op(fmt::format("run cut {} > {}", what, where));
      return;
    }
    const std::string q = fmt::format("q{}", fifos_++);
    draft_.fifo(q, 1 + static_cast<int>(random_.below(2)), on(to) + R"(, "handoff": "wire")");
    at(from);
    op("reserve " + q);
    op(fmt::format("run load {} > {}", what, q));
    op("push " + q);
    at(to);
    op("front " + q);
    op(fmt::format("run cut {} > {}", q, where));
    op("pop " + q);
  }

  std::string reducer() {
    const char* const names[] = {"all_add", "all_sum", "all_max", "add", "mul"};
    return random_.chance(92) ? names[random_.below(3)] : names[3 + random_.below(2)];
  }
  std::string target(std::uint32_t chip) {
    if (random_.chance(40)) return random_.chance(80) ? "y" : "z";
    return random_.chance(85) ? buffer(chip) : fmt::format("s{}", chip);
  }

  /// What every chip has, brought to one and reduced; sometimes a chip is left out or doubled, and
  /// sometimes it is done in groups.
  void reduce() {
    const std::uint32_t root = random_.below(chips_);
    std::vector<std::uint32_t> members;
    for (std::uint32_t c = 0; c < chips_; ++c) {
      if (!random_.chance(4)) members.push_back(c);
      if (random_.chance(3)) members.push_back(c);
    }
    std::vector<std::string> slots;
    const std::string scratch = fmt::format("r{}", reductions_++);
    const auto slot = [&] {
      const std::string name = fmt::format("{}_{}", scratch, slots.size());
      draft_.buffer(name, on(root) + R"(, "init": "zero", "lifetime": "resident")");
      return slots.emplace_back(name);
    };
    for (const std::uint32_t c : members)
      bring(c, random_.chance(85) ? fmt::format("w{}", c) : source(c), root, part(slot()));
    at(root);
    if (slots.size() > 2 && random_.chance(50)) {
      const std::size_t split = 1 + random_.below(slots.size() - 1);
      const std::string first(fmt::format("run {}", reducer())), second("run " + reducer());
      std::string left, right;
      for (std::size_t i = 0; i < slots.size(); ++i) (i < split ? left : right) += " " + slots[i];
      const std::string l = slot(), r = slot();
      op(first + left + " > " + l);
      op(second + right + " > " + r);
      slots = {l, r};
    }
    std::string all;
    for (const std::string& s : slots) all += " " + s;
    if (slots.empty()) return;
    op(fmt::format("run {}{} > {}", reducer(), all, target(root)));
  }

  void compute() {
    const std::uint32_t c = random_.below(chips_);
    at(c);
    std::string reads;
    for (std::uint32_t n = 1 + random_.below(2); n > 0; --n) reads += " " + source(c);
    if (random_.chance(5)) reads = "";
    const std::string to = random_.chance(9)    ? "y"
                           : random_.chance(70) ? half(buffer(c))
                                                : fmt::format("s{}", c);
    op(fmt::format("run {}{} > {}", random_.chance(20) ? reducer() : "work", reads, to));
  }

  void rotate() {
    const std::uint32_t c = random_.below(chips_);
    at(c);
    const std::uint32_t length = 2 + random_.below(kBuffers - 1);
    if (random_.chance(15)) op(fmt::format("run cut b{}_0 > y", c));
    op(fmt::format("run cut b{0}_0 > s{0}", c));
    for (std::uint32_t b = 1; b < length; ++b)
      op(fmt::format("run cut b{0}_{1} > b{0}_{2}", c, b, b - 1));
    op(fmt::format("run cut s{0} > b{0}_{1}", c, length - 1));
  }

  void action() {
    const std::uint32_t a = random_.below(chips_), b = random_.below(chips_);
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return reduce();
      case 4:
        return rotate();
      case 5:
        return bring(a, source(a), b, half(buffer(b)));
      case 6:
        // Straight out of another chip's tensor.
        at(b);
        return op(
            fmt::format("run {} w{} > {}", random_.chance(80) ? "carry" : "work", a, buffer(b)));
      default:
        return compute();
    }
  }

  Random random_;
  std::uint32_t chips_;
  Draft draft_;
  bool persistent_ = false;
  std::vector<std::vector<std::string>> ops_;
  std::optional<std::uint32_t> first_;
  std::uint32_t at_ = 0;
  std::set<std::string> batons_;
  std::uint32_t fifos_ = 0, reductions_ = 0;
};

}  // namespace

Draft sharded_program(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace spatialcert::tests
