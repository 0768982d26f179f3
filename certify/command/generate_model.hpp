// `spatialcert generate --model`: a decoding step of a model as a program.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace spatialcert::command {

struct GenerateModel {
  std::string name;
  std::string configuration;  ///< a file
  std::uint32_t chips = 1;
  std::string mesh = "4x4";
  std::uint64_t layers = 0;  ///< 0: all
  std::uint64_t position = 0;
  std::uint64_t context = 4096;
  std::string phases = "auto";
  std::string sections;  ///< a folder
  std::string fault;     ///< empty: none

  [[nodiscard]] bool wanted() const { return !name.empty() || !configuration.empty(); }
};

/// The names of `--fault`, separated by commas.
[[nodiscard]] std::string model_faults_text();
void declare_model_options(CLI::App& app, GenerateModel& options);
/// Exit status. `output`: file of the program; `-` is standard output, unless sections were asked
/// for.
int generate_model(const GenerateModel& options, const std::string& output);

}  // namespace spatialcert::command
