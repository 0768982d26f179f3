#include "proofs/shard/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::proofs::shard {
namespace {

constexpr std::size_t kBits = 64;

bool bit(const std::vector<std::uint64_t>& set, std::size_t number) {
  return (set[number / kBits] >> (number % kBits) & 1U) != 0;
}

bool any(const std::vector<std::uint64_t>& set) {
  return std::any_of(set.begin(), set.end(), [](std::uint64_t word) { return word != 0; });
}

}  // namespace

Labels::Labels(const ir::Program& program) : of_target_(program.target.chips) {
  std::set<std::uint32_t> chips;
  for (const ir::Tensor& tensor : program.tensors) {
    if (tensor.owner) chips.insert(*tensor.owner);
  }
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.init == ir::Init::external) chips.insert(buffer.site.chip);
  }
  chips_.assign(chips.begin(), chips.end());
  intern(empty());
}

std::size_t Labels::number(std::uint32_t chip) const {
  const auto at = std::lower_bound(chips_.begin(), chips_.end(), chip);
  SPATIALCERT_REQUIRE(at != chips_.end() && *at == chip, "a chip that owns nothing");
  return static_cast<std::size_t>(at - chips_.begin());
}

Label Labels::empty() const {
  const std::size_t words = (chips_.size() + kBits - 1) / kBits;
  const std::vector<std::uint64_t> none(words, 0);
  return {none, none, none, false};
}

LabelId Labels::intern(Label label) {
  const auto [at, fresh] = index_.emplace(std::move(label), static_cast<LabelId>(labels_.size()));
  if (fresh) labels_.push_back(&at->first);
  return at->second;
}

LabelId Labels::own(std::uint32_t chip) {
  Label label = empty();
  const std::size_t n = number(chip);
  label.chips[n / kBits] |= std::uint64_t{1} << (n % kBits);
  return intern(std::move(label));
}

LabelId Labels::join(LabelId a, LabelId b) {
  if (a == b || b == kReplicated) return a;
  if (a == kReplicated) return b;
  const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
  if (const auto known = joined_.find(key); known != joined_.end()) return known->second;
  Label label = *labels_[a];
  const Label& other = *labels_[b];
  for (std::size_t w = 0; w < label.chips.size(); ++w) {
    const std::uint64_t sure =
        (label.chips[w] & ~label.partly[w]) | (other.chips[w] & ~other.partly[w]);
    label.chips[w] |= other.chips[w];
    label.doubled[w] |= other.doubled[w];
    label.partly[w] = label.chips[w] & ~sure;
  }
  label.reduced = label.reduced || other.reduced;
  const LabelId joined = intern(std::move(label));
  joined_.emplace(key, joined);
  return joined;
}

LabelId Labels::blend(LabelId a, LabelId b) {
  if (a == b) return a;
  const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
  if (const auto known = blended_.find(key); known != blended_.end()) return known->second;
  Label label = *labels_[a];
  const Label& other = *labels_[b];
  for (std::size_t w = 0; w < label.chips.size(); ++w) {
    label.partly[w] |= other.partly[w] | (label.chips[w] ^ other.chips[w]);
    label.chips[w] |= other.chips[w];
    label.doubled[w] |= other.doubled[w];
  }
  label.reduced = label.reduced || other.reduced;
  const LabelId blended = intern(std::move(label));
  blended_.emplace(key, blended);
  return blended;
}

bool Labels::everybody(const std::vector<std::uint64_t>& chips) const {
  if (chips_.size() != of_target_) return false;
  for (std::size_t n = 0; n < chips_.size(); ++n) {
    if (!bit(chips, n)) return false;
  }
  return true;
}

LabelId Labels::reduce(const std::vector<LabelId>& operands) {
  Label sum = empty();
  std::vector<std::uint64_t> sure(sum.chips.size(), 0);
  for (const LabelId id : operands) {
    const Label& operand = *labels_[id];
    for (std::size_t w = 0; w < sum.chips.size(); ++w) {
      sum.doubled[w] |= operand.doubled[w] | (sum.chips[w] & operand.chips[w]);
      sum.chips[w] |= operand.chips[w];
      sure[w] |= operand.chips[w] & ~operand.partly[w];
    }
  }
  if (!any(sum.doubled) && everybody(sure)) return kReplicated;
  for (std::size_t w = 0; w < sum.chips.size(); ++w) sum.partly[w] = sum.chips[w] & ~sure[w];
  sum.reduced = any(sum.chips);
  return intern(std::move(sum));
}

bool Labels::alike(LabelId a, LabelId b) const {
  return a == b ||
         (labels_[a]->chips == labels_[b]->chips && labels_[a]->partly == labels_[b]->partly &&
          any(labels_[a]->doubled) == any(labels_[b]->doubled));
}

bool Labels::has(LabelId id, std::size_t number) const { return bit(labels_[id]->chips, number); }
bool Labels::has_twice(LabelId id, std::size_t number) const {
  return bit(labels_[id]->doubled, number);
}
bool Labels::has_partly(LabelId id, std::size_t number) const {
  return bit(labels_[id]->partly, number);
}

