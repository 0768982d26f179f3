// Input that is damaged, hostile or no program at all: refused by file and place, in bounded time
// and memory, whichever command reads it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "ir/bytes_file.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert::command::test;
namespace ir = spatialcert::ir;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// One line per file, and a summary if there are several.
ChildResult certify(const std::vector<std::string>& paths) {
  std::vector<std::string> arguments = {"certify", "--quiet"};
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  return run(arguments);
}

/// Every file is refused by name, with what was expected.
std::vector<std::string> check_refused(const std::vector<std::string>& paths) {
  const ChildResult result = certify(paths);
  CHECK(result.status == 3);
  CHECK(result.err.empty());
  std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() >= paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK(lines[i].rfind(paths[i] + ": refused: ", 0) == 0);
    CHECK(contains(lines[i], "expected "));
  }
  return lines;
}

struct Case {
  std::string name;
  std::string content;
  std::string message;  ///< what the refusal must contain
};

void check_refused(const std::vector<Case>& cases) {
  const TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const Case& one : cases) {
    paths.push_back(folder / one.name);
    write_file(paths.back(), one.content);
  }
  const std::vector<std::string> lines = check_refused(paths);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK(contains(lines[i], cases[i].message));
  }
}

const std::string& program() {
  static const std::string text = read_file(golden("certified-sum"));
  return text;
}

std::string program_with(const std::string& from, const std::string& to) {
  const std::size_t at = program().find(from);
  REQUIRE(at != std::string::npos);
  return std::string(program()).replace(at, from.size(), to);
}

/// The bytes of a zstd file with this content.
std::string packed(const std::string& content) {
  const TemporaryFolder folder;
  REQUIRE_FALSE(ir::write_bytes(folder / "p.zst", content).has_value());
  return read_file(folder / "p.zst");
}

