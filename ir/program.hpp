// The program: what is certified.
//
// A program is a target (the hardware), the objects that live on it (tensors, buffers, semaphores),
// the stages and sections it was composed from, and one engine program (a list of ops) per (site,
// engine). This header is the data model only. Its meaning is the token game (ir/token_game.hpp);
// its files are read and written by ir/program_file.hpp.
//
// What is promised: a `Program` that came out of `validate` (ir/validate.hpp) or of the reader has
// dense ids, unique names per kind, ids in range, and every op in exactly one section or boundary.
// What is not promised: anything about liveness, order or memory. That is what proofs are for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ids.hpp"

namespace spatialcert::ir {

// ---- target -------------------------------------------------------------------------------------

/// Place of a group of engines: chip, column and row of its mesh. Site order is lexicographic.
struct Site {
  std::uint32_t chip = 0;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  friend constexpr auto operator<=>(const Site&, const Site&) = default;
};

enum class DType : std::uint8_t { i8, i16, i32, i64, bf16, f16, f32, f64 };

/// A kind of memory that every site has.
struct MemorySpace {
  std::string name;
  std::uint64_t bytes = 0;      ///< size per site
  std::uint64_t alignment = 1;  ///< every buffer address is a multiple of it; a power of two
};

/// A way to signal or to pass pages between engines.
struct Handoff {
  std::string name;
  bool crosses_chips = false;  ///< may its two ends stand on different chips?
};

struct Target {
  std::string name;
  std::uint32_t chips = 1;
  std::uint32_t mesh_width = 1;      ///< sites per chip in x
  std::uint32_t mesh_height = 1;     ///< sites per chip in y
  std::vector<std::string> engines;  ///< EngineId -> name, in order
  std::vector<MemorySpace> spaces;   ///< SpaceId -> space
  std::uint32_t semaphores_per_site = 0;
  std::int64_t semaphore_maximum = 0;  ///< no semaphore may declare a larger maximum
  std::vector<Handoff> handoffs;       ///< HandoffId -> hand-off
  std::uint32_t tile_rows = 1;
  std::uint32_t tile_cols = 1;
  DType float_type = DType::f32;      ///< element type of the floating-point datapath
  DType widest_integer = DType::i64;  ///< widest integer of the elementwise datapath
};

// ---- objects ------------------------------------------------------------------------------------

enum class TensorRole : std::uint8_t { input, weight, state, activation, output };
/// What a tensor or buffer holds before the first op: nothing that may be read, zeros, or the
/// host's.
enum class Init : std::uint8_t { undefined, zero, external };

/// Where the producing compiler says an item comes from. For reports: no verdict depends on it.
struct SourceLocation {
  std::uint32_t file = 0;    ///< index into Program::source_files
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t column = 0;  ///< 1-based; 0 = not known
  friend constexpr auto operator<=>(const SourceLocation&, const SourceLocation&) = default;
};
/// Index into Program::locations, or kNoLocation.
using LocationIndex = std::uint32_t;
inline constexpr LocationIndex kNoLocation = 0xffffffffU;

/// A view shares the storage of its base, beginning at `offset` (bytes of a buffer; for a tensor
/// the flat row-major element index in the base).
template <typename BaseId>
struct View {
  BaseId base;
  std::uint64_t offset = 0;
};

/// Least and largest value, both inclusive.
struct ValueRange {
  std::int64_t least = 0;
  std::int64_t largest = 0;
  friend constexpr auto operator<=>(const ValueRange&, const ValueRange&) = default;
};

struct Tensor {
  std::string name;
  TensorRole role = TensorRole::activation;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  DType dtype = DType::f32;
  Init init = Init::undefined;
  std::optional<std::uint32_t> owner;  ///< chip; none = replicated, part of the spine
  std::optional<ValueRange> values;    ///< of integers: what its elements are declared to be in
  std::optional<View<TensorId>> view;
  LocationIndex location = kNoLocation;
};

enum class BufferKind : std::uint8_t { fifo, interm, scratch };
/// `exact`: the FIFO has this many pages. `guaranteed`: at least so many; the slots of such a FIFO
/// have no address, so page k of one push is a different location from every other page.
enum class Depth : std::uint8_t { exact, guaranteed };
enum class Lifetime : std::uint8_t { section, resident };

/// Layout of a page as a matrix: row-major, rows * cols * size_of(dtype) == page_bytes. The pages
/// of a buffer stand one below the other. The reference machine (ir/machine/) and the types of
/// `reduction` look at it.
struct Tile {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  DType dtype = DType::f32;
  friend constexpr bool operator==(const Tile&, const Tile&) = default;
};

struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::scratch;
  Site site;
  SpaceId space;
  std::uint64_t address = 0;  ///< bytes from the start of the space
  std::uint64_t page_bytes = 0;
  std::uint64_t pages = 0;
  std::optional<Tile> tile;     ///< none: a page is bytes without a shape
  Depth depth = Depth::exact;   ///< FIFOs only
  HandoffId handoff;            ///< FIFOs only: how its pages travel
  Init init = Init::undefined;  ///< not for FIFOs, which start empty
  Lifetime lifetime = Lifetime::section;
  /// Resident buffers: first and last section (both inclusive). Invalid ids = the whole program.
  SectionId resident_from;
  SectionId resident_to;
  std::optional<View<BufferId>> view;
  LocationIndex location = kNoLocation;

