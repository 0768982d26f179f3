// A trace for ui.perfetto.dev, in the JSON of the Trace Event Format. One microsecond is one step
// of the token game; it says nothing of real durations.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "certify/views/marks.hpp"
#include "certify/views/net_part.hpp"
#include "certify/views/playback.hpp"
#include "certify/views/text.hpp"
#include "certify/views/view.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::views {
namespace {

using ir::io::JsonWriter;

/// What is blocked at the end is drawn so many steps long, so that it is seen beside one step.
std::uint64_t tail_of(std::uint64_t shown) { return std::max<std::uint64_t>(3, shown / 10); }

/// Every engine program as far as it goes, in turn, until nobody can step or `most` are made.
ir::Schedule in_turn(const ir::TokenGame& game, std::uint32_t most) {
  ir::Schedule schedule;
  ir::PlayState state = game.start();
  const auto programs = static_cast<std::uint32_t>(game.program().programs.size());
  for (bool moved = true; moved && most > 0;) {
    moved = false;
    for (std::uint32_t p = 0; p < programs; ++p) {
      const ir::ProgramId id(p);
      while (most > 0 && game.can_step(state, id) && !game.step(state, id)) {
        ir::append_step(schedule, id);
        moved = true;
        --most;
      }
    }
  }
  return schedule;
}

/// Processes and threads of a trace: per schedule one process per site.
class Tracks {
 public:
  Tracks(const ir::Program& program, JsonWriter& json) : program_(program), json_(json) {}

  void start_schedule(std::size_t number, std::string prefix) {
    schedule_ = number;
    prefix_ = std::move(prefix);
    known_.clear();
    threads_.clear();
  }

  std::uint64_t process(const ir::Site& site) {
    const ir::Target& target = program_.target;
    // Numbers of sites, which are in order; 0 is nobody's.
    const std::uint64_t sites =
        std::uint64_t{target.chips} * target.mesh_width * target.mesh_height;
    const std::uint64_t place =
        (std::uint64_t{site.chip} * target.mesh_width + site.x) * target.mesh_height + site.y;
    const std::uint64_t pid = schedule_ * sites + place + 1;
    if (known_.insert(pid).second) {
      name("process_name", pid, 0, prefix_ + site_text(program_, site));
      sort("process_sort_index", pid, 0, pid);
    }
    return pid;
  }

  /// Process and thread of an engine program.
  std::pair<std::uint64_t, std::uint64_t> thread(ir::ProgramId p) {
    const ir::EngineProgram& engine = program_.programs[p.value()];
    const std::uint64_t pid = process(engine.site);
    const std::uint64_t tid = p.value() + std::uint64_t{1};
    if (threads_.insert(tid).second) {
      name("thread_name", pid, tid, program_.target.engines[engine.engine.value()]);
      sort("thread_sort_index", pid, tid, tid);
    }
    return {pid, tid};
  }

 private:
  void name(const char* what, std::uint64_t pid, std::uint64_t tid, const std::string& text) {
    begin(what, pid, tid);
    json_.key("name").text(text).close();
    json_.close();
  }
  void sort(const char* what, std::uint64_t pid, std::uint64_t tid, std::uint64_t index) {
    begin(what, pid, tid);
    json_.key("sort_index").natural(index).close();
    json_.close();
  }
  void begin(const char* what, std::uint64_t pid, std::uint64_t tid) {
    json_.object(true);
    json_.key("ph").text("M");
    json_.key("name").text(what);
    json_.key("pid").natural(pid);
    json_.key("tid").natural(tid);
    json_.key("args").object();
  }

  const ir::Program& program_;
  JsonWriter& json_;
  std::size_t schedule_ = 0;
  std::string prefix_;
  std::set<std::uint64_t> known_;
  std::set<std::uint64_t> threads_;
};

class Writer {
 public:
  Writer(const ir::Program& program, const proofs::Counterexample& c, const Options& options)
      : program_(program),
        c_(c),
        options_(options),
        names_(program, c.iterations),
        tracks_(program, json_) {}

