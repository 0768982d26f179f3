// Parallelism manifests: what is read, what is refused and where, and that documentation and schema
// say so.
#include "compose/parallel/manifest.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "compose/parallel/attach.hpp"
#include "compose/parallel/sharding.hpp"
#include "ir/bytes_file.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {
namespace {

using parallel::Manifest;
using parallel::Sharding;

const std::string kWhole = R"({"format": "spatialcert-parallelism", "version": 1,
"chips": 2,
"owners": {"w.0": 0, "w.1": 1, "p.0": 0, "p.1": 1},
"quantised": [{"weight": "w.0", "values": "w.0 values", "scales": "w.0 scales"}],
"slices": [{"full": "w", "rows": 8, "cols": 4, "axis": "rows", "dimension": "heads", "stacked": true, "copies": 2,
"parts": [{"tensor": "w.0", "ranges": [[0, 4]]}, {"tensor": "w.1", "ranges": [[6, 8], [4, 6]]}]}],
"collectives": [{"out": "h", "partials": ["p.0", "p.1"], "folds": ["h"]}],
"statements": [{"binds": "p.0", "op": "matmul", "reads": ["x", "w.0"]},
{"fused": [{"binds": "a", "op": "mul", "reads": ["x", "w.1"]}, {"binds": "p.1", "op": "sum", "reads": ["a"]}]},
{"binds": "h", "op": "add", "reads": ["p.0", "p.1"]}]}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

Manifest parsed(const std::string& text) {
  const auto manifest = parallel::parse_manifest(text, "p.json");
  if (!manifest) FAIL(manifest.error().message());
  return *manifest;
}

TEST_CASE("a parallelism manifest with everything") {
  const Manifest m = parsed(kWhole);
  CHECK(m.chips == 2);
  CHECK(m.owners.at("w.1") == 1);
  REQUIRE(m.full.size() == 1);
  CHECK(m.full[0].name == "w");
  CHECK(m.full[0].rows == 8);
  CHECK(m.full[0].cols == 4);
  CHECK(m.full[0].axis == ir::Axis::rows);
  CHECK(m.full[0].dimension == "heads");
  CHECK(m.full[0].stacked);
  CHECK(m.full[0].copies == 2);
  CHECK(m.full[0].parts[1].tensor == "w.1");
  CHECK(m.full[0].parts[1].ranges == std::vector<ir::IndexRange>{{6, 8}, {4, 6}});
  CHECK(m.collectives[0].partials == std::vector<std::string>{"p.0", "p.1"});
  CHECK(m.collectives[0].folds == std::vector<std::string>{"h"});
  REQUIRE(m.statements.size() == 3);
  CHECK(m.statements[1].members.size() == 2);
  CHECK(m.statements[1].members[1].op == ir::OpKind::sum);
  CHECK(m.statements[1].members[1].reads == std::vector<std::string>{"a"});
  const Sharding sharding(m);
  CHECK(sharding.chips() == 2);
  CHECK(sharding.owner("w.0 scales") == 0);
  CHECK(sharding.chip_running("p.1") == 1);
  CHECK(sharding.chip_running("x") == 0);
  CHECK(sharding.collective_of("h") == 0);
  CHECK_FALSE(sharding.collective_of("p.0").has_value());
}

TEST_CASE("what is written is read again, and equal manifests have equal bytes") {
  Manifest odd = row_parallel(2);
  odd.owners["a \"quoted\" \\ name\n"] = 1;
  odd.statements.push_back({{{"a", ir::OpKind::mul, {}}, {"b", ir::OpKind::gated_delta, {"a"}}}});
  CHECK(parsed(parallel::serialise(odd)).owners.count("a \"quoted\" \\ name\n") == 1);
  for (const std::string& text :
       {kWhole, parallel::serialise(odd),
        std::string(R"({"chips": 3, "version": 1, "format": "spatialcert-parallelism"})"),
        parallel::serialise(row_parallel(5))}) {
    const Manifest m = parsed(text);
    const std::string once = parallel::serialise(m);
    CHECK(parallel::serialise(parsed(once)) == once);
  }
  const Manifest least =
      parsed(R"({"chips": 3, "version": 1, "format": "spatialcert-parallelism"})");
  CHECK(least.chips == 3);
  CHECK(least.owners.empty());
  CHECK(least.statements.empty());
}

