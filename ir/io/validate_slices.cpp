// Slices of full tensors, and declared values.
#include <fmt/format.h>

#include <unordered_map>

#include "ir/io/names.hpp"
#include "ir/io/validation.hpp"

namespace spatialcert::ir::io {
namespace {

bool is_integer(DType type) { return type <= DType::i64; }

// Of an integer type.
ValueRange range_of(DType type) {
  const auto bits = static_cast<unsigned>(8 * size_of(type));
  const auto largest = static_cast<std::int64_t>(~std::uint64_t{0} >> (65U - bits));
  return {-largest - 1, largest};
}

}  // namespace

void Validation::check_values(std::size_t number) const {
  const Tensor& tensor = program_.tensors[number];
  const std::string path = fmt::format("$.tensors[{}].values", number);
  if (!is_integer(tensor.dtype)) {
    refuse(path, "values of a tensor of integers",
           fmt::format("\"{}\" of {}", tensor.name, to_string(tensor.dtype)));
  }
  const ValueRange all = range_of(tensor.dtype);
  const ValueRange& values = *tensor.values;
  if (all.least <= values.least && values.least <= values.largest && values.largest <= all.largest)
    return;
  refuse(path, fmt::format("{} <= least <= largest <= {}", all.least, all.largest),
         fmt::format("[{}, {}]", values.least, values.largest));
}

void Validation::check_slices() const {
  NameTable tensors;
  tensors.reserve(program_.tensors.size());
  for (const Tensor& tensor : program_.tensors) tensors.add(tensor.name);
  std::vector<std::uint32_t> slice_of(program_.tensors.size(), kNone);
  std::unordered_map<std::string_view, std::size_t> by_dimension;
  for (std::size_t i = 0; i < program_.sliced.size(); ++i) {
    const SlicedTensor& sliced = program_.sliced[i];
    if (tensors.find(sliced.name) != NameTable::kNone) {
      refuse(fmt::format("$.slices[{}].full", i), "a name that no tensor of the program has",
             fmt::format("\"{}\"", sliced.name));
    }
    check_sliced_tensor(i);
    const SlicedTensor& first =
        program_.sliced[by_dimension.emplace(sliced.dimension, i).first->second];
    if (first.slices.size() != sliced.slices.size()) {
      refuse(fmt::format("$.slices[{}].parts", i),
             fmt::format("{} parts, as \"{}\" has along the same dimension", first.slices.size(),
                         first.name),
             fmt::format("{}", sliced.slices.size()));
    }
    for (std::size_t p = 0; p < sliced.slices.size(); ++p) {
      std::uint32_t& of = slice_of[sliced.slices[p].tensor.value()];
      if (of != kNone) {
        refuse(fmt::format("$.slices[{}].parts[{}].tensor", i, p), "every tensor as one slice",
               fmt::format("\"{}\", which is a slice of \"{}\" already",
                           program_.tensors[sliced.slices[p].tensor.value()].name,
                           program_.sliced[of].name));
      }
      of = static_cast<std::uint32_t>(i);
    }
  }
}

void Validation::check_sliced_tensor(std::size_t number) const {
  const SlicedTensor& sliced = program_.sliced[number];
  const auto path = [&](const char* member) {
    return fmt::format("$.slices[{}].{}", number, member);
  };
  if (sliced.rows < 1) refuse(path("rows"), "at least 1", "0");
  if (sliced.cols < 1) refuse(path("cols"), "at least 1", "0");
  check_text(sliced.dimension, path("dimension"));
  if (sliced.slices.empty()) refuse(path("parts"), "at least one part", "none");
  if (sliced.copies < 1 || sliced.copies > sliced.slices.size()) {
    refuse(path("copies"), fmt::format("1 to {}, the number of parts", sliced.slices.size()),
           fmt::format("{}", sliced.copies));
  }
  for (std::size_t p = 0; p < sliced.slices.size(); ++p) check_slice(number, p);
}

void Validation::check_slice(std::size_t number, std::size_t part) const {
  const SlicedTensor& sliced = program_.sliced[number];
  const Slice& slice = sliced.slices[part];
  const auto path = [&](const char* member) {
    return fmt::format("$.slices[{}].parts[{}].{}", number, part, member);
  };
  if (!(slice.tensor.value() < program_.tensors.size()))
    refuse(path("tensor"), "a declared tensor");
  const Tensor& tensor = program_.tensors[slice.tensor.value()];
  if (!tensor.owner) {
    refuse(path("tensor"), "a tensor with an owner", fmt::format("\"{}\" without", tensor.name));
  }
  const Tensor& first = program_.tensors[sliced.slices[0].tensor.value()];
  if (first.dtype != tensor.dtype) {
    refuse(path("tensor"), fmt::format("slices of one dtype, {}", to_string(first.dtype)),
           fmt::format("\"{}\" of {}", tensor.name, to_string(tensor.dtype)));
  }
  const bool by_rows = sliced.axis == Axis::rows;
  const std::uint64_t length = by_rows ? sliced.rows : sliced.cols;
  std::uint64_t sum = 0;
  if (slice.ranges.empty()) refuse(path("ranges"), "at least one range", "none");
  for (std::size_t r = 0; r < slice.ranges.size(); ++r) {
    const IndexRange& range = slice.ranges[r];
    if (range.begin >= range.end || range.end > length ||
        __builtin_add_overflow(sum, range.end - range.begin, &sum)) {
      refuse(path("ranges") + fmt::format("[{}]", r),
             fmt::format("a range [begin, end) with begin < end <= {}", length),
             fmt::format("[{}, {})", range.begin, range.end));
    }
  }
  const std::uint64_t rows = by_rows ? sum : sliced.rows;
  const std::uint64_t cols = by_rows ? sliced.cols : sum;
  if (tensor.rows != rows || tensor.cols != cols) {
    refuse(path("tensor"), fmt::format("a tensor of {} x {}, as the ranges say", rows, cols),
           fmt::format("\"{}\" of {} x {}", tensor.name, tensor.rows, tensor.cols));
  }
}

}  // namespace spatialcert::ir::io
