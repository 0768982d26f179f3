#include "tests/composed/compositions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compose/composition/phase_memory.hpp"
#include "ir/require.hpp"
#include "ir/validate.hpp"
#include "tests/composition/edits.hpp"
#include "tests/composition/section_maker.hpp"

namespace spatialcert::tests {
namespace {

using ir::OpCode;

constexpr ir::Site kA{0, 0, 0}, kB{0, 1, 0}, kFar{1, 0, 0};
constexpr std::uint64_t kPage = 8;       ///< bytes of a page
constexpr std::uint64_t kResident = 16;  ///< bytes of every site that resident buffers lie in
constexpr const char* kState = "s";

ir::Target small_target() {
  ir::Target target = test_target();
  target.chips = 2;
  target.mesh_width = 2;
  target.mesh_height = 1;
  target.spaces = {{"sram", 256, kPage}, {"dram", 256, 1}};
  target.semaphore_maximum = 7;
  return target;
}

/// Up to four engine programs.
const std::vector<std::vector<TestPlace>>& all_places() {
  static const std::vector<std::vector<TestPlace>> kAll{
      {{kA, Engine::load}, {kA, Engine::store}},
      {{kA, Engine::load}, {kA, Engine::compute}, {kA, Engine::store}},
      {{kA, Engine::load}, {kA, Engine::store}, {kB, Engine::load}},
      {{kA, Engine::load}, {kFar, Engine::load}, {kFar, Engine::store}},
      {{kA, Engine::load}, {kA, Engine::store}, {kFar, Engine::load}, {kFar, Engine::store}},
      {{kA, Engine::load}, {kA, Engine::compute}, {kB, Engine::load}, {kB, Engine::store}}};
  return kAll;
}

/// A link that the section has opened and the next one has to take up.
struct OpenLink {
  std::string name;
  std::string tensor;  ///< that it hands over; none: pages
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Makes one section after the other, and knows what those before have declared and touched.
class Assembly {
 public:
  explicit Assembly(std::uint64_t seed) : random_(seed * 2654435761U + 17) { sample_.seed = seed; }

  CompositionSample run() {
    sample_.persistent = random_.chance(30);
    const auto& all = all_places();
    places_ = all[random_.below(sample_.persistent ? 4 : all.size())];
    const std::uint32_t sections = sample_.persistent ? 2 : 2 + random_.below(2);
    for (const char* name : {"x", "w"}) defined_.insert(name);
    for (std::uint32_t s = 0; s < sections; ++s) make_section(s, s + 1 == sections);
    put_together();
    bound_residents();
    if (!random_.chance(12)) {
      const auto moved = compose::separate_phase_memory(sample_.program);
      if (std::holds_alternative<compose::Refused>(moved)) feature("memory too small");
    } else {
      feature("memory as it was");
    }
    sample_.undamaged = sample_.program;
    for (int tries = 0; tries < 12 && sample_.fault == "none" && damaged_; ++tries) {
      const std::string made = damage_composition(sample_.program, random_);
      if (!made.empty()) sample_.fault = made;
    }
    return std::move(sample_);
  }

 private:
  struct Uses {
    std::set<std::string> read, written;
  };

  void feature(const std::string& name) { sample_.features.push_back(name); }

  // ---- tensors
  // -----------------------------------------------------------------------------------

  /// Every name has one size everywhere.
  [[nodiscard]] static std::uint64_t columns(const std::string& name) {
    std::uint64_t sum = 0;
    for (const char c : name) sum = sum * 31 + static_cast<unsigned char>(c);
    return 1 + sum % 4;
  }

  void declare(const std::string& name, bool written) {
    const auto known = role_.find(name);
    if (known != role_.end()) {
      if (!written || known->second == ir::TensorRole::state) return;
      maker_->tensor_of(name).role = ir::TensorRole::output;
      return;
    }
    auto role = written ? ir::TensorRole::output : ir::TensorRole::input;
    if (name == kState) role = ir::TensorRole::state;
    const bool external = name == kState || !written;
    maker_->tensor(name, role, external ? ir::Init::external : ir::Init::undefined);
    maker_->tensor_of(name).rows = 1;
    maker_->tensor_of(name).cols = columns(name);
    role_[name] = role;
  }

