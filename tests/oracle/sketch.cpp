#include "tests/oracle/sketch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/validate.hpp"

namespace spatialcert::tests {
namespace {

class Assembler {
 public:
  explicit Assembler(const Sketch& sketch) : program_(sketch.frame) {
    for (std::size_t p = 0; p < sketch.ops.size(); ++p) {
      ir::EngineProgram& out = program_.programs[p];
      emit(sketch.ops[p], out.ops);
      if (out.ops.empty()) continue;
      out.spans.push_back({ir::SectionId(0U), {}, 0, static_cast<std::uint32_t>(out.ops.size())});
    }
  }
  [[nodiscard]] ir::Program take() { return std::move(program_); }

 private:
  void emit(const std::vector<SketchOp>& ops, std::vector<ir::Op>& out) {
    for (const SketchOp& op : ops) {
      const std::size_t at = out.size();
      ir::Op& flat = out.emplace_back();
      flat.code = op.code;
      flat.object = op.object;
      flat.count = op.count;
      flat.first_access = static_cast<std::uint32_t>(program_.accesses.size());
      flat.accesses = static_cast<std::uint32_t>(op.accesses.size());
      for (const SketchAccess& access : op.accesses) emit(access);
      emit(op.body, out);
      out[at].body = static_cast<std::uint32_t>(out.size() - at - 1);
    }
  }

  void emit(const SketchAccess& access) {
    ir::Access flat;
    flat.write = access.write;
    flat.region.kind = access.kind;
    flat.region.object = access.object;
    flat.region.page = access.page;
    flat.region.first_term = static_cast<std::uint32_t>(program_.affine_terms.size());
    for (std::uint8_t b = 0; b < 4; ++b) {
      flat.region.bound[b] = access.bound[b].base;
      for (const auto& [level, coefficient] : access.bound[b].terms) {
        program_.affine_terms.push_back({b, level, coefficient});
        ++flat.region.terms;
      }
    }
    program_.accesses.push_back(flat);
  }

