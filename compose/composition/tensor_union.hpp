// Tensors of all sections, unified by name. Throws Refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compose/composition/initial_contents.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

class TensorUnion {
 public:
  /// `sections` must outlive this: names are not copied.
  explicit TensorUnion(const std::vector<ir::Program>& sections) : sections_(sections) {}

  /// Adds the tensors of section number `source`; call in source order. Returns their numbers.
  /// Locations are those of the section, offset by `first_location`.
  [[nodiscard]] std::vector<std::uint32_t> add(std::uint32_t source, const ObjectUses& uses,
                                               std::uint32_t first_location);

  /// Decides roles and initial contents; nothing can be added afterwards.
  [[nodiscard]] std::vector<ir::Tensor> finish(const std::unordered_set<std::string>& carried);

  [[nodiscard]] bool has(std::string_view name) const { return numbers_.count(name) != 0; }
  /// Has a section before `source` written the storage of tensor number `tensor`?
  [[nodiscard]] bool written_before(std::uint32_t source, std::uint32_t tensor) const {
    return written_[root_of(tensors_, tensor)] < source;
  }
  [[nodiscard]] const std::vector<ir::Tensor>& tensors() const { return tensors_; }

 private:
  struct History {
    std::uint32_t first = 0;  ///< section that declared it
    ir::TensorRole first_role = ir::TensorRole::activation;
    ir::TensorRole last_role = ir::TensorRole::activation;
    ir::TensorRole other_role = ir::TensorRole::activation;  ///< the first that differs
    std::uint32_t other = 0;                                 ///< section that said so
    std::uint32_t roles = 0;                                 ///< bit per role
    std::vector<InitClaim> claims;
  };

  [[nodiscard]] std::uint32_t declare(std::uint32_t source, const ir::Tensor& tensor,
                                      std::uint32_t first_location);
  void compare(std::uint32_t source, std::uint32_t number, const ir::Tensor& tensor) const;
  void decide_role(std::uint32_t number, bool carried);
  void decide_contents(std::uint32_t number, bool carried);
  void check_chain(std::uint32_t number) const;
  [[nodiscard]] const std::string& section(std::uint32_t source) const {
    return sections_[source].sections.front().name;
  }

  const std::vector<ir::Program>& sections_;
  std::vector<ir::Tensor> tensors_;
  std::vector<History> history_;
  std::vector<std::uint32_t> written_;  // by tensor that is no view: first section that writes it
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace spatialcert::compose
