// Reads counterexamples back: everything that `counterexample_json` writes, and nothing else.
//
// Numbers are checked against the program, so that whoever gets a counterexample may look up all
// that it names. Whether it is true is for `replay` to find out.
#include "certify/counterexample_reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <tuple>

#include "certify/json_document.hpp"
#include "certify/report.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::certify {
namespace {

using ir::io::JsonReader;
using ir::io::Key;
using ir::io::Value;
using proofs::Counterexample;
using proofs::Kind;

enum Member : std::size_t {
  kFormat,
  kVersion,
  kProgram,
  kDigest,
  kRule,
  kKind,
  kIterations,
  kTransition,
  kTransitionAt,
  kCounter,
  kRange,
  kValue,
  kLimit,
  kIndex,
  kChain,
  kAccesses,
  kBuffers,
  kTerms,
  kDeeper,
  kNote,
  kSchedules,
  kSchedulesAt,
  kOps,
  kOpsAt,
  kSlices
};
constexpr Key kMembers[] = {{"format"},
                            {"version"},
                            {"program"},
                            {"digest"},
                            {"rule"},
                            {"kind"},
                            {"iterations"},
                            {"transition", false},
                            {"transition_at", false},
                            {"counter", false},
                            {"range", false},
                            {"value"},
                            {"limit"},
                            {"index"},
                            {"chain"},
                            {"accesses"},
                            {"buffers"},
                            {"terms"},
                            {"deeper"},
                            {"note"},
                            {"schedules"},
                            {"schedules_at", false},
                            {"ops", false},
                            {"ops_at", false},
                            {"slices", false}};
constexpr Key kTermKeys[] = {{"source"}, {"found"}, {"expected"}};
constexpr Key kDeeperKeys[] = {{"fifo"}, {"pages"}};

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
/// More copies of a program than any rule looks at are no counterexample of ours.
constexpr std::uint32_t kMostIterations = 64;
constexpr Kind kLastKind = Kind::gap;

std::optional<Kind> parse_kind(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(kLastKind); ++i) {
    if (proofs::to_string(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

/// What a kind must have for its report to be written.
struct Needs {
  std::size_t accesses = 0;
  std::size_t buffers = 0;
  bool chain = false;
  bool transition = false;
  bool counter = false;
  std::size_t ops = 0;
};
Needs needs_of(Kind kind) {
  switch (kind) {
    case Kind::cycle:
    case Kind::starved:
      return {0, 0, true, false, false};
    case Kind::leftover:
      return {0, 0, false, false, true};
    case Kind::overflow:
      return {0, 0, false, true, true};
    case Kind::misuse:
      return {0, 0, false, true, false};
    case Kind::undefined_read:
      return {1, 0, false, false, false};
    case Kind::race:
    case Kind::wrong_order:
    case Kind::wrong_producer:
      return {2, 0, false, false, false};
    case Kind::overlap:
      return {0, 2, false, false, false};
    case Kind::out_of_memory:
    case Kind::misaligned:
      return {0, 1, false, false, false};
    case Kind::leak:
      return {1, 0, false, false, false};
    case Kind::missing_chip:
    case Kind::double_contribution:
      return {2, 0, false, false, false};
    case Kind::nonlinear:
    case Kind::mismatch:
      return {0, 0, false, false, false, 1};
    case Kind::slip_through:
      return {0, 0, false, false, false, 2};
    case Kind::interference:
    case Kind::wrong_result:
    case Kind::uncovered:
    case Kind::gap:
      break;
  }
  return {};
}

}  // namespace

void CounterexampleReader::read_members(Value& root, const ir::Program* program) {
  program_ = program;
  json_.members(root, "a counterexample", kMembers, [&](std::size_t key, Value& value) {
    if (key <= kIterations) {
      read_head(key, value);
    } else if (program_ != nullptr) {
      (key < kChain ? read_part(key, value) : read_list(key, value));
    }
  });
}

void CounterexampleReader::read_head(std::size_t key, Value& value) {
  const char* const at = JsonReader::start(value);
  switch (key) {
    case kFormat:
      if (json_.string(value) != "spatialcert-counterexample") {
        json_.refuse(at, "\"spatialcert-counterexample\"");
      }
      break;
    case kVersion:
      std::ignore = json_.integer(value, 1, 1);
      break;
    case kProgram:
      std::ignore = json_.string(value);
      break;
    case kDigest:
      digest_ = json_.string(value);
      if (program_ != nullptr && digest_ != ir::to_hex(ir::digest(*program_))) {
        json_.refuse(
            at,
            fmt::format("the digest of this program, {}; the counterexample was made for another",
                        ir::to_hex(ir::digest(*program_))));
      }
      break;
    case kRule:
      if (!proofs::parse_rule(json_.string(value))) json_.refuse(at, "the name of a rule");
      break;
    case kKind: {
      const auto kind = parse_kind(json_.string(value));
      if (!kind) json_.refuse(at, "a kind of counterexample");
      c_.kind = *kind;
      break;
    }
    default:
      c_.iterations = static_cast<std::uint32_t>(json_.integer(value, 1, kMostIterations));
      has_iterations_ = true;
      if (program_ != nullptr && c_.iterations != 1 &&
          program_->execution != ir::Execution::persistent) {
        json_.refuse(at, "1, as the program is no persistent one");
      }
      break;
  }
}

void CounterexampleReader::read_part(std::size_t key, Value& value) {
  switch (key) {
    case kTransition:
      c_.transition = transition(value);
      break;
    case kCounter:
      c_.counter = counter(value);
      break;
    case kRange:
      c_.range = range(value);
      break;
    case kValue:
      c_.value = json_.integer(value, kLeast);
      break;
    case kLimit:
      c_.limit = json_.integer(value, kLeast);
      break;
    case kIndex:
      c_.index = json_.index(value);
      break;
    default:
      break;  // `transition_at` is for people
  }
}

void CounterexampleReader::read_list(std::size_t key, Value& value) {
  const auto each = [&](const char* what, auto read) {
    json_.elements(value, what, [&](Value& item, std::size_t) { read(item); });
  };
  switch (key) {
    case kChain:
      each("a chain", [&](Value& item) { c_.chain.push_back(link(item)); });
      break;
    case kAccesses:
      each("a list of accesses", [&](Value& item) { c_.accesses.push_back(access(item)); });
      break;
    case kBuffers:
      each("a list of buffers", [&](Value& item) {
        c_.buffers.emplace_back(named(item, program_->buffers, "a buffer"));
      });
      break;
    case kTerms:
      each("a list of contributions", [&](Value& item) {
        proofs::TermDifference& term = c_.terms.emplace_back();
        json_.members(item, "a contribution", kTermKeys, [&](std::size_t part, Value& member) {
          if (part == 0) term.source = json_.string(member);
          if (part == 1) term.found = json_.integer(member, kLeast);
          if (part == 2) term.expected = json_.integer(member, kLeast);
        });
      });
      break;
    case kDeeper:
      each("a list of deeper fifos", [&](Value& item) {
        auto& deeper = c_.deeper.emplace_back();
        json_.members(item, "a deeper fifo", kDeeperKeys, [&](std::size_t part, Value& member) {
          if (part == 0) deeper.first = fifo(member);
          if (part == 1) deeper.second = json_.integer(member, 0);
        });
      });
      break;
    case kSlices:
      each("a list of parts", [&](Value& item) { c_.slices.push_back(slice(item)); });
      break;
    case kOps:
      each("a list of ops", [&](Value& item) { c_.ops.push_back(transition(item)); });
      break;
    case kNote:
      c_.note = json_.string(value);
      break;
    case kSchedules:
      each("a list of schedules", [&](Value& item) { c_.schedules.push_back(schedule(item)); });
      break;
    default:
      break;
  }
}

void CounterexampleReader::require_parts(const char* at) {
  if (!c_.slices.empty()) return;  // which are all that its report needs
  require(c_.kind != Kind::gap, at, "its slices");
  const bool of_types = rule_of(c_) == proofs::Rule::reduction;
  const Needs needs =
      needs_of(of_types && c_.kind != Kind::wrong_result ? Kind::nonlinear : c_.kind);
  require(!needs.chain || !c_.chain.empty(), at, "a chain");
  require(!needs.transition || c_.transition.valid(), at, "a transition");
  require(!needs.counter || c_.counter.valid(), at, "a counter");
  require(c_.accesses.size() >= needs.accesses, at, "its accesses");
  require(c_.buffers.size() >= needs.buffers, at, "its buffers");
  require(c_.ops.size() >= needs.ops, at, "its ops");
  if (c_.kind == Kind::interference) {
    const bool located = c_.range && c_.accesses.size() >= 2;
    require(located || (c_.counter.valid() && c_.ops.size() >= 2), at,
            "two accesses of a range, or two ops and a counter");
  }
  if (c_.kind == Kind::slip_through) {
    require(c_.index < program_->boundaries.size(), at, "the index of a boundary");
  }
  if (c_.kind == Kind::wrong_result) {
    require(c_.index < program_->postconditions.size(), at, "the index of a postcondition");
  }
  if (c_.kind == Kind::cycle) {
    for (const proofs::WaitLink& l : c_.chain)
      require(l.supplier.valid(), at, "a supplier per link");
  }
}

namespace {

template <typename T, typename Read>
ir::Result<T> read_document(std::string_view json, const std::string& file, Read read) {
  return read_json_document<T>(json, file, "a counterexample",
                               [&](std::string_view text, Value& root) -> ir::Result<T> {
                                 CounterexampleReader reader(text);
                                 return read(reader, root);
                               });
}

}  // namespace

ir::Result<Counterexample> parse_counterexample(std::string_view json, const std::string& file,
                                                const ir::Program& program) {
  return read_document<Counterexample>(json, file, [&](CounterexampleReader& reader, Value& root) {
    return reader.counterexample(root, program);
  });
}

ir::Result<std::string> counterexample_digest(std::string_view json, const std::string& file) {
  return read_document<std::string>(
      json, file, [](CounterexampleReader& reader, Value& root) { return reader.digest(root); });
}

}  // namespace spatialcert::certify
