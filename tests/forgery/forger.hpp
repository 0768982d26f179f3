// What a forger does with a specimen, all of it before a court.
#pragma once

#include <cstdint>
#include <string>

#include "tests/forgery/court.hpp"
#include "tests/forgery/specimen.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {

/// Specimens to forge. SPATIALCERT_LONG: 4,000, or as many as it says beyond that.
[[nodiscard]] std::uint64_t specimens();

/// Forgeries of the certificate of a program that is as it was.
void forge_certificate(const Specimen& s, Random& random, Court& court);

/// The old certificate, the old places with new witnesses, the most places that pass with new
/// witnesses: all claimed for another program.
void claim_for(const ir::Program& other, const Specimen& s, const std::string& what, Random& random,
               Court& court);

/// `changes` changes of the program, picked from all; 0: every one. Returns how many programs were
/// made.
std::uint64_t forge_program(const Specimen& s, std::uint32_t changes, Random& random, Court& court);

}  // namespace spatialcert::tests
