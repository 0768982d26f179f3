#include "tests/oracle/maker.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::tests {
namespace {

constexpr std::uint32_t kX = 0;
constexpr std::uint32_t kY = 1;
constexpr std::int64_t kInputRows = 16;
constexpr std::int64_t kResultRows = 64;
constexpr ir::HandoffId kLocal(0U);
constexpr ir::HandoffId kLink(1U);

ir::Target target() {
  ir::Target t;
  t.name = "random";
  t.chips = 2;
  t.mesh_width = 2;
  t.mesh_height = 1;
  t.engines = {"load", "compute", "store", "move"};
  t.spaces = {{"sram", 1024, 4}};
  t.semaphores_per_site = 32;
  t.semaphore_maximum = 31;
  t.handoffs = {{"local", false}, {"link", true}};
  return t;
}

}  // namespace

Bound scaled(const Bound& bound, std::int64_t factor) {
  Bound out{bound.base * factor, bound.terms};
  for (auto& [level, coefficient] : out.terms) coefficient *= factor;
  return out;
}

Maker::Maker(std::uint64_t seed, bool persistent) : random(seed), persistent_(persistent) {
  ir::Program& frame = sketch.frame;
  frame.name = "random";
  frame.target = target();
  frame.execution = persistent ? ir::Execution::persistent : ir::Execution::once;
  if (persistent) note(Feature::persistent);
  frame.sections.push_back({"s", 0, {}, ir::kNoLocation});
  frame.result_unspecified = true;
  add_tensor("x", ir::TensorRole::input, kInputRows, ir::Init::external);
  add_tensor("y", ir::TensorRole::output, kResultRows, ir::Init::undefined);
  place_programs();
}

void Maker::place_programs() {
  const std::uint32_t n = random.chance(5) ? 1 : 2 + random.below(3);
  const std::uint32_t layout = random.below(4);
  for (std::uint32_t p = 0; p < n; ++p) {
    const bool second = layout > 1 && p >= (n + 1) / 2;
    ir::EngineProgram program;
    program.site = second ? (layout == 2 ? ir::Site{0, 1, 0} : ir::Site{1, 0, 0}) : ir::Site{};
    program.engine = ir::EngineId(second ? p - (n + 1) / 2 : p);
    sketch.frame.programs.push_back(program);
    if (second) note(layout == 2 ? Feature::two_sites : Feature::two_chips);
  }
  sketch.ops.resize(n);
}

std::vector<std::uint32_t> Maker::choose(std::uint32_t n) {
  std::vector<std::uint32_t> all(programs());
  for (std::uint32_t p = 0; p < all.size(); ++p) all[p] = p;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  if (all.size() > n) all.resize(n);
  return all;
}

std::uint32_t Maker::add_tensor(const char* name, ir::TensorRole role, std::int64_t rows,
                                ir::Init init) {
  ir::Tensor tensor;
  tensor.name = name;
  tensor.role = role;
  tensor.rows = static_cast<std::uint64_t>(rows);
  tensor.cols = kCell;
  tensor.dtype = ir::DType::i8;
  tensor.init = init;
  sketch.frame.tensors.push_back(tensor);
  return static_cast<std::uint32_t>(sketch.frame.tensors.size() - 1);
}

std::uint64_t Maker::take(ir::Site site, std::int64_t bytes) {
  auto at =
      std::find_if(used_.begin(), used_.end(), [&](const auto& u) { return u.first == site; });
  if (at == used_.end()) at = used_.insert(used_.end(), {site, 0});
  const std::uint64_t address = at->second;
  at->second += static_cast<std::uint64_t>(bytes);
  return address;
}

std::uint32_t Maker::semaphore(std::uint32_t waiter, std::int64_t initial, std::int64_t maximum,
                               ir::Restart restart) {
  ir::Semaphore s;
  s.name = fmt::format("s{}", sketch.frame.semaphores.size());
  s.site = site(waiter);
  s.initial = initial;
  s.maximum = maximum + (random.chance(30) ? 1 : 0);
  s.restart = restart;
  s.handoff = kLink;
  if (initial > 0) note(Feature::initial_value);
  sketch.frame.semaphores.push_back(s);
  return static_cast<std::uint32_t>(sketch.frame.semaphores.size() - 1);
}

