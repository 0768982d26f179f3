#include "bench/shapes.hpp"

#include <fmt/format.h>

#include <iterator>
#include <variant>
#include <vector>

#include "compose/composition/composer.hpp"
#include "compose/sections/sections.hpp"
#include "ir/require.hpp"

namespace spatialcert::bench {
namespace {

// ---- loops --------------------------------------------------------------------------------------

/// Loops of these counts, the outermost first, around `ops`.
std::string loops(const std::vector<std::uint64_t>& counts, std::string ops) {
  for (auto count = counts.rbegin(); count != counts.rend(); ++count)
    ops = fmt::format(R"({{"repeat":{},"ops":[{}]}})", *count, ops);
  return ops;
}

std::string on_engine(const char* engine, const std::string& ops) {
  return fmt::format(R"({{"site":[0,0,0],"engine":"{}","ops":[{}]}})", engine, ops);
}

/// Tensors x and y of `rows` rows of 128 bytes, FIFOs a and b of pages of one row.
std::string with_two_fifos(const std::string& name, std::uint64_t rows,
                           const std::string& programs) {
  return fmt::format(
      R"({{"format":"spatialcert-program","version":1,"name":"{0}",
"target":{{"name":"tile","spaces":[{{"name":"sram","bytes":65536,"alignment":64}}]}},
"tensors":[{{"name":"x","role":"input","rows":{1},"cols":32,"dtype":"f32","init":"external"}},
{{"name":"y","role":"output","rows":{1},"cols":32,"dtype":"f32"}}],
"buffers":[{{"name":"a","kind":"fifo","site":[0,0,0],"space":"sram","address":0,"page_bytes":128,"pages":4}},
{{"name":"b","kind":"fifo","site":[0,0,0],"space":"sram","address":512,"page_bytes":128,"pages":4}}],
"stages":[{{"name":"load_x","kind":"load"}},{{"name":"double_x","kind":"compute","op":"scale","scale":2}},{{"name":"store_y","kind":"store"}}],
"sections":[{{"name":"double"}}],
"result_unspecified":true,
"programs":[{2}]}})",
      name, rows, programs);
}

/// The section, every engine in these loops; `row` is the row of a turn, `next` the one behind it.
std::string section(const std::string& name, const std::vector<std::uint64_t>& counts,
                    const std::string& row, const std::string& next) {
  std::uint64_t turns = 1;
  for (const std::uint64_t count : counts) turns *= count;
  const std::string load = fmt::format(
      R"({{"reserve":"a"}},{{"run":"load_x","reads":[{{"tensor":"x","rows":[{},{}]}}],"writes":[{{"fifo":"a"}}]}},{{"push":"a"}})",
      row, next);
  const std::string compute =
      R"({"front":"a"},{"reserve":"b"},{"run":"double_x","reads":[{"fifo":"a"}],"writes":[{"fifo":"b"}]},{"push":"b"},{"pop":"a"})";
  const std::string store = fmt::format(
      R"({{"front":"b"}},{{"run":"store_y","reads":[{{"fifo":"b"}}],"writes":[{{"tensor":"y","rows":[{},{}]}}]}},{{"pop":"b"}})",
      row, next);
  return with_two_fifos(name, turns,
                        on_engine("load", loops(counts, load)) + ",\n" +
                            on_engine("compute", loops(counts, compute)) + ",\n" +
                            on_engine("store", loops(counts, store)));
}

// ---- workers ------------------------------------------------------------------------------------

/// One turn of worker `w` of `n`.
std::string turn_of_worker(std::uint64_t w, std::uint64_t n) {
  const bool first = w == 0, last = w + 1 == n;
  std::string ops;
  if (!first) ops += fmt::format(R"({{"wait":"full{}"}},)", w);
  if (!last) ops += fmt::format(R"({{"wait":"empty{}"}},)", w);
  ops += fmt::format(
      R"({{"run":"work","reads":[{}],"writes":[{}]}})",
      first ? std::string(R"({"tensor":"x"})") : fmt::format(R"({{"buffer":"b{}"}})", w),
      last ? std::string(R"({"tensor":"y"})") : fmt::format(R"({{"buffer":"b{}"}})", w + 1));
  if (!last) ops += fmt::format(R"(,{{"post":"full{}"}})", w + 1);
  if (!first) ops += fmt::format(R"(,{{"post":"empty{}"}})", w - 1);
  return ops;
}

}  // namespace

std::string turns_of_section(std::uint64_t turns) {
  return section(fmt::format("section, {} turns", turns), {turns}, R"({"i0":1})",
                 R"({"const":1,"i0":1})");
}

std::string turns_of_nest(std::uint64_t turns) {
  std::vector<std::uint64_t> counts{1, 1};
  for (bool outer = false; counts[0] * counts[1] < turns; outer = !outer)
    counts[outer ? 0 : 1] *= 10;
  return section(fmt::format("nest, {} turns", turns), counts,
                 fmt::format(R"({{"i0":{},"i1":1}})", counts[1]),
                 fmt::format(R"({{"const":1,"i0":{},"i1":1}})", counts[1]));
}

