#include "proofs/composition/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::proofs::composition {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

/// Ops [begin, end) of one engine program at one boundary.
struct Part {
  const ir::Op* begin = nullptr;
  const ir::Op* end = nullptr;
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

bool is(const ir::Op& op, ir::OpCode code, std::uint32_t semaphore, std::int64_t count) {
  return op.code == code && op.object == semaphore && op.count == count;
}

class Examination {
 public:
  Examination(const ir::Program& program, const ir::Phases& phases)
      : program_(program),
        phases_(phases),
        at_(program.programs.size(), 0),
        posted_(program.semaphores.size(), 0),
        waited_(program.semaphores.size(), 0),
        last_(program.semaphores.size(), kNone),
        first_(program.semaphores.size(), 0) {
    out_.semaphores.assign(program.semaphores.size(), 0);
    for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
      if (!program.programs[p].ops.empty()) participants_.push_back(p);
    }
  }

  std::variant<Meeting, std::string> run() {
    const auto boundaries = static_cast<std::uint32_t>(phases_.closed.size());
    if (boundaries == 0) return std::move(out_);
    const bool around = program_.execution == ir::Execution::persistent;
    if (around && boundaries < 2) return std::string("a single rendezvous is its own neighbour");
    out_.participants = static_cast<std::uint32_t>(participants_.size());
    for (std::uint32_t k = 0; k < boundaries; ++k) {
      const char* const wrong = rendezvous(k, around && k + 1 == boundaries);
      if (wrong != nullptr) {
        const ir::Boundary& boundary = program_.boundaries[phases_.closed[k].value()];
        return fmt::format("the boundary after section {}: {}",
                           program_.sections[boundary.after.value()].name, wrong);
      }
    }
    // A span of a boundary that is left over was none of a participant's one part in it.
    for (const std::uint32_t p : participants_) {
      if (next(p) != nullptr) return std::string("an engine program has another part in it");
    }
    out_.used = static_cast<std::uint64_t>(
        std::count(out_.semaphores.begin(), out_.semaphores.end(), char{1}));
    return std::move(out_);
  }

 private:
  /// The next span of a boundary, if there is one.
  const ir::Span* next(std::uint32_t p) {
    const auto& spans = program_.programs[p].spans;
    while (at_[p] < spans.size() && !spans[at_[p]].boundary.valid()) ++at_[p];
    return at_[p] < spans.size() ? &spans[at_[p]] : nullptr;
  }

  const char* rendezvous(std::uint32_t k, bool last_around) {
    releases_.clear();
    std::uint32_t root = kNone;
    std::vector<Part>& parts = parts_;
    parts.clear();
    for (const std::uint32_t p : participants_) {
      const ir::Span* const span = next(p);
      if (span == nullptr || span->boundary != phases_.closed[k])
        return "an engine program takes no part in it";
      ++at_[p];
      const ir::Op* const ops = program_.programs[p].ops.data();
      parts.push_back({ops + span->begin, ops + span->end});
      out_.ops += parts.back().size();
      if (parts.back().size() == 2) continue;
      if (root != kNone) return "it has two roots";
      root = static_cast<std::uint32_t>(parts.size() - 1);
    }
    if (root == kNone) return "it has no root";
    if (root_ == kNone) root_ = root;
    if (root != root_) return "its root is another one";
    if (const char* wrong = gather(parts[root])) return wrong;
    if (const char* wrong = release(parts[root], k, last_around)) return wrong;
    for (const Part& part : parts) {
      if (!is(part.begin[0], ir::OpCode::post, arrival_, 1)) return "an arrival is missing";
      const ir::Op& last = part.end[-1];
      if (last.code != ir::OpCode::wait || last.count != 1) return "a release is not waited for";
      if (last.object == arrival_) return "an arrival is taken for a release";
      ++waited_[last.object];
      // Who waits for what is not posted.
      if (waited_[last.object] > posted_[last.object]) return "a release is not posted";
    }
    for (const std::uint32_t r : releases_) {
      if (waited_[r] != posted_[r]) return "more is released than waits for it";
      waited_[r] = posted_[r] = 0;
    }
    return nullptr;
  }

  const char* gather(const Part& root) {
    if (root.size() < 4) return "its root has too few ops";
    const auto all = static_cast<std::int64_t>(participants_.size());
    if (arrival_ == kNone) {
      if (root.begin[0].code != ir::OpCode::post) return "an arrival is missing";
      arrival_ = root.begin[0].object;
      out_.semaphores[arrival_] = 1;
      const ir::Semaphore& semaphore = program_.semaphores[arrival_];
      if (semaphore.initial != 0 || semaphore.maximum < all)
        return "the arrival does not count from 0 to all";
    }
    return is(root.begin[1], ir::OpCode::wait, arrival_, all) ? nullptr : "it does not gather all";
  }

  const char* release(const Part& root, std::uint32_t k, bool last_around) {
    for (const ir::Op* op = root.begin + 2; op != root.end - 1; ++op) {
      if (op->code != ir::OpCode::post || op->count < 1) return "its root does something else";
      const std::uint32_t r = op->object;
      if (r == arrival_) return "an arrival is a release too";
      if (last_[r] == k) return "a release is posted twice";
      if (k > 0 && last_[r] == k - 1) return "it has a release of the rendezvous before";
      if (last_around && first_[r] != 0) return "it has a release of the rendezvous after";
      const ir::Semaphore& semaphore = program_.semaphores[r];
      if (semaphore.initial != 0 || semaphore.maximum < op->count)
        return "a release does not count from 0 to those that wait";
      last_[r] = k;
      if (k == 0) first_[r] = 1;
      out_.semaphores[r] = 1;
      posted_[r] = op->count;
      releases_.push_back(r);
    }
    return nullptr;
  }

  const ir::Program& program_;
  const ir::Phases& phases_;
  std::vector<std::uint32_t> participants_;
  std::vector<std::size_t> at_;                ///< per engine program: the span it has come to
  std::vector<std::int64_t> posted_, waited_;  ///< per semaphore, at the boundary at hand
  std::vector<std::uint32_t> last_;            ///< per semaphore: the last boundary it releases
  std::vector<char> first_;                    ///< per semaphore: does it release the first one?
  std::uint32_t arrival_ = kNone;
  std::uint32_t root_ = kNone;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> releases_;  ///< of the boundary at hand
  Meeting out_;
};

}  // namespace

std::variant<Meeting, std::string> meeting(const ir::Program& program, const ir::Phases& phases) {
  return Examination(program, phases).run();
}

}  // namespace spatialcert::proofs::composition
