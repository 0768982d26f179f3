#include "ir/accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
/// Visits of segments by accesses, and intervals, up to which a program is analysed.
constexpr std::uint64_t kWorkLimit = 200'000'000;

struct Interval {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Flat element index of the first element of `tensor` in the base of all its views.
std::pair<std::uint32_t, std::uint64_t> tensor_base(const Program& program, std::uint32_t tensor) {
  std::uint64_t offset = 0;
  while (program.tensors[tensor].view) {
    offset += program.tensors[tensor].view->offset;
    tensor = program.tensors[tensor].view->base.value();
  }
  return {tensor, offset};
}

/// Rows [r0, r1) x columns [c0, c1) as flat intervals: one if the rows are whole.
void append_rows(const Tensor& tensor, std::uint64_t offset, const std::uint64_t b[4],
                 std::vector<Interval>& out) {
  if (b[2] == 0 && b[3] == tensor.cols) {
    out.push_back({offset + b[0] * tensor.cols, offset + b[1] * tensor.cols});
    return;
  }
  for (std::uint64_t r = b[0]; r < b[1]; ++r) {
    out.push_back({offset + r * tensor.cols + b[2], offset + r * tensor.cols + b[3]});
  }
}

/// Gives every object its storage.
void number_storages(const Program& program, AccessMap& out) {
  const auto add = [&](const Storage& storage) {
    out.storages.push_back(storage);
    return static_cast<std::uint32_t>(out.storages.size() - 1);
  };
  out.storage_of_tensor.assign(program.tensors.size(), kNone);
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
    const std::uint32_t base = tensor_base(program, t).first;
    std::uint32_t& storage = out.storage_of_tensor[base];
    if (storage == kNone) storage = add({Storage::Kind::tensor, {}, {}, base});
    out.storage_of_tensor[t] = storage;
  }
  std::map<std::tuple<Site, std::uint32_t>, std::uint32_t> memory;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.kind == BufferKind::fifo) {
      out.storage_of_buffer.push_back(add({Storage::Kind::fifo, {}, {}, b}));
      continue;
    }
    const auto [at, fresh] = memory.emplace(std::tuple(buffer.site, buffer.space.value()), 0U);
    if (fresh) at->second = add({Storage::Kind::memory, buffer.site, buffer.space, 0});
    out.storage_of_buffer.push_back(at->second);
  }
}

class Resolver {
 public:
  Resolver(const Program& program, const Unrolled& unrolled, AccessMap& out)
      : program_(program),
        unrolled_(unrolled),
        out_(out),
        pushed_(program.buffers.size(), 0),
        popped_(program.buffers.size(), 0) {}

  void resolve() {
    number_storages(program_, out_);
    for (std::uint32_t t = 0; t < unrolled_.transitions() && !out_.limit; ++t) {
      const Op& op = unrolled_.op_of(program_, TransitionId(t));
      if (op.code == OpCode::push) pushed_[op.object] += static_cast<std::uint64_t>(op.count);
      if (op.code == OpCode::pop) popped_[op.object] += static_cast<std::uint64_t>(op.count);
      for (std::uint32_t a = 0; a < op.accesses; ++a) access(TransitionId(t), op.first_access + a);
    }
    if (!out_.limit) initial();
    if (!out_.limit) cut();
  }

 private:
  void access(TransitionId t, std::uint32_t index) {
    const Access& access = program_.accesses[index];
    intervals_.clear();
    const std::uint32_t storage = intervals(t, index, access);
    if (storage == kNone) return;
    for (const Interval& i : intervals_) {
      out_.accesses.push_back({t, index, storage, i.low, i.high, 0, 0, access.write});
    }
    if (out_.accesses.size() > kWorkLimit / 4) out_.limit = true;
  }

  std::uint32_t intervals(TransitionId t, std::uint32_t index, const Access& access) {
    const Region& region = access.region;
    const bool tensor = region.kind == RegionKind::tensor;
    std::uint64_t b[4] = {0, 0, 0, 0};
    for (int half = 0; half < (tensor ? 2 : 1); ++half) {
      const std::uint64_t size = extent(region, half);
      const auto low =
          bound_value(program_, unrolled_, region, unrolled_.context[t.value()], 2 * half);
      const auto high =
          bound_value(program_, unrolled_, region, unrolled_.context[t.value()], 2 * half + 1);
      if (!low || !high || *low < 0 || *high <= *low || static_cast<std::uint64_t>(*high) > size) {
        out_.faults.push_back({t, index, low.value_or(-1), high.value_or(-1), size});
        return kNone;
      }
      b[2 * half] = static_cast<std::uint64_t>(*low);
      b[2 * half + 1] = static_cast<std::uint64_t>(*high);
    }
    if (tensor) {
      if (b[1] - b[0] > kWorkLimit / 4) {
        out_.limit = true;
        return kNone;
      }
      const auto [base, offset] = tensor_base(program_, region.object);
      append_rows(program_.tensors[region.object], offset, b, intervals_);
      return out_.storage_of_tensor[base];
    }
    std::uint64_t start = program_.buffers[region.object].address;
    if (region.kind == RegionKind::page) {
      const std::uint64_t passed = (access.write ? pushed_ : popped_)[region.object] + region.page;
      if (__builtin_mul_overflow(passed, program_.buffers[region.object].page_bytes, &start) ||
          start > (std::uint64_t{1} << 62)) {
        out_.limit = true;
        return kNone;
      }
    }
    intervals_.push_back({start + b[0], start + b[1]});
    return out_.storage_of_buffer[region.object];
  }

