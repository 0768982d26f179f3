#include "ir/import/msccl.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ir/bytes_file.hpp"
#include "ir/import/algorithm.hpp"
#include "ir/import/check.hpp"
#include "ir/import/lower.hpp"
#include "ir/import/schedule.hpp"
#include "ir/import/sizes.hpp"
#include "ir/require.hpp"
#include "ir/validate.hpp"

namespace spatialcert::ir {
namespace {

using msccl::Algorithm;
using msccl::Shape;

/// Any number that divides evenly does where the message size is left open.
constexpr std::uint64_t kSymbolicChunkBytes = 16;

/// A well-formed file, from which variants are built.
struct Parsed {
  Algorithm algorithm;
  msccl::Schedules schedules;
  msccl::Connections connections;
};

Result<Parsed> parse(std::string text, const std::string& file) {
  Result<Algorithm> algorithm = msccl::parse_algorithm(std::move(text), file);
  if (!algorithm) return algorithm.error();
  Result<msccl::Connections> connections = msccl::check(*algorithm);
  if (!connections) return connections.error();
  Result<msccl::Schedules> schedules = msccl::schedule(*algorithm);
  if (!schedules) return schedules.error();
  return Parsed{*std::move(algorithm), *std::move(schedules), *std::move(connections)};
}

std::string base_name(const std::string& file) {
  std::string name = file.substr(file.find_last_of('/') + 1);
  for (const std::string_view suffix : {".zst", ".xml"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
  }
  return name;
}

std::string_view words(MscclPlacement placement) {
  return placement == MscclPlacement::in_place ? "in place" : "out of place";
}

std::string describe(MscclPlacement placement, MscclRuntime runtime, std::string_view transfers) {
  return fmt::format("{}, {}{}", words(placement), transfers,
                     runtime == MscclRuntime::rccl ? ", RCCL" : "");
}

/// The shape of a variant with its number of transfers in words.
struct Plan {
  MscclTransfers transfers;
  std::uint32_t chunks_per_transfer = 1;
  std::uint64_t chunk_bytes = kSymbolicChunkBytes;
  std::string words;
};

Result<std::vector<Plan>> plan_transfers(const Algorithm& algorithm, const MscclOptions& options) {
  using Mode = MscclTransfers::Mode;
  const std::uint32_t largest = algorithm.largest_count();
  const Plan per_step{
      {Mode::one_per_step, 0}, largest, kSymbolicChunkBytes, "one transfer per step"};
  const Plan per_chunk{{Mode::one_per_chunk, 0}, 1, kSymbolicChunkBytes, "one transfer per chunk"};
  if (!options.transfers) {
    if (largest > 1) return std::vector<Plan>{per_step, per_chunk};
    return std::vector<Plan>{{per_chunk.transfers, 1, kSymbolicChunkBytes, "any message size"}};
  }
  switch (options.transfers->mode) {
    case Mode::one_per_step:
      return std::vector<Plan>{per_step};
    case Mode::one_per_chunk:
      return std::vector<Plan>{per_chunk};
    case Mode::for_bytes:
      break;
  }
  const std::uint64_t bytes = options.transfers->bytes;
  const Result<msccl::TransferSize> size = msccl::transfer_size(algorithm, options.runtime, bytes);
  if (!size) return size.error();
  return std::vector<Plan>{{*options.transfers, size->chunks, size->chunk_bytes,
                            fmt::format("{} bytes ({} chunks per transfer)", bytes, size->chunks)}};
}

Result<std::vector<MscclPlacement>> plan_placements(const Algorithm& algorithm,
                                                    std::optional<MscclPlacement> wanted) {
  std::vector<MscclPlacement> placements;
  if (algorithm.allows_in_place) placements.push_back(MscclPlacement::in_place);
  if (algorithm.allows_out_of_place) placements.push_back(MscclPlacement::out_of_place);
  if (!wanted) return placements;
  if (std::find(placements.begin(), placements.end(), *wanted) == placements.end()) {
    return Refusal{algorithm.file, algorithm.line, "algo/@inplace",
                   fmt::format("a file that may be used {}", words(*wanted)),
                   fmt::format("one that is for calls {} only", words(placements.front()))};
  }
  return std::vector<MscclPlacement>{*wanted};
}

Result<MscclVariant> build(const Parsed& parsed, MscclPlacement placement, MscclRuntime runtime,
                           const Plan& plan) {
  MscclVariant variant;
  variant.placement = placement;
  variant.transfers = plan.transfers;
  variant.chunks_per_transfer = plan.chunks_per_transfer;
  variant.description = describe(placement, runtime, plan.words);
  const Shape shape{placement, runtime, plan.chunks_per_transfer, plan.chunk_bytes,
                    fmt::format("{} ({})", base_name(parsed.algorithm.file), variant.description)};
  Result<Program> program =
      msccl::lower({parsed.algorithm, parsed.schedules, parsed.connections}, shape);
  if (!program) return program.error();
  variant.program = *std::move(program);
  // What the file could get wrong has been refused by element and line: this would be our fault.
  if (const Status malformed = validate(variant.program)) throw InternalFault(malformed->message());
  return variant;
}

MscclSummary summarise(const Algorithm& algorithm) {
  return {algorithm.name,
          std::string(msccl::to_string(algorithm.collective)),
          std::string(msccl::to_string(algorithm.protocol)),
          static_cast<std::uint32_t>(algorithm.ranks.size()),
          algorithm.chunks,
          algorithm.largest_count(),
          algorithm.step_count()};
}

Result<MscclImport> import_owned(std::string text, const std::string& file,
                                 const MscclOptions& options) {
  const Result<Parsed> parsed = parse(std::move(text), file);
  if (!parsed) return parsed.error();
  const auto placements = plan_placements(parsed->algorithm, options.placement);
  if (!placements) return placements.error();
  const auto plans = plan_transfers(parsed->algorithm, options);
  if (!plans) return plans.error();
  MscclImport result;
  result.summary = summarise(parsed->algorithm);
  for (const MscclPlacement placement : *placements) {
    for (const Plan& plan : *plans) {
      Result<MscclVariant> variant = build(*parsed, placement, options.runtime, plan);
      if (!variant) return variant.error();
      result.variants.push_back(*std::move(variant));
    }
  }
  return result;
}

}  // namespace

Result<MscclImport> import_msccl(const std::string& path, const MscclOptions& options) {
  Result<std::string> text = read_bytes(path, kMaximumMscclBytes);
  if (!text) return text.error();
  return import_owned(*std::move(text), path, options);
}

Result<MscclImport> import_msccl_text(std::string_view xml, const std::string& file,
                                      const MscclOptions& options) {
  return import_owned(std::string(xml), file, options);
}

Result<MscclVariant> import_msccl_with_transfers(std::string_view xml, const std::string& file,
                                                 MscclPlacement placement, MscclRuntime runtime,
                                                 std::uint32_t chunks_per_transfer) {
  SPATIALCERT_REQUIRE(chunks_per_transfer > 0, "a transfer carries something");
  const Result<Parsed> parsed = parse(std::string(xml), file);
  if (!parsed) return parsed.error();
  const auto placements = plan_placements(parsed->algorithm, placement);
  if (!placements) return placements.error();
  Plan plan;
  plan.chunks_per_transfer = chunks_per_transfer;
  plan.transfers = {MscclTransfers::Mode::for_bytes,
                    largest_message(summarise(parsed->algorithm), runtime, chunks_per_transfer)};
  plan.words = fmt::format("{} chunks per transfer", chunks_per_transfer);
  return build(*parsed, placement, runtime, plan);
}

bool looks_like_msccl(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::size_t first = first_visible(bytes);
  return first < bytes.size() && bytes[first] == '<';
}

}  // namespace spatialcert::ir
