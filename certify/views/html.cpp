// The page of a run. What it is made of stands in certify/views/page_parts.hpp.
#include <algorithm>
#include <variant>

#include "certify/views/page_parts.hpp"
#include "certify/views/view.hpp"

namespace spatialcert::certify::views {
namespace {

/// Steps that a page has in all, shared among its schedules; a few hundred of each at least.
constexpr std::size_t kStepsOfPage = 6'000;
constexpr std::size_t kFewestSteps = 500;

std::size_t schedules_of(const Run& run) {
  std::size_t schedules = 0;
  for (const Entry& entry : run.entries) {
    const auto* judged = std::get_if<Judged>(&entry.outcome);
    if (judged == nullptr) continue;
    for (const RuleReport& rule : judged->report.rules) {
      if (rule.counterexample) schedules += rule.counterexample->schedules.size();
    }
  }
  return schedules;
}

PagePart part_of(const Entry& entry, std::size_t most_steps) {
  const std::string& file = entry.provenance.file;
  if (const auto* refusal = std::get_if<ir::Refusal>(&entry.outcome)) {
    return message_part(file, "refused", refusal->message());
  }
  if (const auto* fault = std::get_if<Fault>(&entry.outcome)) {
    return message_part(file, "fault", fault->what);
  }
  const auto& judged = std::get<Judged>(entry.outcome);
  return program_part(judged.program, judged.report, entry.provenance, most_steps);
}

}  // namespace

std::string html_view(const Run& run, const Options& options) {
  const std::size_t share = kStepsOfPage / std::max<std::size_t>(1, schedules_of(run));
  const std::size_t steps =
      std::min<std::size_t>(options.most_steps, std::max(kFewestSteps, share));
  std::vector<PagePart> parts;
  parts.reserve(run.entries.size());
  for (const Entry& entry : run.entries) parts.push_back(part_of(entry, steps));
  return page_of(parts);
}

}  // namespace spatialcert::certify::views
