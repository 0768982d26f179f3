// compose: manifests and section files in, a program out.
#include <doctest/doctest.h>

#include <filesystem>

#include "ir/program_file.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert;
using namespace spatialcert::command::test;

namespace {

/// A section that doubles tensor `in` into `out`, in a FIFO between two engines. `gap` goes before
/// the first op of the consumer.
std::string section(const std::string& name, const std::string& in, const std::string& out,
                    const std::string& gap = "") {
  return R"({"format": "spatialcert-program", "version": 1, "name": ")" + name + R"(",
"target": {"name": "tile", "engines": ["load", "compute"], "semaphores": {"per_site": 4, "maximum": 7},
  "spaces": [{"name": "sram", "bytes": 256, "alignment": 64}]},
"tensors": [
{"name": ")" +
         in + R"(", "role": "input", "rows": 4, "cols": 4, "dtype": "f32", "init": "external"},
{"name": ")" +
         out + R"(", "role": "output", "rows": 4, "cols": 4, "dtype": "f32"}],
"buffers": [{"name": ")" +
         name + R"(.q", "kind": "fifo", "site": [0, 0, 0], "space": "sram", "address": 0,
  "page_bytes": 64, "pages": 1}],
"semaphores": [{"name": ")" +
         name + R"(.s", "site": [0, 0, 0], "maximum": 1}],
"stages": [{"name": ")" +
         name + R"(.load", "kind": "load"},
  {"name": ")" +
         name + R"(.double", "kind": "compute", "op": "scale", "scale": 2}],
"sections": [{"name": ")" +
         name + R"("}],
"programs": [
{"site": [0, 0, 0], "engine": "load", "ops": [{"reserve": ")" +
         name + R"(.q"},
  {"run": ")" +
         name + R"(.load", "reads": [{"tensor": ")" + in + R"("}], "writes": [{"fifo": ")" + name +
         R"(.q"}]},
  {"push": ")" +
         name + R"(.q"}]},
{"site": [0, 0, 0], "engine": "compute", "ops": [)" +
         gap + R"({"front": ")" + name + R"(.q"},
  {"run": ")" +
         name + R"(.double", "reads": [{"fifo": ")" + name + R"(.q"}], "writes": [{"tensor": ")" +
         out + R"("}]},
  {"pop": ")" +
         name + R"(.q"}]}]}
)";
}

std::string manifest(const std::string& sections, const std::string& more = "") {
  return R"({"format": "spatialcert-composition", "version": 1, "name": "whole",
"sections": )" +
         sections + more + "}\n";
}

/// A folder with section files `a.json` (x to h) and `b.json` (h to y), and a manifest `m.json`.
struct Folder : TemporaryFolder {
  explicit Folder(const std::string& text) {
    write_file(*this / "a.json", section("a", "x", "h"));
    write_file(*this / "b.json", section("b", "h", "y"));
    write_file(*this / "m.json", text);
  }
  [[nodiscard]] ChildResult compose(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"compose", *this / "m.json", "-o", *this / "whole.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  [[nodiscard]] bool wrote() const { return std::filesystem::exists(*this / "whole.json"); }
};

}  // namespace

TEST_CASE("compose writes a program that certify and show read") {
  const Folder folder(manifest(R"(["a.json", "b.json"])"));
  const ChildResult result = folder.compose({"--explain"});
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK(contains(result.out, "whole: 2 sections in 2 phases, 2 engine programs on tile"));
  CHECK(contains(result.out, "2 P + S + 1 = 6 ops each"));
  CHECK(contains(result.out, "sram: 64 of 256 bytes on [0,0,0]"));
  const auto program = ir::read_program(folder / "whole.json");
  REQUIRE(program.has_value());
  CHECK(program->sections.size() == 2);
  CHECK(ir::op_count(*program) == 18);
  CHECK(run({"show", folder / "whole.json"}).status == 0);
  const int verdict = run({"certify", folder / "whole.json"}).status;
  CHECK((verdict == 0 || verdict == 2));  // never refuted

  REQUIRE(run({"compose", folder / "m.json", "-o", folder / "whole.json.zst"}).status == 0);
  const auto packed = ir::read_program(folder / "whole.json.zst");
  REQUIRE(packed.has_value());
  CHECK(ir::digest(*packed) == ir::digest(*program));
  CHECK(folder.compose().out.empty());
}

TEST_CASE("compose and import write to standard output if that is asked for") {
  const Folder folder(manifest(R"(["a.json", "b.json"])"));
  REQUIRE(folder.compose().status == 0);
  const ChildResult composed = run({"compose", folder / "m.json", "-o", "-"});
  CHECK(composed.status == 0);
  CHECK(composed.out == read_file(folder / "whole.json"));
  CHECK(run({"compose", folder / "m.json", "-o", "-", "--explain"}).status == 64);
  REQUIRE(run({"generate", "--collective", "ring", "--op", "allgather", "--ranks", "2", "-o",
               folder / "ring.xml"})
              .status == 0);
  const std::vector<std::string> import{"import", "msccl",       folder / "ring.xml", "--placement",
                                        "out",    "--transfers", "per-step",          "-o"};
  const auto imported = [&](const std::string& output) {
    std::vector<std::string> arguments = import;
    arguments.push_back(output);
    return run(arguments);
  };
  REQUIRE(imported(folder / "ring.json").status == 0);
  const ChildResult printed = imported("-");
  CHECK(printed.status == 0);
  CHECK(printed.out == read_file(folder / "ring.json"));
}

