// spatialcert_bench_file FILE: one tab-separated line per program of FILE:
// program, steps (0: no collective), ops, reading in CPU s (of the whole file), certifying in CPU
// s, rechecking in CPU s, bytes of the certificate (both 0 if there is none), peak MiB, verdict.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <ctime>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "ir/bytes_file.hpp"
#include "ir/import/msccl.hpp"
#include "ir/program_file.hpp"
#include "proofs/recheck/recheck.hpp"

namespace {

using namespace spatialcert;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Loaded {
  std::vector<ir::Program> programs;
  std::uint64_t steps = 0;
};

ir::Result<Loaded> load(const std::string& path) {
  auto bytes = ir::read_bytes(path);
  if (!bytes) return bytes.error();
  Loaded out;
  if (ir::looks_like_msccl(*bytes)) {
    auto imported = ir::import_msccl_text(*bytes, path, {});
    if (!imported) return imported.error();
    out.steps = imported->summary.steps;
    for (auto& variant : imported.value().variants)
      out.programs.push_back(std::move(variant.program));
  } else {
    auto program = ir::parse_program(*bytes, path);
    if (!program) return program.error();
    out.programs.push_back(std::move(program.value()));
  }
  return out;
}

bool valid(const ir::Program& program, const std::string& certificate) {
  const auto decoded = proofs::decode(certificate);
  const auto* given = std::get_if<proofs::Certificate>(&decoded);
  return given != nullptr && !proofs::recheck(program, *given).denial;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const double start = cpu_seconds();
  const auto loaded = load(argv[1]);
  const double reading = cpu_seconds() - start;
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error().message());
    return 3;
  }
  for (const ir::Program& program : loaded->programs) {
    certify::Options options;
    options.keep_witnesses = true;
    const double before = cpu_seconds();
    const certify::ProgramReport report = certify::certify(program, options);
    const double certifying = cpu_seconds() - before;
    const std::string bytes =
        report.certificate ? proofs::encode(*report.certificate) : std::string();
    const double written = cpu_seconds();
    if (report.certificate && !valid(program, bytes)) return 70;
    fmt::print("{}\t{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{}\t{:.0f}\t{}\n", program.name, loaded->steps,
               report.ops, reading, certifying, cpu_seconds() - written, bytes.size(),
               peak_mebibytes(), certify::verdict_line(report));
    std::fflush(stdout);
  }
  return 0;
}
