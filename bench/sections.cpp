#include "bench/sections.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "ir/program_file.hpp"
#include "ir/require.hpp"

namespace spatialcert::bench {
namespace {

constexpr const char* kSection = R"({{"format": "spatialcert-program", "version": 1, "name": "s{0}",
"target": {{"name": "tile", "chips": 4, "mesh": [2, 1], "engines": ["load", "compute"],
  "spaces": [{{"name": "sram", "bytes": 65536, "alignment": 64}}],
  "semaphores": {{"per_site": 4, "maximum": 31}}, "handoffs": [{{"name": "link", "crosses_chips": true}}]}},
"tensors": [{{"name": "t{1}", "role": "input", "rows": 16, "cols": 16, "dtype": "f32", "init": "external"}},
  {{"name": "t{0}", "role": "output", "rows": 16, "cols": 16, "dtype": "f32"}}],
"buffers": [{{"name": "q{0}", "kind": "fifo", "site": [{2}, {3}, 0], "space": "sram", "address": 0,
  "page_bytes": 1024, "pages": 2}}],
"stages": [{{"name": "load{0}", "kind": "load"}}, {{"name": "store{0}", "kind": "store"}}],
"sections": [{{"name": "s{0}"}}],
"programs": [{{"site": [{2}, {3}, 0], "engine": "load", "ops": [{4}]}},
  {{"site": [{2}, {3}, 0], "engine": "compute", "ops": [{5}]}}]}})";

std::string repeated(std::uint32_t times, const std::string& ops) {
  std::string text = ops;
  for (std::uint32_t i = 1; i < times; ++i) text += ", " + ops;
  return text;
}

/// Section number `s` of four chains, one per chip, that go to and fro between two sites.
ir::Program chained_section(std::uint32_t s) {
  constexpr std::uint32_t kTiles = 8;
  const std::string load = fmt::format(
      R"({{"reserve": "q{0}"}}, {{"run": "load{0}", "reads": [{{"tensor": "t{1}"}}], "writes": [{{"fifo": "q{0}"}}]}}, {{"push": "q{0}"}})",
      s, s < 4 ? "x" : std::to_string(s - 4));
  const std::string store = fmt::format(
      R"({{"front": "q{0}"}}, {{"run": "store{0}", "reads": [{{"fifo": "q{0}"}}], "writes": [{{"tensor": "t{0}"}}]}}, {{"pop": "q{0}"}})",
      s);
  auto program =
      ir::parse_program(fmt::format(kSection, s, s < 4 ? "x" : std::to_string(s - 4), s % 4,
                                    s / 4 % 2, repeated(kTiles, load), repeated(kTiles, store)),
                        "section");
  SPATIALCERT_REQUIRE(program.has_value(), "a section of this shape is well-formed");
  return *std::move(program);
}

}  // namespace

const std::vector<ir::Program>& chained_sections(std::int64_t ops) {
  static std::map<std::int64_t, std::vector<ir::Program>> made;
  std::vector<ir::Program>& sections = made[ops];
  for (std::uint32_t s = static_cast<std::uint32_t>(sections.size()); s < ops / 48; ++s)
    sections.push_back(chained_section(s));
  return sections;
}

}  // namespace spatialcert::bench
