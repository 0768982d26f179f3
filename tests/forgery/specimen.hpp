// Certified programs with their certificates: what a forger starts from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "proofs/certificate/certificate.hpp"
#include "tests/oracle/sketch.hpp"

namespace spatialcert::tests {

struct Specimen {
  std::string name;
  Sketch sketch;  ///< without ops if the program has several sections
  ir::Program program;
  proofs::Certificate certificate;
};

/// The sketch that assembles to `program`, which has one section.
[[nodiscard]] Sketch sketch_of(const ir::Program& program);

/// Nothing if the program is not certified.
[[nodiscard]] std::optional<Specimen> specimen(std::string name, Sketch sketch);
[[nodiscard]] std::optional<Specimen> specimen(std::string name, ir::Program program);
/// Of the random program of a seed: motifs, every fourth a tangle.
[[nodiscard]] std::optional<Specimen> specimen(std::uint64_t seed);

/// The same program with elements of one byte, which is what the oracle computes with. Its elements
/// have four.
[[nodiscard]] ir::Program in_bytes(ir::Program program);

/// Programs written by hand, all certified: pipelines, gather, release, rendezvous, several
/// posters.
[[nodiscard]] std::vector<Specimen> named_specimens();

}  // namespace spatialcert::tests
