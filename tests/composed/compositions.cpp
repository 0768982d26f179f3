#include "tests/composed/compositions.hpp"

#include <algorithm>
#include <optional>

#include "compose/composition/phase_memory.hpp"
#include "ir/require.hpp"
#include "ir/validate.hpp"
#include "tests/composed/assembly.hpp"
#include "tests/composition/edits.hpp"

namespace spatialcert::tests {
namespace {

using ir::OpCode;

constexpr ir::Site kA{0, 0, 0}, kB{0, 1, 0}, kFar{1, 0, 0};

ir::Target small_target() {
  ir::Target target = test_target();
  target.chips = 2;
  target.mesh_width = 2;
  target.mesh_height = 1;
  target.spaces = {{"sram", 256, kPage}, {"dram", 256, 1}};
  target.semaphore_maximum = 7;
  target.semaphores_per_site = 40;
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

}  // namespace

CompositionSample Assembly::run() {
  sample_.persistent = random_.chance(30);
  const auto& all = all_places();
  places_ = all[random_.below(sample_.persistent ? 4 : all.size())];
  const std::uint32_t sections = sample_.persistent ? 2 : 2 + random_.below(2) + (repeats_ ? 1 : 0);
  for (const char* name : {"x", "w"}) defined_.insert(name);
  const Random first = random_;
  for (std::uint32_t s = 0; s < sections; ++s) {
    // One of them may be another one after all.
    if (repeats_ && !random_.chance(s == 0 ? 0 : 15)) random_ = first;
    make_section(s, s + 1 == sections);
  }
  if (repeats_) random_ = Random(sample_.seed * 77 + 5);
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

void Assembly::make_section(std::uint32_t number, bool last) {
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

bool Assembly::conflict(std::size_t a, std::size_t b) const {
  const auto meet = [&](const std::set<std::string>& x, const std::set<std::string>& y) {
    return std::any_of(x.begin(), x.end(), [&](const std::string& name) {
      return y.contains(name) && !(handed_.contains(name) && b == a + 1);
    });
  };
  const Uses &x = uses_[a], &y = uses_[b];
  return meet(x.written, y.read) || meet(x.written, y.written) || meet(x.read, y.written);
}

std::vector<bool> Assembly::barriers() {
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

void Assembly::put_together() {
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

void Assembly::finish(const compose::Outcome<compose::Composed>& outcome) {
  sample_.program = composed(outcome).program;
  feature(sample_.persistent ? "persistent" : "once");
}

void Assembly::bound_residents() {
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

CompositionSample random_composition(std::uint64_t seed) { return Assembly(seed).run(); }
CompositionSample repeated_composition(std::uint64_t seed) { return Assembly(seed, true).run(); }

}  // namespace spatialcert::tests
