// Sections, boundaries and which ops are theirs; links and postconditions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr Key kSectionKeys[] = {
    {"name"}, {"index", false}, {"numerics", false}, {"ops", false}, {"source", false}};
constexpr Key kApproximateKeys[] = {{"approx"}};
constexpr Key kBoundaryKeys[] = {{"after"}, {"closed"}, {"ops", false}};
constexpr Key kSpanKeys[] = {{"site"}, {"engine"}, {"range"}};
constexpr Key kLinkKeys[] = {{"fifo", false}, {"semaphore", false}};
constexpr Key kPostconditionKeys[] = {{"region"}, {"sum"}};

std::pair<Site, EngineId> place_of(const EngineProgram& program) {
  return {program.site, program.engine};
}

// Positions in `ops` of the top-level ops, and the end.
std::vector<std::uint32_t> top_level(const std::vector<Op>& ops) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t at = 0; at < ops.size(); at += 1 + ops[at].body) positions.push_back(at);
  positions.push_back(static_cast<std::uint32_t>(ops.size()));
  return positions;
}

}  // namespace

void ProgramReader::read_section(Value& value) {
  const auto number = static_cast<std::uint32_t>(program_.sections.size());
  Section& section = program_.sections.emplace_back();
  section.source_index = number;
  const char* const at = JsonReader::start(value);
  bool has_ops = false;
  json_.members(value, "a section", kSectionKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        section.name = name(member);
        break;
      case 1:
        section.source_index = json_.index(member);
        break;
      case 2:
        read_numerics(member, section.numerics);
        break;
      case 3:
        has_ops = true;
        json_.elements(member, "the ops of a section", [&](Value& item, std::size_t) {
          read_span(item, SectionId(number), BoundaryId());
        });
        break;
      default:
        section.location = location(member);
        break;
    }
  });
  if (!has_ops) sections_without_ops_.emplace_back(number, at);
}

void ProgramReader::read_numerics(Value& value, Numerics& numerics) {
  const char* const at = JsonReader::start(value);
  if (JsonReader::is_string(value)) {
    if (json_.string(value) != "exact") json_.refuse(at, "\"exact\" or {\"approx\": reason}");
    return;
  }
  numerics.exact = false;
  json_.members(value, "\"exact\" or {\"approx\": reason}", kApproximateKeys,
                [&](std::size_t, Value& member) { numerics.reason = name(member); });
}

void ProgramReader::read_boundary(Value& value) {
  const auto number = static_cast<std::uint32_t>(program_.boundaries.size());
  program_.boundaries.emplace_back();
  json_.members(value, "a boundary", kBoundaryKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        later(NameKind::section, member, [number](Program& program, std::uint32_t id) {
          program.boundaries[number].after = SectionId(id);
        });
        break;
      case 1:
        program_.boundaries[number].closed = json_.boolean(member);
        break;
      default:
        json_.elements(member, "the ops of a boundary", [&](Value& item, std::size_t) {
          read_span(item, SectionId(), BoundaryId(number));
        });
        break;
    }
  });
}

void ProgramReader::read_span(Value& value, SectionId section, BoundaryId boundary) {
  PendingSpan& pending = spans_.emplace_back();
  pending.span = {section, boundary, 0, 0};
  json_.members(value, "a range of ops", kSpanKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        pending.site = site(member);
        break;
      case 1:
        pending.engine_at = JsonReader::start(member);
        pending.engine = name(member);
        break;
      default: {
        pending.at = JsonReader::start(member);
        const std::size_t count =
            json_.elements(member, "a range [begin, end)", [&](Value& item, std::size_t position) {
              const std::uint32_t number = json_.index(item);
              if (position == 0) pending.span.begin = number;
              if (position == 1) pending.span.end = number;
            });
        if (count != 2) {
          JsonReader::refuse(pending.at, "a range [begin, end)", fmt::format("{} numbers", count));
        }
        break;
      }
    }
  });
}

