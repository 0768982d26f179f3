// What a description must satisfy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compose/sections/section.hpp"
#include "ir/require.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose::sections {
namespace {

bool is_integer(ir::DType type) { return type <= ir::DType::i64; }

std::string shape_text(const SectionTensor& t) { return fmt::format("{} x {}", t.rows, t.cols); }

class Checker {
 public:
  explicit Checker(const SectionDescription& description) : about_(description) {
    section_.description = &description;
  }

  Section run() {
    if (about_.name.empty()) refuse(".name", "not empty", "\"\"");
    check_target();
    check_sites();
    check_tiles();
    check_tensors();
    std::visit([&](const auto& work) { check(work); }, about_.work);
    check_split();
    put_in_order();
    return std::move(section_);
  }

 private:
  [[noreturn]] void refuse(const std::string& where, std::string expected,
                           std::string found) const {
    throw ir::Refusal{"", 0, fmt::format("section {}{}", about_.name, where), std::move(expected),
                      std::move(found)};
  }

  void check_target() const {
    ir::Program alone;
    alone.name = about_.name;
    alone.target = about_.target;
    if (const ir::Status status = ir::validate(alone)) {
      if (status->path.rfind("$.target", 0) == 0) {
        refuse("." + status->path.substr(2), status->expected, status->found);
      }
    }
    const auto& engines = about_.target.engines;
    const std::string names[] = {about_.load_engine, about_.compute_engine, about_.store_engine};
    for (std::size_t i = 0; i < std::size(names); ++i) {
      if (std::count(engines.begin(), engines.end(), names[i]) == 0) {
        refuse(".engines", fmt::format("an engine \"{}\" in the target", names[i]), "none");
      }
      if (std::count(names, names + i, names[i]) != 0) {
        refuse(".engines", "three different engines", fmt::format("\"{}\" twice", names[i]));
      }
    }
    const auto& spaces = about_.target.spaces;
    if (std::none_of(spaces.begin(), spaces.end(),
                     [&](const ir::MemorySpace& s) { return s.name == about_.space; })) {
      refuse(".space", "a memory space of the target", fmt::format("\"{}\"", about_.space));
    }
    if (about_.handover == Handover::semaphores && about_.target.semaphore_maximum < 1) {
      refuse(".handover", "a target whose semaphores count to 1 at least", "a maximum of 0");
    }
  }

  void check_sites() const {
    if (about_.sites.empty()) refuse(".sites", "at least one site", "none");
    std::set<ir::Site> seen;
    for (const ir::Site& s : about_.sites) {
      const std::string text = fmt::format("[{},{},{}]", s.chip, s.x, s.y);
      if (s.chip >= about_.target.chips || s.x >= about_.target.mesh_width ||
          s.y >= about_.target.mesh_height) {
        refuse(".sites", "sites of the target", text);
      }
      if (!seen.insert(s).second) refuse(".sites", "every site once", text + " twice");
    }
  }

  void check_tiles() const {
    const auto nonzero = [&](const char* member, std::uint64_t value) {
      if (value == 0) refuse(member, "at least 1", "0");
    };
    nonzero(".tile.rows", about_.tile.rows);
    nonzero(".tile.cols", about_.tile.cols);
    nonzero(".tile.inner", about_.tile.inner);
    nonzero(".depth", about_.depth);
  }

  void check_tensors() const {
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
    }
  }

