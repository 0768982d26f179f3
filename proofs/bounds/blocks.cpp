#include "proofs/bounds/blocks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "proofs/canonical.hpp"
#include "proofs/executed.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::bounds {
namespace {

/// What one engine program does with the semaphore.
struct Share {
  std::uint32_t program = 0;
  std::vector<std::uint32_t> events;   ///< ascending
  std::vector<std::size_t> performed;  ///< events that come before event i of the leading program
  std::vector<std::size_t> open;       ///< events that do not come after event i of it
};

std::vector<Share> shares_of(const Subject& subject, const std::vector<std::uint32_t>& events) {
  std::map<std::uint32_t, Share> by_program;
  for (const std::uint32_t t : events) by_program[subject.stretch.program[t]].events.push_back(t);
  std::vector<Share> shares;
  for (auto& [program, share] : by_program) {
    share.program = program;
    shares.push_back(std::move(share));
  }
  return shares;
}

/// Number of the share's events before transition `end`.
std::size_t before(const Share& share, std::uint32_t end) {
  const auto at = std::lower_bound(share.events.begin(), share.events.end(), end);
  return static_cast<std::size_t>(at - share.events.begin());
}

/// What the places between the leading program and the others fix: a place into an op of it, up to
/// an event, comes from something performed; one out of an op of it, from an event on, leads to
/// something that is not.
void relate(const Subject& subject, const Share& leading, std::vector<Share>& shares) {
  std::map<std::uint32_t, Share*> share_of;
  for (Share& share : shares) {
    share.performed.assign(leading.events.size(), 0);
    share.open.assign(leading.events.size(), share.events.size());
    if (share.program != leading.program) share_of[share.program] = &share;
  }
  const auto other = [&](ir::TransitionId t) -> Share* {
    const auto at = share_of.find(subject.stretch.program[t.value()]);
    return at == share_of.end() ? nullptr : at->second;
  };
  std::size_t event = 0;  // the first that does not come before t
  for (std::uint32_t t = leading.events.front(); t <= leading.events.back(); ++t) {
    if (t > leading.events[event]) ++event;
    for (const std::uint32_t i : subject.order.into(t)) {
      const ir::TransitionId from = subject.places[i].from;
      Share* const share = other(from);
      if (share == nullptr) continue;
      auto& done = share->performed[event];
      done = std::max(done, before(*share, from.value() + 1));
    }
    const std::size_t last = t == leading.events[event] ? event + 1 : event;
    if (last == 0) continue;
    for (const std::uint32_t i : subject.order.out_of(t)) {
      const ir::TransitionId to = subject.places[i].to;
      Share* const share = other(to);
      if (share == nullptr) continue;
      auto& open = share->open[last - 1];
      open = std::min(open, before(*share, to.value()));
    }
  }
  for (Share& share : shares) {
    for (std::size_t i = 1; i < leading.events.size(); ++i)
      share.performed[i] = std::max(share.performed[i], share.performed[i - 1]);
    for (std::size_t i = leading.events.size(); i-- > 1;)
      share.open[i - 1] = std::min(share.open[i - 1], share.open[i]);
  }
}

/// Ops before an engine program's first event, and from its last one on, that a block speaks of.
constexpr std::uint32_t kBeyond = 256;

/// A block: what is held for certain, and the events that may or may not have been performed.
struct Block {
  std::int64_t base = 0;
  std::vector<std::uint32_t> free;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;  ///< per share, the ops of `free`
};

class Blocks {
 public:
  Blocks(const Subject& subject, const std::vector<std::uint32_t>& position, std::int64_t base,
         const std::vector<std::uint32_t>& events)
      : subject_(subject), position_(position), base_(base), shares_(shares_of(subject, events)) {
    const auto leading = std::max_element(
        shares_.begin(), shares_.end(),
        [](const Share& a, const Share& b) { return a.events.size() < b.events.size(); });
    leading_ = static_cast<std::size_t>(leading - shares_.begin());
    relate(subject, Share(*leading), shares_);
    for (const Share& share : shares_) {
      std::vector<std::int64_t> sum{0};
      for (const std::uint32_t t : share.events) sum.push_back(sum.back() + delta(t));
      sums_.push_back(std::move(sum));
    }
  }

  [[nodiscard]] std::size_t events() const { return shares_[leading_].events.size(); }

