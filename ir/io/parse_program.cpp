// The reader's front door: text in, validated program or refusal out.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ir/bytes_file.hpp"
#include "ir/io/locate.hpp"
#include "ir/io/program_reader.hpp"
#include "ir/program_file.hpp"
#include "ir/validate.hpp"

namespace spatialcert::ir {
namespace {

using io::Place;
using io::SyntaxFault;

Refusal syntax_refusal(const SyntaxFault& fault, const std::string& file) {
  return {file, fault.place.line, fault.place.path, fault.expected, fault.found};
}

Refusal refusal_of(const io::BrokenText& broken, std::string_view json, const std::string& file) {
  const auto fault = io::first_syntax_fault(json);
  if (const auto* syntax = std::get_if<SyntaxFault>(&fault)) return syntax_refusal(*syntax, file);
  return {file, 0, "$", "JSON that can be parsed", simdjson::error_message(broken.error)};
}

Refusal refusal_of(const io::RefusedAt& refused, std::string_view json, const std::string& file) {
  const auto where = io::place_at(json, static_cast<std::size_t>(refused.at - json.data()));
  // What looked wrong here may be a consequence of broken syntax.
  if (const auto* syntax = std::get_if<SyntaxFault>(&where)) return syntax_refusal(*syntax, file);
  const auto& place = std::get<Place>(where);
  return {file, place.line, place.path, refused.expected, refused.found};
}

// Validation numbers engine programs as the model sorts them; the user's file may have another
// order.
std::string path_in_file(const std::string& path, const std::vector<std::uint32_t>& position) {
  constexpr std::string_view kPrograms = "$.programs[";
  if (path.compare(0, kPrograms.size(), kPrograms) != 0) return path;
  const std::size_t end = path.find(']', kPrograms.size());
  const std::size_t number = std::stoull(path.substr(kPrograms.size(), end - kPrograms.size()));
  if (number >= position.size()) return path;
  return fmt::format("{}{}{}", kPrograms, position[number], path.substr(end));
}

// `json` must be followed by simdjson's padding.
Result<Program> parse_padded(std::string_view json, const std::string& file) {
  const std::size_t start = json.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || json[start] != '{') {
    const std::size_t at = start == std::string_view::npos ? json.size() : start;
    const auto newlines =
        std::count(json.begin(), json.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return Refusal{file, 1 + static_cast<std::uint64_t>(newlines), "$", "a program (a JSON object)",
                   io::token_at(json, at)};
  }
  try {
    io::ProgramReader reader(json);
    {
      simdjson::ondemand::parser parser;
      simdjson::ondemand::document document;
      io::JsonReader::check(
          parser.iterate(json, json.size() + simdjson::SIMDJSON_PADDING).get(document));
      reader.read(document);
    }
    if (Status refused = validate(reader.program())) {
      refused->file = file;
      refused->path = path_in_file(refused->path, reader.file_position());
      refused->line = io::line_of(json, refused->path);
      return std::move(*refused);
    }
    return std::move(reader.program());
  } catch (const io::RefusedAt& refused) {
    return refusal_of(refused, json, file);
  } catch (const io::BrokenText& broken) {
    return refusal_of(broken, json, file);
  } catch (const std::bad_alloc&) {
    return Refusal{file, 0, "$", "a program that fits into memory", "too large a one"};
  }
}

}  // namespace

Result<Program> parse_program(std::string_view json, const std::string& file) {
  if (json.size() > kMaximumInputBytes) {
    return Refusal{file, 0, "$", fmt::format("at most {} bytes", kMaximumInputBytes),
                   fmt::format("{} bytes", json.size())};
  }
  std::string padded;
  padded.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  padded = json;
  padded.append(simdjson::SIMDJSON_PADDING, '\0');
  return parse_padded(std::string_view(padded).substr(0, json.size()), file);
}

Result<Program> read_program(const std::string& path) {
  Result<std::string> bytes = read_bytes(path);
  if (!bytes) return bytes.error();
  const std::size_t size = bytes->size();
  bytes.value().append(simdjson::SIMDJSON_PADDING, '\0');
  return parse_padded(std::string_view(*bytes).substr(0, size), path);
}

Status write_program(const Program& program, const std::string& path) {
  return write_bytes(path, serialise(program));
}

}  // namespace spatialcert::ir