  [[nodiscard]] std::uint64_t extent(const Region& region, int half) const {
    switch (region.kind) {
      case RegionKind::tensor: {
        const Tensor& tensor = program_.tensors[region.object];
        return half == 0 ? tensor.rows : tensor.cols;
      }
      case RegionKind::bytes:
        return program_.buffers[region.object].bytes();
      case RegionKind::page:
        return program_.buffers[region.object].page_bytes;
    }
    require_failed("region kind", "enumerator out of range", __FILE__, __LINE__);
  }

  /// Regions that hold something before the first op.
  void initial() {
    for (std::uint32_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& tensor = program_.tensors[i];
      if (tensor.init == Init::undefined) continue;
      const auto [base, offset] = tensor_base(program_, i);
      inits_.push_back(
          {out_.storage_of_tensor[base], offset, offset + tensor.rows * tensor.cols, tensor.init});
    }
    for (std::uint32_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.init == Init::undefined) continue;
      inits_.push_back({out_.storage_of_buffer[i], buffer.address, buffer.address + buffer.bytes(),
                        buffer.init});
    }
  }

  void cut() {
    std::vector<std::vector<std::uint64_t>> cuts(out_.storages.size());
    for (const ResolvedAccess& a : out_.accesses) {
      cuts[a.storage].push_back(a.low);
      cuts[a.storage].push_back(a.high);
    }
    for (const Segment& s : inits_) {
      cuts[s.storage].push_back(s.low);
      cuts[s.storage].push_back(s.high);
    }
    std::vector<std::uint32_t> first(out_.storages.size() + 1, 0);
    for (std::uint32_t s = 0; s < cuts.size(); ++s) {
      auto& c = cuts[s];
      std::sort(c.begin(), c.end());
      c.erase(std::unique(c.begin(), c.end()), c.end());
      first[s] = static_cast<std::uint32_t>(out_.segments.size());
      for (std::size_t i = 0; i + 1 < c.size(); ++i)
        out_.segments.push_back({s, c[i], c[i + 1], Init::undefined});
    }
    const auto number = [&](std::uint32_t s, std::uint64_t at) {
      const auto& c = cuts[s];
      return first[s] +
             static_cast<std::uint32_t>(std::lower_bound(c.begin(), c.end(), at) - c.begin());
    };
    std::uint64_t visits = 0;
    for (ResolvedAccess& a : out_.accesses) {
      a.first_segment = number(a.storage, a.low);
      a.last_segment = number(a.storage, a.high);
      visits += a.last_segment - a.first_segment;
    }
    if (visits > kWorkLimit) out_.limit = true;
    for (const Segment& s : inits_) {
      const std::uint32_t end = number(s.storage, s.high);
      for (std::uint32_t i = number(s.storage, s.low); i < end; ++i) out_.segments[i].init = s.init;
    }
  }

  const Program& program_;
  const Unrolled& unrolled_;
  AccessMap& out_;
  std::vector<std::uint64_t> pushed_, popped_;
  std::vector<Interval> intervals_;
  std::vector<Segment> inits_;
};

}  // namespace

AccessMap resolve_accesses(const Program& program, const Unrolled& unrolled) {
  AccessMap out;
  Resolver(program, unrolled, out).resolve();
  return out;
}

std::vector<AccessMap::Position> AccessMap::locate(const Program& program,
                                                   const Region& region) const {
  std::vector<Interval> intervals;
  std::uint32_t storage = kNone;
  const auto bound = [&](int i) { return static_cast<std::uint64_t>(region.bound[i]); };
  if (region.kind == RegionKind::tensor) {
    const std::uint64_t b[4] = {bound(0), bound(1), bound(2), bound(3)};
    append_rows(program.tensors[region.object], tensor_base(program, region.object).second, b,
                intervals);
    storage = storage_of_tensor[region.object];
  } else {
    SPATIALCERT_REQUIRE(region.kind == RegionKind::bytes,
                        "postconditions do not speak of FIFO pages");
    const std::uint64_t address = program.buffers[region.object].address;
    intervals.push_back({address + bound(0), address + bound(1)});
    storage = storage_of_buffer[region.object];
  }
  std::vector<Position> out;
  for (const Interval& i : intervals) out.push_back({storage, i.low, i.high});
  return out;
}

std::uint32_t AccessMap::segment_at(std::uint32_t storage, std::uint64_t at) const {
  const auto found = std::partition_point(segments.begin(), segments.end(), [&](const Segment& s) {
    return s.storage < storage || (s.storage == storage && s.high <= at);
  });
  if (found == segments.end() || found->storage != storage || found->low > at) return kNone;
  return static_cast<std::uint32_t>(found - segments.begin());
}

std::string describe(const Program& program, const Storage& storage, std::uint64_t low,
                     std::uint64_t high) {
  switch (storage.kind) {
    case Storage::Kind::tensor:
      return fmt::format("tensor {} elements [{}, {})", program.tensors[storage.object].name, low,
                         high);
    case Storage::Kind::fifo: {
      const Buffer& fifo = program.buffers[storage.object];
      const std::uint64_t page = low / fifo.page_bytes;
      return fmt::format("fifo {} page {} bytes [{}, {})", fifo.name, page,
                         low - page * fifo.page_bytes, high - page * fifo.page_bytes);
    }
    case Storage::Kind::memory:
      break;
  }
  // The last declared buffer that holds the range, views before their bases: the name the op used.
  std::string name;
  for (const Buffer& b : program.buffers) {
    if (b.kind == BufferKind::fifo || b.site != storage.site || b.space != storage.space) continue;
    if (b.address > low || high > b.address + b.bytes()) continue;
    if (!name.empty()) name += " = ";
    name += fmt::format("{} [{}, {})", b.name, low - b.address, high - b.address);
  }
  const auto space = program.target.spaces[storage.space.value()].name;
  if (name.empty()) name = fmt::format("{} [{}, {})", space, low, high);
  return "bytes " + name;
}

}  // namespace spatialcert::ir
