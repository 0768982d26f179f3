// Counterexamples that are best seen on a map: of a memory, of the way of data, of slices.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "certify/views/markup.hpp"
#include "certify/views/scene.hpp"
#include "ir/sections.hpp"
#include "proofs/memory/layout.hpp"

namespace spatialcert::certify::views {
namespace {

using ir::io::JsonWriter;
using proofs::Counterexample;
using proofs::Kind;

constexpr std::size_t kMostBuffers = 120;
constexpr std::size_t kMostPathOps = 60;
constexpr std::size_t kMostParts = 128;
constexpr std::size_t kMostRanges = 64;
constexpr std::size_t kName = 160;

/// The buffers of one memory space of one site, and in which phases they live.
class MemoryMap {
 public:
  MemoryMap(const ir::Program& program, const Counterexample& c)
      : program_(program), c_(c), culprit_(program.buffers[c.buffers[0].value()]) {
    for (const proofs::memory::Occupancy& o : proofs::memory::occupancies(program)) {
      if (o.site != culprit_.site || o.space != culprit_.space) continue;
      for (const ir::BufferId b : o.buffers) phases_[b.value()].push_back(o.phase);
    }
  }

  /// Phases in which all buffers of the counterexample live.
  [[nodiscard]] std::set<std::uint32_t> shared_phases() const {
    std::set<std::uint32_t> shared;
    const auto first = phases_.find(c_.buffers[0].value());
    if (first == phases_.end()) return shared;
    for (const std::uint32_t phase : first->second) {
      const bool all = std::all_of(c_.buffers.begin(), c_.buffers.end(), [&](ir::BufferId b) {
        const auto of = phases_.find(b.value());
        return of != phases_.end() &&
               std::find(of->second.begin(), of->second.end(), phase) != of->second.end();
      });
      if (all) shared.insert(phase);
    }
    return shared;
  }

  void write(JsonWriter& json) const {
    const ir::MemorySpace& space = program_.target.spaces[culprit_.space.value()];
    json.key("memory").object(true);
    json.key("space").text(clipped(space.name, kName));
    json.key("site").text(site_text(program_, culprit_.site));
    json.key("bytes").natural(space.bytes);
    json.key("alignment").natural(space.alignment);
    json.key("phases").natural(ir::phases_of(program_).count);
    const std::vector<std::uint32_t> shown = chosen();
    json.key("buffers").array();
    for (const std::uint32_t b : shown) write_buffer(b, json);
    json.close();
    json.key("left").natural(all().size() - shown.size());
    write_mark(json);
    json.close();
  }

 private:
  [[nodiscard]] bool is_culprit(std::uint32_t b) const {
    return std::find(c_.buffers.begin(), c_.buffers.end(), ir::BufferId(b)) != c_.buffers.end();
  }
  /// With the culprits, whatever they are.
  [[nodiscard]] std::set<std::uint32_t> all() const {
    std::set<std::uint32_t> out;
    for (const auto& [b, phases] : phases_) out.insert(b);
    for (const ir::BufferId b : c_.buffers) out.insert(b.value());
    return out;
  }
  /// The culprits and what is nearest to them: in time, then by address.
  [[nodiscard]] std::vector<std::uint32_t> chosen() const {
    const std::set<std::uint32_t> every = all();
    std::vector<std::uint32_t> out(every.begin(), every.end());
    const std::set<std::uint32_t> shared = shared_phases();
    const auto rank = [&](std::uint32_t b) {
      const auto lives = phases_.find(b);
      const bool meets = lives != phases_.end() &&
                         std::any_of(lives->second.begin(), lives->second.end(),
                                     [&](std::uint32_t phase) { return shared.contains(phase); });
      const std::uint64_t at = program_.buffers[b].address, middle = culprit_.address;
      const int group = is_culprit(b) ? 0 : meets ? 1 : 2;
      return std::pair{group, at > middle ? at - middle : middle - at};
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    if (out.size() > kMostBuffers) out.resize(kMostBuffers);
    std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      return program_.buffers[a].address < program_.buffers[b].address;
    });
    return out;
  }

  [[nodiscard]] std::string life_text(const ir::Buffer& buffer) const {
    if (buffer.lifetime == ir::Lifetime::section) return "while its sections run";
    if (!buffer.resident_from.valid() || !buffer.resident_to.valid()) return "resident";
    return fmt::format("resident from section {} to {}",
                       program_.sections[buffer.resident_from.value()].name,
                       program_.sections[buffer.resident_to.value()].name);
  }

