#include "tests/oracle/sources.hpp"

#include <map>
#include <optional>

#include "tests/oracle/composition.hpp"

namespace spatialcert::tests {
namespace {

class Recorder {
 public:
  Recorder(const ir::Program& program, const ir::Unrolled& unrolled, const MemoryModel& model)
      : program_(program),
        unrolled_(unrolled),
        model_(model),
        composition_(program, unrolled),
        persistent_(program.execution == ir::Execution::persistent) {}

  /// A run reads everything before it writes.
  void perform(std::uint32_t t) {
    const std::uint32_t stage = unrolled_.op_of(program_, ir::TransitionId(t)).object;
    for (const bool writes : {false, true}) {
      for (const Touch& touch : model_.footprint(t).touches) {
        if (touch.write != writes) continue;
        const AccessInstance at = instance(unrolled_, t, touch.access);
        for (const std::uint32_t location : touch.content) {
          if (writes) {
            last_[location] = {stage, t};
          } else {
            read(location, stage, t, at);
          }
        }
      }
    }
  }

  ReadSources out;

 private:
  struct Writer {
    std::uint32_t stage = 0;
    std::uint32_t transition = 0;
  };

  void read(std::uint32_t location, std::uint32_t stage, std::uint32_t t,
            const AccessInstance& at) {
    const ir::Region& region = program_.accesses[at.access].region;
    if (region.kind == ir::RegionKind::tensor) return;
    const auto found = last_.find(location);
    const auto writer = found == last_.end() ? std::nullopt : std::optional(found->second);
    const bool elsewhere =
        writer && composition_.section(writer->transition) != composition_.section(t);
    if (!elsewhere && !declared(region.object, stage, writer, at.wrap))
      out.wrong_producers.insert(at);
    if (region.kind == ir::RegionKind::page) return;
    if (writer) {
      if (!composition_.lasts(region.object, writer->transition, t)) out.outlived.insert(at);
    } else if (model_.init(location) != ir::Init::undefined && at.wrap > 0 &&
               !lasts_for_ever(region.object)) {
      out.outlived.insert(at);
    }
  }

  [[nodiscard]] bool lasts_for_ever(std::uint32_t buffer) const {
    while (program_.buffers[buffer].view) buffer = program_.buffers[buffer].view->base.value();
    const ir::Buffer& b = program_.buffers[buffer];
    return b.lifetime == ir::Lifetime::resident && !b.resident_from.valid();
  }

  /// In the first wrap of a persistent program initial contents stand for what a wrap before it
  /// would have left.
  [[nodiscard]] bool declared(std::uint32_t buffer, std::uint32_t reader,
                              const std::optional<Writer>& writer, std::uint32_t wrap) const {
    bool any = false;
    for (const ir::Edge& e : program_.edges) {
      if (e.buffer.value() != buffer || e.consumer.value() != reader) continue;
      any = true;
      if (writer && e.producer.value() == writer->stage) return true;
    }
    return !any || (!writer && persistent_ && wrap == 0);
  }

  const ir::Program& program_;
  const ir::Unrolled& unrolled_;
  const MemoryModel& model_;
  Composition composition_;
  bool persistent_;
  std::map<std::uint32_t, Writer> last_;  // by location
};

}  // namespace

ReadSources read_sources(const ir::Program& program, const ir::Unrolled& unrolled,
                         const MemoryModel& model, const ir::Schedule& schedule) {
  Recorder recorder(program, unrolled, model);
  std::vector<std::uint32_t> next(unrolled.begin.begin(), unrolled.begin.end() - 1);
  for (const ir::ScheduleRun& run : schedule) {
    for (std::uint32_t i = 0; i < run.steps; ++i) recorder.perform(next[run.program.value()]++);
  }
  return std::move(recorder.out);
}

}  // namespace spatialcert::tests