TEST_CASE("parallelism manifests are files, compressed or not") {
  const Manifest m = row_parallel(3);
  for (const char* const end : {"", ".zst"}) {
    const std::string path =
        (std::filesystem::temp_directory_path() /
         fmt::format("spatialcert-parallelism-{}.json{}", std::random_device()(), end))
            .string();
    REQUIRE_FALSE(parallel::write_manifest(m, path).has_value());
    const auto read = parallel::read_manifest(path);
    std::filesystem::remove(path);
    REQUIRE(read.has_value());
    CHECK(parallel::serialise(*read) == parallel::serialise(m));
  }
  CHECK(parallel::write_manifest(m, "/no/such/folder.json").has_value());
}

TEST_CASE("what parallelism manifests are refused for, and where") {
  struct Case {
    const char* from;
    const char* to;
    std::uint64_t line;
    const char* path;
    const char* expected;
  };
  const Case cases[] = {
      {"spatialcert-parallelism", "spatialcert-program", 1, "$.format", "spatialcert-parallelism"},
      {"\"version\": 1", "\"version\": 2", 1, "$.version", "version 1"},
      {"\"chips\": 2,", "", 1, "$", "the member \"chips\""},
      {"\"chips\": 2", "\"chips\": 0", 2, "$.chips", "from 1"},
      {"\"owners\"", "\"owner\"", 3, "$.owner", "did you mean \"owners\"?"},
      {"\"w.1\": 1", "\"w.1\": 2", 3, "$.owners", "a chip below 2 for \"w.1\""},
      {"\"w.1\": 1", "\"w.1\": -1", 3, "$.owners", "from 0"},
      {"\"w.1\": 1", "\"w.0\": 1", 3, "$.owners", "once"},
      {"\"w.1\": 1", "\"\": 1", 3, "$.owners", "not empty"},
      {"\"w.0 scales\"", "\"w.0\"", 4, "$.quantised[0].scales", "occurs once"},
      {"\"w.0 scales\"", "\"p.1\"", 4, "$.quantised[0].scales",
       "on the chip of its weight \"w.0\""},
      {"\"values\": \"w.0 values\", ", "", 4, "$.quantised[0]", "the member \"values\""},
      {"\"full\": \"w\"", "\"full\": \"\"", 5, "$.slices[0].full", "not empty"},
      {"\"rows\": 8", "\"rows\": 0", 5, "$.slices[0].rows", "at least 1"},
      {"\"cols\": 4", "\"cols\": 0", 5, "$.slices[0].cols", "at least 1"},
      {"\"cols\": 4", "\"cols\": 9223372036854775807", 5, "$.slices[0].rows", "2^63"},
      {"\"axis\": \"rows\"", "\"axis\": \"cols\"", 5, "$.slices[0].axis",
       "\"rows\" or \"columns\""},
      {"\"heads\"", "\"\"", 5, "$.slices[0].dimension", "not empty"},
      {"\"dimension\": \"heads\", ", "", 5, "$.slices[0]", "the member \"dimension\""},
      {"\"stacked\": true", "\"stacked\": 1", 5, "$.slices[0].stacked", "true or false"},
      {"\"copies\": 2", "\"copies\": 0", 5, "$.slices[0].copies", "from 1"},
      {"{\"tensor\": \"w.0\", \"ranges\": [[0, 4]]}, {\"tensor\": \"w.1\", \"ranges\": [[6, 8], "
       "[4, 6]]}",
       "", 6, "$.slices[0].parts", "at least one part"},
      {"\"tensor\": \"w.1\"", "\"tensor\": \"w.0\"", 6, "$.slices[0].parts[1].tensor",
       "a part of one full tensor"},
      {"\"tensor\": \"w.1\"", "\"tensor\": \"x\"", 6, "$.slices[0].parts[1].tensor",
       "a tensor that a chip owns"},
      {"[[0, 4]]", "[]", 6, "$.slices[0].parts[0].ranges", "at least one range"},
      {"[4, 6]", "[4, 9]", 6, "$.slices[0].parts[1].ranges[1]", "a range of [0, 8)"},
      {"[4, 6]", "[4, 4]", 6, "$.slices[0].parts[1].ranges[1]", "not empty"},
      {"[[0, 4]]", "[[0, 8], [0, 1]]", 6, "$.slices[0].parts[0].ranges[1]", "at most the 8 rows"},
      {"[4, 6]", "[4]", 6, "$.slices[0].parts[1].ranges[1]", "[begin, end]"},
      {"[4, 6]", "[4, 5, 6]", 6, "$.slices[0].parts[1].ranges[1]", "[begin, end]"},
      {"\"out\": \"h\"", "\"out\": \"w.1\"", 7, "$.collectives[0].out", "that no chip owns"},
      {"[\"p.0\", \"p.1\"], \"folds\"", "[\"p.0\"], \"folds\"", 7, "$.collectives[0].partials",
       "one of each of the 2 chips"},
      {"[\"p.0\", \"p.1\"], \"folds\"", "[\"p.1\", \"p.0\"], \"folds\"", 7,
       "$.collectives[0].partials[0]", "a tensor of chip 0"},
      {"[\"h\"]", "[]", 7, "$.collectives[0].folds", "the last binds \"h\""},
      {"[\"h\"]", "[\"p.1\"]", 7, "$.collectives[0].folds", "the last binds \"h\""},
      {"[\"h\"]", "[\"t\", \"h\"]", 7, "$.collectives[0].folds[0]", "that the statements bind"},
      {"[\"h\"]", "[\"h\", \"h\"]", 7, "$.collectives[0].folds[1]", "a fold once"},
      {"\"op\": \"add\"", "\"op\": \"sub\"", 7, "$.collectives[0].folds[0]", "adds"},
      {"[\"p.0\", \"p.1\"]}]}", "[\"p.0\", \"p.0\"]}]}", 7, "$.collectives[0].folds[0]",
       "each added once"},
      {"[\"p.0\", \"p.1\"]}]}", "[\"p.0\"]}]}", 7, "$.collectives[0].folds",
       "a sum of all partials"},
      {"\"binds\": \"a\"", "\"binds\": \"h\"", 7, "$.collectives[0].folds[0]", "once"},
      {"\"op\": \"matmul\"", "\"op\": \"mutmal\"", 8, "$.statements[0].op", "\"matmul\""},
      {"\"reads\": [\"x\", \"w.0\"]", "\"reads\": [\"x\", \"\"]", 8, "$.statements[0].reads[1]",
       "not empty"},
      {"\"op\": \"matmul\", ", "", 8, "$.statements[0]", "\"fused\""},
      {"{\"fused\": [{", "{\"op\": \"add\", \"fused\": [{", 9, "$.statements[1]", "\"fused\""},
      {"\"op\": \"mul\", ", "", 9, "$.statements[1].fused[0]", "the member \"op\""},
      {"[\"p.0\", \"p.1\"]}]}", "[\"p.0\", \"p.1\"]}]} 1", 11, "$", "the end"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.from);
    CAPTURE(c.to);
    const auto manifest = parallel::parse_manifest(with(c.from, c.to), "p.json");
    REQUIRE_FALSE(manifest.has_value());
    INFO(manifest.error().message());
    CHECK(manifest.error().file == "p.json");
    CHECK(manifest.error().path.rfind(c.path, 0) == 0);
    CHECK(manifest.error().expected.find(c.expected) != std::string::npos);
    // Broken syntax is seen where it no longer can be right.
    if (std::string_view(c.expected) != "the end") CHECK(manifest.error().line == c.line);
  }
  for (const char* text : {"", "[]", "  7", "nonsense"})
    CHECK_FALSE(parallel::parse_manifest(text, "p.json").has_value());
  CHECK_FALSE(parallel::read_manifest("/nowhere/at-all.json").has_value());
}

