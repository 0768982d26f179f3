// Small composed programs, and what becomes of them section by section.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "proofs/composition/check.hpp"
#include "tests/proofs/draft.hpp"
#include "tests/proofs/sections.hpp"

namespace spatialcert::tests::compositions {

using Ops = std::vector<std::string>;

/// `one class`, `2 classes`, ..., or the kind of the objection.
[[nodiscard]] std::string divided(const ir::Program& program);
/// The objection in words; empty if there is none.
[[nodiscard]] std::string objection(const ir::Program& program);

/// The verdict on the whole, and section by section whatever it costs.
[[nodiscard]] certify::ProgramReport whole(const ir::Program& program);
[[nodiscard]] certify::ProgramReport by_sections(const ir::Program& program);

/// Sections s0, s1 and s2, alike, with a rendezvous between two: `load` brings tensor t0 (t1, t2)
/// through the FIFO q0 to `compute`, which leaves it in the buffer b0, as its view v0, and then in
/// t1 (t2, t3); load waits for h0 before it goes on. Colours are r and g, the root is load.
[[nodiscard]] Draft chain();
/// The same where the program wraps around; the third rendezvous has the colour y.
[[nodiscard]] Draft ring();

/// One part of a program: the ops of the engine of every chip.
using Part = std::vector<Ops>;

/// Sections of these parts on as many chips, with a rendezvous between two. What a stage does is
/// how its name ends: `_sum` and `_all` are all-reduces that sum up and add, `_move` moves what
/// another chip owns, `_mm`, `_act`, `_add`, `_rows` and `_twice` are products, SiLUs, sums,
/// sums over rows and doubles; others copy.
[[nodiscard]] Draft on_chips(Draft d, std::uint32_t chips, const std::vector<Part>& parts,
                             bool around = false);
[[nodiscard]] std::string owned_by(std::uint32_t chip);

/// Section by section, with the same verdicts as the whole, and a certificate that is accepted if
/// there is one.
[[nodiscard]] certify::ProgramReport agreed(const ir::Program& program);

/// What is called so.
template <typename Items>
[[nodiscard]] auto& named(Items& items, const std::string& name) {
  std::size_t i = 0;
  while (items.at(i).name != name) ++i;
  return items[i];
}
/// The number of what is called so.
template <typename Items>
[[nodiscard]] std::uint32_t number(const Items& items, const std::string& name) {
  std::uint32_t i = 0;
  while (items.at(i).name != name) ++i;
  return i;
}

}  // namespace spatialcert::tests::compositions
