// One round of a program: an iteration of a persistent one, a token of one that is run once.
// Trusted.
//
// There is a schedule that performs round after round if no op needs what a later round supplies;
// and every round is then the same function of the contents that it finds in tensors and memory,
// if no page of a FIFO is written in one round and read in another. Pages of a FIFO are numbered
// since the start; a round has as many as it pushes, and pops as many, so those of later rounds are
// the same with other numbers. What does not fit this is named, and nothing is shown of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::proofs::shard {

class Round {
 public:
  /// The transitions of one iteration, in an order in which they can be performed.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  [[nodiscard]] const ir::Unrolled& unrolled() const { return subject_->one; }
  [[nodiscard]] const ir::AccessMap& accesses() const { return own_ ? *own_ : subject_->accesses; }
  /// Per segment: do its contents live on to the next round?
  [[nodiscard]] const std::vector<char>& kept() const { return kept_; }

 private:
  friend std::variant<Round, std::string> round_of(const Subject& subject);
  const Subject* subject_ = nullptr;
  std::vector<std::uint32_t> order_;
  std::optional<ir::AccessMap> own_;
  std::vector<char> kept_;
};

/// `subject` must outlive the round. A sentence if there is none.
[[nodiscard]] std::variant<Round, std::string> round_of(const Subject& subject);

}  // namespace spatialcert::proofs::shard