TEST_CASE("manifests that were not read are held to the same") {
  Manifest m = row_parallel(2);
  CHECK_FALSE(parallel::validate(m).has_value());
  m.statements.push_back({});
  CHECK(parallel::validate(m)->path == "$.statements[3].fused");
  m = row_parallel(2);
  m.collectives.push_back({"h", {"p.0", "p.1"}, {"h"}});
  CHECK(parallel::validate(m)->path == "$.collectives[1].out");
  m = row_parallel(4);
  m.statements.push_back({{{"lost", ir::OpKind::add, {"sum.1"}}}});
  m.collectives.front().folds.insert(m.collectives.front().folds.begin() + 1, "lost");
  CHECK(parallel::validate(m)->path == "$.collectives[0].folds[2]");
  m = row_parallel(1);
  m.collectives.push_back({"h", {"p.0"}, {"h"}});
  CHECK(parallel::validate(m)->path == "$.collectives[0]");
  m = row_parallel(2);
  m.chips = 0;
  CHECK(parallel::validate(m)->path == "$.chips");
  m = row_parallel(2);
  m.full.push_back({"v", 2, 2, ir::Axis::rows, "inner", false, 2, {{"w.0", {{0, 2}}}}});
  CHECK(parallel::validate(m)->path == "$.slices[0].copies");
  m.full[0].copies = 1;
  m.full.push_back(
      {"w", 2, 2, ir::Axis::rows, "inner", false, 1, {{"w.1", {{0, 1}}}, {"p.0", {{1, 2}}}}});
  CHECK(parallel::validate(m)->path == "$.slices[1].parts");
  m = row_parallel(2);
  m.full.push_back({"w", 2, 2, ir::Axis::rows, "inner", false, 1, {{"w.0", {{0, 2}}}}});
  m.full.push_back({"w", 2, 2, ir::Axis::rows, "inner", false, 1, {{"w.1", {{0, 2}}}}});
  CHECK(parallel::validate(m)->path == "$.slices[1].full");
}