  /// The tensors that are used in the order in which they are declared.
  void put_in_order() {
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

  static std::string place(const std::string& tensor) {
    return fmt::format(".tensors[\"{}\"]", tensor);
  }

  std::uint32_t use(const std::string& name) {
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
  SectionTensor reads(const std::string& name) {
    const std::uint32_t t = use(name);
    section_.read[t] = 1;
    return section_.tensors[t];
  }
  SectionTensor writes(const std::string& name) {
    const std::uint32_t t = use(name);
    section_.written[t] = 1;
    return section_.tensors[t];
  }

  void expect_shape(const SectionTensor& t, std::uint64_t rows, std::uint64_t cols) const {
    if (t.rows == rows && t.cols == cols) return;
    refuse(place(t.name), fmt::format("{} x {}", rows, cols), shape_text(t));
  }
  void expect_type(const SectionTensor& t, ir::DType type) const {
    if (t.dtype == type) return;
    refuse(place(t.name), fmt::format("elements of {}", ir::to_string(type)),
           std::string(ir::to_string(t.dtype)));
  }
  /// A type that the elementwise datapath computes in.
  void expect_computed(const SectionTensor& t) {
    const ir::Target& target = about_.target;
    if (!is_integer(t.dtype)) {
      section_.approximate = fmt::format("rounded to {} after every op", ir::to_string(t.dtype));
    }
    const bool good = is_integer(t.dtype)
                          ? ir::size_of(t.dtype) <= ir::size_of(target.widest_integer)
                          : t.dtype == target.float_type;
    if (good) return;
    refuse(place(t.name),
           fmt::format("{}, or integers of at most {}", ir::to_string(target.float_type),
                       ir::to_string(target.widest_integer)),
           std::string(ir::to_string(t.dtype)));
  }
  void expect_real(const SectionTensor& t, ir::OpKind op) const {
    if (!is_integer(t.dtype)) return;
    refuse(place(t.name), fmt::format("a floating-point type, for {}", ir::to_string(op)),
           std::string(ir::to_string(t.dtype)));
  }
  void expect_other(const SectionTensor& result, const std::string& operand) const {
    if (result.name != operand) return;
    refuse(place(result.name), "a result that is no operand", "one in place");
  }

  void check(const Matmul& work) {
    const SectionTensor a = reads(work.a);
    const SectionTensor b = reads(work.b);
    const SectionTensor result = writes(work.result);
    for (const SectionTensor& t : {a, b, result}) expect_computed(t);
    expect_type(b, a.dtype);
    expect_shape(b, a.cols, b.cols);
    expect_shape(result, a.rows, b.cols);
    if (is_integer(result.dtype) != is_integer(a.dtype)) expect_type(result, a.dtype);
    expect_other(result, work.a);
    expect_other(result, work.b);
    if (!work.accumulator) return;
    const ir::DType sums = *work.accumulator;
    const bool integers = is_integer(a.dtype);
    const std::uint64_t widest = integers ? ir::size_of(about_.target.widest_integer) : 8;
    if (is_integer(sums) != integers || ir::size_of(sums) > widest ||
        ir::size_of(sums) < ir::size_of(a.dtype)) {
      refuse(".accumulator", fmt::format("a type that sums {}", ir::to_string(a.dtype)),
             std::string(ir::to_string(sums)));
    }
  }

  /// Rows and columns of the value of an expression.
  std::pair<std::uint64_t, std::uint64_t> shape(const Expression& e, const SectionTensor& result) {
    if (e.is_tensor()) {
      const SectionTensor t = reads(e.tensor);
      expect_type(t, result.dtype);
      if ((t.rows != result.rows && t.rows != 1) || (t.cols != result.cols && t.cols != 1)) {
        refuse(place(t.name),
               fmt::format("{} x {}, or one row or column instead", result.rows, result.cols),
               shape_text(t));
      }
      return {t.rows, t.cols};
    }
    check_op(e, result);
    std::pair<std::uint64_t, std::uint64_t> out{1, 1};
    for (const Expression& argument : e.arguments) {
      const auto [rows, cols] = shape(argument, result);
      out = {std::max(out.first, rows), std::max(out.second, cols)};
    }
    return out;
  }

  void check_op(const Expression& e, const SectionTensor& result) const {
    const std::string text = fmt::format("\"{}\" of {}", ir::to_string(e.op), e.arguments.size());
    std::size_t most = 1;
    switch (e.op) {
      case ir::OpKind::add:
      case ir::OpKind::sub:
      case ir::OpKind::mul:
        if (e.arguments.size() < 2) refuse(".work", "two arguments at least", text);
        return;
      case ir::OpKind::scale:
        if (!std::isfinite(e.factor) ||
            (is_integer(result.dtype) && std::nearbyint(e.factor) != e.factor)) {
          refuse(".work", fmt::format("a factor for {}", ir::to_string(result.dtype)),
                 fmt::format("{}", e.factor));
        }
        break;
      case ir::OpKind::neg:
        break;
      case ir::OpKind::silu:
      case ir::OpKind::gelu:
      case ir::OpKind::sigmoid:
      case ir::OpKind::exp:
        expect_real(result, e.op);
        break;
      default:
        most = 0;
    }
    if (e.arguments.size() > most) refuse(".work", "an elementwise op on its arguments", text);
  }

  void check(const Elementwise& work) {
    const SectionTensor result = writes(work.result);
    expect_computed(result);
    const auto [rows, cols] = shape(work.value, result);
    if (rows != result.rows || cols != result.cols) {
      refuse(place(result.name), fmt::format("{} x {}", rows, cols), shape_text(result));
    }
    if (work.value.is_tensor()) expect_other(result, work.value.tensor);
  }

  void check(const RowReduction& work) {
    if (work.op != ir::OpKind::sum && work.op != ir::OpKind::max) {
      refuse(".work", "\"sum\" or \"max\" of rows", fmt::format("\"{}\"", ir::to_string(work.op)));
    }
    const SectionTensor x = reads(work.operand);
    const SectionTensor result = writes(work.result);
    expect_computed(x);
    expect_type(result, x.dtype);
    expect_shape(result, x.rows, 1);
    expect_other(result, work.operand);
  }

  void check_rows(const SectionTensor& x, const SectionTensor& result, ir::OpKind op) {
    expect_computed(x);
    expect_real(x, op);
    expect_type(result, x.dtype);
    expect_shape(result, x.rows, x.cols);
  }

  void check(const Softmax& work) {
    const SectionTensor x = reads(work.operand);
    check_rows(x, writes(work.result), ir::OpKind::softmax);
  }

  void check(const RmsNorm& work) {
    const SectionTensor x = reads(work.operand);
    const SectionTensor weight = reads(work.weight);
    const SectionTensor result = writes(work.result);
    check_rows(x, result, ir::OpKind::rmsnorm);
    expect_type(weight, x.dtype);
    expect_shape(weight, 1, x.cols);
    expect_other(result, work.weight);
  }

  void check(const Rope& work) {
    const SectionTensor x = reads(work.operand);
    const SectionTensor result = writes(work.result);
    expect_computed(x);
    expect_type(result, x.dtype);
    expect_shape(result, x.rows, x.cols);
    const std::uint64_t half = reads(work.cosine).cols;
    for (const std::string& name : {work.cosine, work.sine}) {
      const SectionTensor angle = reads(name);
      expect_type(angle, x.dtype);
      expect_shape(angle, angle.rows == 1 ? 1 : x.rows, half);
      expect_other(result, name);
    }
    if (half > x.cols || x.cols % (2 * half) != 0) {
      refuse(place(x.name), fmt::format("runs of {} columns", 2 * half), shape_text(x));
    }
  }

  void check(const GatherRows& work) {
    const SectionTensor table = reads(work.table);
    const SectionTensor index = reads(work.index);
    const SectionTensor result = writes(work.result);
    if (!is_integer(index.dtype)) {
      refuse(place(index.name), "an integer type", std::string(ir::to_string(index.dtype)));
    }
    expect_shape(index, index.rows, 1);
    expect_type(result, table.dtype);
    expect_shape(result, index.rows, table.cols);
    expect_other(result, work.table);
    expect_other(result, work.index);
  }

  void check(const AppendRows& work) {
    const SectionTensor source = reads(work.source);
    const SectionTensor cache = writes(work.cache);
    section_.written_in_part[use(work.cache)] = 1;
    expect_type(cache, source.dtype);
    expect_other(cache, work.source);
    if (source.cols != cache.cols) expect_shape(cache, cache.rows, source.cols);
    if (source.rows > cache.rows || work.position > cache.rows - source.rows) {
      refuse(place(cache.name),
             fmt::format("room for {} rows from row {} on", source.rows, work.position),
             fmt::format("{} rows", cache.rows));
    }
  }

  void check(const AppendColumn& work) {
    const SectionTensor source = reads(work.source);
    const SectionTensor cache = writes(work.cache);
    section_.written_in_part[use(work.cache)] = 1;
    expect_shape(source, 1, source.cols);
    expect_type(cache, source.dtype);
    expect_other(cache, work.source);
    if (source.cols != cache.rows) expect_shape(cache, source.cols, cache.cols);
    if (work.position >= cache.cols) {
      refuse(place(cache.name), fmt::format("a column {}", work.position),
             fmt::format("{} columns", cache.cols));
    }
  }

  void check(const DeltaUpdate& work) {
    const SectionTensor state = reads(work.state);
    writes(work.state);
    expect_computed(state);
    const std::uint64_t tokens = reads(work.key).rows;
    const auto operand = [&](const std::string& name, std::uint64_t cols) {
      const SectionTensor t = reads(name);
      expect_type(t, state.dtype);
      expect_shape(t, tokens, cols);
      expect_other(state, name);
    };
    operand(work.key, state.rows);
    operand(work.value, state.cols);
    operand(work.decay, 1);
    operand(work.rate, 1);
  }

  void check(const Copy& work) {
    const SectionTensor source = reads(work.source);
    const SectionTensor result = writes(work.result);
    expect_type(result, source.dtype);
    expect_shape(result, source.rows, source.cols);
    expect_other(result, work.source);
  }

  void check_split() const {
    if (about_.sites.size() == 1) return;
    const Grid grid = grid_of(section_);
    if (about_.split == Split::columns && grid.whole_rows) {
      refuse(".split", "rows, as the op needs whole rows", "columns");
    }
    if (about_.split == Split::rows && grid.whole_columns) {
      refuse(".split", "columns, as the op needs whole columns", "rows");
    }
  }

  const SectionDescription& about_;
  Section section_;
};

}  // namespace

Section checked(const SectionDescription& description) { return Checker(description).run(); }

}  // namespace spatialcert::compose::sections
