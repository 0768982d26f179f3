// What is and what is no rendezvous, and that everything else about a boundary is an objection.
#include <doctest/doctest.h>

#include <functional>

#include "ir/validate.hpp"
#include "tests/proofs/compositions.hpp"

namespace spatialcert::tests::compositions {
namespace {

using certify::Verdict;
using ir::Program;

/// Three engines on two chips; the root is that of chip 0. Colours r and g, on chip 1 s and f.
std::vector<EngineParts> on_two_chips() {
  return {{"load",
           {{"run s0_a x > y"},
            {"post a", "wait a 3", "post r", "post s 2", "wait r"},
            {"run s1_a x > z"},
            {"post a", "wait a 3", "post g", "post f 2", "wait g"},
            {"run s2_a x"}}},
          {"1:load",
           {{"run s0_b x"},
            {"post a", "wait s"},
            {"run s1_b y"},
            {"post a", "wait f"},
            {"run s2_b z"}}},
          {"1:store",
           {{"run s0_c x"}, {"post a", "wait s"}, {"run s1_c x"}, {"post a", "wait f"}, {}}}};
}

Draft draft_of(const std::vector<EngineParts>& engines, bool persistent = false) {
  Draft d("rendezvous");
  if (persistent) d.persistent();
  d.tensor("x", "external").tensor("y").tensor("z");
  const std::string there = R"("site": [1, 0, 0], "handoff": "link")";
  d.semaphore("a", 0, 3, R"("handoff": "link")").semaphore("r", 0, 3).semaphore("g", 0, 3);
  d.semaphore("b", 0, 3, R"("handoff": "link")").semaphore("s", 0, 2, there);
  d.semaphore("f", 0, 2, there).semaphore("o", 0, 2, there);
  d.member("target", R"({"name": "tiles", "engines": ["load", "compute", "store"], "chips": 2,
    "spaces": [{"name": "sram", "bytes": 4096, "alignment": 4}], "semaphores": {"per_site": 16, "maximum": 31},
    "handoffs": [{"name": "link", "crosses_chips": true}]})");
  return in_sections(d, engines);
}

/// What is said of the program. It must be judged alike either way.
std::string said(const std::vector<EngineParts>& engines,
                 const std::function<void(Program&)>& change = {}) {
  Program program = draft_of(engines).program();
  if (change) change(program);
  REQUIRE_MESSAGE(!ir::validate(program), ir::validate(program)->message());
  const std::string kind = divided(program);
  const auto one = whole(program), other = by_sections(program);
  CHECK(one.verdict == other.verdict);
  CHECK(other.divided.has_value() == kind.ends_with("classes"));
  return kind == "rendezvous" ? objection(program) : kind;
}

TEST_CASE("composition: a rendezvous over two chips") {
  CHECK(said(on_two_chips()) == "3 classes");
  CHECK(whole(draft_of(on_two_chips()).program()).verdict == Verdict::certified);
}

TEST_CASE("composition: what is no rendezvous is an objection, by what is wrong") {
  const auto broken = [](std::size_t engine, std::size_t part, const Ops& ops) {
    auto engines = on_two_chips();
    engines[engine].parts[part] = ops;
    const std::string found = said(engines);
    const std::string head = "the boundary after section s0: ";
    return found.starts_with(head) ? found.substr(head.size()) : found;
  };
  CHECK(broken(2, 1, {}) == "an engine program takes no part in it");
  CHECK(broken(1, 1, {"post a", "post a", "wait s"}) == "it has two roots");
  CHECK(broken(0, 1, {"post a", "wait r"}) == "it has no root");
  CHECK(broken(0, 1, {"post a", "wait a 3", "wait r"}) == "its root has too few ops");
  CHECK(broken(0, 1, {"post a", "wait a 2", "post r", "post s 2", "wait r"}) ==
        "it does not gather all");
  CHECK(broken(0, 1, {"post a", "wait a 4", "post r", "post s 2", "wait r"}) ==
        "it does not gather all");
  CHECK(broken(0, 1, {"post a", "wait b 3", "post r", "post s 2", "wait r"}) ==
        "it does not gather all");
  CHECK(broken(0, 1, {"wait a 3", "post a", "post r", "post s 2", "wait r"}) ==
        "an arrival is missing");
  CHECK(broken(1, 1, {"post b", "wait s"}) == "an arrival is missing");
  CHECK(broken(1, 1, {"post a 2", "wait s"}) == "an arrival is missing");
  CHECK(broken(1, 1, {"wait s", "post a"}) == "an arrival is missing");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r", "post s 2", "post r"}) ==
        "a release is not waited for");
  CHECK(broken(1, 1, {"post a", "wait s 2"}) == "a release is not waited for");
  CHECK(broken(1, 1, {"post a", "wait o"}) == "a release is not posted");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r", "post s", "wait r"}) ==
        "a release is not posted");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r 2", "post s 2", "wait r"}) ==
        "more is released than waits for it");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r", "post s 2", "post o", "wait r"}) ==
        "more is released than waits for it");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r", "post s", "post s", "wait r"}) ==
        "a release is posted twice");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r", "wait r", "post s 2", "wait r"}) ==
        "its root does something else");
  CHECK(broken(0, 1, {"post a", "wait a 3", "post r", "post s 2", "post a", "wait r"}) ==
        "an arrival is a release too");
}

