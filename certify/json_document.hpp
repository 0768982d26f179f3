// Reads a small JSON document strictly. Private to this library.
//
// What a reader of members throws (JsonReader) becomes a refusal with file, line and path.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ir/io/json_reader.hpp"
#include "ir/io/locate.hpp"
#include "ir/result.hpp"

namespace spatialcert::certify {

/// Runs `read(text, root)`, which returns a T, over the root of `json`. `what` is what the document
/// should have been, e.g. `a counterexample`. Broken syntax is refused before anything is read.
template <typename T, typename Read>
ir::Result<T> read_json_document(std::string_view json, const std::string& file, const char* what,
                                 Read read) {
  std::string padded(json);
  padded.append(simdjson::SIMDJSON_PADDING, '\0');
  const std::string_view text = std::string_view(padded).substr(0, json.size());
  const auto refusal = [&](const ir::io::SyntaxFault& fault) {
    return ir::Refusal{file, fault.place.line, fault.place.path, fault.expected, fault.found};
  };
  const auto broken = ir::io::first_syntax_fault(text);
  if (const auto* fault = std::get_if<ir::io::SyntaxFault>(&broken)) return refusal(*fault);
  try {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    ir::io::JsonReader::check(parser.iterate(text, padded.size()).get(document));
    ir::io::Value root;
    ir::io::JsonReader::check(document.get_value().get(root));
    return read(text, root);
  } catch (const ir::io::RefusedAt& refused) {
    const auto where = ir::io::place_at(text, static_cast<std::size_t>(refused.at - text.data()));
    if (const auto* fault = std::get_if<ir::io::SyntaxFault>(&where)) return refusal(*fault);
    const auto& place = std::get<ir::io::Place>(where);
    return ir::Refusal{file, place.line, place.path, refused.expected, refused.found};
  } catch (const ir::io::BrokenText& text_fault) {
    return ir::Refusal{file, 0, "$", what, simdjson::error_message(text_fault.error)};
  }
}

}  // namespace spatialcert::certify
