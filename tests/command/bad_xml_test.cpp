// Foreign files that are damaged or hostile: refused by `certify` and by `import`.
#include <doctest/doctest.h>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;

/// A right file, one element per line.
std::string ring() {
  static const std::string text =
      run({"generate", "--collective", "ring", "--op", "allreduce", "--ranks", "4"}).out;
  REQUIRE(contains(text, "<algo "));
  return text;
}

std::string ring_with(const std::string& from, const std::string& to) {
  const std::string text = ring();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return std::string(text).replace(at, from.size(), to);
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// Refused by both commands, with this in the message, in little time and memory.
void check_refused(const std::string& content, const std::string& message) {
  const TemporaryFolder folder;
  const std::string path = folder / "bad.xml";
  write_file(path, content);
  const ChildResult certified = run({"certify", "--quiet", path});
  CAPTURE(certified.out);
  CHECK(certified.status == 3);
  CHECK(certified.out.rfind(path + ": refused: ", 0) == 0);
  CHECK(contains(certified.out, message));
  CHECK(certified.cpu_seconds < 10);
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(certified.peak_bytes < kMostBytes);
#endif
  const ChildResult imported = run({"import", "msccl", path, "-o", folder / "out.json"});
  CAPTURE(imported.err);
  CHECK(imported.status == 3);
  CHECK(contains(imported.err, path));
  CHECK(contains(imported.err, message));
}

}  // namespace

TEST_CASE("refused: XML that is cut off, wherever") {
  const TemporaryFolder folder;
  const std::string whole = ring();
  std::vector<std::string> arguments = {"certify", "--quiet"};
  // The last cut leaves out the end tag of the root.
  for (std::size_t size = 1; size < whole.rfind("</algo>"); size += whole.size() / 80) {
    arguments.push_back(folder / std::to_string(size));
    write_file(arguments.back(), whole.substr(0, size));
  }
  const ChildResult result = run(arguments);
  CAPTURE(result.out);
  CHECK(result.status == 3);
  CHECK(contains(result.out, "0 certified, 0 refuted, 0 undecided, " +
                                 std::to_string(arguments.size() - 2) + " refused"));
}

TEST_CASE("refused: entities that grow when they are expanded") {
  std::string bomb = "<!DOCTYPE algo [<!ENTITY e0 \"aaaaaaaaaa\">";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "&e" + std::to_string(i - 1) + ";";
    bomb += "<!ENTITY e" + std::to_string(i) + " \"" + repeated(before, 10) + "\">";
  }
  check_refused(bomb + "]>\n" + ring_with("name=\"", "name=\"&e29;"), "expected no document type");
  check_refused("<!DOCTYPE algo SYSTEM \"file:///etc/passwd\">\n" + ring(),
                "expected no document type");
}

TEST_CASE("refused: XML that nests deeply") {
  constexpr std::size_t kDeep = 100'000;
  const std::string open = repeated("<gpu>", kDeep);
  check_refused(open, "expected ");
  check_refused(open + repeated("</gpu>", kDeep), "expected an element `algo`, found `gpu`");
  check_refused(ring_with("<gpu ", open + repeated("</gpu>", kDeep) + "<gpu "),
                "algo/gpu: expected");
  check_refused(
      ring_with("<step ", repeated("<step>", kDeep) + repeated("</step>", kDeep) + "<step "),
      "expected ");
}

TEST_CASE("refused: XML with 100,000 attributes") {
  constexpr std::size_t kMany = 100'000;
  check_refused(ring_with("<algo ", "<algo " + repeated("proto=\"LL\" ", kMany)),
                "expected `proto` once, found it twice");
  std::string different;
  for (std::size_t i = 0; i < kMany; ++i) different += "a" + std::to_string(i) + "=\"\" ";
  check_refused(ring_with("<algo ", "<algo " + different),
                "expected only attributes that the format has, found `a0`");
  check_refused(ring_with("<step ", "<step " + different), "found `a0`");
}

TEST_CASE("refused: XML that is something else") {
  check_refused("<", "expected ");
  check_refused("<html><body>404</body></html>", "expected an element `algo`, found `html`");
  check_refused("<\x01\x02\xFF\xFE garbage", "expected well-formed XML");
  check_refused("<algo" + std::string(100'000, 'x') + "/>", "expected an element `algo`");
  check_refused(ring() + ring(), "the end of the file after the first document");
  check_refused(ring_with("ngpus=\"4\"", "ngpus=\"99999999999999999999\""),
                "algo/@ngpus: expected an integer from 1 to 4096");
}
