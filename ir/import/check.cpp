#include "ir/import/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace spatialcert::ir::msccl {
namespace {

/// One end of a connection, as a block declares it.
struct End {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
  std::int32_t channel = 0;
  bool sending = false;
  std::uint32_t block = 0;

  [[nodiscard]] std::uint32_t rank() const { return sending ? sender : receiver; }
  [[nodiscard]] auto connection() const { return std::tuple(sender, receiver, channel); }
};

/// The next step of a block that uses the end, from `from` on. Nothing travels for a count of 0.
std::size_t next_transfer(const Block& block, bool sending, std::size_t from) {
  while (from < block.steps.size()) {
    const StepTraits& step = traits(block.steps[from].type);
    if ((sending ? step.sends : step.receives) && block.steps[from].count > 0) break;
    ++from;
  }
  return from;
}

class Checker {
 public:
  explicit Checker(const Algorithm& algorithm) : algorithm_(algorithm) {}

  Result<Connections> run() {
    if (Status refused = check_shape()) return *std::move(refused);
    for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
      const BufferSizes sizes = buffer_sizes(algorithm_, r);
      for (std::size_t b = 0; b < algorithm_.ranks[r].blocks.size(); ++b) {
        if (Status refused = check_block(r, b, sizes)) return *std::move(refused);
      }
    }
    collect_ends();
    if (Status refused = check_shared_ends()) return *std::move(refused);
    if (Status refused = connect()) return *std::move(refused);
    return std::move(result_);
  }

 private:
  [[nodiscard]] Status check_shape() const;
  [[nodiscard]] Status check_block(std::size_t r, std::size_t b, const BufferSizes& sizes) const;
  [[nodiscard]] Status check_operands(std::size_t r, std::size_t b, std::size_t s,
                                      const BufferSizes& sizes) const;
  void collect_ends();
  [[nodiscard]] Status check_shared_ends() const;
  Status connect();
  Status pair(const End& sending, const End& receiving);
  [[nodiscard]] Refusal lonely(const End& end, std::size_t step) const;
  [[nodiscard]] Refusal unequal(const End& sending, std::size_t send, const End& receiving,
                                std::size_t receive, std::size_t transfer) const;

  [[nodiscard]] const Block& block_of(const End& end) const {
    return algorithm_.ranks[end.rank()].blocks[end.block];
  }
  [[nodiscard]] Refusal refuse_step(std::size_t r, std::size_t b, std::size_t s,
                                    std::string expected, std::string found) const {
    return {algorithm_.file, algorithm_.ranks[r].blocks[b].steps[s].line, path_of(r, b, s),
            std::move(expected), std::move(found)};
  }

  const Algorithm& algorithm_;
  std::vector<End> ends_;
  Connections result_;
};

Status Checker::check_shape() const {
  const auto ranks = static_cast<std::uint32_t>(algorithm_.ranks.size());
  if (has_chunks_per_rank(algorithm_.collective) && algorithm_.chunks % ranks != 0) {
    return Refusal{
        algorithm_.file, algorithm_.line, "algo/@nchunksperloop",
        fmt::format("a multiple of the {} ranks, because the chunks of {} belong to ranks", ranks,
                    to_string(algorithm_.collective)),
        fmt::format("{}", algorithm_.chunks)};
  }
  const auto has_blocks = [](const Rank& rank) { return !rank.blocks.empty(); };
  if (std::none_of(algorithm_.ranks.begin(), algorithm_.ranks.end(), has_blocks)) {
    return Refusal{algorithm_.file, algorithm_.line, "algo", "at least one element `tb`", "none"};
  }
  return {};
}

Status Checker::check_block(std::size_t r, std::size_t b, const BufferSizes& sizes) const {
  const Block& block = algorithm_.ranks[r].blocks[b];
  for (std::size_t s = 0; s < block.steps.size(); ++s) {
    const StepTraits& step = traits(block.steps[s].type);
    if (step.sends && block.send_peer < 0) {
      return refuse_step(r, b, s,
                         fmt::format("a block with a `send` peer for a step `{}`", step.name),
                         "send=\"-1\"");
    }
    if (step.receives && block.receive_peer < 0) {
      return refuse_step(r, b, s,
                         fmt::format("a block with a `recv` peer for a step `{}`", step.name),
                         "recv=\"-1\"");
    }
    if (Status refused = check_operands(r, b, s, sizes)) return refused;
  }
  return {};
}

Status Checker::check_operands(std::size_t r, std::size_t b, std::size_t s,
                               const BufferSizes& sizes) const {
  const Step& step = algorithm_.ranks[r].blocks[b].steps[s];
  if (step.count == 0) return {};
  const StepTraits& uses = traits(step.type);
  const auto outside = [&](const Operand& operand) {
    return operand.offset < 0 ||
           static_cast<std::uint32_t>(operand.offset) + step.count > sizes.of(operand.buffer);
  };
  const auto refuse = [&](const Operand& operand, std::string_view role) {
    return refuse_step(r, b, s,
                       fmt::format("{} chunks inside buffer `{}` of {} chunks", role,
                                   letter(operand.buffer), sizes.of(operand.buffer)),
                       fmt::format("chunks [{}, {})", operand.offset,
                                   operand.offset + static_cast<std::int32_t>(step.count)));
  };
  if (uses.reads_source && outside(step.source)) return refuse(step.source, "source");
  if ((uses.reads_destination || uses.writes_destination) && outside(step.destination)) {
    return refuse(step.destination, "destination");
  }
  return {};
}

