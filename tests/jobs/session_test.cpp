// Several questions at once: what is asked, answered and counted.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <stdexcept>

#include "certify/pool.hpp"
#include "smt/query.hpp"

namespace spatialcert::smt {
namespace {

/// Number i asks for a value x with x = i and x < `limit`.
Questions below(std::size_t count, std::int64_t limit) {
  Questions questions;
  questions.logic = Logic::linear;
  questions.count = count;
  questions.expected = Expected::satisfied;
  questions.together = 3;
  questions.write = [limit](std::size_t i, Query& query) {
    const Term x = query.integer("x"), positive = query.boolean("p");
    query.require(query.equal(x, query.constant(static_cast<std::int64_t>(i))));
    query.require(query.less(x, query.constant(limit)));
    query.require(query.equal(positive, query.less(query.constant(0), x)));
    return std::vector<Term>{x, positive};
  };
  return questions;
}

void on_pool(Session& session, certify::Pool& pool) {
  session.performer = [&](std::size_t count, const std::function<void(std::size_t)>& part) {
    pool.each(count, part);
  };
}

}  // namespace

TEST_CASE("session: values of every question, in order") {
  certify::Pool pool(3);
  for (const bool parallel : {false, true}) {
    Session session;
    if (parallel) on_pool(session, pool);
    const Replies replies = session.ask(below(20, 100));
    CHECK(!replies.other.has_value());
    REQUIRE(replies.values.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(replies.values[i] ==
            std::vector<std::int64_t>{static_cast<std::int64_t>(i), i > 0 ? 1 : 0});
    }
    CHECK(session.queries == 20);
  }
}

TEST_CASE("session: nothing behind the first other answer is answered or counted") {
  certify::Pool pool(3);
  std::uint64_t resource = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Session session;
    if (repeat > 0) on_pool(session, pool);
    const Replies replies = session.ask(below(20, 7));
    REQUIRE(replies.other.has_value());
    CHECK(std::holds_alternative<Impossible>(*replies.other));
    CHECK(replies.values.size() == 8);
    CHECK(replies.values.back().empty());
    CHECK(session.queries == 8);
    if (repeat == 0) resource = session.resource;
    CHECK(session.resource == resource);
  }
}

TEST_CASE("session: a fault in a question counts if nothing before it ends the search") {
  certify::Pool pool(3);
  for (const std::int64_t limit : {5, 100}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      Session session;
      if (repeat > 0) on_pool(session, pool);
      Questions questions = below(20, limit);
      const auto write = questions.write;
      questions.write = [&](std::size_t i, Query& query) {
        if (i == 10) throw std::runtime_error("no such question");
        return write(i, query);
      };
      if (limit == 5) {
        CHECK(session.ask(questions).values.size() == 6);
      } else {
        CHECK_THROWS_AS(static_cast<void>(session.ask(questions)), std::runtime_error);
      }
    }
  }
}

TEST_CASE("session: what is handed out is handed out in order") {
  certify::Pool pool(3);
  Session session;
  on_pool(session, pool);
  std::vector<std::string> texts;
  session.on_query = [&](const std::string& smt2) { texts.push_back(smt2); };
  const Replies replies = session.ask(below(20, 7));
  CHECK(replies.values.size() == 8);
  REQUIRE(texts.size() == 8);
  for (std::size_t i = 0; i < texts.size(); ++i)
    CHECK(texts[i].find(fmt::format("(= x {})", i)) != std::string::npos);
}

}  // namespace spatialcert::smt
