#include "tests/oracle/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/require.hpp"
#include "tests/oracle/composition.hpp"
#include "tests/oracle/sources.hpp"
#include "tests/oracle/values.hpp"

namespace spatialcert::tests {
namespace {

/// Wraps that the others go on when it has to be decided whether a program that waits after some
/// have finished their last wrap waits for ever.
constexpr std::uint32_t kFurtherWraps = 5;

ir::Unrolled unrolled_program(const ir::Program& program, std::uint32_t iterations) {
  return std::get<ir::Unrolled>(ir::unroll(program, iterations));
}

/// Do the programs that wait in `state` still wait after everybody else has gone some wraps
/// further?
bool waits_for_ever(const ir::Program& program, const Exploration& explored, std::uint32_t state,
                    const ir::TokenGame& longer, const ir::Unrolled& unrolled) {
  ir::PlayResult at = ir::play(longer, explored.schedule_to(state));
  SPATIALCERT_REQUIRE(at.complete, "what can be played over few wraps can be played over more");
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    if (explored.states[state][p] < unrolled.begin[p + 1] - unrolled.begin[p]) waiting.push_back(p);
  }
  const std::vector<std::uint32_t> stood = at.state.next;
  for (bool moves = true; moves;) {
    moves = false;
    for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
      while (longer.can_step(at.state, ir::ProgramId(p))) {
        if (longer.step(at.state, ir::ProgramId(p))) return false;  // a fault, found elsewhere
        moves = true;
      }
    }
  }
  return std::any_of(waiting.begin(), waiting.end(),
                     [&](std::uint32_t p) { return at.state.next[p] == stood[p]; });
}

class Examination {
 public:
  Examination(const ir::Program& program, std::uint32_t wraps, std::uint64_t state_limit)
      : program_(program),
        persistent_(program.execution == ir::Execution::persistent),
        unrolled_(unrolled_program(program, persistent_ ? wraps : 1)),
        model_(program, unrolled_),
        composition_(program, unrolled_) {
    for (ir::TokenGame& game : games_to_explore(program, unrolled_))
      games_.push_back(std::move(game));
    for (const ir::TokenGame& game : games_) explored_.emplace_back(game, state_limit);
  }

  Findings run() {
    for (const Exploration& e : explored_) {
      found_.states += e.states.size();
      if (!e.complete) return found_;
    }
    found_.complete = true;
    found_.in_class = true;
    for (std::size_t i = 0; i < games_.size(); ++i) dynamics(i);
    if (persistent_) balance();
    regions();
    races();
    for (const Exploration& e : explored_) undefined_reads(e);
    layout();
    sources();
    slips();
    found_.interference = composition_.interference(model_);
    if (determinate() && !persistent_) results();
    return found_;
  }

 private:
  void dynamics(std::size_t i) {
    const Exploration& e = explored_[i];
    found_.overflow |= !e.overflows.empty();
    found_.misuse |= !e.misuses.empty();
    found_.leftover |= !persistent_ && !e.unequal_ends.empty();
    found_.stuck |= stuck(e, games_[i]);
    const auto inexact = e.inexact_tests();
    if (inexact.empty()) return;
    found_.in_class = false;
    const AccessInstance at = instance(unrolled_, inexact.front(), 0);
    found_.why_not = fmt::format("wrap {} program {} step {}", at.wrap, at.program, at.step);
  }

  bool stuck(const Exploration& e, const ir::TokenGame& game) const {
    if (!persistent_) return !e.stuck.empty();
    const auto finished = [&](std::uint32_t state, std::uint32_t p) {
      const std::uint32_t length = unrolled_.begin[p + 1] - unrolled_.begin[p];
      return length != 0 && e.states[state][p] == length;
    };
    std::set<std::vector<bool>> seen;
    for (const std::uint32_t state : e.stuck) {
      std::vector<bool> at_end;
      for (std::uint32_t p = 0; p < program_.programs.size(); ++p)
        at_end.push_back(finished(state, p));
      if (std::find(at_end.begin(), at_end.end(), true) == at_end.end()) return true;
      if (!seen.insert(at_end).second) continue;
      const auto longer = unrolled_program(program_, unrolled_.iterations + kFurtherWraps);
      const auto games = games_to_explore(program_, longer);
      if (waits_for_ever(program_, e, state, games[&game == &games_[0] ? 0 : 1], unrolled_))
        return true;
    }
    return false;
  }

