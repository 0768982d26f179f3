// A relay deployment as one system: certified, equal to the composed program, and refuted where it
// is broken.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/parallel/attach.hpp"
#include "compose/parallel/relay.hpp"
#include "compose/parallel/relocate.hpp"
#include "ir/validate.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/parallel/split_model.hpp"

namespace spatialcert::tests {
namespace {

using parallel::ChipSections;
using parallel::Relay;
using parallel::Sharding;

ChipSections sections_of(const SplitModel& model) {
  const Sharding sharding(model.manifest);
  ChipSections chips(model.manifest.chips);
  std::uint32_t statement = 0;
  const auto add = [&](const ModelSection& one) {
    chips[sharding.chip_running(one.binder)].push_back(
        {accepted(parallel::relocate(one.section, one.binder, sharding)), statement++});
  };
  for (const ModelSection& one : model.before) add(one);
  chips[0].push_back(
      {accepted(parallel::fold_section(model.manifest.collectives.front(), model.sum, sharding)),
       statement++});
  for (const ModelSection& one : model.after) add(one);
  return chips;
}

Relay relay_of(const SplitModel& model) {
  return accepted(
      parallel::relay(sections_of(model), model.manifest.statements, Sharding(model.manifest)));
}

TEST_CASE("a relay is certified as one system, on chips that nothing joins but the host") {
  for (const std::uint32_t count : {2U, 4U}) {
    CAPTURE(count);
    const SplitModel model = split_model(count, false);
    Relay relay = relay_of(model);
    CHECK_FALSE(parallel::attach(relay.system, model.manifest).has_value());
    CHECK(relay.transfers.size() == 2 * (count - 1));  // normed there, partials back
    CHECK(relay.rounds.size() == 3);
    check_certified(relay.system);
    for (const ir::Program& program : relay.programs) {
      for (const ir::EngineProgram& one : program.programs) CHECK(one.engine.value() < 3);
    }
  }
}

TEST_CASE("a relay gives the values of the composed program, and of the whole model") {
  for (const std::uint32_t count : {2U, 4U}) {
    CAPTURE(count);
    const SplitModel model = split_model(count, false);
    const Relay relay = relay_of(model);
    const ir::Program composed = composed_model(split_model(count, true));
    const ir::Program whole = whole_model(model);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const ir::machine::Inputs inputs = model_inputs(model, seed);
      const auto relayed = finished(relay.system, inputs_of(relay.system, inputs), seed);
      const auto y = relayed.tensor("y");
      REQUIRE(y->defined());
      CHECK(y->integers ==
            finished(composed, inputs_of(composed, inputs), seed + 10).tensor("y")->integers);
      CHECK(y->integers ==
            finished(whole, inputs_of(whole, inputs), seed + 20).tensor("y")->integers);
    }
  }
}

/// x to a on chip 0; a to p.1 on chip 1 and on to p.2 on chip 2; back to h and y on chip 0, by an
/// all-reduce that does not care what it adds up.
struct Ring {
  parallel::Manifest manifest = row_parallel(3);
  ChipSections chips;

  explicit Ring(const ir::Target& target = tests::chips(3, false)) : chips(3) {
    add(0, 0, "a", {"x"}, target);
    add(0, 1, "p.0", {"a"}, target);
    add(1, 2, "p.1", {"a"}, target);
    add(2, 3, "p.2", {"p.1"}, target);
    add(0, 4, "b", {"a"}, target);
    add(1, 5, "w.1", {"p.1", "b"}, target);
  }

  void add(std::uint32_t chip, std::uint32_t statement, const std::string& name,
           const std::vector<std::string>& reads, const ir::Target& target) {
    manifest.statements.resize(std::max<std::size_t>(manifest.statements.size(), statement));
    SectionMaker m("make " + name, target);
    for (const std::string& read : reads) m.input(read);
    m.output(name).buffer(name + "/page", ir::BufferKind::fifo, {0, 0, 0});
    m.buffer_of(name + "/page").page_bytes = 4 * m.tensor_of(name).rows * m.tensor_of(name).cols;
    m.at({0, 0, 0}, Engine::load);
    for (const std::string& read : reads) {
      m.op(ir::OpCode::reserve, name + "/page").run(name + "/load", {read}, {name + "/page"});
      m.op(ir::OpCode::push, name + "/page");
    }
    m.at({0, 0, 0}, Engine::store);
    for (std::size_t r = 0; r < reads.size(); ++r) {
      m.op(ir::OpCode::front, name + "/page").run(name + "/store", {name + "/page"}, {name});
      m.op(ir::OpCode::pop, name + "/page");
    }
    const Sharding sharding(manifest);
    REQUIRE(sharding.chip_running(name) == chip);
    chips[chip].push_back(
        {accepted(parallel::relocate(m.section(), name, sharding, parallel::Foreign::copied)),
         statement});
    statements.push_back({{{name, ir::OpKind::copy, reads}}});
  }
  std::vector<parallel::SourceOp> statements;

