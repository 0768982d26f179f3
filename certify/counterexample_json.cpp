// Counterexamples as JSON, format `spatialcert-counterexample`, version 1 (docs/report.md).
//
// Objects of the program are named, op instances are numbered as in the program unrolled
// `iterations` times. What stands under `text` and `..._at` is for people: reading ignores it.
#include <algorithm>

#include "certify/names.hpp"
#include "certify/report.hpp"
#include "ir/io/json_writer.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::certify {

using ir::io::JsonWriter;
namespace {

using proofs::Counterexample;

class Writer {
 public:
  Writer(const ir::Program& program, const Counterexample& counterexample, JsonWriter& json)
      : program_(program),
        c_(counterexample),
        names_(program, counterexample.iterations),
        json_(json) {}

  void write(proofs::Rule rule) {
    json_.object();
    json_.key("format").text("spatialcert-counterexample");
    json_.key("version").natural(1);
    json_.key("program").text(program_.name);
    json_.key("digest").text(ir::to_hex(ir::digest(program_)));
    json_.key("rule").text(proofs::to_string(rule));
    json_.key("kind").text(proofs::to_string(c_.kind));
    json_.key("iterations").natural(c_.iterations);
    write_places();
    json_.key("value").integer(c_.value);
    json_.key("limit").integer(c_.limit);
    json_.key("index").natural(c_.index);
    write_lists();
    json_.key("note").text(c_.note);
    write_schedules();
    write_ops();
    write_slices();
    json_.close();
  }

 private:
  void write_places() {
    if (c_.transition.valid()) write_transition("transition", c_.transition);
    if (c_.counter.valid()) write_counter("counter", c_.counter);
    if (c_.range) write_range(*c_.range);
  }

  void write_lists() {
    json_.key("chain").array();
    for (const proofs::WaitLink& link : c_.chain) write_link(link);
    json_.close();
    json_.key("accesses").array();
    for (const proofs::AccessRef& access : c_.accesses) write_access(access);
    json_.close();
    json_.key("buffers").array(true);
    for (const ir::BufferId buffer : c_.buffers) json_.text(program_.buffers[buffer.value()].name);
    json_.close();
    json_.key("terms").array();
    for (const proofs::TermDifference& term : c_.terms) {
      json_.object(true);
      json_.key("source").text(term.source);
      json_.key("found").integer(term.found);
      json_.key("expected").integer(term.expected);
      json_.close();
    }
    json_.close();
    json_.key("deeper").array();
    for (const auto& [buffer, pages] : c_.deeper) {
      json_.object(true);
      json_.key("fifo").text(program_.buffers[buffer.value()].name);
      json_.key("pages").integer(pages);
      json_.close();
    }
    json_.close();
  }

  void write_link(const proofs::WaitLink& link) {
    json_.object();
    write_transition("waiter", link.waiter);
    write_counter("counter", link.counter);
    json_.key("need").integer(link.need);
    json_.key("have").integer(link.have);
    if (link.supplier.valid()) write_transition("supplier", link.supplier);
    json_.close();
  }

  void write_access(const proofs::AccessRef& ref) {
    const ir::Access& access = program_.accesses[ref.access];
    json_.object();
    write_transition("transition", ref.transition);
    json_.key("access").natural(ref.access);
    json_.key("text").text((access.write ? "writes " : "reads ") +
                           region_text(program_, access.region));
    json_.close();
  }

  void write_site(const ir::Site& site) {
    json_.key("site").array(true);
    json_.natural(site.chip).natural(site.x).natural(site.y).close();
  }

  void write_engine(ir::ProgramId id) {
    const ir::EngineProgram& engine = program_.programs[id.value()];
    write_site(engine.site);
    json_.key("engine").text(program_.target.engines[engine.engine.value()]);
  }

  void write_transition(std::string_view key, ir::TransitionId t) {
    json_.key(key).natural(t.value());
    json_.key(std::string(key) + "_at").object(true);
    write_place(t);
    json_.close();
  }

