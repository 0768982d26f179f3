#include "compose/composition/instance.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compose/composition/object_union.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose {

void rename_section(ir::Program& section, const std::string& name) {
  SPATIALCERT_REQUIRE(section.sections.size() == 1, "a section is a program with one section");
  const std::vector<bool> fifo_links = links_of(section, true);
  const std::vector<bool> semaphore_links = links_of(section, false);
  section.sections.front().name = name;
  for (ir::Stage& stage : section.stages) stage.name = name + "/" + stage.name;
  for (std::size_t b = 0; b < section.buffers.size(); ++b) {
    ir::Buffer& buffer = section.buffers[b];
    if (buffer.lifetime != ir::Lifetime::resident && !fifo_links[b])
      buffer.name = name + "/" + buffer.name;
  }
  for (std::size_t s = 0; s < section.semaphores.size(); ++s) {
    if (!semaphore_links[s]) section.semaphores[s].name = name + "/" + section.semaphores[s].name;
  }
}

std::optional<Refused> rebind_tensors(ir::Program& section, const Renamings& renamings) {
  std::unordered_map<std::string_view, std::string_view> wanted;
  for (const auto& [from, to] : renamings) wanted.emplace(from, to);
  std::unordered_set<std::string_view> declared, taken;
  for (const ir::Tensor& tensor : section.tensors) {
    declared.insert(tensor.name);
    const auto found = wanted.find(tensor.name);
    const std::string_view becomes = found == wanted.end() ? tensor.name : found->second;
    if (taken.insert(becomes).second) continue;
    return Refused{RefusalReason::name_clash,
                   fmt::format("two tensors of section \"{}\" would be called \"{}\"",
                               section.sections.front().name, becomes),
                   "bind every tensor to a name of its own"};
  }
  for (const auto& [from, to] : renamings) {
    if (declared.count(from) != 0) continue;
    return Refused{RefusalReason::unknown_tensor,
                   fmt::format("section \"{}\" has no tensor \"{}\", which is to be called \"{}\"",
                               section.sections.front().name, from, to),
                   "name a tensor of the section"};
  }
  const auto rename = [&](std::string& name) {
    if (const auto found = wanted.find(name); found != wanted.end()) name = found->second;
  };
  for (std::string& name : section.carried) rename(name);
  for (ir::Tensor& tensor : section.tensors) rename(tensor.name);
  return std::nullopt;
}

}  // namespace spatialcert::compose