  void balance() {
    std::map<std::pair<bool, std::uint32_t>, std::int64_t> gain;
    const auto one = unrolled_program(program_, 1);
    for (std::uint32_t t = 0; t < one.transitions(); ++t) {
      const ir::Op& op = one.op_of(program_, ir::TransitionId(t));
      const bool up = op.code == ir::OpCode::post || op.code == ir::OpCode::push;
      const bool down = op.code == ir::OpCode::wait || op.code == ir::OpCode::pop;
      const bool fifo = op.code == ir::OpCode::push || op.code == ir::OpCode::pop;
      if (up || down) gain[{fifo, op.object}] += up ? op.count : -op.count;
    }
    for (const auto& [counter, value] : gain) found_.unbalanced |= value != 0;
  }

  [[nodiscard]] bool performed(std::uint32_t t) const {
    return std::any_of(explored_.begin(), explored_.end(), [&](const Exploration& e) {
      return e.ever_enabled(t) && !e.misuses.contains(t);
    });
  }

  void regions() {
    for (std::uint32_t t = 0; t < unrolled_.transitions(); ++t) {
      found_.misuse |= model_.footprint(t).leaves_object && performed(t);
    }
  }

  [[nodiscard]] bool either_order(std::uint32_t a, std::uint32_t b) const {
    bool first = false;
    bool second = false;
    for (const Exploration& e : explored_) {
      first |= e.separates(a, b);
      second |= e.separates(b, a);
    }
    return first && second && performed(a) && performed(b);
  }

