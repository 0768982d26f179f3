#include "tests/oracle/composition.hpp"

#include <algorithm>

namespace spatialcert::tests {

Composition::Composition(const ir::Program& program, const ir::Unrolled& unrolled)
    : program_(program), unrolled_(unrolled) {}

std::uint32_t Composition::wrap(std::uint32_t transition) const {
  return instance(unrolled_, transition, 0).wrap;
}

std::optional<std::uint32_t> Composition::section(std::uint32_t transition) const {
  const std::uint32_t op = unrolled_.op[transition];
  for (const ir::Span& span : program_.programs[unrolled_.program[transition]].spans) {
    if (op >= span.begin && op < span.end && span.section.valid()) return span.section.value();
  }
  return std::nullopt;
}

std::uint32_t Composition::section_before(std::uint32_t boundary_op) const {
  const std::uint32_t op = unrolled_.op[boundary_op];
  for (const ir::Span& span : program_.programs[unrolled_.program[boundary_op]].spans) {
    if (op >= span.begin && op < span.end && span.boundary.valid())
      return program_.boundaries[span.boundary.value()].after.value();
  }
  return 0;
}

bool Composition::closed_after(std::uint32_t section) const {
  return std::any_of(program_.boundaries.begin(), program_.boundaries.end(),
                     [&](const auto& b) { return b.closed && b.after.value() == section; });
}

bool Composition::share_a_phase(std::uint32_t a, std::uint32_t b) const {
  const auto open_from = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t s = from; s < to; ++s) {
      if (closed_after(s)) return false;
    }
    return true;
  };
  if (a > b) std::swap(a, b);
  if (open_from(a, b)) return true;
  // From the later one over the end to the earlier one.
  const auto sections = static_cast<std::uint32_t>(program_.sections.size());
  return program_.execution == ir::Execution::persistent && open_from(b, sections) &&
         open_from(0, a);
}

bool Composition::separates(std::uint32_t b, std::uint32_t before, std::uint32_t after) const {
  if (!program_.boundaries[b].closed) return false;
  const std::uint32_t seam = program_.boundaries[b].after.value();
  const std::uint32_t first = *section(before), second = *section(after);
  for (std::uint32_t w = wrap(before); w <= wrap(after); ++w) {
    const bool later = w > wrap(before) || first <= seam;
    const bool earlier = w < wrap(after) || seam < second;
    if (later && earlier) return true;
  }
  return false;
}

bool Composition::precedes(std::uint32_t a, std::uint32_t b) const {
  const auto index = [&](std::uint32_t t) { return program_.sections[*section(t)].source_index; };
  return std::pair(wrap(a), index(a)) < std::pair(wrap(b), index(b));
}

bool Composition::begins_with_contents(std::uint32_t buffer) const {
  const auto base = [&](std::uint32_t b) {
    while (program_.buffers[b].view) b = program_.buffers[b].view->base.value();
    return b;
  };
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    if (program_.buffers[b].init != ir::Init::undefined && base(b) == base(buffer)) return true;
  }
  return false;
}

std::set<std::uint32_t> Composition::lifetime(std::uint32_t buffer) const {
  std::set<std::uint32_t> out;
  const auto base = [&](std::uint32_t b) {
    while (program_.buffers[b].view) b = program_.buffers[b].view->base.value();
    return b;
  };
  for (std::uint32_t t = 0; t < unrolled_.transitions(); ++t) {
    const ir::Op& op = unrolled_.op_of(program_, ir::TransitionId(t));
    if (!section(t)) {
      if (uses_counter(t, true, buffer)) out.insert(section_before(t));
      continue;
    }
    for (std::uint32_t i = 0; op.code == ir::OpCode::run && i < op.accesses; ++i) {
      const ir::Region& region = program_.accesses[op.first_access + i].region;
      if (region.kind != ir::RegionKind::tensor && base(region.object) == buffer)
        out.insert(*section(t));
    }
    if (uses_counter(t, true, buffer)) out.insert(*section(t));
  }
  const ir::Buffer& b = program_.buffers[buffer];
  if (b.lifetime == ir::Lifetime::resident && b.resident_from.valid()) {
    for (std::uint32_t s = b.resident_from.value(); s <= b.resident_to.value(); ++s) out.insert(s);
  } else if (b.lifetime == ir::Lifetime::resident || out.empty()) {
    for (std::uint32_t s = 0; s < program_.sections.size(); ++s) out.insert(s);
  }
  // Contents lie there from the start, and pages until they are popped, maybe an iteration later.
  const auto between = [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t s = first; s <= last; ++s) out.insert(s);
  };
  if (begins_with_contents(buffer)) between(0, *out.rbegin());
  // Not by phases: those on either side of an open wrap-around are one, and others lie between.
  bool crosses = false;
  for (std::uint32_t s = *out.begin(); s < *out.rbegin(); ++s) crosses |= closed_after(s);
  if (b.kind != ir::BufferKind::fifo || !crosses) return out;
  if (program_.execution == ir::Execution::persistent) {
    between(0, static_cast<std::uint32_t>(program_.sections.size()) - 1);
  } else {
    between(*out.begin(), *out.rbegin());
  }
  return out;
}

