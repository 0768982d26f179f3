#include "ir/import/layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace spatialcert::ir::msccl {
namespace {

constexpr std::uint64_t kSpaceBytes = std::uint64_t{1} << 50;
constexpr std::int64_t kSemaphoreMaximum = std::numeric_limits<std::int32_t>::max();
constexpr SpaceId kMemory{std::size_t{0}};
constexpr SpaceId kChannel{std::size_t{1}};
constexpr HandoffId kLink{std::size_t{0}};
constexpr HandoffId kFlag{std::size_t{1}};

/// Where the smaller of input and output lies when they are one allocation.
struct Aliasing {
  BufferLetter base = BufferLetter::input;
  BufferLetter view = BufferLetter::output;
  std::uint32_t first_chunk = 0;  ///< of the view in the base
};

class LayoutBuilder {
 public:
  LayoutBuilder(const Source& source, const Shape& shape, Program& program)
      : source_(source), algorithm_(source.algorithm), shape_(shape), program_(program) {}

  Result<Objects> run() {
    make_target();
    make_stages();
    objects_.buffers.resize(algorithm_.ranks.size());
    for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
      if (Status refused = make_buffers(r)) return *std::move(refused);
    }
    make_fifos();
    make_flags();
    make_helpers();
    count_semaphores();
    return std::move(objects_);
  }

 private:
  void make_target();
  void make_stages();
  [[nodiscard]] Aliasing aliasing(std::size_t rank, const BufferSizes& sizes) const;
  Status make_buffers(std::size_t rank);
  void make_fifos();
  void make_flags();
  void make_helpers();
  Helper make_helper(std::size_t rank, std::size_t block, EngineId engine);
  void count_semaphores();

  BufferId add_buffer(std::size_t rank, BufferLetter which, std::uint32_t chunks);
  BufferId add_fifo(std::size_t rank, std::string name, std::uint32_t largest_count);
  SemaphoreId add_semaphore(std::size_t rank, std::string name, Restart restart);
  /// Does the block send something in a step of its own (`alone`), or pass on what it receives?
  [[nodiscard]] bool sends(std::size_t rank, std::size_t block, bool alone) const;

  const Source& source_;
  const Algorithm& algorithm_;
  const Shape& shape_;
  Program& program_;
  Objects objects_;
  std::uint64_t next_address_ = 0;
  std::vector<std::uint64_t> next_channel_address_;  // per rank
};

void LayoutBuilder::make_target() {
  Target& target = program_.target;
  target.name = fmt::format("msccl-{}", algorithm_.ranks.size());
  target.chips = static_cast<std::uint32_t>(algorithm_.ranks.size());
  std::size_t blocks = 0;
  for (const Rank& rank : algorithm_.ranks) blocks = std::max(blocks, rank.blocks.size());
  for (std::size_t b = 0; b < blocks; ++b) target.engines.push_back(fmt::format("tb{}", b));
  target.spaces = {{"memory", kSpaceBytes, 1}, {"channel", kSpaceBytes, 1}};
  target.handoffs = {{"link", true}, {"flag", false}};
  target.semaphore_maximum = kSemaphoreMaximum;
}

void LayoutBuilder::make_stages() {
  program_.sections.push_back({"algorithm", 0, {}, kNoLocation});
  const SectionId section(std::size_t{0});
  program_.stages.push_back({"copy", StageKind::compute, OpKind::copy, 1.0, section});
  program_.stages.push_back({"add", StageKind::compute, OpKind::add, 1.0, section});
  objects_.copy = StageId(std::size_t{0});
  objects_.add = StageId(std::size_t{1});
}

Aliasing LayoutBuilder::aliasing(std::size_t rank, const BufferSizes& sizes) const {
  const auto ranks = static_cast<std::uint32_t>(algorithm_.ranks.size());
  const std::uint32_t own = static_cast<std::uint32_t>(rank) * (algorithm_.chunks / ranks);
  if (algorithm_.collective == Collective::allgather) {
    return {BufferLetter::output, BufferLetter::input, own};
  }
  if (algorithm_.collective == Collective::reduce_scatter) {
    return {BufferLetter::input, BufferLetter::output, own};
  }
  if (sizes.input < sizes.output) return {BufferLetter::output, BufferLetter::input, 0};
  return {BufferLetter::input, BufferLetter::output, 0};
}

