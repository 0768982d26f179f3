// Every rule: the search with Z3, and the check of its witness. Then the whole pipeline.
#include <map>
#include <memory>
#include <utility>

#include "bench/measure.hpp"
#include "certify/pipeline.hpp"
#include "ir/require.hpp"
#include "proofs/boundary/rule.hpp"
#include "proofs/bounds/rule.hpp"
#include "proofs/coverage/rule.hpp"
#include "proofs/cuts.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/flow/rule.hpp"
#include "proofs/isolation/rule.hpp"
#include "proofs/liveness/rule.hpp"
#include "proofs/memory/rule.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/quiescence/rule.hpp"
#include "proofs/recheck/recheck.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/shard/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::bench {
namespace {

using namespace proofs;

/// What the rules are applied to.
struct Setting {
  Subject subject;
  std::vector<std::uint32_t> position;
  Cuts cuts;                                    ///< where `boundary` lets the program be cut
  std::vector<ordering::ExaminedPair> ordered;  ///< what `ordering` hands to `flow`
};

/// Made when first asked for, then kept.
const Setting& setting(const Sample& s) {
  static std::map<const Sample*, std::unique_ptr<const Setting>> made;
  auto& slot = made[&s];
  if (slot == nullptr) {
    auto fresh = std::make_unique<Setting>();
    fresh->subject = std::get<Subject>(find_subject(s.program));
    auto extension = linear_extension(fresh->subject);
    SPATIALCERT_REQUIRE(extension.has_value(), "a measured program has no cycle");
    fresh->position = *std::move(extension);
    smt::Session session;
    const auto search = boundary::prove(fresh->subject, fresh->position, session);
    if (const auto* proved = std::get_if<Proved<boundary::Witness>>(&search))
      fresh->cuts = cuts_of(fresh->subject, fresh->position, proved->witness.centre);
    fresh->ordered = ordering::prove(fresh->subject, fresh->position, session, fresh->cuts).ordered;
    slot = std::move(fresh);
  }
  return *slot;
}

template <typename Found>
const auto& search_of(const Found& found) {
  if constexpr (requires { found.search; }) {
    return found.search;
  } else {
    return found;
  }
}

/// `prove` takes a setting and a session; `check` is the rule's. The witness that is checked is
/// searched once.
template <typename Prove, typename Check>
int rule(const std::string& name, Prove prove, Check check) {
  declare("prove_" + name, [prove](benchmark::State& state, const Sample& s) {
    const Setting& given = setting(s);
    smt::Session session;
    measure(state, [&] {
      session = {};
      benchmark::DoNotOptimize(prove(given, session));
    });
    state.counters["queries"] = static_cast<double>(session.queries);
    state.counters["z3_units"] = static_cast<double>(session.resource);
  });
  declare("check_" + name, [prove, check](benchmark::State& state, const Sample& s) {
    using Found = decltype(prove(setting(s), std::declval<smt::Session&>()));
    static std::map<const Sample*, Found> found;
    const Setting& given = setting(s);
    smt::Session session;
    if (found.find(&s) == found.end()) found.emplace(&s, prove(given, session));
    const auto* proved = std::get_if<0>(&search_of(found.at(&s)));
    if (proved == nullptr) return state.SkipWithError("not proved");
    measure(state, [&] {
      if (!std::holds_alternative<Accepted>(check(given.subject, proved->witness))) {
        state.SkipWithError("rejected");
      }
    });
  });
  return 0;
}

const int kRules[] = {
    rule(
        "liveness", [](const Setting& g, smt::Session& z) { return liveness::prove(g.subject, z); },
        liveness::check),
    rule(
        "boundary",
        [](const Setting& g, smt::Session& z) { return boundary::prove(g.subject, g.position, z); },
        boundary::check),
    rule(
        "isolation",
        [](const Setting& g, smt::Session& z) { return isolation::prove(g.subject, z); },
        isolation::check),
    rule(
        "bounds",
        [](const Setting& g, smt::Session& z) {
          return bounds::prove(g.subject, g.position, z, g.cuts);
        },
        bounds::check),
    rule(
        "quiescence",
        [](const Setting& g, smt::Session& z) { return quiescence::prove(g.subject, z); },
        quiescence::check),
    rule(
        "ordering",
        [](const Setting& g, smt::Session& z) {
          return ordering::prove(g.subject, g.position, z, g.cuts);
        },
        ordering::check),
    rule(
        "flow",
        [](const Setting& g, smt::Session& z) {
          return flow::prove(g.subject, g.position, g.ordered, z, g.cuts);
        },
        flow::check),
    rule(
        "memory", [](const Setting& g, smt::Session& z) { return memory::prove(g.subject, z); },
        memory::check),
    rule(
        "shard", [](const Setting& g, smt::Session& z) { return shard::prove(g.subject, z); },
        shard::check),
    rule(
        "reduction",
        [](const Setting& g, smt::Session& z) {
          return reduction::prove(g.subject, g.position, z);
        },
        reduction::check),
    rule(
        "coverage", [](const Setting& g, smt::Session& z) { return coverage::prove(g.subject, z); },
        coverage::check),
};

const int kTotal = declare("total", [](benchmark::State& state, const Sample& s) {
  certify::ProgramReport report;
  measure(state, [&] { report = certify::certify(s.program); });
  // Without a postcondition the pipeline is certified all the same.
  if (report.verdict != certify::Verdict::certified) state.SkipWithError(report.reason.c_str());
  double queries = 0, units = 0;
  for (const auto& r : report.rules) {
    queries += static_cast<double>(r.queries);
    units += static_cast<double>(r.resource);
  }
  state.counters["queries"] = queries;
  state.counters["z3_units"] = units;
});

/// The certificate of a program as bytes, made when first asked for, then kept.
const std::string& certificate(const Sample& s) {
  static std::map<const Sample*, std::string> made;
  std::string& bytes = made[&s];
  if (bytes.empty()) {
    certify::Options options;
    options.keep_witnesses = true;
    const auto report = certify::certify(s.program, options);
    SPATIALCERT_REQUIRE(report.certificate.has_value(), "a measured program is certified");
    bytes = encode(*report.certificate);
  }
  return bytes;
}

/// Everything that recheck does with a program that was read: decoding, digests, net, all checks.
const int kRecheck = declare("recheck", [](benchmark::State& state, const Sample& s) {
  const std::string& bytes = certificate(s);
  measure(state, [&] {
    const auto decoded = decode(bytes);
    const auto* given = std::get_if<Certificate>(&decoded);
    if (given == nullptr || recheck(s.program, *given).denial) state.SkipWithError("denied");
  });
  state.counters["certificate"] = static_cast<double>(bytes.size());
});

}  // namespace
}  // namespace spatialcert::bench
