// Sections for tests, made op by op.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "compose/composition/composer.hpp"
#include "ir/program.hpp"

namespace spatialcert::tests {

/// Engines `load`, `compute`, `store`; 4 chips of 4 x 4 sites; spaces `sram` (4096 bytes, aligned
/// to 64) and `dram`; 16 semaphores per site that count to 31; hand-offs `noc` and, crossing,
/// `link`.
[[nodiscard]] ir::Target test_target();

enum class Engine : std::uint32_t { load, compute, store };

class SectionMaker {
 public:
  explicit SectionMaker(const std::string& name, ir::Target target = test_target());

  SectionMaker& tensor(const std::string& name, ir::TensorRole role,
                       ir::Init init = ir::Init::undefined);
  SectionMaker& input(const std::string& name) {
    return tensor(name, ir::TensorRole::input, ir::Init::external);
  }
  SectionMaker& output(const std::string& name) { return tensor(name, ir::TensorRole::output); }
  SectionMaker& buffer(const std::string& name, ir::BufferKind kind, ir::Site site,
                       std::uint64_t address = 0, std::uint64_t pages = 1);
  SectionMaker& resident(const std::string& name, ir::Site site, std::uint64_t address);
  SectionMaker& semaphore(const std::string& name, ir::Site site);
  /// Where the ops that follow go.
  SectionMaker& at(ir::Site site, Engine engine);
  /// An op on a semaphore or FIFO.
  SectionMaker& op(ir::OpCode code, const std::string& object, std::int64_t count = 1);
  /// A copying stage of this name (declared if it is new) that reads and writes whole tensors,
  /// whole buffers, or page 0 of FIFOs.
  SectionMaker& run(const std::string& stage, std::initializer_list<const char*> reads,
                    std::initializer_list<const char*> writes);
  SectionMaker& run(const std::string& stage, const std::vector<std::string>& reads,
                    const std::vector<std::string>& writes);

  /// What is made, for anything that has no word above.
  [[nodiscard]] ir::Program& raw() { return program_; }
  [[nodiscard]] ir::Tensor& tensor_of(const std::string& name);
  [[nodiscard]] ir::Buffer& buffer_of(const std::string& name);
  /// All of a tensor or buffer.
  [[nodiscard]] ir::Region region(const std::string& name) const;

  /// The section, validated; the test fails if it is refused.
  [[nodiscard]] ir::Program section() const;
  /// The section as it is.
  [[nodiscard]] ir::Program unchecked() const;

 private:
  ir::Program program_;
  std::size_t current_ = 0;
};

/// A section `name` in which the engines of `places` each read all of `inputs` and write one tensor
/// `name.0`, `name.1`, ...
struct TestPlace {
  ir::Site site;
  Engine engine = Engine::load;
};
[[nodiscard]] ir::Program step_section(const std::string& name,
                                       const std::vector<std::string>& inputs,
                                       const std::vector<TestPlace>& places);
/// `count` of them, each reading what the one before writes: `s0`, `s1`, ...
[[nodiscard]] std::vector<ir::Program> chain(std::uint32_t count,
                                             const std::vector<TestPlace>& places);
/// Load, compute and store of one site, `tiles` times, through two FIFOs `NAME.in` and `NAME.out`.
[[nodiscard]] ir::Program pipeline_section(const std::string& name, const std::string& input,
                                           const std::string& output, ir::Site site,
                                           std::int64_t tiles = 2);

/// The composed program; the test fails if there is none. It is validated, and written and read
/// again without a change.
compose::Composed composed(const compose::Outcome<compose::Composed>& outcome);
/// The test fails unless it is refused for this reason, in words that contain all of `words`.
void check_refused(const compose::Outcome<compose::Composed>& outcome,
                   compose::RefusalReason reason, const std::vector<std::string>& words);

}  // namespace spatialcert::tests
