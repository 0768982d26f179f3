// Trusted, and reads what anybody may have written (see certificate.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "ir/packing.hpp"
#include "proofs/certificate/certificate.hpp"
#include "proofs/certificate/layout.hpp"
#include "proofs/certificate/reader.hpp"

namespace spatialcert::proofs {
namespace {

using Reason = Unreadable::Reason;
constexpr std::size_t kDigestBytes = ir::Digest{}.size();
// The element that is dearest for its bytes: an occupancy without buffers has one.
static_assert(sizeof(std::vector<ir::BufferId>) < kMostBytesPerPayloadByte);
static_assert(sizeof(ir::FoldedGroup) < 2 * kMostBytesPerPayloadByte);
/// No proof that shows anything is smaller.
constexpr std::uint64_t kLeastProofBytes = 12;
static_assert(sizeof(Proof) < kLeastProofBytes * kMostBytesPerPayloadByte);

void read(Reader& in, liveness::Witness& witness) {
  witness.period = in.integer();
  witness.potential.resize(in.count(1));
  std::uint64_t before = ~std::uint64_t{0};
  for (std::int64_t& potential : witness.potential) {
    before += static_cast<std::uint64_t>(in.integer()) + 1;  // modulo 2^64
    potential = static_cast<std::int64_t>(before);
  }
}

void read(Reader& in, ordering::Witness& witness) {
  const std::uint64_t pairs = in.count(1);
  witness.begin.reserve(pairs + 1);
  witness.begin.push_back(0);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const std::uint64_t length = in.natural();
    // No sum of two numbers of at most kMostPayloadBytes overflows.
    if (length > in.left() || total + length > in.left()) {
      return in.fail(Reason::malformed_witness, "paths of more places than there are bytes");
    }
    total += length;
    witness.begin.push_back(static_cast<std::uint32_t>(total));
  }
  witness.places.reserve(total);
  std::uint32_t first = 0;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    std::uint32_t before = first;
    for (std::uint32_t k = witness.begin[i]; k < witness.begin[i + 1]; ++k) {
      before = in.step(before, Reason::malformed_witness);
      if (k == witness.begin[i]) first = before;
      witness.places.push_back(before);
    }
  }
}

void read(Reader& in, memory::Witness& witness) {
  witness.order.resize(in.count(1));
  std::uint32_t before = 0;
  for (std::vector<ir::BufferId>& buffers : witness.order) {
    buffers.resize(in.count(1));
    for (ir::BufferId& buffer : buffers) {
      before = in.step(before, Reason::malformed_witness);
      buffer = ir::BufferId(before);
    }
  }
}

void read(Reader& in, coverage::Witness& witness) {
  witness.tests = in.natural();
  witness.supplies = in.natural();
  witness.runs = in.natural();
  witness.loops = in.natural();
}

void read(Reader& in, boundary::Witness& witness) {
  witness.centre.resize(in.count(1));
  std::uint32_t before = 0;
  for (std::uint32_t& centre : witness.centre) {
    centre = before = in.step(before, Reason::malformed_witness);
  }
}

std::uint32_t rounds(Reader& in) {
  const std::uint64_t value = in.natural();
  if (value > shard::kMostRounds) in.fail(Reason::malformed_witness, "more rounds than allowed");
  return static_cast<std::uint32_t>(value);
}

void read(Reader& in, shard::Witness& witness) {
  witness.first = rounds(in);
  witness.rounds = rounds(in);
}

void read(Reader& in, reduction::Witness& witness) {
  const std::uint64_t types = in.natural();
  if (types > 1) in.fail(Reason::malformed_witness, "types that are neither there nor not");
  if (types == 0) return;
  witness.typing.emplace();
  witness.typing->first = rounds(in);
  witness.typing->rounds = rounds(in);
}

void read(Reader& /*in*/, bounds::Witness& /*witness*/) {}
void read(Reader& /*in*/, quiescence::Witness& /*witness*/) {}
void read(Reader& /*in*/, flow::Witness& /*witness*/) {}
void read(Reader& /*in*/, slices::Witness& /*witness*/) {}
void read(Reader& /*in*/, isolation::Witness& /*witness*/) {}

void read(Reader& in, std::vector<ir::Place>& places) {
  places.resize(in.count(4));
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t counter = 0;
  for (ir::Place& place : places) {
    place.from = ir::TransitionId(from = in.step(from, Reason::malformed_place));
  }
  for (ir::Place& place : places) {
    place.to = ir::TransitionId(to = in.step(to, Reason::malformed_place));
  }
  for (ir::Place& place : places) {
    place.counter = ir::CounterId(counter = in.step(counter, Reason::malformed_place));
  }
  for (ir::Place& place : places) {
    const std::int64_t value = in.integer();
    place.credit = value % 2 != 0;
    const std::int64_t tokens = (value - (place.credit ? 1 : 0)) / 2;
    place.tokens = static_cast<std::int32_t>(tokens);
    if (place.tokens != tokens) in.fail(Reason::malformed_place, "tokens out of range");
  }
}

