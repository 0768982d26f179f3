#include <algorithm>

#include "proofs/flow/rule.hpp"
#include "proofs/issues.hpp"

namespace spatialcert::proofs::flow {
namespace {

/// Declared producers per buffer: (consumer, producer) stages.
using Declared = std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

Declared declared_edges(const ir::Program& program) {
  Declared out(program.buffers.size());
  for (const ir::Edge& e : program.edges)
    out[e.buffer.value()].emplace_back(e.consumer.value(), e.producer.value());
  return out;
}

class SourceVisitor final : public ordering::NeighbourVisitor {
 public:
  explicit SourceVisitor(const Subject& subject)
      : subject_(subject),
        declared_(declared_edges(*subject.program)),
        with_contents_(with_contents(*subject.program)) {}

  void on_read(std::uint32_t read, std::uint32_t segment, std::uint32_t writer) override {
    // What a read of a further iteration sees may be written after the judged ones.
    if (subject_.stretch.iteration(transition(read)) >= kPersistentIterations) return;
    ++out.reads;
    const ir::Region& region =
        subject_.program->accesses[subject_.accesses.accesses[read].access].region;
    const bool written = writer != ordering::kNoAccess;
    const bool defined =
        written ? outlives(*subject_.program, subject_.stretch, region, transition(writer),
                           transition(read))
                : subject_.accesses.segments[segment].init != ir::Init::undefined &&
                      begins_with_contents(region) &&
                      outlives_start(*subject_.program, subject_.stretch, region, transition(read));
    if (!defined) return report(Rejected::Reason::undefined_read, read, segment, writer);
    if (writer != ordering::kNoAccess) need(writer, read);
    if (!producer_is_declared(read, writer))
      report(Rejected::Reason::wrong_producer, read, segment, writer);
  }
  void on_write(std::uint32_t, std::uint32_t, std::uint32_t) override {}

  Sources out;

 private:
  [[nodiscard]] ir::TransitionId transition(std::uint32_t access) const {
    return subject_.accesses.accesses[access].transition;
  }
  [[nodiscard]] std::uint32_t stage(std::uint32_t access) const {
    return subject_.stretch.op_of(*subject_.program, transition(access)).object;
  }

  [[nodiscard]] bool begins_with_contents(const ir::Region& region) const {
    return region.kind != ir::RegionKind::bytes || with_contents_[region.object] != 0;
  }

  void need(std::uint32_t writer, std::uint32_t read) {
    const std::uint32_t w = transition(writer).value(), r = transition(read).value();
    if (subject_.stretch.program[w] == subject_.stretch.program[r]) return;
    if (out.needed.empty() || out.needed.back() != std::pair(w, r)) out.needed.emplace_back(w, r);
  }

  /// No edge declared for the consumer: nothing to compare with. Otherwise the writer must be one
  /// of the producers; the initial contents are nobody's product, except in the first iteration of
  /// a persistent program.
  bool producer_is_declared(std::uint32_t read, std::uint32_t writer) {
    const ir::Region& region =
        subject_.program->accesses[subject_.accesses.accesses[read].access].region;
    if (region.kind == ir::RegionKind::tensor || declared_[region.object].empty())
      return ++out.undeclared, true;
    bool any = false;
    for (const auto& [consumer, producer] : declared_[region.object]) {
      if (consumer != stage(read)) continue;
      any = true;
      if (writer != ordering::kNoAccess && producer == stage(writer)) return true;
    }
    if (!any) return ++out.undeclared, true;
    if (writer == ordering::kNoAccess) {
      return subject_.persistent() && subject_.stretch.iteration(transition(read)) == 0;
    }
    const auto& stages = subject_.program->stages;
    return stages[stage(read)].section != stages[stage(writer)].section;
  }

  void report(Rejected::Reason reason, std::uint32_t read, std::uint32_t segment,
              std::uint32_t writer) {
    if (!out.bad) out.bad = BadRead{reason, read, segment, writer};
  }

  const Subject& subject_;
  Declared declared_;
  std::vector<char> with_contents_;  ///< per buffer
};

}  // namespace

Sources sources(const Subject& subject, const std::vector<std::uint32_t>& position) {
  SourceVisitor visitor(subject);
  ordering::visit_neighbours(subject, position, visitor);
  auto& needed = visitor.out.needed;
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return std::move(visitor.out);
}

Check check(const Subject& subject, const Witness&) {
  const auto position = linear_extension(subject);
  if (!position || subject.accesses.limit || !subject.accesses.faults.empty()) {
    return Rejected{Rejected::Reason::missing_obligation, "the accesses cannot be put in order"};
  }
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  const Sources found = sources(subject, *position);
  if (found.bad) {
    const auto t = subject.accesses.accesses[found.bad->read].transition;
    return Rejected{found.bad->reason, transition_text(*subject.program, subject.stretch, t)};
  }
  return Accepted{found.reads};
}

}  // namespace spatialcert::proofs::flow
