#include "tests/certificate/forge.hpp"

#include <doctest/doctest.h>

#include "ir/packing.hpp"

namespace spatialcert::proofs::test {
namespace {

const std::string kStart{"\x89SCC\r\n\x1a\n\x03", 9};

std::string text_of(const ir::Digest& digest) { return {digest.begin(), digest.end()}; }

ir::Place place(std::uint32_t from, std::uint32_t to, std::uint32_t counter, std::int32_t tokens,
                bool credit) {
  return {ir::TransitionId(from), ir::TransitionId(to), tokens, ir::CounterId(counter), credit};
}

}  // namespace

Certificate small_certificate() {
  Certificate c;
  c.producer = "spatialcert 0.1.0, z3 4.8.12";
  for (std::size_t i = 0; i < c.program.size(); ++i) {
    c.program[i] = static_cast<std::uint8_t>(i);
    c.target[i] = static_cast<std::uint8_t>(0xff - i);
  }
  c.folding = {{5, {{1, 2, 3, 0}, {2, 0, 1, 4}}}, {1'000'000'000'000, {{0, 7, 1, 0}}}};
  c.justified = {place(3, 7, 1, 0, false), place(9, 2, 0, -1, true), place(4, 300, 5, 1, false)};
  c.liveness = liveness::Witness{{0, 1, 2, 10, -3, 4}, 7};
  c.bounds.emplace();
  c.quiescence.emplace();
  c.ordering = ordering::Witness{{0, 2, 2, 5}, {4, 9, 5, 3, 70000}};
  c.flow.emplace();
  c.memory = memory::Witness{{{ir::BufferId(2U), ir::BufferId(0U)}, {}, {ir::BufferId(1U)}}};
  c.reduction.emplace();
  c.coverage = coverage::Witness{3, 2, 200, 0};
  c.shard = shard::Witness{1, 3};
  return c;
}

Certificate large_certificate() {
  Certificate c = small_certificate();
  for (std::int64_t i = 0; i < 20'000; ++i) {
    c.liveness->potential.push_back(i % 7 == 0 ? i * 3 : c.liveness->potential.back() + 1);
  }
  return c;
}

std::string natural(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}

std::string integer(std::int64_t value) {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? -(value + 1) : value);
  return natural(magnitude * 2 + (value < 0 ? 1 : 0));
}

std::string seal(const std::string& bytes) { return bytes + text_of(ir::sha256(bytes)); }

std::string forge(const std::string& payload) {
  if (payload.size() <= kMostRawBytes) {
    return seal(kStart + natural(0) + natural(payload.size()) + payload);
  }
  const std::string frame = ir::pack(payload, 1);
  return seal(kStart + natural(1) + natural(payload.size()) + text_of(ir::sha256(payload)) +
              natural(frame.size()) + frame);
}

std::string payload_of(const std::string& raw) {
  REQUIRE(raw[9] == 0);
  const std::size_t length_bytes = static_cast<unsigned char>(raw[10]) < 128 ? 1 : 2;
  return raw.substr(10 + length_bytes, raw.size() - 32 - 10 - length_bytes);
}

std::string payload_head() {
  return natural(4) + "test" + std::string(64, '\x11') + natural(0) + natural(0) + natural(0);
}

std::string obligation(std::uint64_t rule, const std::string& witness,
                       std::optional<std::uint64_t> version, std::uint64_t subject,
                       std::uint64_t in_class) {
  if (!version) version = rule < kRules ? rule_version(static_cast<Rule>(rule)) : 1;
  return natural(rule) + natural(*version) + natural(subject) + natural(in_class) +
         natural(witness.size()) + witness;
}

Unreadable::Reason refusal(std::string_view bytes, std::uint64_t most) {
  const auto result = decode(bytes, most);
  const auto* unreadable = std::get_if<Unreadable>(&result);
  REQUIRE(unreadable != nullptr);
  CHECK_FALSE(unreadable->detail.empty());
  return unreadable->reason;
}

Certificate decoded(std::string_view bytes) {
  auto result = decode(bytes);
  if (const auto* unreadable = std::get_if<Unreadable>(&result)) {
    FAIL(to_string(unreadable->reason) << ": " << unreadable->detail);
  }
  return std::get<Certificate>(std::move(result));
}

}  // namespace spatialcert::proofs::test
