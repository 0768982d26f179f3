#include "proofs/composition/find.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::proofs::composition {
namespace {

/// Mixes numbers; what is equal has equal sums, and little else has.
class Hash {
 public:
  void add(std::uint64_t number) {
    sum_ = (sum_ ^ number) * 0x9e3779b97f4a7c15U;
    sum_ ^= sum_ >> 29U;
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0x243f6a8885a308d3U;
};

std::uint64_t hash_of(const ir::Program& program, const Excerpt& excerpt) {
  Hash hash;
  for (const ir::Op& op : excerpt.ops) {
    hash.add(static_cast<std::uint64_t>(op.code) << 32U | op.object);
    hash.add(static_cast<std::uint64_t>(op.count));
    hash.add(std::uint64_t{op.accesses} << 32U | op.body);
  }
  for (const ir::Access& access : excerpt.accesses) {
    const ir::Region& region = access.region;
    hash.add(std::uint64_t{region.object} << 8U | std::uint64_t{access.write ? 4U : 0U} |
             static_cast<std::uint64_t>(region.kind));
    hash.add(std::uint64_t{region.page} << 32U | region.terms);
    for (const std::int64_t bound : region.bound) hash.add(static_cast<std::uint64_t>(bound));
  }
  for (const std::uint32_t begin : excerpt.begin) hash.add(begin);
  for (const std::uint32_t site : excerpt.sites) hash.add(site);
  for (const std::uint32_t t : excerpt.tensors) {
    hash.add(program.tensors[t].rows);
    hash.add(program.tensors[t].cols);
  }
  for (const std::uint32_t b : excerpt.buffers) hash.add(program.buffers[b].bytes());
  return hash.sum();
}

/// Tries the classes of equal hashes. Stops when too much stands for itself.
class Search final : public Guess {
 public:
  Search(const ir::Program& program, std::uint64_t most_ops)
      : program_(program), most_ops_(most_ops) {}

  void candidates(const Excerpt& excerpt, std::vector<std::uint32_t>& out) override {
    same_ = &classes_[hash_of(program_, excerpt)];
    out.insert(out.end(), same_->begin(), same_->end());
    ops_at_hand_ = excerpt.ops.size();
  }

  bool may_found() override {
    same_->push_back(founded_++);
    ops_ += ops_at_hand_;
    return ops_ <= most_ops_;
  }
  [[nodiscard]] bool exceeded() const { return ops_ > most_ops_; }

 private:
  const ir::Program& program_;
  std::uint64_t most_ops_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> classes_;
  std::vector<std::uint32_t>* same_ = nullptr;
  std::uint64_t ops_at_hand_ = 0;
  std::uint64_t ops_ = 0;
  std::uint32_t founded_ = 0;
};

}  // namespace

std::variant<Division, NoDivision> find(const ir::Program& program, unsigned percent) {
  if (program.sections.size() < 2) return NoDivision{"there is one section"};
  Search search(program, ir::op_count(program) * percent / 100);
  auto found = divide(program, search);
  if (auto* objection = std::get_if<Objection>(&found)) {
    return NoDivision{search.exceeded() ? "too few sections are alike" : std::move(objection->why)};
  }
  return std::move(std::get<Division>(found));
}

}  // namespace spatialcert::proofs::composition
