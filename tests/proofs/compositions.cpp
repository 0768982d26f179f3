#include "tests/proofs/compositions.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <variant>

#include "proofs/recheck/recheck.hpp"

namespace spatialcert::tests::compositions {
namespace {

using proofs::composition::Division;
using proofs::composition::Objection;

/// Every section may be of any class.
class Anything final : public proofs::composition::Guess {
 public:
  void candidates(const proofs::composition::Excerpt& /*excerpt*/,
                  std::vector<std::uint32_t>& out) override {
    for (std::uint32_t c = 0; c < founded_; ++c) out.push_back(c);
  }
  bool may_found() override {
    ++founded_;
    return true;
  }

 private:
  std::uint32_t founded_ = 0;
};

std::variant<Division, Objection> division(const ir::Program& program) {
  Anything guess;
  return proofs::composition::divide(program, guess);
}

std::string kind(Objection::Kind kind) {
  constexpr const char* kNames[] = {
      "values", "link",   "wrap around", "rendezvous", "used by many", "edge",  "fifo view",
      "memory", "region", "shared",      "reordered",  "lifetime",     "unlike"};
  return kNames[static_cast<int>(kind)];
}

Draft chain_of(int sections, const std::vector<std::string>& colours, bool around) {
  Draft d(around ? "ring" : "chain");
  if (around) d.persistent();
  d.tensor("t0", "external");
  std::vector<Ops> load, compute;
  for (int k = 0; k < sections; ++k) {
    d.tensor(fmt::format("t{}", k + 1)).fifo(fmt::format("q{}", k), 2);
    d.buffer(fmt::format("b{}", k));
    d.buffer(fmt::format("v{}", k), fmt::format(R"("view": {{"of": "b{}", "offset": 0}})", k));
    d.semaphore(fmt::format("h{}", k), 0, 3);
    d.edge(fmt::format("s{}_l", k), fmt::format("q{}", k), fmt::format("s{}_c", k));
    load.push_back({fmt::format("reserve q{}", k), fmt::format("run s{0}_l t{0} > q{0}", k),
                    fmt::format("push q{}", k), fmt::format("wait h{}", k)});
    compute.push_back({fmt::format("front q{}", k), fmt::format("run s{0}_c q{0} > v{0}", k),
                       fmt::format("pop q{}", k), fmt::format("run s{0}_s b{0} > t{1}", k, k + 1),
                       fmt::format("post h{}", k)});
    if (k + 1 == sections && !around) continue;
    const std::string& colour = colours[static_cast<std::size_t>(k)];
    load.push_back({"post a", "wait a 2", "post " + colour + " 2", "wait " + colour});
    compute.push_back({"post a", "wait " + colour});
  }
  d.semaphore("a", 0, 2);
  for (const char* colour : {"r", "g", "y"}) d.semaphore(colour, 0, 2);
  return in_sections(d, {{"load", load}, {"compute", compute}});
}

}  // namespace

std::string divided(const ir::Program& program) {
  const auto found = division(program);
  if (const auto* no = std::get_if<Objection>(&found)) return kind(no->kind);
  const std::size_t classes = std::get<Division>(found).classes.size();
  return classes == 1 ? "one class" : fmt::format("{} classes", classes);
}

std::string objection(const ir::Program& program) {
  const auto found = division(program);
  const auto* no = std::get_if<Objection>(&found);
  return no == nullptr ? "" : no->why;
}

certify::ProgramReport whole(const ir::Program& program) {
  certify::Options options;
  options.divide_from.reset();
  return certify::certify(program, options);
}

certify::ProgramReport by_sections(const ir::Program& program) {
  certify::Options options;
  options.divide_from = 0;
  options.divide_percent = 100;
  options.keep_witnesses = true;
  return certify::certify(program, options);
}

Draft chain() { return chain_of(3, {"r", "g"}, false); }
Draft ring() { return chain_of(3, {"r", "g", "y"}, true); }

Draft on_chips(Draft d, std::uint32_t chips, const std::vector<Part>& parts, bool around) {
  const auto there = [](std::uint32_t c) {
    return fmt::format(R"("site": [{}, 0, 0], "handoff": "link")", c);
  };
  d.semaphore("a", 0, static_cast<int>(chips), there(0));
  for (std::uint32_t c = 0; c < chips; ++c) {
    for (const char* colour : {"r", "g"})
      d.semaphore(fmt::format("{}{}", colour, c), 0, 1, there(c));
  }
  d.member("target", fmt::format(
                         R"({{"name": "chips", "engines": ["load"], "chips": {},
    "spaces": [{{"name": "sram", "bytes": 4096, "alignment": 4}}], "semaphores": {{"per_site": 16, "maximum": 31}},
    "handoffs": [{{"name": "link", "crosses_chips": true}}]}})",
                         chips));
  std::vector<EngineParts> engines;
  for (std::uint32_t c = 0; c < chips; ++c) {
    EngineParts& engine = engines.emplace_back();
    engine.engine = fmt::format("{}:load", c);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      engine.parts.push_back(parts[k][c]);
      if (k + 1 == parts.size() && !around) break;
      const char* const colour = k % 2 == 0 ? "r" : "g";
      Ops meet{"post a"};
      if (c == 0) {
        meet.push_back(fmt::format("wait a {}", chips));
        for (std::uint32_t other = 0; other < chips; ++other)
          meet.push_back(fmt::format("post {}{}", colour, other));
      }
      meet.push_back(fmt::format("wait {}{}", colour, c));
      engine.parts.push_back(meet);
    }
  }
  in_sections(d, engines);
  struct Ending {
    const char* text;
    const char* op;
    const char* more;
  };
  constexpr Ending kEndings[] = {{"_sum", "sum", R"("kind": "allreduce", )"},
                                 {"_all", "add", R"("kind": "allreduce", )"},
                                 {"_move", "copy", R"("kind": "copy", )"},
                                 {"_mm", "matmul", ""},
                                 {"_act", "silu", ""},
                                 {"_add", "add", ""},
                                 {"_rows", "sum", ""},
                                 {"_twice", "scale", R"("scale": 2, )"}};
  for (const Part& part : parts) {
    for (const Ops& ops : part) {
      for (const std::string& op : ops) {
        const std::string name = op.substr(4, op.find(' ', 4) - 4);
        const std::string section =
            fmt::format(R"("section": "{}")", name.substr(0, name.find('_')));
        for (const Ending& ending : kEndings) {
          if (name.ends_with(ending.text)) d.stage(name, ending.op, ending.more + section);
        }
      }
    }
  }
  return d;
}

std::string owned_by(std::uint32_t chip) { return fmt::format("\"owner\": {}", chip); }

certify::ProgramReport agreed(const ir::Program& program) {
  const auto one = whole(program), other = by_sections(program);
  CHECK(one.verdict == other.verdict);
  for (std::size_t r = 0; r < one.rules.size() && r < other.rules.size(); ++r) {
    CAPTURE(to_string(one.rules[r].rule));
    CHECK(one.rules[r].verdict == other.rules[r].verdict);
  }
  if (other.certificate) {
    const auto read = proofs::decode(proofs::encode(*other.certificate));
    REQUIRE(std::holds_alternative<proofs::Certificate>(read));
    const auto outcome = proofs::recheck(program, std::get<proofs::Certificate>(read));
    CHECK_MESSAGE(!outcome.denial, outcome.detail);
  }
  return other;
}

}  // namespace spatialcert::tests::compositions
