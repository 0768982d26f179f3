// A counterexample as data for the page's script: lanes, marks, links, schedules played step by
// step, and maps of memory, data and slices. Private to the HTML view.
//
// Every number that changes with a schedule was played by the token game; the script looks values
// up and draws. Bounded in size, whatever the program: what was left out is counted, and the page
// says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "certify/names.hpp"
#include "ir/io/json_writer.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify::views {

/// One JSON object. `most_steps`: of a schedule, the last ones. `culprits` gets the sections that
/// the counterexample is about.
[[nodiscard]] std::string scene_json(const ir::Program& program,
                                     const proofs::Counterexample& counterexample,
                                     std::size_t most_steps, std::set<std::uint32_t>& culprits);

/// The memory that buffers overlap in, leave, or are misplaced in: a member `memory`.
void write_memory(const ir::Program& program, const proofs::Counterexample& counterexample,
                  std::set<std::uint32_t>& culprits, ir::io::JsonWriter& json);
/// The way of data through ops: a member `path`.
void write_path(const OpNames& names, const proofs::Counterexample& counterexample,
                ir::io::JsonWriter& json);
/// Contributions to a wrong result: a member `terms`.
void write_terms(const proofs::Counterexample& counterexample, ir::io::JsonWriter& json);
/// The full tensors that parts of are named: a member `slices`.
void write_slices(const ir::Program& program, const proofs::Counterexample& counterexample,
                  ir::io::JsonWriter& json);

}  // namespace spatialcert::certify::views