bool Composition::live_together(std::uint32_t a, std::uint32_t b) const {
  for (const std::uint32_t x : lifetime(a)) {
    for (const std::uint32_t y : lifetime(b)) {
      if (share_a_phase(x, y)) return true;
    }
  }
  return false;
}

bool Composition::lasts(std::uint32_t buffer, std::uint32_t writer, std::uint32_t reader) const {
  while (program_.buffers[buffer].view) buffer = program_.buffers[buffer].view->base.value();
  const ir::Buffer& b = program_.buffers[buffer];
  const bool bounded = b.resident_from.valid() && b.resident_to.valid();
  if (b.lifetime == ir::Lifetime::resident && !bounded) return true;
  if (wrap(writer) != wrap(reader)) return false;
  const std::uint32_t from = *section(writer), to = *section(reader);
  if (b.lifetime == ir::Lifetime::section) return from == to;
  const auto inside = [&](std::uint32_t s) {
    return b.resident_from.value() <= s && s <= b.resident_to.value();
  };
  return inside(from) && inside(to);
}

bool Composition::uses_counter(std::uint32_t t, bool fifo, std::uint32_t object) const {
  const ir::Op& op = unrolled_.op_of(program_, ir::TransitionId(t));
  switch (op.code) {
    case ir::OpCode::wait:
    case ir::OpCode::await:
    case ir::OpCode::post:
      return !fifo && op.object == object;
    case ir::OpCode::reserve:
    case ir::OpCode::push:
    case ir::OpCode::front:
    case ir::OpCode::pop:
      return fifo && op.object == object;
    default:
      return false;
  }
}

/// Is there a chain of sections of their phase, each pair of neighbours using one link?
bool Composition::joined(std::uint32_t a, std::uint32_t b) const {
  std::set<std::uint32_t> reached{a};
  for (bool grows = true; grows;) {
    grows = false;
    for (const ir::Link& link : program_.links) {
      std::set<std::uint32_t> users;
      for (std::uint32_t t = 0; t < unrolled_.transitions(); ++t) {
        if (section(t) && uses_counter(t, link.is_fifo, link.object)) users.insert(*section(t));
      }
      for (const std::uint32_t x : users) {
        for (const std::uint32_t y : users) {
          if (reached.contains(x) && share_a_phase(x, y)) grows |= reached.insert(y).second;
        }
      }
    }
  }
  return reached.contains(b);
}

bool Composition::interference(const MemoryModel& model) const {
  for (std::uint32_t a = 0; a < unrolled_.transitions(); ++a) {
    for (std::uint32_t b = 0; b < unrolled_.transitions(); ++b) {
      const auto x = section(a), y = section(b);
      if (!x && !y) continue;
      const auto beside = [&](std::uint32_t boundary_op, std::uint32_t of) {
        for (const ir::Span& span : program_.programs[unrolled_.program[boundary_op]].spans) {
          const std::uint32_t op = unrolled_.op[boundary_op];
          if (op < span.begin || op >= span.end) continue;
          const std::uint32_t seam = program_.boundaries[span.boundary.value()].after.value();
          const auto sections = static_cast<std::uint32_t>(program_.sections.size());
          if (share_a_phase(seam, of)) return true;
          if (seam + 1 < sections) return share_a_phase(seam + 1, of);
          return program_.execution == ir::Execution::persistent && share_a_phase(0, of);
        }
        return false;
      };
      const bool together = x && y ? *x != *y && share_a_phase(*x, *y) && !joined(*x, *y)
                                   : (x ? beside(b, *x) : beside(a, *y));
      if (!together) continue;
      const ir::Op& p = unrolled_.op_of(program_, ir::TransitionId(a));
      for (const bool fifo : {false, true}) {
        const auto code = unrolled_.op_of(program_, ir::TransitionId(b)).code;
        const bool both = uses_counter(a, fifo, p.object) && uses_counter(b, fifo, p.object);
        if (both && !(p.code == ir::OpCode::await && code == ir::OpCode::await)) return true;
      }
      for (const Touch& one : model.footprint(a).touches) {
        for (const Touch& two : model.footprint(b).touches) {
          if (!one.write && !two.write) continue;
          const auto paged = [&](const Touch& touch) {
            return program_.accesses[touch.access].region.kind == ir::RegionKind::page;
          };
          if (paged(one) || paged(two)) continue;
          for (const std::uint32_t at : one.place) {
            if (std::find(two.place.begin(), two.place.end(), at) != two.place.end()) return true;
          }
        }
      }
    }
  }
  return false;
}

}  // namespace spatialcert::tests
