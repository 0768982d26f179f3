// The types of `reduction`, section by section: the same verdict as on the whole.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ir/program_file.hpp"
#include "proofs/composition/carried.hpp"
#include "proofs/recheck/recheck.hpp"
#include "proofs/reduction/types.hpp"
#include "tests/proofs/compositions.hpp"

namespace spatialcert::tests::compositions {
namespace {

using certify::Verdict;
using proofs::Rule;

/// A full tensor of two parts of 4 rows or columns, NAME0 and NAME1.
std::string halves(const std::string& full, const std::string& axis,
                   const std::string& dimension = "ffn", bool swapped = false) {
  const bool rows = axis == "rows";
  return fmt::format(
      R"({{"full": "{0}", "rows": {1}, "cols": {2}, "axis": "{3}", "dimension": "{4}",
        "parts": [{{"tensor": "{0}{5}", "ranges": [[0, 4]]}}, {{"tensor": "{0}{6}", "ranges": [[4, 8]]}}]}})",
      full, rows ? 8 : 4, rows ? 4 : 8, axis, dimension, swapped ? 1 : 0, swapped ? 0 : 1);
}

struct Layers {
  std::string sum = "run s3_all p10 p11 > y1";
  std::string activation = "run s2_c_act h11 > h11";
  std::string slices = halves("d1", "rows");
  std::string x = "external";
};

/// Two layers over two chips: g is cut along its columns, d along its rows, so that every chip has
/// a term of their product with what is everywhere, which an all-reduce adds up. Chips bend what is
/// between in place.
ir::Program layers(const Layers& how = {}) {
  Draft d("layers");
  d.tensor("x", how.x).tensor("y0").tensor("y1");
  for (int k = 0; k < 2; ++k) {
    for (std::uint32_t c = 0; c < 2; ++c) {
      for (const char* weight : {"g", "d"})
        d.tensor(fmt::format("{}{}{}", weight, k, c), "external", 4, "f32", owned_by(c));
      for (const char* made : {"h", "p"})
        d.tensor(fmt::format("{}{}{}", made, k, c), "undefined", 4, "f32", owned_by(c));
    }
  }
  std::string slices =
      "[" + halves("g0", "columns") + ", " + halves("d0", "rows") + ", " + halves("g1", "columns");
  if (!how.slices.empty()) slices += ", " + how.slices;
  d.member("slices", slices + "]");
  return on_chips(
             d, 2,
             {{{"run s0_a_mm x g00 > h00", "run s0_c_act h00 > h00", "run s0_b_mm h00 d00 > p00"},
               {"run s0_d_mm x g01 > h01", "run s0_f_act h01 > h01", "run s0_e_mm h01 d01 > p01"}},
              {{"run s1_all p00 p01 > y0"}, {}},
              {{"run s2_a_mm y0 g10 > h10", "run s2_f_act h10 > h10", "run s2_b_mm h10 d10 > p10"},
               {"run s2_d_mm y0 g11 > h11", how.activation, "run s2_e_mm h11 d11 > p11"}},
              {{how.sum}, {}}})
      .program();
}

const certify::RuleReport& of_rule(const certify::ProgramReport& report, Rule rule) {
  std::size_t i = 0;
  while (report.rules.at(i).rule != rule) ++i;
  return report.rules[i];
}

TEST_CASE("composition: types of layers, each certified once") {
  const ir::Program program = layers();
  const auto report = agreed(program);
  CHECK(report.verdict == Verdict::certified);
  REQUIRE(report.divided.has_value());
  CHECK(report.divided->classes == 2);
  REQUIRE(report.certificate->reduction.has_value());
  REQUIRE(report.certificate->reduction->typing.has_value());
  CHECK(report.certificate->slices.has_value());
  // As many things are looked at as in the whole.
  const auto one = whole(program);
  for (const Rule rule : {Rule::reduction, Rule::slices}) {
    CHECK(of_rule(report, rule).obligations == of_rule(one, rule).obligations);
    CHECK(of_rule(report, rule).queries > 0);
  }
}

