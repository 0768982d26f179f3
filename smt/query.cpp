#include "smt/query.hpp"

#include <fmt/format.h>
#include <z3++.h>

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
Term Query::equal(Term a, Term b) { return impl_->add(impl_->at(a) == impl_->at(b)); }
Term Query::at_most(Term a, Term b) { return impl_->add(impl_->at(a) <= impl_->at(b)); }
Term Query::less(Term a, Term b) { return impl_->add(impl_->at(a) < impl_->at(b)); }

void Query::require(Term a) { impl_->solver.add(impl_->at(a)); }

std::string Query::smt2() const {
  // Z3 prints a difference as a sum with a product by -1, which strict readers do not take for
  // difference logic.
  const char* logic = impl_->logic == Logic::propositional ? "QF_UF" : "QF_LIA";
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
  return impl_->model->eval(impl_->at(a), true).get_numeral_int64();
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

std::string solver_version() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return fmt::format("{}.{}.{}", major, minor, build);
}

}  // namespace spatialcert::smt
