// The spatialcert command: parses the command line and hands over to one command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iterator>
#include <sstream>

#include "certify/command/command.hpp"
#include "certify/report.hpp"

namespace {

using namespace spatialcert::command;

constexpr const char* kFooter = R"(
Exit status of `certify`, over one run the first that applies:
  70  a fault of spatialcert's own, or output that could not be written
   1  a program was refuted
   3  a file was refused as malformed
   2  a program is undecided
   0  every program was certified
64 means wrong usage, for every command.

Examples:
  spatialcert generate --collective ring --op allreduce --ranks 8 -o ring.xml
  spatialcert certify ring.xml
  spatialcert compose layers.json -o model.json.zst
  spatialcert certify --format json --cex found model.json.zst
  spatialcert replay model.json found/model.ordering.json
  spatialcert explain model.json found/model.ordering.json --html ordering.html
  spatialcert COMMAND --help
)";

int run(int argc, char** argv) {
  CLI::App app{
      "Certifies composed programs of multi-chip spatial accelerators before they are uploaded.",
      "spatialcert"};
  app.set_version_flag("--version",
                       fmt::format("spatialcert {}\nz3 {}", spatialcert::certify::tool_version(),
                                   spatialcert::certify::solver_version()));
  app.require_subcommand(1);
  app.footer(kFooter);
  const Command commands[] = {declare_certify(app),  declare_compose(app), declare_import(app),
                              declare_generate(app), declare_replay(app),  declare_explain(app),
                              declare_show(app),     declare_gate(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(e, out, err);
    print(out.str());
    complain(err.str());
    return code == 0 ? 0 : kUsage;
  }
  const auto chosen = std::find_if(std::begin(commands), std::end(commands),
                                   [](const Command& command) { return command.app->parsed(); });
  return chosen->run();
}

}  // namespace

int main(int argc, char** argv) {
  int status = kFault;
  try {
    prepare_streams();
    status = run(argc, argv);
  } catch (const UsageError& e) {
    complain(fmt::format("spatialcert: {}\n", e.what()));
    status = kUsage;
  } catch (const std::exception& e) {
    complain(fmt::format("spatialcert: {}\n", e.what()));
    status = kFault;
  } catch (...) {
    complain("spatialcert: unknown fault\n");
  }
  try {
    finish_output();
  } catch (const OutputError& e) {
    complain(fmt::format("spatialcert: {}\n", e.what()));
    status = kFault;
  }
  return status;
}
