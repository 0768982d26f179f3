// generate --model: whole models as programs, and as sections to compose.
#include <doctest/doctest.h>

#include <string>

#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert;
using namespace spatialcert::command::test;

namespace {

const std::string kSmall = R"({"format": "spatialcert-model", "version": 1, "name": "small",
"layers": 2, "hidden": 64, "vocabulary": 128,
"attention": {"heads": 4, "kv_heads": 2, "head_dim": 16}, "ffn": 128})";

bool mentions(const ChildResult& result, const std::string& text) {
  return result.err.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a model is generated, as a program and as sections that compose to it, and certified") {
  const TemporaryFolder folder;
  const std::string file = folder / "small.json", program = folder / "program.json";
  const std::string again = folder / "again.json", sections = folder / "sections";
  REQUIRE_FALSE(ir::write_bytes(file, kSmall));
  for (const std::string chips : {"1", "2"}) {
    const ChildResult made =
        run({"generate", "--config", file, "--chips", chips, "--mesh", "2x1", "--position", "3",
             "--context", "8", "--sections", sections, "-o", program});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    CHECK(made.out.empty());
    CHECK(run({"certify", "--quiet", program}).status == 0);
    REQUIRE(run({"compose", sections + "/composition.json", "-o", again}).status == 0);
    CHECK(*ir::read_bytes(program) == *ir::read_bytes(again));
  }
  // Sections alone, or the program on standard output.
  CHECK(run({"generate", "--config", file, "--layers", "1", "--sections", sections}).out.empty());
  const ChildResult printed = run({"generate", "--config", file, "--mesh", "1x1"});
  CHECK(ir::parse_program(printed.out, "printed").has_value());
}

TEST_CASE("generate --model --fault: one slip, and the program is refuted") {
  const TemporaryFolder folder;
  const std::string program = folder / "faulty.json";
  const std::vector<std::string> model{"generate", "--model", "qwen3-8b", "--chips", "2",
                                       "--mesh",   "1x1",     "--layers", "1"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = model;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  REQUIRE(with({"--fault", "nonlinear-before", "-o", program}).status == 0);
  const ChildResult judged = run({"certify", program});
  CHECK(judged.status == 1);
  CHECK(judged.out.find("qwen3-8b-nonlinear-before: refuted by reduction") != std::string::npos);
  CHECK(judged.out.find("silu of a partial sum over part 1 of heads") != std::string::npos);
  const ChildResult unknown = with({"--fault", "skip-chips", "-o", program});
  CHECK(unknown.status == 64);
  CHECK(unknown.err.find("skip-chip, chip-twice") != std::string::npos);
  CHECK(run({"generate", "--help"}).out.find("weight-elsewhere") != std::string::npos);
  const ChildResult no_place =
      run({"generate", "--model", "qwen3-8b", "--layers", "1", "--fault", "skip-chip"});
  CHECK(no_place.status == 3);
  CHECK(no_place.err.find("a place for the fault skip-chip") != std::string::npos);
}

TEST_CASE("generate --model: what is refused, and what is wrong usage") {
  const TemporaryFolder folder;
  const std::string program = folder / "program.json";
  const ChildResult unknown = run({"generate", "--model", "qwen3-8", "-o", program});
  CHECK(unknown.status == 64);
  CHECK(mentions(unknown, "did you mean qwen3-8b?"));
  const ChildResult uneven = run({"generate", "--model", "qwen3-8b", "--chips", "3"});
  CHECK(uneven.status == 3);
  CHECK(mentions(uneven, "a number of chips that divides the 32 heads of attention"));
  CHECK(uneven.out.empty());
  for (const std::string mesh : {"4", "4x", "x4", "4x0", "4x4x4", "-1x2"}) {
    CAPTURE(mesh);
    CHECK(run({"generate", "--model", "qwen3-8b", "--mesh", mesh}).status == 64);
  }
  const ChildResult missing = run({"generate", "--config", folder / "none.json"});
  CHECK(missing.status == 3);
  CHECK(mentions(missing, "none.json"));
  CHECK(run({"generate", "--model", "qwen3-8b", "--config", "x"}).status == 64);
  CHECK(run({"generate", "--model", "qwen3-8b", "--layers", "37"}).status == 3);
  CHECK(run({"generate", "--model", "qwen3-8b", "--phases", "none"}).status == 64);
  CHECK(run({"generate", "--model", "qwen3-8b", "--ranks", "4"}).status == 64);
  CHECK(run({"generate"}).status == 64);
  const ChildResult help = run({"generate", "--help"});
  CHECK(help.out.find("--model qwen3-8b --chips 4") != std::string::npos);
  CHECK(help.out.find("qwen3-next-80b-a3b") != std::string::npos);
}
