#include "tests/proofs/draft.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "ir/program_file.hpp"

namespace spatialcert::tests {
namespace {

constexpr std::uint64_t kPageBytes = 64;

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::string list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ",\n  "));
}

std::string with(const std::string& json, const std::string& more) {
  return more.empty() ? json + "}" : fmt::format("{}, {}}}", json, more);
}

/// `member` with its value, unless `more` has one.
std::string unless_in(const std::string& more, const std::string& member,
                      const std::string& value) {
  return more.find('"' + member + '"') == std::string::npos
             ? fmt::format(R"(, "{}": {})", member, value)
             : "";
}

/// `5`, `4i` (four times the index of the outermost loop) or `4i+5`.
std::string bound_json(const std::string& text) {
  const std::size_t loop = text.find('i');
  if (loop == std::string::npos) return text;
  const std::string constant = loop + 2 < text.size() ? text.substr(loop + 2) : "0";
  return fmt::format(R"({{"const": {}, "i0": {}}})", constant, text.substr(0, loop));
}

}  // namespace

Draft& Draft::persistent() {
  execution_ = "persistent";
  return *this;
}

Draft& Draft::tensor(const std::string& name, const std::string& init, int rows,
                     const std::string& dtype, const std::string& more) {
  kind_[name] = Kind::tensor;
  const char* const role = init == "external" ? "input" : "output";
  const auto json = fmt::format(
      R"({{"name": "{}", "rows": {}, "cols": {}, "dtype": "{}", "init": "{}"{})", name, rows,
      dtype == "i8" ? 16 : 4, dtype, init, unless_in(more, "role", fmt::format("\"{}\"", role)));
  tensors_.push_back(with(json, more));
  return *this;
}

Draft& Draft::add_buffer(const std::string& name, Kind kind, int pages, const std::string& more) {
  kind_[name] = kind;
  const char* const word = kind == Kind::fifo ? "fifo" : "interm";
  std::string json = fmt::format(R"({{"name": "{}", "kind": "{}", "space": "sram"{})", name, word,
                                 unless_in(more, "site", "[0, 0, 0]"));
  if (more.find("page_bytes") == std::string::npos)
    json += fmt::format(R"(, "page_bytes": {})", kPageBytes);
  json += fmt::format(R"(, "pages": {})", pages);
  const bool placed =
      more.find("address") != std::string::npos || more.find("view") != std::string::npos;
  if (!placed) json += fmt::format(R"(, "address": {})", address_);
  if (!placed) address_ += kPageBytes * static_cast<std::uint64_t>(pages);
  buffers_.push_back(with(json, more));
  return *this;
}

Draft& Draft::fifo(const std::string& name, int pages, const std::string& more) {
  return add_buffer(name, Kind::fifo, pages, more);
}

Draft& Draft::buffer(const std::string& name, const std::string& more) {
  return add_buffer(name, Kind::buffer, 1, more);
}

Draft& Draft::semaphore(const std::string& name, int initial, int maximum,
                        const std::string& more) {
  const auto json = fmt::format(R"({{"name": "{}", "initial": {}, "maximum": {}{})", name, initial,
                                maximum, unless_in(more, "site", "[0, 0, 0]"));
  semaphores_.push_back(with(json, more));
  return *this;
}

Draft& Draft::stage(const std::string& name, const std::string& op, const std::string& more) {
  stages_[name] = with(fmt::format(R"({{"name": "{}", "op": "{}"{})", name, op,
                                   unless_in(more, "kind", "\"compute\"")),
                       more);
  return *this;
}

Draft& Draft::edge(const std::string& producer, const std::string& buffer,
                   const std::string& consumer) {
  edges_.push_back(fmt::format(R"({{"producer": "{}", "buffer": "{}", "consumer": "{}"}})",
                               producer, buffer, consumer));
  return *this;
}

Draft& Draft::sum(const std::string& whole, const std::vector<std::string>& terms) {
  std::vector<std::string> regions;
  for (const std::string& term : terms) regions.push_back(region(term));
  sums_.push_back(fmt::format(R"({{"region": {}, "sum": {}}})", region(whole), list(regions)));
  return *this;
}

Draft& Draft::member(const std::string& name, const std::string& json) {
  members_[name] = json;
  return *this;
}

Draft& Draft::engine(const std::string& name, std::vector<std::string> ops) {
  engines_.emplace_back(name, std::move(ops));
  return *this;
}