TEST_CASE("composition: who awaits takes nothing") {
  const auto awaiting = [](std::uint32_t engine, std::uint32_t at) {
    return said(on_two_chips(), [&](Program& p) {
      ir::Op& op = p.programs[engine].ops[at];
      op.code = ir::OpCode::await;
      p.semaphores[op.object].restart = ir::Restart::reset;
    });
  };
  CHECK(awaiting(0, 2) == "the boundary after section s0: it does not gather all");
  CHECK(awaiting(1, 2) == "the boundary after section s0: a release is not waited for");
}

TEST_CASE("composition: neighbouring rendezvous have no release in common") {
  auto engines = on_two_chips();
  engines[0].parts[3] = {"post a", "wait a 3", "post r", "post f 2", "wait r"};
  CHECK(said(engines) ==
        "the boundary after section s1: it has a release of the rendezvous before");
  engines = on_two_chips();
  engines[0].parts[3] = {"post a", "wait a 3", "post g", "post s 2", "wait g"};
  engines[1].parts[3] = engines[2].parts[3] = {"post a", "wait s"};
  CHECK(said(engines) ==
        "the boundary after section s1: it has a release of the rendezvous before");
}

TEST_CASE("composition: what another rendezvous has posted is not there") {
  auto engines = on_two_chips();
  engines[0].parts[3] = {"post a", "wait a 3", "post g", "wait g"};
  engines[1].parts[3] = engines[2].parts[3] = {"post a", "wait s"};
  CHECK(said(engines) == "the boundary after section s1: a release is not posted");
}

TEST_CASE("composition: another root, and another arrival, is another rendezvous") {
  auto engines = on_two_chips();
  engines[0].parts[3] = {"post a", "wait g"};
  engines[1].parts[3] = {"post a", "wait a 3", "post g", "post f 2", "wait f"};
  Draft d = draft_of(engines);
  // The arrival would have to be on the other chip.
  engines[0].parts[3] = {"post b", "wait b 3", "post g", "post f 2", "wait g"};
  engines[1].parts[3] = engines[2].parts[3] = {"post b", "wait f"};
  CHECK(said(engines) == "the boundary after section s1: it does not gather all");
}

TEST_CASE("composition: the root is one and the same engine program") {
  Draft d("roots");
  d.tensor("x", "external").semaphore("a", 0, 2).semaphore("r", 0, 2).semaphore("g", 0, 2);
  const Ops root{"post a", "wait a 2", "post r 2", "wait r"}, other{"post a", "wait r"};
  const Ops root_g{"post a", "wait a 2", "post g 2", "wait g"}, other_g{"post a", "wait g"};
  in_sections(d, {{"load", {{"run s0_a x"}, root, {"run s1_a x"}, other_g, {"run s2_a x"}}},
                  {"store", {{"run s0_b x"}, other, {"run s1_b x"}, root_g, {"run s2_b x"}}}});
  CHECK(objection(d.program()) == "the boundary after section s1: its root is another one");
}

TEST_CASE("composition: semaphores of rendezvous count from 0, and far enough") {
  const auto semaphore = [](const char* name, std::int64_t initial, std::int64_t maximum) {
    const std::string found = said(on_two_chips(), [&](Program& p) {
      named(p.semaphores, name).initial = initial;
      named(p.semaphores, name).maximum = maximum;
    });
    const std::string head = "the boundary after section s0: ";
    return found.starts_with(head) ? found.substr(head.size()) : found;
  };
  CHECK(semaphore("a", 0, 3) == "3 classes");
  CHECK(semaphore("a", 1, 4) == "the arrival does not count from 0 to all");
  CHECK(semaphore("a", 0, 2) == "the arrival does not count from 0 to all");
  CHECK(semaphore("s", 0, 2) == "3 classes");
  CHECK(semaphore("s", 1, 3) == "a release does not count from 0 to those that wait");
  CHECK(semaphore("s", 0, 1) == "a release does not count from 0 to those that wait");
}