std::uint32_t Maker::fifo(std::uint32_t from, std::uint32_t to, std::int64_t pages) {
  ir::Buffer b;
  b.name = fmt::format("f{}", sketch.frame.buffers.size());
  b.kind = ir::BufferKind::fifo;
  b.site = site(random.chance(50) ? from : to);
  b.space = ir::SpaceId(0U);
  b.page_bytes = kCell;
  b.pages = static_cast<std::uint64_t>(pages);
  b.handoff = site(from) == site(to) ? kLocal : kLink;
  if (random.chance(25)) {
    b.depth = ir::Depth::guaranteed;
    note(Feature::guaranteed);
  }
  b.address = take(b.site, pages * kCell);
  sketch.frame.buffers.push_back(b);
  return static_cast<std::uint32_t>(sketch.frame.buffers.size() - 1);
}

std::optional<Shared> Maker::reused(const std::vector<std::uint32_t>& users, std::int64_t cells,
                                    ir::Init init) {
  if (made_.empty() || !random.chance(25)) return std::nullopt;
  const Made& made = made_[random.below(made_.size())];
  if (made.cells < cells || made.init != init) return std::nullopt;
  for (const std::uint32_t p : users) {
    if (made.store.kind == ir::RegionKind::tensor) continue;
    if (std::find(made.sites.begin(), made.sites.end(), site(p)) == made.sites.end())
      return std::nullopt;
  }
  note(Feature::reused_store);
  return made.store;
}

Shared Maker::shared(const std::vector<std::uint32_t>& users, std::int64_t cells, ir::Init init) {
  if (const auto earlier = reused(users, cells, init)) return *earlier;
  Made made{fresh(users, cells, init), {}, cells, init};
  for (const std::uint32_t p : users) made.sites.push_back(site(p));
  made_.push_back(made);
  return made.store;
}

Shared Maker::fresh(const std::vector<std::uint32_t>& users, std::int64_t cells, ir::Init init) {
  bool one_site = true;
  for (const std::uint32_t p : users) one_site &= site(p) == site(users.front());
  const bool view = random.chance(25);
  if (view) note(Feature::view);
  Shared out;
  if (!one_site || random.chance(20)) {
    const auto name = fmt::format("t{}", sketch.frame.tensors.size());
    out.kind = ir::RegionKind::tensor;
    // One more row in front, which a view leaves out.
    out.object = add_tensor(name.c_str(), ir::TensorRole::activation, cells, init);
    out.read_object = out.object;
    if (!view) return out;
    out.read_object =
        add_tensor((name + "v").c_str(), ir::TensorRole::activation, cells, ir::Init::undefined);
    sketch.frame.tensors[out.read_object].view = {ir::TensorId(out.object), 0};
    return out;
  }
  ir::Buffer b;
  b.name = fmt::format("b{}", sketch.frame.buffers.size());
  b.kind = random.chance(50) ? ir::BufferKind::scratch : ir::BufferKind::interm;
  b.site = site(users.front());
  b.space = ir::SpaceId(0U);
  b.page_bytes = kCell;
  b.pages = static_cast<std::uint64_t>(cells);
  b.init = init;
  if (random.chance(init == ir::Init::undefined ? 15 : 70)) b.lifetime = ir::Lifetime::resident;
  b.address = take(b.site, cells * kCell);
  out.object = static_cast<std::uint32_t>(sketch.frame.buffers.size());
  out.read_object = out.object;
  sketch.frame.buffers.push_back(b);
  if (!view) return out;
  b.view = {ir::BufferId(out.object), 0};
  b.name += "v";
  b.init = ir::Init::undefined;
  out.read_object = static_cast<std::uint32_t>(sketch.frame.buffers.size());
  sketch.frame.buffers.push_back(b);
  return out;
}

