#include "compose/collectives/faults.hpp"

#include <algorithm>
#include <optional>

namespace spatialcert::compose {
namespace {

using Position = std::vector<Step>::difference_type;

struct Place {
  std::size_t rank = 0;
  Position step = 0;
};

/// The first step that `fits(rank, step)`, ranks and steps in order; the last of the first rank
/// that has one if `last`.
template <typename Predicate>
std::optional<Place> find_step(const CollectiveProgram& program, Predicate fits,
                               bool last = false) {
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const Rank& rank = program.ranks[r];
    std::optional<Place> found;
    for (std::size_t k = 0; k < rank.steps.size() && (last || !found); ++k) {
      if (fits(rank, rank.steps[k])) {
        found = Place{r, static_cast<Position>(k)};
      }
    }
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

std::vector<Step>& steps_at(CollectiveProgram& program, const Place& place) {
  return program.ranks[place.rank].steps;
}

Step& step_at(CollectiveProgram& program, const Place& place) {
  return steps_at(program, place)[static_cast<std::size_t>(place.step)];
}

void erase_step(CollectiveProgram& program, const Place& place) {
  auto& steps = steps_at(program, place);
  steps.erase(steps.begin() + place.step);
}

bool is_reduce(const Rank&, const Step& step) { return step.type == StepType::reduce; }
bool is_receive_reduce(const Rank&, const Step& step) {
  return step.type == StepType::receive_reduce;
}

/// Where a chunk more would still lie inside its buffer.
bool has_room(const Rank& rank, const Step& step) {
  const auto inside = [&](const Address& at) {
    return at.offset + step.count < rank.size(at.buffer);
  };
  return inside(step.source) && inside(step.destination);
}

// ---- edits of steps -----------------------------------------------------------------------------

/// The last receive of the first rank where a neighbouring slot exists lands one slot off.
bool wrong_slot(CollectiveProgram& program) {
  const auto has_neighbour = [](const Rank& rank, const Step& step) {
    return step.count < rank.size(step.destination.buffer);
  };
  auto place = find_step(
      program,
      [&](const Rank& rank, const Step& step) {
        return step.type == StepType::receive && has_neighbour(rank, step);
      },
      true);
  if (!place) {
    place = find_step(
        program,
        [&](const Rank& rank, const Step& step) {
          return receives(step) && has_neighbour(rank, step);
        },
        true);
  }
  if (!place) {
    return false;
  }
  auto& step = step_at(program, *place);
  const auto size = program.ranks[place->rank].size(step.destination.buffer);
  const bool up = step.destination.offset + step.count < size;
  step.destination.offset = up ? step.destination.offset + 1 : step.destination.offset - 1;
  return true;
}

/// The first `re` runs twice. Without one: the own contribution of the first `rrc` is added once
/// more, after it where it is still there afterwards (out of place), before it otherwise.
bool reduce_twice(CollectiveProgram& program) {
  if (const auto place = find_step(program, is_reduce)) {
    auto& steps = steps_at(program, *place);
    const Step again = step_at(program, *place);
    steps.insert(steps.begin() + place->step, again);
    return true;
  }
  const auto place = find_step(program, is_receive_reduce);
  if (!place) {
    return false;
  }
  auto& steps = steps_at(program, *place);
  Step again = step_at(program, *place);
  again.type = StepType::reduce;
  const bool in_place = again.source == again.destination;
  steps.insert(steps.begin() + place->step + (in_place ? 0 : 1), again);
  return true;
}

/// Drops the last message that rank 0 sends, at both ends.
bool skip_delivery(CollectiveProgram& program) {
  const auto is_send = [](const Rank&, const Step& step) { return step.type == StepType::send; };
  const auto sent = find_step(program, is_send, true);
  if (!sent) {
    return false;
  }
  const Rank& rank = program.ranks[sent->rank];
  const auto block = step_at(program, *sent).block;
  const auto channel = rank.blocks[block].channel;
  const auto peer = static_cast<std::size_t>(rank.blocks[block].send);
  auto& steps = program.ranks[peer].steps;
  const auto& blocks = program.ranks[peer].blocks;
  // The last message of a connection is the last receive of the block at its other end.
  const auto received = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& step) {
    const auto& other = blocks[step.block];
    return receives(step) && other.receive == static_cast<std::int32_t>(sent->rank) &&
           other.channel == channel;
  });
  if (received == steps.rend()) {
    return false;
  }
  steps.erase(std::next(received).base());
  erase_step(program, *sent);
  return true;
}

/// Reducing: the first `re` is left out; without one the first `rrc` stores the message without
/// adding.
bool skip_rank(CollectiveProgram& program, Collective collective) {
  if (collective == Collective::allgather || collective == Collective::alltoall) {
    return skip_delivery(program);
  }
  if (const auto place = find_step(program, is_reduce)) {
    erase_step(program, *place);
    return true;
  }
  const auto place = find_step(program, is_receive_reduce);
  if (!place) {
    return false;
  }
  auto& step = step_at(program, *place);
  step.type = StepType::receive;
  step.source = step.destination;
  return true;
}

bool missing_receive(CollectiveProgram& program) {
  const auto place = find_step(
      program, [](const Rank&, const Step& step) { return receives(step); }, true);
  if (place) {
    erase_step(program, *place);
  }
  return place.has_value();
}

/// The first step that communicates counts one chunk less, or one more if it has just one.
bool count_mismatch(CollectiveProgram& program) {
  const auto place = find_step(program, [](const Rank& rank, const Step& step) {
    const bool communicates = receives(step) || step.type == StepType::send;
    return communicates && (step.count > 1 || has_room(rank, step));
  });
  if (place) {
    auto& step = step_at(program, *place);
    step.count = step.count > 1 ? step.count - 1 : step.count + 1;
  }
  return place.has_value();
}

// ---- edits of waits -----------------------------------------------------------------------------

bool overlap(const Address& a, std::uint32_t a_count, const Address& b, std::uint32_t b_count) {
  return a.buffer == b.buffer && a.offset < b.offset + b_count && b.offset < a.offset + a_count;
}

/// Drops the first wait of a reader for its writer; if there is none, the first wait at all. A wait
/// for the writer is never implied by messages of other ranks, other waits can be.
bool drop_dependency(CollectiveProgram& program) {
  const auto is_dataflow = [](const Rank& rank, const Step& step, std::uint32_t wait) {
    const Step& earlier = rank.steps[wait];
    const auto reads = [&](const Address& at) {
      return overlap(at, step.count, earlier.destination, earlier.count);
    };
    return writes(earlier) && ((reads_source(step) && reads(step.source)) ||
                               (step.type == StepType::reduce && reads(step.destination)));
  };
  for (const bool any : {false, true}) {
    for (auto& rank : program.ranks) {
      for (auto& step : rank.steps) {
        const auto dropped =
            std::find_if(step.waits.begin(), step.waits.end(),
                         [&](std::uint32_t wait) { return any || is_dataflow(rank, step, wait); });
        if (dropped != step.waits.end()) {
          step.waits.erase(dropped);
          return true;
        }
      }
    }
  }
  return false;
}

/// The first step that waits is waited for by the step it waits for; if nobody waits, the first
/// steps of two blocks wait for each other.
bool dependency_cycle(CollectiveProgram& program) {
  const auto waiter =
      find_step(program, [](const Rank&, const Step& step) { return !step.waits.empty(); });
  if (waiter) {
    auto& steps = steps_at(program, *waiter);
    const auto target = step_at(program, *waiter).waits.front();
    steps[target].waits.push_back(static_cast<std::uint32_t>(waiter->step));
    return true;
  }
  const auto in_other_block = [](const Rank& rank, const Step& step) {
    return step.block != rank.steps.front().block;
  };
  const auto other = find_step(program, in_other_block);
  if (!other) {
    return false;
  }
  auto& steps = steps_at(program, *other);
  steps.front().waits.push_back(static_cast<std::uint32_t>(other->step));
  step_at(program, *other).waits.push_back(0);
  return true;
}

/// The receive with most chunks begins so late that its last chunk lies behind the buffer.
bool out_of_range(CollectiveProgram& program) {
  std::uint32_t most = 0;
  for (const auto& rank : program.ranks) {
    for (const auto& step : rank.steps) {
      most = receives(step) ? std::max(most, step.count) : most;
    }
  }
  const auto place = find_step(
      program, [&](const Rank&, const Step& step) { return receives(step) && step.count == most; });
  if (place) {
    auto& step = step_at(program, *place);
    step.destination.offset =
        program.ranks[place->rank].size(step.destination.buffer) - step.count + 1;
  }
  return place.has_value();
}

}  // namespace

bool edit_steps(CollectiveProgram& program, Fault fault, Collective collective) {
  switch (fault) {
    case Fault::wrong_slot:
      return wrong_slot(program);
    case Fault::reduce_twice:
      return reduce_twice(program);
    case Fault::skip_rank:
      return skip_rank(program, collective);
    case Fault::missing_receive:
      return missing_receive(program);
    case Fault::count_mismatch:
      return count_mismatch(program);
    default:
      return true;
  }
}

bool edit_waits(CollectiveProgram& program, Fault fault) {
  switch (fault) {
    case Fault::drop_dependency:
      return drop_dependency(program);
    case Fault::dependency_cycle:
      return dependency_cycle(program);
    case Fault::out_of_range:
      return out_of_range(program);
    default:
      return true;
  }
}

}  // namespace spatialcert::compose
