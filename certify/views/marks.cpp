#include "certify/views/marks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "certify/narrative.hpp"
#include "certify/report.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify::views {
namespace {

using proofs::Counterexample;
using proofs::Kind;

/// Ops that write a wrong result, or touch a buffer: more would say no more.
constexpr std::size_t kMostUses = 4;

class Marking {
 public:
  Marking(const OpNames& names, const Counterexample& c)
      : names_(names), program_(names.program()), c_(c) {}

  std::vector<Mark> all(bool unrolled) {
    if (unrolled) add_ops();
    for (const ir::BufferId buffer : c_.buffers) add_buffer(buffer);
    for (std::size_t i = 0; unrolled && i < c_.buffers.size(); ++i) add_touching(c_.buffers[i]);
    for (const proofs::SliceRef& slice : c_.slices) add_slice(slice);
    return std::move(marks_);
  }

 private:
  void add_ops() {
    if (c_.transition.valid()) add(Role::fault, c_.transition, fault_text());
    for (const proofs::WaitLink& link : c_.chain) add_link(link);
    add_accesses();
    for (std::size_t i = 0; i < c_.ops.size(); ++i) add(Role::op, c_.ops[i], op_role(i));
    if (c_.kind == Kind::leftover) add_uses();
    if (c_.kind == Kind::wrong_result) add_writers();
  }

  void add(Role role, ir::TransitionId t, std::string what) {
    const std::uint32_t op = names_.unrolled().op[t.value()];
    marks_.push_back(
        {role, t, location_of(names_, t), names_.op(t),
         fmt::format("{}, {}", names_.engine(t), part_text(program_, names_.program_of(t), op)),
         std::move(what)});
  }

  void add_link(const proofs::WaitLink& link) {
    const std::string counter = counter_text(program_, names_.counters()[link.counter]);
    add(Role::waiter, link.waiter,
        fmt::format("waits for {} to reach {} (it holds {})", counter, link.need, link.have));
    if (!link.supplier.valid()) return;
    const ir::CounterKind kind = names_.counters()[link.counter].kind;
    add(Role::supplier, link.supplier, fmt::format("would {} it", supplying_verb(kind)));
  }

  void add_accesses() {
    for (const proofs::AccessRef& ref : c_.accesses) {
      const ir::Access& access = program_.accesses[ref.access];
      add(Role::access, ref.transition,
          (access.write ? "writes " : "reads ") + region_text(program_, access.region));
    }
  }

  [[nodiscard]] std::string fault_text() const {
    if (!c_.counter.valid()) return "leaves its object";
    const std::string counter = counter_text(program_, names_.counters()[c_.counter]);
    return c_.kind == Kind::overflow
               ? fmt::format("would raise {} to {}, above {}", counter, c_.value, c_.limit)
               : fmt::format("uses {} of which {} are open", count_text(c_.value, "page"),
                             c_.limit);
  }

  [[nodiscard]] std::string op_role(std::size_t number) const {
    switch (c_.kind) {
      case Kind::slip_through:
        return number == 0 ? "is performed, though it comes after the boundary"
                           : "is not performed, though it comes before the boundary";
      case Kind::interference:
        return c_.counter.valid() ? "uses " + counter_text(program_, names_.counters()[c_.counter])
                                  : "belongs to the other section";
      default:
        return c_.note.empty() ? "meets what it must not" : c_.note;
    }
  }

  void add_uses() {
    const CounterUses uses = uses_of(names_, c_.counter);
    const ir::CounterKind kind = names_.counters()[c_.counter].kind;
    const std::string counter = counter_text(program_, names_.counters()[c_.counter]);
    const auto add_all = [&](const std::vector<CounterUse>& some, const char* verb) {
      for (std::size_t i = 0; i < some.size() && i < kMostUses; ++i) {
        add(Role::use, some[i].first, fmt::format("{} ({})", verb, counter));
      }
    };
    add_all(uses.raising, raising_verb(kind));
    add_all(uses.lowering, lowering_verb(kind));
  }

