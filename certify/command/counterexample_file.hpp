// A counterexample that `certify --cex` wrote, with the program that it was found in.
#pragma once

#include <string>

#include "certify/command/import_options.hpp"
#include "ir/result.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::command {

struct CounterexampleFile {
  LoadedProgram loaded;
  proofs::Counterexample counterexample;
};

/// Reads both. Of a foreign file, the program is the one that the counterexample was made for.
/// Refuses what is malformed, and a counterexample that belongs to none of its programs.
[[nodiscard]] ir::Result<CounterexampleFile> load_counterexample(const std::string& program,
                                                                 const std::string& counterexample,
                                                                 const ImportOptions& import);

}  // namespace spatialcert::command