  void write_buffer(std::uint32_t b, JsonWriter& json) const {
    const ir::Buffer& buffer = program_.buffers[b];
    json.object();
    json.key("name").text(clipped(buffer.name, kName));
    json.key("kind").text(to_string(buffer.kind));
    json.key("low").natural(buffer.address);
    json.key("high").natural(buffer.address + buffer.bytes());
    json.key("culprit").boolean(is_culprit(b));
    json.key("life").text(clipped(life_text(buffer), 2 * kName));
    json.key("source").text(clipped(source_text(program_, buffer.location), kName));
    json.key("phases").array();
    const auto lives = phases_.find(b);
    if (lives != phases_.end()) write_runs(lives->second, json);
    json.close();
    json.close();
  }
  /// Phases as runs [first, last].
  static void write_runs(const std::vector<std::uint32_t>& phases, JsonWriter& json) {
    for (std::size_t i = 0; i < phases.size();) {
      std::size_t end = i + 1;
      while (end < phases.size() && phases[end] == phases[end - 1] + 1) ++end;
      json.array().natural(phases[i]).natural(phases[end - 1]).close();
      i = end;
    }
  }

  void write_mark(JsonWriter& json) const {
    const std::uint64_t end = culprit_.address + culprit_.bytes();
    std::uint64_t low = culprit_.address, high = end;
    std::string text = fmt::format("begins at {}, which is no multiple of {}", culprit_.address,
                                   program_.target.spaces[culprit_.space.value()].alignment);
    if (c_.kind == Kind::out_of_memory) {
      low = std::max(program_.target.spaces[culprit_.space.value()].bytes, culprit_.address);
      text = fmt::format("{} past the end of the space",
                         count_text(static_cast<std::int64_t>(end - low), "byte"));
    } else if (c_.kind == Kind::overlap && c_.buffers.size() > 1) {
      const ir::Buffer& other = program_.buffers[c_.buffers[1].value()];
      low = std::max(low, other.address);
      high = std::max(low, std::min(high, other.address + other.bytes()));
      text = fmt::format("{} in both buffers",
                         count_text(static_cast<std::int64_t>(high - low), "byte"));
    }
    json.key("mark").object();
    json.key("low").natural(low).key("high").natural(high).key("text").text(text);
    json.close();
  }

  const ir::Program& program_;
  const Counterexample& c_;
  const ir::Buffer& culprit_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> phases_;  ///< buffer -> in order
};

/// Where a region is: on the spine, at a chip, or in a memory of a site.
std::string home_text(const ir::Program& program, const ir::Region& region) {
  if (region.kind == ir::RegionKind::tensor) {
    const ir::Tensor& tensor = program.tensors[region.object];
    return tensor.owner ? fmt::format("chip {}", *tensor.owner) : "spine";
  }
  return site_text(program, program.buffers[region.object].site);
}

void write_path_op(const OpNames& names, const std::vector<proofs::AccessRef>& accesses,
                   JsonWriter& json) {
  const ir::Program& program = names.program();
  const ir::TransitionId t = accesses.front().transition;
  const std::uint32_t op = names.unrolled().op[t.value()];
  json.object();
  json.key("t").natural(t.value());
  json.key("engine").text(names.engine(t));
  json.key("op").text(clipped(names.op(t), 2 * kName));
  json.key("part").text(clipped(part_text(program, names.program_of(t), op), kName));
  json.key("source").text(clipped(source_text(program, names.op_of(t).location), kName));
  json.key("accesses").array();
  for (const proofs::AccessRef& ref : accesses) {
    const ir::Access& access = program.accesses[ref.access];
    json.object();
    json.key("write").boolean(access.write);
    json.key("region").text(clipped(region_text(program, access.region), kName));
    json.key("home").text(home_text(program, access.region));
    json.close();
  }
  json.close().close();
}

void write_slice(const ir::Program& program, const ir::SlicedTensor& sliced, std::uint32_t part,
                 bool culprit, JsonWriter& json) {
  const ir::Slice& slice = sliced.slices[part];
  const ir::Tensor& tensor = program.tensors[slice.tensor.value()];
  json.object();
  json.key("part").natural(part);
  json.key("tensor").text(clipped(tensor.name, kName));
  json.key("chip").natural(tensor.owner.value_or(0));
  json.key("culprit").boolean(culprit);
  json.key("source").text(clipped(source_text(program, tensor.location), kName));
  json.key("ranges").array();
  for (std::size_t i = 0; i < slice.ranges.size() && i < kMostRanges; ++i) {
    json.array().natural(slice.ranges[i].begin).natural(slice.ranges[i].end).close();
  }
  json.close();
  json.key("left").natural(slice.ranges.size() - std::min(slice.ranges.size(), kMostRanges));
  json.close();
}

void write_sliced(const ir::Program& program, std::uint32_t id, const Counterexample& c,
                  JsonWriter& json) {
  const ir::SlicedTensor& sliced = program.sliced[id];
  std::set<std::uint32_t> culprits;
  for (const proofs::SliceRef& ref : c.slices) {
    if (ref.sliced == id) culprits.insert(ref.part);
  }
  json.object();
  json.key("name").text(clipped(sliced.name, kName));
  json.key("rows").natural(sliced.rows).key("cols").natural(sliced.cols);
  json.key("axis").text(to_string(sliced.axis));
  json.key("length").natural(sliced.axis == ir::Axis::rows ? sliced.rows : sliced.cols);
  json.key("dimension").text(clipped(sliced.dimension, kName));
  json.key("copies").natural(sliced.copies);
  json.key("parts").array();
  std::size_t written = 0;
  for (std::uint32_t part = 0; part < sliced.slices.size(); ++part) {
    const bool culprit = culprits.contains(part);
    if (!culprit && written >= kMostParts) continue;
    ++written;
    write_slice(program, sliced, part, culprit, json);
  }
  json.close();
  json.key("left").natural(sliced.slices.size() - written);
  json.close();
}

}  // namespace

