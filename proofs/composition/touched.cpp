#include "proofs/composition/touched.hpp"

#include <algorithm>
#include <utility>

namespace spatialcert::proofs::composition {
namespace {

constexpr std::uint64_t kMostIntervals = 4'000'000;

/// What one bound pair of a region covers over all trips.
struct Extent {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool whole = false;               ///< without a gap
  std::vector<std::uint32_t> with;  ///< loops that it moves with
};

bool add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

/// Do steps of these sizes, taken so often, leave no gap between pieces of `length`?
bool gapless(std::vector<std::pair<std::uint64_t, std::uint64_t>> steps, std::uint64_t length) {
  std::sort(steps.begin(), steps.end());
  for (const auto& [size, times] : steps) {
    std::uint64_t more = 0;
    if (size > length || __builtin_mul_overflow(size, times, &more) ||
        __builtin_add_overflow(length, more, &length))
      return false;
  }
  return true;
}

void normalise(Intervals& all) {
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.low < b.low; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].low <= all[last].high) {
      all[last].high = std::max(all[last].high, all[i].high);
    } else {
      all[++last] = all[i];
    }
  }
  if (!all.empty()) all.resize(last + 1);
}

class Collector {
 public:
  Collector(const ir::Program& program, const Excerpt& excerpt)
      : program_(program),
        excerpt_(excerpt),
        of_tensor_(excerpt.tensors.size(), kNone),
        of_buffer_(excerpt.buffers.size(), kNone) {}

  std::optional<std::vector<Touched>> run() {
    for (std::size_t p = 0; p + 1 < excerpt_.begin.size(); ++p) {
      if (!walk(excerpt_.begin[p], excerpt_.begin[p + 1])) return std::nullopt;
    }
    for (Touched& one : out_) {
      normalise(one.reads);
      normalise(one.writes);
      normalise(one.fills);
    }
    return std::move(out_);
  }

