// Regions of accesses and postconditions.
#include <fmt/format.h>

#include <algorithm>

#include "ir/io/validation.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr const char* kBoundKeys[] = {"rows[0]", "rows[1]", "cols[0]", "cols[1]"};
constexpr const char* kByteKeys[] = {"bytes[0]", "bytes[1]"};

std::uint64_t length(const Region& region, int first) {
  return static_cast<std::uint64_t>(region.bound[first + 1] - region.bound[first]);
}

}  // namespace

std::string Validation::region_path() const {
  if (at_postcondition_ != kNone) {
    const std::string path = fmt::format("$.postconditions[{}]", at_postcondition_);
    return at_term_ == kNone ? path + ".region" : fmt::format("{}.sum[{}]", path, at_term_);
  }
  const Op& op = program_.programs[at_program_].ops[at_op_];
  const auto first = program_.accesses.begin() + op.first_access;
  const auto reads = static_cast<std::uint32_t>(std::count_if(
      first, first + op.accesses, [](const Access& access) { return !access.write; }));
  const std::string path = op_path(at_program_, at_op_);
  return at_access_ < reads ? fmt::format("{}.reads[{}]", path, at_access_)
                            : fmt::format("{}.writes[{}]", path, at_access_ - reads);
}

void Validation::check_region(const Region& region, std::uint32_t depth) const {
  check_region_object(region);
  const std::uint32_t affine = region.terms == 0 ? 0 : check_terms(region, depth);
  switch (region.kind) {
    case RegionKind::tensor:
      check_bounds(region, affine, 0, program_.tensors[region.object].rows, "rows");
      check_bounds(region, affine, 2, program_.tensors[region.object].cols, "cols");
      break;
    case RegionKind::bytes:
      check_bounds(region, affine, 0, program_.buffers[region.object].bytes(), "bytes");
      break;
    case RegionKind::page:
      check_bounds(region, affine, 0, program_.buffers[region.object].page_bytes, "bytes");
      break;
  }
}

void Validation::check_region_object(const Region& region) const {
  if (region.kind == RegionKind::tensor) {
    if (region.object >= program_.tensors.size()) refuse(region_path(), "a declared tensor");
    return;
  }
  if (region.object >= program_.buffers.size()) refuse(region_path(), "a declared buffer");
  const Buffer& buffer = program_.buffers[region.object];
  const bool fifo = buffer.kind == BufferKind::fifo;
  const auto found = [&] {
    return fmt::format("\"{}\" of kind {}", buffer.name, to_string(buffer.kind));
  };
  if (region.kind == RegionKind::page) {
    if (!fifo) refuse(region_path() + ".fifo", "a buffer of kind fifo", found());
    if (region.page >= buffer.pages) {
      refuse(region_path() + ".page", fmt::format("a page below {}", buffer.pages),
             fmt::format("{}", region.page));
    }
    return;
  }
  if (fifo) refuse(region_path() + ".buffer", "a buffer that is not a fifo", found());
  if (at_postcondition_ != kNone) return;
  const Site& site = program_.programs[at_program_].site;
  if (buffer.site != site) {
    refuse(region_path() + ".buffer",
           fmt::format("a buffer on the program's own site {}", to_text(site)),
           fmt::format("\"{}\" on {}", buffer.name, to_text(buffer.site)));
  }
}

