#include "smt/query.hpp"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>

namespace spatialcert::smt {

class Context {
 public:
  z3::context z3;
  std::uint64_t spent = 0;  ///< Z3 counts resource units per context
};

struct Query::Impl {
  Impl(Logic chosen, const Limits& limits, std::shared_ptr<Context> shared_context)
      : shared(std::move(shared_context)),
        limit(limits.resource),
        logic(chosen),
        solver(make(chosen)) {
    z3::params params(context);
    params.set("random_seed", 0U);
    params.set("rlimit",
               static_cast<unsigned>(std::min<std::uint64_t>(limits.resource, 0xffffffffU)));
    params.set("max_memory", limits.memory_megabytes);
    if (logic == Logic::difference) params.set("arith.solver", 1U);
    solver.set(params);
  }

  z3::solver make(Logic chosen) {
    switch (chosen) {
      case Logic::propositional:
        return {context, "QF_FD"};
      case Logic::difference:
        return {context, z3::solver::simple()};
      case Logic::functions:
        return {context, "QF_UFNIA"};
      case Logic::bits:
        return {context, "QF_BV"};
      case Logic::linear:
        break;
    }
    // Definitions are most of these queries; substituting them first halves the time.
    const auto tactic = [&](const char* name) { return z3::tactic(context, name); };
    return (tactic("simplify") & tactic("solve-eqs") & tactic("smt")).mk_solver();
  }

  Term add(const z3::expr& e) {
    terms.push_back(e);
    return {static_cast<std::uint32_t>(terms.size() - 1)};
  }
  [[nodiscard]] const z3::expr& at(Term t) const { return terms.at(t.index); }
  [[nodiscard]] z3::expr_vector list(const std::vector<Term>& from) {
    z3::expr_vector out(context);
    for (const Term t : from) out.push_back(at(t));
    return out;
  }

  [[nodiscard]] std::string why_unknown() const {
    const std::string reason = solver.reason_unknown();
    if (resource >= limit)
      return fmt::format("the solver reached its limit of {} resource units", limit);
    return fmt::format("the solver gave up: {}", reason);
  }

  std::shared_ptr<Context> shared;
  z3::context& context = shared->z3;
  std::uint64_t limit = 0;
  Logic logic;
  z3::solver solver;
  std::vector<z3::expr> terms;
  std::unique_ptr<z3::model> model;
  std::uint64_t resource = 0;
};

Query::Query(Logic logic, const Limits& limits, std::shared_ptr<Context> context)
    : impl_(std::make_unique<Impl>(logic, limits, std::move(context))) {}
Query::~Query() = default;
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;

Term Query::boolean(const std::string& name) {
  return impl_->add(impl_->context.bool_const(name.c_str()));
}
Term Query::integer(const std::string& name) {
  return impl_->add(impl_->context.int_const(name.c_str()));
}
Term Query::constant(std::int64_t value) { return impl_->add(impl_->context.int_val(value)); }
Term Query::negation(Term a) { return impl_->add(!impl_->at(a)); }
Term Query::all_of(const std::vector<Term>& t) { return impl_->add(z3::mk_and(impl_->list(t))); }
Term Query::any_of(const std::vector<Term>& t) { return impl_->add(z3::mk_or(impl_->list(t))); }
Term Query::implies(Term a, Term b) { return impl_->add(z3::implies(impl_->at(a), impl_->at(b))); }
Term Query::sum(const std::vector<Term>& t) {
  if (t.empty()) return constant(0);
  return impl_->add(t.size() == 1 ? impl_->at(t[0]) : z3::sum(impl_->list(t)));
}
Term Query::minus(Term a, Term b) { return impl_->add(impl_->at(a) - impl_->at(b)); }
Term Query::scaled(std::int64_t f, Term a) {
  return impl_->add(impl_->context.int_val(f) * impl_->at(a));
}
Term Query::if_then_else(Term c, Term yes, Term no) {
  return impl_->add(z3::ite(impl_->at(c), impl_->at(yes), impl_->at(no)));
}
Term Query::product(Term a, Term b) { return impl_->add(impl_->at(a) * impl_->at(b)); }
Term Query::apply(const std::string& function, const std::vector<Term>& arguments) {
  z3::sort_vector sorts(impl_->context);
  z3::expr_vector values(impl_->context);
  for (const Term argument : arguments) {
    sorts.push_back(impl_->context.int_sort());
    values.push_back(impl_->at(argument));
  }
  return impl_->add(
      impl_->context.function(function.c_str(), sorts, impl_->context.int_sort())(values));
}

Term Query::bits(const std::string& name, unsigned width) {
  return impl_->add(impl_->context.bv_const(name.c_str(), width));
}
Term Query::bits_of(std::int64_t value, unsigned width) {
  return impl_->add(impl_->context.bv_val(value, width));
}
Term Query::bits_sum(const std::vector<Term>& terms) {
  z3::expr total = impl_->at(terms.front());
  for (std::size_t i = 1; i < terms.size(); ++i) total = total + impl_->at(terms[i]);
  return impl_->add(total);
}
Term Query::bits_at_most(Term a, Term b) { return impl_->add(z3::sle(impl_->at(a), impl_->at(b))); }
Term Query::bits_widened(Term a, unsigned more) { return impl_->add(z3::sext(impl_->at(a), more)); }

Term Query::equal(Term a, Term b) { return impl_->add(impl_->at(a) == impl_->at(b)); }
Term Query::at_most(Term a, Term b) { return impl_->add(impl_->at(a) <= impl_->at(b)); }
Term Query::less(Term a, Term b) { return impl_->add(impl_->at(a) < impl_->at(b)); }

void Query::require(Term a) { impl_->solver.add(impl_->at(a)); }

std::string Query::smt2() const {
  // Z3 prints a difference as a sum with a product by -1, which strict readers do not take for
  // difference logic.
  const char* logic = "QF_LIA";
  if (impl_->logic == Logic::propositional) logic = "QF_UF";
  if (impl_->logic == Logic::functions) logic = "QF_UFNIA";
  if (impl_->logic == Logic::bits) logic = "QF_BV";
  return fmt::format("(set-logic {})\n{}", logic, impl_->solver.to_smt2());
}

Answer Query::solve() {
  try {
    const z3::check_result result = impl_->solver.check();
    const z3::stats stats = impl_->solver.statistics();
    for (unsigned i = 0; i < stats.size(); ++i) {
      if (stats.key(i) != "rlimit count" || !stats.is_uint(i)) continue;
      // The count is of 32 bits and goes on over the queries of a context.
      const unsigned now = stats.uint_value(i);
      impl_->resource = now - static_cast<unsigned>(impl_->shared->spent);
      impl_->shared->spent = now;
    }
    switch (result) {
      case z3::sat:
        impl_->model = std::make_unique<z3::model>(impl_->solver.get_model());
        return Satisfied{};
      case z3::unsat:
        return Impossible{};
      case z3::unknown:
        return Undecided{impl_->why_unknown()};
    }
  } catch (const z3::exception& e) {
    return Undecided{fmt::format("the solver failed: {}", e.msg())};
  } catch (const std::bad_alloc&) {
    return Undecided{"the solver ran out of memory"};
  }
  return Undecided{"the solver gave no answer"};
}

std::uint64_t Query::resource() const { return impl_->resource; }

bool Query::truth(Term a) const { return impl_->model->eval(impl_->at(a), true).is_true(); }

std::int64_t Query::value(Term a) const {
  const z3::expr value = impl_->model->eval(impl_->at(a), true);
  return value.is_bool() ? (value.is_true() ? 1 : 0) : value.get_numeral_int64();
}

Session::Session() : context_(std::make_shared<Context>()) {}

Query Session::query(Logic logic) const {
  return {logic, limits, on_query ? std::make_shared<Context>() : context_};
}

Answer Session::solve(Query& query) {
  ++queries;
  if (on_query) on_query(query.smt2());
  Answer answer = query.solve();
  resource += query.resource();
  return answer;
}

namespace {

bool is(const Answer& answer, Expected expected) {
  return expected == Expected::satisfied ? std::holds_alternative<Satisfied>(answer)
                                         : std::holds_alternative<Impossible>(answer);
}

std::vector<std::int64_t> values_of(const Query& query, const Answer& answer,
                                    const std::vector<Term>& terms) {
  std::vector<std::int64_t> out;
  if (!std::holds_alternative<Satisfied>(answer)) return out;
  for (const Term t : terms) out.push_back(query.value(t));
  return out;
}

/// What came of the questions of one context: all of them, or up to the first other answer.
struct Batch {
  Replies replies;
  std::uint64_t resource = 0;
  std::exception_ptr fault;  ///< in place of the next answer
  [[nodiscard]] bool last() const { return replies.other || fault; }

