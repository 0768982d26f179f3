#include "tests/oracle/generator.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/require.hpp"
#include "ir/validate.hpp"
#include "tests/oracle/maker.hpp"
#include "tests/oracle/values.hpp"

namespace spatialcert::tests {
namespace {

/// Op instances of one iteration, beyond which a program is not small.
constexpr std::uint32_t kMostInstances = 64;
constexpr std::uint32_t kMostOfPersistent = 40;

ir::Region row_region(std::uint32_t tensor, std::int64_t row) {
  ir::Region region;
  region.kind = ir::RegionKind::tensor;
  region.object = tensor;
  region.bound[0] = row;
  region.bound[1] = row + 1;
  region.bound[3] = kCell;
  return region;
}

/// Rows of x that `value`'s element `column` of a row is the sum of, if it is one.
std::optional<std::vector<std::int64_t>> rows_of(
    const SymbolicValue& value, std::int64_t column,
    const std::map<std::uint32_t, std::int64_t>& elements) {
  if (!value.known || value.terms.empty()) return std::nullopt;
  std::vector<std::int64_t> rows;
  for (const auto& [atom, coefficient] : value.terms) {
    const auto element = elements.find(atom);
    if (element == elements.end() || element->second % kCell != column || coefficient < 1)
      return std::nullopt;
    rows.insert(rows.end(), static_cast<std::size_t>(coefficient), element->second / kCell);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

bool small(const ir::Program& program) {
  const auto unrolled = ir::unroll(program, 1, 10'000);
  if (!std::holds_alternative<ir::Unrolled>(unrolled)) return false;
  const auto n = std::get<ir::Unrolled>(unrolled).transitions();
  return n > 0 &&
         n <= (program.execution == ir::Execution::persistent ? kMostOfPersistent : kMostInstances);
}

std::optional<Sample> attempt(std::uint64_t seed, std::uint64_t variant) {
  Random first(seed * 1'000'003 + variant);
  Maker maker(first.below(0xffffffffU), first.chance(35));
  const std::uint32_t motifs = 1 + maker.random.below(maker.persistent() ? 2 : 3);
  for (std::uint32_t i = 0; i < motifs; ++i) {
    for (int tries = 0; tries < 8 && !append_motif(maker); ++tries) {
    }
  }
  Sample sample{seed, std::move(maker.sketch), {}, {}, maker.features, Fault::none};
  sample.program = assemble(sample.sketch);
  if (ir::validate(sample.program) || !small(sample.program)) return std::nullopt;
  if (sample.program.execution == ir::Execution::once && first.chance(60)) {
    add_postconditions(sample.sketch, first);
    if (!sample.sketch.frame.postconditions.empty()) {
      sample.features |= 1U << static_cast<unsigned>(Feature::postcondition);
    }
  }
  sample.undamaged = assemble(sample.sketch);
  if (first.chance(60)) {
    if (!damage(sample.sketch, first, sample.fault)) return std::nullopt;
    Fault second = Fault::none;
    sample.second_fault = first.chance(10) && damage(sample.sketch, first, second);
  }
  sample.program = assemble(sample.sketch);
  if (ir::validate(sample.program) || !small(sample.program)) return std::nullopt;
  return sample;
}

}  // namespace

void add_postconditions(Sketch& sketch, Random& random) {
  constexpr std::uint32_t kX = 0;
  constexpr std::uint32_t kY = 1;
  const ir::Program program = assemble(sketch);
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(program));
  const ir::TokenGame game(program, unrolled);
  MemoryModel model(program, unrolled);
  const auto played = ir::play_freely(game);
  if (!played.result.complete) return;
  const Contents contents = contents_after(game, model, played.schedule);
  std::map<std::uint32_t, std::int64_t> elements;
  for (std::int64_t r = 0; r < static_cast<std::int64_t>(program.tensors[kX].rows); ++r) {
    std::int64_t at = r * kCell;
    for (const std::uint32_t location : model.locate(row_region(kX, r))) elements[location] = at++;
  }
  for (std::int64_t r = 0; r < static_cast<std::int64_t>(program.tensors[kY].rows); ++r) {
    std::optional<std::vector<std::int64_t>> rows;
    std::int64_t column = 0;
    for (const std::uint32_t location : model.locate(row_region(kY, r))) {
      const auto found =
          location < contents.size() ? rows_of(contents[location], column, elements) : std::nullopt;
      if (column > 0 && found != rows) rows.reset();
      if (column++ == 0) rows = found;
      if (!rows) break;
    }
    if (!rows || random.chance(30)) continue;
    ir::Postcondition post;
    post.region = row_region(kY, r);
    for (const std::int64_t row : *rows) post.terms.push_back(row_region(kX, row));
    sketch.frame.postconditions.push_back(std::move(post));
  }
  sketch.frame.result_unspecified = sketch.frame.postconditions.empty();
}

Sample generate(std::uint64_t seed) {
  for (std::uint64_t variant = 0; variant < 1000; ++variant) {
    if (auto sample = attempt(seed, variant)) return std::move(*sample);
  }
  ir::require_failed("generate", "some variant validates", __FILE__, __LINE__);
}

std::string_view to_string(Feature feature) {
  constexpr std::string_view kNames[] = {
      "fifo",       "unequal fifo", "sliding window",    "guaranteed depth",
      "chain",      "semaphore",    "unequal semaphore", "double buffer",
      "gather",     "release",      "rendezvous",        "await",
      "mutex",      "loop",         "nested loop",       "initial value",
      "view",       "reused store", "two sites",         "two chips",
      "persistent", "postcondition"};
  return kNames[static_cast<std::size_t>(feature)];
}

std::string_view to_string(Fault fault) {
  constexpr std::string_view kNames[] = {
      "none",          "drop op",       "double op",     "swap ops",    "change count",
      "change region", "move address",  "lower maximum", "fewer pages", "change initial",
      "drop init",     "change result", "change edge",   "leave token"};
  return kNames[static_cast<std::size_t>(fault)];
}

}  // namespace spatialcert::tests
