// What the parts of a model are written with: tensors, sections, the split over chips.
//
// A part (a layer's attention, the head) speaks of its tensors by short names. The first part of a
// kind builds its sections; the next ones use them on tensors of their own, whose names begin with
// the part's prefix.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compose/models/model.hpp"
#include "compose/sections/sections.hpp"

namespace spatialcert::compose::models {

/// A chip, or none: the spine.
using Chip = std::optional<std::uint32_t>;

/// How a full tensor is cut into the parts of chips.
struct Cut {
  ir::Axis axis = ir::Axis::columns;
  std::string dimension;
  bool stacked = false;
  std::uint32_t copies = 1;
};

class ModelWriter {
 public:
  /// Both must outlive it.
  ModelWriter(const Configuration& configuration, const ModelOptions& options);

  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  [[nodiscard]] const ModelOptions& options() const { return options_; }
  [[nodiscard]] std::uint32_t chips() const { return options_.hardware.chips; }
  [[nodiscard]] bool integer() const { return configuration_.arithmetic == Arithmetic::integer; }
  [[nodiscard]] ir::DType dtype() const { return configuration_.dtype; }
  /// Of partial sums.
  [[nodiscard]] ir::DType sum_type() const;

  /// Refuses chips that do not divide `size` of something.
  void expect_divided(std::uint64_t size, const char* what) const;

  /// Begins a part. `outside`: short names of tensors that are called something else in the model.
  void begin(const std::string& kind, const std::string& prefix,
             std::map<std::string, std::string> outside);

  /// `name` on a chip: with its number behind it, if there are several chips.
  [[nodiscard]] std::string on(const std::string& name, Chip chip) const;
  /// Declares tensors, with `on(name, chip)` as their name, which is returned. Activations are what
  /// sections write; the others come from outside.
  std::string activation(const std::string& name, Chip chip, std::uint64_t rows, std::uint64_t cols,
                         std::optional<ir::DType> dtype = {});
  std::string outside(const std::string& name, Chip chip, std::uint64_t rows, std::uint64_t cols,
                      ir::TensorRole role, std::optional<ir::DType> dtype = {});
  std::string view(const std::string& name, Chip chip, const std::string& base, std::uint64_t rows,
                   std::uint64_t cols, std::uint64_t offset = 0);
  /// The part of a full tensor that a chip has: these ranges of the axis. With one chip it is the
  /// whole, which the ranges must then be.
  std::string part(const std::string& name, std::uint32_t chip, std::uint64_t rows,
                   std::uint64_t cols, const Cut& cut, std::vector<ir::IndexRange> ranges,
                   ir::TensorRole role = ir::TensorRole::weight,
                   std::optional<ir::DType> dtype = {});
  /// Declares what the elements of a tensor of integers are in: [0, end).
  void below(const std::string& name, std::uint64_t end);
  /// Lives on to the next token.
  void carry(const std::string& name);

  /// A section called `on(name, chip)`.
  void section(const std::string& name, Chip chip, const sections::Work& work);
  /// `name` = a, 1 x rows, times a weight, rows x cols, of which the chip has these ranges; it may
  /// be quantised and lie in panels. The result is declared: of the model's type, or a sum.
  std::string project(const std::string& name, const std::string& weight, Chip chip,
                      const std::string& a, std::uint64_t rows, std::uint64_t cols, const Cut& cut,
                      const std::vector<ir::IndexRange>& ranges, bool sum = false);
  /// The sum of `on(name + ".partial", c)` of all chips, 1 x cols, as a tensor of the spine; with
  /// one chip the partial is the sum already.
  void allreduce(const std::string& name, std::uint64_t cols);
  /// Name of what is a chip's contribution to that sum.
  [[nodiscard]] std::string partial(const std::string& name) const {
    return chips() > 1 ? name + ".partial" : name;
  }

  /// Functions, or what stands for them in integer arithmetic.
  void rms_norm(const std::string& name, Chip chip, const std::string& x, const std::string& weight,
                const std::string& result);
  void softmax(const std::string& name, Chip chip, const std::string& x, const std::string& result);
  [[nodiscard]] sections::Expression silu(sections::Expression x) const;
  [[nodiscard]] sections::Expression sigmoid(sections::Expression x) const;
  /// A sum in the model's type.
  [[nodiscard]] sections::Expression rounded(const std::string& sum) const;
  [[nodiscard]] sections::Expression scaled(const std::string& x, double factor) const;

  [[nodiscard]] Model finish();

 private:
  std::string declare(SectionTensor tensor);
  [[nodiscard]] const SectionTensor& declared(const std::string& name) const;
  [[nodiscard]] std::string full_name(const std::string& name) const;
  [[nodiscard]] std::vector<ir::Site> sites(Chip chip) const;
  /// Uses the section of that name of this kind of part, which is built if it is the first.
  void use(const std::string& name, const std::function<ir::Program()>& build);
  /// A weight as it lies in memory.
  struct Layout {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    Cut cut;
    std::vector<ir::IndexRange> ranges;
    std::uint64_t panels = 1;  ///< of a chip
  };
  [[nodiscard]] Layout layout(std::uint64_t rows, std::uint64_t cols, const Cut& cut,
                              const std::vector<ir::IndexRange>& ranges) const;
  /// The same with one entry per block of rows x cols, which must divide the ranges.
  [[nodiscard]] static std::optional<Layout> blocks(const Layout& whole, const Quantisation& block);
  void quantised_weight(const std::string& weight, std::uint32_t chip, const Layout& whole,
                        sections::Matmul& work);
  void add_statement(Chip chip, const sections::Work& work);

  const Configuration& configuration_;
  const ModelOptions& options_;
  ir::Target target_;
  Model model_;
  std::string kind_, prefix_;
  std::map<std::string, std::string> outside_;
  std::unordered_map<std::string, SectionTensor> tensors_;  ///< of the part
  std::unordered_map<std::string, std::uint32_t> sections_;
  std::unordered_map<std::string, std::size_t> full_;  ///< full tensors, by name
};

}  // namespace spatialcert::compose::models