Draft& Draft::without(const std::string& engine, std::size_t op) {
  for (auto& [name, ops] : engines_) {
    if (name != engine) continue;
    REQUIRE(op < ops.size());
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(op));
  }
  return *this;
}

std::string Draft::region(const std::string& text) const {
  const std::size_t end = text.find_first_of("@[");
  const std::string name = text.substr(0, end);
  const Kind kind = kind_.at(name);
  const char* const word = kind == Kind::tensor ? "tensor" : kind == Kind::fifo ? "fifo" : "buffer";
  std::string json = fmt::format(R"({{"{}": "{}")", word, name);
  if (const std::size_t at = text.find('@'); at != std::string::npos) {
    json += fmt::format(R"(, "page": {})", text.substr(at + 1, text.find('[') - at - 1));
  }
  if (const std::size_t at = text.find('['); at != std::string::npos) {
    const std::size_t colon = text.find(':', at);
    json += fmt::format(R"(, "{}": [{}, {}])", kind == Kind::tensor ? "rows" : "bytes",
                        bound_json(text.substr(at + 1, colon - at - 1)),
                        bound_json(text.substr(colon + 1, text.size() - colon - 2)));
  }
  return json + "}";
}

std::string Draft::op(const std::string& text, std::map<std::string, std::string>& stages) const {
  const auto parts = words(text);
  if (parts[0] != "run") {
    const char* const count = parts[0] == "await" ? "value" : "n";
    return fmt::format(R"({{"{}": "{}", "{}": {}}})", parts[0], parts[1], count,
                       parts.size() > 2 ? parts[2] : "1");
  }
  stages.try_emplace(parts[1],
                     fmt::format(R"({{"name": "{}", "kind": "compute", "op": "copy"}})", parts[1]));
  std::vector<std::string> reads, writes;
  bool write = false;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    if (parts[i] == ">") {
      write = true;
    } else {
      (write ? writes : reads).push_back(region(parts[i]));
    }
  }
  return fmt::format(R"({{"run": "{}", "reads": {}, "writes": {}}})", parts[1], list(reads),
                     list(writes));
}

std::string Draft::ops(const std::vector<std::string>& lines,
                       std::map<std::string, std::string>& stages) const {
  std::string out;
  bool first = true;
  for (const std::string& line : lines) {
    if (line == "end") {
      out += "]}";
      continue;
    }
    if (!first) out += ",\n  ";
    first = line.starts_with("repeat");
    out += first ? fmt::format(R"({{"repeat": {}, "ops": [)", words(line)[1]) : op(line, stages);
  }
  return fmt::format("[{}]", out);
}

std::string Draft::json() const {
  auto stages = stages_;
  std::vector<std::string> programs, stage_list;
  for (const auto& [engine, lines] : engines_) {
    const std::size_t colon = engine.find(':');
    const bool placed = colon != std::string::npos;
    programs.push_back(fmt::format(R"({{"site": [{}, 0, 0], "engine": "{}", "ops": {}}})",
                                   placed ? engine.substr(0, colon) : "0",
                                   placed ? engine.substr(colon + 1) : engine, ops(lines, stages)));
  }
  for (const auto& [name, json] : stages) stage_list.push_back(json);
  std::map<std::string, std::string> members{
      {"format", R"("spatialcert-program")"},
      {"version", "1"},
      {"name", fmt::format("\"{}\"", name_)},
      {"target", R"({"name": "tile", "engines": ["load", "compute", "store", "move"], "chips": 2,
         "spaces": [{"name": "sram", "bytes": 4096, "alignment": 4}], "semaphores": {"per_site": 16, "maximum": 31}})"},
      {"execution", fmt::format("\"{}\"", execution_)},
      {"tensors", list(tensors_)},
      {"buffers", list(buffers_)},
      {"semaphores", list(semaphores_)},
      {"stages", list(stage_list)},
      {"edges", list(edges_)},
      {"sections", R"([{"name": "all"}])"},
      {"postconditions", list(sums_)},
      {"programs", list(programs)}};
  for (const auto& [name, json] : members_) members[name] = json;
  std::vector<std::string> all;
  for (const auto& [name, json] : members) all.push_back(fmt::format("\"{}\": {}", name, json));
  return fmt::format("{{{}}}", fmt::join(all, ",\n"));
}

ir::Program Draft::program() const {
  auto parsed = ir::parse_program(json(), name_);
  REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message() << "\n" << json());
  return std::move(*parsed);
}

}  // namespace spatialcert::tests
