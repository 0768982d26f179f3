#include "proofs/composition/prove_types.hpp"

#include "proofs/composition/types.hpp"
#include "proofs/reduction/lemmas.hpp"
#include "proofs/shard/rule.hpp"

namespace spatialcert::proofs::composition {

std::variant<reduction::Typing, std::string> prove_types(const ir::Program& program,
                                                         const Division& division,
                                                         const std::vector<Subject>& subjects,
                                                         smt::Session& session) {
  TypeRounds rounds(program, division, subjects);
  reduction::Lemmas lemmas(rounds.types());
  rounds.watch([&](const reduction::StepText& step) { lemmas.add(step); });
  // Nearly always the second round ends as the first one has.
  for (std::uint32_t r = 0; r < shard::kMostRounds; ++r) {
    rounds.remember();
    if (auto why = rounds.perform()) return *std::move(why);
    if (!rounds.recurs()) continue;
    if (auto why = lemmas.prove(session)) return *std::move(why);
    return reduction::Typing{r, r + 1};
  }
  return std::string("the types of contents do not recur");
}

}  // namespace spatialcert::proofs::composition
