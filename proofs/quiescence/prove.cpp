#include <fmt/format.h>

#include "proofs/issues.hpp"
#include "proofs/quiescence/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::quiescence {
namespace {

/// Counters per query.
constexpr std::size_t kBlock = 2'000;

/// Per counter, how often each amount is added and taken, so that the query is of the size of the
/// counters' ops texts rather than of their executions.
struct Terms {
  std::uint32_t counter = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> amounts;  // amount, times
};

std::vector<Terms> terms_of(const Subject& subject) {
  const ir::Counters counters(*subject.program);
  std::vector<Terms> out(counters.size());
  for (std::uint32_t c = 0; c < out.size(); ++c) out[c].counter = c;
  const auto add = [&](ir::CounterId c, std::int64_t amount) {
    auto& amounts = out[c.value()].amounts;
    if (amounts.empty() || amounts.back().first != amount) amounts.emplace_back(amount, 0);
    ++amounts.back().second;
  };
  for (std::uint32_t t = 0; t < subject.one.transitions(); ++t) {
    const ir::Op& op = subject.one.op_of(*subject.program, ir::TransitionId(t));
    switch (op.code) {
      case ir::OpCode::post:
        add(counters.of(ir::SemaphoreId(op.object)), op.count);
        break;
      case ir::OpCode::wait:
        add(counters.of(ir::SemaphoreId(op.object)), -op.count);
        break;
      case ir::OpCode::push:
        add(counters.filled(ir::BufferId(op.object)), op.count);
        break;
      case ir::OpCode::pop:
        add(counters.filled(ir::BufferId(op.object)), -op.count);
        break;
      default:
        break;
    }
  }
  std::erase_if(out, [&](const Terms& t) {
    return !must_return(*subject.program, counters[ir::CounterId(t.counter)]);
  });
  return out;
}

std::optional<Counterexample> leftover(const Subject& subject) {
  const ir::TokenGame game(*subject.program, subject.one);
  ir::FreePlay play = ir::play_freely(game);
  if (!play.result.complete) return std::nullopt;
  for (std::uint32_t c = 0; c < game.counters().size(); ++c) {
    const ir::CounterId id(c);
    const std::int64_t value = game.counter_value(play.result.state, id);
    if (!must_return(*subject.program, game.counters()[id]) || value == game.counters()[id].initial)
      continue;
    Counterexample out;
    out.kind = Kind::leftover;
    out.counter = id;
    out.value = value;
    out.limit = game.counters()[id].initial;
    out.schedules.push_back(std::move(play.schedule));
    return out;
  }
  return std::nullopt;
}

}  // namespace

Search<Witness> prove(const Subject& subject, smt::Session& session) {
  const auto all = terms_of(subject);
  smt::Questions questions;
  questions.logic = smt::Logic::linear;
  questions.count = (all.size() + kBlock - 1) / kBlock;
  questions.expected = smt::Expected::impossible;
  questions.together = 1;
  questions.write = [&](std::size_t block, smt::Query& query) {
    const std::size_t at = block * kBlock;
    std::vector<smt::Term> off;
    for (std::size_t i = at; i < std::min(all.size(), at + kBlock); ++i) {
      // change = sum of amount * times, and it is not zero.
      const smt::Term change = query.integer(fmt::format("change_{}", all[i].counter));
      std::vector<smt::Term> sum;
      for (const auto& [amount, times] : all[i].amounts)
        sum.push_back(query.scaled(times, query.constant(amount)));
      query.require(query.equal(change, query.sum(sum)));
      off.push_back(query.negation(query.equal(change, query.constant(0))));
    }
    query.require(query.any_of(off));
    return std::vector<smt::Term>{};
  };
  const smt::Replies replies = session.ask(questions);
  if (replies.other) {
    if (const auto* undecided = std::get_if<smt::Undecided>(&*replies.other))
      return Unknown{undecided->reason};
    if (auto found = leftover(subject)) return Refuted{std::move(*found)};
    return Unknown{subject.net.exact() ? "a counter is off balance, but no play ends with it"
                                       : issue_text(subject, subject.net.issues.front())};
  }
  if (!subject.net.exact()) return Unknown{issue_text(subject, subject.net.issues.front())};
  return Proved<Witness>{};
}

}  // namespace spatialcert::proofs::quiescence
