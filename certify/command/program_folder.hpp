// The program files of a folder: what `gate` compares.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/result.hpp"

namespace spatialcert::command {

struct ProgramFolder {
  /// By name: the path below the folder, with `/`, without `.json` or `.json.zst`. What is no file
  /// that can be read, and a name that two files have, is a refusal.
  std::map<std::string, std::variant<std::string, ir::Refusal>> programs;
  /// Folders that could not be read, so that programs may be missing.
  std::vector<ir::Refusal> refusals;
};

/// Looks for *.json and *.json.zst below `path`, links followed. Nothing is skipped but files of
/// other names: a folder that is reached a second time (a loop of links, or two ways to one folder)
/// is refused, as one program would have several names.
[[nodiscard]] ProgramFolder find_programs(const std::string& path);

}  // namespace spatialcert::command
