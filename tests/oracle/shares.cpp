#include "tests/oracle/shares.hpp"

#include <algorithm>
#include <array>

#include "ir/require.hpp"
#include "ir/token_game.hpp"
#include "tests/oracle/memory_model.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Kind;

constexpr std::size_t kMostChips = 8;
/// Counts stop here: from two on they say the same.
constexpr int kMany = 100;

using Counts = std::array<int, kMostChips>;

struct Share {
  Counts most{};         ///< by chip: how often at most
  Counts least{};        ///< and at least
  bool reduced = false;  ///< by an all-reduce that did not clear it

  static std::size_t chips(const Counts& counts) {
    return kMostChips - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0));
  }
  [[nodiscard]] bool twice() const {
    return std::any_of(most.begin(), most.end(), [](int n) { return n > 1; });
  }
};

/// A location per byte: those of tensors are elements.
struct Bytes {
  std::vector<std::uint32_t> locations;
};

class Player {
 public:
  Player(const ir::Program& program, std::uint32_t rounds)
      : program_(program),
        persistent_(program.execution == ir::Execution::persistent),
        rounds_(rounds),
        unrolled_(std::get<ir::Unrolled>(ir::unroll(program, persistent_ ? rounds : 1))),
        model_(program, unrolled_) {
    SPATIALCERT_REQUIRE(program.target.chips <= kMostChips, "few chips");
    for (std::uint32_t t = 0; t < program.tensors.size(); ++t) tensor(t);
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) buffer(b);
    initial_.resize(model_.locations());
    for (const auto& [location, chip] : owner_)
      initial_[location].most[chip] = initial_[location].least[chip] = 1;
    now_ = initial_;
  }

  ShareFindings play(std::uint64_t seed) {
    const ir::TokenGame game(program_, unrolled_);
    for (round_ = 0; round_ < (persistent_ ? 1 : rounds_) && !found_.first; ++round_) {
      const ir::FreePlay play = ir::play_freely(game, seed);
      perform(game, play.schedule);
      for (std::uint32_t l = 0; l < now_.size(); ++l) {
        if (!kept_.contains(l)) now_[l] = initial_[l];
      }
    }
    return found_;
  }

 private:
  void tensor(std::uint32_t t) {
    const ir::Tensor& tensor = program_.tensors[t];
    ir::Region all;
    all.kind = ir::RegionKind::tensor;
    all.object = t;
    all.bound[1] = static_cast<std::int64_t>(tensor.rows);
    all.bound[3] = static_cast<std::int64_t>(tensor.cols);
    for (const std::uint32_t l : model_.locate(all)) {
      if (tensor.owner) owner_[l] = *tensor.owner;
      if (!tensor.owner) spine_.insert(l);
      if (tensor.role == ir::TensorRole::state) kept_.insert(l);
    }
  }
  void buffer(std::uint32_t b) {
    const ir::Buffer& buffer = program_.buffers[b];
    if (buffer.kind == ir::BufferKind::fifo) return;
    ir::Region all;
    all.object = b;
    all.bound[1] = static_cast<std::int64_t>(buffer.bytes());
    for (const std::uint32_t l : model_.locate(all)) {
      if (buffer.init == ir::Init::external) owner_[l] = buffer.site.chip;
      if (buffer.lifetime == ir::Lifetime::resident) kept_.insert(l);
    }
  }

  void perform(const ir::TokenGame& game, const ir::Schedule& schedule) {
    ir::PlayState state = game.start();
    for (const ir::ScheduleRun& run : schedule) {
      for (std::uint32_t i = 0; i < run.steps; ++i) {
        const std::uint32_t t = state.next[run.program.value()];
        const ir::Op& op = unrolled_.op_of(program_, ir::TransitionId(t));
        if (op.code == ir::OpCode::run) perform(t, program_.stages[op.object]);
        SPATIALCERT_REQUIRE(!game.step(state, run.program), "the schedule is playable");
      }
    }
  }

  [[nodiscard]] Bytes bytes_of(const Touch& touch) const {
    const ir::Region& region = program_.accesses[touch.access].region;
    const std::uint64_t size = region.kind == ir::RegionKind::tensor
                                   ? ir::size_of(program_.tensors[region.object].dtype)
                                   : 1;
    Bytes out;
    for (const std::uint32_t l : touch.content) out.locations.insert(out.locations.end(), size, l);
    return out;
  }

  /// Of what derives from both.
  static void join(Share& to, const Share& more) {
    for (std::size_t c = 0; c < kMostChips; ++c) {
      to.most[c] = std::max(to.most[c], more.most[c]);
      to.least[c] = std::max(to.least[c], more.least[c]);
    }
    to.reduced = to.reduced || more.reduced;
  }
  /// Of what derives from one of them, nobody knows which.
  [[nodiscard]] static Share either(const std::vector<Share>& all) {
    Share out = all.front();
    for (const Share& one : all) {
      for (std::size_t c = 0; c < kMostChips; ++c) {
        out.most[c] = std::max(out.most[c], one.most[c]);
        out.least[c] = std::min(out.least[c], one.least[c]);
      }
      out.reduced = out.reduced || one.reduced;
    }
    return out;
  }

  [[nodiscard]] Share reduced(const std::vector<Bytes>& reads, std::size_t at) const {
    Share sum;
    for (const Bytes& read : reads) {
      const Share& share = now_[read.locations[at]];
      for (std::size_t c = 0; c < kMostChips; ++c) {
        sum.most[c] = std::min(kMany, sum.most[c] + share.most[c]);
        sum.least[c] = std::min(kMany, sum.least[c] + share.least[c]);
      }
    }
    if (!sum.twice() && Share::chips(sum.least) == program_.target.chips) return {};
    sum.reduced = Share::chips(sum.most) != 0;
    return sum;
  }

  void perform(std::uint32_t t, const ir::Stage& stage) {
    std::vector<Bytes> reads, writes;
    for (const Touch& touch : model_.footprint(t).touches)
      (touch.write ? writes : reads).push_back(bytes_of(touch));
    const bool combines =
        stage.op == ir::OpKind::add || stage.op == ir::OpKind::sum || stage.op == ir::OpKind::max;
    const bool alike = std::all_of(reads.begin(), reads.end(), [&](const Bytes& read) {
      return read.locations.size() == reads.front().locations.size();
    });
    std::map<std::uint32_t, std::vector<Share>> results;  // by location
    if (stage.kind == ir::StageKind::allreduce && combines && !reads.empty() && alike) {
      const std::size_t length = reads.front().locations.size();
      for (std::size_t i = 0; i < length; ++i) {
        const Share share = reduced(reads, i);
        for (const Bytes& write : writes) {
          if (write.locations.size() == length) results[write.locations[i]].push_back(share);
          if (write.locations.size() == length) continue;
          for (const std::uint32_t l : write.locations) results[l].push_back(share);
        }
      }
    } else {
      Share all;
      for (const Bytes& read : reads) {
        std::vector<Share> shares;
        for (const std::uint32_t l : read.locations) shares.push_back(now_[l]);
        if (!shares.empty()) join(all, either(shares));
      }
      for (const Bytes& write : writes) {
        for (const std::uint32_t l : write.locations) results[l] = {all};
      }
    }
    const std::uint32_t round = persistent_ ? unrolled_.iteration(ir::TransitionId(t)) : round_;
    for (const auto& [location, shares] : results) {
      now_[location] = either(shares);
      if (spine_.contains(location) && Share::chips(now_[location].most) != 0)
        note(now_[location], round);
    }
  }

  void note(const Share& share, std::uint32_t round) {
    if (!found_.first) found_.first = round;
    if (found_.first != round) return;
    const bool missing = share.reduced && Share::chips(share.least) < program_.target.chips;
    found_.kinds.insert(share.twice() ? Kind::double_contribution
                        : missing     ? Kind::missing_chip
                                      : Kind::leak);
  }

  const ir::Program& program_;
  bool persistent_;
  std::uint32_t rounds_;
  ir::Unrolled unrolled_;
  MemoryModel model_;
  std::map<std::uint32_t, std::uint32_t> owner_;  // of the initial content, by location
  std::set<std::uint32_t> spine_, kept_;
  std::vector<Share> initial_, now_;
  std::uint32_t round_ = 0;
  ShareFindings found_;
};

bool touches_another_chip(const ir::Program& program) {
  for (const ir::EngineProgram& engine : program.programs) {
    for (const ir::Op& op : engine.ops) {
      for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
        const ir::Region& region = program.accesses[a].region;
        if (region.kind != ir::RegionKind::tensor) continue;
        const auto owner = program.tensors[region.object].owner;
        const ir::StageKind kind = program.stages[op.object].kind;
        if (owner && *owner != engine.site.chip && kind != ir::StageKind::copy &&
            kind != ir::StageKind::allreduce)
          return true;
      }
    }
  }
  return false;
}

}  // namespace

ShareFindings shares(const ir::Program& program, std::uint32_t rounds, std::uint64_t seed) {
  ShareFindings found = Player(program, rounds).play(seed);
  // The oracle's programs are for targets with hand-offs that cross chips.
  found.misplaced = touches_another_chip(program);
  return found;
}

}  // namespace spatialcert::tests