void ProgramReader::read_link(Value& value) {
  const std::size_t number = program_.links.size();
  program_.links.emplace_back();
  const char* const at = JsonReader::start(value);
  int ends = 0;
  json_.members(value, "a link", kLinkKeys, [&](std::size_t key, Value& member) {
    ++ends;
    program_.links[number].is_fifo = key == 0;
    later(key == 0 ? NameKind::buffer : NameKind::semaphore, member,
          [number](Program& program, std::uint32_t id) { program.links[number].object = id; });
  });
  if (ends != 1) {
    JsonReader::refuse(at, "either \"fifo\" or \"semaphore\"", ends == 0 ? "neither" : "both");
  }
}

void ProgramReader::read_postcondition(Value& value) {
  Postcondition postcondition;
  json_.members(value, "a postcondition", kPostconditionKeys, [&](std::size_t key, Value& member) {
    if (key == 0) {
      postcondition.region = read_region(member, 0);
    } else {
      json_.elements(member, "the regions of a sum", [&](Value& item, std::size_t) {
        postcondition.terms.push_back(read_region(item, 0));
      });
    }
  });
  program_.postconditions.push_back(std::move(postcondition));
}

void ProgramReader::sort_programs() {
  std::vector<EngineProgram>& programs = program_.programs;
  file_position_.resize(programs.size());
  std::iota(file_position_.begin(), file_position_.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return place_of(programs[a]) < place_of(programs[b]);
  };
  if (std::is_sorted(file_position_.begin(), file_position_.end(), before)) return;
  std::stable_sort(file_position_.begin(), file_position_.end(), before);
  std::vector<EngineProgram> sorted;
  sorted.reserve(programs.size());
  for (const std::uint32_t position : file_position_)
    sorted.push_back(std::move(programs[position]));
  programs = std::move(sorted);
}

void ProgramReader::find_programs_of_spans() {
  const std::vector<EngineProgram>& programs = program_.programs;
  for (PendingSpan& pending : spans_) {
    const EngineId engine(resolve(NameKind::engine, pending.engine_at, pending.engine));
    const auto place = std::pair(pending.site, engine);
    const auto it =
        std::partition_point(programs.begin(), programs.end(),
                             [&](const auto& program) { return place_of(program) < place; });
    if (it == programs.end() || place_of(*it) != place) {
      json_.refuse(pending.engine_at,
                   fmt::format("an engine with a program on [{},{},{}]", pending.site.chip,
                               pending.site.x, pending.site.y));
    }
    pending.program = static_cast<std::uint32_t>(it - programs.begin());
  }
}

// Ranges count top-level ops in the file, positions in the flat list in the model.
void ProgramReader::resolve_spans() {
  find_programs_of_spans();
  std::stable_sort(spans_.begin(), spans_.end(), [](const PendingSpan& a, const PendingSpan& b) {
    return std::tie(a.program, a.span.begin) < std::tie(b.program, b.span.begin);
  });
  std::vector<std::uint32_t> positions;
  std::uint32_t positions_of = NameTable::kNone;
  for (PendingSpan& pending : spans_) {
    EngineProgram& program = program_.programs[pending.program];
    if (positions_of != pending.program) positions = top_level(program.ops);
    positions_of = pending.program;
    const std::size_t ops = positions.size() - 1;
    if (pending.span.begin >= pending.span.end || pending.span.end > ops) {
      JsonReader::refuse(pending.at,
                         fmt::format("a range [begin, end) with begin < end <= {}", ops),
                         fmt::format("[{}, {})", pending.span.begin, pending.span.end));
    }
    pending.span.begin = positions[pending.span.begin];
    pending.span.end = positions[pending.span.end];
    program.spans.push_back(pending.span);
  }
  for (const auto& [section, at] : sections_without_ops_) {
    if (program_.sections.size() != 1) JsonReader::refuse_missing(at, "ops");
    for (EngineProgram& program : program_.programs) {
      if (program.ops.empty()) continue;
      const auto end = static_cast<std::uint32_t>(program.ops.size());
      program.spans.push_back({SectionId(section), BoundaryId(), 0, end});
    }
  }
}

}  // namespace spatialcert::ir::io