TEST_CASE("composition: what is wrong with the types of one of several sections that are alike") {
  const auto wrong = [](const std::string& what, const Layers& how, Verdict verdict, Rule rule) {
    CAPTURE(what);
    const auto report = agreed(layers(how));
    CHECK(report.verdict == verdict);
    CHECK(of_rule(report, rule).verdict == verdict);
    CHECK_FALSE(report.divided.has_value());
  };
  Layers how;
  how.sum = "run s3_all p10 p10 > y1";
  wrong("one part twice", how, Verdict::refuted, Rule::reduction);
  how.sum = "run s3_all p00 p11 > y1";
  wrong("terms of different sums", how, Verdict::undecided, Rule::reduction);
  how = {};
  how.activation = "run s2_c_act h11 > p11";
  wrong("another op on one chip", how, Verdict::undecided, Rule::reduction);
  how = {};
  how.slices = halves("d1", "columns");
  wrong("cut along another axis", how, Verdict::undecided, Rule::reduction);
  how.slices = "";
  wrong("not declared", how, Verdict::undecided, Rule::reduction);
  how.slices = halves("d1", "rows", "heads");
  wrong("of another dimension", how, Verdict::refuted, Rule::reduction);
  how.slices = halves("d1", "rows", "ffn", true);
  wrong("parts exchanged", how, Verdict::refuted, Rule::reduction);
  how.slices = halves("d1", "rows");
  how.slices.replace(how.slices.find("[[4, 8]]"), 8, "[[3, 7]]");
  wrong("parts that overlap", how, Verdict::refuted, Rule::slices);
  // Terms of an earlier layer are of one sum as well.
  how = {};
  how.sum = "run s3_all p00 p01 > y1";
  CHECK(agreed(layers(how)).divided.has_value());
  // Of zeros there is no term.
  how.x = "zero";
  CHECK(agreed(layers(how)).divided.has_value());
}

TEST_CASE("composition: witnesses of types beside those of classes") {
  const ir::Program program = layers();
  const auto good = *by_sections(program).certificate;
  const auto denied = [](const ir::Program& about, proofs::Certificate claim) {
    claim.program = ir::digest(about);
    const auto outcome = proofs::recheck(about, claim);
    return outcome.denial ? std::string(to_string(*outcome.denial)) + ": " + outcome.detail : "";
  };
  CHECK(denied(program, good) == "");
  proofs::Certificate claim = good;
  claim.reduction.reset();
  CHECK(denied(program, claim) ==
        "missing obligation: reduction: the certificate has no witness of it");
  claim.reduction = proofs::reduction::Witness{};
  CHECK(denied(program, claim) == "witness rejected: reduction: the witness has no types");
  for (const auto& [first, rounds] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 1}, {2, 1}, {0, 61}}) {
    claim.reduction->typing = proofs::reduction::Typing{first, rounds};
    CHECK(denied(program, claim) == "witness rejected: reduction: the rounds of the witness");
  }
  claim = good;
  claim.slices.reset();
  CHECK(denied(program, claim) ==
        "missing obligation: slices: the certificate has no witness of it");
  // Of programs whose sections are the same, but not what they mean.
  Layers how;
  how.slices = halves("d1", "rows");
  how.slices.replace(how.slices.find("[[4, 8]]"), 8, "[[3, 7]]");
  CHECK(denied(layers(how), good).find("slices: ") != std::string::npos);
  how = {};
  how.sum = "run s3_all p00 p11 > y1";
  CHECK(denied(layers(how), good).find("reduction: section s3: ") != std::string::npos);
  // Where they do not apply, there is nothing to witness.
  const ir::Program plain = chain().program();
  for (const bool types : {true, false}) {
    claim = *by_sections(plain).certificate;
    if (types) claim.reduction = proofs::reduction::Witness{proofs::reduction::Typing{}};
    if (!types) claim.slices = proofs::slices::Witness{};
    CHECK(denied(plain, claim) == fmt::format("not applicable: {}: it has a witness, but does not "
                                              "apply",
                                              types ? "reduction" : "slices"));
  }
  // Nor is there anything else to be said of the whole.
  claim = good;
  claim.coverage = claim.classes[0].coverage;
  const auto read = proofs::decode(proofs::encode(claim));
  REQUIRE(std::holds_alternative<proofs::Certificate>(read));
  CHECK_FALSE(std::get<proofs::Certificate>(read).coverage.has_value());
}

TEST_CASE("composition: what one token leaves of types to the next") {
  // Parts of a state that chips update; `other`: what chip 1 does with its part.
  const auto kept = [](const std::string& other, const std::string& member = "",
                       const std::string& role = "state") {
    Draft d("tokens");
    d.tensor("x", "external").tensor("y");
    d.member("slices", "[" + halves("k", "rows") + ", " + halves("d", "rows") + "]");
    if (!member.empty()) d.member("carried", member);
    for (std::uint32_t c = 0; c < 2; ++c) {
      d.tensor(fmt::format("k{}", c), "zero", 4, "f32",
               owned_by(c) + fmt::format(R"(, "role": "{}")", role));
      d.tensor(fmt::format("d{}", c), "external", 4, "f32", owned_by(c));
    }
    return on_chips(d, 2, {{{"run s0_a x > y"}, {}}, {{"run s1_a_act k0 > k0"}, {other}}})
        .program();
  };
  const auto both = agreed(kept("run s1_b_act k1 > k1"));
  CHECK(both.verdict == Verdict::certified);
  CHECK(both.divided.has_value());
  const auto one = agreed(kept("run s1_b_act d1 > d1"));
  CHECK(one.verdict == Verdict::undecided);
  CHECK_FALSE(one.divided.has_value());
  CHECK(of_rule(one, Rule::reduction).detail.find("parts of k keep") != std::string::npos);
  // Nobody keeps it.
  CHECK(agreed(kept("run s1_b_act d1 > d1", "", "activation")).divided.has_value());
  // Whatever is carried is kept.
  CHECK_FALSE(agreed(kept("run s1_b_act d1 > d1", R"(["k0", "k1"])", "input")).divided.has_value());
}

