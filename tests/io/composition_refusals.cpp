// What sections, boundaries, links and postconditions must satisfy.
#include <doctest/doctest.h>

#include "rich_program.hpp"

namespace spatialcert::ir::test {
namespace {

constexpr std::string_view kComputeRange = R"("engine":"compute","range":[0,1])";

TEST_CASE("refused: sections that clash") {
  check_refused({R"("index":2)", R"("index":4)", "$.sections[1].index",
                 "a source index that no other section has", "4, which \"first\" has already"});
  check_refused({R"({"approx":"sums in \"bf16\""})", R"({"approx":""})",
                 "$.sections[1].numerics.approx", "not empty", "\"\""});
  check_refused(
      {R"("source":[0,1])", R"("source":[7,1])", "$.sections[0].source", "source files", "file 7"});
  check_refused({R"(,"numerics":{"approx":"sums in \"bf16\""},"ops":[
{"site":[1,0,0],"engine":"load","range":[0,1]},
{"site":[1,0,0],"engine":"store","range":[1,2]},
{"site":[1,0,0],"engine":"store","range":[2,3]}]})",
                 "}", "$.sections[1]", "the member \"ops\"", "none"});
}

TEST_CASE("refused: boundaries out of place") {
  check_refused({R"({"after":"second","closed":false})", R"({"after":"first","closed":false})",
                 "$.boundaries[1].after", "in the order of their sections", "\"first\" after"});
  check_refused({R"("after":"first","closed":true)", R"("after":"second","closed":true)",
                 "$.boundaries[1].after", "one after each", "\"second\" after \"second\"",
                 "{\"after\":\"second\",\"closed\":false}"});
  check_refused({R"({"after":"first","closed":true)", R"({"after":"first","closed":false)",
                 "$.boundaries[0].ops", "as the boundary is open", "some"});
}

TEST_CASE("refused: ops in no section or in two") {
  check_refused({R"("engine":"compute","range":[1,3])", R"("engine":"compute","range":[2,3])",
                 "$.programs[2].ops[1]", "every op in exactly one section or boundary",
                 "an op in none", "{\"wait\":\"go\""});
  check_refused({R"("engine":"compute","range":[1,3])", R"("engine":"compute","range":[1,2])",
                 "$.programs[2].ops[2]", "every op in exactly one", "an op in none",
                 "{\"post\":\"flag\""});
  check_refused({kComputeRange, R"("engine":"compute","range":[0,2])", "$.programs[2].ops[1]",
                 "every op in exactly one", "section \"first\" and the boundary after \"first\"",
                 "{\"wait\":\"go\""});
}

TEST_CASE("refused: ranges that are none") {
  check_refused({kComputeRange, R"("engine":"compute","range":[0,0])", "$.sections[0].ops[1].range",
                 "begin < end <= 3", "[0, 0)"});
  check_refused({kComputeRange, R"("engine":"compute","range":[0,4])", "$.sections[0].ops[1].range",
                 "begin < end <= 3", "[0, 4)"});
}

TEST_CASE("refused: sections out of order in an engine program") {
  check_refused({R"({"site":[0,0,0],"engine":"load","range":[0,1]},
)",
                 R"({"site":[0,0,0],"engine":"load","range":[1,2]},
)",
                 "$.programs[1].ops[0]", "every op in exactly one", "an op in none",
                 "{\"repeat\":4,\"source\""});
  std::string text = rich_with(R"("ops":[
{"site":[0,0,0],"engine":"load","range":[1,2]})",
                               R"("ops":[
{"site":[0,0,0],"engine":"load","range":[0,1]})");
  const std::string_view section = R"({"site":[0,0,0],"engine":"load","range":[0,1]})";
  text.replace(text.find(section), section.size(),
               R"({"site":[0,0,0],"engine":"load","range":[1,2]})");
  const auto result = parse_program(text, "order");
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().path == "$.programs[1].ops[1]");
  CHECK(result.error().expected == "ops in the order of their sections");
  CHECK(result.error().found == "section \"first\" after the boundary after \"first\"");
}

TEST_CASE("a single section needs no ranges") {
  const auto with_sections = [](std::string_view sections) {
    return parse_program(R"({"format":"spatialcert-program","version":1,"name":"n",
"target":{"name":"t","spaces":[],"semaphores":{"per_site":1,"maximum":1}},
"semaphores":[{"name":"s","site":[0,0,0],"maximum":1}],
"stages":[{"name":"f","kind":"copy"}],
"sections":[)" + std::string(sections) +
                             R"(],
"programs":[{"site":[0,0,0],"engine":"load","ops":[{"post":"s"},{"run":"f"}]},
{"site":[0,0,0],"engine":"store","ops":[]}]})",
                         "short");
  };
  const auto one = with_sections(R"({"name":"a"})");
  REQUIRE(one.has_value());
  REQUIRE(one->programs[0].spans.size() == 1);
  CHECK(one->programs[0].spans[0].end == 2);
  CHECK(one->programs[1].spans.empty());
  CHECK(one->stages[0].section == SectionId(std::uint32_t{0}));
  const auto none = with_sections("");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().path == "$.stages[0]");
  const auto two = with_sections(R"({"name":"a"},{"name":"b"})");
  REQUIRE_FALSE(two.has_value());
  const auto empty = with_sections(R"({"name":"a","ops":[]})");
  REQUIRE_FALSE(empty.has_value());
  CHECK(empty.error().path == "$.programs[0].ops[0]");
  CHECK(empty.error().line == 6);
}

