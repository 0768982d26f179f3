// Something changed in the bytes of a certificate, and its digest recomputed.
#include <algorithm>
#include <vector>

#include "tests/certificate/forge.hpp"
#include "tests/forgery/claims.hpp"
#include "tests/forgery/payload.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Certificate;
namespace by_hand = proofs::test;

std::string alter_obligations(std::vector<Obligation>& all, Random& random) {
  Obligation& one = all[random.below(all.size())];
  Obligation& other = all[random.below(all.size())];
  switch (random.below(8)) {
    case 0:
      std::swap(one.witness, other.witness);
      return "bytes: witnesses of two rules exchanged";
    case 1:
      std::swap(one, other);
      return "bytes: two obligations exchanged";
    case 2:
      all.insert(all.begin() + random.below(all.size() + 1), Obligation(one));
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
  std::string how;
  std::string payload;
  if (random.chance(50)) {
    Payload parts = taken_apart(certificate);
    how = alter_obligations(parts.obligations, random);
    payload = joined(parts);
  } else {
    payload = by_hand::payload_of(bytes);
    how = alter_payload(payload, random);
  }
  bytes = by_hand::forge(payload);
  return how;
}

}  // namespace spatialcert::tests
