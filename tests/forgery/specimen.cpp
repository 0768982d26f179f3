#include "tests/forgery/specimen.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "certify/pipeline.hpp"
#include "tests/oracle/generator.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::tests {
namespace {

SketchAccess sketch_of(const ir::Program& program, const ir::Access& access) {
  const ir::Region& region = access.region;
  SketchAccess out{region.kind, region.object, region.page, {}, access.write};
  for (std::size_t b = 0; b < 4; ++b) out.bound[b].base = region.bound[b];
  for (std::uint32_t i = 0; i < region.terms; ++i) {
    const ir::AffineTerm& term = program.affine_terms[region.first_term + i];
    out.bound[term.bound].terms.emplace_back(term.level, term.coefficient);
  }
  return out;
}

std::vector<SketchOp> sketch_of(const ir::Program& program, const std::vector<ir::Op>& ops,
                                std::uint32_t begin, std::uint32_t end) {
  std::vector<SketchOp> out;
  for (std::uint32_t i = begin; i < end; ++i) {
    const ir::Op& op = ops[i];
    SketchOp& made = out.emplace_back(SketchOp{op.code, op.object, op.count, {}, {}});
    for (std::uint32_t a = 0; a < op.accesses; ++a)
      made.accesses.push_back(sketch_of(program, program.accesses[op.first_access + a]));
    if (op.code != ir::OpCode::repeat) continue;
    made.body = sketch_of(program, ops, i + 1, i + 1 + op.body);
    i += op.body;
  }
  return out;
}

/// Two post at different places of their programs, and every wait needs both.
Draft several_posters() {
  Draft d("several-posters");
  d.tensor("x", "external", 8).tensor("y", "undefined", 8).buffer("a").buffer("b");
  d.semaphore("full").semaphore("empty_a", 1).semaphore("empty_b", 1);
  for (const char* side : {"a", "b"}) {
    const std::string rows = side[0] == 'a' ? "x[0:4]" : "x[4:8]";
    const std::vector<std::string> once{std::string("wait empty_") + side,
                                        "run load " + rows + " > " + side, "post full"};
    std::vector<std::string> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    d.engine(side[0] == 'a' ? "load" : "move", twice);
  }
  d.engine("store", {"wait full 2", "run store a > y[0:4]", "run store b > y[4:8]", "post empty_a",
                     "post empty_b", "wait full 2", "run store b > y[0:4]", "run store a > y[4:8]",
                     "post empty_a", "post empty_b"});
  d.sum("y[0:4]", {"x[4:8]"}).sum("y[4:8]", {"x[0:4]"});
  return d;
}

/// One writes, all others are released by one semaphore.
Draft release() {
  Draft d("release");
  d.tensor("x", "external").tensor("y", "undefined", 12).buffer("b").semaphore("go");
  d.engine("load", {"run load x > b", "post go 3"});
  d.engine("compute", {"wait go", "run left b > y[0:4]"});
  d.engine("store", {"wait go", "run middle b > y[4:8]"});
  d.engine("move", {"wait go", "run right b > y[8:12]"});
  return d.sum("y[0:4]", {"x"}).sum("y[4:8]", {"x"}).sum("y[8:12]", {"x"});
}

/// All arrive, twice a token; the colours of the release semaphore alternate.
Draft persistent_rendezvous() {
  Draft d("persistent-rendezvous");
  d.persistent().semaphore("arrived").semaphore("red").semaphore("blue");
  d.engine("load", {"post arrived", "wait arrived 2", "post red 2", "wait red", "post arrived",
                    "wait arrived 2", "post blue 2", "wait blue"});
  d.engine("compute", {"post arrived", "wait red", "post arrived", "wait blue"});
  return d;
}

std::optional<Specimen> certified(Specimen out) {
  certify::Options options;
  options.keep_witnesses = true;
  auto report = certify::certify(out.program, options);
  if (report.verdict != certify::Verdict::certified) return std::nullopt;
  REQUIRE(report.certificate.has_value());
  out.certificate = *std::move(report.certificate);
  return out;
}

}  // namespace

Sketch sketch_of(const ir::Program& program) {
  Sketch sketch;
  sketch.frame = program;
  sketch.frame.accesses.clear();
  sketch.frame.affine_terms.clear();
  for (ir::EngineProgram& p : sketch.frame.programs) {
    const auto size = static_cast<std::uint32_t>(p.ops.size());
    sketch.ops.push_back(sketch_of(program, p.ops, 0, size));
    p.ops.clear();
    p.spans.clear();
  }
  return sketch;
}

ir::Program in_bytes(ir::Program program) {
  const auto widen = [](ir::Region& region) {
    if (region.kind != ir::RegionKind::tensor) return;
    region.bound[2] *= 4;
    region.bound[3] *= 4;
  };
  for (ir::Tensor& tensor : program.tensors) {
    tensor.cols *= ir::size_of(tensor.dtype);
    tensor.dtype = ir::DType::i8;
  }
  for (ir::Access& access : program.accesses) widen(access.region);
  for (ir::Postcondition& post : program.postconditions) {
    widen(post.region);
    for (ir::Region& term : post.terms) widen(term);
  }
  return program;
}

std::optional<Specimen> specimen(std::string name, Sketch sketch) {
  ir::Program program = assemble(sketch);
  return certified({std::move(name), std::move(sketch), std::move(program), {}});
}

std::optional<Specimen> specimen(std::string name, ir::Program program) {
  Sketch sketch;
  if (program.sections.size() == 1) sketch = sketch_of(program);
  return certified({std::move(name), std::move(sketch), std::move(program), {}});
}

std::optional<Specimen> specimen(std::uint64_t seed) {
  Sample sample = seed % 4 == 3 ? generate_wild(seed) : generate(seed);
  return specimen(fmt::format("seed {}", seed), std::move(sample.sketch));
}

std::vector<Specimen> named_specimens() {
  std::vector<Draft> drafts = all_samples();
  for (const Draft& d : {several_posters(), release(), persistent_rendezvous()})
    drafts.push_back(d);
  std::vector<Specimen> out;
  for (const Draft& draft : drafts) {
    CAPTURE(draft.name());
    auto made = specimen(draft.name(), sketch_of(in_bytes(draft.program())));
    REQUIRE(made.has_value());
    out.push_back(*std::move(made));
  }
  return out;
}

}  // namespace spatialcert::tests
