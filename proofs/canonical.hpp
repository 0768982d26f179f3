// Questions up to names: what makes the classes of equal parts of a program cost one question.
//
// A query about a part of a program is written down as numbers that count within the part. Parts
// that are equal up to which sites, objects and ops they are have equal texts, so one answer does
// for all of them (DESIGN 8). Untrusted: the witnesses that rest on it are checked for every part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ir/digest.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs {

class CanonicalText {
 public:
  /// `kind`: one letter per kind of question.
  explicit CanonicalText(char kind) : text_(1, kind) {}

  void number(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U)
      text_.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    text_.push_back(static_cast<char>(value));
  }
  void signed_number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    number((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  [[nodiscard]] smt::QuestionKey key() const { return ir::sha256(text_); }

 private:
  std::string text_;
};

/// Was an equal question found impossible in this session? Counts it if so.
[[nodiscard]] inline bool known_impossible(smt::Session& session, const smt::QuestionKey& key) {
  if (!session.classes || !session.impossible.contains(key)) return false;
  ++session.repeated;
  return true;
}

/// Which of the questions have to be asked, in their order: the others equal one of those, or one
/// that was found impossible. Counts the others.
[[nodiscard]] inline std::vector<std::size_t> not_yet_asked(
    smt::Session& session, const std::vector<smt::QuestionKey>& keys) {
  std::vector<std::size_t> open;
  std::set<smt::QuestionKey> asked;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (known_impossible(session, keys[i])) continue;
    if (!session.classes || asked.insert(keys[i]).second) {
      open.push_back(i);
    } else {
      ++session.repeated;
    }
  }
  return open;
}

}  // namespace spatialcert::proofs
