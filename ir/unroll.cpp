#include "ir/unroll.hpp"

#include <algorithm>
#include <array>

#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

using Ops = std::vector<Op>;

/// Instances of one pass over ops [begin, end), saturating at `limit` + 1.
std::uint64_t instances(const Ops& ops, std::uint32_t begin, std::uint32_t end,
                        std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = begin; i < end && sum <= limit;) {
    const Op& op = ops[i];
    if (op.code != OpCode::repeat) {
      ++sum;
      ++i;
      continue;
    }
    const std::uint64_t body = instances(ops, i + 1, i + 1 + op.body, limit);
    const auto trips = static_cast<std::uint64_t>(std::max<std::int64_t>(op.count, 0));
    if (body != 0 && trips > limit / body) return limit + 1;
    sum += body * trips;
    i += 1 + op.body;
  }
  return std::min(sum, limit + 1);
}

std::uint32_t outermost_over_limit(const Ops& ops, std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < ops.size();) {
    const std::uint32_t next = i + 1 + (ops[i].code == OpCode::repeat ? ops[i].body : 0);
    sum += instances(ops, i, next, limit);
    if (sum > limit) return i;
    i = next;
  }
  return 0;
}

class Emitter {
 public:
  Emitter(Unrolled& out, const Ops& ops) : out_(out), ops_(ops) {}

  void emit(std::uint32_t begin, std::uint32_t end, std::uint32_t context) {
    for (std::uint32_t i = begin; i < end;) {
      const Op& op = ops_[i];
      if (op.code != OpCode::repeat) {
        out_.op.push_back(i);
        out_.context.push_back(context);
        ++i;
        continue;
      }
      const std::uint32_t depth = out_.contexts[context].depth + 1;
      for (std::int64_t trip = 0; op.body != 0 && trip < op.count; ++trip) {
        const auto inner = static_cast<std::uint32_t>(out_.contexts.size());
        out_.contexts.push_back({context, depth, trip});
        emit(i + 1, i + 1 + op.body, inner);
      }
      i += 1 + op.body;
    }
  }

 private:
  Unrolled& out_;
  const Ops& ops_;
};

}  // namespace

std::variant<Unrolled, UnrollLimit> unroll(const Program& program, std::uint32_t iterations,
                                           std::uint64_t limit) {
  SPATIALCERT_REQUIRE(iterations >= 1, "a program has at least one iteration");
  SPATIALCERT_REQUIRE(limit <= 0x7fffffffU, "transitions are numbered in 31 bits");
  std::uint64_t total = 0;
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    const Ops& ops = program.programs[p].ops;
    const std::uint64_t n = instances(ops, 0, static_cast<std::uint32_t>(ops.size()), limit);
    total += n > limit / iterations ? limit + 1 : n * iterations;
    if (total > limit)
      return UnrollLimit{ProgramId(p), outermost_over_limit(ops, limit / iterations), limit};
  }

  Unrolled out;
  out.iterations = iterations;
  out.contexts.push_back({0, 0, 0});
  out.op.reserve(total);
  out.context.reserve(total);
  out.program.reserve(total);
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    const Ops& ops = program.programs[p].ops;
    out.begin.push_back(out.transitions());
    for (std::uint32_t i = 0; i < iterations; ++i) {
      Emitter(out, ops).emit(0, static_cast<std::uint32_t>(ops.size()), 0);
    }
    out.program.resize(out.op.size(), p);
  }
  out.begin.push_back(out.transitions());
  return out;
}

std::optional<std::int64_t> bound_value(const Program& program, const Unrolled& unrolled,
                                        const Region& region, std::uint32_t context, int which) {
  std::int64_t value = region.bound[which];
  for (std::uint32_t t = 0; t < region.terms; ++t) {
    const AffineTerm& term = program.affine_terms[region.first_term + t];
    if (term.bound != which) continue;
    std::uint32_t at = context;
    while (unrolled.contexts[at].depth > term.level + 1U) at = unrolled.contexts[at].parent;
    SPATIALCERT_REQUIRE(unrolled.contexts[at].depth == term.level + 1U, "loop of an affine term");
    std::int64_t product = 0;
    if (__builtin_mul_overflow(term.coefficient, unrolled.contexts[at].index, &product) ||
        __builtin_add_overflow(value, product, &value)) {
      return std::nullopt;
    }
  }
  return value;
}

}  // namespace spatialcert::ir
