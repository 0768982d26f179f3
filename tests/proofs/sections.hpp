// Drafts of several sections: an engine's ops, part by part.
#pragma once

#include <string>
#include <vector>

#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {

/// What one engine does in every part of a program: section, boundary, section, ... and, if there
/// is one more part, the boundary after the last section.
struct EngineParts {
  std::string engine;
  std::vector<std::vector<std::string>> parts;  ///< ops outside loops, as in Draft::engine
};

/// Adds engines to `draft`, and sections `s0`, `s1`, ... Boundaries are closed where one engine at
/// least has ops in them, otherwise there is none. Stages belong to the section that runs them:
/// name them `s0_x`.
Draft& in_sections(Draft& draft, const std::vector<EngineParts>& engines);

}  // namespace spatialcert::tests
