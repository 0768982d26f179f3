#include <fmt/format.h>

#include <algorithm>

#include "proofs/memory/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::memory {
namespace {

/// Buffers per query. Larger occupancies are cut into windows of the address line; a byte that two buffers share
/// lies in one of the windows, and a window's query speaks of every buffer that reaches into it.
constexpr std::size_t kWindow = 64;

class Prover {
 public:
  Prover(const Subject& subject, smt::Session& session) : program_(*subject.program), session_(session) {}

  Search<Witness> run() {
    Witness witness;
    for (const Occupancy& o : occupancies(program_)) {
      auto order = o.buffers;
      std::stable_sort(order.begin(), order.end(), [&](ir::BufferId a, ir::BufferId b) { return at(a).address < at(b).address; });
      for (const ir::BufferId id : order) {
        if (auto c = misfit(id)) return Refuted{std::move(*c)};
      }
      if (auto other = ask(o, order)) return std::move(*other);
      witness.order.push_back(std::move(order));
    }
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

  std::optional<Search<Witness>> ask(const Occupancy& o, const std::vector<ir::BufferId>& order) {
    const std::uint64_t size = program_.target.spaces[o.space.value()].bytes;
    std::vector<ir::BufferId> reaching;  // begin before the window, end inside or beyond it
    for (std::size_t first = 0; first < order.size(); first += kWindow) {
      const std::size_t last = std::min(order.size(), first + kWindow);
      const std::uint64_t low = first == 0 ? 0 : at(order[first]).address;
      const std::uint64_t high = last == order.size() ? size : at(order[last]).address;
      std::erase_if(reaching, [&](ir::BufferId id) { return end(id) <= low; });
      std::vector<ir::BufferId> members = reaching;
      members.insert(members.end(), order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(last));
      if (auto other = ask_window(members, low, high, size)) return other;
      reaching = std::move(members);
    }
    return std::nullopt;
  }

  std::optional<Search<Witness>> ask_window(const std::vector<ir::BufferId>& members, std::uint64_t low,
                                            std::uint64_t high, std::uint64_t size) {
    const auto number = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
    smt::Query query = session_.query(smt::Logic::linear);
    const smt::Term byte = query.integer("byte");
    std::vector<smt::Term> holds, beyond, count;
    for (const ir::BufferId id : members) {
      holds.push_back(query.all_of({query.at_most(query.constant(number(at(id).address)), byte),
                                    query.less(byte, query.constant(number(end(id))))}));
      count.push_back(query.if_then_else(holds.back(), query.constant(1), query.constant(0)));
      beyond.push_back(query.less(query.constant(number(size)), query.constant(number(end(id)))));
    }
    const smt::Term inside = query.all_of({query.at_most(query.constant(number(low)), byte),
                                           query.less(byte, query.constant(number(high)))});
    const smt::Term shared = query.all_of({inside, query.at_most(query.constant(2), query.sum(count))});
    beyond.push_back(shared);
    query.require(query.any_of(beyond));
    const smt::Answer answer = session_.solve(query);
    if (const auto* undecided = std::get_if<smt::Undecided>(&answer)) return Unknown{undecided->reason};
    if (std::holds_alternative<smt::Impossible>(answer)) return std::nullopt;
    return first_shared(members);
  }

  /// The pair that shares the lowest byte; of those the first by address.
  [[nodiscard]] Search<Witness> first_shared(const std::vector<ir::BufferId>& members) const {
    std::optional<Counterexample> best;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t k = i + 1; k < members.size() && at(members[k]).address < end(members[i]); ++k) {
        const auto byte = static_cast<std::int64_t>(std::max(at(members[i]).address, at(members[k]).address));
        if (best && best->value <= byte) continue;
        best.emplace();
        best->kind = Kind::overlap;
        best->buffers = {members[i], members[k]};
        best->value = byte;
      }
    }
    if (!best) return Unknown{"the solver claims a shared byte that is not there"};
    return Refuted{std::move(*best)};
  }

  const ir::Program& program_;
  smt::Session& session_;
};

}  // namespace

Search<Witness> prove(const Subject& subject, smt::Session& session) {
  for (const ir::MemorySpace& space : subject.program->target.spaces) {
    if (space.bytes > (std::uint64_t{1} << 62)) return Unknown{fmt::format("space {} is larger than 2^62 bytes", space.name)};
  }
  return Prover(subject, session).run();
}

}  // namespace spatialcert::proofs::memory
