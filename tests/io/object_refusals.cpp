// What the target and the objects must satisfy.
#include <doctest/doctest.h>

#include "rich_program.hpp"

namespace spatialcert::ir::test {
namespace {

TEST_CASE("refused: names that are empty") {
  check_refused({R"("name":"rich")", R"("name":"")", "$.name", "not empty", "\"\""});
  check_refused({R"("name":"two chips")", R"("name":"")", "$.target.name", "not empty", "\"\""});
  check_refused({R"({"name":"w",)", R"({"name":"",)", "$.tensors[1].name", "not empty", "\"\""});
  check_refused({R"("source_files":["model.py",)", R"("source_files":["",)", "$.source_files[0]",
                 "not empty", "\"\""});
}

TEST_CASE("refused: names that are taken") {
  check_refused({R"({"name":"w",)", R"({"name":"x",)", "$.tensors[1].name",
                 "a name that no other of its kind has", "\"x\", which is $.tensors[0]"});
  check_refused({R"("lifetime":{"resident":["first","second"]}})", R"("lifetime":"section"},
{"name":"sums","kind":"scratch","site":[1,1,0],"space":"dram","address":0,"page_bytes":1,"pages":1})",
                 "$.buffers[7].name", "no other", "$.buffers[3]", "\"site\":[1,1,0]"});
  check_refused({R"("name":"near")", R"("name":"go")", "$.semaphores[2].name", "no other",
                 "$.semaphores[0]"});
  check_refused({R"({"name":"load_x",)",
                 R"({"name":"store_y","kind":"copy","section":"first"},{"name":"load_x",)",
                 "$.stages[4].name", "no other", "$.stages[0]", "\"store_y\",\"kind\":\"store\""});
  check_refused({R"("sections":[)", R"("sections":[{"name":"second","ops":[]},)",
                 "$.sections[2].name", "no other", "$.sections[0]",
                 "{\"name\":\"second\",\"index\":2"});
  check_refused({R"(["load","compute","store"])", R"(["load","compute","store","load"])",
                 "$.target.engines[3]", "no other", "$.target.engines[0]"});
  check_refused({R"({"name":"dram",)", R"({"name":"sram","bytes":1},{"name":"dram",)",
                 "$.target.spaces[1].name", "no other", "$.target.spaces[0]"});
  check_refused({R"({"name":"noc"})", R"({"name":"noc"},{"name":"noc"})",
                 "$.target.handoffs[1].name", "no other", "$.target.handoffs[0]"});
}

TEST_CASE("refused: targets that are none") {
  check_refused({R"("chips":2)", R"("chips":0)", "$.target.chips", "from 1", "0"});
  check_refused({R"("mesh":[2,1])", R"("mesh":[2,0])", "$.target.mesh[1]", "from 1", "0"});
  check_refused({R"("tile":[16,16])", R"("tile":[0,16])", "$.target.tile[0]", "from 1", "0"});
  check_refused({R"("alignment":64)", R"("alignment":48)", "$.target.spaces[0].alignment",
                 "a power of two", "48"});
  check_refused({R"("alignment":64)", R"("alignment":0)", "$.target.spaces[0].alignment",
                 "a power of two", "0"});
  check_refused({R"("float_type":"bf16")", R"("float_type":"i8")", "$.target.float_type",
                 "a floating-point type", "\"i8\""});
  check_refused({R"("widest_integer":"i32")", R"("widest_integer":"f32")",
                 "$.target.widest_integer", "an integer type", "\"f32\""});
  check_refused_text(R"({"format":"spatialcert-program","version":1,"name":"n",
"target":{"name":"t","spaces":[],"engines":[]},"programs":[]})",
                     "$.target.engines", 2, "at least one engine", "none");
}

TEST_CASE("refused: tensors that are none") {
  check_refused({R"("rows":16,)", R"("rows":0,)", "$.tensors[1].rows", "at least 1", "0"});
  check_refused(
      {R"("rows":16,"cols":16)", R"("rows":16,"cols":0)", "$.tensors[1].cols", "at least 1", "0"});
  check_refused({R"("rows":16,"cols":16)", R"("rows":4294967296,"cols":2147483648)",
                 "$.tensors[1].rows", "fewer than 2^63 bytes", "4294967296 x 2147483648"});
  check_refused({R"("rows":16,"cols":16)", R"("rows":2147483648,"cols":2147483648)",
                 "$.tensors[1].rows", "fewer than 2^63 bytes", "2147483648 x 2147483648"});
  check_refused({R"("owner":1)", R"("owner":2)", "$.tensors[1].owner", "a chip below 2", "2"});
  check_refused({R"("source":[0,3])", R"("source":[2,3])", "$.tensors[0].source",
                 "one of the 2 source files", "file 2"});
  check_refused(
      {R"("source":[0,3])", R"("source":[0,0])", "$.tensors[0].source", "at least 1", "0"});
}

