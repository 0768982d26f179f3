// Transfers, halts and schedules of random statements, against a naive simulation.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "compose/parallel/link_points.hpp"
#include "compose/parallel/relay_schedule.hpp"
#include "compose/parallel/transfers.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"
#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {
namespace {

using parallel::ChipHalts;
using parallel::Sharding;
using parallel::SourceOp;
using parallel::Transfer;

constexpr int kHost = -1;  ///< who has written what nobody has

struct Source {
  parallel::Manifest manifest;
  std::vector<std::string> names;
};

/// Up to 12 statements over up to 3 chips and 8 names; few names are bound twice.
Source random_source(std::mt19937_64& random) {
  Source out;
  out.manifest.chips = 1 + static_cast<std::uint32_t>(random() % 3);
  for (int n = 0; n < 8; ++n) {
    out.names.push_back(fmt::format("t{}", n));
    const auto chip = static_cast<std::uint32_t>(random() % (out.manifest.chips + 1));
    if (chip < out.manifest.chips) out.manifest.owners[out.names.back()] = chip;
  }
  const std::size_t count = 1 + random() % 12;
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t bound = random() % 8 == 0 ? random() % 8 : s % 8;
    parallel::Statement statement{out.names[bound], ir::OpKind::add, {}};
    for (std::uint64_t r = 0; r < 1 + random() % 3; ++r) {
      const bool hosts = s == 0 || random() % 4 == 0;
      statement.reads.push_back(hosts ? fmt::format("x{}", random() % 2)
                                      : out.names[random() % std::min<std::size_t>(s, 8)]);
    }
    out.manifest.statements.push_back({{std::move(statement)}});
  }
  return out;
}

std::uint32_t chip_of(const parallel::Manifest& m, const std::string& name) {
  const auto found = m.owners.find(name);
  return found == m.owners.end() ? 0 : found->second;
}

/// Is some name bound after another chip has read it?
bool rewritten(const parallel::Manifest& m) {
  for (std::size_t later = 0; later < m.statements.size(); ++later) {
    const std::string& bound = m.statements[later].members[0].name;
    for (std::size_t s = 0; s <= later; ++s) {
      const auto& statement = m.statements[s].members[0];
      if (chip_of(m, statement.name) == chip_of(m, bound)) continue;
      if (std::count(statement.reads.begin(), statement.reads.end(), bound) != 0) return true;
    }
  }
  return false;
}

/// What each statement must read: per name the latest earlier statement that binds it.
std::vector<std::map<std::string, int>> expected_reads(const parallel::Manifest& m) {
  std::vector<std::map<std::string, int>> out;
  std::map<std::string, int> latest;
  for (std::size_t s = 0; s < m.statements.size(); ++s) {
    const auto& statement = m.statements[s].members[0];
    auto& reads = out.emplace_back();
    for (const std::string& name : statement.reads)
      reads[name] = latest.count(name) == 0 ? kHost : latest[name];
    latest[statement.name] = static_cast<int>(s);
  }
  return out;
}

/// The program of one chip: a section per statement that it runs; `which` are their positions.
ir::Program program_of(const parallel::Manifest& m, std::uint32_t chip,
                       std::vector<std::size_t>& which) {
  std::vector<ir::Program> sections;
  for (std::size_t s = 0; s < m.statements.size(); ++s) {
    const auto& statement = m.statements[s].members[0];
    if (chip_of(m, statement.name) != chip) continue;
    which.push_back(s);
    SectionMaker maker(fmt::format("s{}", s));
    std::set<std::string> names(statement.reads.begin(), statement.reads.end());
    const std::vector<std::string> reads(names.begin(), names.end());
    names.insert(statement.name);
    for (const std::string& name : names)
      maker.tensor(name, ir::TensorRole::state, ir::Init::external);
    maker.at({chip, 0, 0}, Engine::load).run(fmt::format("r{}", s), reads, {statement.name});
    sections.push_back(maker.unchecked());
  }
  if (sections.empty()) return {};
  return composed(compose::compose(sections)).program;
}

/// Every chip with memory of its own; the host copies. Each section reads what it must.
void simulate(const parallel::Manifest& m, const std::vector<std::vector<std::size_t>>& sections,
              const std::vector<Transfer>& transfers,
              const std::vector<parallel::RelayRound>& rounds) {
  const auto expected = expected_reads(m);
  std::vector<std::map<std::string, int>> memory(m.chips);
  std::vector<std::uint32_t> done(m.chips, 0);
  for (const auto& round : rounds) {
    for (const auto& run : round.runs) {
      REQUIRE(done[run.chip] == run.first);
      for (; done[run.chip] < run.last; ++done[run.chip]) {
        const std::size_t s = sections[run.chip][done[run.chip]];
        const auto& statement = m.statements[s].members[0];
        auto& here = memory[run.chip];
        for (const auto& [name, writer] : expected[s]) {
          CAPTURE(name);
          CHECK((here.count(name) == 0 ? kHost : here[name]) == writer);
        }
        here[statement.name] = static_cast<int>(s);
      }
    }
    for (const std::uint32_t t : round.copies) {
      const Transfer& one = transfers[t];
      REQUIRE(memory[one.from].count(one.tensor) == 1);
      memory[one.to][one.tensor] = memory[one.from][one.tensor];
    }
  }
  for (std::uint32_t c = 0; c < m.chips; ++c) CHECK(done[c] == sections[c].size());
}

