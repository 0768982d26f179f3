#include "tests/oracle/memory_model.hpp"

#include <fmt/format.h>

namespace spatialcert::tests {
namespace {

/// Indices of the enclosing loops, outermost first.
std::vector<std::int64_t> loop_indices(const ir::Unrolled& unrolled, std::uint32_t context) {
  std::vector<std::int64_t> out(unrolled.contexts[context].depth);
  for (std::size_t level = out.size(); level > 0; --level) {
    out[level - 1] = unrolled.contexts[context].index;
    context = unrolled.contexts[context].parent;
  }
  return out;
}

std::int64_t evaluate(const ir::Program& program, const ir::Region& region, int bound,
                      const std::vector<std::int64_t>& loops) {
  std::int64_t value = region.bound[bound];
  for (std::uint32_t i = 0; i < region.terms; ++i) {
    const ir::AffineTerm& term = program.affine_terms[region.first_term + i];
    if (term.bound == bound) value += term.coefficient * loops.at(term.level);
  }
  return value;
}

}  // namespace

AccessInstance instance(const ir::Unrolled& unrolled, std::uint32_t transition,
                        std::uint32_t access) {
  const std::uint32_t p = unrolled.program[transition];
  const std::uint32_t steps = transition - unrolled.begin[p];
  const std::uint32_t length = (unrolled.begin[p + 1] - unrolled.begin[p]) / unrolled.iterations;
  return {steps / length, p, steps % length, access};
}

MemoryModel::MemoryModel(const ir::Program& program, const ir::Unrolled& unrolled)
    : program_(program),
      footprints_(unrolled.transitions()),
      pushed_(program.buffers.size(), 0),
      popped_(program.buffers.size(), 0) {
  for (std::uint32_t t = 0; t < unrolled.transitions(); ++t) {
    const ir::Op& op = unrolled.op_of(program, ir::TransitionId(t));
    const auto count = static_cast<std::uint64_t>(op.count);
    if (op.code == ir::OpCode::push) pushed_[op.object] += count;
    if (op.code == ir::OpCode::pop) popped_[op.object] += count;
    if (op.code != ir::OpCode::run) continue;
    const auto loops = loop_indices(unrolled, unrolled.context[t]);
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      Touch touch{a, program.accesses[a].write, {}, {}};
      if (resolve(program.accesses[a], loops, touch)) {
        footprints_[t].touches.push_back(std::move(touch));
      } else {
        footprints_[t].leaves_object = true;
      }
    }
  }
}

bool MemoryModel::resolve(const ir::Access& access, const std::vector<std::int64_t>& loops,
                          Touch& touch) {
  const ir::Region& region = access.region;
  std::int64_t bound[4] = {};
  for (int i = 0; i < 4; ++i) bound[i] = evaluate(program_, region, i, loops);
  const auto inside = [&](int low, std::uint64_t size) {
    return bound[low] >= 0 && bound[low] < bound[low + 1] &&
           bound[low + 1] <= static_cast<std::int64_t>(size);
  };
  if (region.kind == ir::RegionKind::tensor) {
    const ir::Tensor& tensor = program_.tensors[region.object];
    if (!inside(0, tensor.rows) || !inside(2, tensor.cols)) return false;
    resolve_tensor(region.object, bound, touch);
    return true;
  }
  const ir::Buffer& buffer = program_.buffers[region.object];
  const bool page = region.kind == ir::RegionKind::page;
  if (!inside(0, page ? buffer.page_bytes : buffer.page_bytes * buffer.pages)) return false;
  if (page) {
    resolve_page(access, bound, touch);
    return true;
  }
  for (std::int64_t b = bound[0]; b < bound[1]; ++b) {
    const std::uint64_t at = buffer.address + static_cast<std::uint64_t>(b);
    touch.place.push_back(number({Space::memory, space_of(buffer), at}));
  }
  touch.content = touch.place;
  return true;
}

