// Which tensors cross chips, where chips halt for it, and what the host does.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compose/parallel/link_points.hpp"
#include "compose/parallel/relay_schedule.hpp"
#include "compose/parallel/transfers.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {
namespace {

using parallel::ChipHalts;
using parallel::Halt;
using parallel::relay_schedule;
using parallel::RelayRound;
using parallel::Sharding;
using parallel::SourceOp;
using parallel::Transfer;

SourceOp op(const std::string& name, std::vector<std::string> reads) {
  return {{{name, ir::OpKind::add, std::move(reads)}}};
}

std::string text(const std::vector<Transfer>& transfers) {
  std::string out;
  for (const Transfer& one : transfers)
    out += fmt::format("{} {}>{} ({}, {}); ", one.tensor, one.from, one.to, one.writer, one.reader);
  return out;
}

std::string text(const std::vector<RelayRound>& rounds) {
  std::string out;
  for (const RelayRound& round : rounds) {
    for (const auto& run : round.runs)
      out += fmt::format("{}:[{},{}) ", run.chip, run.first, run.last);
    for (const std::uint32_t t : round.copies) out += fmt::format("copy {} ", t);
    out += "| ";
  }
  return out;
}

TEST_CASE("tensors cross chips once per chip that reads them, from the latest earlier writer") {
  const Sharding sharding(row_parallel(3));
  const auto found = accepted(parallel::transfers(
      {op("a", {"x"}), op("a", {"a"}), op("p.1", {"a", "w.1", "x"}), op("p.1", {"p.1", "a"}),
       op("p.2", {"a"}), op("b", {"p.1", "p.2", "a"}), op("c", {"p.1"})},
      sharding));
  CHECK(text(found) == "a 0>1 (1, 2); a 0>2 (1, 4); p.1 1>0 (3, 5); p.2 2>0 (4, 5); ");
  CHECK(accepted(parallel::transfers({}, sharding)).empty());
}

TEST_CASE("what a fused op makes for itself crosses nothing, and what it reads crosses once") {
  const Sharding sharding(row_parallel(2));
  SourceOp fused = op("p.1", {"a"});
  fused.members.push_back({"w.1", ir::OpKind::add, {"p.1", "a"}});
  const auto found =
      accepted(parallel::transfers({op("a", {}), fused, op("b", {"w.1"})}, sharding));
  CHECK(text(found) == "a 0>1 (0, 1); w.1 1>0 (1, 2); ");
}

TEST_CASE("statements whose transfers cannot be told") {
  const Sharding sharding(row_parallel(2));
  check_refusal(parallel::transfers({op("a", {}), op("p.1", {"a"}), op("a", {})}, sharding),
                RefusalReason::rewritten, {"\"a\" of chip 0", "statement 2", "\"p.1\"", "chip 1"});
  // The host's value of x is on chip 1, and the new one would have to follow it there.
  check_refusal(parallel::transfers({op("p.1", {"x"}), op("x", {"x"})}, sharding),
                RefusalReason::rewritten, {"\"x\" of chip 0"});
  SourceOp mixed = op("p.0", {});
  mixed.members.push_back({"p.1", ir::OpKind::add, {}});
  check_refusal(parallel::transfers({mixed}, sharding), RefusalReason::mixed_owners,
                {"\"p.0\"", "\"p.1\""});
}

/// A program of sections `name` that copies one tensor to another.
ir::Program chain_of(const std::vector<std::pair<std::string, std::string>>& copies) {
  std::vector<ir::Program> sections;
  for (const auto& [from, to] : copies) {
    SectionMaker m(from + " to " + to);
    m.tensor(from, ir::TensorRole::state, ir::Init::external);
    m.tensor(to, ir::TensorRole::state, ir::Init::external);
    m.at({0, 0, 0}, Engine::load).run(from + to, {from}, {to});
    sections.push_back(m.section());
  }
  return composed(compose::compose(sections)).program;
}

std::string text(const ChipHalts& chip) {
  std::string out = fmt::format("{}: ", chip.sections);
  for (const Halt& halt : chip.halts) {
    out += fmt::format("{}", halt.boundary);
    for (const std::uint32_t t : halt.receives) out += fmt::format(" <{}", t);
    for (const std::uint32_t t : halt.sends) out += fmt::format(" >{}", t);
    out += "; ";
  }
  return out;
}

TEST_CASE(
    "a chip halts after the last store of what it sends, before the first load of what comes") {
  const ir::Program program =
      chain_of({{"in", "a"}, {"a", "b"}, {"late", "a"}, {"a", "c"}, {"late", "d"}});
  const std::vector<Transfer> transfers = {
      {"in", 1, 0, 0, 0}, {"a", 0, 1, 0, 0}, {"late", 2, 0, 0, 0}, {"d", 0, 2, 0, 0},
      {"b", 0, 1, 0, 0},  {"y", 1, 2, 0, 0}, {"a", 0, 2, 0, 0}};
  CHECK(text(accepted(parallel::link_points(program, 0, transfers))) ==
        "5: 0 <0; 2 <2 >4; 3 >1 >6; 5 >3; ");
  CHECK(text(accepted(parallel::link_points(program, 3, transfers))) == "5: ");
}

TEST_CASE("halts that make no sense") {
  const ir::Program program = chain_of({{"in", "a"}, {"a", "b"}});
  const auto refused = [&](const Transfer& transfer, RefusalReason reason,
                           const std::vector<std::string>& words) {
    check_refusal(parallel::link_points(program, 0, {transfer}), reason, words);
  };
  refused({"in", 0, 1, 0, 0}, RefusalReason::sends_unstored, {"\"in\"", "no section of chip 0"});
  refused({"z", 0, 1, 0, 0}, RefusalReason::sends_unstored, {"\"z\""});
  refused({"z", 1, 0, 0, 0}, RefusalReason::receives_unloaded, {"\"z\"", "from chip 1"});
  refused({"a", 1, 0, 0, 0}, RefusalReason::receives_own, {"\"a\"", "\"in to a\" of chip 0"});
}

Halt halt(std::uint32_t boundary, std::vector<std::uint32_t> receives,
          std::vector<std::uint32_t> sends) {
  return {boundary, std::move(receives), std::move(sends)};
}

const std::vector<Transfer> kThere = {{"a", 0, 1, 0, 0}, {"b", 1, 0, 0, 0}, {"c", 2, 0, 0, 0}};

TEST_CASE("chips run when what they wait for has come, those that can at the same time") {
  // 0 sends a and waits for b and c; 1 waits for a from the start and sends b; 2 sends c at its
  // end.
  const std::vector<ChipHalts> chips = {{4, {halt(1, {}, {0}), halt(3, {1, 2}, {})}},
                                        {2, {halt(0, {0}, {}), halt(1, {}, {1})}},
                                        {1, {halt(1, {}, {2})}}};
  CHECK(text(accepted(relay_schedule(chips, kThere))) ==
        "0:[0,1) 2:[0,1) copy 0 copy 2 | 0:[1,3) 1:[0,1) copy 1 | 0:[3,4) 1:[1,2) | ");
  CHECK(accepted(relay_schedule({}, {})).empty());
  CHECK(text(accepted(relay_schedule({{3, {}}, {0, {}}}, {}))) == "0:[0,3) | ");
}

TEST_CASE("a relay that waits in a circle is refused, with where each chip stands") {
  // Both receive before they send.
  check_refusal(relay_schedule({{3, {halt(1, {1}, {}), halt(2, {}, {0})}},
                                {3, {halt(1, {0}, {}), halt(3, {}, {1})}},
                                {1, {halt(1, {}, {2})}}},
                               {{"a", 0, 1, 0, 0}, {"b", 1, 0, 0, 0}, {"c", 2, 0, 0, 0}}),
                RefusalReason::missing_transfer, {"\"c\"", "never received"});
  check_refusal(relay_schedule({{3, {halt(1, {1, 2}, {}), halt(2, {}, {0})}},
                                {3, {halt(1, {0}, {}), halt(3, {}, {1})}},
                                {1, {halt(1, {}, {2})}}},
                               kThere),
                RefusalReason::circular_relay,
                {"chip 0 stands before section 2 of 3 and waits for \"b\" of chip 1;",
                 "chip 1 stands before section 2 of 3 and waits for \"a\" of chip 0;",
                 "chip 2 is at its end", "sent so far: \"c\" from chip 2 to chip 0"});
  // A chip that waits for what it can send only at the same halt is no circle.
  CHECK(text(accepted(relay_schedule({{2, {halt(1, {1}, {0})}}, {2, {halt(1, {0}, {1})}}},
                                     {{"a", 0, 1, 0, 0}, {"b", 1, 0, 0, 0}}))) ==
        "0:[0,1) 1:[0,1) copy 0 copy 1 | 0:[1,2) 1:[1,2) | ");
}

TEST_CASE("two swapped halts are a circle") {
  const std::vector<Transfer> transfers = {{"a", 0, 1, 0, 0}, {"b", 1, 0, 0, 0}};
  const auto chips = [](bool swapped) {
    const Halt send = halt(swapped ? 2 : 1, {}, {0});
    const Halt receive = halt(swapped ? 1 : 2, {1}, {});
    ChipHalts first{3, swapped ? std::vector{receive, send} : std::vector{send, receive}};
    return std::vector<ChipHalts>{first, {2, {halt(1, {0}, {}), halt(2, {}, {1})}}};
  };
  CHECK(accepted(relay_schedule(chips(false), transfers)).size() == 3);
  check_refusal(relay_schedule(chips(true), transfers), RefusalReason::circular_relay,
                {"\"a\" of chip 0", "\"b\" of chip 1", "sent so far: nothing"});
}

TEST_CASE("transfers that are missing, doubled, unknown, or at the wrong chip") {
  const std::vector<Transfer> one = {{"a", 0, 1, 0, 0}};
  const ChipHalts sender{1, {halt(1, {}, {0})}}, receiver{1, {halt(0, {0}, {})}}, idle{1, {}};
  CHECK(accepted(relay_schedule({sender, receiver}, one)).size() == 2);
  check_refusal(relay_schedule({idle, receiver}, one), RefusalReason::missing_transfer,
                {"\"a\" from chip 0 to chip 1 is never sent"});
  check_refusal(relay_schedule({sender, idle}, one), RefusalReason::missing_transfer,
                {"never received"});
  check_refusal(relay_schedule({{2, {halt(1, {}, {0}), halt(2, {}, {0})}}, receiver}, one),
                RefusalReason::doubled_transfer, {"\"a\"", "sent twice"});
  check_refusal(relay_schedule({sender, {1, {halt(0, {0, 0}, {})}}}, one),
                RefusalReason::doubled_transfer, {"received twice"});
  check_refusal(relay_schedule({sender, receiver, idle}, {{"a", 0, 1, 0, 0}, {"a", 2, 1, 0, 0}}),
                RefusalReason::doubled_transfer, {"from chip 0", "from chip 2"});
  check_refusal(relay_schedule({receiver, sender}, one), RefusalReason::wrong_chip,
                {"chip 0 receives", "to chip 1"});
  check_refusal(relay_schedule({idle, receiver, sender}, one), RefusalReason::wrong_chip,
                {"chip 2 sends"});
  check_refusal(relay_schedule({sender}, one), RefusalReason::wrong_chip, {"1 chips"});
  check_refusal(relay_schedule({{1, {halt(1, {}, {3})}}}, {}), RefusalReason::unknown_transfer,
                {"chip 0 sends transfer number 3 of 0"});
}

}  // namespace
}  // namespace spatialcert::tests
