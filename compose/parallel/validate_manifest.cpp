// What a manifest must satisfy beyond its shape.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "compose/parallel/manifest.hpp"
#include "compose/parallel/sharding.hpp"
#include "compose/parallel/slices.hpp"

namespace spatialcert::compose::parallel {
namespace {

class Validation {
 public:
  explicit Validation(const Manifest& manifest) : manifest_(manifest) {}

  void run() {
    if (manifest_.chips == 0) refuse("$.chips", "at least 1", "0");
    owners();
    quantised();
    sharding_.emplace(manifest_);
    for (std::size_t f = 0; f < manifest_.full.size(); ++f) full(f);
    statements();
    for (std::size_t c = 0; c < manifest_.collectives.size(); ++c) collective(c);
  }

 private:
  [[noreturn]] static void refuse(std::string path, std::string expected, std::string found) {
    throw ir::Refusal{"", 0, std::move(path), std::move(expected), std::move(found)};
  }
  static std::string quoted(std::string_view name) { return fmt::format("\"{}\"", name); }
  static void not_empty(const std::string& name, const std::string& path) {
    if (name.empty()) refuse(path, "text that is not empty", "\"\"");
  }
  static std::string chip_text(std::optional<std::uint32_t> chip) {
    return chip ? fmt::format("chip {}", *chip) : "the spine";
  }

  void owners() const {
    for (const auto& [tensor, chip] : manifest_.owners) {
      not_empty(tensor, "$.owners");
      if (chip < manifest_.chips) continue;
      refuse("$.owners", fmt::format("a chip below {} for {}", manifest_.chips, quoted(tensor)),
             fmt::format("{}", chip));
    }
  }

  void quantised() const {
    std::unordered_set<std::string_view> seen;
    for (std::size_t q = 0; q < manifest_.quantised.size(); ++q) {
      const Quantised& weight = manifest_.quantised[q];
      const auto owner = manifest_.owners.find(weight.weight);
      for (const auto& [member, name] :
           {std::pair{"weight", &weight.weight}, std::pair{"values", &weight.values},
            std::pair{"scales", &weight.scales}}) {
        const std::string path = fmt::format("$.quantised[{}].{}", q, member);
        not_empty(*name, path);
        if (!seen.insert(*name).second) refuse(path, "a name that occurs once", quoted(*name));
        const auto own = manifest_.owners.find(*name);
        if (own == manifest_.owners.end()) continue;
        if (owner == manifest_.owners.end() || owner->second != own->second) {
          refuse(path, fmt::format("{} on the chip of its weight {}", *name, quoted(weight.weight)),
                 fmt::format("chip {}", own->second));
        }
      }
    }
  }

  void full(std::size_t number) {
    const FullTensor& tensor = manifest_.full[number];
    const std::string path = fmt::format("$.slices[{}]", number);
    not_empty(tensor.name, path + ".full");
    if (!names_.insert(tensor.name).second)
      refuse(path + ".full", "a full tensor once", quoted(tensor.name));
    not_empty(tensor.dimension, path + ".dimension");
    if (tensor.rows == 0) refuse(path + ".rows", "at least 1", "0");
    if (tensor.cols == 0) refuse(path + ".cols", "at least 1", "0");
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(tensor.rows, tensor.cols, &elements))
      refuse(path + ".rows", "fewer than 2^63 elements",
             fmt::format("{} x {}", tensor.rows, tensor.cols));
    if (tensor.copies == 0) refuse(path + ".copies", "at least 1", "0");
    const std::size_t parts = tensor.parts.size();
    if (parts == 0) refuse(path + ".parts", "at least one part", "none");
    if (tensor.copies > parts) {
      refuse(path + ".copies", fmt::format("at most {}, the number of parts", parts),
             fmt::format("{}", tensor.copies));
    }
    const FullTensor& first = *along_.emplace(tensor.dimension, &tensor).first->second;
    if (first.parts.size() != parts) {
      refuse(path + ".parts",
             fmt::format("{} parts, as {} has along the same dimension", first.parts.size(),
                         quoted(first.name)),
             fmt::format("{}", parts));
    }
    for (std::size_t p = 0; p < tensor.parts.size(); ++p)
      part(tensor, tensor.parts[p], fmt::format("{}.parts[{}]", path, p));
  }

