// spatialcert_bench_file [--monolithic|--potentials] FILE: what one file costs, in a process of its
// own. One figure per line, `NAME<tab>VALUE`, as soon as it is known, so that what was reached
// before a limit is not lost. A line `program` begins the figures of another program of the file.
//
// Seconds are of CPU time, memory in bytes; `parsed_bytes` is what the process takes once the file
// is read, the peaks are those of certifying and rechecking.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "bench/potentials.hpp"
#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "ir/bytes_file.hpp"
#include "ir/import/msccl.hpp"
#include "ir/program_file.hpp"
#include "proofs/recheck/recheck.hpp"
#include "smt/query.hpp"

namespace {

using namespace spatialcert;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <typename Value>
void figure(std::string_view name, const Value& value) {
  fmt::print("{}\t{}\n", name, value);
  std::fflush(stdout);
}

void seconds(std::string_view name, double value) { figure(name, fmt::format("{:.6f}", value)); }

/// `VmRSS` or `VmHWM`, the peak since the last `forget_peak`. 0 if the system does not say.
std::uint64_t memory(std::string_view what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, what.size(), what) == 0)
      return std::stoull(line.substr(what.size() + 1)) * 1024;
  }
  return 0;
}

/// Gives back what is free, and starts the peak anew.
void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
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
    auto program = ir::parse_owned_program(*std::move(bytes), path);
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

/// The certificate, or nothing if there is none.
std::string certify(const ir::Program& program, bool monolithic) {
  certify::Options options;
  options.keep_witnesses = true;
  options.monolithic = monolithic;
  forget_peak();
  const double before = cpu_seconds();
  certify::ProgramReport report = certify::certify(program, options);
  seconds("certify", cpu_seconds() - before);
  figure("certify_peak_bytes", memory("VmHWM:"));
  std::uint64_t queries = 0;
  for (const certify::RuleReport& rule : report.rules) queries += rule.queries;
  figure("queries", queries);
  figure("transitions", report.transitions);
  figure("places", report.places);
  figure("verdict", certify::to_string(report.verdict));
  figure("line", certify::verdict_line(report));
  return report.certificate ? proofs::encode(*report.certificate) : std::string();
}

/// False: the certificate is not valid.
bool measure(const ir::Program& program, bool monolithic) {
  figure("program", program.name);
  figure("ops", ir::op_count(program));
  static_cast<void>(ir::target_digest(program));  // sets up what every digest needs
  const double before = cpu_seconds();
  static_cast<void>(ir::digest(program));
  seconds("digest", cpu_seconds() - before);
  const std::string certificate = certify(program, monolithic);
  if (certificate.empty()) return true;
  figure("certificate_bytes", certificate.size());
  forget_peak();
  const double start = cpu_seconds();
  if (!valid(program, certificate)) return false;
  seconds("recheck", cpu_seconds() - start);
  figure("recheck_peak_bytes", memory("VmHWM:"));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc == 3 ? argv[1] : "";
  if (argc != 2 && option != "--monolithic" && option != "--potentials") return 64;
  const double start = cpu_seconds();
  const auto loaded = load(argv[argc - 1]);
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error().message());
    return 3;
  }
  seconds("read", cpu_seconds() - start);
  forget_peak();
  figure("parsed_bytes", memory("VmRSS:"));
  figure("file_bytes", std::filesystem::file_size(argv[argc - 1]));
  figure("steps", loaded->steps);
  figure("z3", smt::solver_version());
  for (const ir::Program& program : loaded->programs) {
    if (option == "--potentials") {
      const bench::Potentials found = bench::potentials_by_one_query(program);
      seconds("potentials", found.seconds);
      figure("verdict", found.answer);
    } else if (!measure(program, option == "--monolithic")) {
      return 70;
    }
  }
  return 0;
}
