#include "compose/parallel/relay_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::compose::parallel {
namespace {

std::string text_of(const Transfer& transfer) {
  return fmt::format("\"{}\" from chip {} to chip {}", transfer.tensor, transfer.from, transfer.to);
}

/// Every transfer once at either end.
class TransferCheck {
 public:
  TransferCheck(const std::vector<ChipHalts>& chips, const std::vector<Transfer>& transfers)
      : chips_(chips),
        transfers_(transfers),
        sent_(transfers.size()),
        received_(transfers.size()) {}

  void run() {
    check_list();
    for (std::uint32_t c = 0; c < chips_.size(); ++c) {
      for (const Halt& halt : chips_[c].halts) {
        for (const std::uint32_t t : halt.sends) note(c, t, true);
        for (const std::uint32_t t : halt.receives) note(c, t, false);
      }
    }
    for (std::uint32_t t = 0; t < transfers_.size(); ++t) {
      if (sent_[t] != 0 && received_[t] != 0) continue;
      throw Refused{RefusalReason::missing_transfer,
                    fmt::format("{} is never {}", text_of(transfers_[t]),
                                sent_[t] == 0 ? "sent" : "received"),
                    "let one halt of either chip name it"};
    }
  }

 private:
  void check_list() const {
    std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> seen;
    for (std::uint32_t t = 0; t < transfers_.size(); ++t) {
      const Transfer& one = transfers_[t];
      if (one.from >= chips_.size() || one.to >= chips_.size() || one.from == one.to) {
        throw Refused{RefusalReason::wrong_chip,
                      fmt::format("{}, where {} chips have programs", text_of(one), chips_.size()),
                      "transfer from one chip to another"};
      }
      const auto [known, fresh] = seen.emplace(std::pair(std::string_view(one.tensor), one.to), t);
      if (fresh) continue;
      throw Refused{RefusalReason::doubled_transfer,
                    fmt::format("{} and {}", text_of(transfers_[known->second]), text_of(one)),
                    "send a tensor to a chip once"};
    }
  }

  void note(std::uint32_t chip, std::uint32_t t, bool sends) {
    if (t >= transfers_.size()) {
      throw Refused{RefusalReason::unknown_transfer,
                    fmt::format("chip {} {} transfer number {} of {}", chip,
                                sends ? "sends" : "receives", t, transfers_.size()),
                    "name a transfer of the list"};
    }
    const Transfer& one = transfers_[t];
    if (chip != (sends ? one.from : one.to)) {
      throw Refused{RefusalReason::wrong_chip,
                    fmt::format("chip {} {} {}", chip, sends ? "sends" : "receives", text_of(one)),
                    "let its own ends send and receive it"};
    }
    char& times = sends ? sent_[t] : received_[t];
    if (times++ == 0) return;
    throw Refused{RefusalReason::doubled_transfer,
                  fmt::format("{} is {} twice", text_of(one), sends ? "sent" : "received"),
                  "let one halt of the chip name it"};
  }

  const std::vector<ChipHalts>& chips_;
  const std::vector<Transfer>& transfers_;
  std::vector<char> sent_, received_;
};

class Relay {
 public:
  Relay(const std::vector<ChipHalts>& chips, const std::vector<Transfer>& transfers)
      : chips_(chips),
        transfers_(transfers),
        standing_(chips.size()),
        arrived_(transfers.size()),
        received_at_(transfers.size()) {
    for (const ChipHalts& chip : chips) {
      for (std::uint32_t h = 0; h < chip.halts.size(); ++h) {
        for (const std::uint32_t t : chip.halts[h].receives) received_at_[t] = h;
      }
    }
  }

  std::vector<RelayRound> run() {
    for (std::uint32_t c = 0; c < chips_.size(); ++c) begin(c);
    copy_first();
    while (!ready_.empty()) {
      RelayRound& round = rounds_.emplace_back();
      std::vector<std::uint32_t> now = std::exchange(ready_, {});
      std::sort(now.begin(), now.end());
      for (const std::uint32_t c : now) advance(c, round);
      for (const std::uint32_t t : round.copies) arrive(t);
      // Those that halt for nothing but to send go on as soon as that has been copied.
      for (const std::uint32_t c : now) {
        if (standing_[c].missing == 0) make_ready(c);
      }
    }
    for (std::uint32_t c = 0; c < chips_.size(); ++c) {
      if (standing_[c].boundary < chips_[c].sections || standing_[c].missing != 0) refuse();
    }
    return std::move(rounds_);
  }

 private:
  struct Standing {
    std::uint32_t boundary = 0;
    std::uint32_t next = 0;     ///< halt that comes next: at this boundary or later
    std::uint32_t missing = 0;  ///< of what the halt at this boundary receives
    bool ready = false;
  };

