#include "certify/views/gauge_table.hpp"

#include "certify/views/markup.hpp"

namespace spatialcert::certify::views {
namespace {

using ir::io::JsonWriter;

constexpr std::size_t kText = 320;
constexpr std::size_t kName = 160;

}  // namespace

void GaugeTable::take(Gauges::Range range, std::set<std::uint32_t>& chosen) const {
  for (std::uint32_t i = 0; i < range.second; ++i) chosen.insert(range.first + i);
}

void GaugeTable::choose(const proofs::Counterexample& c, const Scene& scene,
                        const std::vector<Playback>& playbacks) {
  std::set<std::uint32_t> chosen;
  for (const Playback& played : playbacks) {
    for (const ir::ProgramId p : scene.lanes) {
      const auto& test = played.blocked_before[p.value()];
      if (test) take(gauges_.beside(test->counter), chosen);
    }
    for (const PlayedStep& step : played.steps) {
      take(gauges_.changed_by(names_.op_of(step.transition)), chosen);
      for (const LaneChange& change : step.lanes) {
        if (change.test) take(gauges_.beside(change.test->counter), chosen);
      }
    }
  }
  for (const proofs::WaitLink& link : c.chain) take(gauges_.beside(link.counter), chosen);
  if (c.counter.valid()) take(gauges_.beside(c.counter), chosen);
  for (const std::uint32_t gauge : chosen) {
    at_[gauge] = static_cast<std::uint32_t>(chosen_.size());
    chosen_.push_back(gauge);
  }
}

void GaugeTable::write(JsonWriter& json) const {
  json.key("gauges").array();
  for (const std::uint32_t gauge : chosen_) write_one(gauges_[gauge], json);
  json.close();
}

void GaugeTable::write_one(Gauges::Gauge gauge, JsonWriter& json) const {
  constexpr const char* kKinds[] = {"semaphore", "filled", "free", "producer", "consumer"};
  const ir::Program& program = names_.program();
  json.object();
  json.key("kind").text(kKinds[static_cast<std::size_t>(gauge.kind)]);
  if (gauge.kind == Gauges::Kind::semaphore) {
    const ir::Semaphore& semaphore = program.semaphores[gauge.object];
    json.key("name").text(clipped(semaphore.name, kName));
    json.key("site").text(site_text(program, semaphore.site));
    json.key("most").integer(semaphore.maximum);
  } else if (gauge.kind == Gauges::Kind::filled) {
    const ir::Buffer& fifo = program.buffers[gauge.object];
    json.key("name").text(clipped(fifo.name, kName));
    json.key("site").text(site_text(program, fifo.site));
    json.key("most").natural(fifo.pages);
    json.key("guaranteed").boolean(fifo.depth == ir::Depth::guaranteed);
  }
  json.close();
}

void GaugeTable::write_counters(JsonWriter& json) const {
  json.key("counters").array();
  for (const ir::CounterId counter : counters_)
    json.text(clipped(counter_text(names_.program(), names_.counters()[counter]), kText));
  json.close();
  json.key("counter_gauges").array();
  for (const ir::CounterId counter : counters_) json.natural(at_.at(gauges_.of(counter)));
  json.close();
}

void GaugeTable::write_values(const ir::TokenGame& game, const ir::PlayState& state,
                              JsonWriter& json) const {
  const Gauges gauges(game);
  for (const std::uint32_t gauge : chosen_) json.integer(gauges.value(state, gauge));
}

void GaugeTable::write_change(const GaugeChange& change, JsonWriter& json) const {
  json.natural(at_.at(change.gauge)).integer(change.value);
}

void GaugeTable::write_test(const ir::BlockingTest& test, JsonWriter& json) {
  const auto [at, fresh] =
      counter_at_.try_emplace(test.counter, static_cast<std::uint32_t>(counters_.size()));
  if (fresh) counters_.push_back(test.counter);
  json.natural(at->second).integer(test.need);
}

}  // namespace spatialcert::certify::views
