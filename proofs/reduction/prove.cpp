#include <fmt/format.h>

#include <map>
#include <set>

#include "proofs/issues.hpp"
#include "proofs/reduction/prove_types.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/reduction/typing.hpp"
#include "proofs/schedules.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::reduction {
namespace {

/// Values and summands that one query defines, roughly.
constexpr std::size_t kQuerySize = 3'000;

ValueRef below(const SymbolicRun& run, std::uint32_t summand, ValueRef at) {
  const ValueRef child = run.summands()[summand].value;
  return {child.node, child.offset + at.offset};
}

/// How many values and summands the equations of some outputs define.
class Size {
 public:
  explicit Size(const SymbolicRun& run) : run_(run) {}

  [[nodiscard]] std::size_t operator()() const { return size_; }

  void add(ValueRef value) {
    std::vector<ValueRef> work{value};
    while (!work.empty()) {
      const ValueRef at = work.back();
      work.pop_back();
      const Node& n = run_.node(at.node);
      if (n.kind != NodeKind::sum || !seen_.insert(at).second) continue;
      size_ += n.count + 1;
      for (std::uint32_t i = n.first; i < n.first + n.count; ++i)
        work.push_back(below(run_, i, at));
    }
  }

 private:
  const SymbolicRun& run_;
  std::set<ValueRef> seen_;
  std::size_t size_ = 0;
};

/// The equations of the values that some outputs depend on.
class Equations {
 public:
  Equations(const SymbolicRun& run, smt::Query& query) : run_(run), query_(query) {}

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
        const ValueRef child = below(run_, i, at);
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
      const smt::Term child = terms_.at(below(run_, i, at));
      sum.push_back(factor == 1 ? child : query_.scaled(factor, child));
    }
    const smt::Term value = query_.integer(fmt::format("v_{}_{}", at.node, at.offset));
    query_.require(query_.equal(value, query_.sum(sum)));
    terms_.emplace(at, value);
  }

  const SymbolicRun& run_;
  smt::Query& query_;
  std::map<ValueRef, smt::Term> terms_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, smt::Term> inputs_;
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
    const std::vector<std::size_t> begin = cut();
    smt::Questions questions;
    questions.logic = smt::Logic::linear;
    questions.count = begin.size() - 1;
    questions.expected = smt::Expected::impossible;
    questions.together = 4;
    questions.write = [&](std::size_t i, smt::Query& query) {
      Equations equations(run_, query);
      std::vector<smt::Term> differs;
      for (std::size_t at = begin[i]; at < begin[i + 1]; ++at)
        differs.push_back(difference(query, equations, all_[at]));
      query.require(query.any_of(differs));
      return std::vector<smt::Term>{};
    };
    const smt::Replies replies = session_.ask(questions);
    if (!replies.other) return Proved<Witness>{};
    if (const auto* undecided = std::get_if<smt::Undecided>(&*replies.other))
      return Unknown{undecided->reason};
    const std::size_t last = replies.values.size() - 1;
    return refute(begin[last], begin[last + 1]);
  }

 private:
  /// The first obligation of every question, and their end.
  [[nodiscard]] std::vector<std::size_t> cut() const {
    std::vector<std::size_t> begin{0};
    while (begin.back() < all_.size()) {
      Size size(run_);
      std::size_t at = begin.back();
      do {
        size.add(all_[at++].value);
      } while (at < all_.size() && size() < kQuerySize && at - begin.back() < kQuerySize);
      begin.push_back(at);
    }
    return begin;
  }

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

namespace {

Search<Witness> prove_results(const Subject& subject, const std::vector<std::uint32_t>& position,
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

}  // namespace

Search<Witness> prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                      smt::Session& session) {
  Witness witness;
  if (has_types(*subject.program)) {
    auto types = prove_types(subject, session);
    if (auto* refuted = std::get_if<Refuted>(&types)) return std::move(*refuted);
    if (auto* unknown = std::get_if<Unknown>(&types)) return std::move(*unknown);
    witness.typing = std::get<Proved<Typing>>(types).witness;
  }
  if (subject.program->postconditions.empty()) return Proved<Witness>{witness};
  auto results = prove_results(subject, position, session);
  if (!std::holds_alternative<Proved<Witness>>(results)) return results;
  return Proved<Witness>{witness};
}

}  // namespace spatialcert::proofs::reduction
