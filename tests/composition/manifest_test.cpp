// Manifests: what is read, what is refused and where, and that documentation and schema say so.
#include "compose/composition/manifest.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <algorithm>
#include <random>
#include <set>

#include "compose/composition/explain.hpp"
#include "ir/bytes_file.hpp"
#include "tests/composition/section_maker.hpp"

namespace spatialcert::tests {
namespace {

using compose::Manifest;
using compose::Placement;
using compose::RefusalReason;
using compose::WantedPhases;

const std::string kWhole = R"({"format": "spatialcert-composition", "version": 1,
"name": "layers",
"execution": "persistent",
"sections": ["a.json", {"file": "b.json", "name": "second", "tensors": {"x": "h", "h": "x"}}, {"file": "/c.json"}],
"carried": ["kv"],
"placement": {"regions": 2},
"phases": {"barrier_after": ["second"]},
"separate_memory": true,
"lost_postconditions": "leave-out",
"parallelism": "split.json"}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

Manifest parsed(const std::string& text) {
  const auto manifest = compose::parse_manifest(text, "m.json");
  if (!manifest) FAIL(manifest.error().message());
  return *manifest;
}

TEST_CASE("a manifest with everything") {
  const Manifest m = parsed(kWhole);
  CHECK(m.options.name == "layers");
  CHECK(m.options.execution == ir::Execution::persistent);
  REQUIRE(m.sections.size() == 3);
  CHECK(m.sections[0].file == "a.json");
  CHECK(m.sections[0].name.empty());
  CHECK(m.sections[1].name == "second");
  CHECK(m.sections[1].tensors == compose::Renamings{{"x", "h"}, {"h", "x"}});
  CHECK(m.options.carried == std::vector<std::string>{"kv"});
  CHECK(m.placement.kind == Placement::Kind::round_robin_regions);
  CHECK(m.placement.regions == 2);
  CHECK(m.phases.kind == WantedPhases::Kind::after_sections);
  CHECK(m.phases.sections == std::vector<std::string>{"second"});
  CHECK(m.separate_memory);
  CHECK(m.options.drop_lost_postconditions);
  CHECK(m.parallelism == "split.json");
  CHECK(compose::path_of("some/m.json", m.sections[0].file) == "some/a.json");
  CHECK(compose::path_of("m.json", m.sections[0].file) == "a.json");
  CHECK(compose::path_of("some/m.json", m.sections[2].file) == "/c.json");
}

TEST_CASE("what a manifest may leave out") {
  const std::string least =
      R"({"name": "n", "sections": ["a"], "version": 1, "format": "spatialcert-composition")";
  const Manifest m = parsed(least + "}");
  CHECK(m.options.execution == ir::Execution::once);
  CHECK(m.placement.kind == Placement::Kind::same_sites);
  CHECK(m.phases.kind == WantedPhases::Kind::automatic);
  CHECK(m.separate_memory);
  CHECK(m.parallelism.empty());
  CHECK_FALSE(m.options.drop_lost_postconditions);
  const Manifest all = parsed(least + R"(, "phases": "all", "placement": "own-regions"})");
  CHECK(all.phases.kind == WantedPhases::Kind::all);
  CHECK_FALSE(all.separate_memory);
  CHECK(all.placement.kind == Placement::Kind::own_regions);
  const Manifest flags = parsed(least + R"(, "phases": {"barrier_after": [true, false]}})");
  CHECK(flags.phases.closed == std::vector<bool>{true, false});
  CHECK_FALSE(flags.separate_memory);
  CHECK(parsed(least + R"(, "phases": {"barrier_after": []}})").phases.kind ==
        WantedPhases::Kind::after_sections);
}

TEST_CASE("what manifests are refused for, and where") {
  struct Case {
    const char* from;
    const char* to;
    std::uint64_t line;
    const char* path;
    const char* expected;
  };
  const Case cases[] = {
      {"spatialcert-composition", "spatialcert-program", 1, "$.format", "spatialcert-composition"},
      {"\"version\": 1", "\"version\": 2", 1, "$.version", "version 1"},
      {"\"version\": 1,", "", 1, "$", "the member \"version\""},
      {"\"name\": \"layers\",", "", 1, "$", "the member \"name\""},
      {"\"layers\"", "\"\"", 2, "$.name", "not empty"},
      {"\"layers\"", "7", 2, "$.name", "a string"},
      {"\"carried\"", "\"caried\"", 5, "$.caried", "did you mean \"carried\"?"},
      {"\"carried\": [\"kv\"]", "\"name\": \"again\"", 5, "$.name", "once"},
      {"\"persistent\"", "\"twice\"", 3, "$.execution", "\"once\" or \"persistent\""},
      {"\"a.json\", ", "7, ", 4, "$.sections[0]", "{\"file\", \"name\", \"tensors\"}"},
      {"\"name\": \"second\"", "\"nome\": \"second\"", 4, "$.sections[1].nome", "one of the keys"},
      {"{\"file\": \"/c.json\"}", "{\"name\": \"c\"}", 4, "$.sections[2]", "the member \"file\""},
      {"\"h\": \"x\"", "\"x\": \"y\"", 4, "$.sections[1].tensors.x", "once"},
      {"\"h\": \"x\"", "\"h\": 1", 4, "$.sections[1].tensors.h", "a string"},
      {"\"h\": \"x\"", "\"h\": \"\"", 4, "$.sections[1].tensors.h", "not empty"},
      {"[\"kv\"]", "[\"kv\", 3]", 5, "$.carried[1]", "a string"},
      {"{\"regions\": 2}", "{\"regions\": 0}", 6, "$.placement.regions", "from 1"},
      {"{\"regions\": 2}", "{}", 6, "$.placement", "the member \"regions\""},
      {"{\"regions\": 2}", "\"anywhere\"", 6, "$.placement", "\"own-regions\""},
      {"{\"regions\": 2}", "[2]", 6, "$.placement", "\"own-regions\""},
      {"[\"second\"]", "[\"second\", true]", 7, "$.phases.barrier_after[1]", "true and false"},
      {"[\"second\"]", "[true, \"second\"]", 7, "$.phases.barrier_after[1]", "true and false"},
      {"[\"second\"]", "[1]", 7, "$.phases.barrier_after[0]", "true or false"},
      {"{\"barrier_after\": [\"second\"]}", "\"some\"", 7, "$.phases", "\"auto\""},
      {"\"separate_memory\": true", "\"separate_memory\": 1", 8, "$.separate_memory",
       "true or false"},
      {"\"leave-out\"", "\"forget\"", 9, "$.lost_postconditions", "\"refuse\""},
      {"\"split.json\"", "\"\"", 10, "$.parallelism", "not empty"},
      {"\"split.json\"}", "\"split.json\"} 1", 10, "$", "the end"},
      {"\"kv\"]", "\"kv\"", 5, "$.carried", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.from);
    CAPTURE(c.to);
    const auto manifest = compose::parse_manifest(with(c.from, c.to), "m.json");
    REQUIRE_FALSE(manifest.has_value());
    INFO(manifest.error().message());
    CHECK(manifest.error().file == "m.json");
    CHECK(manifest.error().path.starts_with(c.path));
    CHECK(manifest.error().expected.find(c.expected) != std::string::npos);
    // Broken syntax is seen where it no longer can be right.
    if (*c.expected != '\0' && std::string_view(c.expected) != "the end")
      CHECK(manifest.error().line == c.line);
  }
  const auto none = compose::parse_manifest(
      R"({"format":"spatialcert-composition","version":1,"name":"n","sections":[]})", "m.json");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().path == "$.sections");
  for (const char* text : {"", "[]", "  7", "nonsense"})
    CHECK_FALSE(compose::parse_manifest(text, "m.json").has_value());
  CHECK_FALSE(compose::read_manifest("/nowhere/at-all.json").has_value());
}