Status LayoutBuilder::make_buffers(std::size_t rank) {
  const BufferSizes sizes = buffer_sizes(algorithm_, rank);
  next_address_ = 0;
  if (shape_.placement == MscclPlacement::out_of_place) {
    add_buffer(rank, BufferLetter::input, sizes.input);
    add_buffer(rank, BufferLetter::output, sizes.output);
  } else {
    const Aliasing alias = aliasing(rank, sizes);
    if (alias.first_chunk + sizes.of(alias.view) > sizes.of(alias.base)) {
      return Refusal{
          algorithm_.file, algorithm_.ranks[rank].line, path_of(rank),
          fmt::format("buffer `{}` to lie inside buffer `{}` when in place: at most {} chunks",
                      letter(alias.view), letter(alias.base),
                      sizes.of(alias.base) - alias.first_chunk),
          fmt::format("{}", sizes.of(alias.view))};
    }
    const BufferId base = add_buffer(rank, alias.base, sizes.of(alias.base));
    const std::uint64_t offset = alias.first_chunk * shape_.chunk_bytes;
    const BufferId view = add_buffer(rank, alias.view, sizes.of(alias.view));
    program_.buffers[view.value()].view = View<BufferId>{base, offset};
    program_.buffers[view.value()].address = program_.buffers[base.value()].address + offset;
    next_address_ = program_.buffers[base.value()].bytes();
  }
  if (sizes.scratch > 0) add_buffer(rank, BufferLetter::scratch, sizes.scratch);
  return {};
}

BufferId LayoutBuilder::add_buffer(std::size_t rank, BufferLetter which, std::uint32_t chunks) {
  Buffer buffer;
  buffer.name = fmt::format("{}@{}", letter(which), rank);
  buffer.kind = BufferKind::scratch;
  buffer.site = site_of(rank);
  buffer.space = kMemory;
  buffer.address = next_address_;
  buffer.page_bytes = shape_.chunk_bytes;
  buffer.pages = chunks;
  buffer.init = which == BufferLetter::input ? Init::external : Init::undefined;
  buffer.lifetime = Lifetime::resident;
  next_address_ += buffer.bytes();
  const BufferId id(program_.buffers.size());
  objects_.buffers[rank][static_cast<std::size_t>(which)] = id;
  program_.buffers.push_back(std::move(buffer));
  return id;
}

BufferId LayoutBuilder::add_fifo(std::size_t rank, std::string name, std::uint32_t largest_count) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.kind = BufferKind::fifo;
  buffer.site = site_of(rank);
  buffer.space = kChannel;
  buffer.address = next_channel_address_[rank];
  buffer.page_bytes = shape_.chunk_bytes * std::min(largest_count, shape_.chunks_per_transfer);
  // A connection has eight slots, of which a transfer of the Simple protocol takes four.
  buffer.pages = algorithm_.protocol == Protocol::simple ? 2 : 8;
  buffer.depth = Depth::guaranteed;
  buffer.handoff = kLink;
  next_channel_address_[rank] += buffer.bytes();
  const BufferId id(program_.buffers.size());
  program_.buffers.push_back(std::move(buffer));
  return id;
}

void LayoutBuilder::make_fifos() {
  next_channel_address_.resize(algorithm_.ranks.size());
  objects_.fifos.reserve(source_.connections.all.size());
  for (const Connection& connection : source_.connections.all) {
    objects_.fifos.push_back(add_fifo(
        connection.receiver,
        fmt::format("{}>{}#{}", connection.sender, connection.receiver, connection.channel),
        connection.largest_count));
  }
}

SemaphoreId LayoutBuilder::add_semaphore(std::size_t rank, std::string name, Restart restart) {
  const SemaphoreId id(program_.semaphores.size());
  program_.semaphores.push_back(
      {std::move(name), site_of(rank), 0, kSemaphoreMaximum, restart, kFlag});
  return id;
}

void LayoutBuilder::make_flags() {
  objects_.flags.resize(algorithm_.ranks.size());
  for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
    for (std::size_t b = 0; b < algorithm_.ranks[r].blocks.size(); ++b) {
      const bool awaited = source_.schedules[r][b].awaited;
      objects_.flags[r].push_back(
          awaited ? add_semaphore(r, fmt::format("flag@{}.{}", r, b), Restart::reset)
                  : SemaphoreId{});
    }
  }
}

bool LayoutBuilder::sends(std::size_t rank, std::size_t block, bool alone) const {
  const std::vector<Step>& steps = algorithm_.ranks[rank].blocks[block].steps;
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.count > 0 && traits(step.type).sends && traits(step.type).receives != alone;
  });
}