  std::string write() {
    json_.object();
    json_.key("displayTimeUnit").text("ms");
    json_.key("otherData").object();
    json_.key("tool").text(fmt::format("spatialcert {}", tool_version()));
    json_.key("program").text(program_.name);
    json_.key("counterexample").text(headline(program_, c_));
    json_.key("time").text("one microsecond is one step of the token game");
    json_.close();
    json_.key("traceEvents").array();
    if (!can_unroll(program_, c_)) {
      instant_of_all(0, "the program has too many op instances to be played");
    } else {
      for (const Mark& mark : marks_of(names_, c_, true)) {
        if (mark.transition.valid()) marks_[mark.transition.value()].push_back(mark.what);
      }
      for (std::size_t i = 0; i < std::max<std::size_t>(1, c_.schedules.size()); ++i) schedule(i);
    }
    json_.close();
    json_.close();
    return json_.take() + '\n';
  }

 private:
  // ---- events ----

  void begin(const char* phase, const std::string& name, std::uint64_t pid, std::uint64_t tid,
             std::uint64_t time) {
    json_.object(true);
    json_.key("ph").text(phase);
    json_.key("name").text(name);
    json_.key("pid").natural(pid);
    json_.key("tid").natural(tid);
    json_.key("ts").natural(time);
  }

  void instant(ir::ProgramId p, std::uint64_t time, const std::string& name) {
    const auto [pid, tid] = tracks_.thread(p);
    begin("i", name, pid, tid, time);
    json_.key("s").text("t").close();
  }

  void instant_of_all(std::uint64_t time, const std::string& name) {
    begin("i", name, 0, 0, time);
    json_.key("s").text("g").close();
  }

  void counter(const Gauges::Gauge& g, std::uint64_t time, std::int64_t value) {
    const bool semaphore = g.kind == Gauges::Kind::semaphore;
    // Windows are the engine programs' own, and what is not filled is free.
    if (!semaphore && g.kind != Gauges::Kind::filled) return;
    const ir::Site& site =
        semaphore ? program_.semaphores[g.object].site : program_.buffers[g.object].site;
    const std::string name = semaphore ? "semaphore " + program_.semaphores[g.object].name
                                       : "filled pages of fifo " + program_.buffers[g.object].name;
    begin("C", name, tracks_.process(site), 0, time);
    json_.key("args").object();
    json_.key(semaphore ? "value" : "pages").integer(value).close();
    json_.close();
  }

  void step(const PlayedStep& played, std::uint64_t time) {
    const ir::TransitionId t = played.transition;
    const ir::ProgramId p = names_.program_of(t);
    const auto [pid, tid] = tracks_.thread(p);
    begin("X", op_text(program_, names_.op_of(t)), pid, tid, time);
    json_.key("dur").natural(1);
    json_.key("cat").text(ir::to_string(names_.op_of(t).code));
    json_.key("args").object();
    json_.key("step").natural(time + 1);
    json_.key("op").text(names_.op(t));
    json_.key("part").text(part_text(program_, p, names_.unrolled().op[t.value()]));
    const std::string source = source_text(program_, location_of(names_, t));
    if (!source.empty()) json_.key("source").text(source);
    json_.close();
    json_.close();
    const auto marks = marks_.find(t.value());
    if (marks == marks_.end()) return;
    for (const std::string& what : marks->second) instant(p, time, what);
  }

  /// An arrow from the op that supplied to the one that waited for it.
  void handoff(const PlayedStep& played, std::uint64_t from, std::uint64_t to) {
    const ir::ProgramId supplier = names_.program_of(played.supplier);
    const ir::ProgramId taker = names_.program_of(played.transition);
    if (supplier == taker) return;
    const std::string name = counter_text(program_, names_.counters()[played.counter]);
    ++flows_;
    const auto end = [&](const char* phase, ir::ProgramId p, std::uint64_t time) {
      const auto [pid, tid] = tracks_.thread(p);
      begin(phase, name, pid, tid, time);
      json_.key("cat").text("handoff");
      json_.key("id").natural(flows_);
      if (*phase == 'f') json_.key("bp").text("e");
      json_.close();
    };
    end("s", supplier, from);
    end("f", taker, to);
  }

  // ---- a schedule ----

