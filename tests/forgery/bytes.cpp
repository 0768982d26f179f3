// Something changed in the bytes of a certificate, and its digest recomputed.
#include <algorithm>
#include <vector>

#include "tests/certificate/forge.hpp"
#include "tests/forgery/claims.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Certificate;
namespace by_hand = proofs::test;

/// An obligation of a payload, taken apart.
struct Parts {
  std::uint64_t rule = 0, version = 0, subject = 0, in_class = 0;
  std::string witness;
};

std::uint64_t natural(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(at++));
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
}

/// What stands before the obligations.
std::string head_of(const Certificate& certificate) {
  Certificate bare = certificate;
  bare.liveness.reset();
  bare.bounds.reset();
  bare.quiescence.reset();
  bare.ordering.reset();
  bare.flow.reset();
  bare.memory.reset();
  bare.reduction.reset();
  bare.coverage.reset();
  std::string payload = by_hand::payload_of(encode(bare));
  payload.pop_back();  // their number
  return payload;
}

std::vector<Parts> obligations_of(const std::string& payload, std::size_t at) {
  std::vector<Parts> out(natural(payload, at));
  for (Parts& o : out) {
    o.rule = natural(payload, at);
    o.version = natural(payload, at);
    o.subject = natural(payload, at);
    o.in_class = natural(payload, at);
    const std::uint64_t size = natural(payload, at);
    o.witness = payload.substr(at, size);
    at += size;
  }
  return out;
}

std::string joined(const std::string& head, const std::vector<Parts>& all) {
  std::string out = head + by_hand::natural(all.size());
  for (const Parts& o : all)
    out += by_hand::obligation(o.rule, o.witness, o.version, o.subject, o.in_class);
  return out;
}

std::string alter_obligations(std::vector<Parts>& all, Random& random) {
  Parts& one = all[random.below(all.size())];
  Parts& other = all[random.below(all.size())];
  switch (random.below(8)) {
    case 0:
      std::swap(one.witness, other.witness);
      return "bytes: witnesses of two rules exchanged";
    case 1:
      std::swap(one, other);
      return "bytes: two obligations exchanged";
    case 2:
      all.insert(all.begin() + random.below(all.size() + 1), Parts(one));
      return "bytes: an obligation doubled";
    case 3:
      one.rule = random.below(10);
      return "bytes: another rule";
    case 4:
      one.version += 1 + random.below(2);
      return "bytes: another version of a rule";
    case 5:
      one.subject = 1 + random.below(3);
      return "bytes: another subject";
    case 6:
      one.in_class = 1 + random.below(3);
      return "bytes: another class";
    default:
      one.witness = other.witness;
      return "bytes: a witness copied from another rule";
  }
}

std::string alter_payload(std::string& payload, Random& random) {
  const std::size_t at = random.below(payload.size());
  switch (random.below(5)) {
    case 0:
      payload[at] = static_cast<char>(payload[at] ^ (1 << random.below(8)));
      return "bytes: a bit of the payload";
    case 1:
      payload.insert(at, 1, static_cast<char>(random.below(256)));
      return "bytes: a byte more in the payload";
    case 2:
      payload.erase(at, 1 + random.below(3));
      return "bytes: bytes missing in the payload";
    case 3:
      payload.resize(at);
      return "bytes: the payload cut off";
    default:
      payload.insert(at, payload.substr(random.below(payload.size()), 1 + random.below(20)));
      return "bytes: a part of the payload twice";
  }
}

}  // namespace

std::string alter_bytes(const Certificate& certificate, std::string& bytes, Random& random) {
  bytes = encode(certificate);
  if (random.chance(15)) {  // what stands around the payload
    const std::size_t at = random.below(bytes.size() - 32);
    bytes.resize(bytes.size() - 32);
    bytes[at] = static_cast<char>(random.below(256));
    bytes = by_hand::seal(bytes);
    return "bytes: any byte";
  }
  if (random.chance(10)) {
    bytes[random.below(bytes.size())] ^= 1;
    return "bytes: not sealed again";
  }
  std::string payload = by_hand::payload_of(bytes);
  const std::string head = head_of(certificate);
  std::string how;
  if (random.chance(50)) {
    auto all = obligations_of(payload, head.size());
    how = alter_obligations(all, random);
    payload = joined(head, all);
  } else {
    how = alter_payload(payload, random);
  }
  bytes = by_hand::forge(payload);
  return how;
}

}  // namespace spatialcert::tests