 private:
  bool walk(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end;) {
      const ir::Op& op = excerpt_.ops[i];
      for (std::uint32_t a = 0; a < op.accesses; ++a) {
        if (!add(excerpt_.accesses[op.first_access + a])) return false;
      }
      ++i;
      if (op.code != ir::OpCode::repeat) continue;
      trips_.push_back(op.count);
      if (!walk(i, i + op.body)) return false;
      trips_.pop_back();
      i += op.body;
    }
    return true;
  }

  bool add(const ir::Access& access) {
    const ir::Region& region = access.region;
    if (region.kind == ir::RegionKind::page) return true;
    const bool tensor = region.kind == ir::RegionKind::tensor;
    if (!tensor && !is_resident(program_, excerpt_.buffers[region.object])) return true;
    const auto first = extent(region, 0);
    const auto second = tensor ? extent(region, 1) : std::optional<Extent>(Extent{});
    if (!first || !second) return false;
    const bool apart = std::none_of(first->with.begin(), first->with.end(), [&](std::uint32_t l) {
      return std::find(second->with.begin(), second->with.end(), l) != second->with.end();
    });
    fresh_.clear();
    Touched& to =
        tensor ? of_tensor(region.object, *first, *second) : of_buffer(region.object, *first);
    if (fresh_.empty()) return false;
    count_ += fresh_.size();
    if (count_ > kMostIntervals) return false;
    append(access.write ? to.writes : to.reads);
    if (access.write && apart && first->whole && (!tensor || second->whole)) append(to.fills);
    return true;
  }

  /// Unrolled text says the same thing again and again.
  void append(Intervals& to) const {
    if (fresh_.size() == 1 && !to.empty() && to.back().low == fresh_[0].low &&
        to.back().high == fresh_[0].high)
      return;
    to.insert(to.end(), fresh_.begin(), fresh_.end());
  }

  [[nodiscard]] std::optional<Extent> extent(const ir::Region& region, int half) const {
    Extent out;
    out.low = region.bound[2 * half];
    out.high = region.bound[2 * half + 1];
    const bool some = out.high > out.low;
    std::vector<std::int64_t> low(trips_.size(), 0), high(trips_.size(), 0);
    for (std::uint32_t t = 0; t < region.terms; ++t) {
      const ir::AffineTerm& term = excerpt_.terms[region.first_term + t];
      if (term.bound / 2 != half) continue;
      if (term.level >= trips_.size()) return std::nullopt;
      std::int64_t& sum = (term.bound % 2 == 0 ? low : high)[term.level];
      if (__builtin_add_overflow(sum, term.coefficient, &sum)) return std::nullopt;
    }
    const auto length = static_cast<std::uint64_t>(out.high) - static_cast<std::uint64_t>(out.low);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;
    for (std::uint32_t l = 0; l < trips_.size(); ++l) {
      const std::int64_t more = std::max<std::int64_t>(trips_[l], 1) - 1;
      if (low[l] != 0 || high[l] != 0) out.with.push_back(l);
      if (low[l] < 0 && !add_product(out.low, low[l], more)) return std::nullopt;
      if (high[l] > 0 && !add_product(out.high, high[l], more)) return std::nullopt;
      if (low[l] != 0 && more != 0) {
        const auto size = static_cast<std::uint64_t>(low[l]);
        steps.emplace_back(low[l] < 0 ? ~size + 1 : size, static_cast<std::uint64_t>(more));
      }
    }
    if (out.low < 0 || out.high <= out.low) return std::nullopt;
    out.whole = some && low == high && gapless(std::move(steps), length);
    return out;
  }

  Touched& entry(std::vector<std::uint32_t>& known, std::uint32_t object, bool tensor) {
    if (known[object] == kNone) {
      known[object] = static_cast<std::uint32_t>(out_.size());
      out_.push_back({tensor, object, {}, {}, {}});
    }
    return out_[known[object]];
  }

  /// Leaves `fresh_` empty if the rows or columns leave the tensor, or are too many.
  Touched& of_tensor(std::uint32_t own, const Extent& rows, const Extent& columns) {
    const ir::Tensor& tensor = program_.tensors[excerpt_.tensors[own]];
    std::uint64_t offset = 0;
    while (excerpt_.tensor_bases[own] != kNone) {
      offset += program_.tensors[excerpt_.tensors[own]].view->offset;
      own = excerpt_.tensor_bases[own];
    }
    Touched& to = entry(of_tensor_, own, true);
    const auto r0 = static_cast<std::uint64_t>(rows.low),
               r1 = static_cast<std::uint64_t>(rows.high);
    const auto c0 = static_cast<std::uint64_t>(columns.low);
    const auto c1 = static_cast<std::uint64_t>(columns.high);
    if (r1 > tensor.rows || c1 > tensor.cols) return to;
    if (c0 == 0 && c1 == tensor.cols) {
      fresh_.push_back({offset + r0 * tensor.cols, offset + r1 * tensor.cols});
      return to;
    }
    if (r1 - r0 > kMostIntervals) return to;
    for (std::uint64_t r = r0; r < r1; ++r)
      fresh_.push_back({offset + r * tensor.cols + c0, offset + r * tensor.cols + c1});
    return to;
  }

  Touched& of_buffer(std::uint32_t own, const Extent& bytes) {
    const ir::Buffer& buffer = program_.buffers[excerpt_.buffers[own]];
    while (excerpt_.buffer_bases[own] != kNone) own = excerpt_.buffer_bases[own];
    Touched& to = entry(of_buffer_, own, false);
    const std::uint64_t offset = buffer.address - program_.buffers[excerpt_.buffers[own]].address;
    const auto high = static_cast<std::uint64_t>(bytes.high);
    if (high <= buffer.bytes())
      fresh_.push_back({offset + static_cast<std::uint64_t>(bytes.low), offset + high});
    return to;
  }

  const ir::Program& program_;
  const Excerpt& excerpt_;
  std::vector<std::uint32_t> of_tensor_, of_buffer_;  ///< entry of `out_`, by own number
  std::vector<std::int64_t> trips_;                   ///< of the loops around, the outermost first
  Intervals fresh_;
  std::uint64_t count_ = 0;
  std::vector<Touched> out_;
};

}  // namespace

std::optional<std::vector<Touched>> touched(const ir::Program& program, const Excerpt& excerpt) {
  return Collector(program, excerpt).run();
}

}  // namespace spatialcert::proofs::composition