  /// States in which events before `first` of the leading program have been performed, and none
  /// from `last` on.
  [[nodiscard]] Block block(std::size_t first, std::size_t last) const {
    Block out{base_, {}, {}};
    for (std::size_t s = 0; s < shares_.size(); ++s) {
      const Share& share = shares_[s];
      std::size_t done = first == 0 ? 0 : share.performed[first - 1];
      std::size_t open = last == events() ? share.events.size() : share.open[last];
      if (s == leading_) std::tie(done, open) = std::pair{first, last};
      out.base += sums_[s][done];
      for (std::size_t i = done; i < open; ++i) out.free.push_back(share.events[i]);
      out.parts.push_back(part(share, done, open));
    }
    return out;
  }

  /// From behind the last event performed for certain up to the first one that cannot be.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> part(const Share& share, std::size_t done,
                                                             std::size_t open) const {
    if (done >= open) return {0, 0};
    const std::uint32_t begin = subject_.stretch.begin[share.program];
    const std::uint32_t end = subject_.stretch.begin[share.program + 1];
    const std::uint32_t first = share.events[done], last = share.events[open - 1];
    return {done > 0 ? share.events[done - 1] + 1 : first - std::min(first - begin, kBeyond),
            open < share.events.size() ? share.events[open] : std::min(end - last, kBeyond) + last};
  }

  [[nodiscard]] bool impossible(const Block& block, std::int64_t maximum,
                                smt::Session& session) const {
    if (block.free.empty()) return block.base <= maximum;
    // Equal between any two neighbours of a chain, as positions are not. Rarely they tell more.
    Scope scope;
    for (const Share& share : shares_) scope.programs.push_back(share.program);
    scope.parts = block.parts;
    if (impossible(block, scope, maximum, session)) return true;
    scope.parts.clear();
    scope.position = &position_;
    scope.low = 0xffffffffU;
    for (const std::uint32_t t : block.free) {
      scope.low = std::min(scope.low, position_[t]);
      scope.high = std::max(scope.high, position_[t]);
    }
    return impossible(block, scope, maximum, session);
  }

  [[nodiscard]] bool impossible(const Block& block, const Scope& scope, std::int64_t maximum,
                                smt::Session& session) const {
    const Reachable states = reachable(subject_, scope, block.free);
    CanonicalText text('B');
    states.write(text);
    text.signed_number(block.base);
    text.signed_number(maximum);
    for (const std::uint32_t t : block.free) {
      text.number(states.number(t));
      text.signed_number(delta(t));
    }
    const smt::QuestionKey key = text.key();
    if (known_impossible(session, key)) return true;
    smt::Query query = session.query(smt::Logic::linear);
    const Executed done(query, states);
    std::vector<smt::Term> sum{query.constant(block.base)};
    for (const std::uint32_t t : block.free) {
      sum.push_back(query.if_then_else(done.of(t), query.constant(delta(t)), query.constant(0)));
    }
    query.require(query.less(query.constant(maximum), query.sum(sum)));
    if (!std::holds_alternative<smt::Impossible>(session.solve(query))) return false;
    session.impossible.insert(key);
    return true;
  }

 private:
  [[nodiscard]] std::int64_t delta(std::uint32_t t) const {
    const ir::Op& op = subject_.stretch.op_of(*subject_.program, ir::TransitionId(t));
    return op.code == ir::OpCode::post ? op.count : -op.count;
  }

  const Subject& subject_;
  const std::vector<std::uint32_t>& position_;
  std::int64_t base_;
  std::vector<Share> shares_;
  std::vector<std::vector<std::int64_t>> sums_;  ///< per share, of its first i events
  std::size_t leading_ = 0;
};

/// Can the sums of some of the events overflow?
bool too_large(const Subject& subject, std::int64_t base,
               const std::vector<std::uint32_t>& events) {
  std::int64_t sum = base < 0 ? 0 : base;
  for (const std::uint32_t t : events) {
    const ir::Op& op = subject.stretch.op_of(*subject.program, ir::TransitionId(t));
    if (__builtin_add_overflow(sum, op.count, &sum)) return true;
  }
  return base < 0;
}

}  // namespace

bool fits_in_blocks(const Subject& subject, const std::vector<std::uint32_t>& position,
                    std::int64_t base, std::int64_t maximum,
                    const std::vector<std::uint32_t>& events, smt::Session& session,
                    std::size_t ops_of_block) {
  if (events.empty() || too_large(subject, base, events)) return false;
  const Blocks blocks(subject, position, base, events);
  for (std::size_t at = 0; at < blocks.events(); at += ops_of_block) {
    const Block block = blocks.block(at, std::min(at + ops_of_block, blocks.events()));
    if (!blocks.impossible(block, maximum, session)) return false;
  }
  return true;
}

}  // namespace spatialcert::proofs::bounds