TEST_CASE("damaged manifests are read or refused, never anything else") {
  std::mt19937_64 random(3);
  int refused = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = kWhole;
    for (std::uint64_t i = 0; i < 1 + random() % 3; ++i) {
      const std::size_t at = random() % text.size();
      constexpr std::string_view kBytes = "{}[]\",:1e-\\u\0x \xff";
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.erase(at, 1 + random() % 9);
          break;
        default:
          text.insert(at, 1, byte);
          break;
      }
    }
    const auto manifest = compose::parse_manifest(text, "m.json");
    if (manifest) continue;
    ++refused;
    CHECK(manifest.error().file == "m.json");
    CHECK_FALSE(manifest.error().expected.empty());
  }
  CHECK(refused > kRounds / 2);
}

/// Two independent chains a1, a2 and b1, b2 of sections on chips 0 and 1, in mixed source order.
std::vector<ir::Program> two_chains() {
  return {
      pipeline_section("a1", "x", "ha", {0, 0, 0}), pipeline_section("a2", "ha", "ya", {0, 0, 0}),
      pipeline_section("b1", "x", "hb", {1, 0, 0}), pipeline_section("b2", "hb", "yb", {1, 0, 0})};
}

Manifest plain() {
  return parsed(
      R"({"format":"spatialcert-composition","version":1,"name":"n","sections":["unread"]})");
}

