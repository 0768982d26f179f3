// Where forgeries are tried: every one is denied, or true after all.
//
// Truth is what the exhaustive oracle says: a certificate that `recheck` accepts must be about a
// program of the class that fails in no schedule, and every place that it gives must hold in all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proofs/recheck/recheck.hpp"
#include "tests/oracle/findings.hpp"

namespace spatialcert::tests {

/// All that can happen to one program. Plays it when it is first asked.
class Oracle {
 public:
  /// `wraps`: iterations over which places of a persistent program are looked at.
  explicit Oracle(const ir::Program& program, std::uint32_t wraps = kWraps);

  [[nodiscard]] bool complete();
  /// What is wrong with the program; empty if nothing.
  [[nodiscard]] std::string fault();
  /// A place (of one iteration) that some schedule does not respect; empty if all hold.
  [[nodiscard]] std::string untrue(const std::vector<ir::Place>& places);

 private:
  void play();

  ir::Program program_;
  std::uint32_t wraps_;
  ir::Unrolled one_, many_;
  std::vector<ir::TokenGame> games_;
  std::vector<Exploration> explored_;
  std::optional<Findings> findings_;
};

class Court {
 public:
  /// Forgeries that follow are about this program.
  void open(const ir::Program& program);
  /// `how`: the kind of forgery, for the statistics.
  void judge(const proofs::Certificate& claim, const std::string& how);
  void judge_bytes(const std::string& bytes, const std::string& how);

  [[nodiscard]] bool in_order() const { return failures_ == 0; }
  [[nodiscard]] std::string text() const;

  std::uint64_t forgeries = 0;
  std::uint64_t accepted = 0;     ///< true after all
  std::uint64_t about_false = 0;  ///< about programs that do fail
  std::uint64_t unencodable = 0;  ///< handed over as they are, because no bytes say them
  std::uint64_t too_large = 0;    ///< accepted, but beyond the oracle
  std::map<std::string, std::uint64_t> denials, reasons, unreadable, kinds, accepted_kinds;

 private:
  void decide(const proofs::Certificate& claim, const std::string& how);
  void note(const proofs::Outcome& outcome);

  const ir::Program* program_ = nullptr;
  std::unique_ptr<Oracle> oracle_;
  bool false_ = false;
  int failures_ = 0;
};

/// Everything in the order of its enumerators.
[[nodiscard]] std::vector<std::string> all_denials();
[[nodiscard]] std::vector<std::string> all_reasons();

}  // namespace spatialcert::tests
