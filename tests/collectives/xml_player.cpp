#include "tests/collectives/xml_player.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <random>

namespace spatialcert::test {
namespace {

using Clock = std::vector<std::uint32_t>;  // per block of the program: steps known to be over

Terms single(std::uint32_t term) {
  return std::make_shared<const std::vector<std::uint32_t>>(1, term);
}

Terms sum(const Terms& a, const Terms& b) {
  if (!a || !b) {
    return nullptr;
  }
  auto all = std::make_shared<std::vector<std::uint32_t>>(a->size() + b->size());
  std::merge(a->begin(), a->end(), b->begin(), b->end(), all->begin());
  return all;
}

struct Message {
  std::vector<Terms> chunks;
  Clock clock;
};

struct Touch {
  std::size_t block = 0;
  std::uint32_t step = 0;
};

struct Cell {
  Terms value;
  std::optional<Touch> writer;
  std::vector<Touch> readers;
};

struct Engine {
  std::size_t rank = 0;
  const XmlBlock* block = nullptr;
  std::deque<Message>* out = nullptr;
  std::deque<Message>* in = nullptr;
  std::size_t step = 0;
  std::uint32_t done = 0;  // chunks of the step
  std::int32_t flag = -1;  // last posted step
  Clock clock;
  std::map<std::size_t, Clock> posted;  // step -> clock
};

class Player {
 public:
  Player(const XmlProgram& program, const PlayOptions& options)
      : program_(&program), options_(options), random_(options.seed) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      const auto& rank = program.ranks[r];
      inputs_.emplace_back(std::max(rank.input, program.chunks));
      outputs_.emplace_back(std::max(rank.output, program.chunks));
      scratch_.emplace_back(rank.scratch);
      const auto defined = program.collective == "allgather" ? program.share() : program.chunks;
      for (std::uint32_t k = 0; k < defined; ++k) {
        cell(r, 'i', k).value = single(term(r, k));
      }
      first_.push_back(engines_.size());
      for (const auto& block : rank.blocks) {
        add_engine(r, block);
      }
    }
    for (auto& engine : engines_) {
      engine.clock.resize(options.find_races ? engines_.size() : 0);
    }
  }

