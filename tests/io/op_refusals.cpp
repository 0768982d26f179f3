// What ops, FIFOs and regions must satisfy.
#include <doctest/doctest.h>

#include "rich_program.hpp"

namespace spatialcert::ir::test {
namespace {

TEST_CASE("refused: engine programs that cannot be") {
  check_refused({R"({"site":[0,0,0],"engine":"compute","ops":[)",
                 R"({"site":[0,0,0],"engine":"load","ops":[)", "$.sections[0].ops[1].engine",
                 "an engine with a program on [0,0,0]", "\"compute\"",
                 "\"engine\":\"compute\",\"range\":[0,1]"});
  check_refused({R"({"pop":"across"}]}]}]})",
                 R"({"pop":"across"}]}]},
{"site":[1,0,0],"engine":"load","ops":[]}]})",
                 "$.programs[4]", "one engine program per site and engine",
                 "another program for \"load\" on [1,0,0]", "\"engine\":\"load\",\"ops\":[]"});
  check_refused({R"({"pop":"across"}]}]}]})",
                 R"({"pop":"across"}]}]},
{"site":[2,0,0],"engine":"load","ops":[]}]})",
                 "$.programs[4].site", "a site of the target", "[2,0,0]", "[2,0,0]"});
}

TEST_CASE("refused: semaphores out of reach") {
  check_refused({R"({"wait":"go","n":1})", R"({"wait":"near","n":1})", "$.programs[2].ops[1].wait",
                 "a semaphore on the program's own site [0,0,0]", "\"near\" on [0,1,0]"});
  check_refused({R"({"await":"flag","value":3})", R"({"await":"go","value":3})",
                 "$.programs[0].ops[0].await", "own site [1,0,0]", "\"go\" on [0,0,0]"});
  check_refused({R"("restart":"reset","handoff":"link")", R"("restart":"reset","handoff":"noc")",
                 "$.programs[2].ops[2].post", "one whose hand-off crosses chips",
                 "\"flag\" on [1,0,0]", "{\"post\":\"flag\""});
  check_refused({R"("restart":"reset","handoff":"link")", R"("restart":"reset")",
                 "$.programs[2].ops[2].post", "a semaphore of chip 0", "\"flag\" on [1,0,0]",
                 "{\"post\":\"flag\""});
  CHECK(parse_program(rich_with(R"({"post":"go"})", R"({"post":"near"})"), "near").has_value());
}

TEST_CASE("refused: counts of pages") {
  check_refused({R"({"push":"q"})", R"({"push":"q","n":5})", "$.programs[1].ops[0].ops[2].n",
                 "at most the 4 pages of \"q\"", "5"});
  check_refused({R"({"reserve":"q","n":2})", R"({"reserve":"q","n":0})",
                 "$.programs[1].ops[0].ops[0].n", "from 1", "0"});
  check_refused({R"({"front":"deep","n":8})", R"({"front":"deep","n":9})",
                 "$.programs[0].ops[1].ops[0].n", "at most the 8 pages", "9"});
  check_refused({R"({"pop":"q"})", R"({"pop":"q","n":9223372036854775807})",
                 "$.programs[2].ops[0].ops[4].n", "at most the 4 pages", "9223372036854775807"});
}

TEST_CASE("refused: FIFO ops on other buffers") {
  check_refused({R"({"push":"q"})", R"({"push":"sums"})", "$.programs[1].ops[0].ops[2].push",
                 "a buffer of kind fifo", "\"sums\" of kind interm"});
  check_refused({R"({"buffer":"sums","bytes":[0,{"const":512,"i0":64}]})", R"({"buffer":"q"})",
                 "$.programs[2].ops[0].ops[2].writes[1].buffer", "not a fifo",
                 "\"q\" of kind fifo"});
  check_refused({R"({"buffer":"sums","bytes":[0,{"const":512,"i0":64}]})", R"({"fifo":"sums"})",
                 "$.programs[2].ops[0].ops[2].writes[1].fifo", "of kind fifo", "interm"});
}

TEST_CASE("refused: loops") {
  check_refused({R"({"repeat":4,"source":[0,7])", R"({"repeat":0,"source":[0,7])",
                 "$.programs[1].ops[0].repeat", "from 1", "0"});
  check_refused({R"({"push":"q"})", R"({"push":"q"},{"repeat":3,"ops":[]})",
                 "$.programs[1].ops[0].ops[3].ops", "at least one op", "none"});
  check_refused({R"({"repeat":4,"source":[0,7])", R"({"repeat":4,"source":[2,7])",
                 "$.programs[1].ops[0].source", "source files", "file 2"});
  check_refused({R"("source":[1,20,5])", R"("source":[1,0,5])",
                 "$.programs[1].ops[0].ops[1].ops[0].source", "at least 1", "0"});
  check_refused({R"("source":[1,20,5])", R"("source":[1,20,0])",
                 "$.programs[1].ops[0].ops[1].ops[0].source", "a column of at least 1", "0"});
  check_refused({R"("source":[0,2,1])", R"("source":[2,2,1])", "$.stages[2].source",
                 "one of the 2 source files", "file 2"});
  CHECK(parse_program(rich_with(R"({"repeat":4,"source":[0,7])",
                                R"({"repeat":1000000000000000000,"source":[0,7])"),
                      "long")
            .has_value());
}

