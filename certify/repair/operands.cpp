// What all-reduces take: operands that they have twice, and operands of chips that they leave out.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "certify/repair/propose.hpp"
#include "certify/report.hpp"

namespace spatialcert::certify::repair {
namespace {

using ir::OpCode;

/// Choices of operands that are tried, where several come into question.
constexpr std::size_t kMostChoices = 4;

class Operands {
 public:
  Operands(const Case& what, Proposals& out) : what_(what), program_(what.program), out_(out) {}

  /// Stages on the way to the spine, the last one first.
  [[nodiscard]] std::vector<std::uint32_t> stages(bool allreduce) const {
    std::vector<std::uint32_t> out;
    const auto& way = what_.counterexample.accesses;
    for (std::size_t i = way.size(); i-- > 0;) add_stage(way[i].transition, allreduce, out);
    for (const ir::TransitionId t : what_.counterexample.ops) add_stage(t, allreduce, out);
    return out;
  }

  /// Takes out of every run of a stage what it reads twice.
  void less(std::uint32_t stage) {
    Edits all;
    for (const OpRef& at : runs(stage)) {
      const auto& reads = this->reads(at);
      for (std::uint32_t i = 0; i < reads.size(); ++i) {
        const auto again = std::find_if(reads.begin(), reads.begin() + i, [&](const auto& region) {
          return region_text(program_, region) == region_text(program_, reads[i]);
        });
        if (again != reads.begin() + i) all.push_back(RemoveOperand{at, i});
      }
    }
    if (!all.empty()) out_.add(std::move(all), "an operand that is taken twice removed");
  }

  /// Gives every run of a stage one operand of each of the chips.
  void more(std::uint32_t stage, const std::vector<std::uint32_t>& chips) {
    // With the part of a chip that is there in several forms, the first form for all runs, ...
    for (std::size_t choice = 0; choice < kMostChoices; ++choice) {
      Edits edits;
      bool another = choice == 0, lacking = false;
      for (const OpRef& at : runs(stage)) {
        for (const std::uint32_t chip : chips) {
          const auto regions = choices(at, chip);
          if (regions.empty()) {
            lacking = true;
            if (choice == 0) cannot_tell(at, chip);
            continue;
          }
          another |= choice < regions.size();
          edits.push_back(AddOperand{at, regions[std::min(choice, regions.size() - 1)]});
        }
      }
      if (!another) break;
      if (!edits.empty() && !lacking)
        out_.add(std::move(edits), chips.size() == 1 ? "the operand of a chip that was left out"
                                                     : "operands of chips that were left out");
    }
  }

  void make_allreduce(std::uint32_t stage) {
    const ir::Stage& s = program_.stages[stage];
    const bool sums = s.op == ir::OpKind::add || s.op == ir::OpKind::sum || s.op == ir::OpKind::max;
    if (!sums || s.kind != ir::StageKind::compute) return;
    out_.tried.emplace_back("a sum that is an all-reduce");
    out_.add({MakeAllreduce{ir::StageId(stage)}}, "a sum that is an all-reduce");
  }

  /// Where all who touch a tensor are on one chip, it can belong to that.
  void move_tensor() {
    const auto& c = what_.counterexample;
    if (c.accesses.size() != 1 || !c.schedules.empty()) return;
    const ir::Region& region = program_.accesses[c.accesses[0].access].region;
    if (region.kind != ir::RegionKind::tensor) return;
    const ir::TensorId tensor(region.object);
    out_.tried.emplace_back("the tensor on the chip that uses it");
    std::set<std::uint32_t> chips;
    for (const ir::EngineProgram& one : program_.programs) {
      for (const ir::Op& op : one.ops) {
        for (std::uint32_t a = 0; op.code == OpCode::run && a < op.accesses; ++a) {
          const ir::Region& r = program_.accesses[op.first_access + a].region;
          if (r.kind == ir::RegionKind::tensor && r.object == tensor.value())
            chips.insert(one.site.chip);
        }
      }
    }
    if (chips.size() == 1)
      return out_.add({MoveTensor{tensor, *chips.begin()}}, "the tensor on the chip that uses it");
    out_.obstacle(fmt::format("{} is used on {}: its data have to be handed over by a copy",
                              program_.tensors[tensor.value()].name,
                              count_text(static_cast<std::int64_t>(chips.size()), "chip")));
  }

 private:
  void add_stage(ir::TransitionId t, bool allreduce, std::vector<std::uint32_t>& out) const {
    const ir::Op& op = what_.op(what_.op_of(t));
    if (op.code != OpCode::run) return;
    if ((program_.stages[op.object].kind == ir::StageKind::allreduce) != allreduce) return;
    if (std::find(out.begin(), out.end(), op.object) == out.end()) out.push_back(op.object);
  }
  [[nodiscard]] std::vector<OpRef> runs(std::uint32_t stage) const {
    std::vector<OpRef> out;
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
      const auto& ops = program_.programs[p].ops;
      for (std::uint32_t i = 0; i < ops.size(); ++i) {
        if (ops[i].code == OpCode::run && ops[i].object == stage)
          out.push_back({ir::ProgramId(p), i});
      }
    }
    return out;
  }
  /// What a run reads.
  [[nodiscard]] std::vector<ir::Region> reads(const OpRef& at) const {
    std::vector<ir::Region> out;
    const ir::Op& op = what_.op(at);
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      if (!program_.accesses[a].write) out.push_back(program_.accesses[a].region);
    }
    return out;
  }