Dataflow::Dataflow(const ir::Program& program, const ir::Unrolled& unrolled,
                   const ir::AccessMap& accesses)
    : program_(program),
      unrolled_(unrolled),
      accesses_(accesses),
      begin_(unrolled.transitions() + 1, 0) {
  for (const ir::ResolvedAccess& a : accesses.accesses) ++begin_[a.transition.value() + 1];
  for (std::size_t t = 1; t < begin_.size(); ++t) begin_[t] += begin_[t - 1];
}

bool Dataflow::spine(std::uint32_t segment) const {
  const ir::Storage& storage = accesses_.storages[accesses_.segments[segment].storage];
  return storage.kind == ir::Storage::Kind::tensor && !program_.tensors[storage.object].owner;
}

std::optional<std::uint32_t> Dataflow::initial_owner(std::uint32_t segment) const {
  const ir::Segment& s = accesses_.segments[segment];
  const ir::Storage& storage = accesses_.storages[s.storage];
  if (storage.kind == ir::Storage::Kind::tensor) return program_.tensors[storage.object].owner;
  if (storage.kind == ir::Storage::Kind::memory && s.init == ir::Init::external) {
    return storage.site.chip;
  }
  return std::nullopt;
}

Dataflow::Operand Dataflow::operand(std::uint32_t first, std::uint32_t end) const {
  Operand out;
  std::uint64_t at = 0;
  for (std::uint32_t a = first; a < end; ++a) {
    const ir::ResolvedAccess& access = accesses_.accesses[a];
    const ir::Storage& storage = accesses_.storages[access.storage];
    const std::uint64_t unit = storage.kind == ir::Storage::Kind::tensor
                                   ? ir::size_of(program_.tensors[storage.object].dtype)
                                   : 1;
    for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s) {
      const std::uint64_t bytes = (accesses_.segments[s].high - accesses_.segments[s].low) * unit;
      out.push_back({at, at + bytes, s});
      at += bytes;
    }
  }
  return out;
}

void Dataflow::ordinary(const std::vector<Operand>& reads, const std::vector<Operand>& writes) {
  Part part;
  for (const Operand& read : reads) {
    for (const Stretch& s : read) part.reads.push_back(s.segment);
    part.ends.push_back(part.reads.size());
  }
  for (const Operand& write : writes) {
    for (const Stretch& s : write) part.writes.push_back(s.segment);
  }
  step_.parts.push_back(std::move(part));
}

void Dataflow::element_by_element(const std::vector<Operand>& reads,
                                  const std::vector<Operand>& writes) {
  const std::uint64_t length = reads.front().back().high;
  std::vector<const Operand*> alike;
  for (const Operand& write : writes) {
    if (write.back().high == length) alike.push_back(&write);
    if (write.back().high == length) continue;
    for (const Stretch& s : write) step_.mixed.push_back(s.segment);
  }
  std::vector<std::size_t> from(reads.size(), 0), to(alike.size(), 0);
  for (std::uint64_t low = 0; low < length;) {
    Part part;
    std::uint64_t high = length;
    for (std::size_t o = 0; o < reads.size(); ++o) high = std::min(high, reads[o][from[o]].high);
    for (std::size_t o = 0; o < reads.size(); ++o) {
      part.reads.push_back(reads[o][from[o]].segment);
      part.ends.push_back(part.reads.size());
      if (reads[o][from[o]].high == high) ++from[o];
    }
    for (std::size_t w = 0; w < alike.size(); ++w) {
      const Operand& write = *alike[w];
      while (to[w] < write.size() && write[to[w]].low < high) {
        part.writes.push_back(write[to[w]].segment);
        if (write[to[w]].high > high) break;  // the next piece writes to it as well
        ++to[w];
      }
    }
    step_.parts.push_back(std::move(part));
    low = high;
  }
}

const Step& Dataflow::step(std::uint32_t t) {
  step_.reduces = false;
  step_.parts.clear();
  step_.mixed.clear();
  if (begin_[t] == begin_[t + 1]) return step_;
  std::vector<Operand> reads, writes;
  // Several resolved accesses make up one region whose rows are not whole.
  for (std::uint32_t a = begin_[t]; a < begin_[t + 1];) {
    std::uint32_t next = a + 1;
    while (next < begin_[t + 1] && accesses_.accesses[next].access == accesses_.accesses[a].access)
      ++next;
    (accesses_.accesses[a].write ? writes : reads).push_back(operand(a, next));
    a = next;
  }
  const ir::Stage& stage = program_.stages[unrolled_.op_of(program_, ir::TransitionId(t)).object];
  const bool combines =
      stage.op == ir::OpKind::add || stage.op == ir::OpKind::sum || stage.op == ir::OpKind::max;
  step_.reduces = stage.kind == ir::StageKind::allreduce && combines && !reads.empty() &&
                  std::all_of(reads.begin(), reads.end(), [&](const Operand& read) {
                    return read.back().high == reads.front().back().high;
                  });
  if (step_.reduces) {
    element_by_element(reads, writes);
  } else {
    ordinary(reads, writes);
  }
  return step_;
}