  [[nodiscard]] Relay relay() const {
    return accepted(parallel::relay(chips, statements, Sharding(manifest)));
  }
};

/// Engine programs of the host.
std::vector<ir::Op>& host_ops(ir::Program& program) {
  for (ir::EngineProgram& one : program.programs) {
    if (program.target.engines[one.engine.value()] == "host") return one.ops;
  }
  throw std::runtime_error("no host");
}

std::size_t find_op(const ir::Program& program, const std::vector<ir::Op>& ops, ir::OpCode code,
                    const std::string& semaphore) {
  for (std::size_t o = 0; o < ops.size(); ++o) {
    if (ops[o].code == code && program.semaphores[ops[o].object].name == semaphore) return o;
  }
  throw std::runtime_error("no such op");
}

TEST_CASE("chips that do not depend on one another run in the same round") {
  const Relay relay = Ring().relay();
  std::string text;
  for (const auto& round : relay.rounds) {
    for (const auto& run : round.runs)
      text += fmt::format("{}:[{},{}) ", run.chip, run.first, run.last);
    for (const std::uint32_t t : round.copies) text += relay.transfers[t].tensor + " ";
    text += "| ";
  }
  CHECK(text == "0:[0,1) a | 0:[1,3) 1:[0,1) b p.1 | 1:[1,2) 2:[0,1) | ");
  check_certified(relay.system);
}

TEST_CASE("a host that waits in a circle is refuted by liveness") {
  const Relay relay = Ring().relay();
  ir::Program early = relay.system;  // waits for chip 1 before it lets it go
  auto& ops = host_ops(early);
  std::swap(ops[find_op(early, ops, ir::OpCode::wait, "relay.halted.1")],
            ops[find_op(early, ops, ir::OpCode::post, "relay.go.1")]);
  REQUIRE_FALSE(ir::validate(early).has_value());
  check_refuted(early, proofs::Rule::liveness);

  ir::Program both = relay.system;  // chip 1 waits to go on before it has told that it halts
  for (ir::EngineProgram& one : both.programs) {
    if (one.site.chip != 1 || one.engine.value() != 0) continue;
    const std::size_t told = find_op(both, one.ops, ir::OpCode::post, "relay.halted.1");
    for (std::size_t o = told; o < one.ops.size(); ++o) {
      if (one.ops[o].code != ir::OpCode::wait ||
          both.semaphores[one.ops[o].object].name != "relay.go.1")
        continue;
      std::swap(one.ops[told], one.ops[o]);
      break;
    }
  }
  check_refuted(both, proofs::Rule::liveness);
}

TEST_CASE("copies that change rounds: a chip reads what has not come") {
  const Ring ring;
  const Relay relay = ring.relay();
  auto rounds = relay.rounds;
  std::swap(rounds[0].copies, rounds[1].copies);
  const ir::Program swapped = accepted(
      parallel::relay_program(ring.chips, relay.transfers, rounds, Sharding(ring.manifest)));
  check_refuted(swapped, proofs::Rule::ordering);  // against that of the statements
}

TEST_CASE("two copies that change places in the host's program") {
  ir::Program late = Ring().relay().system;
  auto& ops = host_ops(late);
  std::vector<std::size_t> runs;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    if (ops[o].code == ir::OpCode::run) runs.push_back(o);
  }
  REQUIRE(runs.size() == 3);  // a, b and p.1; chip 0 has x
  for (std::uint32_t a = 0; a < 2; ++a) {
    std::swap(late.accesses[ops[runs[0]].first_access + a],
              late.accesses[ops[runs[1]].first_access + a]);
  }
  check_refuted(late, proofs::Rule::flow);
}

TEST_CASE("two swapped halts: a chip takes in before it sends what the other waits for") {
  // Chip 0 performs c, which needs p.1, before a, which p.1 needs.
  Ring ring;
  ring.add(0, 6, "c", {"p.1"}, tests::chips(3, false));
  const Sharding sharding(ring.manifest);
  CHECK(std::holds_alternative<Relay>(parallel::relay(ring.chips, ring.statements, sharding)));
  std::rotate(ring.chips[0].begin(), ring.chips[0].end() - 1, ring.chips[0].end());
  check_refusal(parallel::relay(ring.chips, ring.statements, sharding),
                RefusalReason::circular_relay,
                {"chip 0 stands before section 1 of 4 and waits for \"p.1\" of chip 1",
                 "chip 1 stands before section 1 of 2 and waits for \"a\" of chip 0",
                 "chip 2 stands before section 1 of 1", "sent so far: nothing"});
}