void read(Reader& in, ir::Folding& folding) {
  const auto number = [&] {
    const std::uint64_t value = in.natural();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      in.fail(Reason::malformed_folding, "a number out of range");
    return static_cast<std::int64_t>(value);
  };
  folding.resize(in.count(2));
  std::uint32_t program = 0;
  std::uint32_t op = 0;
  for (ir::FoldedGroup& group : folding) {
    group.removed = number();
    group.loops.resize(in.count(4));
    for (ir::FoldedLoop& loop : group.loops) {
      loop.program = program = in.step(program, Reason::malformed_folding);
      loop.op = op = in.step(op, Reason::malformed_folding);
      loop.turns = number();
      loop.skip = number();
    }
  }
}

template <typename Witness>
void read_witness(Reader& in, Rule rule, std::string_view bytes, std::optional<Unreadable>& problem,
                  std::optional<Witness>& witness) {
  Reader inside(bytes, Reason::malformed_witness, problem);
  read(inside, witness.emplace());
  if (!problem && inside.left() != 0) {
    in.fail(Reason::malformed_witness,
            fmt::format("{} bytes after the witness of {}", inside.left(), to_string(rule)));
  }
}

/// What a proof is about: the whole program, or one class.
struct About {
  std::uint64_t subject = kSubjectProgram;
  std::uint64_t number = 0;
};

void read_obligation(Reader& in, const About& about, std::optional<Rule>& before, Proof& to,
                     std::optional<Unreadable>& problem) {
  const std::uint64_t number = in.natural();
  if (number >= all_rules().size()) {
    return in.fail(Reason::unknown_rule, fmt::format("rule number {}", number));
  }
  const auto rule = static_cast<Rule>(number);
  if (before && rule <= *before) {
    return in.fail(rule == *before ? Reason::duplicate_rule : Reason::out_of_order,
                   std::string(to_string(rule)));
  }
  before = rule;
  if (in.natural() != rule_version(rule)) {
    return in.fail(Reason::other_rule_version, std::string(to_string(rule)));
  }
  if (in.natural() != about.subject) return in.fail(Reason::unknown_subject, "not the proof's");
  if (in.natural() != about.number) return in.fail(Reason::unknown_class, "not the proof's");
  const std::string_view bytes = in.take(in.natural());
  if (problem) return;
  switch (rule) {
    case Rule::liveness:
      return read_witness(in, rule, bytes, problem, to.liveness);
    case Rule::bounds:
      return read_witness(in, rule, bytes, problem, to.bounds);
    case Rule::quiescence:
      return read_witness(in, rule, bytes, problem, to.quiescence);
    case Rule::ordering:
      return read_witness(in, rule, bytes, problem, to.ordering);
    case Rule::flow:
      return read_witness(in, rule, bytes, problem, to.flow);
    case Rule::memory:
      return read_witness(in, rule, bytes, problem, to.memory);
    case Rule::reduction:
      return read_witness(in, rule, bytes, problem, to.reduction);
    case Rule::coverage:
      return read_witness(in, rule, bytes, problem, to.coverage);
    case Rule::boundary:
      return read_witness(in, rule, bytes, problem, to.boundary);
    case Rule::isolation:
      return read_witness(in, rule, bytes, problem, to.isolation);
    case Rule::shard:
      return read_witness(in, rule, bytes, problem, to.shard);
    case Rule::slices:
      return read_witness(in, rule, bytes, problem, to.slices);
  }
}

void read_proof(Reader& in, const About& about, Proof& proof, std::optional<Unreadable>& problem) {
  read(in, proof.folding);
  read(in, proof.justified);
  std::optional<Rule> before;
  for (std::uint64_t left = in.count(5); left > 0 && !problem; --left) {
    read_obligation(in, about, before, proof, problem);
  }
}

/// Classes are numbered as they occur, and all of them do.
void read_classes(Reader& in, std::uint64_t classes, Certificate& certificate,
                  std::optional<Unreadable>& problem) {
  certificate.class_of.resize(in.count(1));
  std::uint64_t known = 0;
  for (std::uint32_t& one : certificate.class_of) {
    const std::uint64_t number = in.natural();
    if (number > known)
      return in.fail(Reason::malformed_classes, "classes are not numbered as they occur");
    known = std::max(known, number + 1);
    one = static_cast<std::uint32_t>(number);
  }
  if (known != classes) return in.fail(Reason::malformed_classes, "a class without sections");
  if (classes > in.left() / kLeastProofBytes)
    return in.fail(Reason::truncated, "more classes than there are bytes");
  certificate.classes.resize(classes);
  for (std::uint64_t c = 0; c < classes && !problem; ++c)
    read_proof(in, {kSubjectClass, c}, certificate.classes[c], problem);
  const std::uint64_t of_whole = in.count(5);
  std::optional<Rule> before;
  for (std::uint64_t left = of_whole; left > 0 && !problem; --left)
    read_obligation(in, {}, before, certificate, problem);
  const std::uint64_t expected = (certificate.reduction ? 1U : 0U) + (certificate.shard ? 1U : 0U) +
                                 (certificate.slices ? 1U : 0U);
  if (of_whole != expected)
    in.fail(Reason::malformed_classes, "a proof of the whole beside those of classes");
}