// Returns the bounds that have terms, as bits.
std::uint32_t Validation::check_terms(const Region& region, std::uint32_t depth) const {
  const std::size_t all = program_.affine_terms.size();
  if (region.first_term > all || region.terms > all - region.first_term) {
    refuse(region_path(), "affine terms of the program");
  }
  const std::uint32_t bounds = region.kind == RegionKind::tensor ? 4 : 2;
  std::uint64_t seen[4] = {0, 0, 0, 0};
  std::uint32_t affine = 0;
  for (std::uint32_t i = 0; i < region.terms; ++i) {
    const AffineTerm& term = program_.affine_terms[region.first_term + i];
    if (term.bound >= bounds) refuse(region_path(), fmt::format("terms of its {} bounds", bounds));
    const auto path = [&] {
      const char* const key = bounds == 4 ? kBoundKeys[term.bound] : kByteKeys[term.bound];
      return fmt::format("{}.{}.i{}", region_path(), key, term.level);
    };
    if (term.level >= depth) {
      refuse(path(), fmt::format("one of the {} enclosing loops", depth),
             fmt::format("i{}", term.level));
    }
    if ((seen[term.bound] >> term.level & 1U) != 0) refuse(path(), "every loop once", "it again");
    seen[term.bound] |= std::uint64_t{1} << term.level;
    affine |= 1U << term.bound;
  }
  return affine;
}

// Bounds that depend on loops are checked when their values are known, not here.
void Validation::check_bounds(const Region& region, std::uint32_t affine, int first,
                              std::uint64_t size, const char* key) const {
  const bool low_known = (affine >> first & 1U) == 0;
  const bool high_known = (affine >> (first + 1) & 1U) == 0;
  const std::int64_t low = region.bound[first];
  const std::int64_t high = region.bound[first + 1];
  const auto limit = static_cast<std::int64_t>(size);  // sizes are below 2^63
  const bool low_good = !low_known || (low >= 0 && low < limit);
  const bool high_good = !high_known || (high > 0 && high <= limit);
  if (low_good && high_good && (!low_known || !high_known || low < high)) return;
  refuse(fmt::format("{}.{}", region_path(), key),
         fmt::format("a range [begin, end) with 0 <= begin < end <= {}", size),
         fmt::format("[{}, {})", low_known ? fmt::format("{}", low) : "...",
                     high_known ? fmt::format("{}", high) : "..."));
}

void Validation::check_postconditions() {
  const auto bytes = [&](const Region& region) {
    if (region.kind != RegionKind::tensor) return length(region, 0);
    return length(region, 0) * length(region, 2) * size_of(program_.tensors[region.object].dtype);
  };
  const auto check_one = [&](const Region& region) {
    if (region.kind == RegionKind::page) {
      refuse(region_path() + ".fifo", "a region of a tensor or of a buffer's bytes",
             "a FIFO's page");
    }
    if (region.terms != 0) refuse(region_path(), "constant bounds", "affine ones");
    check_region(region, 0);
  };
  for (std::uint32_t i = 0; i < program_.postconditions.size(); ++i) {
    const Postcondition& postcondition = program_.postconditions[i];
    const Region& whole = postcondition.region;
    at_postcondition_ = i;
    at_term_ = kNone;
    check_one(whole);
    if (postcondition.terms.empty()) {
      refuse(fmt::format("$.postconditions[{}].sum", i), "at least one region", "none");
    }
    for (at_term_ = 0; at_term_ < postcondition.terms.size(); ++at_term_) {
      const Region& term = postcondition.terms[at_term_];
      check_one(term);
      const bool tensors = whole.kind == RegionKind::tensor && term.kind == RegionKind::tensor;
      if (tensors && (length(whole, 0) != length(term, 0) || length(whole, 2) != length(term, 2))) {
        refuse(region_path(), fmt::format("{} x {} elements", length(whole, 0), length(whole, 2)),
               fmt::format("{} x {}", length(term, 0), length(term, 2)));
      }
      // Sums are formed element by element: bytes of different types have none.
      if (tensors) {
        const DType wanted = program_.tensors[whole.object].dtype;
        const DType given = program_.tensors[term.object].dtype;
        if (wanted != given) {
          refuse(region_path(), fmt::format("elements of type {}", to_string(wanted)),
                 std::string(to_string(given)));
        }
      }
      if (!tensors && bytes(whole) != bytes(term)) {
        refuse(region_path(), fmt::format("{} bytes", bytes(whole)),
               fmt::format("{} bytes", bytes(term)));
      }
    }
  }
  at_postcondition_ = kNone;
}

}  // namespace spatialcert::ir::io
