// Faults in composed programs, and making them small.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/validate.hpp"
#include "tests/composed/compositions.hpp"
#include "tests/composition/edits.hpp"

namespace spatialcert::tests {
namespace {

using ir::OpCode;

bool is_semaphore_op(const ir::Op& op) {
  return op.code == OpCode::wait || op.code == OpCode::post || op.code == OpCode::await;
}

/// Takes all ops of a boundary out of one engine program.
bool erase_boundary(ir::EngineProgram& one, std::uint32_t boundary) {
  bool erased = false;
  for (std::uint32_t i = static_cast<std::uint32_t>(one.ops.size()); i-- > 0;) {
    if (one.spans[span_of(one, i)].boundary != ir::BoundaryId(boundary)) continue;
    erase_op(one, i);
    erased = true;
  }
  return erased;
}

class Damage {
 public:
  Damage(ir::Program& program, Random& random) : program_(program), random_(random) {}

  std::string make() {
    switch (random_.below(20)) {
      case 0:
      case 1:
        return ops([&](ir::EngineProgram& one, std::uint32_t i) { erase_op(one, i); }, "drop op");
      case 2:
        return ops(
            [&](ir::EngineProgram& one, std::uint32_t i) { insert_op(one, i, ir::Op(one.ops[i])); },
            "double op");
      case 3:
      case 4:
        return swap();
      case 5:
        return change_count();
      case 6:
        return retarget();
      case 7:
      case 8:
        return reopen();
      case 9:
        return leave_out();
      case 10:
        return swap_sources();
      case 11:
        return shorten();
      case 12:
      case 13:
        return move_address();
      case 14:
      case 15:
        return hand_around();
      case 16:
      case 17:
        return other_tensor();
      case 18:
        return contents();
      default:
        return drop_init();
    }
  }

 private:
  /// An engine program with ops.
  ir::EngineProgram* some_program() {
    std::vector<ir::EngineProgram*> all;
    for (ir::EngineProgram& one : program_.programs) {
      if (!one.ops.empty()) all.push_back(&one);
    }
    return all.empty() ? nullptr : all[random_.below(all.size())];
  }
  std::uint32_t some_op(const ir::EngineProgram& one) { return random_.below(one.ops.size()); }

  template <typename Change>
  std::string ops(Change change, const char* what) {
    ir::EngineProgram* const one = some_program();
    if (one == nullptr) return "";
    change(*one, some_op(*one));
    return what;
  }

  std::string swap() {
    ir::EngineProgram* const one = some_program();
    if (one == nullptr || one->ops.size() < 2) return "";
    const std::uint32_t at = random_.below(one->ops.size() - 1);
    const bool across = span_of(*one, at) != span_of(*one, at + 1);
    if (across && random_.chance(50)) {
      move_before_previous(*one, at + 1);
    } else {
      move_behind_next(*one, at);
    }
    return across ? "move op out of its span" : "swap ops";
  }

  std::string change_count() {
    ir::EngineProgram* const one = some_program();
    if (one == nullptr) return "";
    ir::Op& op = one->ops[some_op(*one)];
    if (op.code == OpCode::run) return "";
    if (op.count > 1 && random_.chance(60)) {
      --op.count;
    } else {
      ++op.count;
    }
    return "change count";
  }

  std::string retarget() {
    ir::EngineProgram* const one = some_program();
    if (one == nullptr || program_.semaphores.size() < 2) return "";
    ir::Op& op = one->ops[some_op(*one)];
    if (!is_semaphore_op(op)) return "";
    const std::uint32_t to = random_.below(program_.semaphores.size());
    if (to == op.object) return "";
    op.object = to;
    return "another semaphore";
  }

  std::optional<std::uint32_t> closed_boundary() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t b = 0; b < program_.boundaries.size(); ++b) {
      if (program_.boundaries[b].closed) all.push_back(b);
    }
    if (all.empty()) return std::nullopt;
    return all[random_.below(all.size())];
  }

  std::string reopen() {
    const auto boundary = closed_boundary();
    if (!boundary) return "";
    for (ir::EngineProgram& one : program_.programs) erase_boundary(one, *boundary);
    const bool still_closed = random_.chance(30);
    if (!still_closed) program_.boundaries[*boundary].closed = false;
    return still_closed ? "closed boundary without ops" : "reopen boundary";
  }

  /// The others get along without it.
  std::string leave_out() {
    const auto boundary = closed_boundary();
    ir::EngineProgram* const one = some_program();
    if (!boundary || one == nullptr) return "";
    std::uint32_t ops = 0;
    std::vector<std::uint32_t> waited;
    for (const ir::Span& span : one->spans) {
      if (span.boundary != ir::BoundaryId(*boundary)) continue;
      for (std::uint32_t i = span.begin; i < span.end; ++i) {
        ++ops;
        if (one->ops[i].code == OpCode::wait) waited.push_back(one->ops[i].object);
      }
    }
    if (ops != 2 || waited.size() != 1) return "";  // not the root
    erase_boundary(*one, *boundary);
    for (ir::EngineProgram& root : program_.programs) {
      for (std::uint32_t i = 0; i < root.ops.size(); ++i) {
        if (root.spans[span_of(root, i)].boundary != ir::BoundaryId(*boundary)) continue;
        ir::Op& op = root.ops[i];
        if (op.code == OpCode::wait && op.count > 1) --op.count;
        if (op.code == OpCode::post && op.object == waited.front()) {
          if (--op.count == 0) {
            erase_op(root, i);
            break;
          }
        }
      }
    }
    return "program without part in a rendezvous";
  }