TEST_CASE("refused: links and carried names") {
  check_refused({R"({"fifo":"across"},
{"semaphore")",
                 R"({"fifo":"sums"},
{"semaphore")",
                 "$.links[0].fifo", "a buffer of kind fifo", "\"sums\" of kind interm"});
  check_refused({R"({"semaphore":"flag"})", R"({"fifo":"across"})", "$.links[1].fifo",
                 "every link once", "it again"});
  check_refused({R"("carried":["kv"])", R"("carried":["kw"])", "$.carried[0]",
                 "a declared tensor (did you mean", "\"kw\""});
  check_refused({R"("carried":["kv"])", R"("carried":["kv","kv"])", "$.carried[1]",
                 "every name once", "\"kv\" again"});
}

TEST_CASE("refused: postconditions") {
  check_refused({R"({"tensor":"x","rows":[4,6]})", R"({"tensor":"x","rows":[4,7]})",
                 "$.postconditions[0].sum[0]", "2 x 16 elements", "3 x 16"});
  check_refused({R"("sum":[{"buffer":"corner"},)", R"("sum":[{"buffer":"corner","bytes":[0,32]},)",
                 "$.postconditions[1].sum[0]", "64 bytes", "32 bytes"});
  check_refused({R"("sum":[{"buffer":"corner"},{"tensor":"x","rows":[0,2]}])", R"("sum":[])",
                 "$.postconditions[1].sum", "at least one region", "none"});
  check_refused({R"("sum":[{"buffer":"corner"},)", R"("sum":[{"fifo":"q"},)",
                 "$.postconditions[1].sum[0].fifo", "a region of a tensor or", "a FIFO's page"});
  check_refused({R"({"tensor":"y","rows":[0,2]})", R"({"tensor":"y","rows":[63,65]})",
                 "$.postconditions[0].region.rows", "end <= 64", "[63, 65)"});
}

TEST_CASE("refused: declared values that the type does not have") {
  const auto values = [](std::string_view now, std::string_view expected, std::string_view found) {
    check_refused({R"([-7,7])", now, "$.tensors[5].values", expected, found});
  };
  values("[-7]", "values [least, largest]", "1 numbers");
  values("[-7,128]", "-128 <= least <= largest <= 127", "[-7, 128]");
  values("[-129,7]", "-128 <= least", "[-129, 7]");
  values("[7,-7]", "least <= largest", "[7, -7]");
  check_refused({R"("cols":6,"dtype":"i8")", R"("cols":6,"dtype":"f32")", "$.tensors[5].values",
                 "a tensor of integers", "\"heads.0\" of f32"});
}

TEST_CASE("refused: slices that are none") {
  const auto full = [&](std::string_view from, std::string_view to, std::string_view member,
                        std::string_view expected, std::string_view found,
                        std::string_view line_of = {}) {
    check_refused({from, to, member, expected, found, line_of});
  };
  full(R"("full":"heads")", R"("full":"kv_tail")", "$.slices[0].full",
       "a name that no tensor of the program has", "\"kv_tail\"");
  full(R"("rows":24,"cols":8,"axis")", R"("rows":0,"cols":8,"axis")", "$.slices[0].rows",
       "at least 1", "0");
  full(R"("axis":"columns")", R"("axis":"diagonal")", "$.slices[0].axis", "\"rows\"", "");
  full(R"("dimension":"heads")", R"("dimension":"")", "$.slices[0].dimension",
       "text that is not empty", "");
  full(R"("copies":2)", R"("copies":3)", "$.slices[0].copies", "1 to 2", "3");
  full(R"("copies":2)", R"("copies":0)", "$.slices[0].copies", "1", "0");
  full(R"({"tensor":"heads.1")", R"({"tensor":"x")", "$.slices[0].parts[1].tensor",
       "a tensor with an owner", "\"x\"");
  full(R"("tensor":"heads.1")", R"("tensor":"heads.2")", "$.slices[0].parts[1].tensor",
       "a declared tensor (did you mean", "\"heads.2\"");
  full(R"("tensor":"heads.1","ranges":[[2,6]])", R"("tensor":"heads.0","ranges":[[2,8]])",
       "$.slices[0].parts[1].tensor", "every tensor as one slice", "\"heads.0\", which is a slice");
  full(R"("cols":4,"dtype":"i8")", R"("cols":4,"dtype":"i16")", "$.slices[0].parts[1].tensor",
       "slices of one dtype, i8", "\"heads.1\" of i16", R"({"tensor":"heads.1")");
  full(R"([[2,6]])", R"([[2,6],[6,6]])", "$.slices[0].parts[1].ranges[1]", "begin < end <= 8",
       "[6, 6)");
  full(R"([[2,6]])", R"([[5,9]])", "$.slices[0].parts[1].ranges[0]", "begin < end <= 8", "[5, 9)");
  full(R"([[2,6]])", R"([])", "$.slices[0].parts[1].ranges", "at least one range", "none");
  full(R"([[2,6]])", R"([[2,7]])", "$.slices[0].parts[1].tensor", "a tensor of 24 x 5",
       "\"heads.1\" of 24 x 4");
  full(R"(,"ranges":[[2,6]]})", R"(,"ranges":[[2,6]]}]},
{"full":"experts","rows":16,"cols":3,"axis":"columns","dimension":"heads","parts":[
{"tensor":"w","ranges":[[0,3]]})",
       "$.slices[1].parts[0].tensor", "a tensor of 16 x 3", "", "{\"tensor\":\"w\"");
}

TEST_CASE("refused: two cuts of one dimension into unlike numbers of parts") {
  check_refused({R"(,"ranges":[[2,6]]})", R"(,"ranges":[[2,6]]}]},
{"full":"experts","rows":16,"cols":16,"axis":"columns","dimension":"heads","parts":[
{"tensor":"w","ranges":[[0,16]]})",
                 "$.slices[1].parts", "2 parts, as \"heads\" has", "1", "{\"full\":\"experts\""});
}

}  // namespace
}  // namespace spatialcert::ir::test
