#include "compose/composition/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compose/composition/object_union.hpp"
#include "compose/composition/postconditions.hpp"
#include "compose/composition/tensor_union.hpp"
#include "compose/composition/text.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose {
namespace {

/// New numbers of a section's objects.
struct Numbers {
  std::vector<std::uint32_t> tensors, buffers, semaphores;
  std::uint32_t first_stage = 0;
  std::uint32_t first_location = 0;
};

class Assembly {
 public:
  Assembly(const std::vector<ir::Program>& sections, const PhaseOrder& phases,
           const ComposeOptions& options, std::vector<Offset> offsets)
      : sections_(sections),
        phases_(phases),
        options_(options),
        offsets_(std::move(offsets)),
        position_(sections.size()),
        tensors_(sections),
        buffers_(sections),
        semaphores_(sections),
        stage_names_(sections, "stage") {
    for (std::uint32_t i = 0; i < phases.order.size(); ++i) position_[phases.order[i]] = i;
  }

  Composed run() {
    ir::Program& program = result_.program;
    program.name = options_.name;
    program.target = sections_.front().target;
    program.execution = options_.execution;
    check_sizes();
    for (std::uint32_t s = 0; s < sections_.size(); ++s) add_objects(s);
    finish_objects();
    add_postconditions();
    add_slices();
    make_engine_programs();
    for (std::uint32_t i = 0; i < phases_.order.size(); ++i) perform(i);
    if (const ir::Status refused = ir::validate(program)) {
      throw Refused{RefusalReason::malformed_program,
                    "the sections together are no program: " + refused->message(),
                    "change what they share; docs/format.md says what a program must be"};
    }
    return std::move(result_);
  }

 private:
  void check_sizes() const;
  void add_objects(std::uint32_t source);
  void add_declarations(std::uint32_t source);
  [[nodiscard]] std::uint32_t add_locations(std::uint32_t source);
  void finish_objects();
  void check_semaphores() const;
  void add_postconditions();
  void add_slices();
  void make_engine_programs();
  void check_rendezvous_size(std::uint64_t section_ops) const;
  void perform(std::uint32_t position);
  void append_ops(std::uint32_t source, ir::SectionId section);
  void close(ir::SectionId after);
  [[nodiscard]] ir::Region renumbered(ir::Region region, const Numbers& numbers) const;
  [[nodiscard]] std::uint32_t closed_boundaries() const {
    return static_cast<std::uint32_t>(
        std::count(phases_.barrier_after.begin(), phases_.barrier_after.end(), true));
  }
  [[nodiscard]] const std::string& name(std::uint32_t source) const {
    return sections_[source].sections.front().name;
  }

