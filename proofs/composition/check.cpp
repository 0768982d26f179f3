#include "proofs/composition/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/sections.hpp"
#include "proofs/composition/contents.hpp"
#include "proofs/composition/rendezvous.hpp"
#include "proofs/memory/layout.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::proofs::composition {
namespace {

using Kind = Objection::Kind;
constexpr std::uint32_t kMeeting = 0xfffffffeU;

bool whole_program(const ir::Buffer& buffer) {
  return buffer.lifetime == ir::Lifetime::resident && !buffer.resident_from.valid();
}

class Examination {
 public:
  Examination(const ir::Program& program, Guess& guess)
      : program_(program),
        guess_(guess),
        phases_(ir::phases_of(program)),
        excerpts_(program),
        contents_(program),
        user_of_semaphore_(program.semaphores.size(), kNone),
        user_of_buffer_(program.buffers.size(), kNone) {}

  std::variant<Division, Objection> run() {
    out_.first_object.push_back(0);
    out_.first_tensor.push_back(0);
    if (whole() && memory()) {
      for (std::uint32_t s = 0; s < program_.sections.size(); ++s) {
        if (!section(s)) break;
      }
    }
    if (!objection_ && out_.classes.empty()) object(Kind::values, "no section has an op");
    if (objection_) return *std::move(objection_);
    out_.uses = contents_.uses();
    return std::move(out_);
  }

 private:
  bool object(Kind kind, std::string why) {
    objection_ = Objection{kind, std::move(why)};
    return false;
  }
  bool object_to(std::uint32_t section, Kind kind, const std::string& why) {
    return object(kind, fmt::format("section {}: {}", program_.sections[section].name, why));
  }

  /// Premises 1, 6, and of 2 and 5 what is no matter of one section.
  bool whole() {
    if (!program_.postconditions.empty())
      return object(Kind::values, "declared results are those of all sections together");
    if (!program_.links.empty()) return object(Kind::link, "a declared link joins sections");
    const bool around = program_.execution == ir::Execution::persistent;
    if (around && (phases_.closed.empty() || phases_.in_order.back() + 1 != phases_.closed.size()))
      return object(Kind::wrap_around, "the last boundary of the persistent program is open");
    auto met = meeting(program_, phases_);
    if (auto* wrong = std::get_if<std::string>(&met))
      return object(Kind::rendezvous, std::move(*wrong));
    const Meeting& found = std::get<Meeting>(met);
    for (std::size_t s = 0; s < found.semaphores.size(); ++s) {
      if (found.semaphores[s] != 0) user_of_semaphore_[s] = kMeeting;
    }
    out_.participants = found.participants;
    out_.boundaries = phases_.closed.size();
    out_.rendezvous_ops = found.ops;
    out_.rendezvous_semaphores = found.used;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const ir::Buffer& buffer = program_.buffers[b];
      const ir::Buffer& base = program_.buffers[base_buffer(program_, b)];
      if (buffer.view && (buffer.kind == ir::BufferKind::fifo || base.kind == ir::BufferKind::fifo))
        return object(Kind::fifo_view,
                      fmt::format("buffer {} shares its bytes with a FIFO", buffer.name));
      if (around && buffer.init != ir::Init::undefined && !whole_program(base))
        return object(Kind::lifetime,
                      fmt::format("buffer {} begins with contents once", buffer.name));
    }
    return true;
  }

  /// Premise 3.
  bool memory() {
    for (memory::Occupancy& occupancy : memory::occupancies(program_)) {
      auto& buffers = occupancy.buffers;
      const auto at = [&](ir::BufferId b) -> const ir::Buffer& {
        return program_.buffers[b.value()];
      };
      std::sort(buffers.begin(), buffers.end(),
                [&](ir::BufferId a, ir::BufferId b) { return at(a).address < at(b).address; });
      const ir::MemorySpace& space = program_.target.spaces[occupancy.space.value()];
      std::uint64_t free_from = 0;
      for (const ir::BufferId b : buffers) {
        const ir::Buffer& buffer = at(b);
        if (buffer.address < free_from)
          return object(Kind::memory, fmt::format("buffer {} overlaps another one", buffer.name));
        if (buffer.address % space.alignment != 0)
          return object(Kind::memory, fmt::format("buffer {} is not aligned", buffer.name));
        if (__builtin_add_overflow(buffer.address, buffer.bytes(), &free_from) ||
            free_from > space.bytes)
          return object(Kind::memory, fmt::format("buffer {} does not fit", buffer.name));
        ++out_.placed;
      }
    }
    return true;
  }

  bool section(std::uint32_t s) {
    if (const auto foreign = excerpts_.take(ir::SectionId(s), excerpt_))
      return object_to(s, Kind::edge, *foreign);
    if (excerpt_.ops.empty()) return true;
    if (!alone(s) || !at_home(s)) return false;
    const auto number = class_of(s);
    if (!number) return false;
    Class& its = out_.classes[*number];
    ++its.sections;
    out_.sections.push_back(s);
    out_.class_of.push_back(*number);
    for (const Touched& what : its.touched) out_.objects.push_back(number_of(what));
    out_.first_object.push_back(static_cast<std::uint32_t>(out_.objects.size()));
    if (!program_.sliced.empty()) {
      out_.tensors.insert(out_.tensors.end(), excerpt_.tensors.begin(), excerpt_.tensors.end());
      out_.first_tensor.push_back(static_cast<std::uint32_t>(out_.tensors.size()));
    }
    const Turn turn{s, phases_.of[s], program_.sections[s].source_index};
    for (const Touched& what : its.touched) {
      const auto fault = contents_.touch(turn, number_of(what), what);
      if (!fault) continue;
      const std::string name = name_of(what);
      return *fault == Contents::Fault::shared
                 ? object_to(s, Kind::shared, name + " is touched by another one of its phase")
                 : object_to(s, Kind::reordered, name + " is touched against the source's order");
    }
    return true;
  }

