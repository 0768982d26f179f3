#include "certify/gate/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "certify/json_document.hpp"
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify::gate {
namespace {

using ir::io::JsonReader;
using ir::io::Key;
using ir::io::Value;

constexpr std::array<std::string_view, 4> kLeaves{"undecided", "refuted", "not-applicable", "lost"};
constexpr Key kMembers[] = {
    {"format"}, {"version"}, {"require", false}, {"exceptions", false}, {"budgets", false}};
constexpr Key kExceptionKeys[] = {{"program"}, {"rule", false}, {"may"}, {"reason"}, {"until"}};
constexpr Key kBudgetKeys[] = {{"cost"}, {"space", false}, {"percent"}};
constexpr const char* kWhat = "a policy (a JSON object)";
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20U;
/// So that no product with a cost needs more than 128 bits; nobody means more.
constexpr std::int64_t kMostPercent = 1'000'000;

class PolicyReader {
 public:
  explicit PolicyReader(std::string_view text) : json_(text) {}

  Policy read(Value& root) {
    json_.members(root, kWhat, kMembers,
                  [&](std::size_t key, Value& value) { read_member(key, value); });
    return std::move(policy_);
  }

 private:
  void read_member(std::size_t key, Value& value) {
    const char* const at = JsonReader::start(value);
    switch (key) {
      case 0:
        if (json_.string(value) != "spatialcert-policy") json_.refuse(at, "\"spatialcert-policy\"");
        break;
      case 1:
        if (json_.integer(value, 0) != 1) json_.refuse(at, "version 1 (the only one supported)");
        break;
      case 2:
        json_.elements(value, "names of rules", [&](Value& item, std::size_t) {
          const char* const item_at = JsonReader::start(item);
          const proofs::Rule known = rule(item);
          auto& all = policy_.required;
          if (std::find(all.begin(), all.end(), known) != all.end())
            json_.refuse(item_at, "every rule once");
          all.push_back(known);
        });
        break;
      case 3:
        json_.elements(value, "exceptions", [&](Value& item, std::size_t) { exception(item); });
        break;
      default:
        json_.elements(value, "budgets", [&](Value& item, std::size_t) { budget(item); });
    }
  }

  std::string text(Value& value) const {
    const char* const at = JsonReader::start(value);
    std::string result(json_.string(value));
    if (std::all_of(result.begin(), result.end(), [](char c) { return c == ' ' || c == '\t'; }))
      json_.refuse(at, "text that is not empty");
    return result;
  }

  proofs::Rule rule(Value& value) const {
    const char* const at = JsonReader::start(value);
    const auto known = proofs::parse_rule(json_.string(value));
    if (known) return *known;
    std::string names;
    for (const proofs::Rule r : proofs::all_rules())
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", proofs::to_string(r));
    json_.refuse(at, "the name of a rule: one of " + names);
  }

  Leave leave(Value& value) const {
    const char* const at = JsonReader::start(value);
    const auto found = std::find(kLeaves.begin(), kLeaves.end(), json_.string(value));
    if (found == kLeaves.end())
      json_.refuse(at, fmt::format("one of \"{}\"", fmt::join(kLeaves, "\", \"")));
    return static_cast<Leave>(found - kLeaves.begin());
  }

  void exception(Value& value) {
    const char* const at = JsonReader::start(value);
    Exception one;
    json_.members(value, "an exception", kExceptionKeys, [&](std::size_t key, Value& member) {
      const char* const member_at = JsonReader::start(member);
      switch (key) {
        case 0:
          one.program = text(member);
          break;
        case 1:
          one.rule = rule(member);
          break;
        case 2:
          one.may = leave(member);
          break;
        case 3:
          one.reason = text(member);
          break;
        default:
          one.until = std::string(json_.string(member));
          if (!is_date(one.until)) json_.refuse(member_at, "a day of the calendar as YYYY-MM-DD");
      }
    });
    if (one.may == Leave::lost && one.rule)
      JsonReader::refuse(at, "no \"rule\" where a program may be lost", "one");
    if (one.may != Leave::lost && !one.rule) JsonReader::refuse_missing(at, "rule");
    for (const Exception& other : policy_.exceptions) {
      if (other.program == one.program && other.rule == one.rule)
        JsonReader::refuse(at, "one exception for a program and rule", "a second one");
    }
    policy_.exceptions.push_back(std::move(one));
  }

  void budget(Value& value) {
    const char* const at = JsonReader::start(value);
    Budget one;
    json_.members(value, "a budget", kBudgetKeys, [&](std::size_t key, Value& member) {
      const char* const member_at = JsonReader::start(member);
      if (key == 0) {
        const auto cost = parse_cost(json_.string(member));
        if (!cost)
          json_.refuse(member_at,
                       "one of \"ops\", \"transitions\", \"semaphores\", \"fifo_pages\", "
                       "\"memory\", \"phases\"");
        one.cost = *cost;
      } else if (key == 1) {
        one.space = text(member);
      } else {
        one.percent = static_cast<std::uint64_t>(json_.integer(member, 0, kMostPercent));
      }
    });
    if (one.cost != Cost::memory && !one.space.empty())
      JsonReader::refuse(at, "\"space\" with the cost \"memory\" only", "it");
    for (const Budget& other : policy_.budgets) {
      if (other.cost == one.cost && other.space == one.space)
        JsonReader::refuse(at, "one budget for a cost", "a second one");
    }
    policy_.budgets.push_back(std::move(one));
  }

  JsonReader json_;
  Policy policy_;
};

int digits(std::string_view text) {
  int value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

std::string_view to_string(Leave leave) {
  const auto index = static_cast<std::size_t>(leave);
  SPATIALCERT_REQUIRE(index < kLeaves.size(), "enumerator out of range");
  return kLeaves[index];
}

bool is_date(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  return std::chrono::year_month_day(
             std::chrono::year(digits(text.substr(0, 4))),
             std::chrono::month(static_cast<unsigned>(digits(text.substr(5, 2)))),
             std::chrono::day(static_cast<unsigned>(digits(text.substr(8, 2)))))
      .ok();
}

ir::Result<Policy> parse_policy(std::string_view json, const std::string& file) {
  if (ir::Status refused = ir::look_at_json(json, file, kWhat)) return *std::move(refused);
  return read_json_document<Policy>(json, file, kWhat,
                                    [](std::string_view text, Value& root) -> ir::Result<Policy> {
                                      return PolicyReader(text).read(root);
                                    });
}

ir::Result<Policy> read_policy(const std::string& path) {
  const ir::Result<std::string> bytes = ir::read_bytes(path, kMostBytes);
  if (!bytes) return bytes.error();
  return parse_policy(*bytes, path);
}

}  // namespace spatialcert::certify::gate