  const std::vector<ir::Program>& sections_;
  const PhaseOrder& phases_;
  const ComposeOptions& options_;
  std::vector<Offset> offsets_;
  std::vector<std::uint32_t> position_;  // of a section in the order of performance
  TensorUnion tensors_;
  BufferUnion buffers_;
  SemaphoreUnion semaphores_;
  OwnNames stage_names_;
  std::vector<Numbers> numbers_;
  std::unordered_set<std::string> carried_;
  std::unordered_map<std::string, std::uint32_t> source_files_;
  std::unordered_set<std::uint64_t> links_;
  std::uint32_t closed_ = 0;  // boundaries closed so far
  Composed result_;
};

// Everything is numbered in 32 bits. What rendezvous add is counted when they are known.
void Assembly::check_sizes() const {
  const auto count = [&](const char* what, auto number_of) {
    std::uint64_t sum = 0;
    for (std::uint32_t s = 0; s < sections_.size(); ++s) {
      sum += number_of(sections_[s]);
      if (sum <= options_.most_numbers) continue;
      throw Refused{RefusalReason::too_large,
                    fmt::format("up to section \"{}\" there are {} {}, and a program numbers {}",
                                name(s), sum, what, options_.most_numbers),
                    "compose fewer sections"};
    }
  };
  count("ops", [](const ir::Program& p) { return ir::op_count(p); });
  count("accesses", [](const ir::Program& p) { return p.accesses.size(); });
  count("affine terms", [](const ir::Program& p) { return p.affine_terms.size(); });
  count("source locations", [](const ir::Program& p) { return p.locations.size(); });
  count("source files", [](const ir::Program& p) { return p.source_files.size(); });
  count("tensors", [](const ir::Program& p) { return p.tensors.size(); });
  count("buffers", [](const ir::Program& p) { return p.buffers.size(); });
  count("stages", [](const ir::Program& p) { return p.stages.size(); });
  count("semaphores", [](const ir::Program& p) { return p.semaphores.size(); });
}

std::uint32_t Assembly::add_locations(std::uint32_t source) {
  ir::Program& program = result_.program;
  const ir::Program& section = sections_[source];
  std::vector<std::uint32_t> files;
  for (const std::string& file : section.source_files) {
    const auto next = static_cast<std::uint32_t>(program.source_files.size());
    const auto [known, is_new] = source_files_.emplace(file, next);
    if (is_new) program.source_files.push_back(file);
    files.push_back(known->second);
  }
  const auto first = static_cast<std::uint32_t>(program.locations.size());
  for (ir::SourceLocation location : section.locations) {
    if (location.file < files.size()) location.file = files[location.file];  // or nobody has it
    program.locations.push_back(location);
  }
  return first;
}

void Assembly::add_objects(std::uint32_t source) {
  const ObjectUses uses(sections_[source]);
  Numbers& numbers = numbers_.emplace_back();
  numbers.first_location = add_locations(source);
  numbers.tensors = tensors_.add(source, uses, numbers.first_location);
  numbers.buffers = buffers_.add(source, uses, numbers.first_location, offsets_[source]);
  numbers.semaphores = semaphores_.add(source, offsets_[source]);
  add_declarations(source);
}

void Assembly::add_declarations(std::uint32_t source) {
  ir::Program& program = result_.program;
  const ir::Program& section = sections_[source];
  Numbers& numbers = numbers_[source];
  numbers.first_stage = static_cast<std::uint32_t>(program.stages.size());
  for (const ir::Stage& stage : section.stages) {
    const auto number = static_cast<std::uint32_t>(program.stages.size());
    (void)stage_names_.add(stage.name, {number, source, false});
    program.stages.push_back(stage);
    program.stages.back().section = ir::SectionId(position_[source]);
    if (stage.location != ir::kNoLocation) {
      program.stages.back().location += numbers.first_location;
    }
  }
  for (ir::Edge edge : section.edges) {
    edge.producer = ir::StageId(numbers.first_stage + edge.producer.value());
    edge.consumer = ir::StageId(numbers.first_stage + edge.consumer.value());
    edge.buffer = ir::BufferId(numbers.buffers[edge.buffer.value()]);
    program.edges.push_back(edge);
  }
  for (ir::Link link : section.links) {
    link.object = (link.is_fifo ? numbers.buffers : numbers.semaphores)[link.object];
    const std::uint64_t key = std::uint64_t{link.object} << 1U | (link.is_fifo ? 1U : 0U);
    if (links_.insert(key).second) program.links.push_back(link);
  }
}

void Assembly::finish_objects() {
  ir::Program& program = result_.program;
  const auto carry = [&](const std::string& tensor) {
    if (carried_.insert(tensor).second) program.carried.push_back(tensor);
  };
  for (const std::string& tensor : options_.carried) {
    if (!tensors_.has(tensor)) {
      throw Refused{RefusalReason::unknown_carried,
                    fmt::format("\"{}\" is carried and no section declares such a tensor", tensor),
                    "name a tensor of a section"};
    }
    carry(tensor);
  }
  for (const ir::Program& section : sections_) {
    for (const std::string& tensor : section.carried) carry(tensor);
    program.result_unspecified = program.result_unspecified || section.result_unspecified;
  }
  program.tensors = tensors_.finish(carried_);
  program.buffers = buffers_.finish(position_);
  program.semaphores = semaphores_.finish();
  check_semaphores();
}

void Assembly::check_semaphores() const {
  const ir::Target& target = result_.program.target;
  std::map<ir::Site, std::uint64_t> on_site;
  for (const ir::Semaphore& semaphore : result_.program.semaphores) {
    if (++on_site[semaphore.site] <= target.semaphores_per_site) continue;
    throw Refused{
        RefusalReason::semaphores_exhausted,
        fmt::format("{} has {} semaphores, and the sections declare more, the first one too "
                    "many being \"{}\"",
                    text_of(semaphore.site), target.semaphores_per_site, semaphore.name),
        "place sections on other sites, or use fewer semaphores"};
  }
}

void Assembly::add_postconditions() {
  const auto lost = lost_postconditions(sections_);
  for (std::uint32_t s = 0; s < sections_.size(); ++s) {
    for (std::size_t p = 0; p < lost[s].size(); ++p) {
      if (lost[s][p]) {
        const std::string what =
            fmt::format("postcondition {} of section \"{}\" means something else in the whole: {}",
                        p + 1, name(s), *lost[s][p]);
        if (!options_.drop_lost_postconditions) {
          throw Refused{RefusalReason::lost_postcondition, what,
                        "take it out of the section, or ask for lost ones to be left out"};
        }
        result_.notes.push_back(what + "; left out");
        result_.program.result_unspecified = true;
        continue;
      }
      ir::Postcondition postcondition = sections_[s].postconditions[p];
      postcondition.region = renumbered(postcondition.region, numbers_[s]);
      for (ir::Region& term : postcondition.terms) term = renumbered(term, numbers_[s]);
      result_.program.postconditions.push_back(std::move(postcondition));
    }
  }
}

void Assembly::add_slices() {
  std::vector<ir::SlicedTensor>& all = result_.program.sliced;
  std::unordered_map<std::string, std::size_t> by_name;
  for (std::uint32_t s = 0; s < sections_.size(); ++s) {
    for (ir::SlicedTensor sliced : sections_[s].sliced) {
      for (ir::Slice& slice : sliced.slices) {
        slice.tensor = ir::TensorId(numbers_[s].tensors[slice.tensor.value()]);
      }
      const auto [known, is_new] = by_name.emplace(sliced.name, all.size());
      if (is_new) {
        all.push_back(std::move(sliced));
      } else if (!(all[known->second] == sliced)) {
        throw Refused{RefusalReason::sliced_tensor,
                      fmt::format("section \"{}\" cuts \"{}\" otherwise than an earlier one",
                                  name(s), sliced.name),
                      "rename one of the full tensors, or cut both alike"};
      }
    }
  }
}

// Regions that no op has may name anything: nobody has checked them, and nobody will read them.
ir::Region Assembly::renumbered(ir::Region region, const Numbers& numbers) const {
  const auto& known = region.kind == ir::RegionKind::tensor ? numbers.tensors : numbers.buffers;
  if (region.object < known.size()) region.object = known[region.object];
  return region;
}

// All (site, engine) of all sections, in order, and who takes part in rendezvous.
void Assembly::make_engine_programs() {
  struct Place {
    ir::Site site;
    ir::EngineId engine;
    std::uint64_t ops = 0;
  };
  std::vector<Place> places;
  for (std::uint32_t s = 0; s < sections_.size(); ++s) {
    for (const ir::EngineProgram& one : sections_[s].programs) {
      const ir::Site site{one.site.chip, one.site.x + offsets_[s].x, one.site.y + offsets_[s].y};
      places.push_back({site, one.engine, one.ops.size()});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.site, a.engine) < std::tie(b.site, b.engine);
  });
  std::vector<ir::EngineProgram>& programs = result_.program.programs;
  std::vector<std::uint64_t> ops;
  for (const Place& place : places) {
    if (programs.empty() || programs.back().site != place.site ||
        programs.back().engine != place.engine) {
      programs.push_back({place.site, place.engine, {}, {}});
      ops.push_back(0);
    }
    ops.back() += place.ops;
  }
  const std::uint32_t closed = closed_boundaries();
  std::vector<std::uint32_t> participants;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    if (ops[p] != 0) participants.push_back(p);
    programs[p].ops.reserve(ops[p] + 2 * std::size_t{closed});
  }
  if (closed == 0) return;
  result_.rendezvous_count = closed;
  result_.rendezvous =
      take(declare_rendezvous(result_.program, std::move(participants), colours_for(closed)));
  check_rendezvous_size(std::accumulate(ops.begin(), ops.end(), std::uint64_t{0}));
}