  void write_place(ir::TransitionId t) {
    const ir::ProgramId program = names_.program_of(t);
    const std::uint32_t op = names_.unrolled().op[t.value()];
    write_engine(program);
    json_.key("op").natural(op);
    json_.key("text").text(names_.op(t));
    json_.key("part").text(part_text(program_, program, op));
    const std::string source = source_text(program_, names_.op_of(t).location);
    if (!source.empty()) json_.key("source").text(source);
  }

  void write_counter(std::string_view key, ir::CounterId id) {
    const ir::Counter& counter = names_.counters()[id];
    json_.key(key).object(true);
    switch (counter.kind) {
      case ir::CounterKind::semaphore:
        json_.key("semaphore");
        break;
      case ir::CounterKind::filled:
        json_.key("filled");
        break;
      case ir::CounterKind::free:
        json_.key("free");
        break;
    }
    json_.text(counter_object(program_, counter)).close();
  }

  void write_range(const proofs::LocationRange& range) {
    json_.key("range").object();
    switch (range.storage.kind) {
      case ir::Storage::Kind::memory:
        write_site(range.storage.site);
        json_.key("space").text(program_.target.spaces[range.storage.space.value()].name);
        break;
      case ir::Storage::Kind::tensor:
        json_.key("tensor").text(program_.tensors[range.storage.object].name);
        break;
      case ir::Storage::Kind::fifo:
        json_.key("fifo").text(program_.buffers[range.storage.object].name);
        break;
    }
    json_.key("low").natural(range.low);
    json_.key("high").natural(range.high);
    json_.key("text").text(ir::describe(program_, range.storage, range.low, range.high));
    json_.close();
  }

  void write_schedules() {
    json_.key("schedules").array();
    std::vector<std::uint32_t> used;
    for (const ir::Schedule& schedule : c_.schedules) {
      json_.array(true);
      for (const ir::ScheduleRun& run : schedule) {
        json_.array().natural(run.program.value()).natural(run.steps).close();
        used.push_back(run.program.value());
      }
      json_.close();
    }
    json_.close();
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    json_.key("schedules_at").array();
    for (const std::uint32_t program : used) {
      json_.object(true);
      json_.key("program").natural(program);
      write_engine(ir::ProgramId(program));
      json_.close();
    }
    json_.close();
  }

  /// Only the kinds that name ops have them.
  void write_ops() {
    if (c_.ops.empty()) return;
    json_.key("ops").array(true);
    for (const ir::TransitionId t : c_.ops) json_.natural(t.value());
    json_.close();
    json_.key("ops_at").array();
    for (const ir::TransitionId t : c_.ops) {
      json_.object(true);
      write_place(t);
      json_.close();
    }
    json_.close();
  }

  /// Likewise.
  void write_slices() {
    if (c_.slices.empty()) return;
    json_.key("slices").array();
    for (const proofs::SliceRef& ref : c_.slices) {
      const ir::SlicedTensor& sliced = program_.sliced[ref.sliced];
      const ir::Tensor& tensor = program_.tensors[sliced.slices[ref.part].tensor.value()];
      json_.object(true);
      json_.key("full").text(sliced.name);
      json_.key("part").natural(ref.part);
      json_.key("tensor").text(tensor.name);
      json_.key("chip").natural(tensor.owner.value_or(0));
      json_.close();
    }
    json_.close();
  }

  const ir::Program& program_;
  const Counterexample& c_;
  OpNames names_;
  JsonWriter& json_;
};

}  // namespace

std::string counterexample_json(const ir::Program& program, const Counterexample& counterexample,
                                std::optional<proofs::Rule> rule) {
  JsonWriter json;
  Writer(program, counterexample, json).write(rule.value_or(rule_of(counterexample)));
  return json.take() + '\n';
}

}  // namespace spatialcert::certify