TEST_CASE("automatic phases put independent sections beside one another") {
  const auto result = composed(compose::compose_manifest(plain(), two_chains()));
  std::vector<std::string> names;
  for (const ir::Section& section : result.program.sections) names.push_back(section.name);
  CHECK(names == std::vector<std::string>{"a1", "b1", "a2", "b2"});
  CHECK(result.program.sections[1].source_index == 2);
  CHECK(result.rendezvous_count == 1);
  CHECK(compose::explain(result) ==
        R"(n: 4 sections in 2 phases, 6 engine programs on four chips, 103 ops
  phase 1:
    section "a1", number 1 in the source, chip 0
    section "b1", number 3 in the source, chip 1
  phase 2:
    section "a2", number 2 in the source, chip 0
    section "b2", number 4 in the source, chip 1
  1 rendezvous of P = 6 engine programs on S = 2 sites: 2 P + S + 1 = 15 ops each, 15 together; 1 colour of release semaphores
  sram: 256 of 4096 bytes on [0,0,0] and 1 other site
)");
}

TEST_CASE("boundaries as a manifest names them") {
  Manifest m = plain();
  m.phases.kind = WantedPhases::Kind::all;
  CHECK(composed(compose::compose_manifest(m, two_chains())).rendezvous_count == 3);
  m.phases.kind = WantedPhases::Kind::after_sections;
  m.phases.sections = {"b1", "a1"};
  const auto result = composed(compose::compose_manifest(m, two_chains()));
  CHECK(result.rendezvous_count == 2);
  CHECK(result.program.sections[1].name == "a2");
  m.phases.sections = {"c"};
  check_refused(compose::compose_manifest(m, two_chains()), RefusalReason::bad_barriers, {"\"c\""});
  m.phases.kind = WantedPhases::Kind::flags;
  m.phases.closed = {true, false};
  check_refused(compose::compose_manifest(m, two_chains()), RefusalReason::bad_barriers,
                {"4 sections"});
  m.phases.closed = {false, false, true, false};
  m.separate_memory = true;
  const auto apart = composed(compose::compose_manifest(m, two_chains()));
  CHECK(apart.program.buffers[2].address == 256);  // a2 beside a1
  m.separate_memory = false;
  CHECK(composed(compose::compose_manifest(m, two_chains())).program.buffers[2].address == 0);
}

TEST_CASE("persistent: automatic phases close the wrap-around") {
  Manifest m = plain();
  m.options.execution = ir::Execution::persistent;
  const auto result = composed(compose::compose_manifest(m, two_chains()));
  CHECK(result.rendezvous_count == 2);
  CHECK(result.program.boundaries.back().closed);
}

