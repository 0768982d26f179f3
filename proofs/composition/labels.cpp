#include "proofs/composition/labels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proofs/issues.hpp"
#include "proofs/shard/misplaced.hpp"

namespace spatialcert::proofs::composition {

using shard::LabelId;

/// A class, and what its program does to labels.
struct LabelRounds::Piece {
  const Subject* subject = nullptr;
  ir::Program program;  ///< that of the subject, with the owners of its tensors
  std::vector<std::uint32_t> order;
  std::vector<Part> parts;
  std::map<std::vector<LabelId>, Effect> effects;  ///< by the labels that the parts begin with
};

LabelRounds::LabelRounds(const ir::Program& program, const Division& division,
                         const std::vector<Subject>& subjects)
    : program_(program), division_(division), labels_(program) {
  if (const auto bad = shard::misplaced(program)) {
    obstacle_ = fmt::format("op {} of engine program {} touches what is on another chip",
                            bad->access.op, bad->access.program);
    return;
  }
  for (std::uint32_t c = 0; c < division.classes.size(); ++c) {
    Piece& piece = classes_.emplace_back();
    piece.subject = &subjects[c];
    piece.program = *subjects[c].program;
    const Excerpt& excerpt = division.classes[c].excerpt;
    for (std::size_t t = 0; t < excerpt.tensors.size(); ++t)
      piece.program.tensors[t].owner = program.tensors[excerpt.tensors[t]].owner;
    const auto position = linear_extension(subjects[c]);
    if (!position || subjects[c].accesses.limit || !subjects[c].accesses.faults.empty()) {
      obstacle_ = "the ops of a section cannot be put in order";
      return;
    }
    piece.order.resize(position->size());
    for (std::uint32_t t = 0; t < position->size(); ++t) piece.order[(*position)[t]] = t;
    list_parts(c);
  }
  begin();
  keep_tensors();
}

LabelRounds::~LabelRounds() = default;

/// What lies in a tensor, or in a resident buffer of the class's program.
void LabelRounds::list_parts(std::uint32_t number) {
  const Class& its = division_.classes[number];
  Piece& piece = classes_[number];
  const ir::AccessMap& map = piece.subject->accesses;
  for (std::uint32_t s = 0; s < map.segments.size(); ++s) {
    const ir::Segment& segment = map.segments[s];
    const ir::Storage& storage = map.storages[segment.storage];
    if (storage.kind == ir::Storage::Kind::fifo) continue;
    for (std::uint32_t i = 0; i < its.touched.size(); ++i) {
      const Touched& what = its.touched[i];
      if (what.tensor != (storage.kind == ir::Storage::Kind::tensor)) continue;
      std::uint64_t base = 0;
      if (what.tensor) {
        if (storage.object != what.object) continue;
      } else {
        const ir::Buffer& buffer = piece.program.buffers[what.object];
        if (buffer.site != storage.site || buffer.space != storage.space ||
            segment.low < buffer.address || segment.high > buffer.address + buffer.bytes())
          continue;
        base = buffer.address;
      }
      piece.parts.push_back({s, i, {segment.low - base, segment.high - base}});
      break;
    }
  }
}

/// As the program starts.
void LabelRounds::begin() {
  tensors_.resize(program_.tensors.size());
  buffers_.resize(program_.buffers.size());
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const ir::Tensor& tensor = program_.tensors[t];
    if (tensor.view) continue;
    const LabelId label = tensor.owner ? labels_.own(*tensor.owner) : shard::kReplicated;
    tensors_[t].emplace(0, Run{tensor.rows * tensor.cols, label});
  }
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const ir::Buffer& buffer = program_.buffers[b];
    if (!buffer.view && is_resident(program_, b))
      buffers_[b].emplace(0, Run{buffer.bytes(), shard::kReplicated});
  }
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const ir::Buffer& buffer = program_.buffers[b];
    if (buffer.init != ir::Init::external) continue;
    if (!is_resident(program_, b)) {
      obstacle_ = fmt::format("the host fills buffer {}, which is not resident", buffer.name);
      return;
    }
    const std::uint32_t base = base_buffer(program_, b);
    const std::uint64_t low = buffer.address - program_.buffers[base].address;
    assign(buffers_[base], {low, low + buffer.bytes()}, labels_.own(buffer.site.chip));
  }
}