  std::string readable() {
    std::vector<std::string> names;
    for (const std::string& name : defined_) {
      if (uses_.back().written.contains(name)) continue;
      // What earlier sections have written is the more interesting.
      for (int i = 0; i < (written_earlier_.contains(name) ? 3 : 1); ++i) names.push_back(name);
    }
    const std::string name = names[random_.below(names.size())];
    uses_.back().read.insert(name);
    declare(name, false);
    return name;
  }

  std::string writable() {
    std::vector<std::string> names;
    for (const std::string& name : written_earlier_) {
      if (name == kState || uses_.back().read.contains(name)) continue;
      if (!uses_.back().written.contains(name)) names.push_back(name);
    }
    const std::string name = !names.empty() && random_.chance(30)
                                 ? names[random_.below(names.size())]
                                 : fmt::format("t{}", fresh_++);
    uses_.back().written.insert(name);
    declare(name, true);
    return name;
  }

  // ---- motifs
  // ------------------------------------------------------------------------------------

  /// Two different places; on one site if `together`.
  std::optional<std::pair<TestPlace, TestPlace>> two_places(bool together) {
    std::vector<std::pair<TestPlace, TestPlace>> all;
    for (const TestPlace& a : places_) {
      for (const TestPlace& b : places_) {
        const bool same = a.site == b.site && a.engine == b.engine;
        if (!same && (!together || a.site == b.site)) all.emplace_back(a, b);
      }
    }
    if (all.empty()) return std::nullopt;
    return all[random_.below(all.size())];
  }

  std::string own(const char* what) { return fmt::format("{}.{}{}", name_, what, objects_++); }

  std::string stage() { return own("r"); }

  std::uint64_t allocate(ir::Site site, std::uint64_t bytes) {
    std::uint64_t& top = top_.emplace(site, kResident).first->second;
    const std::uint64_t at = top;
    top += (bytes + kPage - 1) / kPage * kPage;
    return at;
  }

  std::string new_buffer(ir::BufferKind kind, ir::Site site, std::uint64_t pages,
                         const std::string& name) {
    maker_->buffer(name, kind, site, allocate(site, pages * kPage), pages);
    maker_->buffer_of(name).page_bytes = kPage;
    return name;
  }

  static ir::HandoffId between(ir::Site a, ir::Site b) {
    if (a == b) return ir::HandoffId();
    return ir::HandoffId(a.chip == b.chip ? std::uint32_t{0} : std::uint32_t{1});
  }

  std::string new_semaphore(ir::Site site, ir::Site from, const std::string& name) {
    maker_->semaphore(name, site);
    ir::Semaphore& made = maker_->raw().semaphores.back();
    made.maximum = 1 + random_.below(3);
    if (from.chip != site.chip) made.handoff = between(from, site);
    return name;
  }

  void edge(const std::string& producer, const std::string& buffer, const std::string& consumer) {
    if (!random_.chance(50)) return;
    ir::Program& raw = maker_->raw();
    const auto find = [](const auto& items, const std::string& name) {
      std::uint32_t i = 0;
      while (items[i].name != name) ++i;
      return i;
    };
    raw.edges.push_back({ir::StageId(find(raw.stages, producer)),
                         ir::BufferId(find(raw.buffers, buffer)),
                         ir::StageId(find(raw.stages, consumer)), ir::HandoffId()});
  }

  void copy() {
    const TestPlace at = places_[random_.below(places_.size())];
    std::vector<std::string> reads{readable()};
    if (random_.chance(30)) reads.push_back(readable());
    maker_->at(at.site, at.engine).run(stage(), reads, {writable()});
    feature("copy");
  }

