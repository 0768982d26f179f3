// Random damage: never a crash, and what is accepted is JSON and survives a round trip.
#include <doctest/doctest.h>
#include <simdjson.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/bytes_file.hpp"
#include "rich_program.hpp"

namespace spatialcert::ir {
namespace {

void check_outcome(const std::string& text) {
  const auto result = parse_program(text, "mutant");
  if (!result) {
    CHECK_FALSE(result.error().expected.empty());
    CHECK(result.error().line > 0);
    return;
  }
  simdjson::dom::parser parser;
  CHECK(parser.parse(text).error() == simdjson::SUCCESS);
  const std::string once = serialise(*result);
  const auto again = parse_program(once, "again");
  REQUIRE(again.has_value());
  CHECK(serialise(*again) == once);
}

TEST_CASE("2,000 random byte mutations") {
  std::mt19937_64 random(7);
  const std::string_view structural = "{}[]\",:0123456789-.eE \n\\ntu";
  for (int i = 0; i < 2000; ++i) {
    std::string text(test::kRichProgram);
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const char byte = random() % 2 == 0 ? structural[random() % structural.size()]
                                          : static_cast<char>(random() % 256);
      switch (random() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, 1 + random() % 4);
          break;
      }
    }
    CAPTURE(i);
    check_outcome(text);
  }
}

TEST_CASE("random exchanges of tokens") {
  std::mt19937_64 random(11);
  const std::string text(test::kRichProgram);
  std::vector<std::pair<std::size_t, std::size_t>> tokens;  // offset, size
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      while (std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    }
    tokens.emplace_back(at, end - at);
    at = end;
  }
  for (int i = 0; i < 2000; ++i) {
    const auto [at, size] = tokens[random() % tokens.size()];
    const auto [from, length] = tokens[random() % tokens.size()];
    std::string mutant = text;
    mutant.replace(at, size, text.substr(from, length));
    CAPTURE(i);
    check_outcome(mutant);
  }
}

TEST_CASE("damage to a compressed file that was written here is noticed, wherever it is") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("p.zst");
  REQUIRE_FALSE(write_bytes(path, test::kRichProgram).has_value());
  std::string packed;
  {
    std::ifstream file(path, std::ios::binary);
    packed.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::mt19937_64 random(13);
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string mutant = packed;
    mutant[at] = static_cast<char>(mutant[at] ^ static_cast<char>(1 + random() % 255));
    std::ofstream(path, std::ios::binary) << mutant;
    CAPTURE(at);
    const auto result = read_program(path);
    // Some bits of a frame mean nothing.
    if (result) CHECK(serialise(*result) == serialise(*parse_program(test::kRichProgram, "rich")));
    if (!result) CHECK(result.error().file == path);
  }
}

}  // namespace
}  // namespace spatialcert::ir