TEST_CASE("transfers that are missing, twice, or from or to the wrong chip") {
  const Ring ring;
  const Sharding sharding(ring.manifest);
  const Relay relay = ring.relay();
  const auto with = [&](const auto& change) {
    auto transfers = relay.transfers;
    auto rounds = relay.rounds;
    change(transfers, rounds);
    return parallel::relay_program(ring.chips, transfers, rounds, sharding);
  };
  check_refusal(with([](auto&, auto& rounds) { rounds[0].copies.clear(); }),
                RefusalReason::missing_transfer, {"chip 1 loads \"a\"", "no round"});
  check_refusal(
      with([](auto&, auto& rounds) { rounds[0].copies.push_back(rounds[0].copies.front()); }),
      RefusalReason::not_composable, {"duplicate-section", "copy a from 0 to 1"});
  check_refusal(with([](auto& transfers, auto&) { transfers[0].from = 2; }),
                RefusalReason::wrong_chip, {"\"a\"", "from chip 2", "is chip 0's"});
  check_refusal(with([](auto& transfers, auto&) { transfers[0].tensor = "z"; }),
                RefusalReason::wrong_chip, {"\"z\"", "no chip has it"});
  check_refusal(with([](auto& transfers, auto&) { transfers[0].to = 2; }),
                RefusalReason::receives_unloaded, {"\"a\"", "chip 2"});
  auto statements = ring.statements;
  statements[3].members[0].reads = {"x"};
  check_refusal(parallel::relay(ring.chips, statements, sharding), RefusalReason::missing_transfer,
                {"chip 2 loads \"p.1\""});
  // A copy that the host leaves out, or makes to another chip.
  ir::Program without = relay.system;
  for (ir::Op& op : host_ops(without)) op.accesses = 0;
  check_refuted(without, proofs::Rule::flow);
}

TEST_CASE("a relay's halts: each signal that is left out is refuted") {
  const Relay relay = Ring().relay();
  int broken = 0;
  for (std::size_t p = 0; p < relay.system.programs.size(); ++p) {
    for (std::size_t o = 0; o < relay.system.programs[p].ops.size(); ++o) {
      const ir::Op& op = relay.system.programs[p].ops[o];
      if (op.code != ir::OpCode::post && op.code != ir::OpCode::wait) continue;
      ir::Program less = relay.system;
      ir::EngineProgram& one = less.programs[p];
      one.ops.erase(one.ops.begin() + static_cast<std::ptrdiff_t>(o));
      std::vector<ir::Span> spans;
      for (ir::Span span : one.spans) {
        span.begin -= span.begin > o ? 1 : 0;
        span.end -= span.end > o ? 1 : 0;
        if (span.begin < span.end) spans.push_back(span);
      }
      one.spans = spans;
      CAPTURE(p);
      CAPTURE(o);
      const auto report = certify::certify(less);
      CHECK_MESSAGE(report.verdict == certify::Verdict::refuted,
                    certify::report_text(less, report, false));
      ++broken;
    }
  }
  CHECK(broken > 40);
}

TEST_CASE("sections of one run have bytes of their own, in the chip's program as in the system") {
  const Relay relay = relay_of(split_model(2, false));
  std::map<std::string, std::uint64_t> addresses;
  for (const ir::Buffer& buffer : relay.system.buffers) addresses[buffer.name] = buffer.address;
  for (const ir::Program& program : relay.programs) {
    for (const ir::Buffer& buffer : program.buffers)
      CHECK(addresses.at(buffer.name) == buffer.address);
    // What the chips make together, nobody sees in the program of one: `shard` is the system's.
    for (const auto& rule : certify::certify(program).rules) {
      if (rule.rule != proofs::Rule::shard) CHECK(rule.verdict != certify::Verdict::refuted);
    }
  }
  CHECK(addresses.at("down.1/1.0.0/in0/mid.1") > addresses.at("up.1/1.0.0/in0/normed"));
}

