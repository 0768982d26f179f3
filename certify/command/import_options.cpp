#include "certify/command/import_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "certify/command/command.hpp"
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {

void add_import_options(CLI::App& app, ImportOptions& options) {
  constexpr const char* kGroup = "Foreign files (MSCCL XML)";
  CLI::Option* any =
      app.add_flag("--any-size", options.any_size,
                   "Every message size (default): small ones, where each step is one transfer, "
                   "and large ones, where each chunk is")
          ->group(kGroup);
  CLI::Option* bytes =
      app.add_option("--bytes", options.bytes, "One message size, e.g. 4096, 64KiB, 8MiB, 1GiB")
          ->type_name("SIZE")
          ->group(kGroup);
  CLI::Option* transfers = app.add_option("--transfers", options.transfers,
                                          "Only one transfer per step, or one per chunk")
                               ->check(CLI::IsMember({"per-step", "per-chunk"}))
                               ->group(kGroup);
  bytes->excludes(any);
  transfers->excludes(any);
  transfers->excludes(bytes);
  app.add_option("--placement", options.placement,
                 "Only in place, or only out of place (default: what the file allows)")
      ->check(CLI::IsMember({"in", "out"}))
      ->group(kGroup);
  app.add_option("--runtime", options.runtime, "Runtime that executes the file (default: msccl)")
      ->check(CLI::IsMember({"msccl", "rccl"}))
      ->group(kGroup);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  int shift = 0;
  if (text == "KiB")
    shift = 10;
  else if (text == "MiB")
    shift = 20;
  else if (text == "GiB")
    shift = 30;
  else if (!text.empty() && text != "B" && text != "bytes")
    return std::nullopt;
  if (number > (UINT64_MAX >> shift)) return std::nullopt;
  return number << shift;
}

ir::MscclOptions ImportOptions::msccl() const {
  ir::MscclOptions result;
  if (placement == "in") result.placement = ir::MscclPlacement::in_place;
  if (placement == "out") result.placement = ir::MscclPlacement::out_of_place;
  if (runtime == "rccl") result.runtime = ir::MscclRuntime::rccl;
  if (!bytes.empty()) {
    const auto size = parse_bytes(bytes);
    if (!size) {
      throw UsageError(fmt::format(
          "--bytes: expected a positive size such as 4096, 64KiB or 8MiB, found {}", bytes));
    }
    result.transfers = {ir::MscclTransfers::Mode::for_bytes, *size};
  } else if (transfers == "per-step") {
    result.transfers = {ir::MscclTransfers::Mode::one_per_step, 0};
  } else if (transfers == "per-chunk") {
    result.transfers = {ir::MscclTransfers::Mode::one_per_chunk, 0};
  }
  return result;
}

namespace {

ir::Result<std::uint64_t> look(std::string_view beginning, const std::string& path) {
  if (ir::looks_like_msccl(beginning)) return ir::kMaximumMscclBytes;
  return ir::look_at_program(beginning, path);
}

}  // namespace

ir::Result<LoadedFile> load(const std::string& path, const ir::MscclOptions& options) {
  ir::Result<std::string> bytes = ir::read_bytes(path, ir::kMaximumInputBytes, look);
  if (!bytes) return bytes.error();
  LoadedFile file;
  file.path = path;
  if (!ir::looks_like_msccl(*bytes)) {
    ir::Result<ir::Program> program = ir::parse_owned_program(*std::move(bytes), path);
    if (!program) return program.error();
    file.programs.push_back({*std::move(program), {}, {}, {}});
    return file;
  }
  file.text = *std::move(bytes);
  ir::Result<ir::MscclImport> imported = ir::import_msccl_text(file.text, path, options);
  if (!imported) return imported.error();
  file.foreign = imported->summary;
  for (ir::MscclVariant& variant : imported->variants) {
    file.programs.push_back({std::move(variant.program), std::move(variant.description),
                             variant.placement, variant.transfers});
  }
  return file;
}

std::string file_name_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  // Neither a hidden file nor a way out of the folder.
  if (out.empty() || out.front() == '.') out.insert(0, "program");
  constexpr std::size_t kLongest = 200;
  return out.substr(0, kLongest);
}

std::string unused_name(std::map<std::string, int>& used, const std::string& base) {
  std::string name = base;
  for (int n = 2; !used.emplace(name, 0).second; ++n) name = fmt::format("{}-{}", base, n);
  return name;
}

}  // namespace spatialcert::command
