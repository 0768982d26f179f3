#include "certify/views/text.hpp"

#include <fmt/format.h>

#include "ir/io/json_writer.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify::views {

using proofs::Rule;

std::string_view statement_of(Rule rule) {
  switch (rule) {
    case Rule::liveness:
      return "Every op is performed; in a persistent program, again and again.";
    case Rule::bounds:
      return "No semaphore passes its maximum, no op leaves its FIFO window, no access its object.";
    case Rule::quiescence:
      return "At the end every semaphore and every FIFO is as it was at the start.";
    case Rule::ordering:
      return "Conflicting accesses happen in one order, the same in every schedule and, between "
             "sections, that of the source.";
    case Rule::flow:
      return "No read sees undefined contents, or those of another stage than the declared one.";
    case Rule::memory:
      return "Buffers that live at the same time share no byte, are aligned and inside their "
             "space.";
    case Rule::reduction:
      return "Every declared result is the declared sum, and what chips compute of slices is what "
             "the whole model computes.";
    case Rule::coverage:
      return "Nothing in the program was left out of what was shown.";
    case Rule::boundary:
      return "What stands before a closed boundary happens before what stands after it.";
    case Rule::isolation:
      return "Sections of one phase share nothing that one of them changes, but declared links.";
    case Rule::shard:
      return "What derives from one chip's own data reaches a tensor that all chips share only "
             "through an all-reduce over every chip.";
    case Rule::slices:
      return "The slices of every full tensor tile it, and parts that belong together are cut "
             "alike.";
  }
  ir::require_failed("rule", "enumerator out of range", __FILE__, __LINE__);
}

std::string_view help_of(Rule rule) {
  switch (rule) {
    case Rule::liveness:
      return "Refuted by a circle of engine programs that wait for each other, or by a wait that "
             "nothing can satisfy. Look at the ops of the circle: one of the posts, pushes or pops "
             "must come before the wait that holds it up, or a post is missing.";
    case Rule::bounds:
      return "Refuted by a post above the semaphore's maximum, by a push or pop without a reserve "
             "or front that opened the pages, or by an access outside its buffer or tensor. Raise "
             "the maximum, wait before posting again, or open the window first.";
    case Rule::quiescence:
      return "Refuted by a counter that does not return to its initial value: the next run begins "
             "in another state. A post without a wait, or a push without a pop, or the reverse.";
    case Rule::ordering:
      return "Refuted by two accesses to the same bytes, one of which writes, that two schedules "
             "perform in either order. A post after the first and a wait before the second put "
             "them in order.";
    case Rule::flow:
      return "Refuted by a read before anything was written, or of what another stage wrote. The "
             "wait for the producer is missing or waits for the wrong one, or the buffer does not "
             "live long enough.";
    case Rule::memory:
      return "Refuted by two buffers that live at the same time and share a byte, by a buffer "
             "beyond the end of its space, or one that is not aligned. Move or shrink one of them, "
             "or declare the one a view of the other if they are meant to share.";
    case Rule::reduction:
      return "Refuted by a result that contains a contribution too often or not at all, or by a "
             "partial sum that meets an op that is not linear, or parts that do not belong "
             "together. Look at the all-reduce on the way of the contribution.";
    case Rule::coverage:
      return "Never refuted: what is named here is not wrong, only not shown.";
    case Rule::boundary:
      return "Refuted by an op after a boundary that one schedule performs before an op in front "
             "of it. An engine program takes no part in the rendezvous, or is not held up by it.";
    case Rule::isolation:
      return "Refuted by a tensor, buffer, semaphore or FIFO that two sections of one phase use "
             "and one of them changes. Close a boundary between them, or declare the link.";
    case Rule::shard:
      return "Refuted by a way from one chip's own data to a shared tensor that meets no "
             "all-reduce, or one that leaves chips out or takes a chip's data twice.";
    case Rule::slices:
      return "Refuted by an index of a full tensor that too few or too many parts hold, or by "
             "parts of one dimension that are cut in different ways.";
  }
  ir::require_failed("rule", "enumerator out of range", __FILE__, __LINE__);
}

std::string headline(const ir::Program& program, const proofs::Counterexample& counterexample) {
  const std::string text = counterexample_text(program, counterexample);
  return text.substr(0, text.find('\n'));
}

std::string schedule_title(const proofs::Counterexample& counterexample, std::size_t number) {
  const std::size_t count = counterexample.schedules.size();
  return count < 2 ? "the schedule" : fmt::format("schedule {} of {}", number + 1, count);
}

namespace {

/// The picture of a control character that XML cannot hold: U+2400 and on.
void append_picture(std::string& out, unsigned char control) {
  const unsigned offset = control == 0x7F ? 0x21U : control;
  out += "\xE2\x90";
  out += static_cast<char>(0x80U + offset);
}

bool is_noncharacter(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

}  // namespace

std::string legible(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = ir::io::character_bytes(text);
    const auto code = static_cast<unsigned char>(text.front());
    const bool control =
        length == 1 && (code == 0x7F || (code < 0x20 && code != '\n' && code != '\t'));
    if (control) {
      append_picture(out, code);
    } else if (length == 0 || is_noncharacter(text.substr(0, length))) {
      out += kReplacement;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : legible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string moved_right(const std::string& document, std::size_t blanks) {
  std::string out;
  // Strings hold no raw newlines, so all of them are layout.
  for (const char c : std::string_view(document).substr(0, document.find_last_not_of('\n') + 1)) {
    out += c;
    if (c == '\n') out.append(blanks, ' ');
  }
  return out;
}

}  // namespace spatialcert::certify::views
