// Do the sections of a composed program, each taken alone, stand for the whole?
//
// The whole program W is cut into sections. Sections that are alike
// (proofs/composition/excerpt.hpp) are one class, and the first of them stands for all: its ops
// without those of boundaries, as a program E of one section that is performed once. What a section
// reads of tensors and resident buffers and finds there defined begins with contents in E.
//
// Premises, all of them computed from W:
//
//   1. Closed boundaries are rendezvous (proofs/composition/rendezvous.hpp). A persistent program
//      ends with one.
//   2. Nothing but those uses their semaphores. Every other semaphore, and every FIFO and other
//      buffer that is not resident, is used by one section only; there are no links. Edges of
//      such a buffer are between stages of its section; resident buffers have none.
//   3. Buffers that live at the same time share no byte, are aligned and fit
//      (proofs/memory/layout.hpp).
//   4. What sections touch of tensors and resident buffers (proofs/composition/touched.hpp): if two
//      sections of one phase touch a location, neither writes it; if sections of different phases
//      do and one of them writes it, they come in the order of the source.
//   5. A section is like the first one of its class; and what begins with contents in E is defined
//      when the section starts, as far as the section reads it: by a declaration or by sections of
//      earlier phases that have filled it. (Of one phase: by 4 nobody reads what another one
//      writes.) A buffer that is resident between two sections is touched by these and those
//      between only; if the program is persistent, such a buffer and one that is not resident do
//      not begin with contents.
//   6. No results are declared, which are contents of the whole program. No view shares its bytes
//      with a FIFO.
//
// Conclusion: if E satisfies every rule, for every class, then W satisfies every rule but three:
// `shard` and `reduction`, which follow contents from section to section
// (proofs/composition/labels.hpp, types.hpp), and `slices`, which is about declarations only. (E
// has no owners, no slices, and is filled by nobody.)
//
// *Counters.* By 2 an op of a section s tests and changes what only ops of s do. So of any play of
// W the ops of s are a play of E_s, up to the renaming, each op as possible there as in W: and
// what holds of all plays of E_s (a semaphore's maximum, windows, the order of two ops) holds of
// the part of s in all plays of W. At its end all counters are as at its beginning (`quiescence`),
// if persistent also those that the host resets, so this holds in every iteration.
// *Liveness.* Say that nobody can step, and take the first section or boundary, in the order of the
// program, with an op that was not performed. All before it is performed. If it is a section, E_s
// is stuck in what is left of it, which `liveness` of E_s excludes; if it is a boundary, see
// rendezvous.hpp. A section of a persistent program starts again after a rendezvous: all of its
// ops were performed before.
// *Boundary.* See rendezvous.hpp.
// *Conflicts* inside a section are those of E_s: by 3 bytes of different buffers are different in
// both, whatever the addresses, and pages are their FIFO's. Two sections of different phases, or
// iterations, are ordered by the boundary between them, by 4 as in the source. In one phase there
// is none, by 2, 3 and 4: this is `isolation`, of counters too. *Flow.* What is not resident holds
// nothing from other sections, by 2, but what is declared: nobody else ever lies there, by 3. A
// read of a tensor or a resident buffer that E_s has after a write of s sees that write in W too.
// Otherwise E_s begins with contents there, and by 5 so does s in W: with those of the last writer
// in the source, by 4. In later iterations more is defined, not less. *Coverage.* Every op is in a
// section or boundary (ir/validate.hpp), every op of a section in E_s.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "proofs/composition/excerpt.hpp"
#include "proofs/composition/touched.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::proofs::composition {

struct Objection {
  enum class Kind : std::uint8_t {
    values,        ///< premise 6: results are declared
    link,          ///< premise 2
    wrap_around,   ///< premise 1: a persistent program with an open end
    rendezvous,    ///< premise 1
    used_by_many,  ///< premise 2
    edge,          ///< premise 2
    fifo_view,     ///< premise 6
    memory,        ///< premise 3
    region,        ///< premise 4: what a section touches cannot be told
    shared,        ///< premise 4
    reordered,     ///< premise 4
    lifetime,      ///< premise 5
    unlike         ///< premise 5: a section is like none of the classes that it may belong to
  };
  Kind kind = Kind::values;
  std::string why;
};

/// Sections that are alike.
struct Class {
  Excerpt excerpt;               ///< of the first one
  std::vector<Touched> touched;  ///< what it touches of what outlives it
  std::vector<char> defined;     ///< per entry of `touched`: begins with contents
  std::uint64_t sections = 0;    ///< how many there are
};

struct Division {
  std::vector<std::uint32_t> sections;  ///< those with an op, in the order of the program
  std::vector<std::uint32_t> class_of;  ///< theirs; a class comes first where it is founded
  std::vector<Class> classes;
  /// Numbers in the program of what a section touches of what outlives it, in the order of its
  /// class's entries: [first_object[i], first_object[i + 1]) for section i.
  std::vector<std::uint32_t> first_object, objects;
  /// If the program names full tensors, the tensors of its class's program likewise, by their
  /// numbers there; otherwise none.
  std::vector<std::uint32_t> first_tensor, tensors;
  // How much of the whole was looked at.
  std::uint64_t participants = 0;  ///< engine programs at a closed boundary
  std::uint64_t boundaries = 0;    ///< closed ones
  std::uint64_t rendezvous_ops = 0;
  std::uint64_t rendezvous_semaphores = 0;
  std::uint64_t uses = 0;    ///< of pieces of tensors and resident buffers, by sections
  std::uint64_t placed = 0;  ///< buffers, once per occupancy of a memory
};

/// Says to which classes a section may belong. Untrusted: it is looked at whether it does.
class Guess {
 public:
  virtual ~Guess() = default;
  /// Numbers of classes, to be tried in this order; those that there are not yet are left out.
  virtual void candidates(const Excerpt& excerpt, std::vector<std::uint32_t>& out) = 0;
  /// It belongs to none of them. May it found another class? If not, that is an objection.
  virtual bool may_found() = 0;
};

/// `program` is validated. Linear in op texts and in what sections touch, but for logarithms.
[[nodiscard]] std::variant<Division, Objection> divide(const ir::Program& program, Guess& guess);

/// How many things are shown of the whole by `rule`, if so many are of the program of each class.
[[nodiscard]] std::uint64_t shown(Rule rule, const Division& division,
                                  const std::vector<std::uint64_t>& per_class);

/// The program E of a class, with the names of its first section.
[[nodiscard]] ir::Program program_of(const ir::Program& program, const Class& one);

}  // namespace spatialcert::proofs::composition