  ir::Program program_;
};

void visit_lists(std::vector<SketchOp>& ops,
                 const std::function<void(std::vector<SketchOp>&)>& visit) {
  for (SketchOp& op : ops) {
    if (op.code == ir::OpCode::repeat) visit_lists(op.body, visit);
  }
  visit(ops);
}

/// Sketches that have one thing less than `sketch`.
std::vector<Sketch> smaller(const Sketch& sketch) {
  std::vector<Sketch> out;
  const auto change = [&](const std::function<bool(std::vector<SketchOp>&, std::size_t)>& edit) {
    std::size_t lists = 0;
    Sketch probe = sketch;
    for_each_list(probe, [&](std::vector<SketchOp>&) { ++lists; });
    for (std::size_t l = 0; l < lists; ++l) {
      for (std::size_t i = 0;; ++i) {
        Sketch next = sketch;
        std::size_t at = 0;
        bool changed = false;
        bool end = true;
        for_each_list(next, [&](std::vector<SketchOp>& ops) {
          if (at++ != l || i >= ops.size()) return;
          end = false;
          changed = edit(ops, i);
        });
        if (end) break;
        if (changed) out.push_back(std::move(next));
      }
    }
  };
  change([](std::vector<SketchOp>& ops, std::size_t i) {
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
  change([](std::vector<SketchOp>& ops, std::size_t i) {
    if (ops[i].code != ir::OpCode::repeat || ops[i].count < 2) return false;
    --ops[i].count;
    return true;
  });
  for (const bool last : {false, true}) {
    change([last](std::vector<SketchOp>& ops, std::size_t i) {
      auto& accesses = ops[i].accesses;
      if (accesses.empty() || (last && accesses.size() == 1)) return false;
      accesses.erase(last ? accesses.end() - 1 : accesses.begin());
      return true;
    });
  }
  if (!sketch.frame.postconditions.empty()) {
    out.push_back(sketch);
    out.back().frame.postconditions.pop_back();
  }
  return out;
}

std::string region_text(const ir::Program& program, const ir::Region& region) {
  const auto bound = [&](int which) {
    std::string text = fmt::format("{}", region.bound[which]);
    for (std::uint32_t i = 0; i < region.terms; ++i) {
      const ir::AffineTerm& term = program.affine_terms[region.first_term + i];
      if (term.bound == which) text += fmt::format("+{}*i{}", term.coefficient, term.level);
    }
    return text;
  };
  const std::string first = fmt::format("{}:{}", bound(0), bound(1));
  if (region.kind == ir::RegionKind::tensor) {
    return fmt::format("{}[{}, {}:{}]", program.tensors[region.object].name, first, bound(2),
                       bound(3));
  }
  const std::string& name = program.buffers[region.object].name;
  if (region.kind == ir::RegionKind::page)
    return fmt::format("{} page {} [{}]", name, region.page, first);
  return fmt::format("{}[{}]", name, first);
}

std::string op_line(const ir::Program& program, const ir::Op& op) {
  std::string text(to_string(op.code));
  switch (op.code) {
    case ir::OpCode::repeat:
      return fmt::format("repeat {}", op.count);
    case ir::OpCode::run:
      break;
    case ir::OpCode::wait:
    case ir::OpCode::await:
    case ir::OpCode::post:
      return fmt::format("{} {} {}", text, program.semaphores[op.object].name, op.count);
    default:
      return fmt::format("{} {} {}", text, program.buffers[op.object].name, op.count);
  }
  const ir::Stage& stage = program.stages[op.object];
  text += fmt::format(" {} ({})", stage.name, to_string(stage.op));
  for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
    const ir::Access& access = program.accesses[a];
    text +=
        fmt::format(" {}{}#{}", access.write ? "-> " : "", region_text(program, access.region), a);
  }
  return text;
}

std::string objects_text(const ir::Program& program) {
  std::string out;
  for (const ir::Tensor& t : program.tensors) {
    out += fmt::format("  tensor {} {}x{} {} init {}", t.name, t.rows, t.cols, to_string(t.role),
                       to_string(t.init));
    if (t.view) out += fmt::format(" view of #{} at {}", t.view->base.value(), t.view->offset);
    out += '\n';
  }
  for (const ir::Buffer& b : program.buffers) {
    out += fmt::format("  {} {} site {},{},{} address {} {}x{} {} init {}", to_string(b.kind),
                       b.name, b.site.chip, b.site.x, b.site.y, b.address, b.pages, b.page_bytes,
                       to_string(b.depth), to_string(b.init));
    if (b.view) out += fmt::format(" view of #{} at {}", b.view->base.value(), b.view->offset);
    out += '\n';
  }
  for (const ir::Semaphore& s : program.semaphores) {
    out += fmt::format("  semaphore {} site {},{},{} initial {} maximum {} {}\n", s.name,
                       s.site.chip, s.site.x, s.site.y, s.initial, s.maximum, to_string(s.restart));
  }
  return out;
}

}  // namespace

ir::Program assemble(const Sketch& sketch) { return Assembler(sketch).take(); }

void for_each_list(Sketch& sketch, const std::function<void(std::vector<SketchOp>&)>& visit) {
  for (auto& ops : sketch.ops) visit_lists(ops, visit);
}

Sketch shrink(Sketch sketch, const std::function<bool(const ir::Program&)>& wanted) {
  for (bool progress = true; progress;) {
    progress = false;
    for (Sketch& next : smaller(sketch)) {
      const ir::Program program = assemble(next);
      if (ir::validate(program) || !wanted(program)) continue;
      sketch = std::move(next);
      progress = true;
      break;
    }
  }
  return sketch;
}

std::string listing(const ir::Program& program) {
  std::string out = fmt::format("{} {}\n", program.name, to_string(program.execution));
  out += objects_text(program);
  for (const ir::Edge& e : program.edges) {
    out += fmt::format("  edge {} -> {} -> {}\n", program.stages[e.producer.value()].name,
                       program.buffers[e.buffer.value()].name,
                       program.stages[e.consumer.value()].name);
  }
  for (const ir::EngineProgram& p : program.programs) {
    out += fmt::format("  program {},{},{} {}\n", p.site.chip, p.site.x, p.site.y,
                       program.target.engines[p.engine.value()]);
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < p.ops.size(); ++i) {
      while (!ends.empty() && ends.back() == i) ends.pop_back();
      out += fmt::format("    {:2} {:{}}{}\n", i, "", 2 * ends.size(), op_line(program, p.ops[i]));
      if (p.ops[i].code == ir::OpCode::repeat) ends.push_back(i + 1 + p.ops[i].body);
    }
  }
  for (const ir::Postcondition& post : program.postconditions) {
    out += "  finally " + region_text(program, post.region) + " = sum of";
    for (const ir::Region& term : post.terms) out += " " + region_text(program, term);
    out += '\n';
  }
  return out;
}

}  // namespace spatialcert::tests
