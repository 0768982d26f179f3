// The way of data, op by op, as reports print it.
#include <fmt/format.h>

#include <algorithm>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

/// Ops in the text that are printed: half of them from each end.
constexpr std::size_t kMostOps = 12;

/// Steps [begin, end) of a way that are one op of the text in several trips of its loops.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Stretch> stretches_of(const OpNames& names, const std::vector<WayStep>& way) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (i > 0 && &names.op_of(way[i].op) == &names.op_of(way[i - 1].op) &&
        way[i].does == way[i - 1].does) {
      out.back().end = i + 1;
    } else {
      out.push_back({i, i + 1});
    }
  }
  return out;
}

}  // namespace

void way_lines(const OpNames& names, const std::vector<WayStep>& way, Lines& out) {
  const std::vector<Stretch> stretches = stretches_of(names, way);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (stretches.size() > kMostOps && i == kMostOps / 2) {
      i = stretches.size() - kMostOps / 2;
      out.push_back(
          fmt::format("       ({} more ops)", stretches[i].begin - stretches[kMostOps / 2].begin));
    }
    const auto [begin, end] = stretches[i];
    out.push_back(fmt::format("  ({}) {}, {}", begin + 1, names.engine(way[begin].op),
                              names.placed_op(way[begin].op)));
    out.push_back("       " + way[begin].does);
    if (end - begin > 1) {
      out.push_back(fmt::format("       and so on, {} times in all, the last one{}", end - begin,
                                names.instance(way[end - 1].op)));
    }
  }
}

}  // namespace spatialcert::certify
