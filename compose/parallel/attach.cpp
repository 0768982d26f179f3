#include "compose/parallel/attach.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compose/composition/initial_contents.hpp"
#include "compose/parallel/slices.hpp"
#include "compose/parallel/text.hpp"

namespace spatialcert::compose::parallel {
namespace {

Refused owner_clash(const ir::Tensor& tensor, std::uint32_t wanted) {
  return {RefusalReason::owner_clash,
          fmt::format("tensor \"{}\" belongs to {} in the program and to chip {} in the manifest",
                      tensor.name, owner_text(tensor.owner), wanted),
          "give it one owner"};
}

class Attachment {
 public:
  Attachment(const ir::Program& program, const Manifest& manifest)
      : program_(program), manifest_(manifest) {
    for (std::uint32_t t = 0; t < program.tensors.size(); ++t)
      numbers_.emplace(program.tensors[t].name, t);
  }

  std::vector<ir::SlicedTensor> run() {
    check_chips();
    check_owners();
    std::vector<ir::SlicedTensor> sliced;
    for (const FullTensor& full : manifest_.full) {
      ir::SlicedTensor& one = sliced.emplace_back();
      one = {full.name,      full.rows,    full.cols,   full.axis,
             full.dimension, full.stacked, full.copies, {}};
      check_name(full);
      for (const Part& part : full.parts) one.slices.push_back({resolve(full, part), part.ranges});
      check_types(one);
    }
    return sliced;
  }

 private:
  void check_chips() const {
    if (program_.target.chips == manifest_.chips) return;
    throw Refused{RefusalReason::chip_count,
                  fmt::format("the manifest splits over {} chips, and \"{}\" has {}",
                              manifest_.chips, program_.target.name, program_.target.chips),
                  "split over all chips of the target"};
  }

  void check_owners() const {
    const Sharding sharding(manifest_);
    for (const ir::Tensor& tensor : program_.tensors) {
      const auto wanted = sharding.owner(tensor.name);
      if (wanted && wanted != tensor.owner) throw owner_clash(tensor, *wanted);
    }
  }

  void check_name(const FullTensor& full) const {
    if (numbers_.count(full.name) == 0) return;
    throw Refused{RefusalReason::full_declared,
                  fmt::format("program \"{}\" declares \"{}\", of which the manifest says that "
                              "only parts are there",
                              program_.name, full.name),
                  "rename one of them"};
  }

  [[nodiscard]] ir::TensorId resolve(const FullTensor& full, const Part& part) const {
    const auto found = numbers_.find(part.tensor);
    if (found == numbers_.end()) {
      throw Refused{RefusalReason::undeclared_tensor,
                    fmt::format("program \"{}\" does not declare \"{}\", a part of \"{}\"",
                                program_.name, part.tensor, full.name),
                    "declare it, or leave the full tensor out of the manifest"};
    }
    const ir::Tensor& tensor = program_.tensors[found->second];
    const PartOfTensor shape(full, part);
    if (tensor.rows != shape.rows() || tensor.cols != shape.cols()) {
      throw Refused{RefusalReason::part_shape,
                    fmt::format("tensor \"{}\" is {} x {}, and its ranges of \"{}\" ({} x {}) "
                                "give {} x {}",
                                part.tensor, tensor.rows, tensor.cols, full.name, full.rows,
                                full.cols, shape.rows(), shape.cols()),
                    "let ranges and shape agree"};
    }
    return ir::TensorId(found->second);
  }

  void check_types(const ir::SlicedTensor& full) const {
    const ir::Tensor& first = program_.tensors[full.slices.front().tensor.value()];
    for (const ir::Slice& slice : full.slices) {
      const ir::Tensor& other = program_.tensors[slice.tensor.value()];
      if (other.dtype == first.dtype) continue;
      throw Refused{
          RefusalReason::part_type,
          fmt::format("parts \"{}\" and \"{}\" of \"{}\" hold {} and {}", first.name, other.name,
                      full.name, to_string(first.dtype), to_string(other.dtype)),
          "give all parts of a tensor one type"};
    }
  }

  const ir::Program& program_;
  const Manifest& manifest_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace

std::optional<std::uint32_t> owner_in(const ir::Program& program, std::uint32_t tensor,
                                      const Sharding& sharding) {
  if (const auto owner = sharding.owner(program.tensors[tensor].name)) return owner;
  return sharding.owner(program.tensors[root_of(program.tensors, tensor)].name);
}

std::optional<Refused> assign_owners(ir::Program& program, const Sharding& sharding) {
  std::vector<std::optional<std::uint32_t>> owners;
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
    const ir::Tensor& tensor = program.tensors[t];
    const auto wanted = owner_in(program, t, sharding);
    if (wanted && tensor.owner && wanted != tensor.owner) return owner_clash(tensor, *wanted);
    owners.push_back(wanted ? wanted : tensor.owner);
  }
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) program.tensors[t].owner = owners[t];
  return std::nullopt;
}

std::optional<Refused> attach(ir::Program& program, const Manifest& manifest) {
  try {
    program.sliced = Attachment(program, manifest).run();
    return std::nullopt;
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose::parallel
