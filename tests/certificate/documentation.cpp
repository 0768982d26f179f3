// docs/certificate.md says what is so: its example is a certificate that the command writes.
#include <doctest/doctest.h>

#include <sstream>

#include "tests/certificate/forge.hpp"
#include "tests/command/child.hpp"

namespace spatialcert::proofs::test {
namespace {

using command::test::contains;
using command::test::read_file;

std::string document(const std::string& name) {
  return read_file(std::string(SPATIALCERT_SOURCE_DIR) + "/docs/" + name);
}

/// What stands in the first fence of this language.
std::string fenced(const std::string& text, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = text.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::size_t from = begin + fence.size();
  return text.substr(from, text.find("```", from) - from);
}

/// Two digits each, separated by single blanks; two blanks begin a remark.
std::string bytes_of(const std::string& listing) {
  std::string bytes;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line.substr(0, line.find("  ")));
    for (std::string number; numbers >> number;) {
      REQUIRE(number.size() == 2);
      bytes += static_cast<char>(std::stoi(number, nullptr, 16));
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("the example of docs/certificate.md is the certificate of that of docs/format.md") {
  const std::string documented = bytes_of(fenced(document("certificate.md"), "hex"));
  const command::test::TemporaryFolder folder;
  command::test::write_file(folder / "double.json", fenced(document("format.md"), "json"));
  const auto result =
      command::test::run({"certify", folder / "double.json", "-o", folder / "double.cert"});
  REQUIRE(result.status == 0);
  Certificate written = decoded(read_file(folder / "double.cert"));
  CHECK(written.producer.starts_with("spatialcert "));
  CHECK(contains(written.producer, ", z3 "));
  written.producer = decoded(documented).producer;  // names other versions
  CHECK(encode(written) == documented);
}

TEST_CASE("docs/certificate.md names every reason and every rule") {
  const std::string text = document("certificate.md");
  for (int i = 0; i <= static_cast<int>(Unreadable::Reason::malformed_witness); ++i) {
    const std::string name(to_string(static_cast<Unreadable::Reason>(i)));
    CAPTURE(name);
    CHECK(contains(text, name));
  }
  for (const Rule rule : all_rules()) {
    const std::string name(to_string(rule));
    CAPTURE(name);
    CHECK(contains(text, std::to_string(static_cast<int>(rule)) + " " + name));
    // What the table says.
    const bool second = rule == Rule::boundary || rule == Rule::shard || rule == Rule::reduction;
    CHECK(rule_version(rule) == (second ? 2 : 1));
  }
}

}  // namespace spatialcert::proofs::test