void Checker::collect_ends() {
  for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
    const auto rank = static_cast<std::uint32_t>(r);
    for (std::size_t b = 0; b < algorithm_.ranks[r].blocks.size(); ++b) {
      const Block& block = algorithm_.ranks[r].blocks[b];
      const auto id = static_cast<std::uint32_t>(b);
      if (block.send_peer >= 0) {
        const auto peer = static_cast<std::uint32_t>(block.send_peer);
        ends_.push_back({rank, peer, block.channel, true, id});
      }
      if (block.receive_peer >= 0) {
        const auto peer = static_cast<std::uint32_t>(block.receive_peer);
        ends_.push_back({peer, rank, block.channel, false, id});
      }
    }
  }
  std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    return std::tuple(a.connection(), !a.sending, a.block) <
           std::tuple(b.connection(), !b.sending, b.block);
  });
}

// Even a block without steps loads and stores the connection's position.
Status Checker::check_shared_ends() const {
  for (std::size_t i = 1; i < ends_.size(); ++i) {
    const End& first = ends_[i - 1];
    const End& second = ends_[i];
    if (first.connection() != second.connection() || first.sending != second.sending) continue;
    return Refusal{
        algorithm_.file, block_of(second).line, path_of(second.rank(), second.block),
        fmt::format("one block for the {} end of the connection {}>{} on channel {}",
                    second.sending ? "sending" : "receiving", second.sender, second.receiver,
                    second.channel),
        fmt::format("this block and block {} (line {})", first.block, block_of(first).line)};
  }
  return {};
}

Status Checker::connect() {
  result_.of_block.resize(algorithm_.ranks.size());
  for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
    result_.of_block[r].resize(algorithm_.ranks[r].blocks.size());
  }
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const End& end = ends_[i];
    if (end.sending && i + 1 < ends_.size() && ends_[i + 1].connection() == end.connection()) {
      if (Status refused = pair(end, ends_[i + 1])) return refused;
      ++i;
      continue;
    }
    const std::size_t step = next_transfer(block_of(end), end.sending, 0);
    if (step < block_of(end).steps.size()) return lonely(end, step);
  }
  return {};
}

Refusal Checker::lonely(const End& end, std::size_t step) const {
  return refuse_step(
      end.rank(), end.block, step,
      fmt::format("a block of rank {} that {} rank {} on channel {}",
                  end.sending ? end.receiver : end.sender,
                  end.sending ? "receives from" : "sends to", end.rank(), end.channel),
      "none");
}

Status Checker::pair(const End& sending, const End& receiving) {
  const Block& sender = block_of(sending);
  const Block& receiver = block_of(receiving);
  Connection connection{sending.sender, sending.receiver, sending.channel, sending.block,
                        receiving.block};
  std::size_t send = next_transfer(sender, true, 0);
  std::size_t receive = next_transfer(receiver, false, 0);
  for (std::size_t k = 0; send < sender.steps.size() || receive < receiver.steps.size(); ++k) {
    if (send == sender.steps.size() || receive == receiver.steps.size() ||
        sender.steps[send].count != receiver.steps[receive].count) {
      return unequal(sending, send, receiving, receive, k);
    }
    connection.largest_count = std::max(connection.largest_count, sender.steps[send].count);
    send = next_transfer(sender, true, send + 1);
    receive = next_transfer(receiver, false, receive + 1);
  }
  if (connection.largest_count == 0) return {};
  const auto id = static_cast<std::uint32_t>(result_.all.size());
  result_.of_block[sending.sender][sending.block].out = id;
  result_.of_block[receiving.receiver][receiving.block].in = id;
  result_.all.push_back(connection);
  return {};
}

Refusal Checker::unequal(const End& sending, std::size_t send, const End& receiving,
                         std::size_t receive, std::size_t transfer) const {
  const Block& sender = block_of(sending);
  const Block& receiver = block_of(receiving);
  const bool has_send = send < sender.steps.size();
  const bool has_receive = receive < receiver.steps.size();
  const auto describe = [](bool there, const Block& block, const End& end, std::size_t step,
                           std::string_view verb) {
    return there
               ? fmt::format("rank {} block {} step {} (line {}) {} {} chunks", end.rank(),
                             end.block, step, block.steps[step].line, verb, block.steps[step].count)
               : fmt::format("rank {} block {} (line {}) {} no more", end.rank(), end.block,
                             block.line, verb);
  };
  const std::string sends = describe(has_send, sender, sending, send, "sends");
  const std::string receives = describe(has_receive, receiver, receiving, receive, "receives");
  const End& at = has_receive ? receiving : sending;
  return refuse_step(at.rank(), at.block, has_receive ? receive : send,
                     fmt::format("transfer {} of the connection {}>{} on channel {} to be sent and "
                                 "received with equal `cnt`",
                                 transfer, sending.sender, sending.receiver, sending.channel),
                     fmt::format("{}, {}", sends, receives));
}

}  // namespace

bool has_chunks_per_rank(Collective collective) {
  return collective == Collective::allgather || collective == Collective::reduce_scatter ||
         collective == Collective::alltoall;
}

BufferSizes buffer_sizes(const Algorithm& algorithm, std::size_t rank) {
  const Rank& declared = algorithm.ranks[rank];
  const auto share = algorithm.chunks / static_cast<std::uint32_t>(algorithm.ranks.size());
  const bool gathers = algorithm.collective == Collective::allgather;
  const bool scatters = algorithm.collective == Collective::reduce_scatter;
  return {std::max(gathers ? share : algorithm.chunks, declared.input_chunks),
          std::max(scatters ? share : algorithm.chunks, declared.output_chunks),
          declared.scratch_chunks};
}

Result<Connections> check(const Algorithm& algorithm) { return Checker(algorithm).run(); }

}  // namespace spatialcert::ir::msccl
