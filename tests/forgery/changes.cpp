#include "tests/forgery/changes.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace spatialcert::tests {
namespace {

using Ops = std::vector<SketchOp>;
constexpr std::int64_t kCellBytes = 4;

class Changer {
 public:
  explicit Changer(const Sketch& sketch) : sketch_(sketch) {}

  void ops() {
    Sketch probe = sketch_;
    std::size_t list = 0;
    for_each_list(probe, [&](Ops& all) {
      for (std::size_t i = 0; i < all.size(); ++i) op(list, i, all[i], i + 1 == all.size());
      ++list;
    });
  }
  void objects() {
    semaphores();
    buffers();
    for (std::size_t t = 0; t < sketch_.frame.tensors.size(); ++t) {
      frame("tensor without contents",
            [t](ir::Program& p) { p.tensors[t].init = ir::Init::undefined; });
      frame("tensor owned", [t](ir::Program& p) { p.tensors[t].owner = 0; });
    }
    for (std::size_t s = 0; s < sketch_.frame.stages.size(); ++s) {
      for (const ir::OpKind kind : {ir::OpKind::silu, ir::OpKind::neg, ir::OpKind::add})
        frame("stage computes something else",
              [s, kind](ir::Program& p) { p.stages[s].op = kind; });
    }
  }
  void whole() {
    frame("execution", [](ir::Program& p) {
      p.execution =
          p.execution == ir::Execution::once ? ir::Execution::persistent : ir::Execution::once;
    });
    frame("another section", [](ir::Program& p) {
      p.sections.push_back(p.sections.front());
      p.sections.back().name += "-2";
      p.sections.back().source_index += 1;
    });
    frame("another target", [](ir::Program& p) { p.target.name += "-2"; });
    frame("smaller memory", [](ir::Program& p) { p.target.spaces[0].bytes = 4; });
    frame("coarser alignment", [](ir::Program& p) { p.target.spaces[0].alignment = 64; });
    results();
    for (std::size_t e = 0; e < sketch_.frame.edges.size(); ++e) {
      frame("another producer", [e](ir::Program& p) {
        ir::Edge& edge = p.edges[e];
        edge.producer =
            ir::StageId((edge.producer.value() + 1) % static_cast<std::uint32_t>(p.stages.size()));
      });
    }
  }

  std::vector<Change> out;

 private:
  void frame(const char* what, const std::function<void(ir::Program&)>& edit) {
    edit(out.emplace_back(Change{what, sketch_}).sketch.frame);
  }

  void edit(const char* what, std::size_t list,
            const std::function<void(Ops&, Ops::difference_type)>& change, std::size_t at) {
    Sketch& next = out.emplace_back(Change{what, sketch_}).sketch;
    std::size_t number = 0;
    for_each_list(next, [&](Ops& ops) {
      if (number++ == list) change(ops, static_cast<Ops::difference_type>(at));
    });
  }

  void op(std::size_t list, std::size_t i, const SketchOp& op, bool last) {
    using At = Ops::difference_type;
    edit(
        "op dropped", list, [](Ops& ops, At at) { ops.erase(ops.begin() + at); }, i);
    edit(
        "op doubled", list,
        [](Ops& ops, At at) { ops.insert(ops.begin() + at, SketchOp(*(ops.begin() + at))); }, i);
    if (!last) {
      edit(
          "op exchanged with the next", list,
          [](Ops& ops, At at) { std::iter_swap(ops.begin() + at, ops.begin() + at + 1); }, i);
    }
    const auto with_op = [&](const char* what, const std::function<void(SketchOp&)>& change) {
      edit(
          what, list, [&change](Ops& ops, At at) { change(*(ops.begin() + at)); }, i);
    };
    if (op.code == ir::OpCode::run) {
      for (std::size_t a = 0; a < op.accesses.size(); ++a) access(with_op, op, a);
      return;
    }
    with_op("count raised", [](SketchOp& o) { ++o.count; });
    with_op("count lowered", [](SketchOp& o) { --o.count; });
    if (op.code == ir::OpCode::repeat)
      with_op("loop runs 100,000,000 times", [](SketchOp& o) { o.count = 100'000'000; });
    if (op.code == ir::OpCode::wait)
      with_op("wait turned into await", [](SketchOp& o) { o.code = ir::OpCode::await; });
    if (op.code == ir::OpCode::await)
      with_op("await turned into wait", [](SketchOp& o) { o.code = ir::OpCode::wait; });
    const auto objects = static_cast<std::uint32_t>(sketch_.frame.semaphores.size());
    if ((op.code == ir::OpCode::wait || op.code == ir::OpCode::post) && objects > 1)
      with_op("another semaphore", [objects](SketchOp& o) { o.object = (o.object + 1) % objects; });
  }

