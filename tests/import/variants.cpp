// Placements, message sizes, buffer sizes, aliasing and results.
#include <doctest/doctest.h>

#include "fixtures.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::ir {
namespace {

using fixtures::File;
using fixtures::head;
using fixtures::import_one;
using fixtures::show;
using Mode = MscclTransfers::Mode;

std::string exchange(int chunks, const std::string& placement,
                     const std::string& protocol = "Simple", int count = 4) {
  return File(head(chunks, placement, protocol))
      .gpu()
      .block(1, 1)
      .step({"s", "i 0", "i 0", count})
      .step({"r", "i 0", "i 0", count})
      .gpu()
      .block(0, 0)
      .step({"s", "i 0", "i 0", count})
      .step({"r", "i 0", "i 0", count})
      .text();
}

std::vector<std::string> descriptions(const std::string& text, const MscclOptions& options = {}) {
  const auto imported = import_msccl_text(text, "dir/t.xml.zst", options);
  REQUIRE(imported.has_value());
  std::vector<std::string> all;
  for (const MscclVariant& variant : imported->variants) {
    CHECK(variant.program.name == "t (" + variant.description + ")");
    all.push_back(variant.description);
  }
  return all;
}

TEST_CASE("every placement and number of transfers that the file allows is a variant") {
  using List = std::vector<std::string>;
  CHECK(descriptions(exchange(4, "inplace=\"1\"")) ==
        List{"in place, one transfer per step", "in place, one transfer per chunk"});
  CHECK(descriptions(exchange(4, "inplace=\"0\"")) ==
        List{"out of place, one transfer per step", "out of place, one transfer per chunk"});
  CHECK(descriptions(exchange(4, "inplace=\"1\" outofplace=\"1\"")) ==
        List{"in place, one transfer per step", "in place, one transfer per chunk",
             "out of place, one transfer per step", "out of place, one transfer per chunk"});
  CHECK(descriptions(exchange(4, "inplace=\"1\" outofplace=\"0\"", "Simple", 1)) ==
        List{"in place, any message size"});
  MscclOptions options;
  options.placement = MscclPlacement::out_of_place;
  options.runtime = MscclRuntime::rccl;
  options.transfers = MscclTransfers{Mode::for_bytes, 4 << 20};
  CHECK(descriptions(exchange(4, "inplace=\"1\" outofplace=\"1\""), options) ==
        List{"out of place, 4194304 bytes (2 chunks per transfer), RCCL"});
}

TEST_CASE("a placement that the file does not allow is refused") {
  MscclOptions options;
  options.placement = MscclPlacement::out_of_place;
  const Refusal refusal = fixtures::import_refusal(exchange(4, "inplace=\"1\""), options);
  CHECK(refusal.line == 1);
  CHECK(refusal.expected == "a file that may be used out of place");
  CHECK(refusal.found == "one that is for calls in place only");
}

TEST_CASE("the summary") {
  const auto imported = import_msccl_text(exchange(8, "inplace=\"1\""), "t.xml", {});
  REQUIRE(imported.has_value());
  const MscclSummary& summary = imported->summary;
  CHECK(summary.name == "t");
  CHECK(summary.collective == "allreduce");
  CHECK(summary.protocol == "Simple");
  CHECK(summary.ranks == 2);
  CHECK(summary.chunks == 8);
  CHECK(summary.largest_count == 4);
  CHECK(summary.steps == 4);
  CHECK(imported->variants[0].chunks_per_transfer == 4);
  CHECK(imported->variants[1].chunks_per_transfer == 1);
}

/// Chunks per transfer and bytes per chunk at a message size.
std::pair<std::uint32_t, std::uint64_t> at(const std::string& protocol, std::uint64_t bytes,
                                           MscclRuntime runtime = MscclRuntime::msccl) {
  MscclOptions options;
  options.runtime = runtime;
  options.transfers = MscclTransfers{Mode::for_bytes, bytes};
  const MscclVariant variant = import_one(exchange(8, "inplace=\"1\"", protocol), options);
  return {variant.chunks_per_transfer, variant.program.buffers.front().page_bytes};
}

TEST_CASE("what a message size means") {
  constexpr std::uint64_t kMi = 1 << 20;
  using Pair = std::pair<std::uint32_t, std::uint64_t>;
  CHECK(at("Simple", 8) == Pair{71, 1});
  CHECK(at("Simple", 8 * kMi) == Pair{2, kMi});
  CHECK(at("Simple", 8 * kMi + 8) == Pair{1, kMi + 1});
  CHECK(at("Simple", 16 * kMi) == Pair{1, 2 * kMi});
  CHECK(at("Simple", 64 * kMi) == Pair{1, 2 * kMi});  // the iterations touch different bytes
  CHECK(at("LL", 8 * 16384) == Pair{2, 16384});
  CHECK(at("LL", 8 * 16384, MscclRuntime::rccl) == Pair{1, 16384});
  CHECK(at("LL128", 8 * 288'000) == Pair{2, 288'000});
  CHECK(at("LL128", 8 * 115'200, MscclRuntime::rccl) == Pair{2, 115'200});
  for (const std::uint64_t bytes : {0U, 7U, 9U}) {
    MscclOptions options;
    options.transfers = MscclTransfers{Mode::for_bytes, bytes};
    const Refusal refusal = fixtures::import_refusal(exchange(8, "inplace=\"1\""), options);
    CHECK(refusal.expected == "a message of a positive multiple of 8 bytes, one per chunk");
  }
}

TEST_CASE("the largest message that still puts m chunks in a transfer") {
  constexpr std::uint64_t kMi = 1 << 20;
  MscclSummary summary;
  summary.protocol = "Simple";
  summary.chunks = 8;
  CHECK(largest_message(summary, MscclRuntime::msccl, 2) == 8 * kMi);
  summary.chunks = 512;
  CHECK(largest_message(summary, MscclRuntime::msccl, 4) == 256 * kMi);
  summary.protocol = "LL";
  summary.chunks = 1;
  CHECK(largest_message(summary, MscclRuntime::msccl, 1) == 32768);
  CHECK(largest_message(summary, MscclRuntime::rccl, 1) == 16384);
  CHECK(largest_message(summary, MscclRuntime::rccl, 72) == 0);
  for (const char* protocol : {"Simple", "LL", "LL128"}) {
    summary.protocol = protocol;
    summary.chunks = 8;
    for (std::uint32_t m = 2; m <= 71; ++m) {
      const std::uint64_t largest = largest_message(summary, MscclRuntime::msccl, m);
      CHECK(at(protocol, largest).first >= m);
      CHECK(at(protocol, largest + 8).first < m);
    }
  }
}

/// Name, first byte and size in chunks of every buffer of a rank, and what it is a view of.
std::string buffers_of(const Program& program, std::uint32_t rank) {
  std::string text;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind == BufferKind::fifo || buffer.site.chip != rank) continue;
    text += buffer.name + " " + std::to_string(buffer.address / buffer.page_bytes) + "+" +
            std::to_string(buffer.pages);
    if (buffer.view) text += " in " + program.buffers[buffer.view->base.value()].name;
    text += buffer.init == Init::external ? " external\n" : "\n";
  }
  return text;
}

