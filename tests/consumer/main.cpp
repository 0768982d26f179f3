// Certifies a program file through the installed library. Exits 0 only if it is certified.
#include <cstdio>

#include "certify/report.hpp"
#include "ir/program_file.hpp"

int main(int argc, char** argv) {
  using namespace spatialcert;
  if (argc != 2) return 64;
  const auto program = ir::read_program(argv[1]);
  if (!program) return std::fprintf(stderr, "%s\n", program.error().message().c_str()), 3;
  const certify::ProgramReport report = certify::certify(*program);
  std::fputs(certify::report_text(*program, report).c_str(), stdout);
  return report.verdict == certify::Verdict::certified ? 0 : 1;
}