  void races() {
    struct Use {
      std::uint32_t transition;
      std::uint32_t access;
      bool write;
    };
    std::vector<std::vector<Use>> uses(model_.locations());
    for (std::uint32_t t = 0; t < unrolled_.transitions(); ++t) {
      for (const Touch& touch : model_.footprint(t).touches) {
        for (const std::uint32_t at : touch.place)
          uses[at].push_back({t, touch.access, touch.write});
      }
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known;
    for (const auto& of_location : uses) {
      for (std::size_t i = 0; i < of_location.size(); ++i) {
        for (std::size_t j = i + 1; j < of_location.size(); ++j) {
          const Use& a = of_location[i];
          const Use& b = of_location[j];
          if (!a.write && !b.write) continue;
          against_sections(a.transition, a.access, b.transition, b.access);
          against_sections(b.transition, b.access, a.transition, a.access);
          if (unrolled_.program[a.transition] == unrolled_.program[b.transition]) continue;
          const auto [at, fresh] = known.emplace(std::pair(a.transition, b.transition), false);
          if (fresh) at->second = either_order(a.transition, b.transition);
          if (!at->second) continue;
          const auto x = instance(unrolled_, a.transition, a.access);
          const auto y = instance(unrolled_, b.transition, b.access);
          found_.races.insert({std::min(x, y), std::max(x, y)});
        }
      }
    }
  }

  /// Two conflicting accesses, the second of which has to come first.
  void against_sections(std::uint32_t a, std::uint32_t x, std::uint32_t b, std::uint32_t y) {
    if (a == b || program_.sections.size() < 2 || !composition_.precedes(b, a)) return;
    // What a page's bytes were before it was reserved, or are after it was popped, is nobody's.
    const ir::Region &one = program_.accesses[x].region, &two = program_.accesses[y].region;
    // Nor are those of a buffer another's, whose bytes they are at another time.
    const auto base = [&](const ir::Region& region) {
      std::uint32_t buffer = region.object;
      while (region.kind != ir::RegionKind::tensor && program_.buffers[buffer].view)
        buffer = program_.buffers[buffer].view->base.value();
      return buffer;
    };
    if (one.kind != ir::RegionKind::tensor && base(one) != base(two)) return;
    const bool possible =
        unrolled_.program[a] == unrolled_.program[b]
            ? a < b
            : std::any_of(explored_.begin(), explored_.end(),
                          [&](const Exploration& e) { return e.separates(a, b); });
    if (possible && performed(a) && performed(b))
      found_.wrong_orders.insert({instance(unrolled_, a, x), instance(unrolled_, b, y)});
  }

  void slips() {
    for (std::uint32_t i = 0; i < program_.boundaries.size(); ++i) {
      for (std::uint32_t a = 0; a < unrolled_.transitions(); ++a) {
        for (std::uint32_t b = 0; b < unrolled_.transitions(); ++b) {
          if (unrolled_.program[a] == unrolled_.program[b] || found_.slips.contains(i)) continue;
          if (!composition_.section(a) || !composition_.section(b)) continue;
          if (!composition_.separates(i, a, b)) continue;
          for (const Exploration& e : explored_) {
            if (e.separates(b, a)) found_.slips.insert(i);
          }
        }
      }
    }
  }

  /// Steps of every engine program up to its first write of `location`, itself not included; own
  /// steps up to the read. Nothing if the program itself wrote it before.
  std::optional<Front> untouched_until(std::uint32_t read, std::uint32_t location,
                                       bool content) const {
    Front out;
    out.fill(0xffff);
    for (std::uint32_t t = 0; t < unrolled_.transitions(); ++t) {
      const std::uint32_t p = unrolled_.program[t];
      if (out[p] != 0xffff) continue;
      for (const Touch& touch : model_.footprint(t).touches) {
        const auto& at = content ? touch.content : touch.place;
        if (!touch.write || std::find(at.begin(), at.end(), location) == at.end()) continue;
        if (p == unrolled_.program[read] && t < read) return std::nullopt;
        out[p] = static_cast<std::uint16_t>(t - unrolled_.begin[p]);
      }
    }
    return out;
  }

  /// Of its own when the program starts; another buffer's in the same bytes do not count.
  [[nodiscard]] bool has_contents(const Touch& touch, std::uint32_t location) const {
    if (model_.init(location) == ir::Init::undefined) return false;
    const ir::Region& region = program_.accesses[touch.access].region;
    return region.kind != ir::RegionKind::bytes || composition_.begins_with_contents(region.object);
  }

  void undefined_reads(const Exploration& e) {
    // Per transition: in which access, and how far the others can be while it reads nothing.
    std::map<std::uint32_t, std::set<std::pair<std::uint32_t, Front>>> checks;
    for (std::uint32_t t = 0; t < unrolled_.transitions(); ++t) {
      for (const Touch& touch : model_.footprint(t).touches) {
        if (touch.write || !performed(t)) continue;
        for (const bool content : {false, true}) {
          for (const std::uint32_t at : content ? touch.content : touch.place) {
            if (has_contents(touch, at)) continue;
            if (const auto limit = untouched_until(t, at, content)) {
              checks[t].insert({touch.access, *limit});
            }
          }
        }
      }
    }
    for (std::size_t i = 0; i < e.states.size(); ++i) {
      for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
        const auto at = checks.find(unrolled_.begin[p] + e.states[i][p]);
        if (at == checks.end() || unrolled_.program[at->first] != p) continue;
        for (const auto& [access, limit] : at->second) {
          bool untouched = true;
          for (std::uint32_t q = 0; q < program_.programs.size(); ++q) {
            untouched &= e.states[i][q] <= limit[q];
          }
          if (untouched) found_.undefined_reads.insert(instance(unrolled_, at->first, access));
        }
      }
    }
  }

