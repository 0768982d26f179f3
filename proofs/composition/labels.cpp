#include "proofs/composition/labels.hpp"

#include <fmt/format.h>

#include "proofs/issues.hpp"
#include "proofs/shard/misplaced.hpp"

namespace spatialcert::proofs::composition {

using shard::LabelId;

LabelRounds::LabelRounds(const ir::Program& program, const Division& division,
                         const std::vector<Subject>& subjects)
    : program_(program),
      division_(division),
      labels_(program),
      effects_(division.classes.size()),
      carried_(
          program, [this](std::uint32_t t) { return first_label(t); },
          [](std::uint32_t) { return shard::kReplicated; }),
      kept_(kept_tensors(program)) {
  if (const auto bad = shard::misplaced(program)) {
    obstacle_ = fmt::format("op {} of engine program {} touches what is on another chip",
                            bad->access.op, bad->access.program);
    return;
  }
  auto made = pieces(program, division, subjects);
  if (auto* why = std::get_if<std::string>(&made)) {
    obstacle_ = std::move(*why);
    return;
  }
  pieces_ = std::get<std::vector<Piece>>(std::move(made));
  fill_buffers();
}

LabelId LabelRounds::first_label(std::uint32_t tensor) {
  const auto& owner = program_.tensors[tensor].owner;
  return owner ? labels_.own(*owner) : shard::kReplicated;
}

void LabelRounds::fill_buffers() {
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const ir::Buffer& buffer = program_.buffers[b];
    if (buffer.init != ir::Init::external) continue;
    const Place place = place_of_buffer(program_, b);
    carried_.buffers()[place.base].assign(place.where, labels_.own(buffer.site.chip));
  }
}

const LabelRounds::Effect* LabelRounds::effect(std::uint32_t number, const Begin& begin) {
  const Piece& piece = pieces_[number];
  if (const auto known = effects_[number].find(begin); known != effects_[number].end())
    return &known->second;
  const Subject& subject = *piece.subject;
  std::vector<LabelId> contents(subject.accesses.segments.size(), shard::kReplicated);
  const std::vector<LabelId> found = per_part(piece, begin, 0);
  for (std::size_t p = 0; p < piece.parts.size(); ++p) contents[piece.parts[p].segment] = found[p];
  shard::LabelRun run(labels_, piece.program, subject.stretch, subject.accesses,
                      std::move(contents));
  for (const std::uint32_t t : piece.order) {
    if (const auto leak = run.perform(t)) {
      leak_ = fmt::format("{}: {}", to_string(shard::kind_of(program_, labels_, leak->label)),
                          transition_text(piece.program, subject.stretch, leak->transition));
      return nullptr;
    }
  }
  if (run.blurred()) {
    leak_ = "what a section writes derives from other data in its parts";
    return nullptr;
  }
  Effect effect;
  effect.stores = run.stores();
  for (const std::uint32_t p : piece.written)
    effect.left.push_back(run.contents()[piece.parts[p].segment]);
  return &effects_[number].emplace(begin, std::move(effect)).first->second;
}

std::optional<std::string> LabelRounds::section(std::size_t at) {
  const std::uint32_t number = division_.class_of[at];
  const Class& its = division_.classes[number];
  const std::uint32_t* const objects = division_.objects.data() + division_.first_object[at];
  const Piece& piece = pieces_[number];
  Begin begin;
  const auto one_label = [](const Runs& runs, const Interval& where) {
    std::optional<LabelId> label;
    bool same = true;
    runs.each(where, [&](std::uint64_t, std::uint64_t, LabelId one) {
      same = same && label.value_or(one) == one;
      label = one;
    });
    return same ? label : std::nullopt;
  };
  if (!list_begin(division_, piece, at, carried_, begin, one_label))
    return "what a section touches derives from other data in its parts";
  const Effect* const left = effect(number, begin);
  if (left == nullptr) {
    return fmt::format("section {}: {}", program_.sections[division_.sections[at]].name, leak_);
  }
  stores_ += left->stores;
  for (std::size_t w = 0; w < piece.written.size(); ++w) {
    const Part& part = piece.parts[piece.written[w]];
    carried_.of(its.touched[part.touched], objects[part.touched]).assign(part.where, left->left[w]);
  }
  return std::nullopt;
}

/// What is not kept begins anew.
void LabelRounds::restart() {
  if (program_.execution == ir::Execution::persistent) return;  // all tensors are kept
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const ir::Tensor& tensor = program_.tensors[t];
    if (tensor.view) continue;
    Runs fresh(tensor.rows * tensor.cols, first_label(t));
    Runs& old = carried_.tensors()[t];
    for (const Interval& interval : kept_[t]) {
      old.each(interval, [&](std::uint64_t low, std::uint64_t high, LabelId label) {
        fresh.assign({low, high}, label);
      });
    }
    old = std::move(fresh);
  }
}

std::optional<std::string> LabelRounds::perform() {
  if (obstacle_) return obstacle_;
  for (std::size_t at = 0; at < division_.sections.size(); ++at) {
    if (auto wrong = section(at)) return wrong;
  }
  restart();
  return std::nullopt;
}

void LabelRounds::remember() { remembered_ = carried_; }

bool LabelRounds::recurs() const {
  return remembered_ && Carried::equal(carried_, *remembered_,
                                       [&](LabelId a, LabelId b) { return labels_.alike(a, b); });
}

std::variant<std::uint64_t, std::string> check_labels(const ir::Program& program,
                                                      const Division& division,
                                                      const std::vector<Subject>& subjects,
                                                      const shard::Witness& witness) {
  if (witness.first >= witness.rounds || witness.rounds > shard::kMostRounds)
    return std::string("the rounds of the witness");
  LabelRounds rounds(program, division, subjects);
  for (std::uint32_t r = 0; r < witness.rounds; ++r) {
    if (r == witness.first) rounds.remember();
    if (auto wrong = rounds.perform()) return *std::move(wrong);
  }
  if (!rounds.recurs()) return std::string("labels of the first and the last round");
  return rounds.stores();
}

}  // namespace spatialcert::proofs::composition
