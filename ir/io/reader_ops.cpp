// Engine programs: nearly all of a large file, so this part avoids the general `members`.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ir/io/loops.hpp"
#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr Key kProgramKeys[] = {{"site"}, {"engine"}, {"ops"}};
constexpr OpCode kNoCode = static_cast<OpCode>(0xff);

// Members of an op after its first, as bits.
constexpr std::uint32_t kN = 1, kValue = 2, kReads = 4, kWrites = 8, kOps = 16, kSource = 32;
constexpr std::uint32_t kAllowed[] = {
    kN | kSource,  kValue | kSource, kN | kSource, kN | kSource,
    kN | kSource,  kN | kSource,     kN | kSource, kReads | kWrites | kSource,
    kOps | kSource};
constexpr Key kParts[] = {{"n"}, {"value"}, {"reads"}, {"writes"}, {"ops"}, {"source"}};
constexpr Key kCodes[] = {{"wait"},  {"await"}, {"post"}, {"reserve"}, {"push"},
                          {"front"}, {"pop"},   {"run"},  {"repeat"}};

OpCode code_of(std::string_view key) {
  for (std::size_t i = 0; i < std::size(kCodes); ++i) {
    if (kCodes[i].name == key) return static_cast<OpCode>(i);
  }
  return kNoCode;
}

std::uint32_t part_of(std::string_view key) {
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    if (kParts[i].name == key) return 1U << i;
  }
  return 0;
}

}  // namespace

void ProgramReader::read_program(Value& value) {
  if (!pending_.empty()) resolve_pending();
  EngineProgram& program = program_.programs.emplace_back();
  json_.members(value, "an engine program", kProgramKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        program.site = site(member);
        break;
      case 1:
        program.engine = EngineId(resolve(NameKind::engine, member));
        break;
      default:
        // By way of one growing list, so that every program's own is allocated once and has no
        // slack.
        scratch_ops_.clear();
        read_ops(member, scratch_ops_, 0);
        program.ops.assign(scratch_ops_.begin(), scratch_ops_.end());
        break;
    }
  });
}

void ProgramReader::read_ops(Value& value, std::vector<Op>& ops, std::uint32_t depth) {
  json_.elements(value, "a list of ops",
                 [&](Value& item, std::size_t) { read_op(item, ops, depth); });
}

void ProgramReader::read_op(Value& value, std::vector<Op>& ops, std::uint32_t depth) {
  const char* const at = JsonReader::start(value);
  const std::size_t position = ops.size();
  Op op;
  op.code = kNoCode;
  op.count = 1;
  std::uint32_t seen = 0;
  for (auto member : json_.object(value, "an op")) {
    Field field;
    JsonReader::check(std::move(member).get(field));
    const char* const key_at = JsonReader::key_start(field);
    const std::string_view key = JsonReader::key(field);
    if (op.code == kNoCode) {
      op.code = code_of(key);
      if (op.code == kNoCode) json_.refuse_key(key_at, key, kCodes, std::size(kCodes));
      read_op_key(op.code, field.value(), op);
      if (op.code == OpCode::repeat && depth == kMaximumLoopDepth) {
        JsonReader::refuse(at, fmt::format("at most {} nested loops", kMaximumLoopDepth),
                           "another");
      }
      continue;
    }
    const std::uint32_t part = part_of(key);
    const auto code = static_cast<std::size_t>(op.code);
    if (key == kCodes[code].name) JsonReader::refuse_duplicate(key_at, key);
    if ((part & kAllowed[code]) == 0) refuse_op_part(op.code, key_at);
    if ((seen & part) != 0) JsonReader::refuse_duplicate(key_at, key);
    seen |= part;
    switch (part) {
      case kN:
      case kValue:
        op.count = json_.integer(field.value(), 1);
        break;
      case kReads:
        read_accesses(field.value(), false, op, depth);
        break;
      case kWrites:
        read_accesses(field.value(), true, op, depth);
        break;
      case kSource:
        op.location = location(field.value());
        break;
      default:
        ops.push_back(op);
        read_ops(field.value(), ops, depth + 1);
        op.body = static_cast<std::uint32_t>(ops.size() - position - 1);
        break;
    }
  }
  if (op.code == kNoCode) JsonReader::refuse(at, "an op", "an empty object");
  if (op.code == OpCode::await && (seen & kValue) == 0) JsonReader::refuse_missing(at, "value");
  if (op.code == OpCode::repeat) {
    if ((seen & kOps) == 0) JsonReader::refuse_missing(at, "ops");
    ops[position] = op;
  } else {
    ops.push_back(op);
  }
}

void ProgramReader::refuse_op_part(OpCode code, const char* key_at) const {
  std::string expected = fmt::format("after \"{}\" one of the keys", to_string(code));
  const char* separator = " ";
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    if ((kAllowed[static_cast<std::size_t>(code)] >> i & 1U) == 0) continue;
    expected += fmt::format("{}\"{}\"", separator, kParts[i].name);
    separator = ", ";
  }
  json_.refuse(key_at, std::move(expected));
}

void ProgramReader::read_op_key(OpCode code, Value& value, Op& op) {
  switch (code) {
    case OpCode::wait:
    case OpCode::await:
    case OpCode::post:
      op.object = resolve(NameKind::semaphore, value);
      break;
    case OpCode::reserve:
    case OpCode::push:
    case OpCode::front:
    case OpCode::pop:
      op.object = resolve(NameKind::buffer, value);
      break;
    case OpCode::run:
      op.object = resolve(NameKind::stage, value);
      op.count = 0;
      op.first_access = static_cast<std::uint32_t>(program_.accesses.size());
      break;
    case OpCode::repeat:
      op.count = json_.integer(value, 1);
      break;
  }
}

// Reads stand before writes in the model, however the file orders them.
void ProgramReader::read_accesses(Value& value, bool write, Op& op, std::uint32_t depth) {
  const auto begin = static_cast<std::ptrdiff_t>(program_.accesses.size());
  json_.elements(value, "a list of regions", [&](Value& item, std::size_t) {
    program_.accesses.push_back({read_region(item, depth), write});
    ++op.accesses;
  });
  if (!write && begin > op.first_access) {
    const auto all = program_.accesses.begin();
    std::rotate(all + op.first_access, all + begin, program_.accesses.end());
  }
}

}  // namespace spatialcert::ir::io