TEST_CASE("refused: views of tensors that do not fit") {
  check_refused({R"("offset":992)", R"("offset":993)", "$.tensors[3].view.offset",
                 "inside the 1024 elements of \"kv\"", "32 elements from 993"});
  check_refused({R"("offset":992)", R"("offset":18446744073709551615)", "$.tensors[3].view.offset",
                 "inside", "18446744073709551615"});
  check_refused({R"("cols":16,"dtype":"bf16","view")", R"("cols":16,"dtype":"f32","view")",
                 "$.tensors[3].view.of", "a tensor of f32", "bf16"});
  check_refused({R"({"of":"kv","offset":992})", R"({"of":"w","offset":0})", "$.tensors[3].view.of",
                 "of the owner", "\"w\" of chip 1"});
  check_refused({R"({"of":"kv","offset":992})", R"({"of":"kv_tail","offset":0})",
                 "$.tensors[3].view.of", "views that end", "a cycle"});
  check_refused({R"({"of":"kv","offset":992})", R"({"of":"kv","offset":992},"init":"zero")",
                 "$.tensors[3].init", "an init on a view or on what", "both"});
}

TEST_CASE("refused: buffers that are none") {
  constexpr std::string_view kPages = R"("page_bytes":1024,"pages":1)";
  check_refused({R"("site":[1,0,0],"space":"dram")", R"("site":[1,0,1],"space":"dram")",
                 "$.buffers[6].site", "a site of the target, below [2,2,1]", "[1,0,1]"});
  check_refused(
      {kPages, R"("page_bytes":0,"pages":1)", "$.buffers[6].page_bytes", "at least 1", "0"});
  check_refused(
      {kPages, R"("page_bytes":1024,"pages":0)", "$.buffers[6].pages", "at least 1", "0"});
  check_refused({kPages, R"("page_bytes":4294967296,"pages":2147483648)", "$.buffers[6].pages",
                 "below 2^63", "4294967296 x 2147483648"});
  check_refused({R"("address":0,"page_bytes":1024)",
                 R"("address":18446744073709551000,"page_bytes":1024)", "$.buffers[6].address",
                 "ends below 2^64", "1024 bytes at"});
  check_refused(
      {R"("source":[1,9])", R"("source":[9,9])", "$.buffers[3].source", "source files", "file 9"});
  check_refused({R"("resident":["first","second"])", R"("resident":["second","first"])",
                 "$.buffers[6].lifetime", "not before the first", "\"second\" to \"first\""});
}

TEST_CASE("refused: tiles that are no page") {
  constexpr std::string_view kTile = R"({"rows":8,"cols":64,"dtype":"bf16"})";
  const auto refused = [&](std::string_view tile, std::string_view path, std::string_view expected,
                           std::string_view found) {
    check_refused({kTile, tile, path, expected, found});
  };
  refused(R"({"rows":0,"cols":64,"dtype":"bf16"})", "$.buffers[6].tile.rows", "at least 1", "0");
  refused(R"({"rows":8,"cols":0,"dtype":"bf16"})", "$.buffers[6].tile.cols", "at least 1", "0");
  refused(R"({"rows":8,"cols":65,"dtype":"bf16"})", "$.buffers[6].tile", "of 1024 bytes",
          "8 x 65 of bf16");
  refused(R"({"rows":8,"cols":64,"dtype":"f32"})", "$.buffers[6].tile", "of 1024 bytes", "f32");
  // 2^33 * 2^31 * 2 and 2^32 * 2^32 * ... come round to 0 and to 1024 if they are not checked.
  refused(R"({"rows":8589934592,"cols":2147483649,"dtype":"bf16"})", "$.buffers[6].tile",
          "of 1024 bytes", "8589934592 x 2147483649");
  refused(R"({"rows":9223372036854776320,"cols":1,"dtype":"bf16"})", "$.buffers[6].tile",
          "of 1024 bytes", "9223372036854776320 x 1");
  refused(R"({"rows":8,"cols":64,"dtype":"bf17"})", "$.buffers[6].tile.dtype", "one of", "bf17");
  refused(R"({"rows":8,"cols":64})", "$.buffers[6].tile", "\"dtype\"", "");
  refused(R"({"rows":8,"cols":64,"dtype":"bf16","layers":1})", "$.buffers[6].tile.layers",
          "one of the keys", "layers");
  refused("[16,32]", "$.buffers[6].tile", "a tile", "");
}

