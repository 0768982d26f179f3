#include "proofs/find_subject.hpp"

#include "ir/search/justify.hpp"

namespace spatialcert::proofs {

std::variant<Subject, Untranslatable> find_subject(const ir::Program& program) {
  const auto one = ir::unroll(program);
  if (const auto* limit = std::get_if<ir::UnrollLimit>(&one)) return Untranslatable{*limit};
  const auto found = ir::justify(program, std::get<ir::Unrolled>(one));
  auto subject = make_subject(program, found.places);
  if (auto* made = std::get_if<Subject>(&subject)) ir::explain(made->net, found.issues);
  return subject;
}

}  // namespace spatialcert::proofs
