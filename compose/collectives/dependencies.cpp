#include <algorithm>
#include <utility>

#include "compose/collectives/model.hpp"

namespace spatialcert::compose {
namespace {

/// Who touched a chunk since it was last written, by position in Rank::steps.
struct ChunkHistory {
  std::int64_t writer = -1;
  std::vector<std::uint32_t> readers;
};

/// Follows the steps of a rank in order and says what each must wait for.
class DependencyFinder {
 public:
  explicit DependencyFinder(const Rank& rank)
      : rank_(&rank),
        ordinal_(rank.steps.size()),
        done_(rank.steps.size()),
        last_(rank.blocks.size(), -1) {
    for (std::size_t buffer = 0; buffer < 3; ++buffer) {
      history_[buffer].resize(rank.chunks[buffer]);
    }
  }

  std::vector<std::uint32_t> waits_of(std::uint32_t position) {
    const Step& step = rank_->steps[position];
    auto waits = conflicts(step);
    std::vector<std::uint32_t> done(rank_->blocks.size(), 0);
    if (last_[step.block] >= 0) {
      done = done_[static_cast<std::size_t>(last_[step.block])];
    }
    std::erase_if(waits, [&](std::uint32_t w) { return covers(done, w); });
    drop_implied(waits);
    for (const auto wait : waits) {
      merge(done, done_[wait]);
    }
    ordinal_[position] = done[step.block]++;
    done_[position] = std::move(done);
    last_[step.block] = position;
    record(step, position);
    return waits;
  }

 private:
  using Done = std::vector<std::uint32_t>;  // per block: how many of its steps are known to be over

  [[nodiscard]] bool covers(const Done& done, std::uint32_t position) const {
    return done[rank_->steps[position].block] > ordinal_[position];
  }

  static void merge(Done& into, const Done& from) {
    for (std::size_t block = 0; block < into.size(); ++block) {
      into[block] = std::max(into[block], from[block]);
    }
  }

  ChunkHistory* range(Address address) {
    return history_[static_cast<std::size_t>(address.buffer)].data() + address.offset;
  }

  /// The latest conflicting step of every other block: a block runs its steps in order.
  std::vector<std::uint32_t> conflicts(const Step& step) {
    std::vector<std::int64_t> latest(rank_->blocks.size(), -1);
    const auto note = [&](std::int64_t position) {
      if (position >= 0) {
        auto& known = latest[rank_->steps[static_cast<std::size_t>(position)].block];
        known = std::max(known, position);
      }
    };
    for (std::uint32_t k = 0; k < step.count; ++k) {
      if (reads_source(step)) {
        note(range(step.source)[k].writer);
      }
      if (writes(step)) {
        const auto& written = range(step.destination)[k];
        note(written.writer);
        std::for_each(written.readers.begin(), written.readers.end(), note);
      }
    }
    std::vector<std::uint32_t> found;
    for (std::uint32_t block = 0; block < latest.size(); ++block) {
      if (block != step.block && latest[block] >= 0) {
        found.push_back(static_cast<std::uint32_t>(latest[block]));
      }
    }
    return found;
  }

  void drop_implied(std::vector<std::uint32_t>& waits) const {
    const auto all = waits;
    std::erase_if(waits, [&](std::uint32_t wait) {
      return std::any_of(all.begin(), all.end(), [&](std::uint32_t other) {
        return other != wait && covers(done_[other], wait);
      });
    });
  }

  void record(const Step& step, std::uint32_t position) {
    for (std::uint32_t k = 0; k < step.count; ++k) {
      if (reads_source(step)) {
        range(step.source)[k].readers.push_back(position);
      }
    }
    for (std::uint32_t k = 0; writes(step) && k < step.count; ++k) {
      range(step.destination)[k] = {position, {}};
    }
  }

  const Rank* rank_;
  std::vector<std::uint32_t> ordinal_;  // of a step inside its block
  std::vector<Done> done_;              // once the step is over
  std::vector<std::int64_t> last_;      // per block: its last step so far
  std::vector<ChunkHistory> history_[3];
};

}  // namespace

void add_dependencies(Rank& rank) {
  DependencyFinder finder(rank);
  for (std::uint32_t position = 0; position < rank.steps.size(); ++position) {
    rank.steps[position].waits = finder.waits_of(position);
  }
}

}  // namespace spatialcert::compose