  void ask(const Questions& questions, std::size_t begin, const Limits& limits,
           const std::shared_ptr<Context>& context) {
    const std::size_t end = std::min(questions.count, begin + questions.together);
    for (std::size_t i = begin; i < end && !replies.other; ++i) {
      Query query(questions.logic, limits, context);
      const std::vector<Term> terms = questions.write(i, query);
      const Answer answer = query.solve();
      resource += query.resource();
      replies.values.push_back(values_of(query, answer, terms));
      if (!is(answer, questions.expected)) replies.other = answer;
    }
  }
};

}  // namespace

void Session::perform(std::size_t count, const std::function<void(std::size_t)>& task) const {
  if (performer && count > 1) return performer(count, task);
  for (std::size_t i = 0; i < count; ++i) task(i);
}

Replies Session::ask(const Questions& questions) {
  Replies out;
  if (on_query) {
    for (std::size_t i = 0; i < questions.count && !out.other; ++i) {
      Query one = query(questions.logic);
      const std::vector<Term> terms = questions.write(i, one);
      const Answer answer = solve(one);
      out.values.push_back(values_of(one, answer, terms));
      if (!is(answer, questions.expected)) out.other = answer;
    }
    return out;
  }
  std::vector<Batch> batches((questions.count + questions.together - 1) / questions.together);
  std::atomic<std::size_t> last{batches.size()};  // nothing behind this batch matters
  perform(batches.size(), [&](std::size_t b) {
    if (b > last.load()) return;
    Batch& batch = batches[b];
    try {
      // A fresh context costs as much as a small question.
      batch.ask(questions, b * questions.together, limits,
                b == 0 ? context_ : std::make_shared<Context>());
    } catch (...) {
      batch.fault = std::current_exception();
    }
    std::size_t before = last.load();
    while (batch.last() && b < before && !last.compare_exchange_weak(before, b)) {
    }
  });
  for (Batch& batch : batches) {
    queries += batch.replies.values.size();
    resource += batch.resource;
    std::move(batch.replies.values.begin(), batch.replies.values.end(),
              std::back_inserter(out.values));
    out.other = batch.replies.other;
    if (batch.fault) std::rethrow_exception(batch.fault);
    if (out.other) break;
  }
  return out;
}

std::string solver_version() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return fmt::format("{}.{}.{}", major, minor, build);
}

}  // namespace spatialcert::smt