TEST_CASE("damaged parallelism manifests are read or refused, never anything else") {
  std::mt19937_64 random(4);
  int refused = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = kWhole;
    for (std::uint64_t i = 0; i < 1 + random() % 3; ++i) {
      const std::size_t at = random() % text.size();
      constexpr std::string_view kBytes = "{}[]\",:1e-\\u\0x \xff";
      const char byte = kBytes[random() % kBytes.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 9);
      } else if (random() % 2 == 0) {
        text[at] = byte;
      } else {
        text.insert(at, 1, byte);
      }
    }
    const auto manifest = parallel::parse_manifest(text, "p.json");
    if (manifest) continue;
    ++refused;
    CHECK(manifest.error().file == "p.json");
    CHECK_FALSE(manifest.error().expected.empty());
  }
  CHECK(refused > kRounds / 2);
}

/// Declares w.0 and w.1, 4 x 4, of their chips, and x.
ir::Program halves() {
  SectionMaker m("halves", chips(2));
  m.input("x").input("w.0").input("w.1").output("y");
  m.at({0, 0, 0}, Engine::load).run("s", {"x"}, {"y"});
  ir::Program out = m.section();
  for (ir::Tensor& tensor : out.tensors) {
    tensor.rows = tensor.cols = 4;
    if (tensor.name[0] == 'w') tensor.owner = static_cast<std::uint32_t>(tensor.name[2] - '0');
  }
  return out;
}

TEST_CASE("a manifest is attached to a program") {
  const Manifest m = parsed(kWhole);
  ir::Program program = halves();
  REQUIRE_FALSE(parallel::attach(program, m).has_value());
  REQUIRE(program.sliced.size() == 1);
  const ir::SlicedTensor& w = program.sliced.front();
  CHECK(w.name == "w");
  CHECK(w.rows == 8);
  CHECK(w.axis == ir::Axis::rows);
  CHECK(w.dimension == "heads");
  CHECK(w.stacked);
  CHECK(w.copies == 2);
  REQUIRE(w.slices.size() == 2);
  CHECK(program.tensors[w.slices[1].tensor.value()].name == "w.1");
  CHECK(w.slices[1].ranges == std::vector<ir::IndexRange>{{6, 8}, {4, 6}});
  REQUIRE_FALSE(parallel::attach(program, m).has_value());
  CHECK(program.sliced.size() == 1);
}

