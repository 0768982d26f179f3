#include "tests/parallel/fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"

namespace spatialcert::tests {

ir::Target chips(std::uint32_t count, bool crossing, ir::DType float_type) {
  ir::Target out;
  out.name = fmt::format("{} chips of four tiles", count);
  out.chips = count;
  out.mesh_width = 2;
  out.mesh_height = 2;
  out.engines = {"load", "compute", "store"};
  out.spaces = {{"sram", 65536, 64}};
  out.semaphores_per_site = 64;
  out.semaphore_maximum = 255;
  out.handoffs = {{"noc", false}};
  if (crossing) out.handoffs.push_back({"wire", true});
  out.float_type = float_type;
  out.widest_integer = ir::DType::i32;
  return out;
}

parallel::Manifest row_parallel(std::uint32_t chips) {
  parallel::Manifest out;
  out.chips = chips;
  parallel::Collective sum{"h", {}, {}};
  for (std::uint32_t c = 0; c < chips; ++c) {
    const std::string weight = fmt::format("w.{}", c);
    const std::string partial = fmt::format("p.{}", c);
    out.owners[weight] = c;
    out.owners[partial] = c;
    sum.partials.push_back(partial);
    out.statements.push_back({{{partial, ir::OpKind::matmul, {"x", weight}}}});
  }
  for (std::uint32_t c = 1; c < chips; ++c) {
    const std::string name = c + 1 == chips ? "h" : fmt::format("sum.{}", c);
    const std::string before = c == 1 ? "p.0" : fmt::format("sum.{}", c - 1);
    out.statements.push_back({{{name, ir::OpKind::add, {before, fmt::format("p.{}", c)}}}});
    sum.folds.push_back(name);
  }
  if (chips > 1) out.collectives.push_back(std::move(sum));
  return out;
}

parallel::AllreduceDescription sum_of(std::uint32_t count, std::uint64_t rows, std::uint64_t cols,
                                      ir::DType dtype) {
  parallel::AllreduceDescription out;
  out.name = "sum";
  out.target = chips(count);
  out.rows = rows;
  out.cols = cols;
  out.dtype = dtype;
  out.tile = {2, 4, 1};
  return out;
}

void check_refusal(const std::optional<parallel::Refused>& refused, RefusalReason reason,
                   const std::vector<std::string>& words) {
  REQUIRE_MESSAGE(refused.has_value(), "it is refused");
  const std::string text = refused->message();
  INFO(text);
  CHECK(to_string(refused->reason) == to_string(reason));
  CHECK_FALSE(refused->remedy.empty());
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(text.find(word) != std::string::npos);
  }
}

void check_certified(const ir::Program& program) {
  const certify::ProgramReport report = certify::certify(program);
  CHECK_MESSAGE(report.verdict == certify::Verdict::certified,
                certify::report_text(program, report, false));
}

void check_refuted(const ir::Program& program, proofs::Rule rule) {
  const certify::ProgramReport report = certify::certify(program);
  INFO(certify::report_text(program, report, false));
  CHECK(report.verdict == certify::Verdict::refuted);
  const auto found = std::find_if(report.rules.begin(), report.rules.end(),
                                  [&](const auto& one) { return one.rule == rule; });
  REQUIRE(found != report.rules.end());
  CHECK(found->verdict == certify::Verdict::refuted);
}

ir::machine::Machine finished(const ir::Program& program, const ir::machine::Inputs& inputs,
                              std::uint64_t seed) {
  auto made = ir::machine::Machine::make(program, inputs);
  REQUIRE_MESSAGE(made.has_value(), made.error().message());
  ir::machine::Machine machine = std::move(made).value();
  const auto outcome = machine.run(ir::machine::Schedule::random(seed));
  REQUIRE_MESSAGE(outcome.ending == ir::machine::Ending::finished, outcome.text);
  return machine;
}

}  // namespace spatialcert::tests
