// What every rule is about: a program, its net and its accesses, computed once and never changed.
//
// Trusted. Everything here is recomputed from the program by whoever checks a witness.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "ir/accesses.hpp"
#include "ir/net.hpp"
#include "ir/program.hpp"
#include "ir/token_game.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::proofs {

/// Iterations of a persistent program that the finite rules look at: two neighbours and a first
/// one, which alone sees initial contents.
///
/// Where a path of the net can lead back by m iterations (see ir::iterations_back), an op can come
/// before one of m iterations earlier. So accesses are put in order over m more iterations
/// (`Subject::judged`): then those of every later distance are ordered by program order, because no
/// path leads back further. And the places cover m more than that, because a path between two
/// judged ops can pass through the m iterations after them, but no later ones.
inline constexpr std::uint32_t kPersistentIterations = 3;

struct Subject {
  const ir::Program* program = nullptr;
  /// The program of which `program` is folded (ir/folding.hpp), or `program` itself: regions have
  /// the shapes that they have here.
  const ir::Program* text = nullptr;
  ir::Unrolled one;  ///< one iteration: the transitions of `net`
  ir::Net net;
  /// The finite stretch that the rules look at: one iteration of a `once` program, judged + m of a
  /// persistent one.
  ir::Unrolled stretch;
  std::uint32_t judged = 1;  ///< the first iterations of the stretch, whose accesses are ordered
  std::vector<ir::Place> places;         ///< of the stretch, tokens 0
  std::vector<ir::TransitionId> beyond;  ///< tests that need what comes after the stretch
  ir::Adjacency order;                   ///< without the credits of guaranteed FIFOs
  ir::AccessMap accesses;                ///< of the stretch

  [[nodiscard]] bool persistent() const { return program->execution == ir::Execution::persistent; }
};

/// Why a program cannot be translated into a subject.
struct Untranslatable {
  ir::UnrollLimit limit;
};

/// Linear in the unrolled program. `program` must outlive the subject and be validated.
/// `justified`: the places that known order is to justify (see ir::check_net); they are checked.
[[nodiscard]] std::variant<Subject, Untranslatable> make_subject(
    const ir::Program& program, const std::vector<ir::Place>& justified);

/// Is what `reader` finds through `region`, left by `writer` (of the same stretch), still there? A
/// buffer with the lifetime of its section is undefined when a section starts, so it carries
/// nothing from one section, or iteration, into another; one that is resident in some sections
/// carries between these, within one iteration (DESIGN 13.4).
[[nodiscard]] bool outlives(const ir::Program& program, const ir::Unrolled& stretch,
                            const ir::Region& region, ir::TransitionId writer,
                            ir::TransitionId reader);
/// The same for contents that are declared: they are there when the program starts. Whether they
/// are declared for the buffer is `with_contents`' business.
[[nodiscard]] bool outlives_start(const ir::Program& program, const ir::Unrolled& stretch,
                                  const ir::Region& region, ir::TransitionId reader);

/// Per buffer: does it, its base or a view of that declare contents? What another buffer declares
/// of the same bytes is none of its own.
[[nodiscard]] std::vector<char> with_contents(const ir::Program& program);

/// Position of every transition of the stretch in one order that respects program order and all
/// places, or nothing if there is none (a cycle).
[[nodiscard]] std::optional<std::vector<std::uint32_t>> linear_extension(const Subject& subject);

}  // namespace spatialcert::proofs