  [[nodiscard]] std::uint64_t bytes() const {
    return page_bytes * pages;
  }  ///< validated: no overflow
};

/// What the host does with a semaphore between two tokens.
enum class Restart : std::uint8_t { keep, reset };

struct Semaphore {
  std::string name;
  Site site;
  std::int64_t initial = 0;
  std::int64_t maximum = 0;
  Restart restart = Restart::keep;
  HandoffId handoff;  ///< how posts from another chip reach it; invalid if none may
};

// ---- dataflow, as declared ----------------------------------------------------------------------

enum class StageKind : std::uint8_t { load, store, compute, allreduce, copy };

/// What a `run` computes: every written region becomes this function of the regions read, in order.
enum class OpKind : std::uint8_t {
  matmul,
  add,
  sub,
  mul,
  scale,
  neg,
  sum,
  max,
  rmsnorm,
  softmax,
  silu,
  gelu,
  sigmoid,
  exp,
  rope,
  gather,
  conv1d,
  gated_delta,
  topk,
  select,
  cast,
  quantise,
  dequantise,
  copy
};

struct Stage {
  std::string name;
  StageKind kind = StageKind::compute;
  OpKind op = OpKind::copy;
  double scale = 1.0;  ///< `scale` only: the constant
  SectionId section;
  LocationIndex location = kNoLocation;
};

/// Declared dataflow: `producer` writes `buffer`, `consumer` reads it.
struct Edge {
  StageId producer;
  BufferId buffer;
  StageId consumer;
  HandoffId handoff;
};

// ---- ops ----------------------------------------------------------------------------------------

enum class OpCode : std::uint8_t {
  wait,
  await,
  post,
  reserve,
  push,
  front,
  pop,
  run,
  repeat  ///< the next `body` ops of the list, `count` times
};

enum class RegionKind : std::uint8_t {
  tensor,  ///< rows [bound0, bound1) x cols [bound2, bound3) of a tensor
  bytes,   ///< bytes [bound0, bound1) of an interm or scratch buffer
  page     ///< bytes [bound0, bound1) of page `page` of the op's own open window of a FIFO
};

/// One term of an affine bound: coefficient times the index of the enclosing loop `level`
/// (0 = outermost, counted from 0).
struct AffineTerm {
  std::uint8_t bound = 0;  ///< which of the four bounds
  std::uint8_t level = 0;
  std::int64_t coefficient = 0;
};

struct Region {
  RegionKind kind = RegionKind::bytes;
  std::uint32_t object = 0;  ///< TensorId or BufferId value, after `kind`
  std::uint32_t page = 0;
  std::int64_t bound[4] = {0, 0, 0, 0};  ///< the constant part
  std::uint32_t first_term = 0;          ///< into Program::affine_terms
  std::uint32_t terms = 0;
};

struct Access {
  Region region;
  bool write = false;
};

struct Op {
  OpCode code = OpCode::run;
  std::uint32_t object = 0;        ///< semaphore, buffer or stage id value; unused for `repeat`
  std::int64_t count = 0;          ///< n, v, or the trip count
  std::uint32_t first_access = 0;  ///< `run`: into Program::accesses, reads before writes
  std::uint32_t accesses = 0;
  std::uint32_t body = 0;  ///< `repeat`: number of ops of the body, nested ones included
  LocationIndex location = kNoLocation;
};

