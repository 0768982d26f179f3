// How random_composition makes its sections: motif by motif, with what is known of earlier ones.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/composed/compositions.hpp"
#include "tests/composition/section_maker.hpp"

namespace spatialcert::tests {

inline constexpr std::uint64_t kPage = 8;  ///< bytes of a page
/// Bytes of every site that resident buffers lie in.
inline constexpr std::uint64_t kResident = 16;
inline constexpr const char* kState = "s";

/// A link that the section has opened and the next one has to take up.
struct OpenLink {
  std::string name;
  std::string tensor;  ///< that it hands over; none: pages
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Makes one section after the other, and knows what those before have declared and touched.
class Assembly {
 public:
  /// `repeats`: sections do what the first one does, with other tensors.
  explicit Assembly(std::uint64_t seed, bool repeats = false)
      : random_(seed * 2654435761U + 17), repeats_(repeats) {
    sample_.seed = seed;
  }

  CompositionSample run();

 private:
  struct Uses {
    std::set<std::string> read, written;
  };

  void feature(const std::string& name) { sample_.features.push_back(name); }

  // ---- tensors

  /// Every name has one size everywhere.
  [[nodiscard]] std::uint64_t columns(const std::string& name) const;
  void declare(const std::string& name, bool written);
  /// A tensor that the section may read; and one that it may write.
  std::string readable();
  std::string writable();

  // ---- motifs

  /// Two different places; on one site if `together`.
  std::optional<std::pair<TestPlace, TestPlace>> two_places(bool together);
  std::string own(const char* what) { return fmt::format("{}.{}{}", name_, what, objects_++); }
  std::string stage() { return own("r"); }
  std::uint64_t allocate(ir::Site site, std::uint64_t bytes);
  std::string new_buffer(ir::BufferKind kind, ir::Site site, std::uint64_t pages,
                         const std::string& name);
  static ir::HandoffId between(ir::Site a, ir::Site b);
  std::string new_semaphore(ir::Site site, ir::Site from, const std::string& name);
  void edge(const std::string& producer, const std::string& buffer, const std::string& consumer);
  void copy();
  void in_place();
  void pipeline();
  /// A buffer, full and empty.
  void handed_over();
  /// A tensor, between any two places.
  void tensor_over();
  /// Written first, read or updated by later sections on the same site.
  void resident();
  /// The FIFO or semaphore declared last.
  void declare_link(bool fifo);
  void open_link();
  void declare_link_object(bool fifo, const std::string& name, TestPlace from, TestPlace to);
  void take_up_link();

  void make_section(std::uint32_t number, bool last);

  // ---- together

  [[nodiscard]] bool conflict(std::size_t a, std::size_t b) const;
  std::vector<bool> barriers();
  void put_together();
  void finish(const compose::Outcome<compose::Composed>& outcome);
  /// The composer makes resident buffers live throughout; they need to, from the first to the last
  /// section that uses them.
  void bound_residents();

  Random random_;
  bool repeats_;
  CompositionSample sample_;
  bool damaged_ = false;
  std::vector<TestPlace> places_;
  std::vector<ir::Program> sections_;
  std::vector<Uses> uses_;
  std::set<std::string> defined_, written_earlier_, handed_;
  std::set<std::size_t> linked_;  ///< sections that take up a link
  std::optional<ir::Site> resident_;
  bool resident_written_ = false;
  std::optional<OpenLink> link_;
  std::pair<TestPlace, TestPlace> link_ends_;
  std::uint32_t fresh_ = 0;
  // of the section at hand
  SectionMaker* maker_ = nullptr;
  std::string name_;
  std::uint32_t objects_ = 0;
  std::map<ir::Site, std::uint64_t> top_;
  std::map<std::string, ir::TensorRole> role_;
};

}  // namespace spatialcert::tests
