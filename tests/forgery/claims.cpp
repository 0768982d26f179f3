#include "tests/forgery/claims.hpp"

#include <algorithm>

#include "ir/program_file.hpp"
#include "ir/search/justify.hpp"
#include "proofs/boundary/rule.hpp"
#include "proofs/shard/rule.hpp"
#include "proofs/subject.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Certificate;

ir::Unrolled unrolled_once(const ir::Program& program) {
  return std::get<ir::Unrolled>(ir::unroll(program));
}

proofs::coverage::Witness op_counts(const ir::Program& program) {
  proofs::coverage::Witness w;
  for (const ir::EngineProgram& p : program.programs) {
    for (const ir::Op& op : p.ops) {
      const bool tests = op.code == ir::OpCode::wait || op.code == ir::OpCode::await ||
                         op.code == ir::OpCode::reserve || op.code == ir::OpCode::front;
      if (op.code == ir::OpCode::repeat) {
        ++w.loops;
      } else if (op.code == ir::OpCode::run) {
        ++w.runs;
      } else {
        ++(tests ? w.tests : w.supplies);
      }
    }
  }
  return w;
}

void add_places(const ir::CounterShare& from, const ir::CounterShare& to, std::uint32_t counter,
                std::int32_t farthest, std::vector<ir::Place>& out) {
  for (const ir::CounterEvent& source : from.events) {
    for (const ir::CounterEvent& test : to.events) {
      if (test.need <= 0 || source.transition == test.transition) continue;
      for (std::int32_t tokens = 0; tokens <= farthest; ++tokens) {
        out.push_back({source.transition, test.transition, tokens, ir::CounterId(counter), false});
      }
    }
  }
}

/// For every boundary the first op that can be its centre, if there is one.
proofs::boundary::Witness centres(const proofs::Subject& subject) {
  proofs::boundary::Meetings meetings(subject);
  proofs::boundary::Witness w;
  w.centre.assign(meetings.size(), proofs::boundary::kNone);
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    for (const proofs::boundary::Participant& part : meetings.participants(k)) {
      std::uint32_t t = part.around.begin;
      for (; t < part.around.end; ++t) {
        w.centre[k] = t;
        if (!meetings.gap(k, w.centre)) break;
      }
      if (t < part.around.end) break;
      w.centre[k] = proofs::boundary::kNone;
    }
  }
  return w;
}

}  // namespace

Certificate claimed_for(const ir::Program& program, const Certificate& certificate) {
  Certificate out = certificate;
  out.program = ir::digest(program);
  out.target = ir::target_digest(program);
  return out;
}

Certificate best_claim(const ir::Program& program, const std::vector<ir::Place>& justified) {
  Certificate c = claimed_for(program, {});
  c.justified = justified;
  const auto made = proofs::make_subject(program, justified);
  const auto* subject = std::get_if<proofs::Subject>(&made);
  if (subject == nullptr) return c;
  c.liveness = potential(*subject).value_or(
      proofs::liveness::Witness{std::vector<std::int64_t>(subject->one.transitions(), 0), 1});
  if (const auto position = proofs::linear_extension(*subject)) {
    c.ordering = paths(*subject, *position);
  } else {
    c.ordering = proofs::ordering::Witness{{0}, {}};
  }
  c.bounds.emplace();
  c.quiescence.emplace();
  c.flow.emplace();
  c.memory = by_address(program);
  if (!program.postconditions.empty()) c.reduction.emplace();
  if (proofs::shard::applies(program))
    c.shard = proofs::shard::Witness{0, proofs::shard::kMostRounds};
  if (proofs::applies(proofs::Rule::boundary, program)) c.boundary = centres(*subject);
  if (proofs::applies(proofs::Rule::isolation, program)) c.isolation.emplace();
  c.coverage = op_counts(program);
  return c;
}

std::vector<ir::Place> moved_places(const ir::Program& from, const std::vector<ir::Place>& places,
                                    const ir::Program& to) {
  const auto old = unrolled_once(from);
  const auto now = ir::unroll(to, 1, 100'000);
  const auto* unrolled = std::get_if<ir::Unrolled>(&now);
  if (unrolled == nullptr) return {};
  std::vector<ir::Place> out;
  const auto moved = [&](ir::TransitionId t) {
    const std::uint32_t p = old.program[t.value()];
    const std::uint32_t step = t.value() - old.begin[p];
    return step < unrolled->length(ir::ProgramId(p)) ? ir::TransitionId(unrolled->begin[p] + step)
                                                     : ir::TransitionId();
  };
  for (ir::Place place : places) {
    place.from = moved(place.from);
    place.to = moved(place.to);
    if (place.from.valid() && place.to.valid()) out.push_back(place);
  }
  return out;
}

std::vector<ir::Place> conceivable_places(const ir::Program& program) {
  const auto counted = ir::count_net(program, unrolled_once(program));
  const std::int32_t farthest = program.execution == ir::Execution::persistent ? 2 : 0;
  std::vector<ir::Place> out;
  for (const std::uint32_t c : counted.by_order) {
    for (const ir::CounterShare& to : counted.shares[c]) {
      for (const ir::CounterShare& from : counted.shares[c]) add_places(from, to, c, farthest, out);
    }
  }
  return out;
}

bool let_pass(const ir::Program& program, const std::vector<ir::Place>& places) {
  const auto one = unrolled_once(program);
  const ir::Net net = ir::check_net(program, one, ir::count_net(program, one), places);
  return std::none_of(net.issues.begin(), net.issues.end(), [](const ir::TestIssue& issue) {
    return issue.kind == ir::TestIssue::Kind::unjustified ||
           issue.kind == ir::TestIssue::Kind::limit;
  });
}

std::vector<ir::Place> most_places(const ir::Program& program, Random& random,
                                   std::uint32_t tries) {
  const auto all = conceivable_places(program);
  std::vector<ir::Place> passed;
  if (random.chance(50)) passed = ir::justify(program, unrolled_once(program)).places;
  if (all.empty() || !let_pass(program, passed)) return {};
  for (std::uint32_t i = 0; i < tries; ++i) {
    auto more = passed;
    for (std::uint32_t group = 1 + random.below(3); group > 0; --group) {
      more.insert(more.begin() + random.below(more.size() + 1), all[random.below(all.size())]);
    }
    if (let_pass(program, more)) passed = std::move(more);
  }
  return passed;
}

}  // namespace spatialcert::tests
