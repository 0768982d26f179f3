#include <fmt/format.h>

#include <map>

#include "proofs/issues.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/schedules.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::reduction {
namespace {

/// Values and summands that one query defines, roughly.
constexpr std::size_t kQuerySize = 3'000;

/// The equations of the values that some outputs depend on.
class Equations {
 public:
  Equations(const SymbolicRun& run, smt::Query& query) : run_(run), query_(query) {}

  [[nodiscard]] std::size_t size() const { return size_; }

  /// The term for `value`; defines it and everything below it once.
  smt::Term of(ValueRef value) {
    std::vector<ValueRef> work{value};
    while (!work.empty()) {
      const ValueRef at = work.back();
      if (terms_.contains(at)) {
        work.pop_back();
        continue;
      }
      const Node& n = run_.node(at.node);
      if (n.kind != NodeKind::sum) {
        work.pop_back();
        terms_.emplace(at, leaf(n, at));
        continue;
      }
      bool ready = true;
      for (std::uint32_t i = n.first; i < n.first + n.count; ++i) {
        const ValueRef child = below(i, at);
        if (!terms_.contains(child)) {
          work.push_back(child);
          ready = false;
        }
      }
      if (!ready) continue;
      work.pop_back();
      define(n, at);
    }
    return terms_.at(value);
  }

  smt::Term input(std::uint32_t storage, std::uint64_t offset) {
    const auto [at, fresh] = inputs_.try_emplace({storage, offset});
    if (fresh) at->second = query_.integer(fmt::format("in_{}_{}", storage, offset));
    return at->second;
  }

 private:
  [[nodiscard]] ValueRef below(std::uint32_t summand, ValueRef at) const {
    const ValueRef child = run_.summands()[summand].value;
    return {child.node, child.offset + at.offset};
  }
  smt::Term leaf(const Node& n, ValueRef at) {
    if (n.kind == NodeKind::input) return input(n.subject, at.offset);
    if (n.kind == NodeKind::zero) return query_.constant(0);
    // Undefined contents and results of other ops may be anything.
    return query_.integer(fmt::format("any_{}_{}", at.node, at.offset));
  }
  void define(const Node& n, ValueRef at) {
    std::vector<smt::Term> sum;
    for (std::uint32_t i = n.first; i < n.first + n.count; ++i) {
      const std::int64_t factor = run_.summands()[i].factor;
      const smt::Term child = terms_.at(below(i, at));
      sum.push_back(factor == 1 ? child : query_.scaled(factor, child));
      ++size_;
    }
    const smt::Term value = query_.integer(fmt::format("v_{}_{}", at.node, at.offset));
    query_.require(query_.equal(value, query_.sum(sum)));
    terms_.emplace(at, value);
    ++size_;
  }

  const SymbolicRun& run_;
  smt::Query& query_;
  std::map<ValueRef, smt::Term> terms_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, smt::Term> inputs_;
  std::size_t size_ = 0;
};

Counterexample wrong_result(const Subject& subject, const std::vector<std::uint32_t>& position,
                            const Obligation& o, const Combination& found) {
  Counterexample c;
  c.kind = Kind::wrong_result;
  c.index = o.postcondition;
  c.range = LocationRange{subject.accesses.storages[o.storage], o.low, o.high};
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::int64_t, std::int64_t>> counts;
  for (const Term& t : found.terms) counts[{t.storage, t.offset}].first += t.factor;
  for (const Term& t : o.expected) counts[{t.storage, t.offset}].second += t.factor;
  for (const auto& [key, count] : counts) {
    if (count.first == count.second) continue;
    const ir::Storage& storage = subject.accesses.storages[key.first];
    const std::uint64_t unit = storage.kind == ir::Storage::Kind::tensor
                                   ? ir::size_of(subject.program->tensors[storage.object].dtype)
                                   : 1;
    const std::uint64_t low = key.second / unit;
    c.terms.push_back({ir::describe(*subject.program, storage, low, low + (o.high - o.low)),
                       count.first, count.second});
  }
  if (found.undefined) c.note = "contains contents that nothing wrote";
  c.schedules.push_back(schedule_of(subject, position, std::vector<char>(position.size(), 1)));
  return c;
}

class Prover {
 public:
  Prover(const Subject& subject, const std::vector<std::uint32_t>& position, smt::Session& session)
      : subject_(subject),
        position_(position),
        session_(session),
        run_(subject, position),
        all_(obligations(subject, run_)) {}

  Search<Witness> run() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (run_.mistyped(all_[i].value, all_[i].type)) return refute(i, i + 1);
    }
    for (std::size_t at = 0; at < all_.size();) {
      const std::size_t begin = at;
      smt::Query query = session_.query(smt::Logic::linear);
      Equations equations(run_, query);
      std::vector<smt::Term> differs;
      while (at < all_.size() && (at == begin || equations.size() < kQuerySize) &&
             at - begin < kQuerySize) {
        differs.push_back(difference(query, equations, all_[at++]));
      }
      query.require(query.any_of(differs));
      const smt::Answer answer = session_.solve(query);
      if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
        return Unknown{undecided->reason};
      if (std::holds_alternative<smt::Satisfied>(answer)) return refute(begin, at);
    }
    return Proved<Witness>{};
  }

 private:
  static smt::Term difference(smt::Query& query, Equations& equations, const Obligation& o) {
    std::vector<smt::Term> sum;
    for (const Term& t : o.expected) {
      const smt::Term in = equations.input(t.storage, t.offset);
      sum.push_back(t.factor == 1 ? in : query.scaled(t.factor, in));
    }
    return query.negation(query.equal(equations.of(o.value), query.sum(sum)));
  }

  Search<Witness> refute(std::size_t begin, std::size_t end) const {
    std::string opaque;
    for (std::size_t i = begin; i < end; ++i) {
      const Combination found = run_.combination(all_[i].value, all_[i].type);
      if (meets(found, all_[i])) continue;
      if (found.opaque != 0xffffffffU) {
        const auto& op = subject_.stretch.op_of(*subject_.program, ir::TransitionId(found.opaque));
        if (opaque.empty()) {
          opaque = fmt::format(
              "an output passes through {} ({}), which is no sum",
              transition_text(*subject_.program, subject_.stretch, ir::TransitionId(found.opaque)),
              ir::to_string(subject_.program->stages[op.object].op));
        }
        continue;
      }
      Counterexample c = wrong_result(subject_, position_, all_[i], found);
      if (std::holds_alternative<Reproduced>(replay(*subject_.program, c)))
        return Refuted{std::move(c)};
    }
    return Unknown{opaque.empty()
                       ? std::string("the solver claims a difference that a replay does not show")
                       : opaque};
  }

  const Subject& subject_;
  const std::vector<std::uint32_t>& position_;
  smt::Session& session_;
  SymbolicRun run_;
  std::vector<Obligation> all_;
};

}  // namespace

Search<Witness> prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                      smt::Session& session) {
  if (subject.persistent())
    return Unknown{"postconditions of persistent programs are not supported"};
  if (subject.accesses.limit)
    return Unknown{"the accesses of the program exceed the limit of the analysis"};
  if (!subject.net.exact()) return Unknown{issue_text(subject, subject.net.issues.front())};
  if (const auto index = unfounded_postcondition(subject)) {
    return Unknown{
        fmt::format("postcondition {} speaks of contents that are not given from outside", *index)};
  }
  return Prover(subject, position, session).run();
}

}  // namespace spatialcert::proofs::reduction