TEST_CASE("refused: what only some kinds of buffers have") {
  constexpr std::string_view kPages = R"("page_bytes":1024,"pages":1)";
  check_refused({kPages, R"("page_bytes":1024,"pages":1,"depth":"guaranteed")",
                 "$.buffers[6].depth", "only FIFOs", "\"guaranteed\""});
  check_refused({kPages, R"("page_bytes":1024,"pages":1,"handoff":"noc")", "$.buffers[6].handoff",
                 "on FIFOs only", "of kind scratch"});
  check_refused({R"("pages":4})", R"("pages":4,"init":"zero"})", "$.buffers[0].init",
                 "FIFOs start empty", "\"zero\""});
  check_refused({R"("pages":4})", R"("pages":4,"lifetime":"resident"})", "$.buffers[0].lifetime",
                 "FIFOs are not resident", "\"resident\""});
}

TEST_CASE("refused: views of buffers that do not fit") {
  check_refused({R"({"of":"upper","offset":64})", R"({"of":"upper","offset":449})",
                 "$.buffers[5].view.offset", "inside the 512 bytes of \"upper\"",
                 "64 bytes from 449"});
  check_refused({R"({"of":"upper","offset":64})", R"({"of":"upper","offset":18446744073709551615})",
                 "$.buffers[5].view.offset", "inside the 512 bytes of \"upper\"", "64 bytes from"});
  check_refused({R"("address":8704)", R"("address":8705)", "$.buffers[4].address",
                 "8704, the address of \"sums\" plus the offset", "8705"});
  check_refused({R"({"of":"upper","offset":64})", R"({"of":"far","offset":64})",
                 "$.buffers[5].view.of", "a buffer on [0,0,0] in \"sram\"", "[1,0,0] in \"dram\""});
  check_refused({R"({"of":"upper","offset":64})", R"({"of":"corner"})", "$.buffers[5].view.of",
                 "views that end", "a cycle"});
  check_refused({R"("pages":1,"view":{"of":"sums","offset":512})",
                 R"("pages":1,"init":"zero","view":{"of":"sums","offset":512})",
                 "$.buffers[4].init", "an init on a view or", "both"});
  check_refused({R"({"of":"upper","offset":64})", R"({"of":"upper","offset":64},"init":"external")",
                 "$.buffers[5].init", "an init on a view or", "both"});
  check_refused(
      {R"("kind":"scratch","site":[0,0,0],"space":"sram","page_bytes":64,"pages":1,"view":{"of":"upper","offset":64})",
       R"("kind":"scratch","site":[1,0,0],"space":"sram","page_bytes":64,"pages":1,"view":{"of":"deep"})",
       "$.buffers[5].view.of", "exact depth only", "\"corner\", a view of \"deep\""});
}

TEST_CASE("refused: semaphores that are none") {
  check_refused(
      {R"("site":[0,1,0])", R"("site":[0,2,0])", "$.semaphores[2].site", "a site", "[0,2,0]"});
  check_refused({R"("per_site":3)", R"("per_site":0)", "$.semaphores[0].site",
                 "at most 0 semaphores per site", "one more on [0,0,0]", "\"name\":\"go\""});
  check_refused({R"("maximum":1,"handoff")", R"("maximum":16,"handoff")", "$.semaphores[2].maximum",
                 "the target's 15", "16"});
  check_refused(
      {R"("initial":1,)", R"("initial":9,)", "$.semaphores[1].initial", "its maximum of 8", "9"});
  check_refused({R"("initial":1,)", R"("initial":-1,)", "$.semaphores[1].initial", "from 0", "-1"});
  check_refused({R"("restart":"reset")", R"("restart":"keep")", "$.programs[0].ops[0].await",
                 "whose restart is \"reset\", as it is awaited", "\"flag\" with restart \"keep\"",
                 "{\"await\""});
}

TEST_CASE("refused: stages that are none") {
  check_refused({R"("op":"scale","scale":0.1)", R"("op":"scale")", "$.stages[1]",
                 "the member \"scale\"", "none"});
  check_refused({R"("op":"scale","scale":0.1)", R"("op":"neg","scale":0.1)", "$.stages[1].scale",
                 "only on a stage whose op is \"scale\"", "0.1"});
  check_refused({R"("op":"scale","scale":0.1)", R"("scale":0.1)", "$.stages[1]",
                 "the member \"op\"", "none"});
  check_refused({R"("kind":"copy","section":"second")", R"("kind":"copy")", "$.stages[2]",
                 "the member \"section\"", "none"});
}

}  // namespace
}  // namespace spatialcert::ir::test