  void in_place() {
    if (uses_.back().read.contains(kState) || uses_.back().written.contains(kState)) return copy();
    const TestPlace at = places_[random_.below(places_.size())];
    const std::string other = readable();
    declare(kState, true);
    uses_.back().read.insert(kState);
    uses_.back().written.insert(kState);
    maker_->at(at.site, at.engine)
        .run(stage(), std::vector<std::string>{kState, other}, std::vector<std::string>{kState});
    feature("state in place");
  }

  void pipeline() {
    const auto ends = two_places(false);
    if (!ends) return copy();
    const auto& [from, to] = *ends;
    const std::uint32_t tiles = 1 + random_.below(2), depth = 1 + random_.below(2);
    const std::string fifo = new_buffer(ir::BufferKind::fifo, to.site, depth, own("q"));
    maker_->buffer_of(fifo).handoff = between(from.site, to.site);
    const std::string first = stage(), second = stage();
    const std::string in = readable(), out = writable();
    for (std::uint32_t i = 0; i < tiles; ++i) {
      maker_->at(from.site, from.engine).op(OpCode::reserve, fifo);
      maker_->run(first, std::vector<std::string>{in}, {fifo}).op(OpCode::push, fifo);
      maker_->at(to.site, to.engine).op(OpCode::front, fifo);
      maker_->run(second, std::vector<std::string>{fifo}, {out}).op(OpCode::pop, fifo);
    }
    edge(first, fifo, second);
    feature("fifo");
  }

  /// A buffer, full and empty.
  void handed_over() {
    const auto ends = two_places(true);
    if (!ends) return copy();
    const auto& [from, to] = *ends;
    const std::string buffer = new_buffer(ir::BufferKind::scratch, to.site, 1, own("b"));
    const std::string full = new_semaphore(to.site, from.site, own("full"));
    const std::string empty = new_semaphore(to.site, from.site, own("empty"));
    const std::string first = stage(), second = stage();
    const std::string in = readable(), out = writable();
    const std::uint32_t rounds = 1 + random_.below(2);
    for (std::uint32_t i = 0; i < rounds; ++i) {
      maker_->at(from.site, from.engine).run(first, std::vector<std::string>{in}, {buffer});
      maker_->op(OpCode::post, full).op(OpCode::wait, empty);
      maker_->at(to.site, to.engine).op(OpCode::wait, full);
      maker_->run(second, std::vector<std::string>{buffer}, {out}).op(OpCode::post, empty);
    }
    edge(first, buffer, second);
    feature("semaphores both ways");
  }

  /// A tensor, between any two places.
  void tensor_over() {
    const auto ends = two_places(false);
    if (!ends) return copy();
    const auto& [from, to] = *ends;
    const std::string ready = new_semaphore(to.site, from.site, own("ready"));
    const std::string in = readable(), middle = writable(), out = writable();
    maker_->at(from.site, from.engine).run(stage(), std::vector<std::string>{in}, {middle});
    maker_->op(OpCode::post, ready);
    maker_->at(to.site, to.engine).op(OpCode::wait, ready);
    maker_->run(stage(), std::vector<std::string>{middle}, {out});
    if (random_.chance(50)) {
      const std::string back = new_semaphore(from.site, to.site, own("back"));
      maker_->op(OpCode::post, back).at(from.site, from.engine).op(OpCode::wait, back);
    }
    feature(from.site == to.site ? "tensor handed over" : "tensor handed to another site");
  }

  /// Written first, read or updated by later sections on the same site.
  void resident() {
    if (uses_.back().written.contains("kv")) return copy();
    if (!resident_) resident_ = places_[random_.below(places_.size())].site;
    std::vector<TestPlace> there;
    for (const TestPlace& place : places_) {
      if (place.site == *resident_) there.push_back(place);
    }
    const TestPlace at = there[random_.below(there.size())];
    maker_->resident("kv", at.site, 0);
    maker_->buffer_of("kv").page_bytes = kPage;
    uses_.back().written.insert("kv");
    maker_->at(at.site, at.engine);
    if (!resident_written_) {
      maker_->run(stage(), std::vector<std::string>{readable()}, {std::string("kv")});
      resident_written_ = true;
    } else if (random_.chance(70)) {
      maker_->run(stage(), std::vector<std::string>{"kv"}, {writable()});
      feature("resident buffer");
    } else {
      maker_->run(stage(), std::vector<std::string>{"kv", readable()}, {std::string("kv")});
      feature("resident buffer");
    }
  }