TEST_CASE("what cannot be attached") {
  const Manifest m = parsed(kWhole);
  const ir::Program good = halves();
  const auto refused = [&](const auto& change) {
    ir::Program program = good;
    change(program);
    return parallel::attach(program, m);
  };
  check_refusal(refused([](ir::Program& p) { p.target.chips = 4; }), RefusalReason::chip_count,
                {"over 2 chips", "has 4"});
  check_refusal(refused([](ir::Program& p) { p.tensors[0].name = "w"; }),
                RefusalReason::full_declared, {"\"halves\"", "\"w\""});
  check_refusal(refused([](ir::Program& p) { p.tensors[2].name = "v"; }),
                RefusalReason::undeclared_tensor, {"\"halves\"", "\"w.1\"", "\"w\""});
  check_refusal(refused([](ir::Program& p) { p.tensors[2].owner = 0; }), RefusalReason::owner_clash,
                {"\"w.1\"", "chip 0", "chip 1"});
  check_refusal(refused([](ir::Program& p) { p.tensors[2].owner.reset(); }),
                RefusalReason::owner_clash, {"\"w.1\"", "the spine", "chip 1"});
  check_refusal(refused([](ir::Program& p) { p.tensors[1].rows = 5; }), RefusalReason::part_shape,
                {"\"w.0\" is 5 x 4", "(8 x 4)", "give 4 x 4"});
  check_refusal(refused([](ir::Program& p) { p.tensors[2].dtype = ir::DType::i64; }),
                RefusalReason::part_type, {"\"w.0\" and \"w.1\" of \"w\"", "i64"});
}

TEST_CASE("owners are given to what says none") {
  const Sharding sharding(parsed(kWhole));
  ir::Program program = halves();
  program.tensors[1].owner.reset();
  REQUIRE_FALSE(parallel::assign_owners(program, sharding).has_value());
  CHECK(program.tensors[1].owner == 0);
  CHECK_FALSE(program.tensors[0].owner.has_value());
  program.tensors[2].owner = 0;
  check_refusal(parallel::assign_owners(program, sharding), RefusalReason::owner_clash,
                {"\"w.1\"", "chip 0", "chip 1"});
}

std::string document(const std::string& name) {
  auto bytes = ir::read_bytes(std::string(SPATIALCERT_SOURCE_DIR "/docs/") + name);
  if (!bytes) FAIL(bytes.error().message());
  return *bytes;
}

TEST_CASE("docs/parallelism.md opens with a manifest, and names every reason") {
  const std::string text = document("parallelism.md");
  constexpr std::string_view kFence = "```json\n";
  const std::size_t begin = text.find(kFence) + kFence.size();
  const Manifest m = parsed(text.substr(begin, text.find("```", begin) - begin));
  CHECK(m.collectives.size() == 1);
  for (std::size_t r = 0; r < parallel::kReasons; ++r) {
    const std::string name = fmt::format("`{}`", to_string(static_cast<RefusalReason>(r)));
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
  }
}

TEST_CASE("docs/parallelism.schema.json names the members that are read") {
  simdjson::dom::parser parser;
  simdjson::dom::element schema;
  const std::string text = document("parallelism.schema.json");
  REQUIRE(parser.parse(text).get(schema) == simdjson::SUCCESS);
  const auto members = [&](const char* where, const std::string& from) {
    std::set<std::string> properties;
    simdjson::dom::object object;
    REQUIRE(schema.at_pointer(std::string(where) + "/properties").get(object) == simdjson::SUCCESS);
    for (const auto& member : object) properties.emplace(member.key);
    const auto unknown = parallel::parse_manifest(with(from, "\"?\""), "p.json");
    REQUIRE_FALSE(unknown.has_value());
    for (const std::string& name : properties) {
      CAPTURE(name);
      CHECK(unknown.error().expected.find("\"" + name + "\"") != std::string::npos);
    }
    CHECK(std::count(unknown.error().expected.begin(), unknown.error().expected.end(), '"') ==
          static_cast<std::ptrdiff_t>(2 * properties.size()));
  };
  members("", "\"chips\"");
  members("/$defs/quantised", "\"weight\"");
  members("/$defs/full", "\"full\"");
  members("/$defs/part", "\"tensor\"");
  members("/$defs/collective", "\"out\"");
  simdjson::dom::array required;
  REQUIRE(schema["required"].get(required) == simdjson::SUCCESS);
  CHECK(required.size() == 3);
}

}  // namespace
}  // namespace spatialcert::tests
