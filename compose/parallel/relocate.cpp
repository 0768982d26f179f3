#include "compose/parallel/relocate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "compose/composition/initial_contents.hpp"
#include "compose/composition/text.hpp"
#include "compose/parallel/attach.hpp"
#include "compose/parallel/text.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose::parallel {
namespace {

class Relocation {
 public:
  Relocation(ir::Program& section, std::string_view binder, const Sharding& sharding,
             Foreign foreign)
      : section_(section), binder_(binder), sharding_(sharding), foreign_(foreign) {}

  void run() {
    check_form();
    const ObjectUses uses(section_);
    check_binder(uses);
    chip_ = sharding_.chip_running(binder_);
    if (chip_ >= section_.target.chips) {
      throw Refused{
          RefusalReason::no_such_chip,
          fmt::format("section \"{}\" is to run on chip {}, where \"{}\" is, and \"{}\" "
                      "has {} chips",
                      name(), chip_, binder_, section_.target.name, section_.target.chips),
          "build it for a target of as many chips as the manifest has"};
    }
    own_tensors(uses);
    move_sites();
    // The order of engine programs is that of columns, rows and engines, which stays.
    if (const ir::Status refused = ir::validate(section_)) malformed(*refused);
  }

 private:
  [[nodiscard]] const std::string& name() const { return section_.sections.front().name; }

  [[noreturn]] void malformed(const ir::Refusal& refusal) const {
    throw Refused{RefusalReason::malformed_section,
                  fmt::format("section \"{}\": {}", name(), refusal.message()),
                  "write the section as docs/format.md says"};
  }

  void check_form() {
    if (section_.sections.size() != 1) {
      throw Refused{
          RefusalReason::not_one_section,
          fmt::format("program \"{}\" has {} sections", section_.name, section_.sections.size()),
          "move one section at a time"};
    }
    if (const ir::Status refused = ir::validate(section_)) malformed(*refused);
    std::optional<ir::Site> first;
    const auto same_chip = [&](const ir::Site& site) {
      if (!first) first = site;
      if (first->chip == site.chip) return;
      throw Refused{
          RefusalReason::several_chips,
          fmt::format("section \"{}\" stands on {} and {}", name(), text_of(*first), text_of(site)),
          "move sections of one chip; a section over several is placed by who makes it"};
    };
    for (const ir::EngineProgram& one : section_.programs) same_chip(one.site);
    for (const ir::Buffer& buffer : section_.buffers) same_chip(buffer.site);
    for (const ir::Semaphore& semaphore : section_.semaphores) same_chip(semaphore.site);
  }

  void check_binder(const ObjectUses& uses) const {
    for (std::size_t t = 0; t < section_.tensors.size(); ++t) {
      if (section_.tensors[t].name == binder_ && uses.tensors[t].written) return;
    }
    throw Refused{RefusalReason::not_stored,
                  fmt::format("section \"{}\" does not store \"{}\"", name(), binder_),
                  "name a tensor that the section stores"};
  }

  void own_tensors(const ObjectUses& uses) {
    const std::optional<std::uint32_t> of_binder = sharding_.owner(binder_);
    for (std::uint32_t t = 0; t < section_.tensors.size(); ++t) {
      ir::Tensor& tensor = section_.tensors[t];
      std::optional<std::uint32_t> owner = owner_in(section_, t, sharding_);
      if (!owner && uses.tensors[t].written) owner = of_binder;
      const bool copied = foreign_ == Foreign::copied && owner && !uses.tensors[t].written;
      if (copied) owner = chip_;
      if (tensor.owner && tensor.owner != owner) {
        throw Refused{RefusalReason::owner_clash,
                      fmt::format("tensor \"{}\" of section \"{}\" belongs to chip {} as the "
                                  "section says, and to {} as it is moved",
                                  tensor.name, name(), *tensor.owner, owner_text(owner)),
                      "leave owners to the manifest"};
      }
      check_touch(tensor.name, uses.tensors[t], owner, of_binder);
      tensor.owner = owner;
    }
  }

  void check_touch(const std::string& tensor, const Use& use, std::optional<std::uint32_t> owner,
                   std::optional<std::uint32_t> of_binder) const {
    const bool foreign = owner && *owner != chip_ && (use.read || use.written);
    const bool mixed = owner && !of_binder && use.written;
    if (!foreign && !mixed) return;
    throw Refused{
        RefusalReason::foreign_tensor,
        fmt::format("section \"{}\" runs on chip {}, where \"{}\" of {} is, and {} \"{}\" "
                    "of chip {}",
                    name(), chip_, binder_, owner_text(of_binder), use.written ? "stores" : "reads",
                    tensor, *owner),
        "let a collective, or a relay, bring data of one chip to another"};
  }

  void move_sites() {
    for (ir::EngineProgram& one : section_.programs) one.site.chip = chip_;
    const auto move = [&](auto& object) {
      const std::string before = spelled(object.site);
      object.site.chip = chip_;
      respell(object.name, before, spelled(object.site));
    };
    for (ir::Buffer& buffer : section_.buffers) move(buffer);
    for (ir::Semaphore& semaphore : section_.semaphores) move(semaphore);
  }

  /// As the section builder writes it into names.
  static std::string spelled(const ir::Site& site) {
    return fmt::format("/{}.{}.{}/", site.chip, site.x, site.y);
  }

  static void respell(std::string& name, const std::string& before, const std::string& after) {
    if (const std::size_t at = name.find(before); at != std::string::npos)
      name.replace(at, before.size(), after);
  }

  ir::Program& section_;
  std::string_view binder_;
  const Sharding& sharding_;
  Foreign foreign_;
  std::uint32_t chip_ = 0;
};

}  // namespace

Outcome<ir::Program> relocate(ir::Program section, std::string_view binder,
                              const Sharding& sharding, Foreign foreign) {
  try {
    Relocation(section, binder, sharding, foreign).run();
    return section;
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose::parallel
