#include "tests/proofs/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace spatialcert::tests {
namespace {

/// Ranges of part `part`, as the members of a section or boundary have them.
std::string ranges(const std::vector<EngineParts>& engines, std::size_t part) {
  std::string out;
  for (const EngineParts& e : engines) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < part && i < e.parts.size(); ++i) begin += e.parts[i].size();
    const std::size_t size = part < e.parts.size() ? e.parts[part].size() : 0;
    if (size == 0) continue;
    const std::size_t colon = e.engine.find(':');
    const bool placed = colon != std::string::npos;
    out += fmt::format(R"({}{{"site": [{}, 0, 0], "engine": "{}", "range": [{}, {}]}})",
                       out.empty() ? "" : ", ", placed ? e.engine.substr(0, colon) : "0",
                       placed ? e.engine.substr(colon + 1) : e.engine, begin, begin + size);
  }
  return out;
}

}  // namespace

Draft& in_sections(Draft& draft, const std::vector<EngineParts>& engines) {
  std::size_t parts = 0;
  for (const EngineParts& e : engines) parts = std::max(parts, e.parts.size());
  std::string sections, boundaries;
  std::set<std::string> stages;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::string ops = ranges(engines, part);
    if (part % 2 == 0) {
      sections += fmt::format(R"({}{{"name": "s{}", "ops": [{}]}})", sections.empty() ? "" : ", ",
                              part / 2, ops);
    } else if (!ops.empty()) {
      boundaries += fmt::format(R"({}{{"after": "s{}", "closed": true, "ops": [{}]}})",
                                boundaries.empty() ? "" : ", ", part / 2, ops);
    }
  }
  for (const EngineParts& e : engines) {
    std::vector<std::string> all;
    for (const auto& ops : e.parts) {
      for (const std::string& op : ops) {
        all.push_back(op);
        if (!op.starts_with("run ")) continue;
        const std::string name = op.substr(4, op.find(' ', 4) - 4);
        if (stages.insert(name).second)
          draft.stage(name, "copy",
                      fmt::format(R"("section": "{}")", name.substr(0, name.find('_'))));
      }
    }
    draft.engine(e.engine, all);
  }
  draft.member("sections", "[" + sections + "]");
  return draft.member("boundaries", "[" + boundaries + "]");
}

}  // namespace spatialcert::tests
