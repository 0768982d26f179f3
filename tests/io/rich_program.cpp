#include "rich_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace spatialcert::ir::test {
namespace {

std::uint64_t line_at(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  return 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace

std::string rich_with(std::string_view from, std::string_view to) {
  std::string text(kRichProgram);
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  REQUIRE_MESSAGE(text.find(from, at + 1) == std::string::npos, from);
  return text.replace(at, from.size(), to);
}

void check_refused_text(std::string_view text, std::string_view path, std::uint64_t line,
                        std::string_view expected, std::string_view found) {
  const auto result = parse_program(text, "rich.json");
  REQUIRE_FALSE(result.has_value());
  const Refusal& refusal = result.error();
  INFO(refusal.message());
  CHECK(refusal.file == "rich.json");
  CHECK(refusal.path == path);
  CHECK(refusal.line == line);
  CHECK(refusal.expected.find(expected) != std::string::npos);
  CHECK(refusal.found.find(found) != std::string::npos);
}

void check_refused(const Expectation& expectation) {
  CAPTURE(expectation.from);
  CAPTURE(expectation.to);
  const std::string text = rich_with(expectation.from, expectation.to);
  const std::size_t at = expectation.line_of.empty() ? kRichProgram.find(expectation.from)
                                                     : text.find(expectation.line_of);
  REQUIRE(at != std::string::npos);
  check_refused_text(text, expectation.path, line_at(text, at), expectation.expected,
                     expectation.found);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path().string() + "/spatialcert.XXXXXX";
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace spatialcert::ir::test
