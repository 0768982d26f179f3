// Where a composed program can be cut: at the centres of its closed boundaries (proofs/boundary/).
//
// Every op of a section comes before or after every centre, so questions about what lies between
// two centres, a *window*, are questions of their own, and what lies in different windows is in
// order by composition: potential, path and state are those of the windows, one after the other
// (DESIGN 8, 13.7). Untrusted: whatever is put together here is checked as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::proofs {

struct Cuts {
  std::vector<std::uint32_t> centre;    ///< transitions of the stretch, in order
  std::vector<std::uint32_t> position;  ///< of each in a linear extension

  /// Number of the window that holds a position; a centre is the last op of its window.
  [[nodiscard]] std::uint32_t window(std::uint32_t at) const {
    return static_cast<std::uint32_t>(std::lower_bound(position.begin(), position.end(), at) -
                                      position.begin());
  }
};

/// `centre`: by closed boundary, transitions of one iteration (a witness of `boundary`). There is
/// no cut at a boundary without one.
[[nodiscard]] Cuts cuts_of(const Subject& subject, const std::vector<std::uint32_t>& position,
                           const std::vector<std::uint32_t>& centre);

/// Paths through centres. Looks at every window twice, however many paths are asked for.
class Crossings {
 public:
  Crossings(const Subject& subject, const std::vector<std::uint32_t>& position, const Cuts& cuts);

  /// Places of the stretch on a path from `first` over the centre that ends its window to `last`,
  /// of a later window; nothing if there is none that keeps to the two windows beside the centre.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> path(std::uint32_t first,
                                                               std::uint32_t last);

 private:
  /// Per engine program, how far it is joined to a centre, and by which place first.
  struct Joints {
    bool known = false;
    std::vector<std::uint32_t> entry, link;
  };
  void join_before(std::uint32_t centre);
  void join_after(std::uint32_t centre);
  [[nodiscard]] Joints fresh(std::uint32_t centre) const;

  const Subject& subject_;
  const std::vector<std::uint32_t>& position_;
  const Cuts& cuts_;
  std::vector<Joints> before_, after_;  // by centre
};

}  // namespace spatialcert::proofs