TEST_CASE("composition: what is kept and belongs to nobody is that of the model") {
  // s is summed up token by token; what it was is another content of the model in every one.
  Draft d("sums");
  d.tensor("x", "external").tensor("s", "zero", 4, "f32", R"("role": "state")");
  d.member("slices", "[" + halves("d", "rows") + "]");
  for (std::uint32_t c = 0; c < 2; ++c)
    d.tensor(fmt::format("d{}", c), "external", 4, "f32", owned_by(c));
  const ir::Program program = on_chips(d, 2,
                                       {{{"run s0_a_add x s > s"}, {"run s0_b_act d1 > d1"}},
                                        {{"run s1_a_act d0 > d0"}, {}}})
                                  .program();
  const auto report = agreed(program);
  CHECK(report.verdict == Verdict::certified);
  REQUIRE(report.divided.has_value());
  CHECK(report.certificate->reduction->typing->rounds == 2);
}

/// Partial sums p0 and p1 of g d in their upper rows, and of `g d` or twice that in the lower ones;
/// then all of them are added up in one piece. `order`: which rows of chip 1 have which.
ir::Program in_two_halves(bool same_order) {
  Draft d("halves");
  d.tensor("x", "external").tensor("y");
  d.member("slices", "[" + halves("g", "columns") + ", " + halves("d", "rows") + "]");
  for (std::uint32_t c = 0; c < 2; ++c) {
    for (const char* weight : {"g", "d"})
      d.tensor(fmt::format("{}{}", weight, c), "external", 4, "f32", owned_by(c));
    for (const char* made : {"h", "p", "q"})
      d.tensor(fmt::format("{}{}", made, c), "undefined", 4, "f32", owned_by(c));
  }
  const char* const upper = "[0:2]";
  const char* const lower = "[2:4]";
  const auto one = [&](int c, const char* first, const char* second) {
    return Ops{fmt::format("run s0_{0}a_mm x g{0} > h{0}", c),
               fmt::format("run s0_{0}b_mm h{0} d{0} > q{0}", c),
               fmt::format("run s0_{0}c q{0}{1} > p{0}{1}", c, first),
               fmt::format("run s0_{0}d_twice q{0}{1} > p{0}{1}", c, second)};
  };
  return on_chips(d, 2,
                  {{one(0, upper, lower), same_order ? one(1, upper, lower) : one(1, lower, upper)},
                   {{"run s1_all p0 p1 > y"}, {}}})
      .program();
}

TEST_CASE("composition: terms of several sums in one piece") {
  // As a whole it is known which rows have which.
  const auto same = agreed(in_two_halves(true));
  CHECK(same.verdict == Verdict::certified);
  CHECK_FALSE(same.divided.has_value());
  const auto crossed = agreed(in_two_halves(false));
  CHECK(crossed.verdict == Verdict::undecided);
  CHECK_FALSE(crossed.divided.has_value());
}

TEST_CASE("composition: heads' own results of several kinds in one piece") {
  // Sums over stacked rows are terms of the sum over all chips, as partial sums are.
  const auto program = [](bool same_order) {
    Draft d("heads");
    d.tensor("x", "external").tensor("y");
    std::string stacked = halves("d", "rows");
    stacked.insert(1, R"("stacked": true, )");
    d.member("slices", "[" + stacked + "]");
    for (std::uint32_t c = 0; c < 2; ++c) {
      d.tensor(fmt::format("d{}", c), "external", 4, "f32", owned_by(c));
      for (const char* made : {"p", "q"})
        d.tensor(fmt::format("{}{}", made, c), "undefined", 4, "f32", owned_by(c));
    }
    const auto one = [](int c, bool turned) {
      return Ops{fmt::format("run s0_{0}_rows d{0} > q{0}[0:1]", c),
                 fmt::format("run s0_{0}c q{0}[0:1] > p{0}[{1}]", c, turned ? "1:2" : "0:1"),
                 fmt::format("run s0_{0}d_twice q{0}[0:1] > p{0}[{1}]", c, turned ? "0:1" : "1:2")};
    };
    return on_chips(d, 2,
                    {{one(0, false), one(1, !same_order)},
                     {{"run s1_all p0[0:2] p1[0:2] > y[0:2]"}, {}}})
        .program();
  };
  CHECK(agreed(program(true)).verdict == Verdict::certified);
  const auto crossed = agreed(program(false));
  CHECK(crossed.verdict == Verdict::undecided);
  CHECK_FALSE(crossed.divided.has_value());
}

