// Sections as the tests describe them, and what must hold of every one that is built.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compose/sections/sections.hpp"
#include "ir/machine/machine.hpp"

namespace spatialcert::tests {

using compose::Handover;
using compose::SectionDescription;
using compose::SectionTensor;
using compose::Split;
using ir::DType;
using ir::machine::Inputs;
using ir::machine::Machine;
using ir::machine::Matrix;

/// Two chips of 2 x 2 sites with 64 KiB each, for bf16 and i32, or another floating-point type.
[[nodiscard]] ir::Target target(DType float_type = DType::f32);
[[nodiscard]] std::vector<ir::Site> some_sites(std::size_t count);

/// How a section is built, apart from what it computes.
struct Variation {
  std::size_t sites = 1;
  Split split = Split::rows;
  Handover handover = Handover::fifo;
  std::uint32_t depth = 2;
  SectionDescription::Tiling tile;

  [[nodiscard]] std::string text() const;
};

[[nodiscard]] SectionDescription describe(compose::sections::Work work,
                                          std::vector<SectionTensor> tensors,
                                          const Variation& variation = {},
                                          DType float_type = DType::f32);

/// One site and several, FIFOs and semaphores, depths from 1 to 3, with the given tiles; split by
/// rows unless `columns`.
[[nodiscard]] std::vector<Variation> variations(
    const std::vector<SectionDescription::Tiling>& tiles, bool rows = true, bool columns = true);

/// What a tensor holds, by name.
using Contents = std::function<const Matrix&(const std::string&)>;
/// The contents of `result` from those before the section.
using Expected = std::function<Matrix(const Contents&)>;

/// Builds, certifies and runs it under several schedules; `result` must be what is expected of the
/// initial contents, bit by bit if `tolerance` is 0, and everything else must be what it was.
void check_section(const SectionDescription& description, const std::string& result,
                   const Expected& expected, double tolerance = 0, const Inputs& inputs = {});

/// Builds it and checks that it is refused at this place, for this reason.
void check_refused(const SectionDescription& description, const std::string& path,
                   const std::string& wanted, const std::string& found);

}  // namespace spatialcert::tests
