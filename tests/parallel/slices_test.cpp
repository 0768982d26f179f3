// Which element of the full tensor is which of the part.
#include "compose/parallel/slices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace spatialcert::tests {
namespace {

using compose::parallel::Element;
using compose::parallel::PartOfTensor;
using ir::Axis;
using Ranges = std::vector<ir::IndexRange>;

TEST_CASE("a part of columns in two ranges") {
  const PartOfTensor part(3, 10, Axis::columns, Ranges{{6, 9}, {1, 2}});
  CHECK(part.length() == 4);
  CHECK(part.rows() == 3);
  CHECK(part.cols() == 4);
  CHECK(part.full(2, 0) == Element{2, 6});
  CHECK(part.full(2, 3) == Element{2, 1});
  CHECK(part.flat(2, 3) == 21);
  CHECK(part.local(1, 8) == Element{1, 2});
  CHECK(part.local(1, 1) == Element{1, 3});
  CHECK_FALSE(part.local(1, 2).has_value());
  CHECK_FALSE(part.local(3, 8).has_value());
  CHECK_FALSE(part.local(0, 10).has_value());
  CHECK(compose::parallel::length({{6, 9}, {1, 2}}) == 4);
}

TEST_CASE("a part of rows") {
  const PartOfTensor part(8, 3, Axis::rows, Ranges{{0, 2}, {5, 6}});
  CHECK(part.rows() == 3);
  CHECK(part.cols() == 3);
  CHECK(part.flat(2, 1) == 16);
  CHECK(part.local(5, 1) == Element{2, 1});
  CHECK_FALSE(part.local(4, 1).has_value());
}

TEST_CASE("random ranges, against a list of all indices") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t size = 1 + random() % 20;
    Ranges ranges;
    std::vector<std::uint64_t> indices;
    for (std::uint64_t r = 0; r < 1 + random() % 4; ++r) {
      const std::uint64_t begin = random() % size;
      const std::uint64_t end = begin + 1 + random() % (size - begin);
      ranges.push_back({begin, end});  // may overlap: then one of the elements is found
      for (std::uint64_t i = begin; i < end; ++i) indices.push_back(i);
    }
    const bool rows = random() % 2 == 0;
    const PartOfTensor part(rows ? size : 2, rows ? 2 : size, rows ? Axis::rows : Axis::columns,
                            ranges);
    REQUIRE(part.length() == indices.size());
    for (std::uint64_t i = 0; i < indices.size(); ++i) {
      CHECK(part.full(rows ? i : 1, rows ? 1 : i) ==
            Element{rows ? indices[i] : 1, rows ? 1 : indices[i]});
      CHECK(part.flat(rows ? i : 1, rows ? 1 : i) ==
            (rows ? indices[i] * 2 + 1 : size + indices[i]));
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      const bool held = std::count(indices.begin(), indices.end(), i) != 0;
      const auto found = part.local(rows ? i : 1, rows ? 1 : i);
      REQUIRE(found.has_value() == held);
      if (!found) continue;
      CHECK(indices[rows ? found->row : found->col] == i);
      CHECK((rows ? found->col : found->row) == 1);
    }
  }
}

}  // namespace
}  // namespace spatialcert::tests
