// The parts of a counterexample that refer to the program, each checked against it.
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "certify/counterexample_reader.hpp"
#include "ir/counters.hpp"

namespace spatialcert::certify {
namespace {

using ir::io::JsonReader;
using ir::io::Key;
using ir::io::Value;

constexpr Key kSliceKeys[] = {{"full"}, {"part"}, {"tensor"}, {"chip"}};
constexpr Key kLinkKeys[] = {{"waiter"}, {"waiter_at", false}, {"counter"},           {"need"},
                             {"have"},   {"supplier", false},  {"supplier_at", false}};
constexpr Key kAccessKeys[] = {
    {"transition"}, {"transition_at", false}, {"access"}, {"text", false}};
constexpr Key kCounterKeys[] = {{"semaphore", false}, {"filled", false}, {"free", false}};
constexpr Key kRangeKeys[] = {{"site", false}, {"space", false}, {"tensor", false}, {"fifo", false},
                              {"low"},         {"high"},         {"text", false}};

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

}  // namespace

const ir::Unrolled& CounterexampleReader::unrolled(const char* at) {
  // Transitions mean nothing before the number of iterations is known; our own files have it first.
  if (!has_iterations_) JsonReader::refuse(at, "\"iterations\" before any transition", "none");
  if (!unrolled_) {
    auto result = ir::unroll(*program_, c_.iterations);
    if (!std::holds_alternative<ir::Unrolled>(result)) {
      JsonReader::refuse(at, "a transition of a program that can be unrolled",
                         "one that is too large");
    }
    unrolled_ = std::get<ir::Unrolled>(std::move(result));
  }
  return *unrolled_;
}

ir::TransitionId CounterexampleReader::transition(Value& value) {
  const std::uint32_t end = unrolled(JsonReader::start(value)).transitions();
  return ir::TransitionId(below(value, end, "a transition"));
}

ir::CounterId CounterexampleReader::counter(Value& value) {
  const char* const at = JsonReader::start(value);
  const ir::Counters counters(*program_);
  ir::CounterId id;
  json_.members(value, "a counter", kCounterKeys, [&](std::size_t key, Value& member) {
    if (id.valid()) JsonReader::refuse(at, "one counter", "several");
    if (key == 0)
      id = counters.of(ir::SemaphoreId(named(member, program_->semaphores, "a semaphore")));
    if (key == 1) id = counters.filled(fifo(member));
    if (key == 2) id = counters.free(fifo(member));
  });
  if (!id.valid()) JsonReader::refuse(at, "a counter", "an empty object");
  return id;
}

ir::Site CounterexampleReader::site(Value& value) {
  std::uint32_t part[3] = {0, 0, 0};
  const char* const at = JsonReader::start(value);
  const std::size_t count = json_.elements(value, "a site", [&](Value& item, std::size_t position) {
    const std::uint32_t number = json_.index(item);
    if (position < 3) part[position] = number;
  });
  if (count != 3) json_.refuse(at, "a site [chip, x, y]");
  return {part[0], part[1], part[2]};
}

proofs::LocationRange CounterexampleReader::range(Value& value) {
  const char* const at = JsonReader::start(value);
  proofs::LocationRange range;
  ir::Storage& storage = range.storage;
  std::uint32_t given = 0;
  json_.members(value, "a range of locations", kRangeKeys, [&](std::size_t key, Value& member) {
    given |= 1U << key;
    switch (key) {
      case 0:
        storage.site = site(member);
        break;
      case 1:
        storage.space = ir::SpaceId(named(member, program_->target.spaces, "a memory space"));
        break;
      case 2:
        storage.kind = ir::Storage::Kind::tensor;
        storage.object = named(member, program_->tensors, "a tensor");
        break;
      case 3:
        storage.kind = ir::Storage::Kind::fifo;
        storage.object = fifo(member).value();
        break;
      case 4:
        range.low = json_.natural(member);
        break;
      case 5:
        range.high = json_.natural(member);
        break;
      default:
        break;
    }
  });
  const std::uint32_t what = given & 0b1111U;
  if (what != 0b0011U && what != 0b0100U && what != 0b1000U) {
    JsonReader::refuse(at, "\"site\" and \"space\", or \"tensor\", or \"fifo\"", "something else");
  }
  return range;
}

proofs::WaitLink CounterexampleReader::link(Value& value) {
  proofs::WaitLink link;
  json_.members(value, "a link of the chain", kLinkKeys, [&](std::size_t key, Value& member) {
    switch (key) {
      case 0:
        link.waiter = transition(member);
        break;
      case 2:
        link.counter = counter(member);
        break;
      case 3:
        link.need = json_.integer(member, kLeast);
        break;
      case 4:
        link.have = json_.integer(member, kLeast);
        break;
      case 5:
        link.supplier = transition(member);
        break;
      default:
        break;
    }
  });
  return link;
}

proofs::AccessRef CounterexampleReader::access(Value& value) {
  proofs::AccessRef ref;
  const char* const at = JsonReader::start(value);
  json_.members(value, "an access", kAccessKeys, [&](std::size_t key, Value& member) {
    if (key == 0) ref.transition = transition(member);
    if (key == 2) ref.access = below(member, program_->accesses.size(), "an access");
  });
  const ir::Op& op = unrolled(at).op_of(*program_, ref.transition);
  if (ref.access < op.first_access || ref.access - op.first_access >= op.accesses) {
    JsonReader::refuse(at, "an access of its own transition", "one of another");
  }
  return ref;
}

ir::Schedule CounterexampleReader::schedule(Value& value) {
  const ir::Unrolled& all = unrolled(JsonReader::start(value));
  std::vector<std::uint64_t> left;
  for (std::size_t p = 0; p < program_->programs.size(); ++p)
    left.push_back(all.begin[p + 1] - all.begin[p]);
  ir::Schedule schedule;
  json_.elements(value, "a schedule", [&](Value& item, std::size_t) {
    const char* const at = JsonReader::start(item);
    ir::ScheduleRun run;
    const std::size_t count = json_.elements(item, "a run", [&](Value& part, std::size_t position) {
      if (position == 0) run.program = ir::ProgramId(below(part, left.size(), "an engine program"));
      if (position == 1) run.steps = json_.index(part, 1);
    });
    if (count != 2)
      JsonReader::refuse(at, "a run [engine program, steps]", fmt::format("{} numbers", count));
    if (run.steps > left[run.program.value()]) {
      JsonReader::refuse(at,
                         fmt::format("at most the {} steps that this engine program has left",
                                     left[run.program.value()]),
                         fmt::format("{}", run.steps));
    }
    left[run.program.value()] -= run.steps;
    schedule.push_back(run);
  });
  return schedule;
}

proofs::SliceRef CounterexampleReader::slice(Value& value) {
  proofs::SliceRef ref;
  const char* const at = JsonReader::start(value);
  json_.members(value, "a part", kSliceKeys, [&](std::size_t key, Value& member) {
    if (key == 0) {
      ref.sliced = named(member, program_->sliced, "a full tensor");
    } else if (key == 1) {
      ref.part = json_.index(member);
    }  // the others are for people
  });
  require(ref.part < program_->sliced[ref.sliced].slices.size(), at, "a part of it");
  return ref;
}

}  // namespace spatialcert::certify
