// Graphviz: the part of the net that matters.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "certify/views/net_part.hpp"
#include "certify/views/text.hpp"
#include "certify/views/view.hpp"

namespace spatialcert::certify::views {
namespace {

/// A quoted string: Graphviz knows escapes for quotes, backslashes and line ends.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : legible(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Fill of a marked op. Shapes and words say the same, for those who see no colours.
const char* colour_of(Role role) {
  switch (role) {
    case Role::waiter:
    case Role::fault:
      return "#f4b6b6";
    case Role::supplier:
      return "#fde3b0";
    case Role::access:
    case Role::op:
      return "#b9d6f2";
    case Role::use:
    case Role::object:
      break;
  }
  return "#e2d4f0";
}

class Writer {
 public:
  Writer(const ir::Program& program, const proofs::Counterexample& c, const Options& options)
      : program_(program), c_(c), names_(program, c.iterations), one_(program, 1) {
    unrolled_ = can_unroll(program, c);
    marks_ = marks_of(names_, c, unrolled_);
    if (!unrolled_) return;
    part_ = net_part(one_, names_, marks_, options);
    for (const Mark& mark : marks_) {
      if (!mark.transition.valid()) continue;
      marked_[in_one_iteration(one_, names_, mark.transition)].push_back(&mark);
    }
  }

  std::string write() {
    text_ = fmt::format("digraph {} {{\n", quoted(program_.name));
    std::string title = fmt::format("{}: {}\n", program_.name, headline(program_, c_));
    for (const std::string& note : part_.notes) title += note + '\n';
    if (!unrolled_) title += "the program has too many op instances to show any\n";
    text_ += fmt::format("  graph [label={}, labelloc=t, rankdir=TB, fontname=\"sans-serif\"];\n",
                         quoted(title));
    text_ += "  node [shape=box, fontname=\"monospace\", fontsize=10];\n";
    text_ += "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    write_objects();
    if (unrolled_) {
      write_programs();
      write_handoffs();
      write_chain();
      write_pair();
    }
    return text_ + "}\n";
  }

 private:
  void write_objects() {
    std::size_t number = 0;
    for (const Mark& mark : marks_) {
      if (mark.transition.valid()) continue;
      std::string label = fmt::format("{}\n{}\n{}", mark.name, mark.place, mark.what);
      const std::string source = source_text(program_, mark.location);
      if (!source.empty()) label += '\n' + source;
      text_ += fmt::format("  b{} [shape=box3d, style=filled, fillcolor=\"{}\", label={}];\n",
                           number++, colour_of(mark.role), quoted(label));
    }
    if (number == 2) {
      text_ += fmt::format("  b0 -> b1 [dir=both, color=\"#c00000\", label={}];\n",
                           quoted(proofs::to_string(c_.kind)));
    }
  }

  void write_programs() {
    for (std::size_t i = 0; i < part_.shown.size();) {
      const std::uint32_t p = one_.unrolled().program[part_.shown[i]];
      text_ += fmt::format("  subgraph cluster_{} {{\n    label={};\n", p,
                           quoted(engine_text(program_, ir::ProgramId(p))));
      const std::size_t first = i;
      for (; i < part_.shown.size() && one_.unrolled().program[part_.shown[i]] == p; ++i) {
        write_op(part_.shown[i]);
      }
      for (std::size_t k = first + 1; k < i; ++k) {
        write_order(part_.shown[k - 1], part_.shown[k]);
      }
      text_ += "  }\n";
    }
  }

  void write_op(std::uint32_t number) {
    const ir::TransitionId t(number);
    std::string label = one_.op(t);
    label += '\n' + part_text(program_, one_.program_of(t), one_.unrolled().op[number]);
    const std::string source = source_text(program_, location_of(one_, t));
    if (!source.empty()) label += '\n' + source;
    const auto marks = marked_.find(number);
    if (marks != marked_.end()) {
      for (const Mark* mark : marks->second) label += '\n' + mark->what;
    }
    text_ += fmt::format("    t{} [label={}", number, quoted(label));
    if (marks != marked_.end()) {
      text_ += fmt::format(", style=\"filled,bold\", fillcolor=\"{}\"",
                           colour_of(marks->second.front()->role));
    }
    text_ += "];\n";
  }

  void write_order(std::uint32_t from, std::uint32_t to) {
    text_ += fmt::format("    t{} -> t{} [weight=10", from, to);
    if (to - from > 1) {
      text_ += fmt::format(
          ", style=dashed, label={}",
          quoted(count_text(static_cast<std::int64_t>(to - from - 1), "op") + " between"));
    }
    text_ += "];\n";
  }

  void write_handoffs() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> in_chain;
    for (const proofs::WaitLink& link : c_.chain) {
      if (link.supplier.valid()) in_chain.insert(ends_of(link));
    }
    for (const std::uint32_t i : part_.places) {
      const ir::Place& place = part_.net.places[i];
      const auto ends = std::pair(place.from.value(), place.to.value());
      const bool red = in_chain.contains(ends);
      drawn_.insert(ends);
      text_ += fmt::format("  t{} -> t{} [label={}, color=\"{}\"{}{}];\n", ends.first, ends.second,
                           quoted(place_text(one_, place)), red ? "#c00000" : "#2a6f97",
                           red ? ", penwidth=2" : "", place.credit ? ", style=dotted" : "");
    }
  }

  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> ends_of(
      const proofs::WaitLink& link) const {
    return {in_one_iteration(one_, names_, link.supplier),
            in_one_iteration(one_, names_, link.waiter)};
  }

  [[nodiscard]] bool shown(std::uint32_t t) const {
    return std::binary_search(part_.shown.begin(), part_.shown.end(), t);
  }

  /// Who would help whom, where the net has no place for it.
  void write_chain() {
    for (const proofs::WaitLink& link : c_.chain) {
      if (!link.supplier.valid()) continue;
      const auto ends = ends_of(link);
      if (!shown(ends.first) || !shown(ends.second) || !drawn_.insert(ends).second) continue;
      text_ += fmt::format(
          "  t{} -> t{} [style=dashed, color=\"#c00000\", penwidth=2, label={}];\n", ends.first,
          ends.second,
          quoted("would help: " + counter_text(program_, one_.counters()[link.counter])));
    }
  }

  /// The two accesses, or ops, that should be in order.
  void write_pair() {
    const bool accesses = c_.accesses.size() == 2;
    if (!accesses && c_.ops.size() != 2) return;
    const auto a = accesses ? c_.accesses[0].transition : c_.ops[0];
    const auto b = accesses ? c_.accesses[1].transition : c_.ops[1];
    const std::uint32_t from = in_one_iteration(one_, names_, a);
    const std::uint32_t to = in_one_iteration(one_, names_, b);
    if (!shown(from) || !shown(to)) return;
    text_ += fmt::format(
        "  t{} -> t{} [dir={}, style=dashed, constraint=false, color=\"#c00000\", label={}];\n",
        from, to, c_.kind == proofs::Kind::race ? "both" : "forward",
        quoted(proofs::to_string(c_.kind)));
  }

  const ir::Program& program_;
  const proofs::Counterexample& c_;
  OpNames names_;
  OpNames one_;
  bool unrolled_ = false;
  std::vector<Mark> marks_;
  std::map<std::uint32_t, std::vector<const Mark*>> marked_;
  NetPart part_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> drawn_;
  std::string text_;
};

}  // namespace

std::string dot_view(const ir::Program& program, const proofs::Counterexample& counterexample,
                     const Options& options) {
  return Writer(program, counterexample, options).write();
}

}  // namespace spatialcert::certify::views