  template <typename WithOp>
  void access(const WithOp& with_op, const SketchOp& op, std::size_t a) {
    const std::int64_t unit = op.accesses[a].kind == ir::RegionKind::bytes ? kCellBytes : 1;
    for (const std::int64_t shift : {unit, -unit}) {
      with_op("region shifted", [a, shift](SketchOp& o) {
        o.accesses[a].bound[0].base += shift;
        o.accesses[a].bound[1].base += shift;
      });
      with_op("region resized", [a, shift](SketchOp& o) { o.accesses[a].bound[1].base += shift; });
    }
    if (op.accesses[a].kind == ir::RegionKind::page)
      with_op("another page", [a](SketchOp& o) { ++o.accesses[a].page; });
    with_op("access dropped", [a](SketchOp& o) {
      o.accesses.erase(o.accesses.begin() + static_cast<std::ptrdiff_t>(a));
    });
  }

  void semaphores() {
    for (std::size_t s = 0; s < sketch_.frame.semaphores.size(); ++s) {
      frame("initial value raised", [s](ir::Program& p) { ++p.semaphores[s].initial; });
      frame("initial value lowered", [s](ir::Program& p) { --p.semaphores[s].initial; });
      frame("maximum lowered", [s](ir::Program& p) { --p.semaphores[s].maximum; });
      frame("semaphore kept or reset", [s](ir::Program& p) {
        auto& restart = p.semaphores[s].restart;
        restart = restart == ir::Restart::keep ? ir::Restart::reset : ir::Restart::keep;
      });
    }
  }

  void buffers() {
    for (std::size_t b = 0; b < sketch_.frame.buffers.size(); ++b) {
      for (const std::uint64_t by : {2, 4, 8, 1 << 20})
        frame("address moved", [b, by](ir::Program& p) { p.buffers[b].address += by; });
      frame("address lowered", [b](ir::Program& p) {
        p.buffers[b].address -= std::min<std::uint64_t>(p.buffers[b].address, 4);
      });
      frame("onto another buffer", [b](ir::Program& p) {
        p.buffers[b].address = p.buffers[(b + 1) % p.buffers.size()].address;
      });
      frame("a page less", [b](ir::Program& p) { --p.buffers[b].pages; });
      frame("a page more", [b](ir::Program& p) { ++p.buffers[b].pages; });
      frame("depth", [b](ir::Program& p) {
        auto& depth = p.buffers[b].depth;
        depth = depth == ir::Depth::exact ? ir::Depth::guaranteed : ir::Depth::exact;
      });
      frame("buffer without contents",
            [b](ir::Program& p) { p.buffers[b].init = ir::Init::undefined; });
    }
  }

  void results() {
    for (std::size_t r = 0; r < sketch_.frame.postconditions.size(); ++r) {
      frame("a term twice", [r](ir::Program& p) {
        auto& terms = p.postconditions[r].terms;
        terms.push_back(ir::Region(terms.front()));
      });
      frame("another term", [r](ir::Program& p) {
        ir::Region& term = p.postconditions[r].terms.front();
        term.bound[0] += 1;
        term.bound[1] += 1;
      });
      frame("a result less", [r](ir::Program& p) {
        p.postconditions.erase(p.postconditions.begin() + static_cast<std::ptrdiff_t>(r));
      });
    }
  }

  const Sketch& sketch_;
};

}  // namespace

std::vector<Change> all_changes(const Sketch& sketch) {
  Changer changer(sketch);
  changer.ops();
  changer.objects();
  changer.whole();
  return std::move(changer.out);
}

}  // namespace spatialcert::tests
