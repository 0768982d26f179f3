// What an edit must leave alone: the runs of every engine program, and their order.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "certify/repair/edit.hpp"

namespace spatialcert::certify::repair {
namespace {

/// A run with the loops around it, as something to compare, and its section.
using Run = std::pair<std::string, std::vector<std::int64_t>>;

/// Per stage: is it an all-reduce in one of two programs that have the same stages?
std::vector<char> allreduces(const ir::Program& a, const ir::Program& b) {
  std::vector<char> out(a.stages.size(), 0);
  for (const ir::Program* program : {&a, &b}) {
    for (std::size_t s = 0; s < std::min(out.size(), program->stages.size()); ++s) {
      if (program->stages[s].kind == ir::StageKind::allreduce) out[s] = 1;
    }
  }
  return out;
}

std::vector<Run> runs_of(const ir::Program& program, const ir::EngineProgram& one,
                         const std::vector<char>& allreduce, const Freedom& freedom) {
  std::vector<Run> out;
  std::vector<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>> open;  // end: loop
  std::map<std::uint32_t, std::int64_t> loops;                                      // by section
  auto span = one.spans.begin();
  for (std::size_t i = 0; i < one.ops.size(); ++i) {
    while (span != one.spans.end() && span->end <= i) ++span;
    while (!open.empty() && open.back().first <= i) open.pop_back();
    const ir::Op& op = one.ops[i];
    if (op.code == ir::OpCode::repeat) {
      // A loop without a run in it does not count.
      const auto end = one.ops.begin() + static_cast<std::ptrdiff_t>(i + 1 + op.body);
      const bool runs = std::any_of(one.ops.begin() + static_cast<std::ptrdiff_t>(i), end,
                                    [](const ir::Op& o) { return o.code == ir::OpCode::run; });
      const bool known = span != one.spans.end() && span->section.valid();
      std::int64_t& number = loops[known ? span->section.value() : ~0U];
      open.push_back({i + 1 + op.body, {runs ? number++ : -1, op.count}});
    }
    if (op.code != ir::OpCode::run) continue;
    const ir::SectionId section = program.stages[op.object].section;
    auto& [name, run] = out.emplace_back();
    name = program.sections[section.value()].name;
    run.push_back(op.object);
    for (const auto& [end, loop] : open) {
      run.push_back(loop.first);
      run.push_back(loop.second);
    }
    const bool skip = freedom.operands && allreduce[op.object] != 0;
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      const ir::Access& access = program.accesses[a];
      if (skip && !access.write) continue;
      const ir::Region& r = access.region;
      run.insert(run.end(), {access.write ? 1 : 0, static_cast<std::int64_t>(r.kind), r.object,
                             r.page, r.bound[0], r.bound[1], r.bound[2], r.bound[3]});
      for (std::uint32_t t = r.first_term; t < r.first_term + r.terms; ++t) {
        const ir::AffineTerm& term = program.affine_terms[t];
        // A file does not have what counts for nothing.
        if (term.coefficient != 0)
          run.insert(run.end(), {term.bound, term.level, term.coefficient});
      }
    }
  }
  if (freedom.sections)
    std::stable_sort(out.begin(), out.end(),
                     [](const Run& a, const Run& b) { return a.first < b.first; });
  return out;
}

}  // namespace

bool same_runs(const ir::Program& before, const ir::Program& after, const Freedom& freedom) {
  if (before.programs.size() != after.programs.size() ||
      before.stages.size() != after.stages.size())
    return false;
  const std::vector<char> allreduce = allreduces(before, after);
  for (std::size_t p = 0; p < before.programs.size(); ++p) {
    if (runs_of(before, before.programs[p], allreduce, freedom) !=
        runs_of(after, after.programs[p], allreduce, freedom))
      return false;
  }
  return true;
}

}  // namespace spatialcert::certify::repair
