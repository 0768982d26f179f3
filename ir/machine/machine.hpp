// The reference machine: plays a program on the token game and executes what every `run` reads and
// writes, on values (DESIGN 3).
//
// What an op kind computes, how numbers are rounded, what is undefined when, and what is an error:
// docs/machine.md. The token game alone decides who can step; the machine adds the values. Reading
// what is undefined, integers that overflow, operands that do not go together end the play with a
// fault that names op, stage and region. What is not promised: that the values are those of another
// schedule. That is what proofs are for; a run of a program that is not certified shows one
// outcome.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/machine/fault.hpp"
#include "ir/machine/matrix.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir::machine {

/// What tensors and buffers with init `external` hold when a token begins.
struct Inputs {
  std::map<std::string, Matrix> tensors;  ///< by name; reals are rounded to the tensor's type
  /// By name; pages one below the other. A buffer without a tile takes any matrix of its size.
  std::map<std::string, Matrix> buffers;
  /// Of what is not given: small integers, or multiples of 1/64 below 1, drawn from the seed and
  /// the name, so that equal names hold equal contents in different programs.
  std::uint64_t seed = 1;
  /// Elements of external buffers without a tile that are not given; none: they are refused.
  std::optional<DType> untyped;
};

struct Schedule {
  enum class Kind : std::uint8_t { any, random, script };
  Kind kind = Kind::any;
  std::uint64_t seed = 0;               ///< random
  std::vector<std::uint32_t> programs;  ///< script: ProgramId value of every step

  static Schedule any() { return {}; }
  static Schedule random(std::uint64_t seed) { return {Kind::random, seed, {}}; }
  static Schedule script(std::vector<std::uint32_t> programs) {
    return {Kind::script, 0, std::move(programs)};
  }
};

/// `stopped`: the script ended before the program did.
enum class Ending : std::uint8_t { finished, stuck, fault, stopped };

struct Outcome {
  Ending ending = Ending::finished;
  std::optional<FaultKind> fault;
  std::uint64_t steps = 0;  ///< performed
  std::string text;         ///< who waits for what, or what is wrong with which op; one line
};

class Machine {
 public:
  /// `program` must be validated and outlive the machine. `iterations`: of a persistent program.
  /// Refuses inputs that are not of the program, sizes beyond what it can hold, and programs that
  /// unroll to too many ops.
  [[nodiscard]] static Result<Machine> make(const Program& program, const Inputs& inputs = {},
                                            std::uint32_t iterations = 1);
  static Result<Machine> make(Program&&, const Inputs& = {}, std::uint32_t = 1) = delete;
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;
  ~Machine();

  /// Plays one token (all iterations of a persistent program) from its beginning. Once per token.
  [[nodiscard]] Outcome run(const Schedule& schedule = {});

  /// The next token of a `once` program that has finished: tensors of role `state` or `weight`,
  /// carried ones, and buffers that are resident for the whole program keep what they hold;
  /// everything else is as before the first op, with these inputs. Kept external tensors change
  /// only if the inputs give them.
  [[nodiscard]] Status restart(const Inputs& inputs = {});

  /// What a tensor holds now; nothing if there is none of that name.
  [[nodiscard]] std::optional<Matrix> tensor(const std::string& name) const;
  /// All pages of a buffer. Without a tile: one row of the elements that are there (none if nothing
  /// is defined).
  [[nodiscard]] std::optional<Matrix> buffer(const std::string& name) const;

  [[nodiscard]] const Program& program() const;

 private:
  struct State;
  explicit Machine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The first tensor, in the order of `a`, that both have and that differs, with where and how;
/// nothing if all are equal, bit by bit, undefined elements included.
[[nodiscard]] std::optional<std::string> difference(const Machine& a, const Machine& b);
/// The same for the buffers that are resident for the whole program.
[[nodiscard]] std::optional<std::string> buffer_difference(const Machine& a, const Machine& b);

}  // namespace spatialcert::ir::machine
