// The signals by which chips halt and the host lets them go on.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "compose/composition/text.hpp"
#include "compose/parallel/relay_plan.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose::parallel {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

ir::Op signal(ir::OpCode code, ir::SemaphoreId semaphore, std::uint32_t count) {
  ir::Op op;
  op.code = code;
  op.object = semaphore.value();
  op.count = count;
  return op;
}

/// What meets: sections of one run, which are linked, or a chip and the host.
enum Meeting : std::uint8_t { kRun, kHalt };
constexpr std::size_t kMeetings = 2;
constexpr std::size_t kColours = 2;

/// The semaphores of one chip's rendezvous, declared when they are first used.
struct Signals {
  ir::SemaphoreId arrival;
  std::array<std::vector<ir::SemaphoreId>, kColours> releases;  ///< by site
  std::uint32_t performed = 0;
};

/// The engine programs of one chip that have ops; the first one is the root.
struct ChipPrograms {
  struct At {
    ir::Site site;
    std::uint32_t programs = 0;
  };
  std::vector<std::uint32_t> programs;
  std::vector<At> sites;
  std::array<Signals, kMeetings> signals;
  ir::SemaphoreId halted, go;  ///< to and from the host
};

class Halting {
 public:
  Halting(ir::Program& program, const RelayPlan& plan, std::uint32_t chips)
      : program_(program), plan_(plan), chips_(chips), cursor_(program.programs.size(), 0) {
    for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
      const ir::EngineProgram& one = program.programs[p];
      if (one.engine == plan.host) {
        host_ = p;
      } else if (!one.ops.empty()) {
        add(chips_[one.site.chip], p, one.site);
      }
      old_.push_back(std::exchange(program.programs[p].ops, {}));
      old_spans_.push_back(std::exchange(program.programs[p].spans, {}));
    }
  }

  void run() {
    const auto& steps = plan_.steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      perform(s);
      if (s + 1 == steps.size() || steps[s].group == steps[s + 1].group) continue;
      program_.boundaries[s].closed = true;
      halt(s);
      release(s);
      close_spans({}, ir::BoundaryId(s));
    }
    for (std::size_t p = 0; p < cursor_.size(); ++p)
      SPATIALCERT_REQUIRE(cursor_[p] == old_spans_[p].size(), "every op of every section is kept");
  }

 private:
  static void add(ChipPrograms& chip, std::uint32_t program, const ir::Site& site) {
    chip.programs.push_back(program);
    if (chip.sites.empty() || chip.sites.back().site != site) chip.sites.push_back({site, 0});
    ++chip.sites.back().programs;
  }

  /// The ops of a section, and the rendezvous behind it if its run goes on. The releases are taken
  /// by the next section of the run, so that the two share a link.
  void perform(std::uint32_t step) {
    const RelayStep& at = plan_.steps[step];
    take_releases();
    if (at.host) {
      take(host_, step);
    } else {
      for (const std::uint32_t p : chips_[at.chip].programs) take(p, step);
      if (at.run_goes_on) {
        gather(at.chip, kRun);
        let_go(at.chip, kRun);
      }
    }
    close_spans(ir::SectionId(step), {});
  }

  void take(std::uint32_t p, std::uint32_t step) {
    const auto& spans = old_spans_[p];
    if (cursor_[p] == spans.size() || spans[cursor_[p]].section != ir::SectionId(step)) return;
    const ir::Span& span = spans[cursor_[p]++];
    for (std::uint32_t o = span.begin; o < span.end; ++o) append(p, old_[p][o]);
  }

  void append(std::uint32_t p, const ir::Op& op) {
    if (begun_.empty()) begun_.resize(program_.programs.size(), kNone);
    auto& ops = program_.programs[p].ops;
    if (begun_[p] == kNone) {
      begun_[p] = static_cast<std::uint32_t>(ops.size());
      open_.push_back(p);
    }
    ops.push_back(op);
  }

  void close_spans(ir::SectionId section, ir::BoundaryId boundary) {
    for (const std::uint32_t p : open_) {
      ir::EngineProgram& one = program_.programs[p];
      one.spans.push_back(
          {section, boundary, begun_[p], static_cast<std::uint32_t>(one.ops.size())});
      begun_[p] = kNone;
    }
    open_.clear();
  }

  static const char* word(Meeting meeting) { return meeting == kRun ? "run" : "halt"; }

  ir::SemaphoreId declare(std::string name, const ir::Site& site, std::uint32_t maximum) {
    ir::Semaphore& one = program_.semaphores.emplace_back();
    one.name = std::move(name);
    one.site = site;
    one.maximum = maximum;
    return ir::SemaphoreId(program_.semaphores.size() - 1);
  }

  /// Of sections of one run, which share it.
  ir::SemaphoreId declare(std::string name, const ir::Site& site, std::uint32_t maximum,
                          Meeting meeting) {
    const ir::SemaphoreId id = declare(std::move(name), site, maximum);
    if (meeting == kRun) program_.links.push_back({false, id.value()});
    return id;
  }

  /// Between the host and a chip.
  ir::SemaphoreId declare_hosts(const char* what, std::uint32_t chip, const ir::Site& site) {
    const ir::SemaphoreId id = declare(fmt::format("relay.{}.{}", what, chip), site, 1);
    if (chip != kRootChip) program_.semaphores[id.value()].handoff = plan_.handoff;
    return id;
  }

  [[nodiscard]] std::uint32_t root(std::uint32_t chip) const {
    return chips_[chip].programs.front();
  }

  /// Every program of the chip tells its root, which waits for them all.
  void gather(std::uint32_t chip, Meeting meeting) {
    ChipPrograms& of = chips_[chip];
    const auto count = static_cast<std::uint32_t>(of.programs.size());
    ir::SemaphoreId& arrival = of.signals[meeting].arrival;
    if (!arrival.valid()) {
      arrival = declare(fmt::format("relay.{}.arrival.{}", word(meeting), chip),
                        of.sites.front().site, count, meeting);
    }
    for (const std::uint32_t p : of.programs) append(p, signal(ir::OpCode::post, arrival, 1));
    append(root(chip), signal(ir::OpCode::wait, arrival, count));
  }

  /// The root releases all programs of the chip. Consecutive releases have different colours, as
  /// those of the composer's rendezvous (rendezvous.hpp).
  void let_go(std::uint32_t chip, Meeting meeting) {
    ChipPrograms& of = chips_[chip];
    Signals& signals = of.signals[meeting];
    const std::uint32_t colour = signals.performed++ % kColours;
    std::vector<ir::SemaphoreId>& releases = signals.releases.at(colour);
    std::size_t program = 0;
    for (std::size_t s = 0; s < of.sites.size(); ++s) {
      const ChipPrograms::At& at = of.sites[s];
      if (s == releases.size()) {
        releases.push_back(
            declare(fmt::format("relay.{}.release.{}.{}", word(meeting), colour, text_of(at.site)),
                    at.site, at.programs, meeting));
      }
      append(root(chip), signal(ir::OpCode::post, releases[s], at.programs));
      for (std::uint32_t i = 0; i < at.programs; ++i, ++program)
        waits_.emplace_back(of.programs[program], signal(ir::OpCode::wait, releases[s], 1));
    }
  }

  /// What the latest release gave.
  void take_releases() {
    for (const auto& [p, op] : waits_) append(p, op);
    waits_.clear();
  }

  /// Chips that have run up to here tell the host, which waits for all of them.
  void halt(std::uint32_t step) {
    for (const std::uint32_t chip : chips_of_group(step)) {
      gather(chip, kHalt);
      ir::SemaphoreId& halted = chips_[chip].halted;
      if (!halted.valid()) halted = declare_hosts("halted", chip, {});
      append(root(chip), signal(ir::OpCode::post, halted, 1));
      append(host(), signal(ir::OpCode::wait, halted, 1));
    }
  }

  /// The host lets the chips run that are next.
  void release(std::uint32_t step) {
    for (const std::uint32_t chip : chips_of_group(step + 1)) {
      ir::SemaphoreId& go = chips_[chip].go;
      if (!go.valid()) go = declare_hosts("go", chip, chips_[chip].sites.front().site);
      append(host(), signal(ir::OpCode::post, go, 1));
      append(root(chip), signal(ir::OpCode::wait, go, 1));
      let_go(chip, kHalt);
      take_releases();
    }
  }

  /// The chips whose sections are in the group of a step, ascending; none if it is the host's.
  [[nodiscard]] std::vector<std::uint32_t> chips_of_group(std::uint32_t step) const {
    const auto& steps = plan_.steps;
    std::uint32_t first = step;
    while (first > 0 && steps[first - 1].group == steps[step].group) --first;
    std::vector<std::uint32_t> chips;
    for (std::uint32_t s = first; s < steps.size() && steps[s].group == steps[step].group; ++s) {
      if (!steps[s].host && (chips.empty() || chips.back() != steps[s].chip))
        chips.push_back(steps[s].chip);
    }
    return chips;
  }

  [[nodiscard]] std::uint32_t host() const {
    SPATIALCERT_REQUIRE(host_ != kNone, "where rounds follow one another the host copies");
    return host_;
  }

  ir::Program& program_;
  const RelayPlan& plan_;
  std::vector<ChipPrograms> chips_;
  std::vector<std::size_t> cursor_;  // by engine program: spans taken over
  std::vector<std::vector<ir::Op>> old_;
  std::vector<std::vector<ir::Span>> old_spans_;
  std::uint32_t host_ = kNone;
  std::vector<std::uint32_t> begun_;  // by engine program: where its open span begins
  std::vector<std::uint32_t> open_;
  std::vector<std::pair<std::uint32_t, ir::Op>> waits_;
};

}  // namespace

void add_halts(ir::Program& program, const RelayPlan& plan, std::uint32_t chips) {
  Halting(program, plan, chips).run();
}

}  // namespace spatialcert::compose::parallel
