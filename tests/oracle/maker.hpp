// What motifs are written with: objects of a sketch, and ops appended to its engine programs.
//
// Data come in cells of kCell bytes: a row of a tensor, a page of a FIFO, a cell of a shared store.
// Inputs are rows of tensor `x`; results go to fresh rows of tensor `y`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {

inline constexpr std::int64_t kCell = 4;
using Ops = std::vector<SketchOp>;

/// Memory that engine programs share: cells of a scratch buffer, or (across sites) rows of a
/// tensor. Readers may know it by another name.
struct Shared {
  ir::RegionKind kind = ir::RegionKind::bytes;
  std::uint32_t object = 0;
  std::uint32_t read_object = 0;
};

class Maker {
 public:
  Maker(std::uint64_t seed, bool persistent);

  Random random;
  Sketch sketch;
  std::uint32_t features = 0;

  void note(Feature f) { features |= 1U << static_cast<unsigned>(f); }
  [[nodiscard]] bool persistent() const { return persistent_; }
  [[nodiscard]] std::uint32_t programs() const {
    return static_cast<std::uint32_t>(sketch.ops.size());
  }
  [[nodiscard]] ir::Site site(std::uint32_t p) const { return sketch.frame.programs[p].site; }
  /// `n` different engine programs; fewer if there are not so many.
  std::vector<std::uint32_t> choose(std::uint32_t n);

  std::uint32_t semaphore(std::uint32_t waiter, std::int64_t initial, std::int64_t maximum,
                          ir::Restart restart = ir::Restart::keep);
  std::uint32_t fifo(std::uint32_t from, std::uint32_t to, std::int64_t pages);
  /// A store for `users`; sometimes one that an earlier motif uses too, so that motifs meet.
  Shared shared(const std::vector<std::uint32_t>& users, std::int64_t cells,
                ir::Init init = ir::Init::undefined);
  /// First of `rows` rows of x that a run may read; of y that it alone writes.
  std::int64_t input_rows(std::int64_t rows);
  std::int64_t result_rows(std::int64_t rows);

  SketchAccess input(const Bound& row) const;
  SketchAccess result(const Bound& row) const;
  static SketchAccess page(std::uint32_t fifo, std::uint32_t page, bool write);
  static SketchAccess cell(const Shared& shared, const Bound& index, bool write);

  static void emit(Ops& out, ir::OpCode code, std::uint32_t object, std::int64_t count);
  /// A stage that computes `write` from `reads`, sometimes with one more input row. Returns the
  /// stage.
  std::uint32_t run(Ops& out, std::vector<SketchAccess> reads, std::optional<SketchAccess> write);
  std::uint32_t run(Ops& out, ir::OpKind op, std::vector<SketchAccess> reads,
                    std::optional<SketchAccess> write);
  void edge(std::uint32_t producer, std::uint32_t fifo, std::uint32_t consumer);

  /// `body(ops, trip)` for every trip: as a loop, as nested loops, or spelled out.
  void loop(Ops& out, std::int64_t trips, const std::function<void(Ops&, const Bound&)>& body);

 private:
  void place_programs();
  std::uint32_t add_tensor(const char* name, ir::TensorRole role, std::int64_t rows, ir::Init init);
  std::uint64_t take(ir::Site site, std::int64_t bytes);

  /// A store that an earlier motif has made, and where its users are.
  struct Made {
    Shared store;
    std::vector<ir::Site> sites;
    std::int64_t cells = 0;
    ir::Init init = ir::Init::undefined;
  };
  std::optional<Shared> reused(const std::vector<std::uint32_t>& users, std::int64_t cells,
                               ir::Init init);
  Shared fresh(const std::vector<std::uint32_t>& users, std::int64_t cells, ir::Init init);

  bool persistent_;
  std::vector<Made> made_;
  std::vector<std::pair<ir::Site, std::uint64_t>> used_;
  std::int64_t next_result_ = 0;
};

[[nodiscard]] Bound scaled(const Bound& bound, std::int64_t factor);
[[nodiscard]] inline Bound fixed(std::int64_t value) { return {value, {}}; }

/// Appends one motif; false if the program has too few engine programs for it.
bool append_motif(Maker& maker);

}  // namespace spatialcert::tests
