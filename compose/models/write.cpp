// The sections of a model as files, with what joins them.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "compose/models/model.hpp"
#include "ir/bytes_file.hpp"
#include "ir/io/json_writer.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::compose::models {
namespace {

std::string composition_text(const Model& model) {
  ir::io::JsonWriter json;
  json.object();
  json.key("format").text("spatialcert-composition");
  json.key("version").integer(1);
  json.key("name").text(model.name);
  json.key("sections").array();
  for (const SectionUse& use : model.uses) {
    json.object(true);
    json.key("file").text(fmt::format("{}.json", model.files[use.section]));
    json.key("name").text(use.name);
    json.key("tensors").object();
    for (const auto& [from, to] : use.tensors) json.key(from).text(to);
    json.close().close();
  }
  json.close();
  json.key("carried").array();
  for (const std::string& name : model.carried) json.text(name);
  json.close();
  json.key("phases").text(model.automatic_phases ? "auto" : "all");
  if (model.manifest.chips > 1) json.key("parallelism").text("parallelism.json");
  json.close();
  return json.take() + '\n';
}

}  // namespace

ir::Status write_sections(const Model& model, const std::string& folder) {
  const std::filesystem::path at(folder);
  std::error_code failed;
  std::filesystem::create_directories(at, failed);
  if (failed) return ir::Refusal{folder, 0, "", "a folder that can be made", failed.message()};
  for (std::size_t s = 0; s < model.sections.size(); ++s) {
    const std::string path = (at / fmt::format("{}.json", model.files[s])).string();
    if (ir::Status status = ir::write_program(model.sections[s], path)) return status;
  }
  if (model.manifest.chips > 1) {
    const std::string path = (at / "parallelism.json").string();
    if (ir::Status status = parallel::write_manifest(model.manifest, path)) return status;
  }
  return ir::write_bytes((at / "composition.json").string(), composition_text(model));
}

}  // namespace spatialcert::compose::models