TEST_CASE("a view travels with what it is a view of") {
  const parallel::Manifest manifest = row_parallel(2);
  const Sharding sharding(manifest);
  const ir::Target target = tests::chips(2, false);
  // Chip 0 makes base from x; chip 1 makes p.1 of its view. Statements speak of either name.
  for (const bool by_view : {false, true}) {
    CAPTURE(by_view);
    const std::string name = by_view ? "seen" : "base";
    const auto with_view = [&](SectionMaker& m) {
      m.tensor("seen", by_view ? ir::TensorRole::activation : ir::TensorRole::input);
      for (std::uint32_t t = 0; t < m.raw().tensors.size(); ++t) {
        if (m.raw().tensors[t].name == "base")
          m.tensor_of("seen").view = ir::View<ir::TensorId>{ir::TensorId(t), 0};
      }
    };
    SectionMaker make("make", target), use("use", target);
    make.input("x").tensor("base", ir::TensorRole::activation);
    if (by_view) with_view(make);
    make.at({0, 0, 0}, Engine::load).run("make/run", {"x"}, {name});
    use.tensor("base", by_view ? ir::TensorRole::activation : ir::TensorRole::input,
               ir::Init::external);
    with_view(use);
    use.output("p.1").at({0, 0, 0}, Engine::load).run("use/run", {"seen"}, {"p.1"});
    const ChipSections chips = {
        {{accepted(parallel::relocate(make.section(), name, sharding)), 0}},
        {{accepted(parallel::relocate(use.section(), "p.1", sharding)), 1}}};
    const Relay relay = accepted(parallel::relay(
        chips, {{{{name, ir::OpKind::copy, {"x"}}}}, {{{"p.1", ir::OpKind::copy, {name}}}}},
        sharding));
    check_certified(relay.system);
    const auto machine = finished(relay.system);
    REQUIRE_FALSE(machine.tensor("x")->reals.empty());
    CHECK(machine.tensor("p.1")->reals == machine.tensor("x")->reals);
  }
}

TEST_CASE("what a relay is refused for") {
  const Ring ring;
  const Sharding sharding(ring.manifest);
  ChipSections fewer = ring.chips;
  fewer.pop_back();
  check_refusal(parallel::relay(fewer, ring.statements, sharding), RefusalReason::chip_count,
                {"2 chips", "over 3"});
  ChipSections other = ring.chips;
  for (auto& chip : other) {
    for (auto& one : chip) one.section.target.chips = 4;
  }
  check_refusal(parallel::relay(other, ring.statements, sharding), RefusalReason::chip_count,
                {"is for 4 chips"});
  parallel::RelayOptions options;
  options.engine = "load";
  check_refusal(parallel::relay(ring.chips, ring.statements, sharding, options),
                RefusalReason::not_composable, {"engine \"load\""});
  options = {};
  options.handoff = "noc";
  check_refusal(parallel::relay(ring.chips, ring.statements, sharding, options),
                RefusalReason::not_composable, {"hand-off \"noc\""});
  ChipSections elsewhere = ring.chips;
  std::swap(elsewhere[0][1], elsewhere[2][0]);
  check_refusal(parallel::relay(elsewhere, ring.statements, sharding), RefusalReason::several_chips,
                {"\"make p.2\" of chip 0", "[2,0,0]"});
  check_refusal(parallel::relay_program(elsewhere, {}, {}, sharding), RefusalReason::several_chips,
                {"\"make p.2\" of chip 0", "[2,0,0]"});
  const SplitModel model = split_model(2);
  ChipSections spread = sections_of(split_model(2));
  spread[0][3].section = accepted(parallel::allreduce_section(model.manifest.collectives.front(),
                                                              model.sum, Sharding(model.manifest)));
  check_refusal(parallel::relay(spread, model.manifest.statements, Sharding(model.manifest)),
                RefusalReason::several_chips, {"\"sum\" of chip 0", "[1,0,0]"});
  ChipSections named = ring.chips;
  for (ir::Tensor& tensor : named[0][0].section.tensors) {
    if (tensor.name == "x") tensor.name = "a@1";
  }
  check_refusal(parallel::relay(named, ring.statements, sharding), RefusalReason::not_composable,
                {"\"a@1\"", "chip 1's copy of \"a\""});
  ir::Target few = tests::chips(3, false);
  few.semaphores_per_site = 1;
  check_refusal(parallel::relay(Ring(few).chips, ring.statements, sharding),
                RefusalReason::not_composable, {"semaphores"});
  ir::Target small = tests::chips(3, false);
  small.spaces[0].bytes = 64;
  check_refusal(parallel::relay(Ring(small).chips, ring.statements, sharding),
                RefusalReason::not_composable, {"memory-exhausted", "64"});
}

}  // namespace
}  // namespace spatialcert::tests
