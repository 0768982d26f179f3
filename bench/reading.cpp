// From a file to the net: what every rule presupposes.
#include "bench/measure.hpp"
#include "ir/accesses.hpp"
#include "ir/program_file.hpp"
#include "ir/search/justify.hpp"
#include "ir/unroll.hpp"
#include "proofs/find_subject.hpp"

namespace spatialcert::bench {
namespace {

const int kRead = declare("read", [](benchmark::State& state, const Sample& s) {
  measure(state, [&] { benchmark::DoNotOptimize(ir::read_program(s.path).has_value()); });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(s.bytes));
});

const int kDigest = declare("digest", [](benchmark::State& state, const Sample& s) {
  measure(state, [&] { benchmark::DoNotOptimize(ir::digest(s.program)); });
});

const int kUnroll = declare("unroll", [](benchmark::State& state, const Sample& s) {
  measure(state, [&] { benchmark::DoNotOptimize(ir::unroll(s.program).index()); });
});

const int kNet = declare("net", [](benchmark::State& state, const Sample& s) {
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(s.program));
  measure(state,
          [&] { benchmark::DoNotOptimize(ir::build_net(s.program, unrolled).places.size()); });
});

const int kAccesses = declare("accesses", [](benchmark::State& state, const Sample& s) {
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(s.program));
  measure(state, [&] {
    benchmark::DoNotOptimize(ir::resolve_accesses(s.program, unrolled).segments.size());
  });
});

/// Unrolling, net and accesses together.
const int kTranslate = declare("translate", [](benchmark::State& state, const Sample& s) {
  measure(state, [&] { benchmark::DoNotOptimize(proofs::find_subject(s.program).index()); });
});

}  // namespace
}  // namespace spatialcert::bench