  /// The ops that come last among those that write what must hold the result.
  void add_writers() {
    const ir::Region& region = program_.postconditions[c_.index].region;
    std::size_t found = 0;
    const auto& unrolled = names_.unrolled();
    for (std::uint32_t t = unrolled.transitions(); t-- > 0 && found < kMostUses;) {
      if (!touches(ir::TransitionId(t), region.kind, region.object, true)) continue;
      add(Role::access, ir::TransitionId(t), "writes " + region_text(program_, region));
      ++found;
    }
  }

  /// The first op that touches the buffer.
  void add_touching(ir::BufferId buffer) {
    const bool fifo = program_.buffers[buffer.value()].kind == ir::BufferKind::fifo;
    const auto& unrolled = names_.unrolled();
    for (std::uint32_t t = 0; t < unrolled.transitions(); ++t) {
      if (!touches(ir::TransitionId(t), fifo ? ir::RegionKind::page : ir::RegionKind::bytes,
                   buffer.value(), false)) {
        continue;
      }
      add(Role::access, ir::TransitionId(t), "touches " + program_.buffers[buffer.value()].name);
      return;
    }
  }

  [[nodiscard]] bool touches(ir::TransitionId t, ir::RegionKind kind, std::uint32_t object,
                             bool only_writes) const {
    const ir::Op& op = names_.op_of(t);
    if (op.code != ir::OpCode::run) return false;
    for (std::uint32_t a = 0; a < op.accesses; ++a) {
      const ir::Access& access = program_.accesses[op.first_access + a];
      if (access.region.kind == kind && access.region.object == object &&
          (access.write || !only_writes)) {
        return true;
      }
    }
    return false;
  }

  void add_buffer(ir::BufferId id) {
    const ir::Buffer& buffer = program_.buffers[id.value()];
    marks_.push_back(
        {Role::object,
         {},
         buffer.location,
         fmt::format("{} {}", to_string(buffer.kind), buffer.name),
         site_text(program_, buffer.site),
         fmt::format("bytes [{}, {}) of {}", buffer.address, buffer.address + buffer.bytes(),
                     program_.target.spaces[buffer.space.value()].name)});
  }

  void add_slice(const proofs::SliceRef& ref) {
    const ir::SlicedTensor& sliced = program_.sliced[ref.sliced];
    const ir::Tensor& tensor = program_.tensors[sliced.slices[ref.part].tensor.value()];
    marks_.push_back({Role::object,
                      {},
                      tensor.location,
                      fmt::format("tensor {}", tensor.name),
                      fmt::format("chip {}", tensor.owner.value_or(0)),
                      fmt::format("part {} of {}", ref.part, sliced.name)});
  }

  const OpNames& names_;
  const ir::Program& program_;
  const Counterexample& c_;
  std::vector<Mark> marks_;
};

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::waiter:
      return "waiter";
    case Role::supplier:
      return "supplier";
    case Role::access:
      return "access";
    case Role::op:
      return "op";
    case Role::fault:
      return "fault";
    case Role::use:
      return "use";
    case Role::object:
      return "object";
  }
  ir::require_failed("role", "enumerator out of range", __FILE__, __LINE__);
}

std::vector<Mark> marks_of(const OpNames& names, const Counterexample& counterexample,
                           bool unrolled) {
  return Marking(names, counterexample).all(unrolled);
}

ir::LocationIndex location_of(const OpNames& names, ir::TransitionId t) {
  const ir::Program& program = names.program();
  const ir::Op& op = names.op_of(t);
  if (op.location != ir::kNoLocation) return op.location;
  if (op.code == ir::OpCode::run && program.stages[op.object].location != ir::kNoLocation) {
    return program.stages[op.object].location;
  }
  const std::uint32_t number = names.unrolled().op[t.value()];
  for (const ir::Span& span : program.programs[names.program_of(t).value()].spans) {
    if (span.begin > number || number >= span.end) continue;
    return span.section.valid() ? program.sections[span.section.value()].location : ir::kNoLocation;
  }
  return ir::kNoLocation;
}

}  // namespace spatialcert::certify::views
