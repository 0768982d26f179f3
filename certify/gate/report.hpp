// Reports of a comparison: as text, as JSON (docs/gate.md, docs/gate.schema.json), and as Markdown
// for a pull request. Pure formatting; equal comparisons give equal bytes, and nothing in them
// depends on time or threads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "certify/gate/comparison.hpp"

namespace spatialcert::certify::gate {

/// What was compared, as the user gave it.
struct Folders {
  std::string baseline, candidate;
};

/// `passed: 12 programs held`, or `failed: 1 newly refuted, 2 lost, ...`.
[[nodiscard]] std::string headline(const Comparison& comparison);

[[nodiscard]] std::string gate_text(const Comparison& comparison, const Folders& folders);
/// Format `spatialcert-gate`, version 1.
[[nodiscard]] std::string gate_json(const Comparison& comparison, const Folders& folders);

/// GitHub takes comments of up to 65,536 characters.
inline constexpr std::size_t kMostMarkdownBytes = 65'000;
/// At most kMostMarkdownBytes; what is left out is said. What got worse comes first.
[[nodiscard]] std::string gate_markdown(const Comparison& comparison, const Folders& folders);

}  // namespace spatialcert::certify::gate
