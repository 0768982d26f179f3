// The text of a manifest: one JSON object of a format and a version, read strictly.
//
// What all manifests have in common: the file (perhaps compressed), format and version, which are
// looked at before anything else, trailing data, and refusals with file, line and path. The members
// are the reader's business.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ir/bytes_file.hpp"
#include "ir/io/json_reader.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose {

struct ManifestFormat {
  std::string_view what;  ///< e.g. `a composition (a JSON object)`
  std::string_view name;
  std::int64_t version = 1;
};

/// Reads the members of the object that begins at `at`, `format` and `version` (which are right)
/// included; may throw what JsonReader throws.
using ReadMembers =
    std::function<void(const ir::io::JsonReader& json, ir::io::Object root, const char* at)>;

/// Nothing if all of it was read. `file` only labels refusals.
[[nodiscard]] ir::Status read_manifest_text(std::string_view json, const std::string& file,
                                            const ManifestFormat& format, const ReadMembers& read);

/// Text that is not empty.
[[nodiscard]] std::string text_in(const ir::io::JsonReader& json, ir::io::Value& value);

}  // namespace spatialcert::compose