TEST_CASE("refused: a second program at the end of a FIFO") {
  // The store program is first in the file but last in site order.
  check_refused({R"({"front":"deep","n":8},)", R"({"front":"across"},)",
                 "$.programs[0].ops[1].ops[0].front",
                 "one consuming engine program of \"across\", which is \"load\" on [1,0,0]",
                 "another, \"store\" on [1,0,0]"});
  check_refused({R"({"push":"across"})", R"({"push":"q"})", "$.programs[2].ops[0].ops[3].push",
                 "one producing engine program of \"q\", which is \"load\" on [0,0,0]",
                 "another, \"compute\" on [0,0,0]"});
  check_refused({R"("reads":[{"fifo":"deep","page":7,)", R"("reads":[{"fifo":"q","page":3,)",
                 "$.programs[0].ops[1].ops[1].reads", "one consuming engine program of \"q\"",
                 "another"});
  check_refused({R"("writes":[{"fifo":"deep"},)", R"("writes":[{"fifo":"q"},)",
                 "$.programs[3].ops[0].ops[2].writes", "one producing engine program of \"q\"",
                 "another"});
}

TEST_CASE("refused: FIFOs whose ends are not joined") {
  check_refused({R"("pages":2,"handoff":"link")", R"("pages":2)", "$.buffers[1].handoff",
                 "a hand-off, as \"across\" has ends on [0,0,0] and [1,0,0]", "none"});
  check_refused({R"("pages":2,"handoff":"link")", R"("pages":2,"handoff":"noc")",
                 "$.buffers[1].handoff", "a hand-off that crosses chips", "\"noc\""});
  check_refused({R"("site":[0,0,0],"space":"sram","address":4096)",
                 R"("site":[0,1,0],"space":"sram","address":4096)", "$.buffers[1].site",
                 "the site of one of its ends, [0,0,0] or [1,0,0]", "[0,1,0]"});
}

TEST_CASE("refused: regions outside their object") {
  constexpr std::string_view kBound = R"("bytes":[0,256])";
  const std::string path = "$.programs[1].ops[0].ops[1].ops[0].writes[0].bytes";
  constexpr std::string_view kRange = "a range [begin, end) with 0 <= begin < end <= 512";
  check_refused({kBound, R"("bytes":[0,513])", path, kRange, "[0, 513)"});
  check_refused({kBound, R"("bytes":[8,8])", path, kRange, "[8, 8)"});
  check_refused({kBound, R"("bytes":[9,8])", path, kRange, "[9, 8)"});
  check_refused({kBound, R"("bytes":[-1,8])", path, kRange, "[-1, 8)"});
  check_refused({kBound, R"("bytes":[512,{"i0":1}])", path, kRange, "[512, ...)"});
  check_refused({kBound, R"("bytes":[{"i0":1},513])", path, kRange, "[..., 513)"});
  check_refused({kBound, R"("bytes":[{"i0":1},0])", path, kRange, "[..., 0)"});
  CHECK(parse_program(rich_with(kBound, R"("bytes":[{"i0":-1},512])"), "affine").has_value());
  check_refused({R"("page":1,"bytes":[0,256])", R"("page":4)",
                 "$.programs[1].ops[0].ops[1].ops[0].writes[0].page", "a page below 4", "4"});
  check_refused({R"({"tensor":"kv","rows":[0,1]})", R"({"tensor":"kv","rows":[0,65]})",
                 "$.programs[2].ops[0].ops[2].reads[1].rows", "end <= 64", "[0, 65)"});
  check_refused({R"({"tensor":"kv","rows":[0,1]})", R"({"tensor":"kv","cols":[0,17]})",
                 "$.programs[2].ops[0].ops[2].reads[1].cols", "end <= 16", "[0, 17)"});
  check_refused({R"({"buffer":"sums","bytes":[0,{"const":512,"i0":64}]})",
                 R"({"buffer":"sums","bytes":[0,1025]})",
                 "$.programs[2].ops[0].ops[2].writes[1].bytes", "end <= 1024", "[0, 1025)"});
  check_refused({R"({"buffer":"far"}]},
)",
                 R"({"buffer":"sums"}]},
)",
                 "$.programs[3].ops[0].ops[2].writes[1].buffer", "the program's own site [1,0,0]",
                 "\"sums\" on [0,0,0]"});
}

}  // namespace
}  // namespace spatialcert::ir::test
