#include "compose/parallel/relay_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compose/composition/initial_contents.hpp"
#include "compose/parallel/attach.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose::parallel {
namespace {

/// Where a tensor is declared.
struct Declaration {
  const ir::Program* program = nullptr;
  std::uint32_t tensor = 0;
  std::uint32_t chip = 0;
};

/// A chip and a name, as its own program says it.
using Copy = std::pair<std::uint32_t, std::string>;

std::string copy_name(const std::string& name, std::uint32_t chip) {
  return fmt::format("{}@{}", name, chip);
}

ir::Target system_target(ir::Target target, std::uint32_t chips, const RelayOptions& options) {
  const auto taken = [&](const std::string& what, const std::string& name) {
    throw Refused{RefusalReason::not_composable,
                  fmt::format("\"{}\" has {} \"{}\" already, which is to be the host's",
                              target.name, what, name),
                  "give the host another name"};
  };
  for (const std::string& engine : target.engines) {
    if (engine == options.engine) taken("an engine", engine);
  }
  for (const ir::Handoff& handoff : target.handoffs) {
    if (handoff.name == options.handoff) taken("a hand-off", handoff.name);
  }
  target.engines.push_back(options.engine);
  target.handoffs.push_back({options.handoff, true});
  target.semaphores_per_site += chips;
  return target;
}

class Planning {
 public:
  Planning(const ChipSections& chips, const std::vector<Transfer>& transfers,
           const std::vector<RelayRound>& rounds, const Sharding& sharding,
           const RelayOptions& options)
      : chips_(chips),
        transfers_(transfers),
        rounds_(rounds),
        sharding_(sharding),
        options_(options) {}

  RelayPlan run() {
    take_sections();
    for (const RelayRound& round : rounds_) {
      for (const std::uint32_t t : round.copies) check_ends(transfers_[t]);
    }
    place();
    for (const RelayRound& round : rounds_) {
      perform(round);
      copy(round);
    }
    for (std::uint32_t c = 0; c < chips_.size(); ++c)
      SPATIALCERT_REQUIRE(next_[c] == chips_[c].size(), "the rounds run every section");
    return in_source_order();
  }

 private:
  /// By statement; what the host places comes first, a copy after the section that it copies from.
  struct Key {
    std::uint64_t statement = 0;
    std::uint32_t kind = 0;
    std::uint32_t number = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// A tensor of another home than the chip of its section.
  struct Renamed {
    ir::Program* section = nullptr;
    std::uint32_t tensor = 0;
    std::uint32_t chip = 0;
  };

  void take_sections() {
    const auto first =
        std::find_if(chips_.begin(), chips_.end(), [](const auto& chip) { return !chip.empty(); });
    if (first != chips_.end()) {
      target_ = system_target(first->front().section.target, sharding_.chips(), options_);
      host_ = ir::EngineId(target_.engines.size() - 1);
    }
    std::size_t count = 0;
    for (const auto& chip : chips_) count += chip.size();
    sections_.reserve(count);  // declarations point into them
    of_chip_.resize(chips_.size());
    next_.resize(chips_.size(), 0);
    for (std::uint32_t c = 0; c < chips_.size(); ++c) {
      for (const RelaySection& one : chips_[c]) take(c, one);
    }
  }

  void take(std::uint32_t chip, const RelaySection& one) {
    of_chip_[chip].push_back(static_cast<std::uint32_t>(sections_.size()));
    keys_.push_back({one.statement + std::uint64_t{1}, 0, chip});
    ir::Program& section = sections_.emplace_back(one.section);
    // Sections for other targets than the first one's are refused when they are composed.
    const bool same_chips = section.target.chips == target_.chips;
    section.target.engines.push_back(options_.engine);
    section.target.handoffs.push_back({options_.handoff, true});
    section.target.semaphores_per_site += sharding_.chips();
    if (!same_chips || section.target.chips != sharding_.chips()) {
      throw Refused{RefusalReason::chip_count,
                    fmt::format("section \"{}\" is for {} chips, and the manifest splits over {}",
                                section.name, section.target.chips, sharding_.chips()),
                    "split over all chips of the target"};
    }
    const ObjectUses uses(section);
    for (std::uint32_t t = 0; t < section.tensors.size(); ++t) declare(chip, section, t, uses);
  }

  void declare(std::uint32_t chip, ir::Program& section, std::uint32_t t, const ObjectUses& uses) {
    ir::Tensor& tensor = section.tensors[t];
    auto home = owner_in(section, t, sharding_);
    if (!home) home = tensor.owner;
    if (home.value_or(kRootChip) == chip) {
      if (uses.tensors[t].written) stored_.insert(tensor.name);
      declared_.emplace(tensor.name, Declaration{&section, t, chip});
      return;
    }
    copies_.emplace(Copy{chip, tensor.name}, Declaration{&section, t, chip});
    if (uses.tensors[t].read && !tensor.view) read_.insert({chip, tensor.name});
    renamed_.push_back({&section, t, chip});
  }

