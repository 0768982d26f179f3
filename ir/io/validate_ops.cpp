// Engine programs and their ops.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/io/loops.hpp"
#include "ir/io/validation.hpp"

namespace spatialcert::ir::io {

std::string Validation::op_path(std::size_t program, std::uint32_t op) const {
  const std::vector<Op>& ops = program_.programs[program].ops;
  std::string path = fmt::format("$.programs[{}]", program);
  std::size_t at = 0;
  while (at <= op) {
    std::size_t position = 0;
    for (; at < ops.size() && at + ops[at].body < op; ++position)
      at += 1 + std::size_t{ops[at].body};
    path += fmt::format(".ops[{}]", position);
    if (at >= op) break;
    ++at;
  }
  return path;
}

std::string Validation::program_name(std::uint32_t program) const {
  const EngineProgram& one = program_.programs[program];
  return fmt::format("\"{}\" on {}", program_.target.engines[one.engine.value()],
                     to_text(one.site));
}

void Validation::check_programs() {
  producer_.assign(program_.buffers.size(), kNone);
  consumer_.assign(program_.buffers.size(), kNone);
  check_program_places();
  for (std::size_t i = 0; i < program_.programs.size(); ++i) {
    check_ops(i);
    check_spans(i);
  }
  check_fifo_ends();
}

void Validation::check_program_places() const {
  const auto place = [](const EngineProgram& program) {
    return std::pair(program.site, program.engine);
  };
  for (std::size_t i = 0; i < program_.programs.size(); ++i) {
    const EngineProgram& program = program_.programs[i];
    check_site(program.site, fmt::format("$.programs[{}].site", i));
    if (!(program.engine.value() < program_.target.engines.size())) {
      refuse(fmt::format("$.programs[{}].engine", i), "an engine of the target");
    }
    if (i == 0 || place(program_.programs[i - 1]) < place(program)) continue;
    const bool same = place(program_.programs[i - 1]) == place(program);
    refuse(fmt::format("$.programs[{}]", i),
           same ? "one engine program per site and engine" : "engine programs by site and engine",
           fmt::format("{} program for {}", same ? "another" : "a",
                       program_name(static_cast<std::uint32_t>(i))));
  }
}

void Validation::check_ops(std::size_t number) {
  const std::vector<Op>& ops = program_.programs[number].ops;
  at_program_ = number;
  std::vector<std::uint32_t> ends;  // of the loops around the op
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    at_op_ = i;
    while (!ends.empty() && ends.back() == i) ends.pop_back();
    const Op& op = ops[i];
    switch (op.code) {
      case OpCode::wait:
      case OpCode::await:
      case OpCode::post:
        check_semaphore_op(op);
        break;
      case OpCode::reserve:
      case OpCode::push:
      case OpCode::front:
      case OpCode::pop:
        check_fifo_op(op);
        break;
      case OpCode::run:
        check_run(op, static_cast<std::uint32_t>(ends.size()));
        break;
      case OpCode::repeat:
        check_repeat(op, ends.empty() ? static_cast<std::uint32_t>(ops.size()) : ends.back(),
                     ends.size());
        ends.push_back(i + 1 + op.body);
        break;
    }
    if (op.code != OpCode::repeat && op.body != 0) refuse_op("", "a body on \"repeat\" only");
    check_location(op.location, [&] { return op_path(number, i); });
  }
}

void Validation::check_repeat(const Op& op, std::uint32_t end, std::size_t depth) const {
  if (op.count < 1) refuse_op(".repeat", "at least 1", fmt::format("{}", op.count));
  if (op.body < 1) refuse_op(".ops", "at least one op", "none");
  if (op.body > end - at_op_ - 1) refuse_op(".ops", "a body that ends inside the enclosing list");
  if (depth >= kMaximumLoopDepth) {
    refuse_op("", fmt::format("at most {} nested loops", kMaximumLoopDepth), "another");
  }
}

void Validation::check_semaphore_op(const Op& op) const {
  const auto member = [&] { return fmt::format(".{}", to_string(op.code)); };
  if (op.object >= program_.semaphores.size()) refuse_op(member(), "a declared semaphore");
  if (op.count < 1) {
    refuse_op(op.code == OpCode::await ? ".value" : ".n", "at least 1",
              fmt::format("{}", op.count));
  }
  const Semaphore& semaphore = program_.semaphores[op.object];
  const Site& site = program_.programs[at_program_].site;
  const auto found = [&] {
    return fmt::format("\"{}\" on {}", semaphore.name, to_text(semaphore.site));
  };
  if (op.code == OpCode::post) {
    if (semaphore.site.chip == site.chip) return;
    if (semaphore.handoff.valid() &&
        program_.target.handoffs[semaphore.handoff.value()].crosses_chips) {
      return;
    }
    refuse_op(member(),
              fmt::format("a semaphore of chip {} or one whose hand-off crosses chips", site.chip),
              found());
  }
  if (semaphore.site != site) {
    refuse_op(member(), fmt::format("a semaphore on the program's own site {}", to_text(site)),
              found());
  }
  if (op.code == OpCode::await && semaphore.restart != Restart::reset) {
    refuse_op(
        member(), "a semaphore whose restart is \"reset\", as it is awaited",
        fmt::format("\"{}\" with restart \"{}\"", semaphore.name, to_string(semaphore.restart)));
  }
}

