#include "tests/forgery/payload.hpp"

#include "tests/certificate/forge.hpp"

namespace spatialcert::tests {
namespace {

std::uint64_t natural(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(at++));
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
}

std::string head_of(const proofs::Certificate& certificate) {
  proofs::Certificate bare;
  bare.producer = certificate.producer;
  bare.program = certificate.program;
  bare.target = certificate.target;
  bare.folding = certificate.folding;
  bare.justified = certificate.justified;
  std::string payload = proofs::test::payload_of(encode(bare));
  payload.pop_back();  // the number of obligations: none
  return payload;
}

}  // namespace

Payload taken_apart(const proofs::Certificate& certificate) {
  Payload out{head_of(certificate), {}};
  const std::string bytes = proofs::test::payload_of(encode(certificate));
  std::size_t at = out.head.size();
  out.obligations.resize(natural(bytes, at));
  for (Obligation& o : out.obligations) {
    o.rule = natural(bytes, at);
    o.version = natural(bytes, at);
    o.subject = natural(bytes, at);
    o.in_class = natural(bytes, at);
    const std::uint64_t size = natural(bytes, at);
    o.witness = bytes.substr(at, size);
    at += size;
  }
  return out;
}

std::string joined(const Payload& payload) {
  std::string out = payload.head + proofs::test::natural(payload.obligations.size());
  for (const Obligation& o : payload.obligations)
    out += proofs::test::obligation(o.rule, o.witness, o.version, o.subject, o.in_class);
  return out;
}

}  // namespace spatialcert::tests
