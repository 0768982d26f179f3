#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "ir/program_file.hpp"
#include "ir/validate.hpp"
#include "rich_program.hpp"

namespace spatialcert::ir {
namespace {

using test::kRichProgram;

Program read(std::string_view text) {
  auto result = parse_program(text, "rich.json");
  if (!result) FAIL(result.error().message());
  return std::move(result).value();
}

TEST_CASE("the rich program is read as it is meant") {
  const Program program = read(kRichProgram);
  CHECK(program.name == "rich");
  CHECK(program.execution == Execution::persistent);
  CHECK(program.target.engines.size() == 3);
  CHECK(program.target.spaces[1].alignment == 1);
  CHECK(program.target.float_type == DType::bf16);
  REQUIRE(program.buffers.size() == 7);
  const Buffer& corner = program.buffers[5];
  CHECK(corner.address == 8768);  // left out: base 8192 + 512 + 64
  CHECK(corner.view->base == BufferId(std::uint32_t{4}));
  CHECK(program.buffers[2].depth == Depth::guaranteed);
  CHECK(program.buffers[3].lifetime == Lifetime::resident);
  CHECK_FALSE(program.buffers[3].resident_from.valid());
  CHECK(program.buffers[6].resident_to == SectionId(std::uint32_t{1}));
  CHECK(program.tensors[3].view->offset == 992);
  CHECK(program.stages[1].scale == 0.1);
  CHECK(program.sections[1].numerics.reason == "sums in \"bf16\"");
  CHECK(program.sections[0].source_index == 4);
  CHECK(program.links[0].is_fifo);
  CHECK(program.source_files.size() == 2);
}

TEST_CASE("engine programs are sorted and their loops are flat") {
  const Program program = read(kRichProgram);
  REQUIRE(program.programs.size() == 4);
  CHECK(program.programs[0].engine == EngineId(std::uint32_t{0}));
  CHECK(program.programs[3].site == Site{1, 0, 0});
  const EngineProgram& load = program.programs[0];
  REQUIRE(load.ops.size() == 6);
  CHECK(load.ops[0].code == OpCode::repeat);
  CHECK(load.ops[0].count == 4);
  CHECK(load.ops[0].body == 4);
  CHECK(load.ops[2].body == 1);
  CHECK(load.ops[5].code == OpCode::post);
  CHECK(load.ops[5].count == 1);
  REQUIRE(load.spans.size() == 2);
  CHECK(load.spans[0].end == 5);
  CHECK(load.spans[1].boundary == BoundaryId(std::uint32_t{0}));
  const SourceLocation& place = program.locations[load.ops[3].location];
  CHECK(place == SourceLocation{1, 20, 5});
}

TEST_CASE("reads stand before writes, and terms are sorted") {
  const Program program = read(kRichProgram);
  const Op& halve = program.programs[1].ops[3];
  REQUIRE(halve.accesses == 4);
  const Access* const access = &program.accesses[halve.first_access];
  CHECK_FALSE(access[0].write);
  CHECK(access[0].region.kind == RegionKind::page);
  CHECK_FALSE(access[1].write);
  CHECK(access[1].region.bound[3] == 16);
  CHECK(access[2].write);
  CHECK(access[3].region.kind == RegionKind::bytes);
  CHECK(access[3].region.bound[1] == 512);
  CHECK(access[3].region.terms == 1);
  const Op& load = program.programs[0].ops[3];
  const Region& region = program.accesses[load.first_access].region;
  REQUIRE(region.terms == 4);
  const AffineTerm* const term = &program.affine_terms[region.first_term];
  CHECK(term[0].level == 0);
  CHECK(term[0].coefficient == 16);
  CHECK(term[1].level == 1);
  CHECK(term[3].bound == 1);
}

TEST_CASE("reading what was written gives the same program and the same bytes") {
  const Program program = read(kRichProgram);
  const std::string once = serialise(program);
  const Program again = read(once);
  CHECK(serialise(again) == once);
  CHECK(digest(again) == digest(program));
  CHECK(again.accesses.size() == program.accesses.size());
  CHECK(again.affine_terms.size() == program.affine_terms.size());
  CHECK(once.back() == '\n');
  // One op per line.
  CHECK(static_cast<std::uint64_t>(std::count(once.begin(), once.end(), '\n')) >
        op_count(program) + program.buffers.size());
}

TEST_CASE("the spelling of a program does not change its bytes") {
  const std::string canonical = serialise(read(kRichProgram));
  const auto same = [&](std::string_view from, std::string_view to) {
    CAPTURE(to);
    CHECK(serialise(read(test::rich_with(from, to))) == canonical);
  };
  same(R"({"post":"go"})", R"({"post":"go","n":1})");
  same(R"({"wait":"go","n":1})", R"({"wa\u0069t":"g\u006f"})");
  same(R"("rows":[{"i1":8,"i0":16},)", R"("rows":[{"const":0,"i0":16,"i1":8},)");
  same(R"("bytes":[0,{"const":512}])", R"("bytes":[0,512])");
  same(R"("bytes":[0,{"const":512,"i0":64}])", R"("bytes":[0,{"i0":64,"const":512}])");
  same(R"(,"reads":[{"fifo":"q"},{"tensor":"kv","rows":[0,1]}])",
       R"(,"reads":[{"fifo":"q","page":0},{"tensor":"kv","cols":[0,16],"rows":[{"i0":0},1]}])");
  same(R"("maximum":1,"handoff":"noc"})", R"("handoff":"noc", "initial":0,
       "restart":"keep", "maximum":1})");
  same(R"(,"page_bytes":64,"pages":1,"view":{"of":"upper")",
       R"(,"address":8768,"page_bytes":64,"pages":1,"view":{"of":"upper")");
}

TEST_CASE("members may stand in any order") {
  const std::string canonical = serialise(read(kRichProgram));
  std::string text(kRichProgram);
  const std::size_t programs = text.find("\"programs\":[");
  const std::string moved = text.substr(programs, text.rfind('}') - programs);
  text.erase(programs - 2, moved.size() + 2);  // with the comma before it
  text.insert(1, moved + ",");
  CHECK(serialise(read(text)) == canonical);
}

TEST_CASE("different programs have different digests") {
  const Program program = read(kRichProgram);
  CHECK(to_hex(digest(program)).size() == 64);
  const auto differs = [&](std::string_view from, std::string_view to) {
    CAPTURE(to);
    CHECK(digest(read(test::rich_with(from, to))) != digest(program));
  };
  differs(R"({"post":"flag","n":2})", R"({"post":"flag","n":3})");
  differs(R"("name":"rich")", R"("name":"Rich")");
  differs(R"({"tensor":"kv","rows":[0,1]})", R"({"tensor":"kv","rows":[0,2]})");
  differs(R"("scale":0.1)", R"("scale":0.10000000000000002)");
}

// Certificates name programs by this digest: it must not change while the format has this version.
TEST_CASE("the digest of a fixed program is fixed") {
  const Program program = read(R"({"format":"spatialcert-program","version":1,"name":"n",
    "target":{"name":"t","spaces":[]},"programs":[]})");
  const std::string expected =
      "{\"format\":\"spatialcert-program\",\"version\":1,\n\"name\":\"n\",\n"
      "\"target\":{\"name\":\"t\",\"chips\":1,\"mesh\":[1,1],\"engines\":[\"load\",\"compute\","
      "\"store\"],"
      "\"spaces\":[],\"semaphores\":{\"per_site\":0,\"maximum\":0},\"handoffs\":[],\"tile\":[1,1],"
      "\"float_type\":\"f32\",\"widest_integer\":\"i64\"},\n\"execution\":\"once\",\n\"tensors\":[]"
      ",\n"
      "\"buffers\":[],\n\"semaphores\":[],\n\"stages\":[],\n\"edges\":[],\n\"sections\":[],\n"
      "\"boundaries\":[],\n\"links\":[],\n\"carried\":[],\n\"postconditions\":[],\n"
      "\"result_unspecified\":false,\n\"source_files\":[],\n\"programs\":[]}\n";
  CHECK(serialise(program) == expected);
  CHECK(to_hex(digest(program)) ==
        "de2f4689942d4225e063a26ae2bcf5f348a7a2e1f59029725fe778778dbbb1a4");
}

TEST_CASE("names of any characters survive") {
  const std::string text =
      test::rich_with(R"("name":"rich")", R"("name":"\"\\\u0001\n\u00e9\ud83d\ude00/")");
  const Program program = read(text);
  CHECK(program.name == "\"\\\x01\n\xc3\xa9\xf0\x9f\x98\x80/");
  CHECK(read(serialise(program)).name == program.name);
}

TEST_CASE("doubles survive") {
  for (const char* const scale : {"1e300", "-0.0", "5e-324", "0.30000000000000004", "3", "1e22"}) {
    const Program program =
        read(test::rich_with(R"("scale":0.1)", R"("scale":)" + std::string(scale)));
    CHECK(read(serialise(program)).stages[1].scale == program.stages[1].scale);
  }
}

}  // namespace
}  // namespace spatialcert::ir