/// A run of the top-level ops of one engine program, [begin, end) in `EngineProgram::ops`, that
/// belongs to a section or to a boundary (exactly one of the ids is valid).
struct Span {
  SectionId section;
  BoundaryId boundary;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct EngineProgram {
  Site site;
  EngineId engine;
  std::vector<Op> ops;      ///< text order; bodies of loops follow their `repeat`
  std::vector<Span> spans;  ///< in order, without gap or overlap
};

// ---- composition --------------------------------------------------------------------------------

struct Numerics {
  bool exact = true;
  std::string reason;  ///< why only approximate
};

struct Section {
  std::string name;
  std::uint32_t source_index = 0;  ///< position in the source, unchanged by any reordering
  Numerics numerics;
  LocationIndex location = kNoLocation;
};

/// The seam after section `after`. Closed: its rendezvous ops are spans of the engine programs.
struct Boundary {
  SectionId after;
  bool closed = false;
};

/// A hand-off that may join sections around a boundary.
struct Link {
  bool is_fifo = false;
  std::uint32_t object = 0;  ///< BufferId or SemaphoreId value
};

/// `region` must finally hold the sum of `terms`, element by element; every term has its size.
struct Postcondition {
  Region region;
  std::vector<Region> terms;
};

/// Indices [begin, end) along an axis.
struct IndexRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend constexpr auto operator<=>(const IndexRange&, const IndexRange&) = default;
};
enum class Axis : std::uint8_t { rows, columns };

/// A tensor that holds some ranges of a full tensor, one behind the other.
struct Slice {
  TensorId tensor;  ///< owned by the chip that has this part
  std::vector<IndexRange> ranges;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A full tensor of which the program has only slices, and how it is cut (DESIGN 5). What is cut
/// along the same *dimension* of the model is cut into parts that belong together: part p of a
/// tensor is used with part p of the others (query heads and the heads of their output projection).
struct SlicedTensor {
  std::string name;  ///< of the full tensor
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  Axis axis = Axis::rows;  ///< that is cut
  std::string dimension;   ///< of the model, that the axis runs along
  /// Entries at different indices of the axis are never summed up: heads, experts. A product that
  /// contracts a stacked axis stays within one head or expert, and its result is whole. Otherwise
  /// what contracts the axis is a partial sum, to be all-reduced.
  bool stacked = false;
  std::uint32_t copies = 1;   ///< how many parts hold every index
  std::vector<Slice> slices;  ///< slice p is part p
  friend bool operator==(const SlicedTensor&, const SlicedTensor&) = default;
};

enum class Execution : std::uint8_t { once, persistent };

struct Program {
  // Defined in program.cpp: otherwise every file that copies or drops a program compiles all of it.
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  std::string name;
  Target target;
  Execution execution = Execution::once;
  std::vector<Tensor> tensors;
  std::vector<Buffer> buffers;
  std::vector<Semaphore> semaphores;
  std::vector<Stage> stages;
  std::vector<Edge> edges;
  std::vector<Section> sections;
  std::vector<Boundary> boundaries;
  std::vector<EngineProgram> programs;  ///< sorted by (site, engine)
  std::vector<std::string> carried;     ///< names of tensors that live on to the next token
  std::vector<Link> links;
  std::vector<Postcondition> postconditions;
  std::vector<SlicedTensor> sliced;
  /// True if the producer says that there is no postcondition to state (the report repeats it).
  bool result_unspecified = false;

  std::vector<Access> accesses;          ///< of all `run` ops
  std::vector<AffineTerm> affine_terms;  ///< of all regions
  std::vector<std::string> source_files;
  std::vector<SourceLocation> locations;
};

/// Number of op texts (every `repeat` counts as one).
[[nodiscard]] std::uint64_t op_count(const Program& program);

// ---- names --------------------------------------------------------------------------------------

[[nodiscard]] std::string_view to_string(DType);
[[nodiscard]] std::string_view to_string(TensorRole);
[[nodiscard]] std::string_view to_string(Init);
[[nodiscard]] std::string_view to_string(BufferKind);
[[nodiscard]] std::string_view to_string(Depth);
[[nodiscard]] std::string_view to_string(Restart);
[[nodiscard]] std::string_view to_string(StageKind);
[[nodiscard]] std::string_view to_string(OpKind);
[[nodiscard]] std::string_view to_string(OpCode);
[[nodiscard]] std::string_view to_string(Execution);
[[nodiscard]] std::string_view to_string(Axis);
/// Bytes of one element.
[[nodiscard]] std::uint64_t size_of(DType);

}  // namespace spatialcert::ir