TEST_CASE("composition: a part of a boundary comes once") {
  Program program = draft_of(on_two_chips()).program();
  // The same ops, as two parts of the boundary.
  auto& spans = program.programs[0].spans;
  ir::Span second = spans[1];
  second.begin += 2;
  spans[1].end = second.begin;
  spans.insert(spans.begin() + 2, second);
  REQUIRE(!ir::validate(program));
  CHECK(divided(program) == "rendezvous");
  CHECK_FALSE(by_sections(program).divided.has_value());
  // At the last boundary.
  program = draft_of(on_two_chips()).program();
  auto& others = program.programs[1].spans;
  second = others[3];
  second.begin += 1;
  others[3].end = second.begin;
  others.insert(others.begin() + 4, second);
  REQUIRE(!ir::validate(program));
  CHECK(divided(program) == "rendezvous");
}

TEST_CASE("composition: what comes behind a rendezvous is no part of it") {
  auto engines = on_two_chips();
  engines[1].parts[3] = {"post a", "wait f", "post o"};
  Program program = draft_of(engines).program();
  auto& spans = program.programs[1].spans;
  ir::Span rest = spans[3];
  rest.begin += 2;
  spans[3].end = rest.begin;
  spans.insert(spans.begin() + 4, rest);
  REQUIRE(!ir::validate(program));
  CHECK(objection(program) == "an engine program has another part in it");
  // A signal is left over.
  CHECK(by_sections(program).verdict == Verdict::refuted);
}

TEST_CASE("composition: a closed boundary that nobody takes part in") {
  Program program = chain().program();
  for (ir::EngineProgram& one : program.programs) {
    const ir::Span boundary = one.spans[3];
    one.ops.erase(one.ops.begin() + boundary.begin, one.ops.begin() + boundary.end);
    one.spans.erase(one.spans.begin() + 3);
    one.spans.back().begin -= boundary.end - boundary.begin;
    one.spans.back().end -= boundary.end - boundary.begin;
  }
  REQUIRE(!ir::validate(program));
  // What the sections hand on holds the engines up all the same.
  CHECK(divided(program) == "rendezvous");
  CHECK_FALSE(by_sections(program).divided.has_value());
  CHECK(by_sections(program).verdict == whole(program).verdict);
}

TEST_CASE("composition: a persistent program is closed, and its last rendezvous unlike the first") {
  Program program = ring().program();
  CHECK(divided(program) == "one class");
  const auto recolour = [](Program p, const char* colour) {
    for (ir::EngineProgram& one : p.programs) {
      const ir::Span last = one.spans.back();
      for (std::uint32_t i = last.begin; i < last.end; ++i) {
        if (one.ops[i].object == number(p.semaphores, "y"))
          one.ops[i].object = number(p.semaphores, colour);
      }
    }
    return p;
  };
  CHECK(objection(recolour(program, "r")) ==
        "the boundary after section s2: it has a release of the rendezvous after");
  CHECK_FALSE(by_sections(recolour(program, "r")).divided.has_value());
  CHECK(objection(recolour(program, "g")) ==
        "the boundary after section s2: it has a release of the rendezvous before");
  Program open = chain().program();
  open.execution = ir::Execution::persistent;
  CHECK(divided(open) == "wrap around");
  CHECK(whole(open).verdict == by_sections(open).verdict);
}

TEST_CASE("composition: one rendezvous in a circle is its own neighbour") {
  Draft d("alone");
  d.persistent().tensor("x", "external").semaphore("a", 0, 2).semaphore("r", 0, 2);
  in_sections(d, {{"load", {{"run s0_a x"}, {"post a", "wait a 2", "post r 2", "wait r"}}},
                  {"store", {{"run s0_b x"}, {"post a", "wait r"}}}});
  CHECK(objection(d.program()) == "a single rendezvous is its own neighbour");
  CHECK(by_sections(d.program()).verdict == whole(d.program()).verdict);
}

}  // namespace
}  // namespace spatialcert::tests::compositions