  [[nodiscard]] const Halt* halt_of(std::uint32_t c) const {
    const Standing& at = standing_[c];
    const auto& halts = chips_[c].halts;
    return at.next < halts.size() && halts[at.next].boundary == at.boundary ? &halts[at.next]
                                                                            : nullptr;
  }

  void begin(std::uint32_t c) {
    count_missing(c);
    if (standing_[c].missing == 0) make_ready(c);
  }

  /// What a chip sends before its first section.
  void copy_first() {
    RelayRound first;
    for (std::uint32_t c = 0; c < chips_.size(); ++c) {
      if (const Halt* halt = halt_of(c))
        first.copies.insert(first.copies.end(), halt->sends.begin(), halt->sends.end());
    }
    if (first.copies.empty()) return;
    rounds_.push_back(first);
    for (const std::uint32_t t : first.copies) arrive(t);
  }

  void count_missing(std::uint32_t c) {
    Standing& at = standing_[c];
    at.missing = 0;
    if (const Halt* halt = halt_of(c)) {
      for (const std::uint32_t t : halt->receives) at.missing += arrived_[t] == 0 ? 1 : 0;
    }
  }

  void make_ready(std::uint32_t c) {
    Standing& at = standing_[c];
    if (at.ready || at.boundary >= chips_[c].sections) return;
    at.ready = true;
    ready_.push_back(c);
  }

  void advance(std::uint32_t c, RelayRound& round) {
    Standing& at = standing_[c];
    at.ready = false;
    if (halt_of(c) != nullptr) ++at.next;
    const auto& halts = chips_[c].halts;
    const std::uint32_t to = at.next < halts.size() ? halts[at.next].boundary : chips_[c].sections;
    round.runs.push_back({c, at.boundary, to});
    at.boundary = to;
    count_missing(c);
    if (const Halt* halt = halt_of(c))
      round.copies.insert(round.copies.end(), halt->sends.begin(), halt->sends.end());
  }

  void arrive(std::uint32_t t) {
    arrived_[t] = 1;
    const std::uint32_t c = transfers_[t].to;
    if (halt_of(c) == nullptr || standing_[c].next != received_at_[t]) return;
    if (--standing_[c].missing == 0) make_ready(c);
  }

  [[noreturn]] void refuse() const {
    std::string where;
    for (std::uint32_t c = 0; c < chips_.size(); ++c) {
      const Standing& at = standing_[c];
      if (c > 0) where += "; ";
      if (at.missing == 0) {
        where += fmt::format("chip {} is at its end", c);
        continue;
      }
      where += fmt::format("chip {} stands before section {} of {} and waits for", c,
                           at.boundary + 1, chips_[c].sections);
      const char* separator = " ";
      for (const std::uint32_t t : halt_of(c)->receives) {
        if (arrived_[t] != 0) continue;
        where +=
            fmt::format("{}\"{}\" of chip {}", separator, transfers_[t].tensor, transfers_[t].from);
        separator = ", ";
      }
    }
    std::string sent;
    for (std::uint32_t t = 0; t < transfers_.size(); ++t) {
      if (arrived_[t] == 0) continue;
      sent += (sent.empty() ? "" : ", ") + text_of(transfers_[t]);
    }
    throw Refused{RefusalReason::circular_relay,
                  fmt::format("no chip can go on: {}; sent so far: {}", where,
                              sent.empty() ? "nothing" : sent),
                  "order the sections so that what a chip waits for is made before it"};
  }

  const std::vector<ChipHalts>& chips_;
  const std::vector<Transfer>& transfers_;
  std::vector<Standing> standing_;
  std::vector<char> arrived_;
  std::vector<std::uint32_t> received_at_;  // halt of the receiving chip
  std::vector<std::uint32_t> ready_;
  std::vector<RelayRound> rounds_;
};

void check_halts(const std::vector<ChipHalts>& chips) {
  for (const ChipHalts& chip : chips) {
    for (std::size_t h = 0; h < chip.halts.size(); ++h) {
      SPATIALCERT_REQUIRE(chip.halts[h].boundary <= chip.sections, "a halt is at a boundary");
      SPATIALCERT_REQUIRE(h == 0 || chip.halts[h - 1].boundary < chip.halts[h].boundary,
                          "halts are in order, one per boundary");
    }
  }
}

}  // namespace

Outcome<std::vector<RelayRound>> relay_schedule(const std::vector<ChipHalts>& chips,
                                                const std::vector<Transfer>& transfers) {
  try {
    check_halts(chips);
    TransferCheck(chips, transfers).run();
    return Relay(chips, transfers).run();
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose::parallel
