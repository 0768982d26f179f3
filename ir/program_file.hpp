// Program files: `*.json` and `*.json.zst`, format `spatialcert-program`, version 1
// (docs/format.md).
//
// Reading parses with simdjson and then validates (ir/validate.hpp), so a program that was read is
// well-formed. Refused, never repaired: unknown and duplicate keys, trailing data, names that are
// not declared, numbers that are not integers or do not fit. Writing is canonical: equal programs
// give equal bytes, and read(write(p)) == p. The digest is the SHA-256 of those bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/digest.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir {

/// Reads a program from text. `file` only labels refusals.
[[nodiscard]] Result<Program> parse_program(std::string_view json, const std::string& file);

/// The same for a text that is given away: no second copy of it is made.
[[nodiscard]] Result<Program> parse_owned_program(std::string json, const std::string& file);

/// What is already wrong in the beginning of a text, of which the rest is not known, that should be
/// a JSON object, called `what` in the refusal.
[[nodiscard]] Status look_at_json(std::string_view beginning, const std::string& file,
                                  std::string_view what);
/// Look at the beginning of a program file (`FirstLook`).
[[nodiscard]] Result<std::uint64_t> look_at_program(std::string_view beginning,
                                                    const std::string& file);

/// Reads `path`, decompressing it if it is zstd (by content, whatever its name).
[[nodiscard]] Result<Program> read_program(const std::string& path);

/// The canonical serialisation, newline-terminated. Every op on a line of its own.
[[nodiscard]] std::string serialise(const Program& program);

/// Writes `serialise(program)` to `path`, compressed if the name ends in `.zst`. Writes a temporary
/// file, syncs and renames it, so that `path` holds the old content or the new one. Returns a
/// refusal that names the path if it could not be written.
[[nodiscard]] Status write_program(const Program& program, const std::string& path);

[[nodiscard]] Digest digest(const Program& program);
/// Of the target alone, as it stands in that serialisation: equal for all programs for one target.
[[nodiscard]] Digest target_digest(const Program& program);

}  // namespace spatialcert::ir
