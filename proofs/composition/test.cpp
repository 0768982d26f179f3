// Sections of composed programs: what makes a class, and every premise broken on its own.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/program_file.hpp"
#include "ir/validate.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/proofs/compositions.hpp"

namespace spatialcert::proofs::composition {
namespace {

using certify::Verdict;
using namespace tests::compositions;
using ir::Program;
using tests::Draft;
using tests::in_sections;

/// The verdict is the same either way, and what is certified can be rechecked.
certify::ProgramReport agreed(const Program& program) {
  const auto one = whole(program), other = by_sections(program);
  CHECK(one.verdict == other.verdict);
  for (std::size_t r = 0; r < one.rules.size() && r < other.rules.size(); ++r) {
    CAPTURE(to_string(one.rules[r].rule));
    CHECK(one.rules[r].verdict == other.rules[r].verdict);
  }
  if (other.certificate) {
    const auto outcome = recheck(program, *other.certificate);
    CHECK_MESSAGE(!outcome.denial, outcome.detail);
  }
  return other;
}

Program with(Program program, const std::function<void(Program&)>& change) {
  change(program);
  REQUIRE_MESSAGE(!ir::validate(program), ir::validate(program)->message());
  return program;
}

ir::Op& op(Program& program, std::uint32_t engine, std::uint32_t number) {
  return program.programs.at(engine).ops.at(number);
}

TEST_CASE("composition: sections that are alike are one class, and stand for the whole") {
  const Program program = chain().program();
  CHECK(divided(program) == "one class");
  const auto report = agreed(program);
  CHECK(report.verdict == Verdict::certified);
  REQUIRE(report.divided.has_value());
  CHECK(report.divided->sections == 3);
  CHECK(report.divided->classes == 1);
  CHECK(report.divided->transitions == 9);
  CHECK(report.certificate->class_of == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("composition: what is reported of sections is what is reported of the whole") {
  for (const Program& program : {chain().program(), ring().program()}) {
    const auto one = whole(program), other = by_sections(program);
    REQUIRE(other.divided.has_value());
    if (program.execution == ir::Execution::once) CHECK(one.places == other.places);
    CHECK(one.transitions == other.transitions);
    CHECK(one.digest == other.digest);
    for (std::size_t r = 0; r < one.rules.size(); ++r) {
      const Rule rule = one.rules[r].rule;
      if (rule != Rule::flow && rule != Rule::coverage && rule != Rule::memory) continue;
      CAPTURE(to_string(rule));
      if (program.execution == ir::Execution::once || rule != Rule::flow)
        CHECK(one.rules[r].obligations == other.rules[r].obligations);
    }
  }
}

TEST_CASE("composition: a program that wraps around behind a rendezvous") {
  const Program program = ring().program();
  CHECK(divided(program) == "one class");
  CHECK(agreed(program).divided.has_value());
}

TEST_CASE("composition: sections that are almost alike are not") {
  const auto classes = [](const std::function<void(Program&)>& change) {
    const Program program = with(chain().program(), change);
    CHECK(agreed(program).verdict != Verdict::undecided);
    return divided(program);
  };
  CHECK(classes([](Program& p) { named(p.semaphores, "h1").initial = 1; }) == "2 classes");
  CHECK(classes([](Program& p) { named(p.semaphores, "h1").maximum = 2; }) == "2 classes");
  CHECK(classes([](Program& p) { named(p.semaphores, "h1").restart = ir::Restart::reset; }) ==
        "2 classes");
  CHECK(classes([](Program& p) { named(p.buffers, "q1").pages = 1; }) == "2 classes");
  CHECK(classes([](Program& p) { named(p.buffers, "q1").depth = ir::Depth::guaranteed; }) ==
        "2 classes");
  CHECK(classes([](Program& p) { named(p.buffers, "q2").page_bytes = 128; }) == "memory");
  CHECK(classes([](Program& p) {
          named(p.buffers, "q2").page_bytes = 128;
          named(p.buffers, "q2").address = 1024;
        }) == "2 classes");
  // Where things come from makes no difference.
  CHECK(classes([](Program& p) {
          p.source_files = {"model.py"};
          p.locations = {{0, 3, 4}};
          named(p.stages, "s1_s").location = 0;
          p.tensors[0].location = 0;
          p.sections[1].location = 0;
          for (ir::EngineProgram& engine : p.programs) engine.ops.back().location = 0;
        }) == classes([](Program&) {}));
  CHECK(classes([](Program& p) { named(p.stages, "s1_s").kind = ir::StageKind::store; }) ==
        "2 classes");
  CHECK(classes([](Program& p) { named(p.stages, "s1_s").op = ir::OpKind::neg; }) == "2 classes");
  CHECK(classes([](Program& p) { p.edges.erase(p.edges.begin() + 1); }) == "2 classes");
  CHECK(classes([](Program& p) { p.edges.push_back(p.edges[1]); }) == "2 classes");
  CHECK(classes([](Program& p) { std::swap(p.edges[1].producer, p.edges[1].consumer); }) ==
        "2 classes");
  // Half of the buffer is read, or half of it written.
  CHECK(classes([](Program& p) { p.accesses[op(p, 1, 10).first_access].region.bound[1] = 32; }) ==
        "2 classes");
  CHECK(classes([](Program& p) {
          p.accesses[op(p, 1, 8).first_access + 1].region.bound[1] = 32;
        }) == "2 classes");
  CHECK(classes([](Program& p) { p.accesses[op(p, 1, 8).first_access].region.bound[0] = 32; }) ==
        "2 classes");
  CHECK(classes([](Program& p) { p.accesses[op(p, 0, 9).first_access].region.bound[1] = 3; }) ==
        "2 classes");
}

TEST_CASE("composition: another size of what is touched is another class") {
  const Program program = with(chain().program(), [](Program& p) {
    ir::Tensor& tensor = named(p.tensors, "t2");
    tensor.rows = 5;
    for (ir::Access& access : p.accesses) {
      if (access.region.kind == ir::RegionKind::tensor &&
          access.region.object == number(p.tensors, "t2"))
        access.region.bound[1] = 5;
    }
  });
  CHECK(divided(program) == "3 classes");
  CHECK(agreed(program).divided.has_value());
  // The same elements of another shape are others.
  const Program wider =
      with(chain().program(), [](Program& p) { named(p.tensors, "t2").cols = 5; });
  CHECK(divided(wider) == "3 classes");
  CHECK(agreed(wider).verdict == Verdict::certified);
}

TEST_CASE("composition: a view of another part is another class") {
  const Program program = with(chain().program(), [](Program& p) {
    for (const char* name : {"v0", "v1", "v2"}) {
      ir::Buffer& view = named(p.buffers, name);
      view.page_bytes = 32;
    }
    for (ir::Access& access : p.accesses) {
      if (access.region.kind == ir::RegionKind::bytes) access.region.bound[1] = 32;
    }
    ir::Buffer& view = named(p.buffers, "v1");
    view.view->offset = 32;
    view.address += 32;
  });
  CHECK(divided(program) == "2 classes");
  // What s1 reads of b1 was never written.
  CHECK(agreed(program).verdict == Verdict::refuted);
}

TEST_CASE("composition: a section is of a class only if it finds what the first one finds") {
  // s1 reads what s0 has written; without s0's write of t1 nobody has.
  Program program = with(chain().program(), [](Program& p) {
    p.accesses[op(p, 1, 3).first_access + 1].region.object = number(p.tensors, "t3");
  });
  CHECK(divided(program) == "2 classes");
  CHECK(agreed(program).verdict == Verdict::refuted);
  // A part that is missing is missed.
  program = with(chain().program(),
                 [](Program& p) { p.accesses[op(p, 1, 3).first_access + 1].region.bound[0] = 1; });
  CHECK(divided(program) != "one class");
  CHECK(agreed(program).verdict == Verdict::refuted);
}

TEST_CASE("composition: what belongs to sections belongs to one") {
  // h0 is posted in s0 and waited for in s1.
  const auto objects = [](const std::function<void(Program&)>& change) {
    const Program program = with(chain().program(), change);
    CHECK_FALSE(agreed(program).divided.has_value());
    return divided(program);
  };
  CHECK(objects([](Program& p) { op(p, 0, 11).object = number(p.semaphores, "h0"); }) ==
        "used by many");
  CHECK(objects([](Program& p) { op(p, 0, 11).object = number(p.semaphores, "a"); }) ==
        "used by many");
  CHECK(objects([](Program& p) { op(p, 0, 11).object = number(p.semaphores, "r"); }) ==
        "used by many");
  CHECK(objects([](Program& p) {
          p.accesses[op(p, 1, 10).first_access].region.object = number(p.buffers, "b0");
        }) == "used by many");
  // Through a view as well.
  CHECK(objects([](Program& p) {
          p.accesses[op(p, 1, 10).first_access].region.object = number(p.buffers, "v0");
        }) == "used by many");
  CHECK(objects([](Program& p) { p.links.push_back({true, number(p.buffers, "q1")}); }) == "link");
  CHECK(objects([](Program& p) { p.edges[1].producer = ir::StageId(number(p.stages, "s0_l")); }) ==
        "edge");
  CHECK(objects([](Program& p) { p.edges[1].consumer = ir::StageId(number(p.stages, "s0_c")); }) ==
        "edge");
}

TEST_CASE("composition: rules that follow values through everything") {
  Draft draft = chain();
  draft.sum("t1", {"t0"});
  CHECK(divided(draft.program()) == "values");
  CHECK(objection(draft.program()) ==
        "declared results are those of all sections together");
  CHECK_FALSE(agreed(draft.program()).divided.has_value());
  // Whose data are where is followed from section to section (composition/labels.hpp).
  const Program owned =
      with(chain().program(), [](Program& p) { named(p.tensors, "t1").owner = 0; });
  CHECK(divided(owned) == "3 classes");
  CHECK(agreed(owned).divided.has_value());
}

TEST_CASE("composition: certificates that say something else of sections are denied") {
  const Program program = chain().program();
  const Certificate good = *by_sections(program).certificate;
  const auto denied = [](const Program& other, const Certificate& claim,
                         const std::vector<Rule>& required = {}) {
    const auto outcome = recheck(other, claim, required);
    return outcome.denial ? std::string(to_string(*outcome.denial)) + ": " + outcome.detail : "";
  };
  CHECK(denied(program, good) == "");
  CHECK(denied(program, good, {Rule::isolation}) == "");
  CHECK(denied(program, good, {Rule::shard}) ==
        "not applicable: shard: it is required, but nothing belongs to one chip");
  const auto with_classes = [&](const std::vector<std::uint32_t>& numbers) {
    Certificate claim = good;
    claim.class_of = numbers;
    claim.classes.resize(1 + *std::max_element(numbers.begin(), numbers.end()), good.classes[0]);
    return denied(program, claim);
  };
  CHECK(with_classes({0, 1, 0}) == "");  // nobody says that classes must be few
  CHECK(with_classes({0, 0}) == "wrong classes: section s2: it is not like those of its class");
  CHECK(with_classes({0, 0, 0, 0}) == "wrong classes: the program has other sections");
  CHECK(with_classes({0, 0, 0, 1}) == "wrong classes: the program has other sections");
  CHECK(with_classes({1, 0, 0}) == "wrong classes: section s0: it is not like those of its class");
  Certificate claim = good;
  claim.classes[0].liveness->potential[0] = 1'000;
  CHECK(denied(program, claim).starts_with("witness rejected: class 0, of section s0: liveness: "));
  claim = good;
  claim.classes[0].ordering.reset();
  CHECK(
      denied(program, claim) ==
      "missing obligation: class 0, of section s0: ordering: the certificate has no witness of it");
  claim = good;
  claim.classes.push_back(good.classes[0]);
  CHECK(denied(program, claim) == "wrong classes: the program has other sections");
  // Of a program whose sections are linked, and of one in which they are not alike.
  const auto about = [&](const std::function<void(Program&)>& change) {
    const Program other = with(chain().program(), change);
    Certificate moved = good;
    moved.program = ir::digest(other);
    return denied(other, moved);
  };
  CHECK(about([](Program& p) {
          p.links.push_back({true, number(p.buffers, "q1")});
        }) == "wrong classes: a declared link joins sections");
  CHECK(about([](Program& p) { named(p.semaphores, "h1").initial = 1; }) ==
        "wrong classes: section s1: it is not like those of its class");
}

TEST_CASE("composition: no section has an op") {
  Draft d("empty");
  d.semaphore("a").semaphore("r");
  in_sections(d, {{"load", {{}, {"post a", "wait a", "post r", "wait r"}, {}}}});
  CHECK(divided(d.program()) == "values");
  CHECK_FALSE(agreed(d.program()).divided.has_value());
}

TEST_CASE("composition: a section without ops stands for nothing and harms nobody") {
  Draft d("gap");
  d.tensor("x", "external").tensor("y").semaphore("a", 0, 1).semaphore("r").semaphore("g");
  in_sections(d, {{"load",
                   {{"run s0_a x > y"},
                    {"post a", "wait a", "post r", "wait r"},
                    {},
                    {"post a", "wait a", "post g", "wait g"},
                    {"run s2_a y"}}}});
  CHECK(divided(d.program()) == "2 classes");
  const auto report = agreed(d.program());
  REQUIRE(report.divided.has_value());
  CHECK(report.divided->sections == 2);
}

}  // namespace
}  // namespace spatialcert::proofs::composition
