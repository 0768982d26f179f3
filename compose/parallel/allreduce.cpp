#include "compose/parallel/allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "compose/composition/text.hpp"
#include "compose/parallel/text.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose::parallel {
namespace {

bool is_integer(ir::DType type) { return type <= ir::DType::i64; }

void check_members(const Collective& collective, const AllreduceDescription& about,
                   const Sharding& sharding) {
  if (about.target.chips != sharding.chips()) {
    throw Refused{
        RefusalReason::chip_count,
        fmt::format("\"{}\" is summed over the {} chips of the manifest, and \"{}\" has "
                    "{}",
                    collective.out, sharding.chips(), about.target.name, about.target.chips),
        "build it for a target of as many chips"};
  }
  const auto mismatch = [&](const std::string& what) {
    throw Refused{RefusalReason::partials_mismatch,
                  fmt::format("\"{}\" is the sum of the partials of all {} chips, and {}",
                              collective.out, sharding.chips(), what),
                  "name one partial of every chip, in chip order"};
  };
  if (collective.partials.size() != sharding.chips() || sharding.chips() < 2)
    mismatch(fmt::format("there are {} partials", collective.partials.size()));
  for (std::uint32_t c = 0; c < collective.partials.size(); ++c) {
    const auto owner = sharding.owner(collective.partials[c]);
    if (owner != c)
      mismatch(fmt::format("partial {}, \"{}\", belongs to {}", c, collective.partials[c],
                           owner_text(owner)));
  }
  if (const auto owner = sharding.owner(collective.out)) {
    throw Refused{RefusalReason::spine_result,
                  fmt::format("the result \"{}\" of an all-reduce belongs to chip {}",
                              collective.out, *owner),
                  "let it be replicated, and cut it afterwards"};
  }
}

ir::DType sum_type(const AllreduceDescription& about) {
  return is_integer(about.dtype) ? about.target.widest_integer : about.target.float_type;
}

void check_numbers(const Collective& collective, const AllreduceDescription& about) {
  const ir::DType sum = sum_type(about);
  const bool fits =
      is_integer(about.dtype) ? ir::size_of(about.dtype) <= ir::size_of(sum) : about.dtype == sum;
  if (fits) return;
  throw Refused{RefusalReason::sum_type,
                fmt::format("the partials of \"{}\" are {}, and \"{}\" sums {}", collective.out,
                            to_string(about.dtype), about.target.name, to_string(sum)),
                "let the products before it give what the datapath adds up"};
}

void check_sites(const AllreduceDescription& about) {
  for (const ir::Site& site : about.sites) {
    if (site.chip == kRootChip) continue;
    throw Refused{RefusalReason::several_chips,
                  fmt::format("the sum of \"{}\" is placed on {}", about.name, text_of(site)),
                  "place it on the root chip, chip 0"};
  }
}

/// Sum of the partials on the root chip, by one stage of kind `allreduce`.
ir::Program sum_on_root(const Collective& collective, const AllreduceDescription& about) {
  SectionDescription section;
  section.name = about.name;
  section.target = about.target;
  section.sites = about.sites;
  sections::Elementwise sum;
  sum.result = collective.out;
  sum.value.op = ir::OpKind::add;
  for (const std::string& name : collective.partials) {
    section.tensors.push_back(
        {name, about.rows, about.cols, about.dtype, ir::TensorRole::activation});
    sum.value.arguments.push_back(sections::tensor(name));
  }
  section.tensors.push_back(
      {collective.out, about.rows, about.cols, sum_type(about), ir::TensorRole::activation});
  section.work = std::move(sum);
  section.tile = about.tile;
  section.split = about.split;
  section.handover = Handover::fifo;
  section.depth = about.depth;
  section.space = about.space;
  section.load_engine = about.load_engine;
  section.compute_engine = about.compute_engine;
  section.store_engine = about.store_engine;
  ir::Result<ir::Program> built = build_section(section);
  if (!built) {
    throw Refused{RefusalReason::not_buildable, built.error().message(),
                  "describe a section as docs/sections.md says"};
  }
  for (ir::Tensor& tensor : built->tensors) {
    if (tensor.name != collective.out) tensor.values = about.values;
  }
  for (ir::Stage& stage : built->stages) {
    if (stage.kind != ir::StageKind::compute) continue;
    stage.kind = ir::StageKind::allreduce;
    stage.name = about.name + "/allreduce";
  }
  if (!is_integer(about.dtype)) {
    built->sections.front().numerics = {
        false, fmt::format("sum of {} chips' partials in chip order, in {}",
                           collective.partials.size(), to_string(about.dtype))};
  }
  return std::move(built).value();
}

/// Moves the loads of every partial to the chip that owns it.
class Spreading {
 public:
  Spreading(ir::Program& program, const Collective& collective, ir::HandoffId crossing)
      : program_(program), crossing_(crossing), chip_of_(program.buffers.size(), kRootChip) {
    for (std::uint32_t c = 0; c < collective.partials.size(); ++c) {
      for (ir::Tensor& tensor : program.tensors) {
        if (tensor.name == collective.partials[c]) tensor.owner = c;
      }
    }
  }