  /// The FIFO or semaphore declared last.
  void declare_link(bool fifo) {
    ir::Program& raw = maker_->raw();
    const auto number =
        static_cast<std::uint32_t>(fifo ? raw.buffers.size() : raw.semaphores.size());
    raw.links.push_back({fifo, number - 1});
  }

  void open_link() {
    const bool fifo = random_.chance(50);
    // A section that has one end of a FIFO says where it lies, and that is where this end is.
    const auto ends = two_places(fifo);
    if (!ends) return;
    const auto& [from, to] = *ends;
    OpenLink link;
    link.name = fmt::format("link{}", fresh_++);
    declare_link_object(fifo, link.name, from, to);
    maker_->at(from.site, from.engine);
    if (fifo) {
      maker_->op(OpCode::reserve, link.name);
      maker_->run(stage(), std::vector<std::string>{readable()}, {link.name});
      maker_->op(OpCode::push, link.name);
    } else {
      link.tensor = writable();
      maker_->run(stage(), std::vector<std::string>{readable()}, {link.tensor});
      maker_->op(OpCode::post, link.name);
      handed_.insert(link.tensor);
    }
    link_ = link;
    link_ends_ = {from, to};
    feature(fifo ? "fifo link" : "semaphore link");
  }

  void declare_link_object(bool fifo, const std::string& name, TestPlace from, TestPlace to) {
    if (fifo) {
      // Where no section has anything of its own.
      maker_->buffer(name, ir::BufferKind::fifo, to.site, 128, 1);
      maker_->buffer_of(name).page_bytes = kPage;
      maker_->buffer_of(name).handoff = between(from.site, to.site);
    } else {
      maker_->semaphore(name, to.site);
      ir::Semaphore& made = maker_->raw().semaphores.back();
      made.maximum = 1;
      if (from.site.chip != to.site.chip) made.handoff = between(from.site, to.site);
    }
    declare_link(fifo);
  }

  void take_up_link() {
    const auto& [from, to] = link_ends_;
    const bool fifo = link_->tensor.empty();
    declare_link_object(fifo, link_->name, from, to);
    maker_->at(to.site, to.engine).op(fifo ? OpCode::front : OpCode::wait, link_->name);
    const std::string source = fifo ? link_->name : link_->tensor;
    if (!fifo) {
      uses_.back().read.insert(source);
      declare(source, false);
    }
    maker_->run(stage(), std::vector<std::string>{source}, {writable()});
    if (fifo) maker_->op(OpCode::pop, link_->name);
    link_.reset();
    linked_.insert(uses_.size() - 1);
  }

  void make_section(std::uint32_t number, bool last) {
    name_ = std::string(1, static_cast<char>('a' + number));
    SectionMaker maker(name_, small_target());
    maker_ = &maker;
    objects_ = 0;
    top_.clear();
    role_.clear();
    uses_.emplace_back();
    if (link_) take_up_link();
    const std::uint32_t motifs = 1 + random_.below(sample_.persistent ? 1 : 2);
    for (std::uint32_t m = 0; m < motifs; ++m) {
      switch (random_.below(9)) {
        case 0:
          copy();
          break;
        case 1:
          in_place();
          break;
        case 2:
        case 3:
          pipeline();
          break;
        case 4:
        case 5:
          handed_over();
          break;
        case 6:
          tensor_over();
          break;
        default:
          resident();
      }
    }
    if (!last && random_.chance(20)) open_link();
    for (const std::string& name : uses_.back().written) {
      if (name == "kv") continue;
      defined_.insert(name);
      written_earlier_.insert(name);
    }
    sections_.push_back(maker.section());
    maker_ = nullptr;
  }

  // ---- together
  // ----------------------------------------------------------------------------------