  /// What no transfer brings, the host places at the start.
  void place() {
    std::set<Copy> brought;
    for (const RelayRound& round : rounds_) {
      for (const std::uint32_t t : round.copies)
        brought.insert(storage_of({transfers_[t].to, transfers_[t].tensor}));
    }
    for (const Renamed& one : renamed_) rename(one);
    for (const Copy& copy : read_) {
      if (brought.count(copy) != 0) continue;
      const auto& [chip, name] = copy;
      if (stored_.count(name) != 0) {
        throw Refused{RefusalReason::missing_transfer,
                      fmt::format("chip {} loads \"{}\", which another chip stores, and no round "
                                  "brings it there",
                                  chip, name),
                      "derive transfers from all statements"};
      }
      add_copy(fmt::format("place {}", copy_name(name, chip)), copy, {0, 0, copies_made_});
    }
    close_group();
  }

  /// From the name in the chip's own program to that in the system.
  void rename(const Renamed& one) const {
    ir::Tensor& tensor = one.section->tensors[one.tensor];
    const std::string name = copy_name(tensor.name, one.chip);
    if (declared_.count(name) != 0) {
      throw Refused{RefusalReason::not_composable,
                    fmt::format("tensor \"{}\" has the name of chip {}'s copy of \"{}\"", name,
                                one.chip, tensor.name),
                    "rename it"};
    }
    std::replace(one.section->carried.begin(), one.section->carried.end(), tensor.name, name);
    tensor.name = name;
    tensor.owner = one.chip;
    if (tensor.role != ir::TensorRole::state) tensor.role = ir::TensorRole::input;
  }

  /// A view is brought with what it is a view of.
  [[nodiscard]] Copy storage_of(const Copy& copy) const {
    const auto found = copies_.find(copy);
    if (found == copies_.end()) return copy;
    const auto& tensors = found->second.program->tensors;
    return {copy.first, tensors[root_of(tensors, found->second.tensor)].name};
  }

  void perform(const RelayRound& round) {
    for (const ChipRun& run : round.runs) {
      SPATIALCERT_REQUIRE(next_[run.chip] == run.first && run.last <= chips_[run.chip].size(),
                          "the rounds run sections in order");
      for (; next_[run.chip] < run.last; ++next_[run.chip]) {
        steps_.push_back({of_chip_[run.chip][next_[run.chip]], false, run.chip, group_,
                          next_[run.chip] + 1 < run.last});
      }
    }
    close_group();
  }

  void copy(const RelayRound& round) {
    for (const std::uint32_t t : round.copies) {
      const Transfer& one = transfers_[t];
      add_copy(fmt::format("copy {} from {} to {}", one.tensor, one.from, one.to),
               {one.to, one.tensor}, {one.writer + std::uint64_t{1}, 1, t});
    }
    close_group();
  }

  void check_ends(const Transfer& one) const {
    const auto from = declared_.find(one.tensor);
    if (from == declared_.end() || from->second.chip != one.from) {
      throw Refused{
          RefusalReason::wrong_chip,
          fmt::format("\"{}\" is to come from chip {}, and {}", one.tensor, one.from,
                      from == declared_.end() ? "no chip has it"
                                              : fmt::format("is chip {}'s", from->second.chip)),
          "send a tensor from the chip that computes it"};
    }
    if (copies_.count({one.to, one.tensor}) != 0) return;
    throw Refused{RefusalReason::receives_unloaded,
                  fmt::format("\"{}\" is to come to chip {}, and no section of it loads it",
                              one.tensor, one.to),
                  "leave the transfer out"};
  }

  void close_group() {
    if (!steps_.empty() && steps_.back().group == group_) ++group_;
  }

  /// The host copies what the home of a tensor has to the copy that a chip has.
  void add_copy(const std::string& name, const Copy& copy, const Key& key) {
    const auto to = copies_.find(copy);
    SPATIALCERT_REQUIRE(to != copies_.end(), "what is copied is declared where it goes");
    const auto from = declared_.find(copy.second);
    steps_.push_back({static_cast<std::uint32_t>(sections_.size() + hosts_.size()), true, kRootChip,
                      group_, false});
    keys_of_hosts_.push_back(key);
    ++copies_made_;
    ir::Program& section = hosts_.emplace_back();
    section.name = options_.engine + "/" + name;
    section.target = target_;
    section.result_unspecified = true;
    section.sections.push_back({section.name, 0, {}, ir::kNoLocation});
    const bool known = from != declared_.end();
    const std::uint32_t read =
        add_source(section, known ? from->second : to->second, known, copy.first);
    const std::uint32_t written = add_chain(section, to->second, ir::TensorRole::output);
    section.stages.push_back(
        {section.name, ir::StageKind::copy, ir::OpKind::copy, 1, ir::SectionId(0U)});
    section.accesses = {{whole(section, read), false}, {whole(section, written), true}};
    ir::EngineProgram engine;
    engine.engine = host_;
    ir::Op run;
    run.accesses = 2;
    engine.ops.push_back(run);
    engine.spans.push_back({ir::SectionId(0U), {}, 0, 1});
    section.programs.push_back(std::move(engine));
  }

