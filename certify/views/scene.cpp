#include "certify/views/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "certify/narrative.hpp"
#include "certify/report.hpp"
#include "certify/views/gauge_table.hpp"
#include "certify/views/lanes.hpp"
#include "certify/views/markup.hpp"
#include "certify/views/op_table.hpp"
#include "certify/views/playback.hpp"

namespace spatialcert::certify::views {
namespace {

using ir::io::JsonWriter;
using proofs::Counterexample;
using proofs::Kind;

constexpr std::size_t kText = 320;
constexpr std::size_t kName = 160;

class SceneWriter {
 public:
  SceneWriter(const OpNames& names, const Counterexample& c, std::size_t most_steps,
              JsonWriter& json)
      : names_(names),
        program_(names.program()),
        c_(c),
        most_steps_(most_steps),
        json_(json),
        ops_(names) {}

  /// Plays the schedules and writes lanes, marks, links, gauges and steps.
  void write(std::set<std::uint32_t>& culprits) {
    play();
    scene_ = scene_of(names_, c_, playbacks_);
    for (std::size_t i = 0; i < scene_.lanes.size(); ++i) {
      lane_of_[scene_.lanes[i]] = static_cast<std::uint32_t>(i);
    }
    for (const Mark& mark : scene_.marks) add_section(mark.transition, culprits);
    write_lanes();
    write_marks();
    write_schedules();
    ops_.write(json_);
  }

 private:
  // ---- playing ----
  void play() {
    for (std::size_t i = 0; i < c_.schedules.size(); ++i) {
      const std::vector<std::int64_t> extra = extra_pages(program_, c_, i);
      games_.push_back(std::make_unique<ir::TokenGame>(program_, names_.unrolled(), extra));
      playbacks_.push_back(play_back(*games_.back(), c_.schedules[i], most_steps_, extra));
    }
  }

  void add_section(ir::TransitionId t, std::set<std::uint32_t>& culprits) const {
    const auto& spans = program_.programs[names_.program_of(t).value()].spans;
    const std::uint32_t op = names_.unrolled().op[t.value()];
    for (const ir::Span& span : spans) {
      if (op < span.begin || op >= span.end) continue;
      const ir::SectionId section =
          span.section.valid() ? span.section : program_.boundaries[span.boundary.value()].after;
      culprits.insert(section.value());
    }
  }

  // ---- lanes ----
  void write_row(std::uint32_t t) {
    json_.array().natural(t);
    ops_.write_op(ir::TransitionId(t), json_);
    json_.close();
  }

  void write_lanes() {
    json_.key("involved").natural(scene_.involved);
    json_.key("lanes_left_out").natural(scene_.lanes_left_out);
    json_.key("lanes").array();
    for (const ir::ProgramId p : scene_.lanes) {
      json_.object();
      json_.key("name").text(clipped(engine_text(program_, p), kName));
      json_.key("begin").natural(names_.unrolled().begin[p.value()]);
      json_.key("end").natural(names_.unrolled().begin[p.value() + 1]);
      json_.key("rows").array();
      for (const std::uint32_t t : scene_.rows[p]) write_row(t);
      json_.close().close();
    }
    json_.close();
  }

  void write_marks() {
    json_.key("marks").array();
    for (const Mark& mark : scene_.marks) {
      const auto lane = lane_of_.find(names_.program_of(mark.transition));
      if (lane == lane_of_.end()) continue;
      json_.object();
      json_.key("lane").natural(lane->second).key("t").natural(mark.transition.value());
      json_.key("label").text(mark.label).key("role").text(mark.role);
      json_.key("text").text(clipped(mark.text, kText));
      json_.close();
    }
    json_.close();
    json_.key("links").array();
    for (const Link& link : scene_.links) {
      json_.object();
      json_.key("from").natural(link.from.value()).key("to").natural(link.to.value());
      json_.key("role").text(link.role).key("text").text(clipped(link.text, kText));
      json_.close();
    }
    json_.close();
  }

  // ---- schedules ----
  void write_test(ir::ProgramId p, const std::optional<ir::BlockingTest>& test) {
    const auto lane = lane_of_.find(p);
    if (lane == lane_of_.end()) return;
    json_.array().natural(lane->second);
    if (test) table_->write_test(*test, json_);
    json_.close();
  }

  void write_step(const PlayedStep& step) {
    json_.array();
    json_.natural(lane_of_.at(names_.program_of(step.transition)));
    json_.natural(step.transition.value());
    if (step.supplier.valid()) {
      json_.natural(step.supplier.value());
    } else {
      json_.integer(-1);
    }
    json_.array();
    for (const GaugeChange& change : step.gauges) {
      json_.array();
      table_->write_change(change, json_);
      json_.close();
    }
    json_.close().array();
    for (const LaneChange& change : step.lanes) write_test(change.program, change.test);
    json_.close();
    // What it is, for those whose row is not among the lanes' rows.
    ops_.write_op(step.transition, json_);
    json_.close();
  }