  /// Where the part of a chip may be, for a run that does not take it: in a page that is open, in a
  /// tensor of the chip, or in a buffer beside the engine.
  [[nodiscard]] std::vector<ir::Region> choices(const OpRef& at, std::uint32_t chip) const {
    std::vector<ir::Region> out;
    const std::vector<ir::Region> own = reads(at);
    pages(at, chip, own, out);
    for (const ir::Region& like : own) {
      if (like.kind == ir::RegionKind::tensor) tensors(like, chip, own, out);
    }
    for (const ir::Region& like : own) {
      if (like.kind == ir::RegionKind::bytes) buffers(at, like, chip, own, out);
    }
    return out;
  }
  static bool takes(const std::vector<ir::Region>& own, const ir::Region& region) {
    return std::any_of(own.begin(), own.end(), [&](const ir::Region& r) {
      return r.kind == region.kind && r.object == region.object && r.page == region.page;
    });
  }

  /// Of FIFOs that the chip fills, which stand open at the run.
  void pages(const OpRef& at, std::uint32_t chip, const std::vector<ir::Region>& own,
             std::vector<ir::Region>& out) const {
    const auto& ops = program_.programs[at.program.value()].ops;
    std::map<std::uint32_t, std::int64_t> open;
    for (std::uint32_t i = 0; i < at.op; ++i) {
      if (ops[i].code == OpCode::front) open[ops[i].object] += ops[i].count;
      if (ops[i].code == OpCode::pop) open[ops[i].object] -= ops[i].count;
    }
    for (const auto& [fifo, count] : open) {
      if (!fills(chip, fifo)) continue;
      for (std::int64_t page = 0; page < count; ++page) {
        ir::Region region;
        region.kind = ir::RegionKind::page;
        region.object = fifo;
        region.page = static_cast<std::uint32_t>(page);
        region.bound[1] = static_cast<std::int64_t>(program_.buffers[fifo].page_bytes);
        if (!takes(own, region)) out.push_back(region);
      }
    }
  }
  [[nodiscard]] bool fills(std::uint32_t chip, std::uint32_t fifo) const {
    return std::any_of(program_.programs.begin(), program_.programs.end(),
                       [&](const ir::EngineProgram& one) {
                         return one.site.chip == chip &&
                                std::any_of(one.ops.begin(), one.ops.end(), [&](const ir::Op& op) {
                                  return op.code == OpCode::push && op.object == fifo;
                                });
                       });
  }
  void tensors(const ir::Region& like, std::uint32_t chip, const std::vector<ir::Region>& own,
               std::vector<ir::Region>& out) const {
    const ir::Tensor& shape = program_.tensors[like.object];
    for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
      const ir::Tensor& tensor = program_.tensors[t];
      ir::Region region = like;
      region.object = t;
      if (tensor.owner == chip && tensor.rows == shape.rows && tensor.cols == shape.cols &&
          tensor.dtype == shape.dtype && !takes(own, region) && !holds(out, region))
        out.push_back(region);
    }
  }
  void buffers(const OpRef& at, const ir::Region& like, std::uint32_t chip,
               const std::vector<ir::Region>& own, std::vector<ir::Region>& out) const {
    const ir::EngineProgram& one = program_.programs[at.program.value()];
    const ir::Buffer& shape = program_.buffers[like.object];
    if (one.site.chip != chip) return;  // what is in the memory of a site is of its chip
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const ir::Buffer& buffer = program_.buffers[b];
      ir::Region region = like;
      region.object = b;
      if (buffer.kind != ir::BufferKind::fifo && buffer.site == one.site &&
          buffer.bytes() == shape.bytes() && !takes(own, region) && !holds(out, region))
        out.push_back(region);
    }
  }
  static bool holds(const std::vector<ir::Region>& all, const ir::Region& region) {
    return takes(all, region);
  }

  void cannot_tell(const OpRef& at, std::uint32_t chip) {
    out_.obstacle(fmt::format(
        "what the operand of chip {} would be cannot be told: at op {} `{}` of {} no open page, "
        "tensor or buffer of that chip is like the operands that it has",
        chip, at.op, op_text(program_, what_.op(at)), engine_text(program_, at.program)));
  }

  const Case& what_;
  const ir::Program& program_;
  Proposals& out_;
};

/// Chips that a label says are not in it (proofs/shard/labels.hpp names them `chip N`).
std::vector<std::uint32_t> missing_chips(const proofs::Counterexample& c) {
  std::vector<std::uint32_t> out;
  for (const proofs::TermDifference& term : c.terms) {
    const std::size_t number = term.source.rfind(' ');
    if (term.found != 0 || number == std::string::npos) continue;
    std::uint32_t chip = 0;
    const char* const end = term.source.data() + term.source.size();
    if (std::from_chars(term.source.data() + number + 1, end, chip).ptr == end) out.push_back(chip);
  }
  return out;
}

}  // namespace

void propose_operands(const Case& what, Proposals& out) {
  Operands operands(what, out);
  switch (what.counterexample.kind) {
    case proofs::Kind::double_contribution:
      out.tried.emplace_back("an operand that is taken twice removed");
      for (const std::uint32_t stage : operands.stages(true)) operands.less(stage);
      break;
    case proofs::Kind::missing_chip:
      out.tried.emplace_back("operands of the chips that are missing");
      for (const std::uint32_t stage : operands.stages(true))
        operands.more(stage, missing_chips(what.counterexample));
      break;
    case proofs::Kind::leak:
      for (const std::uint32_t stage : operands.stages(false)) operands.make_allreduce(stage);
      operands.move_tensor();
      if (out.tried.empty())
        out.obstacle("no sum stands on the way to the spine that could be an all-reduce");
      break;
    default:
      break;
  }
}

}  // namespace spatialcert::certify::repair