void Assembly::check_rendezvous_size(std::uint64_t section_ops) const {
  const std::uint64_t one = result_.rendezvous->ops();
  const std::uint64_t most = options_.most_numbers;
  if (section_ops <= most && result_.rendezvous_count <= (most - section_ops) / one &&
      result_.program.semaphores.size() <= most) {
    return;
  }
  throw Refused{
      RefusalReason::too_large,
      fmt::format("{} ops of sections and {} rendezvous of {} ops are more than the {} that "
                  "a program numbers",
                  section_ops, result_.rendezvous_count, one, most),
      "compose fewer sections, or close fewer boundaries"};
}

void Assembly::perform(std::uint32_t position) {
  const std::uint32_t source = phases_.order[position];
  ir::Program& program = result_.program;
  ir::Section section = sections_[source].sections.front();
  section.source_index = source;
  if (section.location != ir::kNoLocation) section.location += numbers_[source].first_location;
  program.sections.push_back(std::move(section));
  append_ops(source, ir::SectionId(position));
  const bool closed = phases_.barrier_after[position];
  if (closed || position + 1 < phases_.order.size())
    program.boundaries.push_back({ir::SectionId(position), closed});
  if (!closed) return;
  append_rendezvous(program, *result_.rendezvous, ir::BoundaryId(program.boundaries.size() - 1),
                    colour_of(closed_++, result_.rendezvous_count));
}

