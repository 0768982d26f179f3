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