std::int64_t Maker::input_rows(std::int64_t rows) { return random.between(0, kInputRows - rows); }

std::int64_t Maker::result_rows(std::int64_t rows) {
  const std::int64_t first = next_result_;
  next_result_ += rows;
  return first;
}

namespace {

SketchAccess tensor_row(std::uint32_t tensor, const Bound& row, bool write) {
  SketchAccess a;
  a.kind = ir::RegionKind::tensor;
  a.object = tensor;
  a.bound[0] = row;
  a.bound[1] = row.plus(1);
  a.bound[3] = fixed(kCell);
  a.write = write;
  return a;
}

}  // namespace

SketchAccess Maker::input(const Bound& row) const { return tensor_row(kX, row, false); }
SketchAccess Maker::result(const Bound& row) const { return tensor_row(kY, row, true); }

SketchAccess Maker::page(std::uint32_t fifo, std::uint32_t page, bool write) {
  SketchAccess a;
  a.kind = ir::RegionKind::page;
  a.object = fifo;
  a.page = page;
  a.bound[1] = fixed(kCell);
  a.write = write;
  return a;
}

SketchAccess Maker::cell(const Shared& shared, const Bound& index, bool write) {
  const std::uint32_t object = write ? shared.object : shared.read_object;
  if (shared.kind == ir::RegionKind::tensor) return tensor_row(object, index, write);
  SketchAccess a;
  a.object = object;
  a.bound[0] = scaled(index, kCell);
  a.bound[1] = a.bound[0].plus(kCell);
  a.write = write;
  return a;
}

void Maker::emit(Ops& out, ir::OpCode code, std::uint32_t object, std::int64_t count) {
  out.push_back({code, object, count, {}, {}});
}

std::uint32_t Maker::run(Ops& out, ir::OpKind op, std::vector<SketchAccess> reads,
                         std::optional<SketchAccess> write) {
  ir::Stage stage;
  const auto number = static_cast<std::uint32_t>(sketch.frame.stages.size());
  stage.name = fmt::format("r{}", number);
  stage.op = op;
  stage.section = ir::SectionId(0U);
  sketch.frame.stages.push_back(stage);
  if (write) reads.push_back(*write);
  out.push_back({ir::OpCode::run, number, 0, std::move(reads), {}});
  return number;
}

std::uint32_t Maker::run(Ops& out, std::vector<SketchAccess> reads,
                         std::optional<SketchAccess> write) {
  if (random.chance(15)) reads.push_back(input(fixed(input_rows(1))));
  ir::OpKind op = reads.size() == 1 ? ir::OpKind::copy : ir::OpKind::add;
  if (reads.size() == 1 && random.chance(5)) op = ir::OpKind::neg;
  if (reads.size() == 2 && random.chance(5)) op = ir::OpKind::sub;
  return run(out, op, std::move(reads), write);
}

void Maker::edge(std::uint32_t producer, std::uint32_t fifo, std::uint32_t consumer) {
  sketch.frame.edges.push_back({ir::StageId(producer), ir::BufferId(fifo), ir::StageId(consumer),
                                sketch.frame.buffers[fifo].handoff});
}

void Maker::loop(Ops& out, std::int64_t trips,
                 const std::function<void(Ops&, const Bound&)>& body) {
  const bool nest = trips % 2 == 0 && trips > 2;
  const std::uint32_t form = random.below(nest ? 4 : 3);
  if (form == 0 || trips < 2) {
    for (std::int64_t t = 0; t < trips; ++t) body(out, fixed(t));
    return;
  }
  note(Feature::loop);
  SketchOp outer{ir::OpCode::repeat, 0, trips, {}, {}};
  if (form == 3) {
    note(Feature::nested_loop);
    outer.count = trips / 2;
    SketchOp inner{ir::OpCode::repeat, 0, 2, {}, {}};
    body(inner.body, {0, {{0, 2}, {1, 1}}});
    outer.body.push_back(std::move(inner));
  } else {
    body(outer.body, {0, {{0, 1}}});
  }
  out.push_back(std::move(outer));
}

}  // namespace spatialcert::tests
