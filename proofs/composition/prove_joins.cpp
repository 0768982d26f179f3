#include "proofs/composition/prove_joins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "ir/sections.hpp"
#include "proofs/boundary/rule.hpp"
#include "proofs/canonical.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/isolation/apart.hpp"

namespace spatialcert::proofs::composition {
namespace {

/// The rendezvous of a program, some of them at a time.
class Meetings {
 public:
  explicit Meetings(const ir::Program& program)
      : program_(program), closed_(ir::phases_of(program).closed) {
    std::vector<std::uint32_t> number(program.boundaries.size(), kNone);
    for (std::uint32_t k = 0; k < closed_.size(); ++k) number[closed_[k].value()] = k;
    spans_.resize(closed_.size());
    for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
      for (const ir::Span& span : program.programs[p].spans) {
        if (span.boundary.valid() && number[span.boundary.value()] != kNone)
          spans_[number[span.boundary.value()]].push_back({p, span});
      }
    }
  }
  [[nodiscard]] std::size_t size() const { return closed_.size(); }

  /// Their ops up to the names of semaphores and engine programs.
  [[nodiscard]] smt::QuestionKey key_of(const std::vector<std::size_t>& some) const {
    CanonicalText text('r');
    std::unordered_map<std::uint32_t, std::uint64_t> number;
    for (const std::size_t k : some) {
      text.number(spans_[k].size());
      for (const auto& [p, span] : spans_[k]) {
        text.number(span.end - span.begin);
        for (std::uint32_t i = span.begin; i < span.end; ++i) {
          const ir::Op& op = program_.programs[p].ops[i];
          const ir::Semaphore& semaphore = program_.semaphores[op.object];
          text.number(static_cast<std::uint64_t>(op.code));
          text.number(number.emplace(op.object, number.size()).first->second);
          text.signed_number(op.count);
          text.signed_number(semaphore.initial);
          text.signed_number(semaphore.maximum);
        }
      }
    }
    return text.key();
  }

  /// A program of these, with sections of one op per engine program around them.
  [[nodiscard]] ir::Program program_of(const std::vector<std::size_t>& some) const {
    ir::Program out;
    out.name = "rendezvous";
    out.target = program_.target;
    out.semaphores = program_.semaphores;
    for (std::uint32_t s = 0; s <= some.size(); ++s) {
      out.sections.push_back({fmt::format("s{}", s), s, {}, ir::kNoLocation});
      out.stages.push_back(
          {fmt::format("s{}", s), ir::StageKind::compute, ir::OpKind::copy, 1.0, ir::SectionId(s)});
      if (s < some.size()) out.boundaries.push_back({ir::SectionId(s), true});
    }
    for (const auto& [p, first] : spans_[some.front()]) {
      ir::EngineProgram& engine = out.programs.emplace_back();
      engine.site = program_.programs[p].site;
      engine.engine = program_.programs[p].engine;
      add_section(engine, 0);
    }
    for (std::uint32_t s = 0; s < some.size(); ++s) {
      for (std::size_t i = 0; i < out.programs.size() && i < spans_[some[s]].size(); ++i) {
        const auto& [p, span] = spans_[some[s]][i];
        ir::EngineProgram& engine = out.programs[i];
        const auto begin = static_cast<std::uint32_t>(engine.ops.size());
        const auto& ops = program_.programs[p].ops;
        engine.ops.insert(engine.ops.end(), ops.begin() + span.begin, ops.begin() + span.end);
        engine.spans.push_back({ir::SectionId(), ir::BoundaryId(s), begin,
                                static_cast<std::uint32_t>(engine.ops.size())});
        add_section(engine, s + 1);
      }
    }
    return out;
  }

 private:
  static void add_section(ir::EngineProgram& engine, std::uint32_t s) {
    const auto begin = static_cast<std::uint32_t>(engine.ops.size());
    ir::Op op;
    op.code = ir::OpCode::run;
    op.object = s;
    engine.ops.push_back(op);
    engine.spans.push_back({ir::SectionId(s), ir::BoundaryId(), begin, begin + 1});
  }

  const ir::Program& program_;
  std::vector<ir::BoundaryId> closed_;
  /// By rendezvous, then engine program.
  std::vector<std::vector<std::pair<std::uint32_t, ir::Span>>> spans_;
};

}  // namespace

std::optional<std::string> prove_boundaries(const ir::Program& program, smt::Session& session) {
  const Meetings meetings(program);
  if (meetings.size() == 0) return std::nullopt;
  std::vector<std::vector<std::size_t>> neighbours;
  for (std::size_t k = 0; k + 1 < meetings.size(); ++k) neighbours.push_back({k, k + 1});
  if (meetings.size() == 1) neighbours.push_back({0});
  if (program.execution == ir::Execution::persistent)
    neighbours.push_back({meetings.size() - 1, 0});
  std::vector<smt::QuestionKey> keys;
  for (const auto& some : neighbours) keys.push_back(meetings.key_of(some));
  for (const std::size_t i : not_yet_asked(session, keys)) {
    const ir::Program one = meetings.program_of(neighbours[i]);
    const auto found = find_subject(one);
    const auto* subject = std::get_if<Subject>(&found);
    if (subject == nullptr) return std::string("rendezvous of too many ops");
    const auto position = linear_extension(*subject);
    if (!position) return std::string("rendezvous that block");
    const auto search = boundary::prove(*subject, *position, session);
    if (!std::holds_alternative<Proved<boundary::Witness>>(search))
      return std::string("what comes before a rendezvous is not shown to come before what follows");
  }
  return std::nullopt;
}

std::optional<std::string> prove_isolation(const ir::Program& program, const Division& division,
                                           smt::Session& session) {
  const ir::Phases phases = ir::phases_of(program);
  std::vector<isolation::Interval> all;
  for (std::size_t i = 0; i < division.sections.size(); ++i) {
    const std::uint32_t section = division.sections[i];
    const Class& its = division.classes[division.class_of[i]];
    for (std::size_t t = 0; t < its.touched.size(); ++t) {
      const Touched& what = its.touched[t];
      const std::uint32_t object = division.objects[division.first_object[i] + t];
      const std::uint32_t line = 2 * object + (what.tensor ? 0 : 1);
      for (const Interval& where : what.reads)
        all.push_back({phases.of[section], line, section, false, where.low, where.high});
      for (const Interval& where : what.writes)
        all.push_back({phases.of[section], line, section, true, where.low, where.high});
    }
  }
  const auto answer = isolation::ask_apart(std::move(all), session);
  if (!answer) return std::nullopt;
  if (const auto* undecided = std::get_if<smt::Undecided>(&*answer)) return undecided->reason;
  return std::string("sections of one phase touch what one of them writes");
}

}  // namespace spatialcert::proofs::composition