TEST_CASE("compose uses one file several times, under other names") {
  const Folder folder(manifest(
      R"(["a.json", {"file": "a.json", "name": "again", "tensors": {"x": "h", "h": "y"}}])"));
  const ChildResult result = folder.compose();
  INFO(result.err);
  REQUIRE(result.status == 0);
  const auto program = ir::read_program(folder / "whole.json");
  REQUIRE(program.has_value());
  CHECK(program->sections[1].name == "again");
  CHECK(program->buffers[1].name == "again/a.q");
  CHECK(program->tensors.size() == 3);
  CHECK(program->tensors[1].role == ir::TensorRole::activation);

  const Folder unknown(manifest(R"(["a.json", {"file": "b.json", "tensors": {"z": "h"}}])"));
  const ChildResult refused = unknown.compose();
  CHECK(refused.status == 3);
  CHECK(contains(refused.err, "m.json: unknown-tensor: section \"b\" has no tensor \"z\""));
}

TEST_CASE("compose refuses with 3, by file, line and place, and writes nothing") {
  const Folder unknown(manifest(R"(["a.json", "b.json"])", ",\n\"phase\": \"auto\""));
  ChildResult result = unknown.compose();
  CHECK(result.status == 3);
  CHECK(contains(result.err, "m.json:3: $.phase: expected one of the keys"));
  CHECK(contains(result.err, "did you mean \"phases\"?"));
  CHECK_FALSE(unknown.wrote());

  const Folder missing(manifest(R"(["a.json", "c.json"])"));
  result = missing.compose();
  CHECK(result.status == 3);
  CHECK(contains(result.err, "c.json"));

  const Folder clash(manifest(R"(["a.json", "b.json", "b.json"])"));
  result = clash.compose();
  CHECK(result.status == 3);
  CHECK(contains(result.err, "m.json: duplicate-section: sections 2 and 3 are both called \"b\""));
  CHECK_FALSE(clash.wrote());
  CHECK(run({"compose", "/nowhere.json", "-o", clash / "whole.json"}).status == 3);
}

TEST_CASE("compose refuses a section that is refuted alone, unless it is told not to look") {
  const Folder folder(manifest(R"(["a.json", "b.json"])"));
  write_file(folder / "b.json", section("b", "h", "y", R"({"wait": "b.s"}, )"));
  const ChildResult result = folder.compose();
  CHECK(result.status == 3);
  CHECK(contains(result.err,
                 "faulty-section: section \"b\" fails on its own: b: refuted by liveness"));
  CHECK(contains(result.err, "waits for"));  // the report stands before it
  CHECK_FALSE(folder.wrote());
  CHECK(folder.compose({"--no-section-check"}).status == 0);
  CHECK(folder.wrote());
}

TEST_CASE("compose says what it left out") {
  std::string claiming = section("b", "h", "y");
  const std::string at = "\"programs\": [\n";
  claiming.insert(claiming.find(at),
                  R"("postconditions": [{"region": {"tensor": "y"}, "sum": [{"tensor": "h"}]}],
)");
  const Folder refused(manifest(R"(["a.json", "b.json"])"));
  write_file(refused / "b.json", claiming);
  CHECK(contains(refused.compose({"--no-section-check"}).err, "lost-postcondition"));
  const Folder folder(
      manifest(R"(["a.json", "b.json"])", ", \"lost_postconditions\": \"leave-out\""));
  write_file(folder / "b.json", claiming);
  const ChildResult result = folder.compose({"--no-section-check"});
  CHECK(result.status == 0);
  CHECK(contains(result.err, "note: postcondition 1 of section \"b\""));
  const auto program = ir::read_program(folder / "whole.json");
  REQUIRE(program.has_value());
  CHECK(program->result_unspecified);
}

TEST_CASE("compose gives owners and full tensors as a parallelism manifest says") {
  const Folder folder(manifest(R"(["a.json", "b.json"])", ",\n\"parallelism\": \"split.json\""));
  const auto split = [&](const std::string& ranges) {
    write_file(folder / "split.json",
               R"({"format": "spatialcert-parallelism", "version": 1, "chips": 1,
"owners": {"h": 0, "y": 0},
"slices": [{"full": "whole h", "rows": 4, "cols": 4, "axis": "rows", "dimension": "tokens",
"parts": [{"tensor": "h", "ranges": )" +
                   ranges + "}]}]}");
  };
  CHECK(contains(folder.compose().err, "split.json"));  // is not there
  split("[[0, 4]]");
  const ChildResult result = folder.compose();
  INFO(result.err);
  REQUIRE(result.status == 0);
  const auto program = ir::read_program(folder / "whole.json");
  REQUIRE(program.has_value());
  CHECK(program->tensors[1].owner == 0);
  REQUIRE(program->sliced.size() == 1);
  CHECK(program->sliced[0].name == "whole h");
  split("[[0, 3]]");
  const ChildResult refused = folder.compose();
  CHECK(refused.status == 3);
  CHECK(contains(refused.err, "m.json: bad-parallelism: part-shape: tensor \"h\" is 4 x 4"));
  split("[[0, 5]]");
  const ChildResult malformed = folder.compose();
  CHECK(malformed.status == 3);
  CHECK(contains(malformed.err, "split.json:4: $.slices[0].parts[0].ranges[0]: expected a range"));
}

TEST_CASE("compose: usage, help, and output that cannot be written") {
  const Folder folder(manifest(R"(["a.json", "b.json"])"));
  CHECK(run({"compose"}).status == 64);
  CHECK(run({"compose", folder / "m.json"}).status == 64);
  const ChildResult help = run({"compose", "--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.out, "Examples:"));
  CHECK(run({"compose", folder / "m.json", "-o", folder / "no/such/folder.json"}).status == 70);
  CHECK(run({"compose", folder / "m.json", "-o", folder / "whole.json", "--explain"},
            Output::full_disk)
            .status == 70);
}