Certificate read_payload(std::string_view bytes, std::optional<Unreadable>& problem) {
  Reader in(bytes, Reason::truncated, problem);
  Certificate certificate;
  certificate.producer = in.take(in.natural());
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (certificate.producer.size() > kMostProducerBytes ||
      !std::all_of(certificate.producer.begin(), certificate.producer.end(), printable)) {
    in.fail(Reason::malformed_producer, "not a line of ASCII");
  }
  certificate.program = in.digest();
  certificate.target = in.digest();
  const std::uint64_t classes = in.natural();
  if (problem) return certificate;
  if (classes == 0) {
    read_proof(in, {}, certificate, problem);
  } else {
    read_classes(in, classes, certificate, problem);
  }
  if (in.left() != 0) in.fail(Reason::trailing_data, "after the last obligation");
  return certificate;
}

/// What stands around the payload, and how many bytes follow it.
struct Envelope {
  std::uint64_t form = kFormRaw;
  std::uint64_t size = 0;  ///< of the payload
  ir::Digest payload{};    ///< if compressed
  std::string_view body;
  std::size_t left = 0;
};

Envelope open(std::string_view bytes, std::uint64_t most, std::optional<Unreadable>& problem) {
  Reader in(bytes, Reason::truncated, problem);
  in.take(kCertificateMagic.size());
  Envelope envelope;
  const std::uint64_t version = in.natural();
  if (version != kCertificateVersion) {
    in.fail(Reason::other_version, fmt::format("format version {}", version));
  }
  envelope.form = in.natural();
  if (envelope.form > kFormZstd) in.fail(Reason::unknown_form, "neither raw nor zstd");
  envelope.size = in.natural();
  if (envelope.size > most) {
    in.fail(Reason::too_large, fmt::format("a payload of {} bytes", envelope.size));
  }
  if ((envelope.form == kFormZstd) != (envelope.size > kMostRawBytes)) {
    in.fail(Reason::not_canonical, "compressed if and only if it is large");
  }
  if (envelope.form == kFormZstd) envelope.payload = in.digest();
  envelope.body = in.take(envelope.form == kFormZstd ? in.natural() : envelope.size);
  envelope.left = in.left();
  return envelope;
}

/// The digest at the end is wrong: is something missing, or too much?
Unreadable explain(std::string_view bytes, std::uint64_t most) {
  std::optional<Unreadable> problem;
  const std::size_t left = open(bytes, most, problem).left;
  if (problem && problem->reason == Reason::truncated) return *problem;
  if (!problem && left < kDigestBytes) return {Reason::truncated, "it ends too early"};
  if (!problem && left > kDigestBytes) return {Reason::trailing_data, "after its end"};
  return {Reason::damaged, "its SHA-256 differs"};
}

Unreadable no_magic(std::string_view bytes) {
  const std::string_view magic = kCertificateMagic.substr(0, bytes.size());
  if (bytes == magic) return {Reason::truncated, "it ends too early"};
  if (bytes.substr(0, 4) == kCertificateMagic.substr(0, 4)) {
    return {Reason::damaged, "line ends were translated: it was transferred as text"};
  }
  return {Reason::not_a_certificate, "it begins with something else"};
}

std::variant<Certificate, Unreadable> decode_unguarded(std::string_view bytes, std::uint64_t most) {
  if (bytes.substr(0, kCertificateMagic.size()) != kCertificateMagic) return no_magic(bytes);
  if (bytes.size() < kDigestBytes) return Unreadable{Reason::truncated, "it ends too early"};
  std::optional<Unreadable> problem;
  Reader trailer(bytes.substr(bytes.size() - kDigestBytes), Reason::truncated, problem);
  const std::string_view covered = bytes.substr(0, bytes.size() - kDigestBytes);
  if (ir::sha256(covered) != trailer.digest()) return explain(bytes, most);
  const Envelope envelope = open(covered, most, problem);
  if (!problem && envelope.left != 0) return Unreadable{Reason::trailing_data, "after its end"};
  if (problem) return *problem;
  std::optional<std::string> unpacked;
  if (envelope.form == kFormZstd) {
    unpacked = ir::unpack(envelope.body, envelope.size);
    if (!unpacked) return Unreadable{Reason::damaged, "not one zstd frame of the stated size"};
    if (ir::sha256(*unpacked) != envelope.payload) {
      return Unreadable{Reason::damaged, "the payload's SHA-256 differs"};
    }
  }
  Certificate certificate = read_payload(unpacked ? *unpacked : envelope.body, problem);
  if (problem) return *std::move(problem);
  return certificate;
}

}  // namespace

std::variant<Certificate, Unreadable> decode(std::string_view bytes, std::uint64_t most) {
  try {
    return decode_unguarded(bytes, most);
  } catch (const std::bad_alloc&) {
    return Unreadable{Reason::too_large, "it does not fit into memory"};
  }
}

}  // namespace spatialcert::proofs