TEST_CASE("a manifest of a split gives owners and full tensors") {
  compose::parallel::Manifest split;
  split.chips = 4;
  split.owners = {{"ha", 0}, {"hb", 1}, {"elsewhere", 3}};
  split.full = {
      {"h", 4, 16, ir::Axis::rows, "inner", false, 1, {{"ha", {{0, 2}}}, {"hb", {{2, 4}}}}}};
  REQUIRE_FALSE(compose::parallel::validate(split).has_value());
  auto sections = two_chains();
  for (ir::Program& section : sections) {
    for (ir::Tensor& tensor : section.tensors) {
      if (tensor.name[0] == 'h')
        split.full[0].cols = tensor.cols, split.full[0].rows = 2 * tensor.rows;
      if (tensor.name == "ha") split.full[0].parts[0].ranges = {{0, tensor.rows}};
      if (tensor.name == "hb") split.full[0].parts[1].ranges = {{tensor.rows, 2 * tensor.rows}};
    }
  }
  const auto result = composed(compose::compose_manifest(plain(), sections, split));
  REQUIRE(result.program.sliced.size() == 1);
  for (const ir::Tensor& tensor : result.program.tensors) {
    CHECK(tensor.owner.has_value() == (tensor.name[0] == 'h'));
    if (tensor.name == "hb") CHECK(tensor.owner == 1);
  }
  split.full[0].parts[1].ranges.front().begin += 1;
  check_refused(compose::compose_manifest(plain(), sections, split), RefusalReason::bad_parallelism,
                {"part-shape", "\"hb\""});
  sections[0].tensors.back().owner = 2;
  split.owners[sections[0].tensors.back().name] = 0;
  check_refused(compose::compose_manifest(plain(), sections, split), RefusalReason::bad_parallelism,
                {"owner-clash", "chip 2", "chip 0"});
}

std::string document(const std::string& name) {
  auto bytes = ir::read_bytes(std::string(SPATIALCERT_SOURCE_DIR "/docs/") + name);
  if (!bytes) FAIL(bytes.error().message());
  return *bytes;
}

TEST_CASE("docs/compose.md opens with a manifest, and names every reason") {
  const std::string text = document("compose.md");
  constexpr std::string_view kFence = "```json\n";
  const std::size_t begin = text.find(kFence) + kFence.size();
  const Manifest m = parsed(text.substr(begin, text.find("```", begin) - begin));
  CHECK(m.sections.size() >= 2);
  for (int r = 0; r <= static_cast<int>(RefusalReason::too_large); ++r) {
    const std::string name = "`" + std::string(to_string(static_cast<RefusalReason>(r))) + "`";
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
  }
}

TEST_CASE("docs/composition.schema.json names the members that are read") {
  simdjson::dom::parser parser;
  simdjson::dom::element schema;
  const std::string text = document("composition.schema.json");
  REQUIRE(parser.parse(text).get(schema) == simdjson::SUCCESS);
  std::set<std::string> properties, required;
  simdjson::dom::object members;
  REQUIRE(schema["properties"].get(members) == simdjson::SUCCESS);
  for (const auto& member : members) properties.emplace(member.key);
  for (const std::string_view name : schema["required"]) required.emplace(name);
  const auto unknown = compose::parse_manifest(with("\"carried\"", "\"?\""), "m.json");
  REQUIRE_FALSE(unknown.has_value());
  for (const std::string& name : properties) {
    CAPTURE(name);
    CHECK(unknown.error().expected.find("\"" + name + "\"") != std::string::npos);
  }
  CHECK(std::count(unknown.error().expected.begin(), unknown.error().expected.end(), '"') ==
        static_cast<std::ptrdiff_t>(2 * properties.size()));
  CHECK(required == std::set<std::string>{"format", "version", "name", "sections"});
}

}  // namespace
}  // namespace spatialcert::tests
