// What is refused before any meaning: JSON, shapes, numbers, names.
#include <doctest/doctest.h>

#include <string>

#include "rich_program.hpp"

namespace spatialcert::ir::test {
namespace {

constexpr std::string_view kFormat = R"({"format":"spatialcert-program","version":1,)";

TEST_CASE("refused: text that is not a program") {
  check_refused_text("", "$", 1, "a program", "the end of the file");
  check_refused_text("\n \n", "$", 3, "a program", "the end of the file");
  check_refused_text("[]", "$", 1, "a program", "an array");
  check_refused_text("17", "$", 1, "a program", "17");
  check_refused_text("\xef\xbb\xbf{}", "$", 1, "a program", "");
  check_refused_text(std::string_view("\0\0\0", 3), "$", 1, "a program", "byte 0x00");
  check_refused_text(
      "\x7f"
      "ELF",
      "$", 1, "a program", "byte 0x7f");
  check_refused_text(std::string(100'000, '['), "$", 1, "a program", "an array");
}

TEST_CASE("refused: broken JSON, at the first broken place") {
  check_refused_text("{", "$", 1, "a key in quotes", "the end of the file");
  check_refused_text("{\"format\":", "$.format", 1, "a JSON value", "the end of the file");
  check_refused_text("{\"format\"\n:\"spatialcert-program\",}", "$", 2, "a key in quotes", "}");
  check_refused_text("{\"format\":\"spatialcert-program\",\n\"version\":01}", "$.version", 2,
                     "a JSON number", "01");
  check_refused_text("{\"format\":\"spatialcert-program\",\n\"version\":1x}", "$.version", 2,
                     "a JSON number", "1x");
  check_refused_text("{\"format\":\"spatialcert-program\",\n\"version\":tru}", "$.version", 2,
                     "a JSON value", "tru");
  check_refused_text("{\"format\":\"spatialcert", "$.format", 1, "the closing quote",
                     "the end of the file");
  check_refused_text("{\"format\":\"a\\qb\"}", "$.format", 1, "escape", "\\");
  check_refused_text("{\"format\":\"a\nb\"}", "$.format", 1, "escaped control", "byte 0x0a");
  check_refused_text("{\"format\":\"a\xff\"}", "$.format", 1, "valid UTF-8", "byte 0xff");
  check_refused_text("{\"format\":\"\xed\xa0\x80\"}", "$.format", 1, "valid UTF-8", "byte 0xed");
  check_refused(
      {R"({"post":"go"}]})", R"({"post":"go"},]})", "$.programs[1].ops[2]", "a JSON value", "]"});
  check_refused(
      {R"({"push":"q"})", R"({"push" "q"})", "$.programs[1].ops[0].ops[2].push", "`:`", "\"q\""});
  check_refused(
      {R"("execution":"persistent")", R"("execution" "persistent")", "$.execution", "`:`", ""});
}

TEST_CASE("refused: truncation anywhere") {
  for (std::size_t size = 0; size + 2 < kRichProgram.size(); size += 7) {
    const auto result = parse_program(kRichProgram.substr(0, size), "cut");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().line > 0);
  }
}

TEST_CASE("refused: trailing data") {
  for (const char* const tail : {"x", "{}", "}", "]", ",", "1", "\"\""}) {
    CAPTURE(tail);
    const auto result = parse_program(std::string(kRichProgram) + tail, "long");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().expected == "the end of the file");
  }
  const auto padded = std::string(kRichProgram) + " \n\t ";
  CHECK(parse_program(padded, "padded").has_value());
}

TEST_CASE("refused: other formats and versions, before anything else in the file") {
  check_refused_text(R"({"version":1,"nonsense":2})", "$", 1, "\"format\"", "none");
  check_refused_text(R"({"format":"other","nonsense":2})", "$.format", 1, "\"spatialcert-program\"",
                     "\"other\"");
  check_refused_text(R"({"format":7})", "$.format", 1, "a string", "7");
  check_refused_text(R"({"format":"spatialcert-program"})", "$", 1, "\"version\"", "none");
  check_refused_text("{\"future\":[],\n\"format\":\"spatialcert-program\",\"version\":2}",
                     "$.version", 2, "version 1 (the only one supported)", "2");
  check_refused_text(R"({"format":"spatialcert-program","version":"1"})", "$.version", 1,
                     "version 1", "\"1\"");
}

TEST_CASE("refused: unknown, duplicate and missing members") {
  check_refused({R"("result_unspecified":false)", R"("result_unspecifed":false)",
                 "$.result_unspecifed", "did you mean \"result_unspecified\"?",
                 "\"result_unspecifed\""});
  check_refused({R"("carried":["kv"])", R"("carried":["kv"],"carried":[])", "$.carried",
                 "\"carried\" once", "it again"});
  check_refused(
      {R"("rows":16,)", R"("row":16,)", "$.tensors[1].row", "did you mean \"rows\"?", "\"row\""});
  check_refused({R"("rows":16,)", "", "$.tensors[1]", "the member \"rows\"", "none"});
  check_refused({R"("rows":16,)", R"("rows":16,"rows":16,)", "$.tensors[1].rows", "\"rows\" once",
                 "it again"});
  check_refused({R"("tile":[16,16])", R"("tiles":[16,16])", "$.target.tiles", "\"tile\"", ""});
  check_refused({R"("page_bytes":512,"pages":4)", R"("page_bytes":512)", "$.buffers[0]",
                 "the member \"pages\"", "none"});
  check_refused({R"("address":0,"page_bytes":512)", R"("page_bytes":512)", "$.buffers[0]",
                 "the member \"address\"", "none"});
  check_refused({R"(,"maximum":4})", "}", "$.semaphores[0]", "the member \"maximum\"", "none"});
  check_refused({R"({"push":"q"})", R"({"psh":"q"})", "$.programs[1].ops[0].ops[2].psh",
                 "did you mean \"push\"?", "\"psh\""});
  check_refused({R"({"push":"q"})", R"({"n":1,"push":"q"})", "$.programs[1].ops[0].ops[2].n",
                 "\"push\"", "\"n\""});
  check_refused({R"({"push":"q"})", R"({"push":"q","value":1})",
                 "$.programs[1].ops[0].ops[2].value", "\"n\", \"source\"", "\"value\""});
  check_refused({R"({"push":"q"})", R"({"push":"q","push":"q"})",
                 "$.programs[1].ops[0].ops[2].push", "\"push\" once", "it again"});
  check_refused({R"({"push":"q"})", R"({"push":"q","n":1,"n":1})", "$.programs[1].ops[0].ops[2].n",
                 "\"n\" once", "it again"});
  check_refused(
      {R"({"push":"q"})", "{}", "$.programs[1].ops[0].ops[2]", "an op", "an empty object"});
  check_refused({R"({"await":"flag","value":3})", R"({"await":"flag"})", "$.programs[0].ops[0]",
                 "the member \"value\"", "none"});
  check_refused({R"({"repeat":4,"source":[0,7],"ops":[)", R"({"repeat":4},{"repeat":4,"ops":[)",
                 "$.programs[1].ops[0]", "the member \"ops\"", "none"});
  check_refused({R"({"i1":8,"i0":16})", R"({"i1":8,"i1":16})",
                 "$.programs[1].ops[0].ops[1].ops[0].reads[0].rows[0].i1", "\"i1\" once",
                 "it again"});
  check_refused({R"({"i1":8,"i0":16})", R"({})",
                 "$.programs[1].ops[0].ops[1].ops[0].reads[0].rows[0]", "a bound",
                 "an empty object"});
}

TEST_CASE("refused: required members of the whole") {
  check_refused_text(std::string(kFormat) + R"("target":{"name":"t","spaces":[]},"programs":[]})",
                     "$", 1, "the member \"name\"", "none");
  check_refused_text(std::string(kFormat) + R"("name":"n","programs":[]})", "$", 1,
                     "the member \"target\"", "none");
  check_refused_text(std::string(kFormat) + R"("name":"n","target":{"name":"t","spaces":[]}})", "$",
                     1, "the member \"programs\"", "none");
  check_refused_text(std::string(kFormat) + R"("name":"n","target":{"name":"t"},"programs":[]})",
                     "$.target", 1, "the member \"spaces\"", "none");
}

TEST_CASE("refused: values of the wrong type") {
  check_refused({R"("name":"rich")", R"("name":5)", "$.name", "a string", "5"});
  check_refused({R"("name":"rich")", R"("name":null)", "$.name", "a string", "null"});
  check_refused({R"("carried":["kv"])", R"("carried":"kv")", "$.carried", "(an array)", "\"kv\""});
  check_refused(
      {R"("carried":["kv"])", R"("carried":[["kv"]])", "$.carried[0]", "a string", "an array"});
  check_refused({R"("result_unspecified":false)", R"("result_unspecified":0)",
                 "$.result_unspecified", "true or false", "0"});
  check_refused({R"("numerics":{"approx")", R"("numerics":"good","x":{"approx")",
                 "$.sections[1].numerics", "\"exact\" or", "\"good\""});
  check_refused({R"({"push":"q"})", R"("push")", "$.programs[1].ops[0].ops[2]", "an op (an object)",
                 "\"push\""});
  check_refused(
      {R"({"push":"q"})", R"({"push":7})", "$.programs[1].ops[0].ops[2].push", "a string", "7"});
  check_refused({R"("role":"weight")", R"("role":"weights")", "$.tensors[1].role",
                 "one of \"input\", \"weight\"", "\"weights\""});
  check_refused(
      {R"("kind":"copy")", R"("kind":"move")", "$.stages[2].kind", "\"allreduce\"", "\"move\""});
  check_refused(
      {R"("op":"scale")", R"("op":"scales")", "$.stages[1].op", "\"scale\"", "\"scales\""});
  check_refused({R"("lifetime":"resident")", R"("lifetime":"always")", "$.buffers[3].lifetime",
                 "\"resident\"", "\"always\""});
  check_refused({R"("resident":["first","second"])", R"("resident":["first"])",
                 "$.buffers[6].lifetime.resident", "[from, to]", "1 names"});
  check_refused({R"("site":[0,1,0])", R"("site":[0,1])", "$.semaphores[2].site", "[chip, x, y]",
                 "2 numbers"});
  check_refused(
      {R"("mesh":[2,1])", R"("mesh":[2,1,1])", "$.target.mesh", "[width, height]", "3 numbers"});
  check_refused({R"("source":[1,9])", R"("source":[1])", "$.buffers[3].source",
                 "[file index, line]", "1 numbers"});
  check_refused({R"("source":[1,9])", R"("source":[1,9,2,3])", "$.buffers[3].source",
                 "[..., column]", "4 numbers"});
  check_refused({R"("bytes":[0,256])", R"("bytes":[0])",
                 "$.programs[1].ops[0].ops[1].ops[0].writes[0].bytes", "[begin, end)", "1 bounds"});
  check_refused({R"("range":[1,3])", R"("range":[1,2,3])", "$.boundaries[0].ops[1].range",
                 "[begin, end)", "3 numbers"});
}

TEST_CASE("refused: numbers that are not integers or do not fit") {
  constexpr std::string_view kPost = R"({"post":"flag","n":2})";
  const std::string path = "$.programs[2].ops[2].n";
  for (const std::string_view number :
       {"-1", "0", "2.0", "2.5", "1e3", "9223372036854775808", "100000000000000000000", "\"2\""}) {
    CAPTURE(number);
    const std::string to = R"({"post":"flag","n":)" + std::string(number) + "}";
    check_refused({kPost, to, path, "an integer from 1 to 2^63 - 1", number});
  }
  check_refused(
      {R"("rows":16,)", R"("rows":-16,)", "$.tensors[1].rows", "an integer from 0", "-16"});
  check_refused({R"("rows":16,)", R"("rows":18446744073709551616,)", "$.tensors[1].rows",
                 "an integer from 0 to 2^64 - 1", "18446744073709551616"});
  check_refused({R"("chips":2)", R"("chips":4294967295)", "$.target.chips", "from 1 to 4294967294",
                 "4294967295"});
  check_refused({R"("owner":1)", R"("owner":1.0)", "$.tensors[1].owner", "an integer", "1.0"});
  check_refused({R"("scale":0.1)", R"("scale":"0.1")", "$.stages[1].scale", "a number", "\"0.1\""});
  check_refused({R"("scale":0.1)", R"("scale":1e999)", "$.stages[1].scale", "a number", "1e999"});
  check_refused({R"("bytes":[0,256])", R"("bytes":[0,2.5])",
                 "$.programs[1].ops[0].ops[1].ops[0].writes[0].bytes[1]", "an integer of 64 bits",
                 "2.5"});
  check_refused({R"("const":8,"i0":16)", R"("const":8,"i0":99999999999999999999)",
                 "$.programs[1].ops[0].ops[1].ops[0].reads[0].rows[1].i0", "an integer of 64 bits",
                 "99999999999999999999"});
}

TEST_CASE("refused: names that nothing has") {
  check_refused({R"("of":"upper")", R"("of":"uper")", "$.buffers[5].view.of",
                 "a declared buffer (did you mean \"upper\"?)", "\"uper\""});
  check_refused({R"("of":"kv")", R"("of":"zzzzzz")", "$.tensors[3].view.of",
                 "the name of a declared tensor", "\"zzzzzz\""});
  check_refused({R"("space":"dram")", R"("space":"drum")", "$.buffers[6].space",
                 "memory space (did you mean \"dram\"?)", "\"drum\""});
  check_refused({R"("pages":2,"handoff":"link")", R"("pages":2,"handoff":"lnk")",
                 "$.buffers[1].handoff", "hand-off (did you mean \"link\"?)", "\"lnk\""});
  check_refused({R"("handoff":"noc")", R"("handoff":"nocturnal")", "$.semaphores[2].handoff",
                 "hand-off", "\"nocturnal\""});
  check_refused({R"("resident":["first","second"])", R"("resident":["first","third"])",
                 "$.buffers[6].lifetime.resident[1]", "section", "\"third\""});
  check_refused({R"("kind":"copy","section":"second")", R"("kind":"copy","section":"Second")",
                 "$.stages[2].section", "section (did you mean \"second\"?)", "\"Second\""});
  check_refused({R"("consumer":"halve")", R"("consumer":"half")", "$.edges[0].consumer", "stage",
                 "\"half\""});
  check_refused({R"("producer":"load_x","buffer":"q")", R"("producer":"load_x","buffer":"r")",
                 "$.edges[0].buffer", "buffer", "\"r\""});
  check_refused({R"({"after":"first")", R"({"after":"fist")", "$.boundaries[0].after",
                 "section (did you mean \"first\"?)", "\"fist\""});
  check_refused({R"({"fifo":"across"},
{"semaphore")",
                 R"({"fifo":"cross"},
{"semaphore")",
                 "$.links[0].fifo", "buffer (did you mean \"across\"?)", "\"cross\""});
  check_refused({R"({"semaphore":"flag"})", R"({"semaphore":"flags"})", "$.links[1].semaphore",
                 "semaphore", "\"flags\""});
  check_refused({R"({"push":"q"})", R"({"push":"p"})", "$.programs[1].ops[0].ops[2].push", "buffer",
                 "\"p\""});
  check_refused({R"({"wait":"go","n":1})", R"({"wait":"goo","n":1})", "$.programs[2].ops[1].wait",
                 "semaphore (did you mean \"go\"?)", "\"goo\""});
  check_refused({R"({"run":"load_x")", R"({"run":"load_y")",
                 "$.programs[1].ops[0].ops[1].ops[0].run", "stage (did you mean \"load_x\"?)",
                 "\"load_y\""});
  check_refused({R"({"tensor":"kv","rows":[0,1]})", R"({"tensor":"k","rows":[0,1]})",
                 "$.programs[2].ops[0].ops[2].reads[1].tensor", "tensor", "\"k\""});
  check_refused({R"({"site":[0,0,0],"engine":"compute","ops":[)",
                 R"({"site":[0,0,0],"engine":"computer","ops":[)", "$.programs[2].engine",
                 "engine (did you mean \"compute\"?)", "\"computer\""});
  check_refused({R"("engine":"compute","range":[0,1])", R"("engine":"comput","range":[0,1])",
                 "$.sections[0].ops[1].engine", "engine (did you mean \"compute\"?)",
                 "\"comput\""});
  check_refused({R"("engine":"compute","range":[0,1])", R"("engine":"store","range":[0,1])",
                 "$.sections[0].ops[1].engine", "an engine with a program on [0,0,0]",
                 "\"store\""});
}

TEST_CASE("refused: regions of no kind or of two") {
  const std::string path = "$.programs[2].ops[0].ops[2].reads[1]";
  constexpr std::string_view kRegion = R"({"tensor":"kv","rows":[0,1]})";
  check_refused({kRegion, R"({"rows":[0,1]})", path, "exactly one of \"tensor\"", "none"});
  check_refused({kRegion, R"({"tensor":"kv","buffer":"sums"})", path, "exactly one of", "several"});
  check_refused({kRegion, R"({"tensor":"kv","bytes":[0,1]})", path, "\"rows\" and \"cols\" only",
                 "\"bytes\""});
  check_refused({kRegion, R"({"buffer":"sums","page":1})", path, "\"bytes\" only", "\"page\""});
  check_refused(
      {kRegion, R"({"fifo":"q","rows":[0,1]})", path, "\"page\" and \"bytes\" only", "\"rows\""});
  check_refused({R"({"semaphore":"flag"})", R"({"semaphore":"flag","fifo":"q"})", "$.links[1]",
                 "either", "both"});
  check_refused({R"({"semaphore":"flag"})", R"({})", "$.links[1]", "either", "neither"});
}

TEST_CASE("refused: indices of loops that do not enclose the op") {
  constexpr std::string_view kBound = R"("bytes":[0,256])";
  const std::string path = "$.programs[1].ops[0].ops[1].ops[0].writes[0].bytes[1]";
  check_refused({kBound, R"("bytes":[0,{"i2":1}])", path + ".i2",
                 "\"const\" or an enclosing loop, \"i0\" to \"i1\"", "\"i2\""});
  check_refused(
      {kBound, R"("bytes":[0,{"i01":1}])", path + ".i01", "an enclosing loop", "\"i01\""});
  check_refused({kBound, R"("bytes":[0,{"j":1}])", path + ".j", "an enclosing loop", "\"j\""});
  check_refused({R"({"tensor":"y","rows":[0,2]})", R"({"tensor":"y","rows":[0,{"i0":2}]})",
                 "$.postconditions[0].region.rows[1].i0", "no loop encloses", "\"i0\""});
}

std::string nested(std::size_t loops) {
  std::string text = std::string(kFormat) + R"("name":"n","target":{"name":"t","spaces":[],
"semaphores":{"per_site":1,"maximum":1}},"semaphores":[{"name":"s","site":[0,0,0],"maximum":1}],
"sections":[{"name":"a"}],"programs":[{"site":[0,0,0],"engine":"load","ops":[)";
  for (std::size_t i = 0; i < loops; ++i) text += "\n{\"repeat\":1000000000000000000,\"ops\":[";
  text += "{\"wait\":\"s\"}";
  for (std::size_t i = 0; i < loops; ++i) text += "]}";
  return text + "]}]}";
}

TEST_CASE("loops nest 64 deep and no deeper") {
  CHECK(parse_program(nested(64), "deep").has_value());
  const auto result = parse_program(nested(65), "deep");
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().expected == "at most 64 nested loops");
  CHECK(result.error().line == 68);
  for (const std::size_t loops : {100U, 1000U, 100'000U}) {
    const auto deeper = parse_program(nested(loops), "deep");
    REQUIRE_FALSE(deeper.has_value());
    CHECK(deeper.error().expected.find("nested") != std::string::npos);
  }
}

}  // namespace
}  // namespace spatialcert::ir::test