/// A program whose engine program `load` is `ops`.
std::string program_of(const std::string& ops) {
  return R"({"format": "spatialcert-program", "version": 1, "name": "n",
"target": {"name": "t", "spaces": [{"name": "sram", "bytes": 4096}],
"semaphores": {"per_site": 1, "maximum": 4}},
"semaphores": [{"name": "s", "site": [0, 0, 0], "maximum": 4}],
"sections": [{"name": "a"}], "result_unspecified": true,
"programs": [{"site": [0, 0, 0], "engine": "load", "ops": [)" +
         ops + "]}]}";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("refused: files without a program in them") {
  check_refused(std::vector<Case>{
      {"empty.json", "", "expected a program, found an empty file"},
      {"empty.json.zst", packed(""), "expected a program, found an empty zstd frame"},
      {"blank.json", " \n\t\n", "line 3: $: expected a program (a JSON object), found the end"},
      {"null.json", "null", "found null"},
      {"list.json", "[]", "found an array"},
      {"object.json", "{}", "expected the member \"format\", found none"},
      {"text.json", "hello", "found hello"},
      {"zeros.json", std::string(100'000, '\0'), "found byte 0x00"},
      {"mark.json", "\xEF\xBB\xBF{}", "expected a program (a JSON object)"},
      {"magic.zst", "\x28\xB5\x2F\xFD", "expected a whole zstd frame, found a truncated one"}});
}

TEST_CASE("refused by every command: what cannot be read") {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> files = {
      {folder / "missing.json", "No such file or directory"},
      {folder.path(), "a directory"},
      {"/dev/null", "an empty file"},
      {"/proc/self/mem", "Input/output error"}};
  write_file(folder / "secret.json", program());
  fs::permissions(folder / "secret.json", fs::perms::none);
  // Nothing is unreadable to root.
  if (::geteuid() != 0) files.emplace_back(folder / "secret.json", "Permission denied");
  for (const auto& [path, why] : files) {
    const std::vector<std::vector<std::string>> commands = {
        {"show", path},
        {"import", "msccl", path, "-o", folder / "out.json"},
        {"replay", path, path},
        {"replay", golden("missing-wait"), path}};
    CAPTURE(path);
    CHECK(contains(check_refused(std::vector<std::string>{path})[0], why));
    for (const auto& arguments : commands) {
      const ChildResult result = run(arguments);
      CAPTURE(arguments[0]);
      CAPTURE(result.err);
      CHECK(result.status == 3);
      CHECK(contains(result.err, path + ":"));
      CHECK(contains(result.err, why));
    }
  }
}

TEST_CASE("refused: a program that is cut off, wherever") {
  const TemporaryFolder folder;
  std::vector<std::string> paths;
  for (std::size_t size = 1; size + 3 < program().size(); size += 23) {
    paths.push_back(folder / std::to_string(size));
    write_file(paths.back(), program().substr(0, size));
  }
  const std::vector<std::string> lines = check_refused(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK(contains(lines[i], ": refused: line "));
  }
}

TEST_CASE("refused: a zstd file that is cut off, wherever") {
  const TemporaryFolder folder;
  const std::string whole = packed(program());
  std::vector<std::string> paths;
  for (std::size_t size = 1; size < whole.size(); size += 5) {
    paths.push_back(folder / std::to_string(size));
    write_file(paths.back(), whole.substr(0, size));
  }
  check_refused(paths);
}

TEST_CASE("a damaged zstd file is refused, or holds what it held") {
  const TemporaryFolder folder;
  const std::string whole = packed(program());
  std::vector<std::string> paths;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    paths.push_back(folder / std::to_string(at));
    write_file(paths.back(), damaged);
  }
  const ChildResult result = certify(paths);
  CHECK(result.status == 3);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == paths.size() + 1);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK((contains(lines[i], ": refused: ") || lines[i] == "certified-sum: certified"));
  }
}

TEST_CASE("refused: numbers that no counter can hold, named as they stand there") {
  std::vector<Case> cases;
  for (const std::string number :
       {"-1", "9223372036854775808", "18446744073709551616", "1e400", "1.5", "\"1\"", "null"}) {
    const std::string op = R"({"post": "s", "n": )" + number + "}";
    cases.push_back(
        {"n" + std::to_string(cases.size()), program_of(op),
         "$.programs[0].ops[0].n: expected an integer from 1 to 2^63 - 1, found " + number});
  }
  check_refused(cases);
}

TEST_CASE("refused: what is there twice, or behind the end, or nowhere") {
  const std::string stage = R"({"name": "load_x", "kind": "load"})";
  check_refused(std::vector<Case>{
      {"key", program_with(R"("version": 1,)", R"("version": 1, "version": 1,)"),
       "line 3: $.version: expected the key \"version\" once, found it again"},
      {"name", program_with(stage, stage + "," + stage), "$.stages[1].name: expected"},
      {"twice", program() + program(), "expected the end of the file, found an object"},
      {"behind", program() + "x", "expected the end of the file, found x"},
      {"frames", packed(program()) + packed(program()), "expected the end of the file"},
      {"bytes", packed(program()) + "x", "the end of the file after the last zstd frame"},
      {"nowhere", program_with(R"({"run": "load_x")", R"({"run": "load_z")"),
       "$.programs[0].ops[1].run: expected the name of a declared stage (did you mean "
       "\"load_x\"?), found \"load_z\""}});
}

TEST_CASE("refused: nesting that no program has") {
  constexpr std::size_t kDeep = 100'000;
  const std::string start = R"({"format": "spatialcert-program", "version": 1, "name": )";
  const std::string loop = R"({"repeat": 2, "ops": [)";
  check_refused(std::vector<Case>{
      {"lists", std::string(kDeep, '['), "found an array"},
      {"inside", start + std::string(kDeep, '['), "expected at most 160 nested arrays and objects"},
      {"closed", start + std::string(kDeep, '[') + std::string(kDeep, ']') + "}",
       "expected at most 160 nested arrays and objects"},
      {"objects", start + repeated("{\"a\":", kDeep), "expected at most 160 nested"},
      {"loops", program_of(repeated(loop, kDeep) + R"({"wait": "s"})" + repeated("]}", kDeep)),
       "expected at most"},
      {"65 loops", program_of(repeated(loop, 65) + R"({"wait": "s"})" + repeated("]}", 65)),
       "expected at most 64 nested loops"}});
}

TEST_CASE("loops of 10^18 rounds, nested or not, in no time and no memory") {
  const TemporaryFolder folder;
  const std::string loop = R"({"repeat": 1000000000000000000, "ops": [)";
  for (const std::size_t depth : {1U, 3U, 64U}) {
    const std::string ops =
        repeated(loop, depth) + R"({"post": "s"}, {"wait": "s"})" + repeated("]}", depth);
    write_file(folder / "loop.json", program_of(ops));
    const ChildResult result = certify({folder / "loop.json"});
    CAPTURE(result.out);
    // A few rounds of each of 64 loops in one another are too many.
    CHECK(result.status == (depth < 64 ? 0 : 2));
    CHECK(contains(result.out, depth < 64 ? "n: certified" : "n: undecided: "));
    CHECK(result.cpu_seconds < 30);  // one step a trip would take centuries
    CHECK(result.peak_bytes < (std::uint64_t{1} << 29U));
  }
}
