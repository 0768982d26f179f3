// Options of every command that reads foreign files, and how programs are loaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/import/msccl.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace CLI {
class App;
}

namespace spatialcert::command {

/// Which programs of a file with several are meant.
struct ImportOptions {
  bool any_size = false;
  std::string bytes;
  std::string transfers;
  std::string placement;
  std::string runtime = "msccl";

  /// What the importer wants to know. Throws UsageError for a size that is none.
  [[nodiscard]] ir::MscclOptions msccl() const;
};
/// Adds --any-size, --bytes, --transfers, --placement and --runtime.
void add_import_options(CLI::App& app, ImportOptions& options);

/// `8388608`, `8192KiB`, `8 MiB`, `1GiB`: a positive number of bytes.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

struct LoadedProgram {
  ir::Program program;
  std::string variant;  ///< of a foreign file; otherwise empty
  ir::MscclPlacement placement = ir::MscclPlacement::out_of_place;
  ir::MscclTransfers transfers;
};

struct LoadedFile {
  std::string path;
  std::vector<LoadedProgram> programs;  ///< one; several for foreign files with variants
  /// Of foreign files: what they say of themselves, and their text, from which other variants are
  /// made.
  std::optional<ir::MscclSummary> foreign;
  std::string text;
};

/// Reads a program or imports a foreign file, whichever the content is.
[[nodiscard]] ir::Result<LoadedFile> load(const std::string& path, const ir::MscclOptions& options);

/// `name` with everything that is awkward in a file name replaced.
[[nodiscard]] std::string file_name_of(std::string_view name);
/// `base`, with a number if it is in `used` already; adds it there.
[[nodiscard]] std::string unused_name(std::map<std::string, int>& used, const std::string& base);

}  // namespace spatialcert::command