LabelRun::LabelRun(const ir::Program& program, const ir::Unrolled& unrolled,
                   const ir::AccessMap& accesses)
    : labels_(own_.emplace(program)), dataflow_(program, unrolled, accesses) {
  for (std::uint32_t s = 0; s < accesses.segments.size(); ++s) {
    const auto owner = dataflow_.initial_owner(s);
    initial_.push_back(owner ? labels_.own(*owner) : kReplicated);
  }
  contents_ = initial_;
  fresh_.assign(contents_.size(), 0);
}

LabelRun::LabelRun(Labels& labels, const ir::Program& program, const ir::Unrolled& unrolled,
                   const ir::AccessMap& accesses, std::vector<LabelId> contents)
    : labels_(labels),
      dataflow_(program, unrolled, accesses),
      initial_(std::move(contents)),
      contents_(initial_),
      fresh_(initial_.size(), 0) {
  SPATIALCERT_REQUIRE(initial_.size() == accesses.segments.size(), "a label per segment");
}

std::optional<Leak> LabelRun::perform(std::uint32_t t) {
  const Step& step = dataflow_.step(t);
  results_.clear();
  for (const Part& part : step.parts) {
    operands_.clear();
    std::size_t at = 0;
    for (const std::size_t end : part.ends) {
      LabelId operand = contents_[part.reads[at]];
      while (++at < end) operand = labels_.blend(operand, contents_[part.reads[at]]);
      operands_.push_back(operand);
    }
    LabelId result = kReplicated;
    if (step.reduces) {
      result = labels_.reduce(operands_);
    } else {
      for (const LabelId operand : operands_) result = labels_.join(result, operand);
    }
    results_.push_back(result);
  }
  // What was read has been read: now the old labels go.
  written_ = step.mixed;
  for (const Part& part : step.parts)
    written_.insert(written_.end(), part.writes.begin(), part.writes.end());
  for (const std::uint32_t s : written_) fresh_[s] = 1;
  const auto receive = [&](std::uint32_t s, LabelId result) {
    const bool first = std::exchange(fresh_[s], char{0}) != 0;
    blurred_ = blurred_ || (!first && contents_[s] != result);
    contents_[s] = first ? result : labels_.blend(contents_[s], result);
  };
  LabelId all = results_.empty() ? kReplicated : results_.front();
  for (std::size_t p = 0; p < step.parts.size(); ++p) {
    all = labels_.blend(all, results_[p]);
    for (const std::uint32_t s : step.parts[p].writes) receive(s, results_[p]);
  }
  for (const std::uint32_t s : step.mixed) receive(s, all);
  std::optional<Leak> leak;
  for (const std::uint32_t s : written_) {
    if (!dataflow_.spine(s)) continue;
    ++stores_;
    if (!leak && contents_[s] != kReplicated) leak = Leak{ir::TransitionId(t), s, contents_[s]};
  }
  return leak;
}

void LabelRun::restart(const std::vector<char>& kept) {
  for (std::size_t s = 0; s < contents_.size(); ++s) {
    if (kept[s] == 0) contents_[s] = initial_[s];
  }
}

namespace {

/// How many chips' data are in all of a content, and whether some are in it twice.
struct Extent {
  std::size_t chips = 0;
  bool twice = false;
};
Extent extent(const Labels& labels, LabelId label) {
  Extent out;
  for (std::size_t n = 0; n < labels.chips().size(); ++n) {
    out.chips += labels.has(label, n) && !labels.has_partly(label, n) ? 1 : 0;
    out.twice = out.twice || labels.has_twice(label, n);
  }
  return out;
}

}  // namespace

Kind kind_of(const ir::Program& program, const Labels& labels, LabelId label) {
  const Extent found = extent(labels, label);
  if (found.twice) return Kind::double_contribution;
  if (labels[label].reduced && found.chips < program.target.chips) return Kind::missing_chip;
  return Kind::leak;
}

std::vector<TermDifference> contributions(const ir::Program& program, const Labels& labels,
                                          LabelId label) {
  std::vector<TermDifference> out;
  const auto add = [&](std::uint32_t chip, std::int64_t found) {
    if (out.size() < kMostChips) out.push_back({fmt::format("chip {}", chip), found, 1});
  };
  const std::vector<std::uint32_t>& owning = labels.chips();
  const auto times = [&](std::size_t n) -> std::int64_t {
    if (labels.has_twice(label, n)) return 2;
    return labels.has(label, n) && !labels.has_partly(label, n) ? 1 : 0;
  };
  for (std::size_t n = 0; n < owning.size(); ++n) {
    if (times(n) != 1) add(owning[n], times(n));
  }
  // Chips that own nothing, as far as there is room for them.
  std::size_t next = 0;
  for (std::uint32_t chip = 0; chip < program.target.chips && out.size() < kMostChips; ++chip) {
    if (next < owning.size() && owning[next] == chip) {
      ++next;
    } else {
      add(chip, 0);
    }
  }
  for (std::size_t n = 0; n < owning.size(); ++n) {
    if (times(n) == 1) add(owning[n], 1);
  }
  return out;
}

}  // namespace spatialcert::proofs::shard
