#include "tests/html/pages.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ir/program_file.hpp"
#include "tests/proofs/draft.hpp"
#include "tests/proofs/shards.hpp"

namespace spatialcert::tests {
namespace fs = std::filesystem;
namespace {

std::string slices_of(const std::string& full, const std::string& axis,
                      const std::string& dimension, int length, const std::string& second) {
  const bool rows = axis == "rows";
  return fmt::format(
      R"({{"full": "{0}", "rows": {1}, "cols": {2}, "axis": "{3}", "dimension": "{4}",
        "parts": [{{"tensor": "{0}0", "ranges": [[0, 4]]}}, {{"tensor": "{0}1", "ranges": {5}}}]}})",
      full, rows ? length : 4, rows ? 4 : length, axis, dimension, second);
}

struct Split {
  std::vector<std::string> local;   ///< of each chip, `@` standing for its number
  std::vector<std::string> root;    ///< of chip 0, after both
  int length = 8;                   ///< of the axis of g that is cut
  std::string second = "[[4, 8]]";  ///< what the second chip has of it
};

/// y = x g d on two chips that have half of the columns of g and of the rows of d each.
Draft split(const std::string& name, const Split& s) {
  Draft d(name);
  d.member("target", R"({"name": "tile", "engines": ["load", "compute", "store", "move"],
      "chips": 2, "spaces": [{"name": "sram", "bytes": 4096, "alignment": 4}],
      "semaphores": {"per_site": 16, "maximum": 31},
      "handoffs": [{"name": "wire", "crosses_chips": true}]})");
  d.stage("all", "add", R"("kind": "allreduce")").stage("mm", "matmul").stage("act", "silu");
  d.stage("fetch", "copy", R"("kind": "copy")");
  d.member("slices", "[" + slices_of("g", "columns", "ffn", s.length, s.second) + ", " +
                         slices_of("d", "rows", "ffn", 8, "[[4, 8]]") + "]");
  d.tensor("x", "external").tensor("y");
  d.semaphore("done", 0, 1, R"("handoff": "wire")");
  std::vector<std::string> programs[2];
  for (int c = 0; c < 2; ++c) {
    const std::string own = fmt::format(R"("owner": {})", c);
    for (const char* weight : {"g", "d"})
      d.tensor(fmt::format("{}{}", weight, c), "external", 4, "f32", own);
    for (const char* made : {"h", "p", "q"})
      d.tensor(fmt::format("{}{}", made, c), "undefined", 4, "f32", own);
    for (std::string op : s.local) {
      std::replace(op.begin(), op.end(), '@', static_cast<char>('0' + c));
      programs[c].push_back(op);
    }
  }
  programs[0].emplace_back("wait done");
  programs[0].insert(programs[0].end(), s.root.begin(), s.root.end());
  programs[1].emplace_back("post done");
  return d.engine("compute", programs[0]).engine("1:compute", programs[1]);
}

std::vector<Certified> read_goldens() {
  const fs::path folder = fs::path(SPATIALCERT_SOURCE_DIR) / "tests" / "golden";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::vector<Certified> out;
  for (const std::string& name : names) {
    auto program = ir::read_program((folder / name).string());
    REQUIRE(program.has_value());
    out.push_back(certified(*std::move(program), "tests/golden/" + name));
  }
  return out;
}

Certified make_long_loop() {
  Draft d("long-loop");
  d.fifo("q", 2).semaphore("never").tensor("x", "external").tensor("y");
  d.engine("load", {"repeat 60000", "reserve q", "run L x > q", "push q", "end", "wait never"});
  d.engine("compute", {"repeat 60000", "front q", "run C q > y", "pop q", "end"});
  return certified(d.program(), "loops/long.json");
}

}  // namespace

Certified certified(ir::Program program, const std::string& file) {
  certify::ProgramReport report = certify::certify(program);
  return {std::move(program), std::move(report), file};
}

const std::vector<Certified>& goldens() {
  static const std::vector<Certified> all = read_goldens();
  return all;
}

std::vector<Certified> sliced_programs() {
  const std::vector<std::string> way = {"run mm x g@ > h@", "run mm h@ d@ > p@"};
  const std::vector<std::string> sum = {"run all p0 p1 > y"};
  const std::vector<std::string> nonlinear = {way[0], way[1], "run act p@ > q@"};
  std::vector<Certified> out;
  const auto add = [&](const char* name, const Split& s) {
    out.push_back(certified(split(name, s).program(), ""));
    CAPTURE(name);
    CHECK(out.back().report.verdict == certify::Verdict::refuted);
  };
  add("nonlinear", {nonlinear, {"run all q0 q1 > y"}, 8, "[[4, 8]]"});
  add("part-left-out", {way, {"run all p0 > y"}, 8, "[[4, 8]]"});
  add("whole-twice", {way, {"run all x x > y"}, 8, "[[4, 8]]"});
  add("crossed-parts", {way, {"run fetch h1 > q0", "run mm q0 d0 > p0", sum[0]}, 8, "[[4, 8]]"});
  add("gap", {way, sum, 9, "[[5, 9]]"});
  add("overlapping-slices", {way, sum, 8, "[[3, 7]]"});
  return out;
}

