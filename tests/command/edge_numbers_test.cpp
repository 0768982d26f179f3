// Programs that are well-formed and absurd: every number of a program, in turn, at the edges of its
// type.
#include <doctest/doctest.h>

#include "tests/command/child.hpp"
#include "tests/io/json_values.hpp"

using namespace spatialcert::command::test;
using spatialcert::ir::test::JsonValue;
using spatialcert::ir::test::values_of;
using spatialcert::ir::test::with;

TEST_CASE("numbers at the edges of their types end in a verdict or a refusal, in bounded memory") {
  for (const char* name : {"certified-sum", "certified-persistent", "double-buffer-overwrite"}) {
    const TemporaryFolder folder;
    const std::string text = read_file(golden(name));
    std::vector<std::string> arguments = {"certify", "--quiet"};
    for (const JsonValue& value : values_of(text)) {
      if (JsonValue::kind_of(std::string_view(text).substr(value.at)) != '0') continue;
      for (const char* number : {"2147483648", "4294967294", "4611686018427387904",
                                 "9223372036854775807", "18446744073709551615"}) {
        arguments.push_back(folder / std::to_string(arguments.size()));
        write_file(arguments.back(), with(text, value, number));
      }
    }
    CAPTURE(name);
    REQUIRE(arguments.size() > 100);
    const ChildResult result = run(arguments);
    CAPTURE(result.err);
    CHECK(result.status == 1);
    CHECK(result.err.empty());
    CHECK_FALSE(contains(result.out, "fault"));
    CHECK(result.cpu_seconds < 30);
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(result.peak_bytes < (std::uint64_t{1} << 28U));
#endif
  }
}