  Played play() {
    std::vector<std::size_t> order(engines_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t k = order.size(); k > 1; --k) {
        std::swap(order[k - 1], order[random_() % k]);
      }
      for (const auto e : order) {
        for (auto most = 1 + random_() % 4; most > 0 && can_step(engines_[e]); --most) {
          perform(e);
          progress = true;
        }
      }
    }
    Played played;
    played.finished = std::all_of(engines_.begin(), engines_.end(), [](const Engine& engine) {
      return engine.step == engine.block->steps.size();
    });
    played.right = played.finished && result_right();
    played.input_preserved = input_preserved();
    played.race = race_;
    return played;
  }

 private:
  [[nodiscard]] std::uint32_t term(std::size_t rank, std::uint32_t chunk) const {
    return static_cast<std::uint32_t>(rank) * program_->chunks + chunk;
  }

  void add_engine(std::size_t rank, const XmlBlock& block) {
    Engine engine;
    engine.rank = rank;
    engine.block = &block;
    const auto self = static_cast<std::int32_t>(rank);
    engine.out = &connections_[{{self, block.send}, block.channel}];
    engine.in = &connections_[{{block.receive, self}, block.channel}];
    engines_.push_back(std::move(engine));
  }

  Cell& cell(std::size_t rank, char buffer, std::int64_t offset) {
    const auto own = static_cast<std::int64_t>(rank * program_->share());
    if (program_->in_place && buffer == 'i' && program_->collective == "allgather") {
      return outputs_[rank][static_cast<std::size_t>(own + offset)];
    }
    if (program_->in_place && buffer == 'o' && program_->collective != "allgather") {
      const auto shift = program_->collective == "reduce_scatter" ? own : 0;
      return inputs_[rank][static_cast<std::size_t>(shift + offset)];
    }
    auto& memory = buffer == 'i' ? inputs_ : buffer == 'o' ? outputs_ : scratch_;
    return memory[rank][static_cast<std::size_t>(offset)];
  }

  bool can_step(const Engine& engine) const {
    if (engine.step == engine.block->steps.size()) {
      return false;
    }
    const auto& step = engine.block->steps[engine.step];
    if (step.depends_on_block >= 0 && awaited(engine, step).flag < step.depends_on_step) {
      return false;
    }
    return step.sends() ? engine.out->size() < program_->fifo_depth()
                        : !step.receives() || !engine.in->empty();
  }

  const Engine& awaited(const Engine& engine, const XmlStep& step) const {
    return engines_[first_[engine.rank] + static_cast<std::size_t>(step.depends_on_block)];
  }

  void perform(std::size_t e) {
    auto& engine = engines_[e];
    const auto& step = engine.block->steps[engine.step];
    if (options_.find_races && step.depends_on_block >= 0 && engine.done == 0) {
      const auto& posted = awaited(engine, step).posted;
      join(engine.clock,
           posted.lower_bound(static_cast<std::size_t>(step.depends_on_step))->second);
    }
    const auto count = std::min(options_.chunks_per_transfer, step.count - engine.done);
    if (step.type != "nop") {
      transfer(e, step, count);
    }
    engine.done += count;
    if (engine.done == step.count) {
      finish_step(e, step);
    }
  }

  void transfer(std::size_t e, const XmlStep& step, std::uint32_t count) {
    auto& engine = engines_[e];
    Message message;
    if (step.receives()) {
      message = std::move(engine.in->front());
      engine.in->pop_front();
      join(engine.clock, message.clock);
    } else {
      message.chunks.resize(count);
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      auto& source = cell(engine.rank, step.source, step.source_offset + engine.done + k);
      auto& destination =
          cell(engine.rank, step.destination, step.destination_offset + engine.done + k);
      auto value = message.chunks[k];
      if (step.reads_source()) {
        read(e, source);
        value = step.type == "rrc" ? sum(source.value, value) : source.value;
      }
      if (step.type == "re") {
        read(e, destination);
        value = sum(destination.value, value);
      }
      if (step.writes()) {
        write(e, destination, value);
      }
      message.chunks[k] = value;
    }
    if (step.sends()) {
      message.clock = engine.clock;
      if (options_.find_races) {
        ++message.clock[e];  // the send itself is before the receive
      }
      engine.out->push_back(std::move(message));
    }
  }

  void finish_step(std::size_t e, const XmlStep& step) {
    auto& engine = engines_[e];
    if (options_.find_races) {
      engine.clock[e] = static_cast<std::uint32_t>(engine.step + 1);
    }
    if (step.posts && step.type != "nop") {
      engine.flag = static_cast<std::int32_t>(engine.step);
      engine.posted[engine.step] = engine.clock;
    }
    ++engine.step;
    engine.done = 0;
  }

  static void join(Clock& into, const Clock& from) {
    for (std::size_t k = 0; k < std::min(into.size(), from.size()); ++k) {
      into[k] = std::max(into[k], from[k]);
    }
  }

  [[nodiscard]] bool ordered(std::size_t e, const Touch& earlier) const {
    return earlier.block == e || engines_[e].clock[earlier.block] > earlier.step;
  }

  void read(std::size_t e, Cell& cell) {
    if (options_.find_races) {
      race_ = race_ || (cell.writer && !ordered(e, *cell.writer));
      cell.readers.push_back({e, static_cast<std::uint32_t>(engines_[e].step)});
    }
  }

  void write(std::size_t e, Cell& cell, const Terms& value) {
    if (options_.find_races) {
      race_ = race_ || (cell.writer && !ordered(e, *cell.writer)) ||
              std::any_of(cell.readers.begin(), cell.readers.end(),
                          [&](const Touch& reader) { return !ordered(e, reader); });
      cell.writer = Touch{e, static_cast<std::uint32_t>(engines_[e].step)};
      cell.readers.clear();
    }
    cell.value = value;
  }

  [[nodiscard]] std::vector<std::uint32_t> wanted(std::size_t rank, std::uint32_t k) const {
    const auto c = program_->share();
    const auto own = static_cast<std::uint32_t>(rank) * c;
    if (program_->collective == "allgather") {
      return {term(k / c, k % c)};
    }
    if (program_->collective == "alltoall") {
      return {term(k / c, own + k % c)};
    }
    std::vector<std::uint32_t> all;
    for (std::size_t r = 0; r < program_->ranks.size(); ++r) {
      all.push_back(term(r, program_->collective == "allreduce" ? k : own + k));
    }
    return all;
  }

  bool result_right() {
    const auto results =
        program_->collective == "reduce_scatter" ? program_->share() : program_->chunks;
    for (std::size_t r = 0; r < program_->ranks.size(); ++r) {
      for (std::uint32_t k = 0; k < results; ++k) {
        const auto& value = cell(r, 'o', k).value;
        if (!value || *value != wanted(r, k)) {
          return false;
        }
      }
    }
    return true;
  }

  bool input_preserved() {
    for (std::size_t r = 0; r < program_->ranks.size(); ++r) {
      for (std::uint32_t k = 0; k < program_->ranks[r].input; ++k) {
        const auto& value = cell(r, 'i', k).value;
        if (!value || *value != std::vector<std::uint32_t>{term(r, k)}) {
          return false;
        }
      }
    }
    return true;
  }

  const XmlProgram* program_;
  PlayOptions options_;
  std::mt19937_64 random_;
  std::vector<std::vector<Cell>> inputs_;
  std::vector<std::vector<Cell>> outputs_;
  std::vector<std::vector<Cell>> scratch_;
  std::map<std::pair<std::pair<std::int32_t, std::int32_t>, std::uint32_t>, std::deque<Message>>
      connections_;
  std::vector<std::size_t> first_;  // engine of a rank's block 0
  std::vector<Engine> engines_;
  bool race_ = false;
};

}  // namespace

Played play_document(const XmlProgram& program, const PlayOptions& options) {
  return Player(program, options).play();
}

}  // namespace spatialcert::test
