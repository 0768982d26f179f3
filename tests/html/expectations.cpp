#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <variant>

#include "certify/names.hpp"
#include "certify/views/view.hpp"
#include "ir/io/json_writer.hpp"
#include "ir/token_game.hpp"
#include "tests/html/pages.hpp"

namespace spatialcert::tests {
namespace {

using ir::io::JsonWriter;

std::uint64_t steps_of(const ir::Schedule& schedule) {
  std::uint64_t steps = 0;
  for (const ir::ScheduleRun& run : schedule) steps += run.steps;
  return steps;
}

/// The first `steps` steps of a schedule.
ir::Schedule beginning(const ir::Schedule& schedule, std::uint64_t steps) {
  ir::Schedule out;
  for (const ir::ScheduleRun& run : schedule) {
    const std::uint64_t now = std::min<std::uint64_t>(run.steps, steps);
    if (now == 0) break;
    out.push_back({run.program, static_cast<std::uint32_t>(now)});
    steps -= now;
  }
  return out;
}

/// The last one, and some before it that the page has.
std::set<std::uint64_t> looked_at(std::uint64_t total) {
  const std::uint64_t first = total > kMostSteps ? total - kMostSteps : 0;
  std::set<std::uint64_t> out;
  for (const std::uint64_t back : {0, 1, 2, 3, 7, 15, 200}) {
    if (total >= first + back) out.insert(total - back);
  }
  out.insert(first);
  out.insert(first + (total - first) / 2);
  return out;
}

class Writer {
 public:
  Writer(const ir::Program& program, const proofs::Counterexample& c, JsonWriter& json)
      : program_(program), c_(c), unrolled_(unrolled(program, c.iterations)), json_(json) {}

  void schedules() {
    json_.key("schedules").array();
    for (std::size_t i = 0; i < c_.schedules.size(); ++i) {
      std::vector<std::int64_t> extra;
      if (!c_.deeper.empty() && (c_.kind != proofs::Kind::race || i == 1)) {
        extra.assign(program_.buffers.size(), 0);
        for (const auto& [buffer, pages] : c_.deeper) extra[buffer.value()] = pages;
      }
      schedule(ir::TokenGame(program_, unrolled_, extra), c_.schedules[i]);
    }
    json_.close();
  }

 private:
  static ir::Unrolled unrolled(const ir::Program& program, std::uint32_t iterations) {
    return std::get<ir::Unrolled>(ir::unroll(program, iterations));
  }

  void schedule(const ir::TokenGame& game, const ir::Schedule& schedule) {
    const std::uint64_t total = steps_of(schedule);
    json_.object();
    json_.key("total").natural(total);
    json_.key("states").array();
    for (const std::uint64_t step : looked_at(total)) {
      const ir::PlayResult played = ir::play(game, beginning(schedule, step));
      if (!played.complete) continue;
      state(game, played.state, step);
    }
    json_.close().close();
  }

  void state(const ir::TokenGame& game, const ir::PlayState& state, std::uint64_t step) {
    json_.object(true);
    json_.key("step").natural(step);
    json_.key("semaphores").object();
    for (std::size_t s = 0; s < program_.semaphores.size(); ++s)
      json_.key(program_.semaphores[s].name).integer(state.value[s]);
    json_.close();
    json_.key("fifos").object();
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].kind != ir::BufferKind::fifo) continue;
      json_.key(program_.buffers[b].name).integer(state.pushed[b] - state.popped[b]);
    }
    json_.close();
    json_.key("engines").object();
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
      const ir::ProgramId id(p);
      std::string text = game.finished(state, id) ? "finished" : "can step";
      if (const auto test = game.blocked(state, id)) {
        text = fmt::format("needs {} of {}, has {}", test->need,
                           certify::counter_text(program_, game.counters()[test->counter]),
                           test->have);
      }
      json_.key(certify::engine_text(program_, id)).text(text);
    }
    json_.close().close();
  }

  const ir::Program& program_;
  const proofs::Counterexample& c_;
  ir::Unrolled unrolled_;
  JsonWriter& json_;
};

}  // namespace

std::string page_of(const std::vector<Certified>& all) {
  certify::views::Run run;
  for (const Certified& c : all) {
    certify::Provenance provenance;
    provenance.file = c.file;
    run.entries.push_back({provenance, certify::views::Judged{c.program, c.report}});
  }
  certify::views::Options options;
  options.most_steps = kMostSteps;
  return certify::views::html_view(run, options);
}

std::string expectations(const std::vector<Certified>& all) {
  JsonWriter json;
  json.array();
  for (const Certified& c : all) {
    json.object();
    json.key("name").text(c.report.name);
    json.key("verdict").text(certify::to_string(c.report.verdict));
    json.key("sections").natural(c.program.sections.size());
    json.key("counterexamples").array();
    for (const certify::RuleReport& rule : c.report.rules) {
      if (!rule.counterexample) continue;
      json.object();
      json.key("rule").text(proofs::to_string(rule.rule));
      json.key("kind").text(proofs::to_string(rule.counterexample->kind));
      json.key("text").text(certify::counterexample_text(c.program, *rule.counterexample));
      Writer(c.program, *rule.counterexample, json).schedules();
      json.close();
    }
    json.close().close();
  }
  json.close();
  return json.take() + '\n';
}

}  // namespace spatialcert::tests
