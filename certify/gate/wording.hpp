// What the reports of a comparison have in common. Private to certify/gate/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "certify/gate/comparison.hpp"

namespace spatialcert::certify::gate {

/// Is it something to look at, whether excused or not?
[[nodiscard]] bool is_bad(Change change);
/// `refuted by ordering; was certified`, `lost; was refuted by memory`.
[[nodiscard]] std::string entry_text(const Comparison& comparison, const Entry& entry);
/// `flow undecided (why)`, and what excuses it, if something does.
[[nodiscard]] std::string open_text(const Comparison& comparison, const Entry& entry,
                                    const OpenRule& open);
/// `excused until 2026-12-31: why`.
[[nodiscard]] std::string exception_text(const Exception& exception);
/// `baseline certificate of attention: another program: ...`, one per certificate that was there
/// and does not count.
[[nodiscard]] std::vector<std::string> discarded_certificates(const Comparison& comparison);
/// `taken from certificates: 998; certified anew: 2`.
[[nodiscard]] std::string evidence_text(const Comparison& comparison);

/// One figure on either side; nothing where the program, or the space, is not there.
struct CostCell {
  std::optional<std::uint64_t> before, after;
};
struct CostRow {
  std::string name;
  std::vector<CostCell> cells;  ///< one per column
};
/// Programs whose costs changed, by name, and the totals over programs that are on both sides:
/// sums, of memory the largest.
struct CostTable {
  std::vector<std::string> columns;  ///< `ops`, ..., `memory sram`
  std::vector<CostRow> rows;
  CostRow total;
  std::size_t unchanged = 0;  ///< programs on both sides
  std::size_t both = 0;
};
[[nodiscard]] CostTable cost_table(const Comparison& comparison);
/// `120`, `100 -> 120 (+20.0 %)`, `-> 120`, `100 ->`.
[[nodiscard]] std::string cell_text(const CostCell& cell);

}  // namespace spatialcert::certify::gate