  void write_schedules() {
    json_.key("schedules").array();
    if (!playbacks_.empty()) {
      table_.emplace(names_, *games_.front());
      table_->choose(c_, scene_, playbacks_);
    }
    for (std::size_t i = 0; i < playbacks_.size(); ++i) write_schedule(i);
    json_.close();
    if (!table_) return;
    table_->write(json_);
    table_->write_counters(json_);
  }
  void write_schedule(std::size_t which) {
    const Playback& played = playbacks_[which];
    json_.object();
    json_.key("title").text(title(which));
    json_.key("total").natural(played.total).key("skipped").natural(played.skipped);
    json_.key("complete").boolean(played.complete);
    json_.key("next").array();
    for (const ir::ProgramId p : scene_.lanes) json_.natural(played.before.next[p.value()]);
    json_.close();
    json_.key("values").array();
    table_->write_values(*games_[which], played.before, json_);
    json_.close();
    json_.key("waits").array();
    for (const ir::ProgramId p : scene_.lanes) {
      if (const auto& test = played.blocked_before[p.value()]) write_test(p, test);
    }
    json_.close();
    json_.key("steps").array();
    for (const PlayedStep& step : played.steps) write_step(step);
    json_.close();
    json_.key("stuck").array();
    for (const ir::ProgramId p : scene_.lanes) {
      if (played.stuck[p.value()] != 0) json_.natural(lane_of_.at(p));
    }
    json_.close();
    json_.key("stop").text(clipped(stop_text(which), 2 * kText));
    json_.close();
  }

  /// `(a) before (b)`; nothing where there is one schedule.
  [[nodiscard]] std::string title(std::size_t which) const {
    if (playbacks_.size() < 2 || c_.accesses.size() < 2) return {};
    std::vector<std::uint32_t> next(names_.unrolled().begin);
    for (const ir::ScheduleRun& run : c_.schedules[which]) {
      const std::uint32_t from = next[run.program.value()], to = from + run.steps;
      next[run.program.value()] = to;
      // Runs of two engine programs: whichever holds one of the two first.
      for (std::size_t i = 0; i < 2; ++i) {
        const std::uint32_t t = c_.accesses[i].transition.value();
        if (from <= t && t < to) return i == 0 ? "(a) before (b)" : "(b) before (a)";
      }
    }
    return {};
  }

  /// What the end of a schedule is: a deadlock, the op that must not come next, or just the end.
  [[nodiscard]] std::string stop_text(std::size_t which) const {
    const Playback& played = playbacks_[which];
    if (!played.complete) return "The schedule cannot be played any further.";
    if (c_.kind == Kind::cycle || c_.kind == Kind::starved) {
      const auto stuck = std::count(played.stuck.begin(), played.stuck.end(), char{1});
      return fmt::format("{} can never step again.", count_text(stuck, "engine program"));
    }
    if (c_.kind == Kind::leftover && c_.counter.valid()) {
      const ir::Counter& counter = names_.counters()[c_.counter];
      return fmt::format("At the end: {} at {}, and {} at the start.",
                         counter_text(program_, counter), c_.value, counter.initial);
    }
    if (!c_.transition.valid()) return {};
    const std::string op =
        fmt::format("Next would be {}, {}", names_.engine(c_.transition), names_.op(c_.transition));
    const ir::ProgramId p = names_.program_of(c_.transition);
    if (played.after.next[p.value()] != c_.transition.value()) return op + '.';
    if (!games_[which]->can_step(played.after, p)) return op + '.';
    ir::PlayState state = played.after;
    const auto fault = games_[which]->step(state, p);
    if (!fault) return op + ", which leaves its object.";
    const std::string counter = counter_text(program_, names_.counters()[fault->counter]);
    if (fault->kind == ir::PlayFault::Kind::overflow) {
      return fmt::format("{}: {} would become {}, above its maximum of {}.", op, counter,
                         fault->value, fault->limit);
    }
    return fmt::format("{}: it needs {} open, and the window has {}.", op,
                       count_text(fault->value, "page"), fault->limit);
  }

  const OpNames& names_;
  const ir::Program& program_;
  const Counterexample& c_;
  std::size_t most_steps_;
  JsonWriter& json_;
  std::optional<GaugeTable> table_;
  std::vector<std::unique_ptr<ir::TokenGame>> games_;
  std::vector<Playback> playbacks_;
  Scene scene_;
  std::map<ir::ProgramId, std::uint32_t> lane_of_;
  OpTable ops_;
};

bool is_a_way(const Counterexample& c) {
  switch (c.kind) {
    case Kind::leak:
    case Kind::missing_chip:
    case Kind::double_contribution:
    case Kind::nonlinear:
    case Kind::mismatch:
      return true;
    default:
      return false;
  }
}

/// Does it name an op, or has it something to play? Otherwise nothing needs to be unrolled.
bool moves(const Counterexample& c) {
  return !c.schedules.empty() || !c.chain.empty() || !c.accesses.empty() || !c.ops.empty() ||
         c.transition.valid();
}

}  // namespace

std::string scene_json(const ir::Program& program, const Counterexample& c, std::size_t most_steps,
                       std::set<std::uint32_t>& culprits) {
  JsonWriter json;
  const OpNames names(program, c.iterations);
  json.object(true);
  json.key("kind").text(proofs::to_string(c.kind));
  json.key("rule").text(proofs::to_string(rule_of(c)));
  if (c.slices.empty()) write_memory(program, c, culprits, json);
  if (is_a_way(c)) write_path(names, c, json);
  if (c.kind == Kind::wrong_result) write_terms(c, json);
  write_slices(program, c, json);
  if (c.kind == Kind::slip_through && c.index < program.boundaries.size()) {
    culprits.insert(program.boundaries[c.index].after.value());
  }
  if (moves(c)) SceneWriter(names, c, most_steps, json).write(culprits);
  json.close();
  return json.take();
}

}  // namespace spatialcert::certify::views
