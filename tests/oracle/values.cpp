#include "tests/oracle/values.hpp"

#include "ir/require.hpp"

namespace spatialcert::tests {
namespace {

const SymbolicValue kOpaque{false, true, {}};

void add_to(SymbolicValue& sum, const SymbolicValue& value, std::int64_t factor) {
  sum.known &= value.known;
  sum.opaque |= value.opaque;
  for (const auto& [atom, coefficient] : value.terms) {
    if ((sum.terms[atom] += factor * coefficient) == 0) sum.terms.erase(atom);
  }
}

SymbolicValue atom(const MemoryModel& model, std::uint32_t location) {
  switch (model.init(location)) {
    case ir::Init::undefined:
      return {};
    case ir::Init::zero:
      return {true, false, {}};
    case ir::Init::external:
      return {true, false, {{location, 1}}};
  }
  ir::require_failed("init", "enumerator out of range", __FILE__, __LINE__);
}

/// The function that `op` computes of its operands, for one location.
SymbolicValue result_of(ir::OpKind op, const std::vector<const SymbolicValue*>& operands) {
  SymbolicValue out{true, false, {}};
  switch (op) {
    case ir::OpKind::copy:
    case ir::OpKind::neg:
      if (operands.size() != 1) return kOpaque;
      add_to(out, *operands[0], op == ir::OpKind::neg ? -1 : 1);
      break;
    case ir::OpKind::add:
      for (const SymbolicValue* operand : operands) add_to(out, *operand, 1);
      break;
    case ir::OpKind::sub:
      if (operands.size() != 2) return kOpaque;
      add_to(out, *operands[0], 1);
      add_to(out, *operands[1], -1);
      break;
    default:
      return kOpaque;
  }
  return out.known ? out : SymbolicValue{false, out.opaque, {}};
}

void perform(ir::OpKind op, const Footprint& footprint, Contents& contents) {
  std::vector<const Touch*> reads;
  for (const Touch& touch : footprint.touches) {
    if (!touch.write) reads.push_back(&touch);
  }
  std::vector<std::pair<std::uint32_t, SymbolicValue>> results;
  for (const Touch& touch : footprint.touches) {
    if (!touch.write) continue;
    bool fits = !footprint.leaves_object && !reads.empty();
    for (const Touch* read : reads) fits &= read->place.size() == touch.place.size();
    for (std::size_t i = 0; i < touch.place.size(); ++i) {
      std::vector<const SymbolicValue*> operands;
      for (const Touch* read : reads) {
        if (fits) operands.push_back(&contents[read->place[i]]);
      }
      results.emplace_back(touch.place[i], fits ? result_of(op, operands) : kOpaque);
    }
  }
  for (auto& [location, value] : results) contents[location] = std::move(value);
}

}  // namespace

Contents initial_contents(const MemoryModel& model) {
  Contents contents(model.locations());
  for (std::uint32_t i = 0; i < contents.size(); ++i) contents[i] = atom(model, i);
  return contents;
}

Contents contents_after(const ir::TokenGame& game, const MemoryModel& model,
                        const ir::Schedule& schedule) {
  Contents contents = initial_contents(model);
  ir::PlayState state = game.start();
  for (const ir::ScheduleRun& run : schedule) {
    for (std::uint32_t i = 0; i < run.steps; ++i) {
      const std::uint32_t t = state.next[run.program.value()];
      const ir::Op& op = game.unrolled().op_of(game.program(), ir::TransitionId(t));
      if (op.code == ir::OpCode::run) {
        perform(game.program().stages[op.object].op, model.footprint(t), contents);
      }
      SPATIALCERT_REQUIRE(!game.step(state, run.program), "the schedule is playable");
    }
  }
  return contents;
}

Outcome outcome(const ir::Postcondition& postcondition, MemoryModel& model,
                const Contents& contents) {
  const auto region = model.locate(postcondition.region);
  std::vector<SymbolicValue> expected(region.size(), SymbolicValue{true, false, {}});
  for (const ir::Region& term : postcondition.terms) {
    const auto source = model.locate(term);
    if (source.size() != region.size()) return Outcome::wrong;
    for (std::size_t i = 0; i < region.size(); ++i) add_to(expected[i], atom(model, source[i]), 1);
  }
  bool all_known = true;
  for (std::size_t i = 0; i < region.size(); ++i) {
    // A location that the program never touches is numbered only now, and holds its initial
    // content.
    const SymbolicValue found =
        region[i] < contents.size() ? contents[region[i]] : atom(model, region[i]);
    if (found.opaque) {
      all_known = false;
    } else if (!found.known || !(found == expected[i])) {
      return Outcome::wrong;
    }
  }
  return all_known ? Outcome::right : Outcome::unknown;
}

}  // namespace spatialcert::tests