std::string buffers(const std::string& collective, const std::string& placement, int input = 0,
                    int output = 0) {
  File file(head(6, placement, "LL", collective));
  const Program program =
      import_one(file.gpu(0, 0, 5).block(-1, -1).gpu(input, output, 0).text()).program;
  return buffers_of(program, 1);
}

TEST_CASE("sizes and aliasing of every collective") {
  const std::string in = "inplace=\"1\"";
  const std::string out = "inplace=\"0\"";
  CHECK(buffers("allreduce", out) == "i@1 0+6 external\no@1 6+6\n");
  CHECK(buffers("allreduce", in) == "i@1 0+6 external\no@1 0+6 in i@1\n");
  CHECK(buffers("allgather", out) == "i@1 0+3 external\no@1 3+6\n");
  CHECK(buffers("allgather", in) == "o@1 0+6\ni@1 3+3 in o@1 external\n");
  CHECK(buffers("reduce_scatter", out) == "i@1 0+6 external\no@1 6+3\n");
  CHECK(buffers("reducescatter", in) == "i@1 0+6 external\no@1 3+3 in i@1\n");
  CHECK(buffers("alltoall", in) == "i@1 0+6 external\no@1 0+6 in i@1\n");
  CHECK(buffers("custom", in, 8, 9) == "o@1 0+9\ni@1 0+8 in o@1 external\n");
  CHECK(buffers("custom", in, 9, 8) == "i@1 0+9 external\no@1 0+8 in i@1\n");
  CHECK(buffers("custom", in, 1, 2) == "i@1 0+6 external\no@1 0+6 in i@1\n");
}