void MemoryModel::resolve_tensor(std::uint32_t tensor, const std::int64_t (&bound)[4],
                                 Touch& touch) {
  const std::uint64_t columns = program_.tensors[tensor].cols;
  std::uint64_t offset = 0;
  while (const auto& view = program_.tensors[tensor].view) {
    offset += view->offset;
    tensor = view->base.value();
  }
  for (std::int64_t r = bound[0]; r < bound[1]; ++r) {
    for (std::int64_t c = bound[2]; c < bound[3]; ++c) {
      const std::uint64_t at =
          offset + static_cast<std::uint64_t>(r) * columns + static_cast<std::uint64_t>(c);
      touch.place.push_back(number({Space::tensor, tensor, at}));
    }
  }
  touch.content = touch.place;
}

void MemoryModel::resolve_page(const ir::Access& access, const std::int64_t (&bound)[4],
                               Touch& touch) {
  const ir::Region& region = access.region;
  const ir::Buffer& fifo = program_.buffers[region.object];
  const std::uint64_t head = access.write ? pushed_[region.object] : popped_[region.object];
  const std::uint64_t page = head + region.page;
  for (std::int64_t b = bound[0]; b < bound[1]; ++b) {
    const auto byte = static_cast<std::uint64_t>(b);
    const std::uint32_t content =
        number({Space::page, region.object, page * fifo.page_bytes + byte});
    touch.content.push_back(content);
    if (fifo.depth == ir::Depth::guaranteed) {
      touch.place.push_back(content);
      continue;
    }
    const std::uint64_t slot = page % fifo.pages;
    touch.place.push_back(
        number({Space::memory, space_of(fifo), fifo.address + slot * fifo.page_bytes + byte}));
  }
}

std::uint64_t MemoryModel::space_of(const ir::Buffer& buffer) const {
  const ir::Target& target = program_.target;
  std::uint64_t at = buffer.site.chip;
  at = at * target.mesh_width + buffer.site.x;
  at = at * target.mesh_height + buffer.site.y;
  return at * target.spaces.size() + buffer.space.value();
}

std::uint32_t MemoryModel::number(const Key& key) {
  const auto [at, fresh] = numbers_.emplace(key, static_cast<std::uint32_t>(init_.size()));
  if (fresh) init_.push_back(initial_content(key));
  return at->second;
}

ir::Init MemoryModel::initial_content(const Key& key) const {
  const auto& [space, object, at] = key;
  if (space == Space::tensor) {
    for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
      if (program_.tensors[t].init == ir::Init::undefined) continue;
      std::uint32_t base = t;
      std::uint64_t offset = 0;
      while (const auto& view = program_.tensors[base].view) {
        offset += view->offset;
        base = view->base.value();
      }
      const std::uint64_t size = program_.tensors[t].rows * program_.tensors[t].cols;
      if (base == object && at >= offset && at < offset + size) return program_.tensors[t].init;
    }
  } else if (space == Space::memory) {
    for (const ir::Buffer& b : program_.buffers) {
      if (b.init == ir::Init::undefined || space_of(b) != object) continue;
      if (at >= b.address && at < b.address + b.page_bytes * b.pages) return b.init;
    }
  }
  return ir::Init::undefined;
}

std::string MemoryModel::name(std::uint32_t location) const {
  for (const auto& [key, n] : numbers_) {
    if (n != location) continue;
    const auto& [space, object, at] = key;
    switch (space) {
      case Space::tensor:
        return fmt::format("{}[{}]", program_.tensors[object].name, at);
      case Space::memory:
        return fmt::format("memory {} byte {}", object, at);
      case Space::page:
        return fmt::format("{} content {}", program_.buffers[object].name, at);
    }
  }
  return "?";
}

std::vector<std::uint32_t> MemoryModel::locate(const ir::Region& region) {
  Touch touch;
  return resolve({region, false}, {}, touch) ? touch.place : std::vector<std::uint32_t>{};
}

}  // namespace spatialcert::tests