void LabelRounds::keep_tensors() {
  kept_.resize(program_.tensors.size());
  std::vector<std::string> carried = program_.carried;
  std::sort(carried.begin(), carried.end());
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const ir::Tensor& tensor = program_.tensors[t];
    if (program_.execution == ir::Execution::once && tensor.role != ir::TensorRole::state &&
        !std::binary_search(carried.begin(), carried.end(), tensor.name))
      continue;
    std::uint64_t low = 0;
    for (std::uint32_t v = t; program_.tensors[v].view; v = program_.tensors[v].view->base.value())
      low += program_.tensors[v].view->offset;
    kept_[base_tensor(program_, t)].push_back({low, low + tensor.rows * tensor.cols});
  }
}

void LabelRounds::assign(Runs& all, const Interval& where, LabelId label) {
  const auto cut = [&](std::uint64_t at) {
    auto next = all.lower_bound(at);
    if (next == all.begin()) return;
    const auto run = std::prev(next);
    if (run->second.high <= at) return;
    const Run second = run->second;
    run->second.high = at;
    all.emplace_hint(next, at, second);
  };
  cut(where.low);
  cut(where.high);
  const auto first = all.lower_bound(where.low);
  all.erase(first, all.lower_bound(where.high));
  all[where.low] = {where.high, label};
}

const LabelRounds::Effect* LabelRounds::effect(std::uint32_t number,
                                               const std::vector<LabelId>& found) {
  Piece& piece = classes_[number];
  if (const auto known = piece.effects.find(found); known != piece.effects.end())
    return &known->second;
  const Subject& subject = *piece.subject;
  std::vector<LabelId> contents(subject.accesses.segments.size(), shard::kReplicated);
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
  for (const Part& part : piece.parts) effect.left.push_back(run.contents()[part.segment]);
  return &piece.effects.emplace(found, std::move(effect)).first->second;
}

std::optional<std::string> LabelRounds::section(std::size_t at) {
  const std::uint32_t number = division_.class_of[at];
  const Class& its = division_.classes[number];
  const std::uint32_t* const objects = division_.objects.data() + division_.first_object[at];
  const Piece& piece = classes_[number];
  std::vector<LabelId> found;
  for (const Part& part : piece.parts) {
    const Runs& all = runs(its.touched[part.touched], objects[part.touched]);
    auto run = std::prev(all.upper_bound(part.where.low));
    found.push_back(run->second.label);
    for (; run->second.high < part.where.high; ++run) {
      if (std::next(run)->second.label != found.back())
        return "what a section touches derives from other data in its parts";
    }
  }
  const Effect* const left = effect(number, found);
  if (left == nullptr) {
    return fmt::format("section {}: {}", program_.sections[division_.sections[at]].name, leak_);
  }
  stores_ += left->stores;
  for (std::size_t p = 0; p < piece.parts.size(); ++p) {
    if (left->left[p] == found[p]) continue;
    const Part& part = piece.parts[p];
    assign(runs(its.touched[part.touched], objects[part.touched]), part.where, left->left[p]);
  }
  return std::nullopt;
}

/// What is not kept begins anew.
void LabelRounds::restart() {
  if (program_.execution == ir::Execution::persistent) return;
  for (std::uint32_t t = 0; t < program_.tensors.size(); ++t) {
    const ir::Tensor& tensor = program_.tensors[t];
    if (tensor.view) continue;
    const LabelId label = tensor.owner ? labels_.own(*tensor.owner) : shard::kReplicated;
    Runs fresh;
    fresh.emplace(0, Run{tensor.rows * tensor.cols, label});
    for (const Interval& interval : kept_[t]) {
      for (const auto& [low, run] : tensors_[t]) {
        const std::uint64_t from = std::max(low, interval.low);
        const std::uint64_t to = std::min(run.high, interval.high);
        if (from < to) assign(fresh, {from, to}, run.label);
      }
    }
    tensors_[t] = std::move(fresh);
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

void LabelRounds::remember() {
  remembered_tensors_ = tensors_;
  remembered_buffers_ = buffers_;
}

bool LabelRounds::recurs() const {
  const auto same = [&](const Runs& a, const Runs& b) {
    auto x = a.begin(), y = b.begin();
    while (x != a.end() && y != b.end()) {
      if (!labels_.alike(x->second.label, y->second.label)) return false;
      const std::uint64_t high = std::min(x->second.high, y->second.high);
      if (x->second.high == high && y->second.high == high) {
        ++x;
        ++y;
      } else {
        ++(x->second.high == high ? x : y);
      }
    }
    return x == a.end() && y == b.end();
  };
  return tensors_.size() == remembered_tensors_.size() &&
         std::equal(tensors_.begin(), tensors_.end(), remembered_tensors_.begin(), same) &&
         std::equal(buffers_.begin(), buffers_.end(), remembered_buffers_.begin(), same);
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
