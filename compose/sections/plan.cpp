#include "compose/sections/plan.hpp"

#include <algorithm>

namespace spatialcert::compose::sections {

StorePart Plan::part(Store::Kind kind, const std::string& name, ir::DType dtype, std::uint64_t rows,
                     std::uint64_t cols) {
  const auto [at, fresh] =
      by_name_.emplace(std::pair(name, cols), static_cast<StoreId>(stores.size()));
  if (fresh) stores.push_back({kind, name, dtype, 0, cols, false});
  Store& store = stores[at->second];
  store.rows = std::max(store.rows, rows);
  return {at->second, rows};
}

}  // namespace spatialcert::compose::sections