void LayoutBuilder::make_helpers() {
  objects_.helpers.resize(algorithm_.ranks.size());
  const std::size_t blocks = program_.target.engines.size();
  for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
    objects_.helpers[r].resize(algorithm_.ranks[r].blocks.size());
  }
  if (!sends_without_barrier(algorithm_, shape_.runtime)) return;
  for (std::size_t b = 0; b < blocks; ++b) {
    EngineId engine;
    for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
      if (b >= algorithm_.ranks[r].blocks.size() || !sends(r, b, true)) continue;
      if (!engine.valid()) {
        engine = EngineId(program_.target.engines.size());
        program_.target.engines.push_back(fmt::format("tb{}.send", b));
      }
      objects_.helpers[r][b] = make_helper(r, b, engine);
    }
  }
}

Helper LayoutBuilder::make_helper(std::size_t rank, std::size_t block, EngineId engine) {
  const auto semaphore = [&](std::string_view name) {
    return add_semaphore(rank, fmt::format("{}@{}.{}", name, rank, block), Restart::keep);
  };
  Helper helper{engine, semaphore("go"), semaphore("slot"), semaphore("done"), {}};
  if (sends(rank, block, false)) {
    const std::uint32_t out = source_.connections.of_block[rank][block].out;
    helper.hand = add_fifo(rank, fmt::format("hand@{}.{}", rank, block),
                           source_.connections.all[out].largest_count);
    Buffer& buffer = program_.buffers[helper.hand.value()];
    buffer.pages = 1;
    buffer.depth = Depth::exact;
    buffer.handoff = kFlag;
  }
  return helper;
}

void LayoutBuilder::count_semaphores() {
  std::vector<std::uint32_t> per_site(algorithm_.ranks.size());
  for (const Semaphore& semaphore : program_.semaphores) ++per_site[semaphore.site.chip];
  program_.target.semaphores_per_site = *std::max_element(per_site.begin(), per_site.end());
}

Region bytes_of(BufferId buffer, std::uint64_t first_chunk, std::uint64_t chunks,
                std::uint64_t chunk_bytes) {
  Region region;
  region.kind = RegionKind::bytes;
  region.object = buffer.value();
  region.bound[0] = static_cast<std::int64_t>(first_chunk * chunk_bytes);
  region.bound[1] = static_cast<std::int64_t>((first_chunk + chunks) * chunk_bytes);
  return region;
}

}  // namespace

Result<Objects> lay_out(const Source& source, const Shape& shape, Program& program) {
  return LayoutBuilder(source, shape, program).run();
}

void add_postconditions(const Algorithm& algorithm, const Shape& shape, const Objects& objects,
                        Program& program) {
  const std::uint64_t ranks = algorithm.ranks.size();
  const std::uint64_t all = algorithm.chunks;
  const std::uint64_t share = all / ranks;
  const auto input = [&](std::uint64_t rank, std::uint64_t first, std::uint64_t chunks) {
    return bytes_of(objects.buffer(rank, BufferLetter::input), first, chunks, shape.chunk_bytes);
  };
  const auto output = [&](std::uint64_t rank, std::uint64_t first, std::uint64_t chunks) {
    return bytes_of(objects.buffer(rank, BufferLetter::output), first, chunks, shape.chunk_bytes);
  };
  // o[0, chunks) is the sum over all ranks of the chunks from `first` on.
  const auto add_sum = [&](std::uint64_t rank, std::uint64_t first, std::uint64_t chunks) {
    Postcondition post{output(rank, 0, chunks), {}};
    post.terms.reserve(ranks);
    for (std::uint64_t q = 0; q < ranks; ++q) post.terms.push_back(input(q, first, chunks));
    program.postconditions.push_back(std::move(post));
  };
  // Share q of the output is the share of rank q's input that begins at `first`.
  const auto add_shares = [&](std::uint64_t rank, std::uint64_t first) {
    for (std::uint64_t q = 0; q < ranks; ++q) {
      program.postconditions.push_back({output(rank, q * share, share), {input(q, first, share)}});
    }
  };
  for (std::uint64_t r = 0; r < ranks; ++r) {
    switch (algorithm.collective) {
      case Collective::allreduce:
        add_sum(r, 0, all);
        break;
      case Collective::reduce_scatter:
        add_sum(r, r * share, share);
        break;
      case Collective::allgather:
        add_shares(r, 0);
        break;
      case Collective::alltoall:
        add_shares(r, r * share);
        break;
      // The root of a call, or what a custom collective means, does not stand in the file.
      default:
        program.result_unspecified = true;
        break;
    }
  }
}

}  // namespace spatialcert::ir::msccl
