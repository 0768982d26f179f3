#include "tests/proofs/foldings.hpp"

#include <fmt/format.h>

#include <variant>

#include "proofs/find_subject.hpp"
#include "proofs/folding/check.hpp"

namespace spatialcert::tests::foldings {
namespace {

using certify::Verdict;
using proofs::folding::Objection;

std::string kind(Objection::Kind kind) {
  constexpr const char* kNames[] = {"values", "counter",   "uneven",      "backwards", "circular",
                                    "window", "unbounded", "interleaved", "too few"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace

certify::Options unrolled() {
  certify::Options options;
  options.fold_from.reset();
  return options;
}

Verdict truth(const ir::Program& program) { return certify::certify(program, unrolled()).verdict; }

Claim claim(const ir::Program& program, const ir::Folding& folding) {
  const auto made = ir::fold(program, folding);
  if (const auto* no = std::get_if<ir::Unfoldable>(&made)) return {no->why, Verdict::undecided};
  const auto& folded = std::get<ir::Folded>(made);
  const auto subject = proofs::find_subject(folded.program);
  const auto objections =
      proofs::folding::check(folding, folded, std::get<proofs::Subject>(subject));
  Claim out{"", certify::certify(folded.program, unrolled()).verdict};
  if (objections.empty()) return out;
  out.refused = kind(objections.front().kind);
  return out;
}

ir::Folding keep(std::int64_t left, const std::vector<ir::FoldedLoop>& loops) {
  return {{kTrips - left, loops}};
}

Ops repeat(int trips, Ops body) {
  body.insert(body.begin(), fmt::format("repeat {}", trips));
  body.emplace_back("end");
  return body;
}
Ops operator+(Ops a, const Ops& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Draft pipeline(int pages, const Ops& load, const Ops& compute) {
  Draft d("pipeline");
  d.tensor("x", "external", kTrips).tensor("y", "undefined", kTrips).fifo("q", pages);
  d.engine("load", repeat(kTrips, Ops{"reserve q", "run load x[1i:1i+1] > q", "push q"} + load));
  d.engine("compute",
           repeat(kTrips, compute + Ops{"front q", "run compute q > y[1i:1i+1]", "pop q"}));
  return d;
}

}  // namespace spatialcert::tests::foldings