TEST_CASE("scratch lies behind, and is left out where there is none") {
  const Program program = import_one(File(head(6)).gpu(0, 0, 5).block(-1, -1).gpu().text()).program;
  CHECK(buffers_of(program, 0) == "i@0 0+6 external\no@0 0+6 in i@0\ns@0 6+5\n");
  CHECK(buffers_of(program, 1) == "i@1 0+6 external\no@1 0+6 in i@1\n");
  for (const Buffer& buffer : program.buffers) CHECK(buffer.lifetime == Lifetime::resident);
}

TEST_CASE("an alias that reaches beyond its buffer is refused") {
  const std::string text =
      File(head(6, "inplace=\"1\"", "LL", "allgather")).gpu().block(-1, -1).gpu(4).text();
  const Refusal refusal = fixtures::import_refusal(text);
  CHECK(refusal.line == 6);
  CHECK(refusal.path == "algo/gpu[@id=1]");
  CHECK(refusal.expected == "buffer `i` to lie inside buffer `o` when in place: at most 3 chunks");
  CHECK(refusal.found == "4");
}

std::string results(const std::string& collective) {
  const Program program =
      import_one(File(head(6, "inplace=\"0\"", "LL", collective)).gpu().block(-1, -1).gpu().text())
          .program;
  std::string text;
  for (const Postcondition& post : program.postconditions) {
    text += show(program, post.region) + " =";
    for (const Region& term : post.terms) text += " " + show(program, term);
    text += "\n";
  }
  return text + (program.result_unspecified ? "unspecified" : "");
}

TEST_CASE("what every collective promises") {
  CHECK(results("allreduce") ==
        "o@0[0,6) = i@0[0,6) i@1[0,6)\n"
        "o@1[0,6) = i@0[0,6) i@1[0,6)\n");
  CHECK(results("reduce_scatter") ==
        "o@0[0,3) = i@0[0,3) i@1[0,3)\n"
        "o@1[0,3) = i@0[3,6) i@1[3,6)\n");
  CHECK(results("allgather") ==
        "o@0[0,3) = i@0[0,3)\no@0[3,6) = i@1[0,3)\n"
        "o@1[0,3) = i@0[0,3)\no@1[3,6) = i@1[0,3)\n");
  CHECK(results("alltoall") ==
        "o@0[0,3) = i@0[0,3)\no@0[3,6) = i@1[0,3)\n"
        "o@1[0,3) = i@0[3,6)\no@1[3,6) = i@1[3,6)\n");
  for (const char* collective :
       {"broadcast", "reduce", "custom", "send", "recv", "gather", "scatter", "alltoallv"}) {
    CHECK(results(collective) == "unspecified");
  }
}

TEST_CASE("an imported program can be written and read") {
  MscclOptions options;
  options.runtime = MscclRuntime::rccl;
  for (const char* protocol : {"Simple", "LL"}) {
    const Program program = import_one(exchange(8, "inplace=\"1\"", protocol), options).program;
    const std::string text = serialise(program);
    const Result<Program> read = parse_program(text, "t.json");
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    CHECK(serialise(*read) == text);
  }
}

TEST_CASE("what looks like an algorithm") {
  CHECK(looks_like_msccl(" \n<algo/>"));
  CHECK(looks_like_msccl("\xEF\xBB\xBF<?xml?>"));
  CHECK(!looks_like_msccl("{\"format\": \"spatialcert-program\"}"));
  CHECK(!looks_like_msccl(""));
}

}  // namespace
}  // namespace spatialcert::ir