Certified ring(int engines, int ops) {
  std::string json =
      fmt::format(R"({{"format": "spatialcert-program", "version": 1, "name": "ring-of-{0}",
    "target": {{"name": "array", "mesh": [{0}, 1], "engines": ["compute"],
      "spaces": [{{"name": "sram", "bytes": 4096, "alignment": 4}}],
      "semaphores": {{"per_site": 4, "maximum": 15}}}},
    "tensors": [], "buffers": [], "stages": [], "edges": [], "sections": [{{"name": "ring"}}],
    "result_unspecified": true, "semaphores": [)",
                  engines);
  for (int e = 0; e < engines; ++e) {
    json += fmt::format(
        R"({0}{{"name": "turn{1}", "site": [0, {1}, 0], "maximum": 15}},
        {{"name": "own{1}", "site": [0, {1}, 0], "initial": 1, "maximum": 15}})",
        e == 0 ? "" : ", ", e);
  }
  json += "], \"programs\": [";
  for (int e = 0; e < engines; ++e) {
    std::string list;
    for (int i = 0; i < ops; ++i)
      list += fmt::format(R"({{"wait": "own{0}"}}, {{"post": "own{0}"}}, )", e);
    json += fmt::format(
        R"({0}{{"site": [0, {1}, 0], "engine": "compute", "ops": [{2}{{"wait": "turn{1}"}}, {{"post": "turn{3}"}}]}})",
        e == 0 ? "" : ", ", e, list, (e + 1) % engines);
  }
  auto program = ir::parse_program(json + "]}", "ring");
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message()));
  return certified(*std::move(program));
}

Certified crowd(int engines, int rounds) {
  std::string names = "\"root\"";
  std::string programs = fmt::format(
      R"({{"site": [0, 0, 0], "engine": "root", "ops": [{{"repeat": {}, "ops": [
        {{"post": "go"}}, {{"wait": "taken"}}]}}]}})",
      rounds);
  for (int e = 0; e < engines; ++e) {
    names += fmt::format(R"(, "e{}")", e);
    programs += fmt::format(
        R"(, {{"site": [0, 0, 0], "engine": "e{}", "ops": [{{"repeat": {}, "ops": [
          {{"wait": "go"}}, {{"post": "taken"}}]}}]}})",
        e, rounds / engines + 1);
  }
  const std::string json = fmt::format(
      R"({{"format": "spatialcert-program", "version": 1, "name": "crowd",
    "target": {{"name": "crowd", "engines": [{}],
      "spaces": [{{"name": "sram", "bytes": 64, "alignment": 4}}],
      "semaphores": {{"per_site": 4, "maximum": 15}}}},
    "tensors": [], "buffers": [], "stages": [], "edges": [], "sections": [{{"name": "all"}}],
    "result_unspecified": true, "semaphores": [{{"name": "go", "site": [0, 0, 0], "maximum": 15}},
      {{"name": "taken", "site": [0, 0, 0], "maximum": 15}}], "programs": [{}]}})",
      names, programs);
  auto program = ir::parse_program(json, "crowd");
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message()));
  return certified(*std::move(program));
}

const Certified& long_loop() {
  static const Certified made = make_long_loop();
  return made;
}

Certified hostile() {
  const std::string evil = "</script><script>window.hacked=1</script><img src=x onerror=alert(1)>";
  std::string json =
      R"({"format": "spatialcert-program", "version": 1, "name": "NAME <b>&amp; \"q\" '",
    "target": {"name": "t", "engines": ["EVIL"], "chips": 1,
      "spaces": [{"name": "<sram>", "bytes": 64, "alignment": 4}],
      "semaphores": {"per_site": 4, "maximum": 15}},
    "tensors": [], "stages": [], "edges": [], "sections": [{"name": "EVIL <!-- \u202e\u0001"}],
    "buffers": [{"name": "EVIL", "kind": "scratch", "site": [0, 0, 0], "space": "<sram>", "address": 0, "page_bytes": 8, "pages": 1},
      {"name": "&lt;", "kind": "scratch", "site": [0, 0, 0], "space": "<sram>", "address": 4, "page_bytes": 8, "pages": 1}],
    "result_unspecified": true, "semaphores": [{"name": "EVIL", "site": [0, 0, 0], "maximum": 15}],
    "programs": [{"site": [0, 0, 0], "engine": "EVIL", "ops": [{"wait": "EVIL"}]}]})";
  for (std::size_t at = json.find("EVIL"); at != json.npos; at = json.find("EVIL", at)) {
    json.replace(at, 4, evil);
    at += evil.size();
  }
  auto program = ir::parse_program(json, "hostile");
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message()));
  return certified(*std::move(program), "a folder/" + evil + ".json");
}

}  // namespace spatialcert::tests
