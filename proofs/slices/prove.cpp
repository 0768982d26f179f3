#include <map>
#include <tuple>

#include "proofs/slices/rule.hpp"
#include "proofs/slices/tiling.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::slices {
namespace {

/// All that decides whether slices tile: parts that have the same ranges are asked about once.
using Cut = std::tuple<std::uint64_t, std::uint32_t, std::vector<std::vector<ir::IndexRange>>>;

Cut cut_of(const ir::SlicedTensor& sliced) {
  Cut cut{length_of(sliced), sliced.copies, {}};
  for (const ir::Slice& slice : sliced.slices) std::get<2>(cut).push_back(slice.ranges);
  return cut;
}

/// "Some index of the axis is in another number of parts, or twice in one."
void write_untiled(const Cut& cut, smt::Query& query) {
  const auto& [length, copies, parts] = cut;
  const smt::Term index = query.integer("index");
  const smt::Term zero = query.constant(0), one = query.constant(1);
  const auto constant = [&](std::uint64_t value) {
    return query.constant(static_cast<std::int64_t>(value));
  };
  query.require(query.at_most(zero, index));
  query.require(query.less(index, constant(length)));
  std::vector<smt::Term> counts, wrong;
  for (const auto& ranges : parts) {
    std::vector<smt::Term> inside, numbers;
    for (const ir::IndexRange& range : ranges) {
      inside.push_back(query.all_of(
          {query.at_most(constant(range.begin), index), query.less(index, constant(range.end))}));
      numbers.push_back(query.if_then_else(inside.back(), one, zero));
    }
    counts.push_back(query.if_then_else(query.any_of(inside), one, zero));
    if (numbers.size() > 1) wrong.push_back(query.less(one, query.sum(numbers)));
  }
  wrong.push_back(query.negation(query.equal(query.sum(counts), constant(copies))));
  query.require(query.any_of(wrong));
}

Search<Witness> refuted(const Subject& subject, std::optional<Counterexample> found) {
  if (found && std::holds_alternative<Reproduced>(replay(*subject.text, *found)))
    return Refuted{*std::move(found)};
  return Unknown{"the solver claims slices that do not tile, which their ranges do not show"};
}

}  // namespace

Search<Witness> prove(const Subject& subject, smt::Session& session) {
  const ir::Program& program = *subject.text;
  std::map<Cut, std::uint32_t> first;
  std::vector<std::pair<Cut, std::uint32_t>> cuts;
  for (std::uint32_t s = 0; s < program.sliced.size(); ++s) {
    Cut cut = cut_of(program.sliced[s]);
    if (first.emplace(cut, s).second)
      cuts.emplace_back(std::move(cut), s);
    else
      ++session.repeated;
  }
  smt::Questions questions;
  questions.logic = smt::Logic::linear;
  questions.count = cuts.size();
  questions.expected = smt::Expected::impossible;
  questions.write = [&](std::size_t i, smt::Query& query) {
    write_untiled(cuts[i].first, query);
    return std::vector<smt::Term>{};
  };
  const smt::Replies replies = session.ask(questions);
  if (replies.other) {
    if (const auto* undecided = std::get_if<smt::Undecided>(&*replies.other))
      return Unknown{undecided->reason};
    return refuted(subject, untiled(program, cuts[replies.values.size() - 1].second));
  }
  if (auto found = mismatched(program)) return refuted(subject, std::move(found));
  return Proved<Witness>{};
}

}  // namespace spatialcert::proofs::slices