  void run(ir::EngineId load, std::uint32_t chips) {
    find_chips(load);
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (chip_of_[b] != kRootChip) program_.buffers[b].handoff = crossing_;
    }
    for (ir::Edge& edge : program_.edges) {
      if (chip_of_[edge.buffer.value()] != kRootChip) edge.handoff = crossing_;
    }
    std::vector<ir::EngineProgram> spread;
    for (ir::EngineProgram& one : program_.programs) {
      if (one.engine != load) {
        spread.push_back(std::move(one));
        continue;
      }
      for (std::uint32_t c = 0; c < chips; ++c) spread.push_back(share(one, c));
    }
    std::sort(spread.begin(), spread.end(),
              [](const ir::EngineProgram& a, const ir::EngineProgram& b) {
                return std::tie(a.site, a.engine) < std::tie(b.site, b.engine);
              });
    program_.programs = std::move(spread);
  }

 private:
  /// A FIFO belongs to the chip whose partial is loaded into it.
  void find_chips(ir::EngineId load) {
    for (const ir::EngineProgram& one : program_.programs) {
      if (one.engine != load) continue;
      for (const ir::Op& op : one.ops) {
        if (op.code != ir::OpCode::run) continue;
        const ir::Region& from = program_.accesses[op.first_access].region;
        const ir::Region& to = program_.accesses[op.first_access + 1].region;
        chip_of_[to.object] = *program_.tensors[from.object].owner;
      }
    }
  }

  [[nodiscard]] std::uint32_t chip_of(const ir::Op& op) const {
    return op.code == ir::OpCode::run
               ? chip_of_[program_.accesses[op.first_access + 1].region.object]
               : chip_of_[op.object];
  }

  /// The ops of [begin, end) that are of chip `chip`, with the loops around them.
  void take(const std::vector<ir::Op>& ops, std::size_t begin, std::size_t end, std::uint32_t chip,
            std::vector<ir::Op>& out) const {
    for (std::size_t at = begin; at < end; at += 1 + ops[at].body) {
      if (ops[at].code != ir::OpCode::repeat) {
        if (chip_of(ops[at]) == chip) out.push_back(ops[at]);
        continue;
      }
      const std::size_t head = out.size();
      out.push_back(ops[at]);
      take(ops, at + 1, at + 1 + ops[at].body, chip, out);
      out[head].body = static_cast<std::uint32_t>(out.size() - head - 1);
      if (out[head].body == 0) out.pop_back();
    }
  }

  [[nodiscard]] ir::EngineProgram share(const ir::EngineProgram& whole, std::uint32_t chip) const {
    ir::EngineProgram part;
    part.site = whole.site;
    part.site.chip = chip;
    part.engine = whole.engine;
    take(whole.ops, 0, whole.ops.size(), chip, part.ops);
    part.spans.push_back({ir::SectionId(0U), {}, 0, static_cast<std::uint32_t>(part.ops.size())});
    return part;
  }

  ir::Program& program_;
  ir::HandoffId crossing_;
  std::vector<std::uint32_t> chip_of_;  // by buffer: where its pages are loaded
};

ir::HandoffId crossing_handoff(const Collective& collective, const ir::Target& target) {
  for (std::uint32_t h = 0; h < target.handoffs.size(); ++h) {
    if (target.handoffs[h].crosses_chips) return ir::HandoffId(h);
  }
  throw Refused{RefusalReason::no_crossing_handoff,
                fmt::format("the partials of \"{}\" meet on chip {}, and no hand-off of \"{}\" "
                            "crosses chips",
                            collective.out, kRootChip, target.name),
                "declare a hand-off that crosses chips, or let the host relay them"};
}

// What the builder makes is well-formed, but not with any values that are declared.
ir::Program validated(ir::Program program) {
  if (const ir::Status refused = ir::validate(program)) {
    throw Refused{RefusalReason::not_buildable,
                  fmt::format("section \"{}\": {}", program.name, refused->message()),
                  "declare values that the type of the partials holds"};
  }
  return program;
}

}  // namespace

Outcome<ir::Program> allreduce_section(const Collective& collective,
                                       const AllreduceDescription& description,
                                       const Sharding& sharding) {
  try {
    check_members(collective, description, sharding);
    const ir::HandoffId crossing = crossing_handoff(collective, description.target);
    check_numbers(collective, description);
    check_sites(description);
    ir::Program program = sum_on_root(collective, description);
    const auto& engines = description.target.engines;
    const auto load = std::find(engines.begin(), engines.end(), description.load_engine);
    Spreading(program, collective, crossing)
        .run(ir::EngineId(static_cast<std::size_t>(load - engines.begin())), sharding.chips());
    return validated(std::move(program));
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

Outcome<ir::Program> fold_section(const Collective& collective,
                                  const AllreduceDescription& description,
                                  const Sharding& sharding) {
  try {
    check_members(collective, description, sharding);
    check_numbers(collective, description);
    check_sites(description);
    ir::Program program = sum_on_root(collective, description);
    for (ir::Tensor& tensor : program.tensors) {
      if (tensor.name != collective.out) tensor.owner = kRootChip;
    }
    return validated(std::move(program));
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose::parallel
