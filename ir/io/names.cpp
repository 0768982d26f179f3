#include "ir/io/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace spatialcert::ir::io {
namespace {

constexpr std::size_t kLongestCompared = 64;
constexpr std::size_t kMostCompared = 20'000;

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32U;
  value *= 0xd6e8feb86659fd93ULL;
  return value ^ (value >> 29U);
}

std::uint32_t hash_of(std::string_view name) {
  std::uint64_t hash = name.size() * 0x9e3779b97f4a7c15ULL;
  const char* at = name.data();
  std::size_t left = name.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = mix(hash ^ word);
  }
  std::uint64_t word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  return static_cast<std::uint32_t>(mix(hash ^ word));
}

// Number of single-character edits that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

void NameTable::reserve(std::size_t names) {
  names_.reserve(names);
  std::size_t slots = 16;
  while (slots < 2 * names) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

void NameTable::grow(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number == kNone) continue;
    std::size_t at = slot.hash & (slots - 1);
    while (slots_[at].number != kNone) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
  }
}

std::optional<std::uint32_t> NameTable::add(std::string_view name) {
  if (2 * (names_.size() + 1) > slots_.size()) grow(std::max<std::size_t>(16, 2 * slots_.size()));
  const std::uint32_t hash = hash_of(name);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != hash || names_[slots_[at].number] != name) continue;
    names_.push_back(name);
    return slots_[at].number;
  }
  slots_[at] = {hash, static_cast<std::uint32_t>(names_.size())};
  names_.push_back(name);
  return std::nullopt;
}

std::uint32_t NameTable::find(std::string_view name) const {
  if (slots_.empty()) return kNone;
  const std::uint32_t hash = hash_of(name);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == hash && names_[slots_[at].number] == name) return slots_[at].number;
  }
  return kNone;
}

std::string NameTable::suggestion(std::string_view name) const {
  const auto near = nearest(name, names_);
  return near ? fmt::format(" (did you mean \"{}\"?)", *near) : "";
}

std::optional<std::string_view> nearest(std::string_view name,
                                        const std::vector<std::string_view>& candidates) {
  if (name.size() > kLongestCompared || candidates.size() > kMostCompared) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = name.size() < 4 ? 2 : 1 + name.size() / 3;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestCompared) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace spatialcert::ir::io