  static ir::Region whole(const ir::Program& section, std::uint32_t tensor) {
    ir::Region region;
    region.kind = ir::RegionKind::tensor;
    region.object = tensor;
    region.bound[1] = static_cast<std::int64_t>(section.tensors[tensor].rows);
    region.bound[3] = static_cast<std::int64_t>(section.tensors[tensor].cols);
    return region;
  }

  /// The tensor and what it is a view of, undefined at first. Returns its number.
  static std::uint32_t add_chain(ir::Program& section, const Declaration& of, ir::TensorRole role) {
    ir::Tensor tensor = of.program->tensors[of.tensor];
    tensor.init = ir::Init::undefined;
    tensor.role = role;
    tensor.location = ir::kNoLocation;
    if (tensor.view)
      tensor.view->base =
          ir::TensorId(add_chain(section, {of.program, tensor.view->base.value(), of.chip}, role));
    section.tensors.push_back(std::move(tensor));
    return static_cast<std::uint32_t>(section.tensors.size() - 1);
  }

  /// The same as it is at home, where it begins with what the host fills in, or with zeros. If no
  /// section declares it there, it is declared as the copy is.
  std::uint32_t add_source(ir::Program& section, const Declaration& of, bool known,
                           std::uint32_t chip) const {
    const ir::Tensor& declared = of.program->tensors[of.tensor];
    const std::size_t first = section.tensors.size();
    const std::uint32_t number =
        add_chain(section, of, known ? declared.role : ir::TensorRole::input);
    ir::Tensor& root = section.tensors[first];
    const ir::Init init = of.program->tensors[root_of(of.program->tensors, of.tensor)].init;
    root.init = init == ir::Init::zero ? init : ir::Init::external;
    if (known) return number;
    const std::string suffix = copy_name("", chip);
    for (std::size_t t = first; t < section.tensors.size(); ++t) {
      ir::Tensor& tensor = section.tensors[t];
      tensor.name.resize(tensor.name.size() - suffix.size());
      tensor.owner = sharding_.owner(tensor.name);
    }
    for (std::size_t t = first; t < section.tensors.size(); ++t)
      section.tensors[t].owner = section.tensors[first].owner;
    return number;
  }

  RelayPlan in_source_order() {
    RelayPlan plan;
    plan.host = host_;
    if (!target_.handoffs.empty()) plan.handoff = ir::HandoffId(target_.handoffs.size() - 1);
    std::vector<ir::Program*> all;
    for (ir::Program& section : sections_) all.push_back(&section);
    for (ir::Program& host : hosts_) all.push_back(&host);
    keys_.insert(keys_.end(), keys_of_hosts_.begin(), keys_of_hosts_.end());
    std::vector<std::uint32_t> order(all.size());
    for (std::uint32_t s = 0; s < order.size(); ++s) order[s] = s;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys_[a] < keys_[b]; });
    std::vector<std::uint32_t> position(all.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
      plan.sections.push_back(std::move(*all[order[i]]));
    }
    for (RelayStep& step : steps_) step.section = position[step.section];
    plan.steps = std::move(steps_);
    return plan;
  }

  const ChipSections& chips_;
  const std::vector<Transfer>& transfers_;
  const std::vector<RelayRound>& rounds_;
  const Sharding& sharding_;
  const RelayOptions& options_;

  ir::Target target_;
  ir::EngineId host_;
  std::vector<ir::Program> sections_;  // of chips
  std::vector<Key> keys_;
  std::vector<ir::Program> hosts_;  // of the host
  std::vector<Key> keys_of_hosts_;
  std::vector<std::vector<std::uint32_t>> of_chip_;  // positions in sections_
  std::vector<std::size_t> next_;                    // by chip: sections performed
  std::unordered_set<std::string> stored_;           // by the chip that has them
  std::unordered_map<std::string, Declaration> declared_;
  std::map<Copy, Declaration> copies_;
  std::vector<Renamed> renamed_;
  std::set<Copy> read_;
  std::vector<RelayStep> steps_;
  std::uint32_t group_ = 0;
  std::uint32_t copies_made_ = 0;
};

}  // namespace

RelayPlan plan_relay(const ChipSections& chips, const std::vector<Transfer>& transfers,
                     const std::vector<RelayRound>& rounds, const Sharding& sharding,
                     const RelayOptions& options) {
  return Planning(chips, transfers, rounds, sharding, options).run();
}

}  // namespace spatialcert::compose::parallel