std::string turns_of_unequal_rates(std::uint64_t turns) {
  const std::string producer = loops(
      {turns},
      R"({"reserve":"a","n":2},{"run":"load_x","reads":[{"tensor":"x","rows":[{"i0":2},{"const":2,"i0":2}]}],"writes":[{"fifo":"a","page":0},{"fifo":"a","page":1}]},{"push":"a","n":2})");
  const std::string consumer = loops(
      {2 * turns},
      R"({"front":"a"},{"run":"store_y","reads":[{"fifo":"a"}],"writes":[{"tensor":"y","rows":[{"i0":1},{"const":1,"i0":1}]}]},{"pop":"a"})");
  return with_two_fifos(fmt::format("unequal rates, {} turns", turns), 2 * turns,
                        on_engine("load", producer) + ",\n" + on_engine("store", consumer));
}

std::string workers(std::uint64_t workers, std::uint64_t turns, Written written) {
  SPATIALCERT_REQUIRE(workers >= 2, "a chain has two workers at least");
  std::string engines, buffers, semaphores, programs;
  const auto out = [](std::string& text) { return std::back_inserter(text); };
  for (std::uint64_t w = 0; w < workers; ++w) {
    const char* comma = w == 0 ? "" : ",\n";
    fmt::format_to(out(engines), R"({}"w{}")", comma, w);
    fmt::format_to(out(programs), R"({}{{"site":[0,0,0],"engine":"w{}","ops":[)", comma, w);
    const std::string turn = turn_of_worker(w, workers);
    if (written == Written::as_loop) programs += loops({turns}, turn);
    for (std::uint64_t t = 0; written == Written::as_text && t < turns; ++t)
      programs += (t == 0 ? "" : ",") + turn;
    programs += "]}";
    if (w == 0) continue;
    comma = w == 1 ? "" : ",\n";
    fmt::format_to(
        out(buffers),
        R"({}{{"name":"b{}","kind":"scratch","site":[0,0,0],"space":"sram","address":{},"page_bytes":64,"pages":1}})",
        comma, w, 64 * w);
    fmt::format_to(
        out(semaphores),
        R"({0}{{"name":"full{1}","site":[0,0,0],"maximum":1}},{{"name":"empty{2}","site":[0,0,0],"initial":1,"maximum":1}})",
        comma, w, w - 1);
  }
  return fmt::format(
      R"({{"format":"spatialcert-program","version":1,"name":"{0} workers, {1} turns",
"target":{{"name":"chain","engines":[{2}],"spaces":[{{"name":"sram","bytes":{3},"alignment":64}}],
"semaphores":{{"per_site":{4},"maximum":1}}}},
"tensors":[{{"name":"x","role":"input","rows":1,"cols":16,"dtype":"f32","init":"external"}},
{{"name":"y","role":"output","rows":1,"cols":16,"dtype":"f32"}}],
"buffers":[{5}],
"semaphores":[{6}],
"stages":[{{"name":"work","kind":"compute","op":"copy"}}],
"sections":[{{"name":"chain"}}],
"result_unspecified":true,
"programs":[{7}]}})",
      workers, turns, engines, 64 * workers, 2 * workers, buffers, semaphores, programs);
}

ir::Program chain_of_sections(std::uint32_t sections) {
  std::vector<ir::Program> made;
  for (std::uint32_t s = 0; s < sections; ++s) {
    compose::SectionDescription d;
    d.name = fmt::format("s{}", s);
    d.target.name = "two sites";
    d.target.mesh_width = 2;
    d.target.engines = {"load", "compute", "store"};
    d.target.spaces = {{"sram", 65536, 64}};
    d.target.semaphores_per_site = 8;
    d.target.semaphore_maximum = 1'000;
    d.sites = {{0, 0, 0}, {0, 1, 0}};
    const std::string from = fmt::format("t{}", s), to = fmt::format("t{}", s + 1);
    d.tensors = {{from, 4, 16}, {to, 4, 16}};
    d.work = compose::sections::Elementwise{
        compose::sections::scale(compose::sections::tensor(from), 2), to};
    d.tile = {1, 16, 1};
    auto section = compose::build_section(d);
    SPATIALCERT_REQUIRE(section.has_value(), "a section of this shape is built");
    made.push_back(std::move(section.value()));
  }
  compose::ComposeOptions options;
  options.drop_lost_postconditions = true;
  std::vector<bool> closed(sections, true);
  closed.back() = false;
  auto outcome = compose::compose_phased(made, closed, {}, options);
  auto* composed = std::get_if<compose::Composed>(&outcome);
  SPATIALCERT_REQUIRE(composed != nullptr, "the sections are composed");
  return std::move(composed->program);
}

}  // namespace spatialcert::bench