TEST_CASE("composition: types of what the host fills") {
  const auto filled = [](const std::string& lifetime) {
    Draft d("filled");
    d.tensor("x", "external").tensor("y").tensor("q", "undefined", 4, "f32", owned_by(0));
    d.member("slices", "[" + halves("d", "rows") + "]");
    for (std::uint32_t c = 0; c < 2; ++c)
      d.tensor(fmt::format("d{}", c), "external", 4, "f32", owned_by(c));
    d.buffer("kv", fmt::format(R"("init": "external", "lifetime": "{}")", lifetime));
    return on_chips(d, 2,
                    {{{"run s0_a kv > q"}, {"run s0_b_act d1 > d1"}},
                     {{"run s1_a_act d0 > d0"}, {"run s1_b x > y"}}})
        .program();
  };
  CHECK(agreed(filled("resident")).divided.has_value());
  const auto once = agreed(filled("section"));
  CHECK(once.verdict == Verdict::certified);
  CHECK_FALSE(once.divided.has_value());
}

TEST_CASE("types: values that stand for others") {
  const ir::Program program = layers();
  proofs::reduction::Types types(program);
  const auto op = [&](proofs::reduction::ValueId a, proofs::reduction::ValueId b) {
    return types.value_of(ir::OpKind::matmul, 7, {a, b});
  };
  const auto x = types.any(0), y = types.any(1);
  const auto made = op(op(x, y), x);
  const auto mixed = types.blend(types.blend(x, y), made);
  const auto terms = types.terms_of({made, mixed});
  const auto a = types.tensor_value(0), b = types.full_value(0);
  const auto with = [&](proofs::reduction::ValueId first, proofs::reduction::ValueId second) {
    return types.instances(terms, {first, second});
  };
  const auto at = [&](proofs::reduction::ValueId term) {
    return static_cast<std::size_t>(std::find(terms.begin(), terms.end(), term) - terms.begin());
  };
  CHECK(with(a, b)[at(made)] == op(op(a, b), a));
  CHECK(with(b, a)[at(made)] == op(op(b, a), b));
  CHECK(with(a, b)[at(mixed)] == types.blend(op(op(a, b), a), types.blend(a, b)));
  // A mixture of mixtures is one, and of one and the same it is none.
  const auto both = types.blend(a, b);
  CHECK(with(both, a)[at(mixed)] == types.blend(both, op(op(both, a), both)));
  CHECK(with(a, a)[at(x)] == with(a, a)[at(y)]);
  CHECK(types.instances(types.terms_of({types.blend(x, y)}), {a, a}).back() == a);
}

TEST_CASE("composition: runs of numbers") {
  using proofs::composition::Runs;
  const auto text = [](const Runs& runs) {
    std::string out;
    for (const auto& [low, run] : runs.all())
      out += fmt::format("[{},{})={} ", low, run.high, run.number);
    return out;
  };
  Runs runs(10, 1);
  CHECK(runs.uniform());
  runs.assign({3, 5}, 2);
  CHECK(text(runs) == "[0,3)=1 [3,5)=2 [5,10)=1 ");
  CHECK_FALSE(runs.uniform());
  runs.assign({4, 8}, 3);
  CHECK(text(runs) == "[0,3)=1 [3,4)=2 [4,8)=3 [8,10)=1 ");
  std::string seen;
  runs.each({2, 6}, [&](std::uint64_t low, std::uint64_t high, std::uint32_t number) {
    seen += fmt::format("[{},{})={} ", low, high, number);
  });
  CHECK(seen == "[2,3)=1 [3,4)=2 [4,6)=3 ");
  const auto same = [](std::uint32_t a, std::uint32_t b) { return a == b; };
  Runs cut = runs;
  cut.assign({5, 6}, 3);
  CHECK(Runs::equal(runs, cut, same));
  CHECK(Runs::equal(cut, runs, same));
  cut.assign({5, 6}, 4);
  CHECK_FALSE(Runs::equal(runs, cut, same));
  CHECK_FALSE(Runs::equal(cut, runs, same));
  runs.assign({0, 10}, 5);
  CHECK(text(runs) == "[0,10)=5 ");
  CHECK_FALSE(Runs::equal(Runs(9, 5), runs, same));
  CHECK_FALSE(Runs::equal(runs, Runs(9, 5), same));
}

}  // namespace
}  // namespace spatialcert::tests::compositions
