#include "bench/programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "bench/sections.hpp"
#include "compose/collectives/collectives.hpp"
#include "compose/composition/composer.hpp"
#include "ir/import/msccl.hpp"
#include "ir/program_file.hpp"
#include "ir/require.hpp"

namespace spatialcert::bench {
namespace {

ir::Program ring(std::int64_t ops) {
  // 17.6 ops per rank and round, n ranks, n rounds.
  compose::CollectiveOptions options;
  options.ranks =
      static_cast<std::uint32_t>(std::lround(std::sqrt(static_cast<double>(ops) / 17.6)));
  const auto xml = compose::generate_collective(options);
  SPATIALCERT_REQUIRE(xml.has_value(), "a ring of this size is generated");
  auto imported = ir::import_msccl_text(*xml, "ring.xml", {});
  SPATIALCERT_REQUIRE(imported.has_value(), "a generated ring is imported");
  return std::move(imported.value().variants.front().program);
}

/// One tile: load reserves, runs, pushes; compute takes from one FIFO to the other; store takes
/// out.
constexpr std::int64_t kOpsOfTile = 12;

ir::Program pipeline(std::int64_t ops) {
  std::string load, compute, store;
  const std::int64_t tiles = ops / kOpsOfTile;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const char* comma = t == 0 ? "" : ",";
    const std::string rows = fmt::format(R"("rows":[{},{}])", 16 * t, 16 * (t + 1));
    load += fmt::format(
        R"({}{{"reserve":"a"}},{{"run":"load_x","reads":[{{"tensor":"x",{}}}],"writes":[{{"fifo":"a"}}]}},{{"push":"a"}})",
        comma, rows);
    compute += fmt::format(
        R"({}{{"front":"a"}},{{"reserve":"b"}},{{"run":"double_x","reads":[{{"fifo":"a"}}],"writes":[{{"fifo":"b"}}]}},{{"push":"b"}},{{"pop":"a"}})",
        comma);
    store += fmt::format(
        R"({}{{"front":"b"}},{{"run":"store_y","reads":[{{"fifo":"b"}}],"writes":[{{"tensor":"y",{}}}]}},{{"pop":"b"}})",
        comma, rows);
  }
  const std::string json =
      fmt::format(R"({{"format":"spatialcert-program","version":1,"name":"pipeline-{0}",
"target":{{"name":"tile","spaces":[{{"name":"sram","bytes":65536,"alignment":64}}]}},
"tensors":[{{"name":"x","role":"input","rows":{1},"cols":32,"dtype":"f32","init":"external"}},
{{"name":"y","role":"output","rows":{1},"cols":32,"dtype":"f32"}}],
"buffers":[{{"name":"a","kind":"fifo","site":[0,0,0],"space":"sram","address":0,"page_bytes":2048,"pages":4}},
{{"name":"b","kind":"fifo","site":[0,0,0],"space":"sram","address":8192,"page_bytes":2048,"pages":4}}],
"stages":[{{"name":"load_x","kind":"load"}},{{"name":"double_x","kind":"compute","op":"scale","scale":2}},{{"name":"store_y","kind":"store"}}],
"edges":[{{"producer":"load_x","buffer":"a","consumer":"double_x"}},{{"producer":"double_x","buffer":"b","consumer":"store_y"}}],
"sections":[{{"name":"double"}}],
"programs":[{{"site":[0,0,0],"engine":"load","ops":[{2}]}},{{"site":[0,0,0],"engine":"compute","ops":[{3}]}},
{{"site":[0,0,0],"engine":"store","ops":[{4}]}}]}})",
                  ops, 16 * tiles, load, compute, store);
  auto program = ir::parse_program(json, "pipeline");
  SPATIALCERT_REQUIRE(program.has_value(), "the pipeline is well-formed");
  return std::move(program.value());
}

ir::Program composed(std::int64_t ops) {
  // 48 ops of a section and its share of a rendezvous: 37 for four.
  const auto& sections = chained_sections(ops * 4 / 5);
  auto outcome = compose::compose_ordered(sections, compose::phases_of(sections));
  auto* made = std::get_if<compose::Composed>(&outcome);
  SPATIALCERT_REQUIRE(made != nullptr, "the sections are composed");
  return std::move(made->program);
}

/// Removes itself and what is in it.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("spatialcert-bench-{}", ::getpid());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

ir::Program make(Family family, std::uint64_t ops) {
  const auto wanted = static_cast<std::int64_t>(ops);
  switch (family) {
    case Family::ring:
      return ring(wanted);
    case Family::pipeline:
      return pipeline(wanted);
    case Family::composed:
      break;
  }
  return composed(wanted);
}

const Sample& sample(Family family, std::int64_t ops) {
  static const Folder folder;
  static std::map<std::pair<Family, std::int64_t>, std::unique_ptr<const Sample>> made;
  auto& slot = made[{family, ops}];
  if (slot == nullptr) {
    auto fresh = std::make_unique<Sample>();
    fresh->program = make(family, static_cast<std::uint64_t>(ops));
    fresh->path = (folder.path / fmt::format("{}-{}.json", static_cast<int>(family), ops)).string();
    const ir::Status failed = ir::write_program(fresh->program, fresh->path);
    SPATIALCERT_REQUIRE(!failed, "the sample is written");
    fresh->bytes = std::filesystem::file_size(fresh->path);
    slot = std::move(fresh);
  }
  return *slot;
}

}  // namespace spatialcert::bench
