#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "proofs/canonical.hpp"
#include "proofs/memory/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::memory {
namespace {

/// Buffers per window of the address line. A byte that two buffers share lies in one of the
/// windows, and a window knows every buffer that reaches into it.
constexpr std::size_t kWindow = 64;
/// Buffers per query: small windows are asked about together, each with a byte of its own.
constexpr std::size_t kPerQuery = 128;

struct Window {
  std::vector<ir::BufferId> members;  ///< by address
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t size = 0;  ///< of the space
};

class Prover {
 public:
  Prover(const Subject& subject, smt::Session& session)
      : program_(*subject.program), session_(session) {}

  Search<Witness> run() {
    Witness witness;
    for (const Occupancy& o : occupancies(program_)) {
      auto order = o.buffers;
      std::stable_sort(order.begin(), order.end(), [&](ir::BufferId a, ir::BufferId b) {
        return at(a).address < at(b).address;
      });
      for (const ir::BufferId id : order) {
        if (auto c = misfit(id)) return Refuted{std::move(*c)};
      }
      cut(o, order);
      if (pending_ >= kPerQuery) {
        if (auto other = ask()) return std::move(*other);
      }
      witness.order.push_back(std::move(order));
    }
    if (auto other = ask()) return std::move(*other);
    return Proved<Witness>{std::move(witness)};
  }

 private:
  [[nodiscard]] const ir::Buffer& at(ir::BufferId id) const { return program_.buffers[id.value()]; }
  [[nodiscard]] std::uint64_t end(ir::BufferId id) const { return at(id).address + at(id).bytes(); }

  /// Alignment is a matter of constants; size is asked again with the overlaps.
  [[nodiscard]] std::optional<Counterexample> misfit(ir::BufferId id) const {
    const ir::MemorySpace& space = program_.target.spaces[at(id).space.value()];
    Counterexample c;
    c.buffers = {id};
    if (end(id) > space.bytes) {
      c.kind = Kind::out_of_memory;
      c.value = static_cast<std::int64_t>(end(id));
      c.limit = static_cast<std::int64_t>(space.bytes);
    } else if (at(id).address % space.alignment != 0) {
      c.kind = Kind::misaligned;
      c.value = static_cast<std::int64_t>(at(id).address);
      c.limit = static_cast<std::int64_t>(space.alignment);
    } else {
      return std::nullopt;
    }
    return c;
  }

  void cut(const Occupancy& o, const std::vector<ir::BufferId>& order) {
    const std::uint64_t size = program_.target.spaces[o.space.value()].bytes;
    std::vector<ir::BufferId> reaching;  // begin before the window, end inside or beyond it
    for (std::size_t first = 0; first < order.size(); first += kWindow) {
      const std::size_t last = std::min(order.size(), first + kWindow);
      Window window;
      window.low = first == 0 ? 0 : at(order[first]).address;
      window.high = last == order.size() ? size : at(order[last]).address;
      window.size = size;
      std::erase_if(reaching, [&](ir::BufferId id) { return end(id) <= window.low; });
      window.members = reaching;
      window.members.insert(window.members.end(),
                            order.begin() + static_cast<std::ptrdiff_t>(first),
                            order.begin() + static_cast<std::ptrdiff_t>(last));
      reaching = window.members;
      if (session_.classes && !asked_.insert(key_of(window)).second) {
        ++session_.repeated;
        continue;
      }
      pending_ += window.members.size();
      windows_.push_back(std::move(window));
    }
  }

  /// Equal layouts are one question. An unequal answer would end the search at the first of them.
  [[nodiscard]] smt::QuestionKey key_of(const Window& window) const {
    CanonicalText text('m');
    text.number(window.low);
    text.number(window.high);
    text.number(window.size);
    for (const ir::BufferId id : window.members) {
      text.number(at(id).address);
      text.number(end(id));
    }
    return text.key();
  }

  /// Asks about the pending windows, some at a time: a question about thousands of buffers takes
  /// longer than its parts.
  std::optional<Search<Witness>> ask() {
    const auto all = std::exchange(windows_, {});
    pending_ = 0;
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
      for (std::size_t members = 0; last < all.size() && members < kPerQuery; ++last)
        members += all[last].members.size();
      const auto begin = all.begin();
      if (auto other = ask({begin + static_cast<std::ptrdiff_t>(first),
                            begin + static_cast<std::ptrdiff_t>(last)}))
        return other;
    }
    return std::nullopt;
  }

  std::optional<Search<Witness>> ask(const std::vector<Window>& windows) {
    smt::Query query = session_.query(smt::Logic::linear);
    std::vector<smt::Term> wrong;
    for (std::size_t w = 0; w < windows.size(); ++w) describe(query, w, windows[w], wrong);
    query.require(query.any_of(wrong));
    const smt::Answer answer = session_.solve(query);
    if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
      return Unknown{undecided->reason};
    if (std::holds_alternative<smt::Impossible>(answer)) return std::nullopt;
    for (const Window& window : windows) {
      if (auto shared = first_shared(window.members)) return Refuted{std::move(*shared)};
    }
    return Unknown{"the solver claims a shared byte that is not there"};
  }

  /// "Byte w of window w lies in two of its buffers, or one of them ends beyond the space."
  void describe(smt::Query& query, std::size_t w, const Window& window,
                std::vector<smt::Term>& wrong) const {
    const auto number = [&](std::uint64_t v) {
      return query.constant(static_cast<std::int64_t>(v));
    };
    const smt::Term byte = query.integer(fmt::format("byte_{}", w));
    std::vector<smt::Term> count;
    for (const ir::BufferId id : window.members) {
      const smt::Term holds = query.all_of(
          {query.at_most(number(at(id).address), byte), query.less(byte, number(end(id)))});
      count.push_back(query.if_then_else(holds, query.constant(1), query.constant(0)));
      wrong.push_back(query.less(number(window.size), number(end(id))));
    }
    wrong.push_back(query.all_of({query.at_most(number(window.low), byte),
                                  query.less(byte, number(window.high)),
                                  query.at_most(query.constant(2), query.sum(count))}));
  }

  /// The pair that shares the lowest byte; of those the first by address.
  [[nodiscard]] std::optional<Counterexample> first_shared(
      const std::vector<ir::BufferId>& members) const {
    std::optional<Counterexample> best;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t k = i + 1; k < members.size() && at(members[k]).address < end(members[i]);
           ++k) {
        const auto byte =
            static_cast<std::int64_t>(std::max(at(members[i]).address, at(members[k]).address));
        if (best && best->value <= byte) continue;
        best.emplace();
        best->kind = Kind::overlap;
        best->buffers = {members[i], members[k]};
        best->value = byte;
      }
    }
    return best;
  }

  const ir::Program& program_;
  smt::Session& session_;
  std::vector<Window> windows_;  // not yet asked about
  std::size_t pending_ = 0;      // buffers in them
  std::set<smt::QuestionKey> asked_;
};

}  // namespace

Search<Witness> prove(const Subject& subject, smt::Session& session) {
  for (const ir::MemorySpace& space : subject.program->target.spaces) {
    if (space.bytes > (std::uint64_t{1} << 62))
      return Unknown{fmt::format("space {} is larger than 2^62 bytes", space.name)};
  }
  return Prover(subject, session).run();
}

}  // namespace spatialcert::proofs::memory