  /// The slots of a FIFO of guaranteed depth have no address.
  void layout() {
    const auto& buffers = program_.buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const ir::Buffer& a = buffers[i];
      if (a.depth == ir::Depth::guaranteed) continue;
      const ir::MemorySpace& space = program_.target.spaces[a.space.value()];
      found_.layout |= a.address % space.alignment != 0 || a.address + a.bytes() > space.bytes;
      for (std::size_t j = 0; j < i; ++j) {
        const ir::Buffer& b = buffers[j];
        if (b.depth == ir::Depth::guaranteed) continue;
        if (a.view || b.view || a.site != b.site || a.space != b.space) continue;
        if (!composition_.live_together(static_cast<std::uint32_t>(i),
                                        static_cast<std::uint32_t>(j)))
          continue;
        found_.layout |= a.address < b.address + b.bytes() && b.address < a.address + a.bytes();
      }
    }
  }

  [[nodiscard]] bool determinate() const {
    return !found_.stuck && !found_.overflow && !found_.misuse && found_.races.empty();
  }

  void sources() {
    const auto played = ir::play_freely(games_[0]);
    const ReadSources found = read_sources(program_, unrolled_, model_, played.schedule);
    found_.undefined_reads.insert(found.outlived.begin(), found.outlived.end());
    if (determinate()) found_.wrong_producers = found.wrong_producers;
  }

  /// Without races, and if every read is defined or nobody cares, one schedule decides the values
  /// of all.
  void results() {
    const auto played = ir::play_freely(games_[0]);
    if (!played.result.complete) return;
    const Contents contents = contents_after(games_[0], model_, played.schedule);
    for (std::uint32_t i = 0; i < program_.postconditions.size(); ++i) {
      const Outcome result = outcome(program_.postconditions[i], model_, contents);
      if (result == Outcome::wrong) found_.wrong_results.insert(i);
      found_.unknown_result |= result == Outcome::unknown;
    }
  }

  const ir::Program& program_;
  bool persistent_;
  ir::Unrolled unrolled_;
  MemoryModel model_;
  Composition composition_;
  std::vector<ir::TokenGame> games_;
  std::vector<Exploration> explored_;
  Findings found_;
};

}  // namespace

std::vector<ir::TokenGame> games_to_explore(const ir::Program& program,
                                            const ir::Unrolled& unrolled) {
  std::vector<ir::TokenGame> games;
  games.emplace_back(program, unrolled);
  std::vector<std::int64_t> extra(program.buffers.size(), 0);
  bool deeper = false;
  for (std::uint32_t t = 0; t < unrolled.transitions(); ++t) {
    const ir::Op& op = unrolled.op_of(program, ir::TransitionId(t));
    if (op.code != ir::OpCode::reserve) continue;
    if (program.buffers[op.object].depth != ir::Depth::guaranteed) continue;
    // Every reserve could be pushed; more than that is never in the FIFO.
    extra[op.object] += op.count;
    deeper = true;
  }
  if (deeper) games.emplace_back(program, unrolled, std::move(extra));
  return games;
}

Findings examine(const ir::Program& program, std::uint32_t wraps, std::uint64_t state_limit) {
  return Examination(program, wraps, state_limit).run();
}

std::string Findings::text() const {
  if (!complete) return "too many states";
  std::string out = in_class ? "in class" : "not in class (" + why_not + ")";
  const auto add = [&](bool on, const char* what) {
    if (on) out += std::string(", ") + what;
  };
  add(stuck, "stuck");
  add(unbalanced, "unbalanced");
  add(overflow, "overflow");
  add(misuse, "misuse");
  add(leftover, "leftover");
  add(layout, "layout");
  const auto name = [](const AccessInstance& a) {
    return fmt::format("{}:{}.{}#{}", a.wrap, a.program, a.step, a.access);
  };
  for (const Race& race : races) out += ", race " + name(race.first) + "/" + name(race.second);
  for (const auto& read : undefined_reads) out += ", undefined " + name(read);
  for (const auto& read : wrong_producers) out += ", wrong producer " + name(read);
  for (const Race& pair : wrong_orders)
    out += ", against the sections " + name(pair.first) + "/" + name(pair.second);
  for (const auto boundary : slips) out += fmt::format(", slips through boundary {}", boundary);
  add(interference, "interference");
  add(unknown_result, "unknown result");
  for (const auto result : wrong_results) out += fmt::format(", wrong result {}", result);
  return out;
}

}  // namespace spatialcert::tests