  void schedule(std::size_t number) {
    const std::vector<std::int64_t> extra = extra_pages(program_, c_, number);
    const ir::TokenGame game(program_, names_.unrolled(), extra);
    const bool own = c_.schedules.empty();
    const Playback playback =
        play_back(game, own ? in_turn(game, options_.most_steps) : c_.schedules[number],
                  options_.most_steps, extra);
    tracks_.start_schedule(
        number, c_.schedules.size() < 2 ? std::string() : schedule_title(c_, number) + ": ");
    if (own) {
      instant_of_all(0,
                     "the counterexample has no schedule: every engine program as far as it "
                     "goes, in turn");
    }
    if (playback.skipped != 0) {
      instant_of_all(playback.skipped,
                     fmt::format("{}: the first {} of {} steps are not shown",
                                 schedule_title(c_, number), playback.skipped, playback.total));
    }
    const Gauges gauges(game);
    begin_counters(gauges, playback);
    std::unordered_map<std::uint32_t, std::uint64_t> time_of;
    for (std::size_t i = 0; i < playback.steps.size(); ++i) {
      const PlayedStep& played = playback.steps[i];
      const std::uint64_t time = playback.skipped + i;
      time_of.emplace(played.transition.value(), time);
      step(played, time);
      for (const GaugeChange& change : played.gauges) {
        counter(gauges[change.gauge], time + 1, change.value);
      }
      if (!played.supplier.valid()) continue;
      const auto supplied = time_of.find(played.supplier.value());
      if (supplied != time_of.end()) handoff(played, supplied->second, time);
    }
    end_of(game, playback);
  }

  /// Values before the first step, of what changes or holds somebody up.
  void begin_counters(const Gauges& gauges, const Playback& playback) {
    std::set<std::uint32_t> used;
    for (const PlayedStep& played : playback.steps) {
      for (const GaugeChange& change : played.gauges) used.insert(change.gauge);
    }
    for (const proofs::WaitLink& link : c_.chain) {
      const auto [first, count] = gauges.beside(link.counter);
      for (std::uint32_t i = 0; i < count; ++i) used.insert(first + i);
    }
    for (const std::uint32_t gauge : used) {
      counter(gauges[gauge], playback.skipped, gauges.value(playback.before, gauge));
    }
  }

  /// What stands where it stands, and why.
  void end_of(const ir::TokenGame& game, const Playback& playback) {
    const std::uint64_t length = tail_of(playback.steps.size());
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
      const ir::ProgramId id(p);
      if (game.finished(playback.after, id)) continue;
      const ir::TransitionId next(playback.after.next[p]);
      const auto blocked = game.blocked(playback.after, id);
      const auto marks = marks_.find(next.value());
      if (!blocked && marks == marks_.end()) continue;
      const auto [pid, tid] = tracks_.thread(id);
      const std::string text = op_text(program_, names_.op_of(next));
      begin("X", (blocked ? "blocked: " : "next: ") + text, pid, tid, playback.total);
      json_.key("dur").natural(length);
      json_.key("cat").text(blocked ? "blocked" : "next");
      json_.key("args").object();
      json_.key("op").text(names_.op(next));
      if (blocked) {
        json_.key("waits_for").text(counter_text(program_, game.counters()[blocked->counter]));
        json_.key("needs").integer(blocked->need);
        json_.key("has").integer(blocked->have);
        json_.key("for_ever").boolean(playback.stuck[p] != 0);
      }
      const std::string source = source_text(program_, location_of(names_, next));
      if (!source.empty()) json_.key("source").text(source);
      json_.close();
      json_.close();
      if (marks == marks_.end()) continue;
      for (const std::string& what : marks->second) instant(id, playback.total, what);
    }
  }

  const ir::Program& program_;
  const proofs::Counterexample& c_;
  const Options& options_;
  OpNames names_;
  JsonWriter json_;
  Tracks tracks_;
  std::map<std::uint32_t, std::vector<std::string>> marks_;
  std::uint64_t flows_ = 0;
};

}  // namespace

std::string perfetto_view(const ir::Program& program, const proofs::Counterexample& counterexample,
                          const Options& options) {
  return Writer(program, counterexample, options).write();
}

}  // namespace spatialcert::certify::views