  /// Premise 2: nobody else uses what is its own.
  bool alone(std::uint32_t s) {
    for (const std::uint32_t semaphore : excerpt_.semaphores) {
      if (!claim(user_of_semaphore_[semaphore], s))
        return object_to(
            s, Kind::used_by_many,
            fmt::format("semaphore {} is used elsewhere too", program_.semaphores[semaphore].name));
    }
    for (const std::uint32_t buffer : excerpt_.buffers) {
      if (!is_resident(program_, buffer) && !claim(user_of_buffer_[buffer], s))
        return object_to(
            s, Kind::used_by_many,
            fmt::format("buffer {} is used elsewhere too", program_.buffers[buffer].name));
    }
    return true;
  }
  static bool claim(std::uint32_t& user, std::uint32_t s) {
    if (user == kNone) user = s;
    return user == s;
  }

  /// Premise 5: what is resident between two sections is touched there only.
  bool at_home(std::uint32_t s) {
    for (const std::uint32_t number : excerpt_.buffers) {
      const ir::Buffer& buffer = program_.buffers[base_buffer(program_, number)];
      if (buffer.lifetime != ir::Lifetime::resident || whole_program(buffer)) continue;
      if (s < buffer.resident_from.value() || buffer.resident_to.value() < s)
        return object_to(s, Kind::lifetime,
                         fmt::format("buffer {} is not resident there", buffer.name));
    }
    return true;
  }

  /// Premise 5: a class that it belongs to.
  std::optional<std::uint32_t> class_of(std::uint32_t s) {
    candidates_.clear();
    guess_.candidates(excerpt_, candidates_);
    std::optional<std::uint32_t> same;
    for (const std::uint32_t c : candidates_) {
      if (c >= out_.classes.size() || !alike(program_, out_.classes[c].excerpt, excerpt_)) continue;
      same = c;
      if (finds_what_it_needs(out_.classes[c])) return c;
    }
    if (!guess_.may_found()) {
      object_to(s, Kind::unlike, "it is not like those of its class");
      return std::nullopt;
    }
    Class fresh;
    if (same) {
      fresh.touched = out_.classes[*same].touched;
    } else {
      auto found = touched(program_, excerpt_);
      if (!found) {
        object_to(s, Kind::region, "what it touches cannot be told");
        return std::nullopt;
      }
      fresh.touched = std::move(*found);
    }
    fresh.excerpt = excerpt_;
    for (const Touched& what : fresh.touched) fresh.defined.push_back(is_defined(what) ? 1 : 0);
    out_.classes.push_back(std::move(fresh));
    return static_cast<std::uint32_t>(out_.classes.size() - 1);
  }

  /// Is what begins with contents in the class defined for the section at hand?
  [[nodiscard]] bool finds_what_it_needs(const Class& its) const {
    for (std::size_t i = 0; i < its.touched.size(); ++i) {
      if (its.defined[i] != 0 && !is_defined(its.touched[i])) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_defined(const Touched& what) const {
    return !what.reads.empty() && contents_.defined(what.tensor, number_of(what), what.reads);
  }

  /// Of the section at hand.
  [[nodiscard]] std::uint32_t number_of(const Touched& what) const {
    return (what.tensor ? excerpt_.tensors : excerpt_.buffers)[what.object];
  }
  [[nodiscard]] std::string name_of(const Touched& what) const {
    return what.tensor ? "tensor " + program_.tensors[number_of(what)].name
                       : "buffer " + program_.buffers[number_of(what)].name;
  }

  const ir::Program& program_;
  Guess& guess_;
  ir::Phases phases_;
  Excerpts excerpts_;
  Contents contents_;
  std::vector<std::uint32_t> user_of_semaphore_, user_of_buffer_;  ///< a section, or `kMeeting`
  Excerpt excerpt_;                                                // of the section at hand
  std::vector<std::uint32_t> candidates_;
  Division out_;
  std::optional<Objection> objection_;
};

}  // namespace

std::uint64_t shown(Rule rule, const Division& division,
                    const std::vector<std::uint64_t>& per_class) {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < per_class.size(); ++c)
    sum += per_class[c] * division.classes[c].sections;
  switch (rule) {
    case Rule::boundary:
      return 2 * division.participants * division.boundaries;
    case Rule::isolation:
      return division.uses;
    case Rule::memory:
      return division.placed;
    case Rule::liveness:
    case Rule::coverage:
      return sum + division.rendezvous_ops;
    case Rule::bounds:
    case Rule::quiescence:
      return sum + division.rendezvous_semaphores;
    case Rule::ordering:
      return sum + division.uses;
    default:
      return sum;
  }
}

std::variant<Division, Objection> divide(const ir::Program& program, Guess& guess) {
  return Examination(program, guess).run();
}

}  // namespace spatialcert::proofs::composition
