// What the tensors of a description must satisfy, and which of them the work uses.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compose/sections/checker.hpp"

namespace spatialcert::compose::sections {

void Checker::check_tensors() const {
  std::set<std::string> names;
  for (const SectionTensor& t : about_.tensors) {
    if (t.name.empty()) refuse(".tensors", "names that are not empty", "\"\"");
    const std::string where = place(t.name);
    if (!names.insert(t.name).second) refuse(where, "every tensor once", "it again");
    if (t.rows == 0 || t.cols == 0) refuse(where, "rows and columns", shape_text(t));
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(t.rows, t.cols, &bytes) ||
        __builtin_mul_overflow(bytes, ir::size_of(t.dtype), &bytes)) {
      refuse(where, "fewer than 2^63 bytes", shape_text(t));
    }
    check_storage(t);
  }
}

const SectionTensor* Checker::declared(const std::string& name) const {
  const auto at = std::find_if(about_.tensors.begin(), about_.tensors.end(),
                               [&](const SectionTensor& t) { return t.name == name; });
  return at == about_.tensors.end() ? nullptr : &*at;
}

void Checker::check_storage(const SectionTensor& t) const {
  const std::string where = place(t.name);
  const auto owner = [](const SectionTensor& of) {
    return of.owner ? fmt::format("chip {}", *of.owner) : std::string("no owner");
  };
  if (t.owner && *t.owner >= about_.target.chips) {
    refuse(where, fmt::format("an owner below {}", about_.target.chips), owner(t));
  }
  if (t.values) {
    expect_integer(t);
    if (t.values->least > t.values->largest) {
      refuse(where, "a least value that is not above the largest",
             fmt::format("[{}, {}]", t.values->least, t.values->largest));
    }
  }
  if (t.view_of.empty()) return;
  const SectionTensor* base = declared(t.view_of);
  if (base == nullptr || !base->view_of.empty()) {
    refuse(where, "a view of a declared tensor that is no view", fmt::format("\"{}\"", t.view_of));
  }
  expect_type(t, base->dtype);
  if (t.owner != base->owner) refuse(where, owner(*base) + ", as its base", owner(t));
  const std::uint64_t size = base->rows * base->cols;
  if (t.view_offset > size || t.rows * t.cols > size - t.view_offset) {
    refuse(where, fmt::format("a view inside the {} elements of \"{}\"", size, base->name),
           fmt::format("{} from {} on", t.rows * t.cols, t.view_offset));
  }
}

void Checker::check_views() const {
  const auto root = [](const SectionTensor& t) { return t.view_of.empty() ? t.name : t.view_of; };
  for (std::size_t w = 0; w < section_.tensors.size(); ++w) {
    const SectionTensor& written = section_.tensors[w];
    for (const ir::Site& s : about_.sites) {
      if (!written.owner || *written.owner == s.chip) continue;
      refuse(place(written.name), fmt::format("sites on chip {}, its owner", *written.owner),
             fmt::format("[{},{},{}]", s.chip, s.x, s.y));
    }
    if (section_.written[w] == 0) continue;
    for (std::size_t u = 0; u < section_.tensors.size(); ++u) {
      const SectionTensor& used = section_.tensors[u];
      if (u == w || root(used) != root(written)) continue;
      if (used.view_offset >= written.view_offset + written.rows * written.cols) continue;
      if (written.view_offset >= used.view_offset + used.rows * used.cols) continue;
      refuse(place(written.name), "storage that nothing else has that the work names",
             fmt::format("some of \"{}\"", used.name));
    }
  }
}

void Checker::add_bases() {
  const std::size_t named = section_.tensors.size();
  for (std::size_t t = 0; t < named; ++t) {
    const SectionTensor view = section_.tensors[t];
    if (view.view_of.empty()) continue;
    const std::uint32_t base = use(view.view_of);
    const SectionTensor& whole = section_.tensors[base];
    section_.read[base] |= section_.read[t];
    section_.written[base] |= section_.written[t];
    const bool part = view.rows * view.cols < whole.rows * whole.cols;
    section_.written_in_part[base] |= part ? section_.written[t] : section_.written_in_part[t];
  }
}

