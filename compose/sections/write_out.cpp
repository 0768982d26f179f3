// From plans to a program: buffers and semaphores on their sites, engine programs, edges.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "compose/sections/engine_writer.hpp"
#include "compose/sections/section.hpp"
#include "compose/sections/unused.hpp"

namespace spatialcert::compose::sections {
namespace {

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::numeric_limits<std::uint64_t>::max() : out;
}

std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::uint64_t>::max() : out;
}

template <typename Id, typename Items>
Id index_of(const Items& items, const std::string& name) {
  const auto at =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item == name; });
  return Id(static_cast<std::size_t>(at - items.begin()));
}

class Writer {
 public:
  explicit Writer(const Section& section) : section_(section), about_(*section.description) {}

  ir::Program run() {
    program_.name = about_.name;
    program_.target = about_.target;
    program_.result_unspecified = true;
    program_.sections.push_back({about_.name, 0, {}, ir::kNoLocation});
    if (!section_.approximate.empty()) {
      program_.sections.front().numerics = {false, section_.approximate};
    }
    add_tensors();
    program_.stages = section_.stages;
    std::vector<std::uint32_t> order(about_.sites.size());
    for (std::uint32_t s = 0; s < order.size(); ++s) order[s] = s;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return about_.sites[a] < about_.sites[b]; });
    for (const std::uint32_t s : order) add_site(about_.sites[s], section_.plans[s]);
    std::stable_sort(program_.programs.begin(), program_.programs.end(),
                     [](const ir::EngineProgram& a, const ir::EngineProgram& b) {
                       return std::tie(a.site, a.engine) < std::tie(b.site, b.engine);
                     });
    leave_out_unused(program_);
    return std::move(program_);
  }

 private:
  void add_tensors() {
    for (std::size_t t = 0; t < section_.tensors.size(); ++t) {
      const SectionTensor& own = section_.tensors[t];
      const bool read = section_.read[t] != 0 || section_.written_in_part[t] != 0;
      ir::Tensor tensor;
      tensor.name = own.name;
      tensor.rows = own.rows;
      tensor.cols = own.cols;
      tensor.dtype = own.dtype;
      // What a view holds at first is what its base does.
      tensor.init = read && own.view_of.empty() ? ir::Init::external : ir::Init::undefined;
      tensor.owner = own.owner;
      tensor.values = own.values;
      if (!own.view_of.empty()) {
        tensor.view = {ir::TensorId(section_.tensor(own.view_of)), own.view_offset};
      }
      tensor.role = section_.written[t] == 0 ? own.role
                    : read                   ? ir::TensorRole::state
                                             : ir::TensorRole::output;
      program_.tensors.push_back(std::move(tensor));
    }
  }

  void add_site(const ir::Site& site, const Plan& plan) {
    if (plan.body.empty()) return;
    const std::vector<StoreObjects> objects = place(site, plan);
    for (const auto& [producer, store, consumer] : edges(plan)) {
      for (const ir::BufferId buffer : objects[store].buffers) {
        program_.edges.push_back({ir::StageId(producer), buffer, ir::StageId(consumer), {}});
      }
    }
    const std::pair<EngineRole, const std::string*> engines[] = {
        {EngineRole::load, &about_.load_engine},
        {EngineRole::compute, &about_.compute_engine},
        {EngineRole::store, &about_.store_engine}};
    for (const auto& [role, name] : engines) {
      EngineWriter writer(program_, plan, objects, role, about_.handover, about_.depth);
      std::vector<ir::Op> ops = writer.run();
      if (ops.empty()) continue;
      ir::EngineProgram engine;
      engine.site = site;
      engine.engine = index_of<ir::EngineId>(about_.target.engines, *name);
      engine.spans.push_back({ir::SectionId(0U), {}, 0, static_cast<std::uint32_t>(ops.size())});
      engine.ops = std::move(ops);
      program_.programs.push_back(std::move(engine));
    }
  }

  /// Buffers one after the other from the base of the memory, and their semaphores.
  std::vector<StoreObjects> place(const ir::Site& site, const Plan& plan) {
    std::size_t space = 0;
    while (about_.target.spaces[space].name != about_.space) ++space;
    const ir::MemorySpace& memory = about_.target.spaces[space];
    std::vector<StoreObjects> out;
    std::map<std::string, std::uint32_t> widths;
    std::uint64_t end = 0;
    std::uint64_t semaphores = 0;
    for (const Store& store : plan.stores) {
      const bool stream = store.kind == Store::Kind::stream;
      const bool fifo = stream && about_.handover == Handover::fifo;
      const std::uint32_t slots = stream && !fifo ? about_.depth : 1;
      const std::uint64_t page =
          saturating_mul(saturating_mul(store.rows, store.cols), ir::size_of(store.dtype));
      const std::uint32_t width = widths[store.name]++;
      StoreObjects objects;
      for (std::uint32_t slot = 0; slot < slots; ++slot) {
        ir::Buffer buffer;
        buffer.name = name_of(site, store, width, slots, slot);
        buffer.kind = fifo                                 ? ir::BufferKind::fifo
                      : store.kind == Store::Kind::scratch ? ir::BufferKind::scratch
                                                           : ir::BufferKind::interm;
        buffer.site = site;
        buffer.space = ir::SpaceId(space);
        buffer.page_bytes = page;
        buffer.pages = fifo ? about_.depth : 1;
        if (!store.shapeless) buffer.tile = ir::Tile{store.rows, store.cols, store.dtype};
        buffer.address = saturating_add(end, memory.alignment - 1) & ~(memory.alignment - 1);
        end = saturating_add(buffer.address, saturating_mul(page, buffer.pages));
        objects.buffers.emplace_back(program_.buffers.size());
        if (stream && !fifo) {
          objects.full.push_back(add_semaphore(site, buffer.name + "/full", 0));
          objects.free.push_back(add_semaphore(site, buffer.name + "/free", 1));
          semaphores += 2;
        }
        program_.buffers.push_back(std::move(buffer));
      }
      out.push_back(std::move(objects));
    }
    expect_room(site, fmt::format("bytes of \"{}\"", memory.name), end, memory.bytes);
    expect_room(site, "semaphores", semaphores, about_.target.semaphores_per_site);
    return out;
  }

  void expect_room(const ir::Site& site, const std::string& what, std::uint64_t need,
                   std::uint64_t size) const {
    if (need <= size) return;
    throw ir::Refusal{
        "", 0, fmt::format("section {}.sites[{},{},{}]", about_.name, site.chip, site.x, site.y),
        fmt::format("at most the {} {} that the site has", size, what), fmt::format("{}", need)};
  }

  /// Stores of one name and different width (a narrower last tile) are told apart by `.last`; slots
  /// by number.
  [[nodiscard]] std::string name_of(const ir::Site& site, const Store& store, std::uint32_t width,
                                    std::uint32_t slots, std::uint32_t slot) const {
    const std::size_t slash = store.name.find('/');
    std::string kind = store.name.substr(0, slash);
    if (width > 0) kind += ".last";
    if (slots > 1) kind += fmt::format(".{}", slot);
    return fmt::format("{}/{}.{}.{}/{}{}", about_.name, site.chip, site.x, site.y, kind,
                       store.name.substr(slash));
  }

  ir::SemaphoreId add_semaphore(const ir::Site& site, std::string name, std::int64_t initial) {
    ir::Semaphore semaphore;
    semaphore.name = std::move(name);
    semaphore.site = site;
    semaphore.initial = initial;
    semaphore.maximum = 1;
    program_.semaphores.push_back(std::move(semaphore));
    return ir::SemaphoreId(program_.semaphores.size() - 1);
  }

  using Edges = std::set<std::tuple<StageIndex, StoreId, StageIndex>>;

  /// Who writes what whom reads. One walk sees them all: whatever a loop reads before it writes
  /// it, the same stage writes.
  static Edges edges(const Plan& plan) {
    Edges out;
    std::vector<StageIndex> producer(plan.stores.size(), 0);
    walk(plan.body, producer, out);
    return out;
  }

  static void walk(const std::vector<Node>& nodes, std::vector<StageIndex>& producer, Edges& out) {
    const auto loads = [&](const std::vector<Load>& list) {
      for (const Load& load : list) producer[load.to.store] = load.stage;
    };
    for (const Node& node : nodes) {
      if (const auto* loop = std::get_if<Loop>(&node.what)) walk(loop->body, producer, out);
      if (const auto* hold = std::get_if<Hold>(&node.what)) {
        loads(hold->loads);
        walk(hold->body, producer, out);
      }
      const auto* step = std::get_if<TileStep>(&node.what);
      if (step == nullptr) continue;
      loads(step->loads);
      for (const Run& run : step->runs) {
        for (const StorePart& from : run.from) {
          out.emplace(producer[from.store], from.store, run.stage);
        }
        producer[run.to.store] = run.stage;
      }
      if (step->save) {
        out.emplace(producer[step->save->from.store], step->save->from.store, step->save->stage);
      }
    }
  }

  const Section& section_;
  const SectionDescription& about_;
  ir::Program program_;
};

}  // namespace

ir::Program written_out(const Section& section) { return Writer(section).run(); }

}  // namespace spatialcert::compose::sections
