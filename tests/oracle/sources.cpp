#include "tests/oracle/sources.hpp"

#include <map>
#include <optional>

namespace spatialcert::tests {
namespace {

class Recorder {
 public:
  Recorder(const ir::Program& program, const ir::Unrolled& unrolled, const MemoryModel& model)
      : program_(program),
        unrolled_(unrolled),
        model_(model),
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
            last_[location] = {stage, at.wrap};
          } else {
            read(location, stage, at);
          }
        }
      }
    }
  }

  ReadSources out;

 private:
  struct Writer {
    std::uint32_t stage = 0;
    std::uint32_t wrap = 0;
  };

  void read(std::uint32_t location, std::uint32_t stage, const AccessInstance& at) {
    const ir::Region& region = program_.accesses[at.access].region;
    if (region.kind == ir::RegionKind::tensor) return;
    const auto found = last_.find(location);
    const auto writer = found == last_.end() ? std::nullopt : std::optional(found->second);
    if (!declared(region.object, stage, writer, at.wrap)) out.wrong_producers.insert(at);
    if (!persistent_ || region.kind == ir::RegionKind::page) return;
    if (program_.buffers[region.object].lifetime == ir::Lifetime::resident) return;
    const bool initial = !writer && model_.init(location) != ir::Init::undefined;
    if (writer ? writer->wrap != at.wrap : initial && at.wrap > 0) out.outlived.insert(at);
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