void write_memory(const ir::Program& program, const Counterexample& c,
                  std::set<std::uint32_t>& culprits, JsonWriter& json) {
  if (c.buffers.empty()) return;
  const MemoryMap map(program, c);
  const std::set<std::uint32_t> shared = map.shared_phases();
  const ir::Phases phases = ir::phases_of(program);
  for (std::uint32_t s = 0; s < phases.in_order.size(); ++s) {
    if (shared.contains(phases.in_order[s])) culprits.insert(s);
  }
  map.write(json);
}

void write_path(const OpNames& names, const Counterexample& c, JsonWriter& json) {
  std::vector<std::vector<proofs::AccessRef>> ops;
  for (const proofs::AccessRef& ref : c.accesses) {
    if (ops.empty() || ops.back().front().transition != ref.transition) ops.emplace_back();
    ops.back().push_back(ref);
  }
  if (ops.empty()) return;
  json.key("path").object(true);
  json.key("ops").array();
  const bool cut = ops.size() > kMostPathOps;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (cut && i == kMostPathOps / 2) i = ops.size() - kMostPathOps / 2;
    write_path_op(names, ops[i], json);
  }
  json.close();
  json.key("left").natural(cut ? ops.size() - kMostPathOps : 0);
  json.key("cut").natural(kMostPathOps / 2);
  json.key("end").text(c.range ? clipped(ir::describe(names.program(), c.range->storage,
                                                      c.range->low, c.range->high),
                                         2 * kName)
                               : std::string());
  json.key("chips").array();
  for (const proofs::TermDifference& term : c.terms) {
    json.array().text(clipped(term.source, kName)).integer(term.found).integer(term.expected);
    json.close();
  }
  json.close().close();
}

void write_terms(const Counterexample& c, JsonWriter& json) {
  if (c.terms.empty()) return;
  const std::size_t shown = std::min(c.terms.size(), kMostParts);
  json.key("terms").object(true);
  json.key("list").array();
  for (std::size_t i = 0; i < shown; ++i) {
    const proofs::TermDifference& term = c.terms[i];
    json.array().text(clipped(term.source, kName)).integer(term.found).integer(term.expected);
    json.close();
  }
  json.close();
  json.key("left").natural(c.terms.size() - shown);
  json.close();
}

void write_slices(const ir::Program& program, const Counterexample& c, JsonWriter& json) {
  if (c.slices.empty()) return;
  std::vector<std::uint32_t> fulls;
  for (const proofs::SliceRef& ref : c.slices) {
    if (std::find(fulls.begin(), fulls.end(), ref.sliced) == fulls.end())
      fulls.push_back(ref.sliced);
  }
  json.key("slices").object(true);
  json.key("index").integer(c.value);
  json.key("wanted").integer(c.limit);
  json.key("tensors").array();
  for (const std::uint32_t id : fulls) write_sliced(program, id, c, json);
  json.close().close();
}

}  // namespace spatialcert::certify::views
