// Numbers and stretches of bytes, read with every check. Trusted; used by decode.cpp alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "ir/digest.hpp"
#include "proofs/certificate/certificate.hpp"

namespace spatialcert::proofs {

/// Reads from the front. The first problem stays; after it everything is empty and zero, so that
/// whoever reads on comes to an end.
class Reader {
 public:
  /// `when_short`: what it means if the bytes end too early.
  Reader(std::string_view bytes, Unreadable::Reason when_short, std::optional<Unreadable>& problem)
      : bytes_(bytes), when_short_(when_short), problem_(problem) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  void fail(Unreadable::Reason reason, std::string detail) {
    if (!problem_) problem_ = Unreadable{reason, std::move(detail)};
    bytes_ = {};
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) {
      fail(when_short_, "it ends too early");
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  ir::Digest digest() {
    ir::Digest digest{};
    const std::string_view bytes = take(digest.size());
    std::copy(bytes.begin(), bytes.end(), digest.begin());
    return digest;
  }
  std::uint64_t natural() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::string_view next = take(1);
      if (next.empty()) return 0;
      const auto byte = static_cast<std::uint8_t>(next.front());
      const std::uint64_t bits = byte & 0x7fU;
      const bool last = byte < 0x80U;
      // The tenth byte has room for one bit; a last byte of zero could have been left out.
      if (shift == 63 && byte > 1) return wrong_number();
      if (last && byte == 0 && shift != 0) return wrong_number();
      value |= bits << shift;
      if (last) return value;
    }
  }
  std::int64_t integer() {
    const std::uint64_t bits = natural();
    return static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1U));
  }
  /// How many things follow, each of `least` bytes or more.
  std::uint64_t count(std::uint64_t least) {
    const std::uint64_t count = natural();
    if (count <= left() / least) return count;
    fail(when_short_, fmt::format("{} elements in {} bytes", count, left()));
    return 0;
  }
  /// A number near `before`.
  std::uint32_t step(std::uint32_t before, Unreadable::Reason wrong) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t by = integer();
    if (by >= -std::int64_t{before} && by <= kMost - std::int64_t{before}) {
      return static_cast<std::uint32_t>(std::int64_t{before} + by);
    }
    fail(wrong, "a number out of range");
    return 0;
  }

 private:
  std::uint64_t wrong_number() {
    fail(Unreadable::Reason::not_canonical, "a number is not written in the shortest way");
    return 0;
  }

  std::string_view bytes_;
  Unreadable::Reason when_short_;
  std::optional<Unreadable>& problem_;
};

}  // namespace spatialcert::proofs