/// Can every chip reach its end, whatever the order in which chips move? All orders are tried.
bool can_finish(const std::vector<ChipHalts>& chips) {
  using State = std::vector<std::uint32_t>;  // sections performed
  std::set<State> seen;
  std::vector<State> todo = {State(chips.size(), 0)};
  bool finishes = false;
  while (!todo.empty()) {
    const State state = todo.back();
    todo.pop_back();
    if (!seen.insert(state).second) continue;
    std::set<std::uint32_t> sent;
    for (std::size_t c = 0; c < chips.size(); ++c) {
      for (const auto& halt : chips[c].halts) {
        if (halt.boundary <= state[c]) sent.insert(halt.sends.begin(), halt.sends.end());
      }
    }
    bool end = true;
    for (std::size_t c = 0; c < chips.size(); ++c) {
      if (state[c] == chips[c].sections) continue;
      end = false;
      const auto halt = std::find_if(chips[c].halts.begin(), chips[c].halts.end(),
                                     [&](const auto& h) { return h.boundary == state[c]; });
      const bool free = halt == chips[c].halts.end() ||
                        std::all_of(halt->receives.begin(), halt->receives.end(),
                                    [&](std::uint32_t t) { return sent.count(t) != 0; });
      if (!free) continue;
      todo.push_back(state);
      ++todo.back()[c];
    }
    finishes = finishes || end;
  }
  return finishes;
}

TEST_CASE("random statements: every reader gets the latest earlier write") {
  std::mt19937_64 random(9);
  int refused = 0, crossing = 0;
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const Source source = random_source(random);
    const parallel::Manifest& m = source.manifest;
    REQUIRE_FALSE(parallel::validate(m).has_value());
    const auto found = parallel::transfers(m.statements, Sharding(m));
    REQUIRE(std::holds_alternative<parallel::Refused>(found) == rewritten(m));
    if (std::holds_alternative<parallel::Refused>(found)) {
      ++refused;
      continue;
    }
    const auto& transfers = std::get<std::vector<Transfer>>(found);
    crossing += static_cast<int>(transfers.size());
    std::vector<ChipHalts> chips;
    std::vector<std::vector<std::size_t>> sections(m.chips);
    for (std::uint32_t c = 0; c < m.chips; ++c) {
      chips.push_back(accepted(parallel::link_points(program_of(m, c, sections[c]), c, transfers)));
    }
    // In source order nobody waits in a circle.
    CHECK(can_finish(chips));
    simulate(m, sections, transfers, accepted(parallel::relay_schedule(chips, transfers)));
    count("relays simulated", 1);
  }
  CHECK(refused > 20);
  CHECK(crossing > 200);
}

/// Two or three chips of up to four sections, with transfers whose halts stand anywhere.
std::vector<ChipHalts> random_halts(std::mt19937_64& random, std::vector<Transfer>& transfers) {
  const std::size_t count = 2 + random() % 2;
  std::vector<ChipHalts> chips(count);
  std::vector<std::map<std::uint32_t, parallel::Halt>> halts(count);
  for (ChipHalts& chip : chips) chip.sections = static_cast<std::uint32_t>(1 + random() % 4);
  for (std::uint32_t t = 0; t < 1 + random() % 5; ++t) {
    const auto from = static_cast<std::uint32_t>(random() % count);
    const auto to = static_cast<std::uint32_t>((from + 1 + random() % (count - 1)) % count);
    transfers.push_back({fmt::format("t{}", t), from, to, 0, 0});
    halts[from][static_cast<std::uint32_t>(random() % (chips[from].sections + 1))].sends.push_back(
        t);
    halts[to][static_cast<std::uint32_t>(random() % chips[to].sections)].receives.push_back(t);
  }
  for (std::size_t c = 0; c < count; ++c) {
    for (auto& [boundary, halt] : halts[c]) {
      halt.boundary = boundary;
      chips[c].halts.push_back(halt);
    }
  }
  return chips;
}

TEST_CASE("random halts: there is a schedule exactly if some order of moves ends") {
  std::mt19937_64 random(10);
  int circles = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    std::vector<Transfer> transfers;
    const auto chips = random_halts(random, transfers);
    const auto schedule = parallel::relay_schedule(chips, transfers);
    const auto* refused = std::get_if<parallel::Refused>(&schedule);
    CHECK((refused == nullptr) == can_finish(chips));
    if (refused == nullptr) continue;
    ++circles;
    CHECK(to_string(refused->reason) == "circular-relay");
  }
  CHECK(circles > kRounds / 20);
  CHECK(circles < kRounds / 2);
}

}  // namespace
}  // namespace spatialcert::tests