void Assembly::append_ops(std::uint32_t source, ir::SectionId section) {
  ir::Program& program = result_.program;
  const ir::Program& given = sections_[source];
  const Numbers& numbers = numbers_[source];
  const auto first_access = static_cast<std::uint32_t>(program.accesses.size());
  const auto first_term = static_cast<std::uint32_t>(program.affine_terms.size());
  for (ir::Access access : given.accesses) {
    access.region = renumbered(access.region, numbers);
    access.region.first_term = access.region.terms == 0 ? 0 : access.region.first_term + first_term;
    program.accesses.push_back(access);
  }
  program.affine_terms.insert(program.affine_terms.end(), given.affine_terms.begin(),
                              given.affine_terms.end());
  auto at = program.programs.begin();  // both lists are in order, and the composed one has them all
  for (const ir::EngineProgram& one : given.programs) {
    const ir::Site site{one.site.chip, one.site.x + offsets_[source].x,
                        one.site.y + offsets_[source].y};
    at = std::partition_point(at, program.programs.end(), [&](const ir::EngineProgram& p) {
      return std::tie(p.site, p.engine) < std::tie(site, one.engine);
    });
    if (one.ops.empty()) continue;
    const auto begin = static_cast<std::uint32_t>(at->ops.size());
    for (ir::Op op : one.ops) {
      switch (op.code) {
        case ir::OpCode::wait:
        case ir::OpCode::await:
        case ir::OpCode::post:
          op.object = numbers.semaphores[op.object];
          break;
        case ir::OpCode::reserve:
        case ir::OpCode::push:
        case ir::OpCode::front:
        case ir::OpCode::pop:
          op.object = numbers.buffers[op.object];
          break;
        case ir::OpCode::run:
          op.object += numbers.first_stage;
          op.first_access += first_access;
          break;
        case ir::OpCode::repeat:
          break;
      }
      if (op.location != ir::kNoLocation) op.location += numbers.first_location;
      at->ops.push_back(op);
    }
    at->spans.push_back(
        {section, ir::BoundaryId(), begin, static_cast<std::uint32_t>(at->ops.size())});
  }
}

}  // namespace

Composed assemble(const std::vector<ir::Program>& sections, const PhaseOrder& phases,
                  const std::vector<Offset>& offsets, const ComposeOptions& options) {
  return Assembly(sections, phases, options, offsets).run();
}

}  // namespace spatialcert::compose
