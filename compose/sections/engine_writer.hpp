// The ops of one engine of one site, from the site's plan.
//
// FIFOs: the producer reserves a page, writes it and pushes it, the consumer fronts it, reads it
// and pops it. Semaphores: every slot has `free` (1 at first) and `full`; the producer waits for
// free and posts full, the consumer the other way round. Innermost loops are then unrolled so that
// their bodies take the slots in turn; since every slot has semaphores of its own, any order in
// which both sides take them is right.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/sections/plan.hpp"
#include "compose/sections/sections.hpp"

namespace spatialcert::compose::sections {

enum class EngineRole : std::uint8_t { load, compute, store };

/// What a store of the plan has become: one buffer, or one per slot with its semaphores.
struct StoreObjects {
  std::vector<ir::BufferId> buffers;
  std::vector<ir::SemaphoreId> full;
  std::vector<ir::SemaphoreId> free;
};

class EngineWriter {
 public:
  EngineWriter(ir::Program& program, const Plan& plan, const std::vector<StoreObjects>& objects,
               EngineRole role, Handover handover, std::uint32_t depth);

  /// Accesses and their terms are appended to the program.
  [[nodiscard]] std::vector<ir::Op> run();

 private:
  /// Value of a loop variable: offset + factor * index of the loop at `level`, if there is a
  /// factor.
  struct Binding {
    std::uint8_t level = 0;
    std::uint64_t factor = 0;
    std::uint64_t offset = 0;
  };

  void emit(const std::vector<Node>& nodes);
  void emit(const TileStep& step);
  void emit(const Loop& loop);
  void emit(const Hold& hold);
  void repeat(std::uint64_t trips, const std::vector<Node>& body, Variable variable,
              std::uint32_t copies);

  void op(ir::OpCode code, std::uint32_t object);
  void begin_writing(StoreId store);
  void end_writing(StoreId store);
  void begin_reading(StoreId store);
  void end_reading(StoreId store);
  [[nodiscard]] std::uint32_t slot(StoreId store) const;

  void perform_loads(const std::vector<Load>& loads);
  void begin_run();
  void end_run(StageIndex stage);
  void access(const StorePart& part, bool write);
  void access(const TensorPart& part, bool write);
  void set_bounds(ir::Region& region, int first, const Extent& extent);

  ir::Program& program_;
  const Plan& plan_;
  const std::vector<StoreObjects>& objects_;
  EngineRole role_;
  Handover handover_;
  std::uint32_t depth_;
  std::vector<ir::Op> ops_;
  std::vector<Binding> bindings_;   ///< by variable
  std::vector<std::int64_t> held_;  ///< by store: slot of the page that is held, or -1
  std::uint32_t slot_ = 0;
  std::uint8_t level_ = 0;
  std::uint32_t first_access_ = 0;
};

}  // namespace spatialcert::compose::sections
