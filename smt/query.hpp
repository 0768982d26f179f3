// One question to Z3, built term by term.
//
// The only door to the solver. `sat`, `unsat` and `unknown` do not leave this folder: a query is
// *satisfied* (and then terms have values), *impossible*, or *undecided* with a reason; exceptions
// and exhausted limits are undecided. Fixed seed, resource limit instead of a clock, one context
// per session, because a fresh one costs more than a small query. Every query can be printed as
// SMT-LIB 2 before it is asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace spatialcert::smt {

/// Handle of a term of one query.
struct Term {
  std::uint32_t index = 0xffffffffU;
};

enum class Logic : std::uint8_t {
  propositional,  ///< QF_UF: booleans only
  difference,     ///< differences of integers; exported as QF_LIA
  linear,         ///< QF_LIA
  functions,      ///< QF_UFNIA: products, and functions of which nothing is known
  bits            ///< QF_BV
};

struct Limits {
  std::uint64_t resource = 400'000'000;  ///< Z3 resource units per query; repeats exactly
  std::uint32_t memory_megabytes = 8'000;
};

struct Satisfied {};
struct Impossible {};
struct Undecided {
  std::string reason;
};
using Answer = std::variant<Satisfied, Impossible, Undecided>;

/// What the queries of a session share inside the solver.
class Context;

class Query {
 public:
  Query(Logic logic, const Limits& limits, std::shared_ptr<Context> context);
  ~Query();
  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;

  /// Fresh variables; names must be unique SMT-LIB symbols.
  Term boolean(const std::string& name);
  Term integer(const std::string& name);
  Term constant(std::int64_t value);

  Term negation(Term a);
  Term all_of(const std::vector<Term>& terms);
  Term any_of(const std::vector<Term>& terms);
  Term implies(Term a, Term b);
  Term sum(const std::vector<Term>& terms);
  Term minus(Term a, Term b);
  Term scaled(std::int64_t factor, Term a);
  Term if_then_else(Term condition, Term yes, Term no);
  Term product(Term a, Term b);
  /// Of integers, to an integer. One name always has the same number of arguments.
  Term apply(const std::string& function, const std::vector<Term>& arguments);

  /// Two's complement numbers of `width` bits. Sums wrap around.
  Term bits(const std::string& name, unsigned width);
  Term bits_of(std::int64_t value, unsigned width);
  Term bits_sum(const std::vector<Term>& terms);  ///< at least one
  Term bits_at_most(Term a, Term b);              ///< with sign
  Term bits_widened(Term a, unsigned more);       ///< by so many bits, with sign

  Term equal(Term a, Term b);
  Term at_most(Term a, Term b);
  Term less(Term a, Term b);

  void require(Term a);

  /// The query as an SMT-LIB 2 script with logic and check-sat.
  [[nodiscard]] std::string smt2() const;
  [[nodiscard]] Answer solve();
  /// Resource units the solve took.
  [[nodiscard]] std::uint64_t resource() const;

  /// Values in the model, after `Satisfied`. A truth is the value 0 or 1.
  [[nodiscard]] bool truth(Term a) const;
  [[nodiscard]] std::int64_t value(Term a) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Digest of a question as whoever asks it writes it down.
using QuestionKey = std::array<std::uint8_t, 32>;

/// Performs task(0) to task(count - 1), each once, in any order and perhaps several at once, and
/// returns when all are done.
using Performer =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

/// The answer that lets one go on to the next question.
enum class Expected : std::uint8_t { satisfied, impossible };

/// Questions of one kind that do not depend on one another.
struct Questions {
  Logic logic = Logic::propositional;
  std::size_t count = 0;
  /// Writes question number i, and returns the terms whose values matter. Called by several threads
  /// at once.
  std::function<std::vector<Term>(std::size_t i, Query& query)> write;
  Expected expected = Expected::impossible;
  /// Questions that are asked in one context, one after the other: fewer if they are long.
  std::size_t together = 8;
};
struct Replies {
  /// Of the terms of every question that was satisfied, up to the one that ended the search.
  std::vector<std::vector<std::int64_t>> values;
  std::optional<Answer> other;  ///< the first answer that is not the expected one: that of the last
};

/// Counts queries and hands every one to `on_query` (if set) before it is asked. Copies share one
/// context, so they must not be used by two threads at once.
struct Session {
  Session();

  Limits limits;
  std::function<void(const std::string& smt2)> on_query;
  std::uint64_t queries = 0;
  std::uint64_t resource = 0;

  /// False: every part of a program is asked about, however many are equal, and nothing is cut.
  bool classes = true;
  std::set<QuestionKey> impossible;  ///< questions that were found impossible
  /// Answers to questions that have one: the values of their variables.
  std::map<QuestionKey, std::vector<std::int64_t>> solved;
  std::uint64_t repeated = 0;  ///< questions that were not asked because an equal one had been

  /// The text of a query depends on what its context held before (names, order of operands), so a
  /// query that is handed out gets a context of its own.
  [[nodiscard]] Query query(Logic logic) const;
  /// Solves through the session: counts, exports, asks.
  [[nodiscard]] Answer solve(Query& query);

  /// How to do several things at once; if not set, one after the other.
  Performer performer;
  void perform(std::size_t count, const std::function<void(std::size_t)>& task) const;
  /// Asks questions up to the first that has another answer than the expected one. Answers, models,
  /// and what is counted do not depend on how many are asked at once: a context sees the same
  /// questions in the same order, and what lies beyond the end of the search is thrown away. Those
  /// that are handed out are asked one after the other.
  [[nodiscard]] Replies ask(const Questions& questions);

 private:
  std::shared_ptr<Context> context_;
};

/// Version of the linked Z3, e.g. "4.8.12".
[[nodiscard]] std::string solver_version();

}  // namespace spatialcert::smt
