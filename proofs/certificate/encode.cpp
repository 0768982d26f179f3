// Not trusted: whatever it writes, `decode` and the checks decide what it is worth.
#include <algorithm>

#include "ir/packing.hpp"
#include "ir/require.hpp"
#include "proofs/certificate/certificate.hpp"
#include "proofs/certificate/layout.hpp"

namespace spatialcert::proofs {
namespace {

class Writer {
 public:
  void byte(std::uint64_t value) { bytes_.push_back(static_cast<char>(value)); }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  void digest(const ir::Digest& digest) {
    for (const std::uint8_t value : digest) byte(value);
  }
  /// Seven bits a byte, the lowest first.
  void natural(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) byte((value & 0x7fU) | 0x80U);
    byte(value);
  }
  /// 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
  void integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    natural((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void step(std::uint32_t from, std::uint32_t to) {
    integer(std::int64_t{to} - std::int64_t{from});
  }
  void block(std::string_view bytes) {
    natural(bytes.size());
    raw(bytes);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void write(const liveness::Witness& witness, Writer& out) {
  out.integer(witness.period);
  out.natural(witness.potential.size());
  // Modulo 2^64, so that every potential has its bytes.
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::int64_t potential : witness.potential) {
    const auto now = static_cast<std::uint64_t>(potential);
    out.integer(static_cast<std::int64_t>(now - before - 1));
    before = now;
  }
}

void write(const ordering::Witness& witness, Writer& out) {
  SPATIALCERT_REQUIRE(!witness.begin.empty() && witness.begin.front() == 0 &&
                          witness.begin.back() == witness.places.size() &&
                          std::is_sorted(witness.begin.begin(), witness.begin.end()),
                      "paths do not follow one another");
  out.natural(witness.begin.size() - 1);
  for (std::size_t i = 1; i < witness.begin.size(); ++i) {
    out.natural(witness.begin[i] - witness.begin[i - 1]);
  }
  std::uint32_t first = 0;
  for (std::size_t i = 1; i < witness.begin.size(); ++i) {
    std::uint32_t before = first;
    for (std::uint32_t k = witness.begin[i - 1]; k < witness.begin[i]; ++k) {
      out.step(before, witness.places[k]);
      before = witness.places[k];
    }
    if (witness.begin[i - 1] < witness.begin[i]) first = witness.places[witness.begin[i - 1]];
  }
}

void write(const memory::Witness& witness, Writer& out) {
  out.natural(witness.order.size());
  std::uint32_t before = 0;
  for (const std::vector<ir::BufferId>& buffers : witness.order) {
    out.natural(buffers.size());
    for (const ir::BufferId buffer : buffers) {
      out.step(before, buffer.value());
      before = buffer.value();
    }
  }
}

void write(const coverage::Witness& witness, Writer& out) {
  for (const std::uint64_t count : {witness.tests, witness.supplies, witness.runs, witness.loops}) {
    out.natural(count);
  }
}

void write(const boundary::Witness& witness, Writer& out) {
  out.natural(witness.centre.size());
  std::uint32_t before = 0;
  for (const std::uint32_t centre : witness.centre) {
    out.step(before, centre);
    before = centre;
  }
}

void write(const shard::Witness& witness, Writer& out) {
  out.natural(witness.first);
  out.natural(witness.rounds);
}

// Results are recomputed; without types there is nothing else.
void write(const reduction::Witness& witness, Writer& out) {
  out.natural(witness.typing ? 1 : 0);
  if (!witness.typing) return;
  out.natural(witness.typing->first);
  out.natural(witness.typing->rounds);
}

// All facts are recomputed.
void write(const bounds::Witness& /*witness*/, Writer& /*out*/) {}
void write(const quiescence::Witness& /*witness*/, Writer& /*out*/) {}
void write(const flow::Witness& /*witness*/, Writer& /*out*/) {}
void write(const slices::Witness& /*witness*/, Writer& /*out*/) {}
void write(const isolation::Witness& /*witness*/, Writer& /*out*/) {}

/// Column by column, which compresses better than place by place.
void write(const std::vector<ir::Place>& places, Writer& out) {
  out.natural(places.size());
  const auto column = [&](auto value_of) {
    std::uint32_t before = 0;
    for (const ir::Place& place : places) {
      const std::uint32_t now = value_of(place);
      out.step(before, now);
      before = now;
    }
  };
  column([](const ir::Place& place) { return place.from.value(); });
  column([](const ir::Place& place) { return place.to.value(); });
  column([](const ir::Place& place) { return place.counter.value(); });
  for (const ir::Place& place : places) {
    out.integer(std::int64_t{place.tokens} * 2 + (place.credit ? 1 : 0));
  }
}

void write(const ir::Folding& folding, Writer& out) {
  out.natural(folding.size());
  std::uint32_t program = 0;
  std::uint32_t op = 0;
  for (const ir::FoldedGroup& group : folding) {
    out.natural(static_cast<std::uint64_t>(group.removed));
    out.natural(group.loops.size());
    for (const ir::FoldedLoop& loop : group.loops) {
      out.step(program, loop.program);
      out.step(op, loop.op);
      out.natural(static_cast<std::uint64_t>(loop.turns));
      out.natural(static_cast<std::uint64_t>(loop.skip));
      program = loop.program;
      op = loop.op;
    }
  }
}

class Obligations {
 public:
  Obligations(std::uint64_t subject, std::uint64_t number) : subject_(subject), class_(number) {}
  template <typename Witness>
  void add(Rule rule, const std::optional<Witness>& witness) {
    if (!witness) return;
    Writer bytes;
    write(*witness, bytes);
    ++count_;
    out_.natural(static_cast<std::uint64_t>(rule));
    out_.natural(rule_version(rule));
    out_.natural(subject_);
    out_.natural(class_);
    out_.block(bytes.bytes());
  }
  void finish(Writer& out) const {
    out.natural(count_);
    out.raw(out_.bytes());
  }

 private:
  std::uint64_t subject_, class_;
  std::uint64_t count_ = 0;
  Writer out_;
};

void write(const Proof& proof, std::uint64_t subject, std::uint64_t number, Writer& out) {
  write(proof.folding, out);
  write(proof.justified, out);
  Obligations obligations(subject, number);
  obligations.add(Rule::liveness, proof.liveness);
  obligations.add(Rule::bounds, proof.bounds);
  obligations.add(Rule::quiescence, proof.quiescence);
  obligations.add(Rule::ordering, proof.ordering);
  obligations.add(Rule::flow, proof.flow);
  obligations.add(Rule::memory, proof.memory);
  obligations.add(Rule::reduction, proof.reduction);
  obligations.add(Rule::coverage, proof.coverage);
  obligations.add(Rule::boundary, proof.boundary);
  obligations.add(Rule::isolation, proof.isolation);
  obligations.add(Rule::shard, proof.shard);
  obligations.add(Rule::slices, proof.slices);
  obligations.finish(out);
}

std::string payload_of(const Certificate& certificate) {
  Writer out;
  const std::string& producer = certificate.producer;
  SPATIALCERT_REQUIRE(producer.size() <= kMostProducerBytes &&
                          std::all_of(producer.begin(), producer.end(),
                                      [](char c) { return c >= ' ' && c <= '~'; }),
                      "the producer is not a line of ASCII");
  out.block(producer);
  out.digest(certificate.program);
  out.digest(certificate.target);
  out.natural(certificate.classes.size());
  if (certificate.classes.empty()) {
    write(certificate, kSubjectProgram, 0, out);
    return out.take();
  }
  std::size_t known = 0;
  for (const std::uint32_t number : certificate.class_of) {
    SPATIALCERT_REQUIRE(number <= known, "classes are not numbered as they occur");
    known = std::max<std::size_t>(known, std::size_t{number} + 1);
  }
  SPATIALCERT_REQUIRE(known == certificate.classes.size(), "a class without sections");
  out.natural(certificate.class_of.size());
  for (const std::uint32_t number : certificate.class_of) out.natural(number);
  for (std::size_t c = 0; c < certificate.classes.size(); ++c)
    write(certificate.classes[c], kSubjectClass, c, out);
  Obligations whole(kSubjectProgram, 0);
  whole.add(Rule::reduction, certificate.reduction);
  whole.add(Rule::shard, certificate.shard);
  whole.add(Rule::slices, certificate.slices);
  whole.finish(out);
  return out.take();
}

}  // namespace

std::string encode(const Certificate& certificate) {
  const std::string payload = payload_of(certificate);
  SPATIALCERT_REQUIRE(payload.size() <= kMostPayloadBytes, "the certificate is too large");
  Writer out;
  out.raw(kCertificateMagic);
  out.natural(kCertificateVersion);
  if (payload.size() <= kMostRawBytes) {
    out.natural(kFormRaw);
    out.block(payload);
  } else {
    out.natural(kFormZstd);
    out.natural(payload.size());
    out.digest(ir::sha256(payload));
    out.block(ir::pack(payload, kZstdLevel));
  }
  out.digest(ir::sha256(out.bytes()));
  return out.take();
}

}  // namespace spatialcert::proofs
