// What sections touch of what outlives them: who may, in which order, and what is defined.
#include <doctest/doctest.h>

#include <functional>

#include "ir/validate.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/proofs/compositions.hpp"

namespace spatialcert::tests::compositions {
namespace {

using certify::Verdict;
using ir::Program;

const Ops kRed{"post a", "wait a", "post r", "wait r"},
    kGreen{"post a", "wait a", "post g", "wait g"};

/// One engine; sections of these ops, with a rendezvous between two but where one is open.
Draft sections(const std::vector<Ops>& parts, const std::vector<bool>& open = {}) {
  Draft d("sections");
  d.tensor("x", "external", 8).tensor("y", "undefined", 8).tensor("z", "undefined", 8);
  d.tensor("half", "undefined", 4, "f32", R"("view": {"of": "y", "offset": 16})");
  d.buffer("kv", R"("lifetime": "resident")").buffer("b").buffer("c");
  d.buffer("part", R"("view": {"of": "kv", "offset": 32}, "page_bytes": 32)");
  d.semaphore("a", 0, 1).semaphore("r", 0, 1).semaphore("g", 0, 1);
  std::vector<Ops> all;
  bool red = true;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    all.push_back(parts[k]);
    if (k + 1 == parts.size()) break;
    const bool closed = k >= open.size() || !open[k];
    all.push_back(!closed ? Ops{} : red ? kRed : kGreen);
    red ^= closed;
  }
  return in_sections(d, {{"load", all}});
}

/// How the program is divided. It must be judged alike either way.
std::string found(const Program& program, std::optional<Verdict> verdict = std::nullopt) {
  REQUIRE_MESSAGE(!ir::validate(program), ir::validate(program)->message());
  const auto one = whole(program), other = by_sections(program);
  CHECK(one.verdict == other.verdict);
  if (verdict) CHECK(one.verdict == *verdict);
  if (other.certificate) CHECK(!proofs::recheck(program, *other.certificate).denial);
  const std::string kind = divided(program);
  if (!kind.ends_with("class") && !kind.ends_with("classes"))
    CHECK_FALSE(other.divided.has_value());
  return kind;
}
std::string found(const Draft& draft, std::optional<Verdict> verdict = std::nullopt) {
  return found(draft.program(), verdict);
}
Program with(const Draft& draft, const std::function<void(Program&)>& change) {
  Program program = draft.program();
  change(program);
  return program;
}

TEST_CASE("composition: sections of one phase share what none of them writes") {
  CHECK(found(sections({{"run s0_a x > y"}, {"run s1_a x > z"}}, {true}), Verdict::certified) ==
        "one class");
  CHECK(found(sections({{"run s0_a x > y"}, {"run s1_a y > z"}}, {true}), Verdict::refuted) ==
        "shared");
  CHECK(found(sections({{"run s0_a x > y"}, {"run s1_a x > y"}}, {true}), Verdict::refuted) ==
        "shared");
  CHECK(found(sections({{"run s0_a x > y"}, {"run s1_a x"}, {"run s2_a x > y"}}, {true, true}),
              Verdict::refuted) == "shared");
  // In a later phase it is another matter; in part of the tensor none at all.
  CHECK(found(sections({{"run s0_a x > y"}, {"run s1_a y > z"}}), Verdict::certified) ==
        "one class");
  CHECK(found(sections({{"run s0_a x > y[0:4]"}, {"run s1_a x > y[4:8]"}}, {true}),
              Verdict::certified) == "2 classes");
  CHECK(found(sections({{"run s0_a x > y[0:5]"}, {"run s1_a x > y[4:8]"}}, {true}),
              Verdict::refuted) == "shared");
  // Rows 4 to 8 are the view's.
  CHECK(found(sections({{"run s0_a x > y[0:5]"}, {"run s1_a x > half"}}, {true}),
              Verdict::refuted) == "shared");
  CHECK(found(sections({{"run s0_a x > y[0:4]"}, {"run s1_a x > half"}}, {true}),
              Verdict::certified) == "2 classes");
}

TEST_CASE("composition: sections of one phase share no byte of resident buffers either") {
  CHECK(found(sections({{"run s0_a x > kv"}, {"run s1_a kv > y"}}, {true}), Verdict::refuted) ==
        "shared");
  CHECK(found(sections({{"run s0_a x > kv[0:32]"}, {"run s1_a x > part"}}, {true}),
              Verdict::certified) == "2 classes");
  CHECK(found(sections({{"run s0_a x > kv[0:36]"}, {"run s1_a x > part"}}, {true}),
              Verdict::refuted) == "shared");
}

TEST_CASE("composition: conflicting sections come in the order of the source") {
  const auto reordered = [](const std::vector<Ops>& parts) {
    return with(sections(parts), [](Program& p) {
      std::swap(p.sections[0].source_index, p.sections[1].source_index);
    });
  };
  CHECK(found(reordered({{"run s0_a x > y"}, {"run s1_a x > z"}}), Verdict::certified) ==
        "one class");
  CHECK(found(reordered({{"run s0_a x > y"}, {"run s1_a y > z"}}), Verdict::refuted) ==
        "reordered");
  CHECK(found(reordered({{"run s0_a x > y"}, {"run s1_a x > y"}}), Verdict::refuted) ==
        "reordered");
  CHECK(found(reordered({{"run s0_a x"}, {"run s1_a z > x"}}), Verdict::refuted) == "reordered");
  CHECK(found(reordered({{"run s0_a x > kv"}, {"run s1_a kv > z"}}), Verdict::refuted) ==
        "reordered");
  // Of those that read, the last one in the source matters.
  for (const std::uint32_t first : {0U, 2U}) {
    const Program three =
        with(sections({{"run s0_a x"}, {"run s1_a x"}, {"run s2_a > x"}}), [=](Program& p) {
          p.sections[0].source_index = first;
          p.sections[1].source_index = 2 - first;
          p.sections[2].source_index = 1;
        });
    CHECK(found(three, Verdict::refuted) == "reordered");
  }
  // Behind a later write an earlier read is past.
  const Program past = with(sections({{"run s0_a x"}, {"run s1_a > x"}, {"run s2_a x > y"}}),
                            [](Program& p) { p.sections[2].source_index = 7; });
  CHECK(found(past, Verdict::certified) == "3 classes");
}

TEST_CASE("composition: what a section reads is declared, or filled by sections before it") {
  CHECK(found(sections({{"run s0_a x > y[0:4]"}, {"run s1_a x > y[4:8]"}, {"run s2_a y > z"}}),
              Verdict::certified) == "3 classes");
  // Row 4 is nobody's.
  CHECK(found(sections({{"run s0_a x > y[0:4]"}, {"run s1_a x > y[5:8]"}, {"run s2_a y > z"}}),
              Verdict::refuted) == "3 classes");
  CHECK(found(sections({{"run s0_a y > z"}, {"run s1_a x > y"}}), Verdict::refuted) == "one class");
  CHECK(found(sections({{"run s0_a x > half"}, {"run s1_a y[4:8] > z"}}), Verdict::certified) ==
        "2 classes");
  CHECK(found(sections({{"run s0_a x > half"}, {"run s1_a y[3:8] > z"}}), Verdict::refuted) ==
        "2 classes");
  CHECK(found(sections({{"run s0_a x > kv"}, {"run s1_a part > z"}}), Verdict::certified) ==
        "2 classes");
  CHECK(found(sections({{"run s0_a x > part"}, {"run s1_a kv > z"}}), Verdict::refuted) ==
        "2 classes");
  // Byte 31 is missing, and what is written again is there all the same.
  CHECK(found(sections({{"run s0_a x > kv[0:31]", "run s0_b x > kv[32:64]"}, {"run s1_a kv > z"}}),
              Verdict::refuted) == "2 classes");
  const Program twice =
      sections({{"run s0_a x > kv", "run s0_b x > kv[16:32]"}, {"run s1_a kv > z"}}).program();
  CHECK(found(twice, Verdict::certified) == "2 classes");
  CHECK(by_sections(twice).divided.has_value());
  // What it fills itself, it need not find.
  CHECK(found(sections({{"run s0_a x > y", "run s0_b y > z"}, {"run s1_a z"}}),
              Verdict::certified) == "2 classes");
  CHECK(found(sections({{"run s0_b y > z", "run s0_a x > y"}, {"run s1_a z"}}), Verdict::refuted) ==
        "2 classes");
}

/// s0 writes y in a loop of so many trips, s1 reads all of it. `change`: of the written region.
Program looped(int trips, const char* rows,
               const std::function<void(Program&, ir::Region&)>& change = {}) {
  Program program = sections({{"run s0_c x"}, {"run s1_a y > z"}}).program();
  // The ranges of sections know no loops: the op is put into one here.
  Draft loop("loop");
  loop.tensor("x", "external", 8).tensor("y", "undefined", 8);
  loop.engine("load", {"repeat " + std::to_string(trips),
                       std::string("run s0_c x > y[") + rows + "]", "end"});
  const Program made = loop.program();
  auto& ops = program.programs[0].ops;
  ir::Op run = made.programs[0].ops[1];
  run.object = ops[0].object;
  run.first_access = static_cast<std::uint32_t>(program.accesses.size());
  for (std::uint32_t a = 0; a < run.accesses; ++a) {
    ir::Access access = made.accesses[made.programs[0].ops[1].first_access + a];
    access.region.first_term += static_cast<std::uint32_t>(program.affine_terms.size());
    access.region.object = number(program.tensors, made.tensors[access.region.object].name);
    program.accesses.push_back(access);
  }
  program.affine_terms.insert(program.affine_terms.end(), made.affine_terms.begin(),
                              made.affine_terms.end());
  ops[0] = made.programs[0].ops[0];
  ops.insert(ops.begin() + 1, run);
  for (ir::Span& span : program.programs[0].spans) {
    span.begin += span.begin == 0 ? 0 : 1;
    ++span.end;
  }
  if (change) change(program, program.accesses.back().region);
  return program;
}

/// Is it certified section by section? The verdict is this one either way.
bool fills(const Program& program, Verdict verdict) {
  CHECK(whole(program).verdict == verdict);
  const auto other = by_sections(program);
  CHECK(other.verdict == verdict);
  return other.divided.has_value();
}

TEST_CASE("composition: what loops fill is what they leave no gap in") {
  CHECK(fills(looped(8, "1i:1i+1"), Verdict::certified));
  CHECK(fills(looped(4, "2i:2i+2"), Verdict::certified));
  CHECK_FALSE(fills(looped(4, "2i:2i+1"), Verdict::refuted));
  CHECK_FALSE(fills(looped(7, "1i:1i+1"), Verdict::refuted));
  CHECK(fills(looped(7, "1i:1i+2"), Verdict::certified));
  // From the end to the beginning.
  CHECK(fills(looped(8, "-1i+7:-1i+8"), Verdict::certified));
  CHECK_FALSE(fills(looped(4, "-2i+7:-2i+8"), Verdict::refuted));
  CHECK_FALSE(fills(looped(7, "-1i+7:-1i+8"), Verdict::refuted));
  // Ends that move apart are not told, and the whole is judged.
  CHECK_FALSE(fills(looped(8, "0i:1i+1"), Verdict::certified));
  // Out of the tensor.
  CHECK_FALSE(fills(looped(9, "1i:1i+1"), Verdict::refuted));
  CHECK(divided(looped(9, "1i:1i+1")) == "region");
  CHECK(divided(looped(9, "-1i+7:-1i+8")) == "region");
  CHECK(divided(looped(1, "4i:1i+0")) == "region");
}

TEST_CASE("composition: rows and columns are filled together") {
  const auto columns = [](std::int64_t from, std::int64_t to) {
    return [=](Program&, ir::Region& region) {
      region.bound[2] = from;
      region.bound[3] = to;
    };
  };
  CHECK(fills(looped(8, "1i:1i+1", columns(0, 4)), Verdict::certified));
  CHECK_FALSE(fills(looped(8, "1i:1i+1", columns(0, 3)), Verdict::refuted));
  CHECK_FALSE(fills(looped(8, "1i:1i+1", columns(1, 4)), Verdict::refuted));
  CHECK(divided(looped(8, "1i:1i+1", columns(1, 5))) == "region");
  // Along a diagonal most is left out, whatever rows and columns are each by themselves.
  const auto diagonal = [](Program& p, ir::Region& region) {
    region.bound[2] = 0;
    region.bound[3] = 1;
    region.first_term = static_cast<std::uint32_t>(p.affine_terms.size());
    region.terms = 4;
    for (std::uint8_t bound = 0; bound < 4; ++bound) p.affine_terms.push_back({bound, 0, 1});
    // The rows that it touches are all that is read.
    p.accesses[p.programs[0].ops.back().first_access].region.bound[1] = 4;
  };
  CHECK_FALSE(fills(looped(4, "1i:1i+1", diagonal), Verdict::refuted));
  // Every second column, of all rows.
  const auto stripes = [](std::int64_t width) {
    return [=](Program& p, ir::Region& region) {
      region.bound[1] = 8;
      region.bound[2] = 0;
      region.bound[3] = width;
      region.first_term = static_cast<std::uint32_t>(p.affine_terms.size());
      region.terms = 2;
      p.affine_terms.push_back({2, 0, 2});
      p.affine_terms.push_back({3, 0, 2});
      // What lies between the first stripe and the last one is all that is read.
      p.accesses[p.programs[0].ops.back().first_access].region.bound[3] = 2 + width;
    };
  };
  CHECK(fills(looped(2, "0i:0i+1", stripes(2)), Verdict::certified));
  CHECK_FALSE(fills(looped(2, "0i:0i+1", stripes(1)), Verdict::refuted));
  // Halves of the columns, by two sections.
  const auto halves = [](std::int64_t from) {
    return with(sections({{"run s0_a x > y"}, {"run s1_a x > y"}, {"run s2_a y > z"}}),
                [&](Program& p) {
                  const auto& ops = p.programs[0].ops;
                  p.accesses[ops[0].first_access + 1].region.bound[3] = 2;
                  p.accesses[ops[5].first_access + 1].region.bound[2] = from;
                });
  };
  CHECK(found(halves(2), Verdict::certified) == "3 classes");
  CHECK(found(halves(3), Verdict::refuted) == "3 classes");
}

TEST_CASE("composition: loops in loops") {
  // Two rows in the inner loop, every `step` rows in the outer one.
  const auto nested = [](std::int64_t step, std::int64_t outer) {
    return [=](Program& p, ir::Region& region) {
      auto& ops = p.programs[0].ops;
      ir::Op loop = ops[0];
      loop.count = outer;
      loop.body = 2;
      ops.insert(ops.begin(), loop);
      region.first_term = static_cast<std::uint32_t>(p.affine_terms.size());
      region.terms = 4;
      for (std::uint8_t bound : {std::uint8_t{0}, std::uint8_t{1}}) {
        p.affine_terms.push_back({bound, 0, step});
        p.affine_terms.push_back({bound, 1, 1});
      }
      for (ir::Span& span : p.programs[0].spans) {
        span.begin += span.begin == 0 ? 0 : 1;
        ++span.end;
      }
    };
  };
  CHECK(fills(looped(2, "1i:1i+1", nested(2, 4)), Verdict::certified));
  CHECK(fills(looped(3, "1i:1i+1", nested(1, 6)), Verdict::certified));
  CHECK_FALSE(fills(looped(2, "1i:1i+1", nested(3, 3)), Verdict::refuted));
}

TEST_CASE("composition: what is declared of a view is declared of that part") {
  const auto declared = [](const char* reads, Verdict verdict) {
    const Program program = with(
        sections({{std::string("run s0_a ") + reads + " > z"}, {"run s1_a x"}}), [](Program& p) {
          named(p.tensors, "half").init = ir::Init::external;
          named(p.buffers, "part").init = ir::Init::zero;
        });
    CHECK(found(program, verdict) == "2 classes");
    return by_sections(program).divided.has_value();
  };
  CHECK(declared("y[4:8]", Verdict::certified));
  CHECK_FALSE(declared("y[0:4]", Verdict::refuted));
  CHECK_FALSE(declared("y[3:8]", Verdict::refuted));
  CHECK(declared("kv[32:64]", Verdict::certified));
  CHECK_FALSE(declared("kv[0:32]", Verdict::refuted));
}

TEST_CASE("composition: a part that is touched leaves the rest as it was") {
  const auto parts = [](const char* first, const char* second) {
    return with(sections({{"run s0_a x"}, {first}, {second}}), [](Program& p) {
      std::swap(p.sections[1].source_index, p.sections[2].source_index);
    });
  };
  for (const Program& program : {parts("run s1_a > x[0:4]", "run s2_a > x[4:8]"),
                                 parts("run s1_a > x[4:8]", "run s2_a > x[0:4]")}) {
    CHECK(found(program, Verdict::certified) == "3 classes");
    CHECK(by_sections(program).divided.has_value());
  }
  CHECK(found(parts("run s1_a > x[0:5]", "run s2_a > x[4:8]"), Verdict::refuted) == "reordered");
}

TEST_CASE("composition: bytes that live at the same time are apart") {
  const auto kept = [](const std::function<void(Program&)>& change) {
    return with(sections({{"run s0_a x > kv", "run s0_b x > b", "run s0_c b > y"},
                          {"run s1_a x > c", "run s1_b c > z", "run s1_c kv"}}),
                change);
  };
  CHECK(found(kept([](Program&) {}), Verdict::certified) == "2 classes");
  // The buffer of another phase may have the bytes, but not those that are resident.
  CHECK(
      found(kept([](Program& p) { named(p.buffers, "c").address = named(p.buffers, "b").address; }),
            Verdict::certified) == "2 classes");
  CHECK(found(kept([](Program& p) {
                named(p.buffers, "c").address = named(p.buffers, "kv").address;
              }),
              Verdict::refuted) == "memory");
  CHECK(found(kept([](Program& p) { named(p.buffers, "c").address = 60; }), Verdict::refuted) ==
        "memory");
  CHECK(found(kept([](Program& p) { named(p.buffers, "c").address = 1026; }), Verdict::refuted) ==
        "memory");
  CHECK(found(kept([](Program& p) { named(p.buffers, "c").address = 4096 - 60; }),
              Verdict::refuted) == "memory");
  CHECK(found(kept([](Program& p) { named(p.buffers, "c").address = 4096 - 64; }),
              Verdict::certified) == "2 classes");
}

TEST_CASE("composition: buffers that are resident between two sections are touched there") {
  const auto between = [](std::uint32_t from, std::uint32_t to) {
    return with(sections({{"run s0_a x > kv"}, {"run s1_a kv > y"}, {"run s2_a x > z"}}),
                [&](Program& p) {
                  named(p.buffers, "kv").resident_from = ir::SectionId(from);
                  named(p.buffers, "kv").resident_to = ir::SectionId(to);
                });
  };
  CHECK(found(between(0, 1), Verdict::certified) == "3 classes");
  CHECK(found(between(0, 2), Verdict::certified) == "3 classes");
  CHECK(found(between(1, 1), Verdict::refuted) == "lifetime");
  CHECK(found(between(0, 0), Verdict::refuted) == "lifetime");
  CHECK(found(between(1, 2), Verdict::refuted) == "lifetime");
}

TEST_CASE("composition: edges of resident buffers may lead anywhere") {
  Draft d = sections({{"run s0_a x > kv"}, {"run s1_a kv > y"}});
  d.edge("s0_a", "kv", "s1_a");
  CHECK(found(d, Verdict::certified) == "edge");
  // Inside a section too: what another section left may be read there.
  Draft inside = sections({{"run s0_a x > kv", "run s0_b kv > y"}, {"run s1_a x > z"}});
  inside.edge("s0_a", "kv", "s0_b");
  CHECK(found(inside, Verdict::certified) == "edge");
}

TEST_CASE("composition: contents that are there once, in a program that wraps around") {
  const auto ring = [](const char* more, const char* read) {
    Draft d("around");
    d.persistent().tensor("x", "external").tensor("y").tensor("z");
    d.buffer("kv", more);
    d.semaphore("a", 0, 1).semaphore("r", 0, 1).semaphore("g", 0, 1);
    return in_sections(
        d,
        {{"load", {{std::string("run s0_a ") + read + " > y"}, kRed, {"run s1_a x > z"}, kGreen}}});
  };
  CHECK(found(ring(R"("lifetime": "resident", "init": "zero")", "kv"), Verdict::certified) ==
        "2 classes");
  CHECK(found(ring(R"("init": "zero")", "kv"), Verdict::refuted) == "lifetime");
  CHECK(found(ring(R"("lifetime": {"resident": ["s0", "s1"]}, "init": "zero")", "kv"),
              Verdict::refuted) == "lifetime");
  // Performed once, they are there.
  const auto once = [&](const char* more) {
    Program program = ring(more, "kv").program();
    program.execution = ir::Execution::once;
    return program;
  };
  CHECK(found(once(R"("init": "zero")"), Verdict::certified) == "2 classes");
}

TEST_CASE("composition: semaphores that the host resets return all the same where nobody resets") {
  const auto reset = [](bool persistent) {
    Draft d("reset");
    if (persistent) d.persistent();
    d.tensor("x", "external").tensor("y").tensor("z");
    d.semaphore("once", 0, 5, R"("restart": "reset")");
    d.semaphore("a", 0, 1).semaphore("r", 0, 1).semaphore("g", 0, 1);
    return in_sections(
        d, {{"load", {{"run s0_a x > y", "post once"}, kRed, {"run s1_a x > z"}, kGreen}}});
  };
  CHECK(found(reset(false), Verdict::certified) == "2 classes");
  CHECK(by_sections(reset(false).program()).divided.has_value());
  CHECK(found(reset(true), Verdict::refuted) == "2 classes");
}

TEST_CASE("composition: views of FIFOs are nobody's") {
  Draft d = sections({{"run s0_a x > y"}, {"run s1_a x > z"}});
  d.fifo("q", 2);
  d.buffer("over", R"("view": {"of": "q", "offset": 0})");
  CHECK(found(d, Verdict::undecided) == "fifo view");
}

}  // namespace
}  // namespace spatialcert::tests::compositions
