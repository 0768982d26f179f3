#include <fmt/format.h>

#include <algorithm>

#include "certify/gate/report.hpp"
#include "certify/gate/wording.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::gate {
namespace {

/// Of one counterexample: more is in the other reports.
constexpr std::size_t kMostTextBytes = 4'000;
constexpr std::size_t kMostCellBytes = 400;
/// Kept for what says how much was left out.
constexpr std::size_t kReserve = 1'500;

/// `text` up to `most` bytes, ending with a whole character.
std::string cut(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(1, ir::io::character_bytes(text));
    if (out.size() + bytes > most) return out + " [...]";
    // What is no UTF-8, and what would end a line or a fence, is nobody's to interpret.
    const bool broken = ir::io::character_bytes(text) == 0;
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = (first < 0x20 && first != '\n') || first == 0x7f;
    out += broken || control ? std::string("?") : std::string(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

/// Plain text inside of Markdown, or of HTML in it: as it is, on one line.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : cut(text, kMostCellBytes)) {
    switch (c) {
      case '\n':
        out += ' ';
        break;
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '|':
        out += "&#124;";
        break;
      case '@':  // would call people
        out += "&#64;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '~':
        out += fmt::format("&#{};", static_cast<int>(c));
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// A block of code that nothing in `text` can end.
std::string fenced(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  std::string out = fmt::format("{}text\n{}", fence, text);
  if (!out.ends_with('\n')) out += '\n';
  return out + fence + "\n";
}

/// Puts together what fits.
class Page {
 public:
  explicit Page(std::string start) : out_(std::move(start)) {}

  /// `head`, then as many of `parts` as fit, then `tail`, then how many were left out. Parts are
  /// written for it.
  void add(std::string_view head, const std::vector<std::string>& parts, std::string_view tail,
           std::string_view what) {
    if (parts.empty()) return;
    if (!fits(head.size() + tail.size() + parts.front().size())) {
      left_out(parts.size(), what);
      return;
    }
    out_ += head;
    std::size_t written = 0;
    for (; written < parts.size(); ++written) {
      if (!fits(parts[written].size() + tail.size())) break;
      out_ += parts[written];
    }
    out_ += tail;
    if (written < parts.size()) left_out(parts.size() - written, what);
  }
  [[nodiscard]] std::string take() && { return std::move(out_); }

 private:
  [[nodiscard]] bool fits(std::size_t bytes) const {
    return out_.size() + bytes + kReserve <= kMostMarkdownBytes;
  }
  void left_out(std::size_t count, std::string_view what) {
    out_ += fmt::format("\n{} more {} left out here: too long for a comment.\n", count, what);
  }

  std::string out_;
};

std::vector<std::string> bad_rows(const Comparison& comparison) {
  std::vector<std::string> rows;
  for (const Entry& entry : comparison.entries) {
    if (!is_bad(entry.change)) continue;
    rows.push_back(fmt::format("| {} | {}{} | {} |\n", plain(comparison.pairs[entry.pair].name),
                               to_string(entry.change), entry.excused ? ", excused" : "",
                               plain(entry_text(comparison, entry))));
  }
  return rows;
}

std::vector<std::string> violation_rows(const Comparison& comparison) {
  std::vector<std::string> rows;
  for (const Violation& violation : comparison.violations)
    rows.push_back(fmt::format("- **{}**: {}\n", to_string(violation.kind), plain(violation.text)));
  for (const ir::Refusal& refusal : comparison.refusals)
    rows.push_back(fmt::format("- **unreadable**: {}\n", plain(refusal.message())));
  for (const std::string& fault : comparison.faults)
    rows.push_back(fmt::format("- **fault of spatialcert's own**: {}\n", plain(fault)));
  return rows;
}

std::vector<std::string> details(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const Entry& entry : comparison.entries) {
    const Pair& pair = comparison.pairs[entry.pair];
    for (const OpenRule& open : entry.open) {
      const RuleState& state = pair.candidate->rules[open.state];
      std::string text = open_text(comparison, entry, open) + "\n";
      if (!state.text.empty()) text += "\n" + state.text;
      out.push_back(fmt::format("\n<details><summary>{}: {} {}</summary>\n\n{}\n</details>\n",
                                plain(pair.name), proofs::to_string(state.rule),
                                to_string(state.verdict), fenced(cut(text, kMostTextBytes))));
    }
  }
  return out;
}

std::vector<std::string> listed(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const Entry& entry : comparison.entries) {
    if (entry.change != Change::fixed && entry.change != Change::added) continue;
    out.push_back(fmt::format("- {}: {}\n", plain(comparison.pairs[entry.pair].name),
                              plain(entry_text(comparison, entry))));
  }
  return out;
}

std::string row_text(const CostRow& row) {
  std::string text = fmt::format("| {} |", plain(row.name));
  for (const CostCell& cell : row.cells) text += fmt::format(" {} |", plain(cell_text(cell)));
  return text + "\n";
}

void add_costs(const Comparison& comparison, Page& page) {
  const CostTable table = cost_table(comparison);
  std::string head = "\n### Costs\n\n| program |";
  std::string line = "|---|";
  for (const std::string& column : table.columns) {
    head += fmt::format(" {} |", plain(column));
    line += "---:|";
  }
  std::vector<std::string> rows;
  if (!table.rows.empty()) rows.push_back(row_text(table.total));
  for (const CostRow& row : table.rows) rows.push_back(row_text(row));
  page.add(head + "\n" + line + "\n", rows,
           fmt::format("\n{} more as before. Totals are sums, of memory the largest.\n",
                       table.unchanged),
           "rows of costs");
}

}  // namespace

std::string gate_markdown(const Comparison& comparison, const Folders& folders) {
  Page page(fmt::format(
      "## spatialcert gate {}\n\nBaseline {} ({} programs), candidate {} ({} "
      "programs); {}.\n",
      headline(comparison), plain(folders.baseline), comparison.totals.baseline,
      plain(folders.candidate), comparison.totals.candidate, evidence_text(comparison)));
  page.add("\n| program | change | |\n|---|---|---|\n", bad_rows(comparison), "", "programs");
  page.add("\n### Policy and input\n\n", violation_rows(comparison), "", "violations");
  page.add("", details(comparison), "", "details");
  add_costs(comparison, page);
  page.add("\n<details><summary>Fixed and new programs</summary>\n\n", listed(comparison),
           "\n</details>\n", "fixed or new programs");
  std::vector<std::string> discarded;
  for (const std::string& why : discarded_certificates(comparison))
    discarded.push_back(fmt::format("- {}\n", plain(why)));
  page.add("\n<details><summary>Certificates that do not count</summary>\n\n", discarded,
           "\n</details>\n", "certificates");
  return std::move(page).take();
}

}  // namespace spatialcert::certify::gate
