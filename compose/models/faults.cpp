#include "compose/models/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "ir/program_file.hpp"

namespace spatialcert::compose::models {
namespace {

constexpr std::array<std::string_view, 12> kNames{
    "skip-chip",        "chip-twice",   "plain-sum",     "nonlinear-before",
    "reduce-again",     "slice-gap",    "slice-overlap", "swapped-parts",
    "weight-elsewhere", "drop-arrival", "drop-release",  "move-buffer"};

std::uint64_t cut_length(const ir::SlicedTensor& sliced) {
  return sliced.axis == ir::Axis::rows ? sliced.rows : sliced.cols;
}

/// Edits of one program; each is false if there is no place for it.
class Edit {
 public:
  explicit Edit(ir::Program& program) : program_(program) {
    for (std::uint32_t s = 0; s < program.stages.size(); ++s) {
      if (program.stages[s].kind == ir::StageKind::allreduce) allreduces_.push_back(s);
    }
  }

  bool make(ModelFault fault) {
    switch (fault) {
      case ModelFault::skip_chip:
        return operands([](std::vector<ir::Access>& reads) { reads.pop_back(); });
      case ModelFault::chip_twice:
        return operands([](std::vector<ir::Access>& reads) { reads.back() = reads.front(); });
      case ModelFault::plain_sum:
        if (allreduces_.empty()) return false;
        program_.stages[allreduces_.front()].kind = ir::StageKind::compute;
        return true;
      case ModelFault::nonlinear_before:
        return nonlinear_before();
      case ModelFault::reduce_again:
        return reduce_again();
      case ModelFault::slice_gap:
        return slice_gap();
      case ModelFault::slice_overlap:
        return slice_overlap();
      case ModelFault::swapped_parts:
        return swapped_parts();
      case ModelFault::weight_elsewhere:
        return weight_elsewhere();
      case ModelFault::drop_arrival:
        return drop_arrival();
      case ModelFault::drop_release:
        return drop_release();
      case ModelFault::move_buffer:
        return move_buffer();
    }
    return false;
  }

 private:
  /// Changes what the runs of the first all-reduce read.
  template <typename Change>
  bool operands(Change change) {
    if (allreduces_.empty()) return false;
    std::vector<ir::Access> accesses;
    bool changed = false;
    for (ir::EngineProgram& engine : program_.programs) {
      for (ir::Op& op : engine.ops) {
        if (op.code != ir::OpCode::run) continue;
        std::vector<ir::Access> reads, writes;
        for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
          const ir::Access& access = program_.accesses[a];
          (access.write ? writes : reads).push_back(access);
        }
        if (op.object == allreduces_.front() && reads.size() > 1) {
          change(reads);
          changed = true;
        }
        op.first_access = static_cast<std::uint32_t>(accesses.size());
        op.accesses = static_cast<std::uint32_t>(reads.size() + writes.size());
        accesses.insert(accesses.end(), reads.begin(), reads.end());
        accesses.insert(accesses.end(), writes.begin(), writes.end());
      }
    }
    program_.accesses = std::move(accesses);
    return changed;
  }

