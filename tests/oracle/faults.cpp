// One fault in an undamaged program.
#include <algorithm>

#include "tests/oracle/maker.hpp"

namespace spatialcert::tests {
namespace {

using Filter = bool (*)(const SketchOp&);

/// A random op that passes the filter, as list and position; list is null if there is none.
std::pair<Ops*, std::size_t> pick(Sketch& sketch, Random& random, Filter filter) {
  std::vector<std::pair<Ops*, std::size_t>> all;
  for_each_list(sketch, [&](Ops& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (filter(ops[i])) all.emplace_back(&ops, i);
    }
  });
  if (all.empty()) return {nullptr, 0};
  return all[random.below(all.size())];
}

bool any(const SketchOp&) { return true; }
bool counted(const SketchOp& op) { return op.code != ir::OpCode::run; }
bool accesses(const SketchOp& op) { return !op.accesses.empty(); }

bool change_region(Sketch& sketch, Random& random) {
  const auto [ops, at] = pick(sketch, random, accesses);
  if (ops == nullptr) return false;
  auto& all = (*ops)[at].accesses;
  SketchAccess& access = all[random.below(all.size())];
  if (access.kind == ir::RegionKind::page && random.chance(60)) {
    access.page = random.below(3);
    return true;
  }
  const std::int64_t unit = access.kind == ir::RegionKind::bytes ? kCell : 1;
  const std::int64_t shift = random.chance(50) ? unit : -unit;
  switch (random.below(4)) {
    case 0:
      access.bound[1].base += shift;
      break;
    case 1:
      for (auto& [level, coefficient] : access.bound[0].terms) coefficient += shift;
      access.bound[1].terms = access.bound[0].terms;
      if (!access.bound[0].terms.empty()) break;
      [[fallthrough]];
    default:
      access.bound[0].base += shift;
      access.bound[1].base += shift;
  }
  return true;
}

/// The slots of a FIFO of guaranteed depth have no address.
bool has_address(const ir::Buffer& b) { return !b.view && b.depth == ir::Depth::exact; }

bool move_address(Sketch& sketch, Random& random) {
  auto& buffers = sketch.frame.buffers;
  std::vector<std::size_t> movable;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (has_address(buffers[i])) movable.push_back(i);
  }
  if (movable.empty()) return false;
  ir::Buffer& b = buffers[movable[random.below(movable.size())]];
  const ir::Buffer& other = buffers[movable[random.below(movable.size())]];
  const std::uint64_t old = b.address;
  switch (random.below(4)) {
    case 0:
      b.address += 2;  // misaligned
      break;
    case 1:  // up to the end of the space, or past it
      b.address = sketch.frame.target.spaces[0].bytes - (random.chance(80) ? kCell : b.bytes());
      break;
    case 2:
      b.address = other.address;
      break;
    default:  // by one cell into whatever follows, or just behind it
      b.address = other.address + (random.chance(50) ? other.bytes() - kCell : kCell);
  }
  for (ir::Buffer& view : buffers) {
    if (view.view && &buffers[view.view->base.value()] == &b) view.address += b.address - old;
  }
  return true;
}

/// A token that nobody takes: a wait that is left out, or a post more, at the end of a program.
bool leave_token(Sketch& sketch, Random& random) {
  std::vector<std::pair<std::size_t, std::uint32_t>> last;  // program, semaphore
  for (std::size_t p = 0; p < sketch.ops.size(); ++p) {
    const Ops& ops = sketch.ops[p];
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (op->code != ir::OpCode::wait && op->code != ir::OpCode::post) continue;
      if (sketch.frame.semaphores[op->object].restart == ir::Restart::keep)
        last.emplace_back(p, op->object);
      break;
    }
  }
  if (last.empty()) return false;
  const auto [p, semaphore] = last[random.below(last.size())];
  Ops& ops = sketch.ops[p];
  const auto is_wait = [&, s = semaphore](const SketchOp& op) {
    return op.code == ir::OpCode::wait && op.object == s;
  };
  const auto wait = std::find_if(ops.rbegin(), ops.rend(), is_wait);
  if (wait != ops.rend() && random.chance(50)) {
    ops.erase(std::next(wait).base());
    return true;
  }
  if (sketch.frame.semaphores[semaphore].maximum < 0x7fff)
    sketch.frame.semaphores[semaphore].maximum += 1;  // so that it is no overflow as well
  SketchOp post;
  post.code = ir::OpCode::post;
  post.object = semaphore;
  post.count = 1;
  ops.push_back(post);
  return true;
}

