// What views say in words, beside the text of a counterexample. Private to the reports.
#pragma once

#include <string>
#include <string_view>

#include "certify/report.hpp"

namespace spatialcert::certify::views {

/// What the rule states of a program, as one sentence.
[[nodiscard]] std::string_view statement_of(proofs::Rule rule);
/// What it means that it was refuted, and where to look: a few sentences.
[[nodiscard]] std::string_view help_of(proofs::Rule rule);

/// The first line of a counterexample's text: what is wrong, in one line.
[[nodiscard]] std::string headline(const ir::Program& program,
                                   const proofs::Counterexample& counterexample);

/// `the schedule`, `schedule 2 of 2`.
[[nodiscard]] std::string schedule_title(const proofs::Counterexample& counterexample,
                                         std::size_t number);

/// `text` for HTML, between tags or in quoted attributes, after `legible`.
[[nodiscard]] std::string escaped(std::string_view text);

/// `text` for XML 1.0: control characters that it cannot hold become their pictures (U+2400 and
/// on), what is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string legible(std::string_view text);

/// A whole JSON document as a value inside another: its lines moved to the right by `blanks`, but
/// the first, and without the last newline.
[[nodiscard]] std::string moved_right(const std::string& document, std::size_t blanks);

}  // namespace spatialcert::certify::views
