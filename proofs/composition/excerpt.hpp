// One section of a composed program, in numbers of its own. Trusted; linear in its op texts.
//
// An *excerpt* holds the ops of one section, engine program by engine program, with its objects
// numbered as they occur. Two sections are *alike* if their excerpts are the same and the objects
// of equal number are alike: so the one is the other with its sites, tensors, buffers, semaphores
// and stages renamed, one to one. Kept are
//  - ops, counts, loops, regions and their affine terms;
//  - sizes and types of tensors, their declared values and whether a chip owns them, pages, tiles
//  and depths of FIFOs and buffers, views and their offsets, lifetimes, contents;
//  - initial values, maxima and restarts of semaphores;
//  - which engine programs, semaphores and buffers are on one site, and which sites on one chip;
//  - kinds, ops and constants of stages, and the declared edges.
// Not kept are names, sites and addresses: what depends on addresses is shown of every section
// (proofs/composition/check.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::proofs::composition {

inline constexpr std::uint32_t kNone = 0xffffffffU;

struct Excerpt {
  std::uint32_t section = 0;
  // Numbers in the whole program, by own number.
  std::vector<std::uint32_t> programs;  ///< engine programs with an op of the section, ascending
  std::vector<std::uint32_t> tensors, buffers, semaphores, stages;
  // In own numbers.
  std::vector<std::uint32_t> tensor_bases, buffer_bases;  ///< what they are views of, or kNone
  std::vector<std::uint32_t> begin;  ///< of the ops of an engine program; one more at the end
  std::vector<ir::Op> ops;           ///< without source locations
  std::vector<ir::Access> accesses;
  std::vector<ir::AffineTerm> terms;
  std::vector<ir::Edge> edges;  ///< of its buffers, by buffer
  /// Sites of engine programs, then semaphores, then buffers, numbered as they occur; and the chip
  /// of every site, likewise.
  std::vector<std::uint32_t> sites, chips;
};

/// Takes excerpts out of one validated program.
class Excerpts {
 public:
  explicit Excerpts(const ir::Program& program);

  /// Sections without ops have an excerpt without ops. Overwrites `out`. A reason if an edge of
  /// one of its buffers is with a stage of another section.
  [[nodiscard]] std::optional<std::string> take(ir::SectionId section, Excerpt& out);

 private:
  /// Gives numbers to objects of one kind as they occur.
  class Numbers {
   public:
    explicit Numbers(std::size_t objects) : own_(objects, kNone) {}
    std::uint32_t of(std::uint32_t object, std::vector<std::uint32_t>& occurred) {
      std::uint32_t& own = own_[object];
      if (own == kNone) {
        own = static_cast<std::uint32_t>(occurred.size());
        occurred.push_back(object);
      }
      return own;
    }
    void forget(const std::vector<std::uint32_t>& occurred) {
      for (const std::uint32_t object : occurred) own_[object] = kNone;
    }

   private:
    std::vector<std::uint32_t> own_;
  };

  void number_sites();
  void list_spans();
  void list_edges();
  void add_op(const ir::Op& op, Excerpt& out);
  void add_access(const ir::Access& access, Excerpt& out);
  void add_bases(Excerpt& out);
  [[nodiscard]] std::optional<std::string> add_edges(Excerpt& out);
  void place(Excerpt& out);

  const ir::Program& program_;
  Numbers tensors_, buffers_, semaphores_, stages_, sites_, chips_;
  /// Site numbers of engine programs, semaphores and buffers; chip number of every site.
  std::vector<std::uint32_t> site_of_program_, site_of_semaphore_, site_of_buffer_, chip_of_site_;
  /// Spans of a section: [first_span_[s], first_span_[s + 1]) of spans_, by engine program.
  struct SpanOf {
    std::uint32_t program = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<std::uint32_t> first_span_;
  std::vector<SpanOf> spans_;
  /// Edges of a buffer: [first_edge_[b], first_edge_[b + 1]) of edges_.
  std::vector<std::uint32_t> first_edge_, edges_;
  std::vector<std::uint32_t> occurred_sites_, occurred_chips_;  // scratch
};

[[nodiscard]] bool alike(const ir::Program& program, const Excerpt& a, const Excerpt& b);

/// The base of all its views.
[[nodiscard]] std::uint32_t base_tensor(const ir::Program& program, std::uint32_t tensor);
[[nodiscard]] std::uint32_t base_buffer(const ir::Program& program, std::uint32_t buffer);
/// Do its contents last from one section to another?
[[nodiscard]] bool is_resident(const ir::Program& program, std::uint32_t buffer);

}  // namespace spatialcert::proofs::composition