void Checker::put_in_order() {
  Section& s = section_;
  Section ordered;
  for (const SectionTensor& t : about_.tensors) {
    const auto at = std::find_if(s.tensors.begin(), s.tensors.end(),
                                 [&](const SectionTensor& u) { return u.name == t.name; });
    if (at == s.tensors.end()) continue;
    const auto i = static_cast<std::size_t>(at - s.tensors.begin());
    ordered.tensors.push_back(t);
    ordered.read.push_back(s.read[i]);
    ordered.written.push_back(s.written[i]);
    ordered.written_in_part.push_back(s.written_in_part[i]);
  }
  s.tensors = std::move(ordered.tensors);
  s.read = std::move(ordered.read);
  s.written = std::move(ordered.written);
  s.written_in_part = std::move(ordered.written_in_part);
}

std::uint32_t Checker::use(const std::string& name) {
  auto& known = section_.tensors;
  const auto same = [&](const SectionTensor& t) { return t.name == name; };
  const auto at = std::find_if(known.begin(), known.end(), same);
  if (at != known.end()) return static_cast<std::uint32_t>(at - known.begin());
  const auto declared = std::find_if(about_.tensors.begin(), about_.tensors.end(), same);
  if (declared == about_.tensors.end()) refuse(place(name), "a declared tensor", "none");
  known.push_back(*declared);
  section_.read.push_back(0);
  section_.written.push_back(0);
  section_.written_in_part.push_back(0);
  return static_cast<std::uint32_t>(known.size() - 1);
}

void Checker::expect_shape(const SectionTensor& t, std::uint64_t rows, std::uint64_t cols) const {
  if (t.rows == rows && t.cols == cols) return;
  refuse(place(t.name), fmt::format("{} x {}", rows, cols), shape_text(t));
}

void Checker::expect_type(const SectionTensor& t, ir::DType type) const {
  if (t.dtype == type) return;
  refuse(place(t.name), fmt::format("elements of {}", ir::to_string(type)),
         std::string(ir::to_string(t.dtype)));
}

void Checker::expect_computed(const SectionTensor& t) {
  const ir::Target& target = about_.target;
  if (!is_integer(t.dtype)) {
    section_.approximate = fmt::format("rounded to {} after every op", ir::to_string(t.dtype));
  }
  const bool good = is_integer(t.dtype) ? ir::size_of(t.dtype) <= ir::size_of(target.widest_integer)
                                        : t.dtype == target.float_type;
  if (good) return;
  refuse(place(t.name),
         fmt::format("{}, or integers of at most {}", ir::to_string(target.float_type),
                     ir::to_string(target.widest_integer)),
         std::string(ir::to_string(t.dtype)));
}

void Checker::expect_sums(const SectionTensor& t) {
  if (is_integer(t.dtype) || ir::size_of(t.dtype) < ir::size_of(ir::DType::f32)) {
    return expect_computed(t);
  }
  section_.approximate = fmt::format("rounded to {} after every op", ir::to_string(t.dtype));
}

void Checker::expect_integer(const SectionTensor& t) const {
  if (is_integer(t.dtype)) return;
  refuse(place(t.name), "an integer type", std::string(ir::to_string(t.dtype)));
}

void Checker::expect_blocks(const SectionTensor& values, const SectionTensor& scales,
                            std::uint64_t tile_rows, std::uint64_t tile_cols) {
  expect_computed(scales);
  expect_real(scales, ir::OpKind::dequantise);
  if (values.rows % scales.rows != 0 || values.cols % scales.cols != 0) {
    refuse(place(scales.name),
           fmt::format("rows and columns that divide those of {}", shape_text(values)),
           shape_text(scales));
  }
  const std::uint64_t rows = values.rows / scales.rows, cols = values.cols / scales.cols;
  if (tile_rows % rows != 0 || tile_cols % cols != 0) {
    refuse(".tile", fmt::format("multiples of the {} x {} of a scale", rows, cols),
           fmt::format("{} x {}", tile_rows, tile_cols));
  }
}

void Checker::expect_real(const SectionTensor& t, ir::OpKind op) const {
  if (!is_integer(t.dtype)) return;
  refuse(place(t.name), fmt::format("a floating-point type, for {}", ir::to_string(op)),
         std::string(ir::to_string(t.dtype)));
}

void Checker::expect_other(const SectionTensor& result, const std::string& operand) const {
  if (result.name != operand) return;
  refuse(place(result.name), "a result that is no operand", "one in place");
}

}  // namespace spatialcert::compose::sections
