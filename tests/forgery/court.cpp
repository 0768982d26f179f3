#include "tests/forgery/court.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/require.hpp"
#include "proofs/shard/rule.hpp"
#include "tests/oracle/shares.hpp"
#include "tests/oracle/sketch.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Denial;
using proofs::Rejected;

constexpr std::uint64_t kMostStates = 200'000;
constexpr std::uint64_t kMostInstances = 4'000;

ir::Unrolled unrolled_times(const ir::Program& program, std::uint32_t iterations) {
  const bool persistent = program.execution == ir::Execution::persistent;
  return std::get<ir::Unrolled>(ir::unroll(program, persistent ? iterations : 1));
}

bool small(const ir::Program& program) {
  return std::holds_alternative<ir::Unrolled>(ir::unroll(program, 1, kMostInstances));
}

std::string list(const char* what, const std::map<std::string, std::uint64_t>& counts) {
  std::string out = fmt::format("\n{}:", what);
  for (const auto& [name, number] : counts) out += fmt::format(" {} {},", number, name);
  return out;
}

}  // namespace

Oracle::Oracle(const ir::Program& program, std::uint32_t wraps)
    : program_(program), wraps_(wraps) {}

void Oracle::play() {
  if (findings_) return;
  if (!small(program_)) {
    findings_.emplace();
    return;
  }
  findings_ = examine(program_);
  if (!findings_->complete) return;
  one_ = unrolled_times(program_, 1);
  many_ = unrolled_times(program_, wraps_);
  games_ = games_to_explore(program_, many_);
}

bool Oracle::complete() {
  play();
  return findings_->complete;
}

std::string Oracle::fault() {
  play();
  if (!findings_->complete) return "";
  if (findings_->fails()) return findings_->text();
  if (!findings_->in_class) return "it is not in the class: " + findings_->why_not;
  if (proofs::shard::applies(program_)) {
    constexpr std::uint32_t kRounds = 16;
    const ShareFindings found = shares(program_, kRounds, 1);
    if (found.misplaced) return "an op touches what is on another chip";
    if (found.first) return fmt::format("a leak in token {}", *found.first);
  }
  const bool unknown = findings_->unknown_result && !program_.postconditions.empty();
  return unknown ? "its result is not known" : "";
}

std::string Oracle::untrue(const std::vector<ir::Place>& places) {
  if (places.empty() || !complete()) return "";
  if (explored_.empty()) {
    for (const ir::TokenGame& game : games_) explored_.emplace_back(game, kMostStates);
  }
  ir::Net net;
  net.places = places;
  for (const ir::Place& place : ir::expand_places(net, one_, many_)) {
    for (const Exploration& explored : explored_) {
      if (!explored.complete || !explored.separates(place.to.value(), place.from.value())) continue;
      return fmt::format("the place {} -> {} (of {} iterations) does not hold", place.from.value(),
                         place.to.value(), many_.iterations);
    }
  }
  return "";
}

void Court::open(const ir::Program& program) {
  program_ = &program;
  oracle_ = std::make_unique<Oracle>(program);
  false_ = !oracle_->fault().empty();
}

void Court::judge(const proofs::Certificate& claim, const std::string& how) {
  std::string bytes;
  try {
    bytes = proofs::encode(claim);
  } catch (const ir::InternalFault&) {
    ++unencodable;
    return decide(claim, how);
  }
  const auto read = proofs::decode(bytes);
  const auto* as_read = std::get_if<proofs::Certificate>(&read);
  REQUIRE_MESSAGE(as_read != nullptr, how);
  CHECK(proofs::encode(*as_read) == bytes);
  decide(*as_read, how);
}

void Court::judge_bytes(const std::string& bytes, const std::string& how) {
  const auto read = proofs::decode(bytes);
  if (const auto* claim = std::get_if<proofs::Certificate>(&read)) return decide(*claim, how);
  ++forgeries;
  ++kinds[how];
  ++unreadable[std::string(to_string(std::get<proofs::Unreadable>(read).reason))];
}

void Court::decide(const proofs::Certificate& claim, const std::string& how) {
  ++forgeries;
  ++kinds[how];
  if (false_) ++about_false;
  const proofs::Outcome outcome = proofs::recheck(*program_, claim);
  note(outcome);
  if (outcome.denial) return;
  ++accepted;
  ++accepted_kinds[how.substr(0, how.find(','))];
  if (!oracle_->complete()) ++too_large;
  std::string wrong = oracle_->fault();
  if (wrong.empty()) wrong = oracle_->untrue(claim.justified);
  if (wrong.empty()) return;
  ++failures_;
  FAIL_CHECK("accepted, but false (" << how << "): " << wrong << "\n" << listing(*program_));
}

void Court::note(const proofs::Outcome& outcome) {
  if (outcome.denial) ++denials[std::string(to_string(*outcome.denial))];
  for (const proofs::RuleOutcome& rule : outcome.rules) {
    if (rule.denial != Denial::rejected) continue;
    ++reasons[rule.detail.substr(0, rule.detail.find(" ("))];
  }
}

std::string Court::text() const {
  return fmt::format(
             "{} forgeries: {} accepted because they are true ({} of them beyond the oracle), {} "
             "about programs that fail, {} that no bytes say",
             forgeries, accepted, too_large, about_false, unencodable) +
         list("denied", denials) + list("rejected by rules", reasons) +
         list("unreadable", unreadable) + list("accepted", accepted_kinds);
}

std::vector<std::string> all_denials() {
  std::vector<std::string> out;
  for (auto d = Denial::foreign_program; d <= Denial::rejected;
       d = static_cast<Denial>(static_cast<int>(d) + 1))
    out.emplace_back(to_string(d));
  return out;
}

std::vector<std::string> all_reasons() {
  using Reason = Rejected::Reason;
  std::vector<std::string> out;
  for (auto r = Reason::wrong_size; r <= Reason::uncovered;
       r = static_cast<Reason>(static_cast<int>(r) + 1))
    out.emplace_back(to_string(r));
  return out;
}

}  // namespace spatialcert::tests
