// What sections leave to one another, piece by piece, as numbers: labels of `shard`, types of
// `reduction`. Trusted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proofs/composition/check.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::composition {

/// What lies where in a tensor or buffer, without gaps.
class Runs {
 public:
  struct Run {
    std::uint64_t high = 0;
    std::uint32_t number = 0;
  };
  Runs() = default;  ///< of nothing
  Runs(std::uint64_t size, std::uint32_t number) { runs_.emplace(0, Run{size, number}); }

  void assign(const Interval& where, std::uint32_t number);
  /// Is all of it the same?
  [[nodiscard]] bool uniform() const { return runs_.size() == 1; }
  /// By first location, ascending.
  [[nodiscard]] const std::map<std::uint64_t, Run>& all() const { return runs_; }
  /// Calls `see(low, high, number)` for the pieces of an interval, which lies inside.
  template <typename See>
  void each(const Interval& where, See see) const {
    for (auto run = std::prev(runs_.upper_bound(where.low));
         run != runs_.end() && run->first < where.high; ++run) {
      see(std::max(run->first, where.low), std::min(run->second.high, where.high),
          run->second.number);
    }
  }
  /// Do the same numbers lie everywhere, as `same(number, number)` says?
  template <typename Same>
  [[nodiscard]] static bool equal(const Runs& a, const Runs& b, Same same);

 private:
  void cut(std::uint64_t at);

  std::map<std::uint64_t, Run> runs_;
};

template <typename Same>
bool Runs::equal(const Runs& a, const Runs& b, Same same) {
  auto x = a.runs_.begin(), y = b.runs_.begin();
  while (x != a.runs_.end() && y != b.runs_.end()) {
    if (!same(x->second.number, y->second.number)) return false;
    const std::uint64_t high = std::min(x->second.high, y->second.high);
    const bool both = x->second.high == high && y->second.high == high;
    const bool first = x->second.high == high;
    if (first) ++x;
    if (both || !first) ++y;
  }
  return x == a.runs_.end() && y == b.runs_.end();
}

/// A segment of a class's program that belongs to what outlives sections.
struct Part {
  std::uint32_t segment = 0;
  std::uint32_t touched = 0;  ///< entry of Class::touched
  Interval where;
};

/// A class whose runs can be performed one after another.
struct Piece {
  const Subject* subject = nullptr;
  ir::Program program;  ///< that of the subject, with the owners of its tensors
  std::vector<std::uint32_t> order;
  std::vector<Part> parts;                ///< by entry of Class::touched
  std::vector<std::uint32_t> first_part;  ///< per entry; one more at the end
  std::vector<std::uint32_t> written;     ///< into `parts`: the others stay what they are
};

/// `subjects`: of the programs of the classes, without folded loops, on which all rules hold that
/// the division is about. They must outlive the pieces. Otherwise why they cannot be performed:
/// among others, if the host fills a buffer that is not resident, which the programs do not say.
[[nodiscard]] std::variant<std::vector<Piece>, std::string> pieces(
    const ir::Program& program, const Division& division, const std::vector<Subject>& subjects);

/// Contents of all tensors and resident buffers, by their numbers in the program; of a view they
/// are those of its base, and the view has none.
class Carried {
 public:
  /// `tensor`, `buffer`: what a base holds that nothing has been written to, by its number.
  template <typename OfTensor, typename OfBuffer>
  Carried(const ir::Program& program, OfTensor tensor, OfBuffer buffer)
      : tensors_(program.tensors.size()), buffers_(program.buffers.size()) {
    for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
      const ir::Tensor& one = program.tensors[t];
      if (!one.view) tensors_[t] = Runs(one.rows * one.cols, tensor(t));
    }
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      const ir::Buffer& one = program.buffers[b];
      if (!one.view && is_resident(program, b)) buffers_[b] = Runs(one.bytes(), buffer(b));
    }
  }

  [[nodiscard]] Runs& of(const Touched& what, std::uint32_t object) {
    return (what.tensor ? tensors_ : buffers_)[object];
  }
  [[nodiscard]] std::vector<Runs>& tensors() { return tensors_; }
  [[nodiscard]] std::vector<Runs>& buffers() { return buffers_; }
  template <typename Same>
  [[nodiscard]] static bool equal(const Carried& a, const Carried& b, Same same) {
    const auto lists = [&](const std::vector<Runs>& x, const std::vector<Runs>& y) {
      return x.size() == y.size() &&
             std::equal(x.begin(), x.end(), y.begin(), [&](const Runs& one, const Runs& other) {
               return Runs::equal(one, other, same);
             });
    };
    return lists(a.tensors_, b.tensors_) && lists(a.buffers_, b.buffers_);
  }

 private:
  std::vector<Runs> tensors_, buffers_;
};

/// The numbers of what a section's parts begin with: of an entry of Class::touched that has one
/// number all over, `kAllOver` and that number, of another one a number per part.
using Begin = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kAllOver = 0xffffffffU;

/// Appends to `begin` those of section `at` of the division. `number(runs, where)` is that of an
/// interval, or nothing, which ends it: false.
template <typename Number>
[[nodiscard]] bool list_begin(const Division& division, const Piece& piece, std::size_t at,
                              Carried& carried, Begin& begin, Number number) {
  const Class& its = division.classes[division.class_of[at]];
  const std::uint32_t* const objects = division.objects.data() + division.first_object[at];
  for (std::uint32_t i = 0; i < its.touched.size(); ++i) {
    std::uint32_t part = piece.first_part[i];
    const std::uint32_t end = piece.first_part[i + 1];
    if (part == end) continue;
    const Runs& runs = carried.of(its.touched[i], objects[i]);
    if (runs.uniform()) {
      begin.push_back(kAllOver);
      part = end - 1;
    }
    for (; part < end; ++part) {
      const std::optional<std::uint32_t> one = number(runs, piece.parts[part].where);
      if (!one) return false;
      begin.push_back(*one);
    }
  }
  return true;
}
/// Per part, from the part of `begin` from `first` on.
[[nodiscard]] std::vector<std::uint32_t> per_part(const Piece& piece, const Begin& begin,
                                                  std::size_t first);

/// Where a tensor or buffer lies in its base.
struct Place {
  std::uint32_t base = 0;
  Interval where;
};
[[nodiscard]] Place place_of_tensor(const ir::Program& program, std::uint32_t tensor);
[[nodiscard]] Place place_of_buffer(const ir::Program& program, std::uint32_t buffer);

/// Per tensor, what a round leaves to the next: of a persistent program all, otherwise what the
/// host keeps. Resident buffers are left as they are.
[[nodiscard]] std::vector<Intervals> kept_tensors(const ir::Program& program);

}  // namespace spatialcert::proofs::composition
