// Relays of random statements as systems: certified, and with the values of one chip that performs
// the statements in order.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/composition/composer.hpp"
#include "compose/parallel/relay.hpp"
#include "compose/parallel/relocate.hpp"
#include "compose/sections/sections.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"
#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {
namespace {

using parallel::Manifest;
using parallel::Sharding;

constexpr std::uint32_t kMostStatements = 9;

/// Statements t0, t1, ... of sums of earlier names and of x0 and x1; what the spine binds reads
/// only the spine, so that nothing leaks.
Manifest random_manifest(std::mt19937_64& random) {
  Manifest m;
  m.chips = 2 + static_cast<std::uint32_t>(random() % 2);
  const std::uint64_t count = 2 + random() % (kMostStatements - 1);
  std::vector<std::string> all = {"x0", "x1"}, spine = all;
  for (std::uint64_t s = 0; s < count; ++s) {
    const std::string name = fmt::format("t{}", s);
    const auto chip = random() % (m.chips + 1);
    const auto& from = chip < m.chips ? all : spine;
    parallel::Statement statement{name, ir::OpKind::add, {}};
    for (int r = 0; r < 2; ++r) statement.reads.push_back(from[random() % from.size()]);
    m.statements.push_back({{std::move(statement)}});
    if (chip < m.chips) {
      m.owners[name] = static_cast<std::uint32_t>(chip);
    } else {
      spine.push_back(name);
    }
    all.push_back(name);
  }
  return m;
}

ir::Program section_of(const parallel::Statement& statement, const ir::Target& target) {
  compose::SectionDescription d;
  d.name = "make " + statement.name;
  d.target = target;
  d.sites = {{0, 0, 0}};
  for (const std::string& name :
       std::vector<std::string>{statement.reads[0], statement.reads[1], statement.name}) {
    const auto same = [&](const auto& t) { return t.name == name; };
    if (std::none_of(d.tensors.begin(), d.tensors.end(), same))
      d.tensors.push_back({name, 2, 2, ir::DType::i32, ir::TensorRole::input});
  }
  using namespace compose::sections;  // NOLINT: the words of descriptions
  d.work = Elementwise{add(tensor(statement.reads[0]), scale(tensor(statement.reads[1]), 2)),
                       statement.name};
  d.tile = {2, 2, 1};
  auto built = compose::build_section(d);
  if (!built) FAIL(built.error().message());
  return std::move(built).value();
}

TEST_CASE("random relays are certified, and equal one chip that does everything in order") {
  std::mt19937_64 random(21);
  std::size_t transfers = 0;
  for (int round = 0; round < 25; ++round) {
    CAPTURE(round);
    const Manifest m = random_manifest(random);
    REQUIRE_FALSE(parallel::validate(m).has_value());
    const Sharding sharding(m);
    const ir::Target target = chips(m.chips, false);
    parallel::ChipSections sections(m.chips);
    std::vector<ir::Program> alone;
    for (std::uint32_t s = 0; s < m.statements.size(); ++s) {
      const auto& statement = m.statements[s].members[0];
      alone.push_back(section_of(statement, target));
      sections[sharding.chip_running(statement.name)].push_back(
          {accepted(parallel::relocate(alone.back(), statement.name, sharding,
                                       parallel::Foreign::copied)),
           s});
    }
    const parallel::Relay relay = accepted(parallel::relay(sections, m.statements, sharding));
    transfers += relay.transfers.size();
    const auto report = certify::certify(relay.system);
    REQUIRE_MESSAGE(report.verdict == certify::Verdict::certified,
                    certify::report_text(relay.system, report, false));
    const ir::Program whole = composed(compose::compose(alone)).program;
    const auto expected = finished(whole, {}, static_cast<std::uint64_t>(round));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto found = finished(relay.system, {}, seed);
      for (const parallel::SourceOp& op : m.statements) {
        const std::string& name = op.members[0].name;
        CAPTURE(name);
        CHECK(found.tensor(name)->integers == expected.tensor(name)->integers);
      }
    }
    count("random relays", 1);
  }
  CHECK(transfers > 40);
}

}  // namespace
}  // namespace spatialcert::tests