void Validation::check_fifo_op(const Op& op) {
  const auto member = [&] { return fmt::format(".{}", to_string(op.code)); };
  if (op.object >= program_.buffers.size()) refuse_op(member(), "a declared buffer");
  const Buffer& buffer = program_.buffers[op.object];
  if (buffer.kind != BufferKind::fifo) {
    refuse_op(member(), "a buffer of kind fifo",
              fmt::format("\"{}\" of kind {}", buffer.name, to_string(buffer.kind)));
  }
  if (op.count < 1) refuse_op(".n", "at least 1", fmt::format("{}", op.count));
  if (static_cast<std::uint64_t>(op.count) > buffer.pages) {
    refuse_op(".n", fmt::format("at most the {} pages of \"{}\"", buffer.pages, buffer.name),
              fmt::format("{}", op.count));
  }
  const bool producing = op.code == OpCode::reserve || op.code == OpCode::push;
  const std::uint32_t end = producing ? producer_[op.object] : consumer_[op.object];
  if (end != at_program_) set_end(op.object, producing, member());
}

void Validation::set_end(std::uint32_t fifo, bool producing, const std::string& member) {
  std::uint32_t& end = producing ? producer_[fifo] : consumer_[fifo];
  if (end == kNone) {
    end = static_cast<std::uint32_t>(at_program_);
    return;
  }
  const char* const role = producing ? "producing" : "consuming";
  refuse_op(member,
            fmt::format("one {} engine program of \"{}\", which is {}", role,
                        program_.buffers[fifo].name, program_name(end)),
            fmt::format("another, {}", program_name(static_cast<std::uint32_t>(at_program_))));
}

void Validation::check_run(const Op& op, std::uint32_t depth) {
  if (op.object >= program_.stages.size()) refuse_op(".run", "a declared stage");
  const std::size_t all = program_.accesses.size();
  if (op.first_access > all || op.accesses > all - op.first_access) {
    refuse_op(".run", "accesses of the program");
  }
  bool written = false;
  for (std::uint32_t i = 0; i < op.accesses; ++i) {
    const Access& access = program_.accesses[op.first_access + i];
    if (written && !access.write) refuse_op(".reads", "reads before writes");
    written = access.write;
    at_access_ = i;
    check_region(access.region, depth);
    if (access.region.kind != RegionKind::page) continue;
    const std::uint32_t fifo = access.region.object;
    const std::uint32_t end = access.write ? producer_[fifo] : consumer_[fifo];
    if (end != at_program_) set_end(fifo, access.write, access.write ? ".writes" : ".reads");
  }
}

// A FIFO lives at one of its ends, and whatever separates them must be bridged.
void Validation::check_fifo_ends() const {
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (producer_[b] == kNone && consumer_[b] == kNone) continue;
    const Site& from = program_.programs[producer_[b] == kNone ? consumer_[b] : producer_[b]].site;
    const Site& to = program_.programs[consumer_[b] == kNone ? producer_[b] : consumer_[b]].site;
    if (buffer.site != from && buffer.site != to) {
      refuse(fmt::format("$.buffers[{}].site", b),
             fmt::format("the site of one of its ends, {} or {}", to_text(from), to_text(to)),
             to_text(buffer.site));
    }
    const auto path = [&] { return fmt::format("$.buffers[{}].handoff", b); };
    const std::string ends = fmt::format("ends on {} and {}", to_text(from), to_text(to));
    if (from != to && !buffer.handoff.valid()) {
      refuse(path(), fmt::format("a hand-off, as \"{}\" has {}", buffer.name, ends), "none");
    }
    if (from.chip != to.chip && !program_.target.handoffs[buffer.handoff.value()].crosses_chips) {
      refuse(path(),
             fmt::format("a hand-off that crosses chips, as \"{}\" has {}", buffer.name, ends),
             fmt::format("\"{}\"", program_.target.handoffs[buffer.handoff.value()].name));
    }
  }
}

}  // namespace spatialcert::ir::io