  void part(const FullTensor& full, const Part& part, const std::string& path) {
    not_empty(part.tensor, path + ".tensor");
    if (!parts_.insert(part.tensor).second)
      refuse(path + ".tensor", "a part of one full tensor", quoted(part.tensor) + " again");
    if (!sharding_->owner(part.tensor))
      refuse(path + ".tensor", "a tensor that a chip owns", quoted(part.tensor));
    if (part.ranges.empty()) refuse(path + ".ranges", "at least one range", "none");
    const std::uint64_t size = full.axis == ir::Axis::rows ? full.rows : full.cols;
    std::uint64_t left = size;  // so that lengths cannot overflow: no part is longer than the whole
    for (std::size_t r = 0; r < part.ranges.size(); ++r) {
      const ir::IndexRange& range = part.ranges[r];
      const std::string at = fmt::format("{}.ranges[{}]", path, r);
      if (range.begin >= range.end || range.end > size) {
        refuse(at, fmt::format("a range of [0, {}) that is not empty", size),
               fmt::format("[{}, {}]", range.begin, range.end));
      }
      if (range.end - range.begin > left) {
        refuse(at,
               fmt::format("at most the {} {} of the full tensor together", size,
                           to_string(full.axis)),
               "more");
      }
      left -= range.end - range.begin;
    }
  }

  void statements() {
    for (std::size_t s = 0; s < manifest_.statements.size(); ++s) {
      const SourceOp& op = manifest_.statements[s];
      const std::string path = fmt::format("$.statements[{}]", s);
      if (op.members.empty()) refuse(path + ".fused", "at least one statement", "none");
      for (const Statement& statement : op.members) {
        not_empty(statement.name, path + ".binds");
        for (const std::string& name : statement.reads) not_empty(name, path + ".reads");
        const auto [known, fresh] = bound_.emplace(statement.name, Binding{&statement, true});
        if (!fresh) known->second.once = false;
      }
    }
  }

  void collective(std::size_t number) {
    const Collective& one = manifest_.collectives[number];
    const std::string path = fmt::format("$.collectives[{}]", number);
    not_empty(one.out, path + ".out");
    if (!outs_.insert(one.out).second)
      refuse(path + ".out", "the result of one collective", quoted(one.out) + " again");
    if (const auto owner = sharding_->owner(one.out)) {
      refuse(path + ".out", "a tensor that no chip owns",
             fmt::format("{} of chip {}", quoted(one.out), *owner));
    }
    if (manifest_.chips < 2) refuse(path, "no collective, as there is one chip", quoted(one.out));
    if (one.partials.size() != manifest_.chips) {
      refuse(path + ".partials", fmt::format("one of each of the {} chips", manifest_.chips),
             fmt::format("{}", one.partials.size()));
    }
    for (std::uint32_t c = 0; c < one.partials.size(); ++c) {
      const std::string at = fmt::format("{}.partials[{}]", path, c);
      not_empty(one.partials[c], at);
      const auto owner = sharding_->owner(one.partials[c]);
      if (owner != c) {
        refuse(at, fmt::format("a tensor of chip {}", c),
               fmt::format("{} of {}", quoted(one.partials[c]), chip_text(owner)));
      }
    }
    folds(one, path + ".folds");
  }

  /// Every fold adds partials and what earlier folds have made, each once, and the last makes out.
  void folds(const Collective& one, const std::string& path) {
    if (one.folds.empty() || one.folds.back() != one.out)
      refuse(path, fmt::format("folds of which the last binds {}", quoted(one.out)),
             one.folds.empty() ? "none" : quoted(one.folds.back()));
    std::unordered_set<std::string_view> open(one.partials.begin(), one.partials.end());
    for (std::size_t f = 0; f < one.folds.size(); ++f) {
      const std::string& name = one.folds[f];
      const std::string at = fmt::format("{}[{}]", path, f);
      if (!folds_.insert(name).second) refuse(at, "a fold once", quoted(name) + " again");
      const auto found = bound_.find(name);
      if (found == bound_.end() || !found->second.once)
        refuse(at, "a name that the statements bind, once", quoted(name));
      const Statement& fold = *found->second.statement;
      if (fold.op != ir::OpKind::add)
        refuse(at, "a statement that adds", fmt::format("\"{}\"", to_string(fold.op)));
      for (const std::string& read : fold.reads) {
        if (open.erase(read) == 0)
          refuse(at, "partials and results of earlier folds, each added once", quoted(read));
      }
      open.insert(name);
    }
    if (open.size() == 1) return;
    for (const std::string& partial : one.partials) {
      if (open.count(partial) != 0)
        refuse(path, "a sum of all partials", fmt::format("one without {}", quoted(partial)));
    }
    refuse(path, fmt::format("folds that all go into {}", quoted(one.out)), "one that does not");
  }

  struct Binding {
    const Statement* statement = nullptr;
    bool once = true;
  };

  const Manifest& manifest_;
  std::optional<Sharding> sharding_;
  std::unordered_set<std::string_view> names_, parts_, outs_, folds_;
  std::unordered_map<std::string_view, const FullTensor*> along_;  // first of each dimension
  std::unordered_map<std::string_view, Binding> bound_;
};

}  // namespace

ir::Status validate(const Manifest& manifest) {
  try {
    Validation(manifest).run();
    return std::nullopt;
  } catch (ir::Refusal& refusal) {
    return std::move(refusal);
  }
}

}  // namespace spatialcert::compose::parallel
