#include "certify/command/counterexample_file.hpp"

#include <utility>

#include "certify/report.hpp"
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

/// The program of the file that the counterexample was made for; the first if it is none of
/// several, so that reading refuses by digest.
LoadedProgram& program_for(LoadedFile& file, const std::string& digest) {
  for (LoadedProgram& loaded : file.programs) {
    if (ir::to_hex(ir::digest(loaded.program)) == digest) return loaded;
  }
  return file.programs.front();
}

ir::Result<std::uint64_t> look(std::string_view beginning, const std::string& path) {
  if (ir::Status refused = ir::look_at_json(beginning, path, "a counterexample (a JSON object)")) {
    return *std::move(refused);
  }
  return ir::kMaximumInputBytes;
}

}  // namespace

ir::Result<CounterexampleFile> load_counterexample(const std::string& program,
                                                   const std::string& counterexample,
                                                   const ImportOptions& import) {
  auto file = load(program, import.msccl());
  if (!file) return file.error();
  const auto text = ir::read_bytes(counterexample, ir::kMaximumInputBytes, look);
  if (!text) return text.error();
  const auto digest = certify::counterexample_digest(*text, counterexample);
  if (!digest) return digest.error();
  LoadedProgram& loaded = program_for(*file, *digest);
  auto parsed = certify::parse_counterexample(*text, counterexample, loaded.program);
  if (!parsed) return parsed.error();
  return CounterexampleFile{std::move(loaded), *std::move(parsed)};
}

}  // namespace spatialcert::command