  std::string swap_sources() {
    if (program_.sections.size() < 2) return "";
    const std::uint32_t a = random_.below(program_.sections.size());
    const std::uint32_t b = random_.below(program_.sections.size());
    if (a == b) return "";
    std::swap(program_.sections[a].source_index, program_.sections[b].source_index);
    return "swap source indices";
  }

  std::string shorten() {
    for (ir::Buffer& b : program_.buffers) {
      if (b.lifetime != ir::Lifetime::resident) continue;
      if (random_.chance(30)) {
        b.lifetime = ir::Lifetime::section;
        b.resident_from = b.resident_to = ir::SectionId();
      } else {
        const auto sections = static_cast<std::uint32_t>(program_.sections.size());
        const std::uint32_t from = random_.below(sections);
        b.resident_from = ir::SectionId(from);
        b.resident_to = ir::SectionId(from + random_.below(sections - from));
      }
      return "shorten lifetime";
    }
    return "";
  }

  std::string move_address() {
    if (program_.buffers.empty()) return "";
    ir::Buffer& b = program_.buffers[random_.below(program_.buffers.size())];
    const ir::Buffer& other = program_.buffers[random_.below(program_.buffers.size())];
    const std::uint64_t to = random_.chance(80)   ? other.address
                             : random_.chance(50) ? b.address + 4
                                                  : 252;
    if (to == b.address) return "";
    b.address = to;
    return "move address";
  }

  /// From any section of one program to any of another, with or without a declaration.
  std::string hand_around() {
    ir::EngineProgram* const from = some_program();
    ir::EngineProgram* const to = some_program();
    if (from == nullptr || from == to) return "";
    ir::Semaphore semaphore;
    semaphore.name = "around";
    semaphore.site = to->site;
    semaphore.maximum = 1;
    if (from->site.chip != to->site.chip) semaphore.handoff = ir::HandoffId(std::uint32_t{1});
    program_.semaphores.push_back(semaphore);
    const auto number = static_cast<std::uint32_t>(program_.semaphores.size() - 1);
    ir::Op op;
    op.object = number;
    op.count = 1;
    const auto sections = static_cast<std::uint32_t>(program_.sections.size());
    std::uint32_t early = random_.below(sections), late = random_.below(sections);
    if (early > late && !random_.chance(15)) std::swap(early, late);
    op.code = OpCode::post;
    append_to_section(*from, early, op, program_);
    op.code = OpCode::wait;
    append_to_section(*to, late, op, program_);
    const bool declared = random_.chance(50);
    if (declared) program_.links.push_back({false, number});
    return declared ? "declared hand-off around a boundary" : "hand-off around a boundary";
  }

  /// An access of a tensor goes to another one: maybe one that a section of its phase uses.
  std::string other_tensor() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t a = 0; a < program_.accesses.size(); ++a) {
      if (program_.accesses[a].region.kind == ir::RegionKind::tensor) all.push_back(a);
    }
    if (all.empty()) return "";
    ir::Region& region = program_.accesses[all[random_.below(all.size())]].region;
    const std::uint32_t to = random_.below(program_.tensors.size());
    if (to == region.object) return "";
    region.object = to;
    region.bound[3] = static_cast<std::int64_t>(program_.tensors[to].cols);
    return "another tensor";
  }

  /// A buffer begins with contents, and the first op that writes it does not.
  std::string contents() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].kind == ir::BufferKind::scratch) all.push_back(b);
    }
    if (all.empty()) return "";
    const std::uint32_t b = all[random_.below(all.size())];
    program_.buffers[b].init = ir::Init::zero;
    if (random_.chance(50)) program_.buffers[b].address = 8 * random_.below(4);
    for (ir::EngineProgram& one : program_.programs) {
      for (std::uint32_t i = 0; i < one.ops.size(); ++i) {
        ir::Op& op = one.ops[i];
        if (op.code != OpCode::run || op.accesses == 0) continue;
        const ir::Access& last = program_.accesses[op.first_access + op.accesses - 1];
        if (!last.write || last.region.kind != ir::RegionKind::bytes || last.region.object != b)
          continue;
        --op.accesses;
        return "contents instead of a write";
      }
    }
    return "";
  }

  std::string drop_init() {
    std::vector<ir::Tensor*> all;
    for (ir::Tensor& t : program_.tensors) {
      if (t.init != ir::Init::undefined) all.push_back(&t);
    }
    if (all.empty()) return "";
    all[random_.below(all.size())]->init = ir::Init::undefined;
    return "drop init";
  }

  ir::Program& program_;
  Random& random_;
};

}  // namespace

std::string damage_composition(ir::Program& program, Random& random) {
  ir::Program damaged = program;
  std::string fault = Damage(damaged, random).make();
  if (fault.empty() || ir::validate(damaged)) return "";
  program = std::move(damaged);
  return fault;
}

ir::Program shrink_ops(ir::Program program, const std::function<bool(const ir::Program&)>& wanted) {
  for (bool progress = true; progress;) {
    progress = false;
    for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
      for (std::uint32_t i = static_cast<std::uint32_t>(program.programs[p].ops.size()); i-- > 0;) {
        ir::Program smaller = program;
        erase_op(smaller.programs[p], i);
        if (ir::validate(smaller) || !wanted(smaller)) continue;
        program = std::move(smaller);
        progress = true;
      }
    }
  }
  return program;
}

}  // namespace spatialcert::tests