  [[nodiscard]] bool conflict(std::size_t a, std::size_t b) const {
    const auto meet = [&](const std::set<std::string>& x, const std::set<std::string>& y) {
      return std::any_of(x.begin(), x.end(), [&](const std::string& name) {
        return y.contains(name) && !(handed_.contains(name) && b == a + 1);
      });
    };
    const Uses &x = uses_[a], &y = uses_[b];
    return meet(x.written, y.read) || meet(x.written, y.written) || meet(x.read, y.written);
  }

  std::vector<bool> barriers() {
    std::vector<bool> closed(sections_.size(), false);
    std::size_t first = 0;  // of the phase
    for (std::size_t s = 0; s + 1 < sections_.size(); ++s) {
      bool open = random_.chance(linked_.contains(s + 1) ? 80 : 40);
      for (std::size_t t = first; t <= s; ++t) open &= !conflict(t, s + 1);
      closed[s] = !open;
      if (!open) first = s + 1;
    }
    if (sample_.persistent) closed.back() = !random_.chance(30);
    return closed;
  }

  void put_together() {
    compose::ComposeOptions options;
    if (sample_.persistent) options.execution = ir::Execution::persistent;
    const bool state = std::any_of(uses_.begin(), uses_.end(),
                                   [](const Uses& u) { return u.written.contains(kState); });
    if (state) options.carried = {kState};
    damaged_ = random_.chance(65);
    if (random_.chance(25)) {
      compose::PhaseOrder order = compose::phases_of(sections_);
      if (sample_.persistent) order.barrier_after.back() = true;
      finish(compose::compose_ordered(sections_, order, {}, options));
      feature("phase order");
      return;
    }
    const auto closed = barriers();
    const auto many = std::count(closed.begin(), closed.end(), true);
    if (many == 0) feature("all boundaries open");
    finish(compose::compose_phased(sections_, closed, {}, options));
  }

  void finish(const compose::Outcome<compose::Composed>& outcome) {
    sample_.program = composed(outcome).program;
    feature(sample_.persistent ? "persistent" : "once");
  }

  /// The composer makes resident buffers live throughout; they need to, from the first to the last
  /// section that uses them.
  void bound_residents() {
    if (!resident_ || !random_.chance(60)) return;
    ir::Program& program = sample_.program;
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      ir::Buffer& buffer = program.buffers[b];
      if (buffer.lifetime != ir::Lifetime::resident) continue;
      std::optional<std::uint32_t> first, last;
      for (const ir::EngineProgram& one : program.programs) {
        for (const ir::Op& op : one.ops) {
          for (std::uint32_t a = 0; op.code == OpCode::run && a < op.accesses; ++a) {
            const ir::Region& region = program.accesses[op.first_access + a].region;
            if (region.kind != ir::RegionKind::bytes || region.object != b) continue;
            const std::uint32_t s = program.stages[op.object].section.value();
            first = std::min(first.value_or(s), s);
            last = std::max(last.value_or(s), s);
          }
        }
      }
      if (!first) continue;
      buffer.resident_from = ir::SectionId(*first);
      buffer.resident_to = ir::SectionId(*last);
      feature("bounded resident buffer");
    }
  }

  Random random_;
  CompositionSample sample_;
  bool damaged_ = false;
  std::vector<TestPlace> places_;
  std::vector<ir::Program> sections_;
  std::vector<Uses> uses_;
  std::set<std::string> defined_, written_earlier_, handed_;
  std::set<std::size_t> linked_;  ///< sections that take up a link
  std::optional<ir::Site> resident_;
  bool resident_written_ = false;
  std::optional<OpenLink> link_;
  std::pair<TestPlace, TestPlace> link_ends_;
  std::uint32_t fresh_ = 0;
  // of the section at hand
  SectionMaker* maker_ = nullptr;
  std::string name_;
  std::uint32_t objects_ = 0;
  std::map<ir::Site, std::uint64_t> top_;
  std::map<std::string, ir::TensorRole> role_;
};

}  // namespace

CompositionSample random_composition(std::uint64_t seed) { return Assembly(seed).run(); }

}  // namespace spatialcert::tests
