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

constexpr const char* kWhat = "a program (a JSON object)";
// What a beginning is cut off in (a number, a word, a character) is shorter than this.
constexpr std::size_t kLongestCut = 4096;

// A text that does not even begin with an object.
Status refuse_start(std::string_view json, const std::string& file, std::string_view what) {
  const std::size_t at = first_visible(json);
  if (at < json.size() && json[at] == '{') return std::nullopt;
  const auto newlines =
      std::count(json.begin(), json.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return Refusal{file, 1 + static_cast<std::uint64_t>(newlines), "$", std::string(what),
                 io::token_at(json, at)};
}

// `json` must be followed by simdjson's padding.
Result<Program> parse_padded(std::string_view json, const std::string& file) {
  if (Status refused = refuse_start(json, file, kWhat)) return *std::move(refused);
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

Result<Program> parse_owned_program(std::string json, const std::string& file) {
  const std::size_t size = json.size();
  json.append(simdjson::SIMDJSON_PADDING, '\0');
  return parse_padded(std::string_view(json).substr(0, size), file);
}

Status look_at_json(std::string_view beginning, const std::string& file, std::string_view what) {
  if (first_visible(beginning) == beginning.size()) return std::nullopt;
  if (Status refused = refuse_start(beginning, file, what)) return refused;
  const auto fault = io::first_syntax_fault(beginning);
  const auto* syntax = std::get_if<SyntaxFault>(&fault);
  if (syntax == nullptr || syntax->offset + kLongestCut > beginning.size()) return std::nullopt;
  return syntax_refusal(*syntax, file);
}

Result<std::uint64_t> look_at_program(std::string_view beginning, const std::string& file) {
  if (Status refused = look_at_json(beginning, file, kWhat)) return *std::move(refused);
  return kMaximumInputBytes;
}

Result<Program> read_program(const std::string& path) {
  Result<std::string> bytes = read_bytes(path, kMaximumInputBytes, look_at_program);
  if (!bytes) return bytes.error();
  return parse_owned_program(*std::move(bytes), path);
}

}  // namespace spatialcert::ir
