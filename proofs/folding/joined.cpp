#include "proofs/folding/joined.hpp"

#include <algorithm>

namespace spatialcert::proofs::folding {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

/// Nodes are the sets, then the transitions of their own.
class Quotient {
 public:
  Quotient(const Subject& subject, const std::vector<std::uint32_t>& joined, std::size_t sets)
      : subject_(subject), sets_(static_cast<std::uint32_t>(sets)), node_(joined) {
    std::uint32_t next = sets_;
    for (std::uint32_t& node : node_) {
      if (node == kNone) node = next++;
    }
    first_.assign(next + 1, 0);
    into_.assign(next, 0);
    each_edge([&](std::uint32_t from, std::uint32_t to) {
      ++first_[from + 1];
      ++into_[to];
    });
    for (std::uint32_t n = 0; n < next; ++n) first_[n + 1] += first_[n];
    out_.resize(first_.back());
    auto at = first_;
    each_edge([&](std::uint32_t from, std::uint32_t to) { out_[at[from]++] = to; });
  }

  /// Takes away nodes that nothing leads to, for as long as there are some.
  std::optional<std::uint32_t> remaining_set() {
    std::vector<std::uint32_t> free;
    for (std::uint32_t n = 0; n < into_.size(); ++n) {
      if (into_[n] == 0) free.push_back(n);
    }
    std::size_t taken = 0;
    for (; taken < free.size(); ++taken) {
      const std::uint32_t n = free[taken];
      for (std::uint32_t e = first_[n]; e < first_[n + 1]; ++e) {
        if (--into_[out_[e]] == 0) free.push_back(out_[e]);
      }
    }
    if (taken == into_.size()) return std::nullopt;
    for (std::uint32_t n = 0; n < sets_; ++n) {
      if (into_[n] != 0) return n;
    }
    return 0;  // a circuit of single transitions
  }

 private:
  template <typename Visit>
  void each_edge(Visit visit) const {
    const ir::Unrolled& one = subject_.one;
    const auto edge = [&](std::uint32_t from, std::uint32_t to) {
      if (node_[from] != node_[to]) visit(node_[from], node_[to]);
    };
    for (std::uint32_t t = 0; t + 1 < one.transitions(); ++t) {
      if (one.program[t] == one.program[t + 1]) edge(t, t + 1);
    }
    for (const ir::Place& place : subject_.net.places) {
      if (place.tokens == 0) edge(place.from.value(), place.to.value());
    }
  }

  const Subject& subject_;
  std::uint32_t sets_;
  std::vector<std::uint32_t> node_;
  std::vector<std::uint32_t> first_, into_, out_;
};

}  // namespace

std::optional<std::uint32_t> on_a_circuit(const Subject& subject,
                                          const std::vector<std::uint32_t>& joined,
                                          std::size_t sets) {
  return Quotient(subject, joined, sets).remaining_set();
}

}  // namespace spatialcert::proofs::folding
