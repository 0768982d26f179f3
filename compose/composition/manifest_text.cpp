#include "compose/composition/manifest_text.hpp"

#include <fmt/format.h>

#include <variant>

#include "ir/io/locate.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::compose {
namespace {

namespace io = ir::io;

io::Value required(io::Object& root, const char* root_at, std::string_view key) {
  io::Value value;
  const simdjson::error_code error = root.find_field_unordered(key).get(value);
  if (error == simdjson::NO_SUCH_FIELD) io::JsonReader::refuse_missing(root_at, key);
  io::JsonReader::check(error);
  return value;
}

// The version decides what every other member means.
void check_format(const io::JsonReader& json, simdjson::ondemand::document& document,
                  const char* root_at, const ManifestFormat& wanted) {
  io::Object root;
  io::JsonReader::check(document.get_object().get(root));
  io::Value format = required(root, root_at, "format");
  const char* const format_at = io::JsonReader::start(format);
  if (json.string(format) != wanted.name)
    json.refuse(format_at, fmt::format("\"{}\"", wanted.name));
  io::Value version = required(root, root_at, "version");
  const char* const version_at = io::JsonReader::start(version);
  std::int64_t number = 0;
  if (version.get_int64().get(number) != simdjson::SUCCESS || number != wanted.version) {
    json.refuse(version_at, fmt::format("version {} (the only one supported)", wanted.version));
  }
}

void read_document(std::string_view text, simdjson::ondemand::document& document,
                   const ManifestFormat& format, const ReadMembers& read) {
  const io::JsonReader json(text);
  std::string_view first_token;
  io::JsonReader::check(document.raw_json_token().get(first_token));
  check_format(json, document, first_token.data(), format);
  document.rewind();
  io::Object root;
  io::JsonReader::check(document.get_object().get(root));
  read(json, root, first_token.data());
  // Out of bounds is where a document ends that has been read whole.
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    throw io::BrokenText{simdjson::TRAILING_CONTENT};
}

ir::Refusal refusal_of(const io::SyntaxFault& fault, const std::string& file) {
  return {file, fault.place.line, fault.place.path, fault.expected, fault.found};
}

// What looks wrong at a place may be a consequence of broken syntax before it.
ir::Refusal refusal_of(const io::RefusedAt& refused, std::string_view json,
                       const std::string& file) {
  const auto where = io::place_at(json, static_cast<std::size_t>(refused.at - json.data()));
  if (const auto* syntax = std::get_if<io::SyntaxFault>(&where)) return refusal_of(*syntax, file);
  const auto& place = std::get<io::Place>(where);
  return {file, place.line, place.path, refused.expected, refused.found};
}

ir::Refusal refusal_of(const io::BrokenText& broken, std::string_view json,
                       const std::string& file) {
  const auto fault = io::first_syntax_fault(json);
  if (const auto* syntax = std::get_if<io::SyntaxFault>(&fault)) return refusal_of(*syntax, file);
  return {file, 0, "$", "JSON that can be parsed", simdjson::error_message(broken.error)};
}

}  // namespace

ir::Status read_manifest_text(std::string_view json, const std::string& file,
                              const ManifestFormat& format, const ReadMembers& read) {
  if (ir::Status refused = ir::look_at_json(json, file, format.what)) return refused;
  const simdjson::padded_string padded(json);
  const std::string_view text(padded.data(), json.size());
  try {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    io::JsonReader::check(parser.iterate(padded).get(document));
    read_document(text, document, format, read);
    return std::nullopt;
  } catch (const io::RefusedAt& refused) {
    return refusal_of(refused, text, file);
  } catch (const io::BrokenText& broken) {
    return refusal_of(broken, text, file);
  }
}

std::string text_in(const io::JsonReader& json, io::Value& value) {
  const char* const at = io::JsonReader::start(value);
  std::string result(json.string(value));
  if (result.empty()) json.refuse(at, "text that is not empty");
  return result;
}

}  // namespace spatialcert::compose