bool change_semaphore(Sketch& sketch, Random& random, bool maximum) {
  auto& semaphores = sketch.frame.semaphores;
  if (semaphores.empty()) return false;
  ir::Semaphore& s = semaphores[random.below(semaphores.size())];
  if (maximum) {
    s.maximum -= 1 + random.below(2);
  } else {
    s.initial += random.chance(50) ? 1 : -1;
  }
  return true;
}

bool fewer_pages(Sketch& sketch) {
  for (ir::Buffer& b : sketch.frame.buffers) {
    if (b.kind != ir::BufferKind::fifo || b.pages < 2) continue;
    --b.pages;
    return true;
  }
  return false;
}

bool drop_init(Sketch& sketch) {
  for (ir::Buffer& b : sketch.frame.buffers) {
    if (b.init == ir::Init::undefined) continue;
    b.init = ir::Init::undefined;
    return true;
  }
  for (auto t = sketch.frame.tensors.rbegin(); t != sketch.frame.tensors.rend(); ++t) {
    if (t->init == ir::Init::undefined) continue;
    t->init = ir::Init::undefined;
    return true;
  }
  return false;
}

bool change_result(Sketch& sketch, Random& random) {
  auto& all = sketch.frame.postconditions;
  if (all.empty()) return false;
  ir::Postcondition& post = all[random.below(all.size())];
  ir::Region& term = post.terms[random.below(post.terms.size())];
  switch (random.below(3)) {
    case 0:
      post.terms.push_back(term);
      break;
    case 1:
      std::swap(post.region, all[random.below(all.size())].region);
      break;
    default:
      term.bound[0] += term.bound[0] == 0 ? 1 : -1;
      term.bound[1] = term.bound[0] + 1;
  }
  return true;
}

bool change_edge(Sketch& sketch, Random& random) {
  auto& edges = sketch.frame.edges;
  if (edges.empty()) return false;
  edges[random.below(edges.size())].producer =
      ir::StageId(random.below(sketch.frame.stages.size()));
  return true;
}

bool change_ops(Sketch& sketch, Random& random, Fault fault) {
  const bool count = fault == Fault::change_count;
  const auto [ops, at] =
      pick(sketch, random, count || (fault == Fault::drop_op && random.chance(80)) ? counted : any);
  if (ops == nullptr) return false;
  const auto here = ops->begin() + static_cast<std::ptrdiff_t>(at);
  switch (fault) {
    case Fault::drop_op:
      ops->erase(here);
      return true;
    case Fault::double_op:
      ops->insert(here, SketchOp(*here));
      return true;
    case Fault::swap_ops:
      if (at + 1 == ops->size()) return false;
      std::iter_swap(here, here + 1);
      return true;
    default:
      here->count += random.chance(50) ? 1 : -1;
      return true;
  }
}

}  // namespace

bool damage(Sketch& sketch, Random& random, Fault& made) {
  // Changes of ops are most of what goes wrong in compilers. The weights see to it that every rule
  // has its share of refutations; kinds that many programs have nothing for are drawn more often.
  constexpr std::pair<Fault, std::uint32_t> kWeights[] = {
      {Fault::drop_op, 12},      {Fault::double_op, 4},     {Fault::swap_ops, 10},
      {Fault::change_count, 8},  {Fault::change_region, 8}, {Fault::move_address, 26},
      {Fault::lower_maximum, 5}, {Fault::fewer_pages, 2},   {Fault::change_initial, 4},
      {Fault::drop_init, 9},     {Fault::change_edge, 7},   {Fault::change_result, 30},
      {Fault::leave_token, 14}};
  std::uint32_t total = 0;
  for (const auto& [fault, weight] : kWeights) total += weight;
  std::uint32_t drawn = random.below(total);
  for (const auto& [fault, weight] : kWeights) {
    made = fault;
    if (drawn < weight) break;
    drawn -= weight;
  }
  switch (made) {
    case Fault::change_region:
      return change_region(sketch, random);
    case Fault::move_address:
      return move_address(sketch, random);
    case Fault::lower_maximum:
      return change_semaphore(sketch, random, true);
    case Fault::change_initial:
      return change_semaphore(sketch, random, false);
    case Fault::fewer_pages:
      return fewer_pages(sketch);
    case Fault::drop_init:
      return drop_init(sketch);
    case Fault::change_edge:
      return change_edge(sketch, random);
    case Fault::change_result:
      return change_result(sketch, random);
    case Fault::leave_token:
      return leave_token(sketch, random);
    default:
      return change_ops(sketch, random, made);
  }
}

}  // namespace spatialcert::tests