  /// Stages of a kind in the section of an all-reduce.
  [[nodiscard]] std::vector<std::uint32_t> beside(std::uint32_t allreduce,
                                                  ir::StageKind kind) const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t s = 0; s < program_.stages.size(); ++s) {
      const ir::Stage& stage = program_.stages[s];
      if (stage.kind == kind && stage.section == program_.stages[allreduce].section)
        out.push_back(s);
    }
    return out;
  }

  bool nonlinear_before() {
    if (allreduces_.empty()) return false;
    const auto loads = beside(allreduces_.front(), ir::StageKind::load);
    if (loads.empty()) return false;
    ir::Stage& stage = program_.stages[loads.back()];
    stage.kind = ir::StageKind::compute;
    stage.op = ir::OpKind::silu;
    return true;
  }

  /// The tensor regions that runs of some stages touch.
  template <typename Visit>
  void tensor_accesses(const std::vector<std::uint32_t>& stages, Visit visit) {
    for (ir::EngineProgram& engine : program_.programs) {
      for (const ir::Op& op : engine.ops) {
        if (op.code != ir::OpCode::run ||
            std::find(stages.begin(), stages.end(), op.object) == stages.end())
          continue;
        for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
          if (program_.accesses[a].region.kind == ir::RegionKind::tensor)
            visit(program_.accesses[a]);
        }
      }
    }
  }

  /// The second all-reduce takes the result of the first one in place of its partial sums.
  bool reduce_again() {
    if (allreduces_.size() < 2) return false;
    std::optional<std::uint32_t> whole;
    tensor_accesses(beside(allreduces_[0], ir::StageKind::store),
                    [&](ir::Access& access) { whole = access.region.object; });
    if (!whole) return false;
    const ir::Tensor& result = program_.tensors[*whole];
    bool changed = false;
    tensor_accesses(beside(allreduces_[1], ir::StageKind::load), [&](ir::Access& access) {
      const ir::Tensor& partial = program_.tensors[access.region.object];
      if (partial.rows != result.rows || partial.cols != result.cols ||
          partial.dtype != result.dtype)
        return;
      access.region.object = *whole;
      changed = true;
    });
    return changed;
  }

  /// The first full tensor whose first part is one run from its beginning on.
  [[nodiscard]] ir::SlicedTensor* plainly_cut() {
    for (ir::SlicedTensor& sliced : program_.sliced) {
      const auto& ranges = sliced.slices[0].ranges;
      if (sliced.slices.size() > 1 && sliced.copies == 1 && ranges.size() == 1 &&
          ranges[0].begin == 0 && ranges[0].end < cut_length(sliced))
        return &sliced;
    }
    return nullptr;
  }
  bool slice_gap() {
    ir::SlicedTensor* const sliced = plainly_cut();
    if (sliced == nullptr) return false;
    sliced->slices[0].ranges[0].begin += 1;
    sliced->slices[0].ranges[0].end += 1;
    return true;
  }
  bool slice_overlap() {
    ir::SlicedTensor* const sliced = plainly_cut();
    if (sliced == nullptr) return false;
    sliced->slices[1].ranges = sliced->slices[0].ranges;
    return true;
  }

  /// The last full tensor that has others to be compared with.
  bool swapped_parts() {
    std::map<std::pair<std::string, std::uint64_t>, std::vector<ir::SlicedTensor*>> alike;
    for (ir::SlicedTensor& sliced : program_.sliced)
      alike[{sliced.dimension, cut_length(sliced)}].push_back(&sliced);
    for (auto& [key, tensors] : alike) {
      auto& parts = tensors.back()->slices;
      if (tensors.size() < 2 || parts.size() < 2 || parts[0].ranges == parts[1].ranges) continue;
      std::swap(parts[0].ranges, parts[1].ranges);
      return true;
    }
    return false;
  }

  bool weight_elsewhere() {
    for (const ir::SlicedTensor& sliced : program_.sliced) {
      ir::Tensor& tensor = program_.tensors[sliced.slices[0].tensor.value()];
      if (sliced.slices.size() < 2 || tensor.role != ir::TensorRole::weight || tensor.view)
        continue;
      tensor.owner = program_.tensors[sliced.slices[1].tensor.value()].owner;
      return true;
    }
    return false;
  }

  /// Removes an op, which is in no loop, of an engine program.
  static void remove(ir::EngineProgram& engine, std::uint32_t op) {
    engine.ops.erase(engine.ops.begin() + op);
    for (ir::Span& span : engine.spans) {
      if (span.begin > op) --span.begin;
      if (span.end > op) --span.end;
    }
    engine.spans.erase(std::remove_if(engine.spans.begin(), engine.spans.end(),
                                      [](const ir::Span& span) { return span.begin == span.end; }),
                       engine.spans.end());
  }

  /// The ops of the first closed boundary; `root`: of the engine program that has more of them than
  /// the others have.
  template <typename Visit>
  bool at_boundary(bool root, Visit visit) {
    for (std::uint32_t b = 0; b < program_.boundaries.size(); ++b) {
      if (!program_.boundaries[b].closed) continue;
      for (auto engine = program_.programs.rbegin(); engine != program_.programs.rend(); ++engine) {
        for (const ir::Span& span : engine->spans) {
          const bool here = span.boundary.valid() && span.boundary.value() == b;
          if (here && root == (span.end - span.begin > 2) && visit(*engine, span)) return true;
        }
      }
    }
    return false;
  }
  bool drop_arrival() {
    return at_boundary(false, [](ir::EngineProgram& engine, const ir::Span& span) {
      if (engine.ops[span.begin].code != ir::OpCode::post) return false;
      remove(engine, span.begin);
      return true;
    });
  }
  bool drop_release() {
    return at_boundary(true, [](ir::EngineProgram& engine, const ir::Span& span) {
      for (std::uint32_t op = span.end; op-- > span.begin + 1;) {
        if (engine.ops[op].code != ir::OpCode::post) continue;
        remove(engine, op);
        return true;
      }
      return false;
    });
  }

  /// The second buffer of a section lies where the first one does.
  bool move_buffer() {
    const auto section_of = [](const ir::Buffer& buffer) {
      return std::string_view(buffer.name).substr(0, buffer.name.find('/'));
    };
    for (std::size_t b = 1; b < program_.buffers.size(); ++b) {
      const ir::Buffer& first = program_.buffers[b - 1];
      ir::Buffer& second = program_.buffers[b];
      if (first.view || second.view || first.site != second.site || first.space != second.space ||
          section_of(first) != section_of(second))
        continue;
      second.address = first.address;
      return true;
    }
    return false;
  }

  ir::Program& program_;
  std::vector<std::uint32_t> allreduces_;
};

}  // namespace

const std::vector<ModelFault>& model_faults() {
  static const std::vector<ModelFault> faults = [] {
    std::vector<ModelFault> out;
    for (std::size_t i = 0; i < kNames.size(); ++i) out.push_back(static_cast<ModelFault>(i));
    return out;
  }();
  return faults;
}

std::string_view to_string(ModelFault fault) { return kNames.at(static_cast<std::size_t>(fault)); }

std::optional<ModelFault> parse_model_fault(std::string_view name) {
  for (const ModelFault fault : model_faults()) {
    if (to_string(fault) == name) return fault;
  }
  return std::nullopt;
}

ir::Result<ir::Program> with_fault(const ir::Program& program, ModelFault fault) {
  ir::Program edited = program;
  if (!Edit(edited).make(fault)) {
    return ir::Refusal{"", 0, program.name,
                       fmt::format("a program with a place for the fault {}", to_string(fault)),
                       "none"};
  }
  edited.name += fmt::format("-{}", to_string(fault));
  // Through its text, so that what it is cannot differ from what is read.
  return ir::parse_program(ir::serialise(edited), edited.name);
}

}  // namespace spatialcert::compose::models
