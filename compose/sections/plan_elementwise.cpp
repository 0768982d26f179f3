// Expressions, op by op, with intermediate tiles in scratch memory.
#include <fmt/format.h>

#include <array>
#include <map>

#include "compose/sections/tiles.hpp"

namespace spatialcert::compose::sections {
namespace {

/// Does a value have all rows (columns) of a tile, or one?
struct Spread {
  bool rows = false;
  bool cols = false;
};

/// A value while the ops of a tile are laid out.
struct Value {
  StorePart where;
  Spread spread;
  bool scratch = false;
};

class TileOps {
 public:
  TileOps(Section& section, Plan& plan, const Elementwise& work, const Rectangle& at)
      : section_(section), plan_(plan), work_(work), at_(at), grid_(grid_of(section)) {}

  void add() {
    const bool moves = work_.value.is_tensor();
    StorePart page;
    if (moves) {
      page = operand(work_.value.tensor).where;
    } else {
      page = result_page(section_, plan_, work_.result, at_.rows.size, at_.cols.size);
      perform(work_.value, page);
    }
    step_.save = save(section_, page, work_.result, at_.row_extent(), at_.col_extent());
    nest(plan_, at_, std::move(held_), std::move(per_row_), {{std::move(step_)}});
  }

 private:
  Value operand(const std::string& name) {
    const auto [found, fresh] = loaded_.emplace(name, Value{});
    if (!fresh) return found->second;
    const SectionTensor& t = section_.named(name);
    const Spread spread{t.rows == grid_.rows, t.cols == grid_.cols};
    auto& loads = spread.cols ? step_.loads : spread.rows ? per_row_ : held_;
    found->second.spread = spread;
    found->second.where =
        load(section_, plan_, loads, loaded_.size() - 1, name,
             spread.rows ? at_.row_extent() : whole(1), spread.cols ? at_.col_extent() : whole(1));
    return found->second;
  }

  Value value(const Expression& expression) {
    return expression.is_tensor() ? operand(expression.tensor) : perform(expression, std::nullopt);
  }

  /// Arguments first, then the op itself; into scratch if no place is given.
  Value perform(const Expression& expression, std::optional<StorePart> to) {
    Run run;
    Value out;
    std::vector<Value> arguments;
    for (const Expression& argument : expression.arguments) {
      arguments.push_back(value(argument));
      run.from.push_back(arguments.back().where);
      out.spread.rows |= arguments.back().spread.rows;
      out.spread.cols |= arguments.back().spread.cols;
    }
    run.stage = section_.stage(ir::StageKind::compute, expression.op,
                               fmt::format("{}.{}", ops_++, ir::to_string(expression.op)),
                               expression.factor);
    out.scratch = !to;
    out.where = to ? *to : take(out.spread);
    run.to = out.where;
    // Given back only now, so that no op writes where it reads.
    for (const Value& argument : arguments) {
      if (argument.scratch) free_[key(argument.spread)].push_back(argument.where);
    }
    step_.runs.push_back(std::move(run));
    return out;
  }

  static std::size_t key(Spread spread) {
    return (spread.rows ? 2U : 0U) + (spread.cols ? 1U : 0U);
  }

  StorePart take(Spread spread) {
    auto& free = free_[key(spread)];
    if (!free.empty()) {
      const StorePart out = free.back();
      free.pop_back();
      return out;
    }
    return plan_.part(Store::Kind::scratch,
                      fmt::format("scratch/{}.{}", key(spread), made_[key(spread)]++),
                      section_.named(work_.result).dtype, spread.rows ? at_.rows.size : 1,
                      spread.cols ? at_.cols.size : 1);
  }

  Section& section_;
  Plan& plan_;
  const Elementwise& work_;
  const Rectangle& at_;
  Grid grid_;
  std::vector<Load> held_, per_row_;
  TileStep step_;
  std::map<std::string, Value> loaded_;
  std::array<std::vector<StorePart>, 4> free_;
  std::array<std::uint32_t, 4> made_{};
  std::uint32_t ops_ = 0;
};

}  // namespace

void plan(Section& section, Plan& plan, const Elementwise& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileOps(section, plan, work, at).add();
  }
}

}  // namespace spatialcert::compose::sections
