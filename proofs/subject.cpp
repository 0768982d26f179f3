#include "proofs/subject.hpp"

#include "ir/sections.hpp"

namespace spatialcert::proofs {

std::variant<Subject, Untranslatable> make_subject(const ir::Program& program,
                                                   const std::vector<ir::Place>& justified) {
  Subject s;
  s.program = s.text = &program;
  auto one = ir::unroll(program);
  if (const auto* limit = std::get_if<ir::UnrollLimit>(&one)) return Untranslatable{*limit};
  s.one = std::move(std::get<ir::Unrolled>(one));
  s.net = ir::check_net(program, s.one, ir::count_net(program, s.one), justified);
  const std::uint32_t back = ir::iterations_back(s.net, s.one);
  if (s.persistent()) s.judged = kPersistentIterations + back;
  auto stretch = ir::unroll(program, s.judged + back);
  if (const auto* limit = std::get_if<ir::UnrollLimit>(&stretch)) return Untranslatable{*limit};
  s.stretch = std::move(std::get<ir::Unrolled>(stretch));
  s.places = ir::expand_places(s.net, s.one, s.stretch, &s.beyond);
  s.order = ir::Adjacency(s.stretch.transitions(), s.places, false);
  s.accesses = ir::resolve_accesses(program, s.stretch);
  return s;
}

namespace {

std::uint32_t base_of(const ir::Program& program, std::uint32_t buffer) {
  while (program.buffers[buffer].view) buffer = program.buffers[buffer].view->base.value();
  return buffer;
}

/// A view holds what its base holds. Nothing for tensors and FIFOs: what is in them stays.
const ir::Buffer* holder(const ir::Program& program, const ir::Region& region) {
  if (region.kind != ir::RegionKind::bytes) return nullptr;
  return &program.buffers[base_of(program, region.object)];
}

bool whole_program(const ir::Buffer& buffer) {
  return buffer.lifetime == ir::Lifetime::resident &&
         !(buffer.resident_from.valid() && buffer.resident_to.valid());
}

bool is_resident_in(const ir::Buffer& buffer, ir::SectionId section) {
  return buffer.resident_from <= section && section <= buffer.resident_to;
}

}  // namespace

bool outlives(const ir::Program& program, const ir::Unrolled& stretch, const ir::Region& region,
              ir::TransitionId writer, ir::TransitionId reader) {
  const ir::Buffer* const buffer = holder(program, region);
  if (buffer == nullptr || whole_program(*buffer)) return true;
  if (stretch.iteration(writer) != stretch.iteration(reader)) return false;
  const ir::SectionId from = ir::section_of_run(program, stretch, writer);
  const ir::SectionId to = ir::section_of_run(program, stretch, reader);
  if (buffer->lifetime == ir::Lifetime::section) return from == to;
  return is_resident_in(*buffer, from) && is_resident_in(*buffer, to);
}

bool outlives_start(const ir::Program& program, const ir::Unrolled& stretch,
                    const ir::Region& region, ir::TransitionId reader) {
  const ir::Buffer* const buffer = holder(program, region);
  return buffer == nullptr || whole_program(*buffer) || stretch.iteration(reader) == 0;
}

std::vector<char> with_contents(const ir::Program& program) {
  std::vector<char> of_base(program.buffers.size(), 0);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].init != ir::Init::undefined) of_base[base_of(program, b)] = 1;
  }
  std::vector<char> out(program.buffers.size(), 0);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) out[b] = of_base[base_of(program, b)];
  return out;
}

std::optional<std::vector<std::uint32_t>> linear_extension(const Subject& subject) {
  const ir::Unrolled& u = subject.stretch;
  const std::uint32_t n = u.transitions();
  const ir::Adjacency all(n, subject.places, true);
  const auto is_first = [&](std::uint32_t t) { return t == u.begin[u.program[t]]; };
  std::vector<std::uint32_t> missing(n);
  std::vector<std::uint32_t> sequence;
  sequence.reserve(n);
  for (std::uint32_t t = 0; t < n; ++t) {
    const auto in = all.into(t);
    missing[t] = static_cast<std::uint32_t>(in.end() - in.begin()) + (is_first(t) ? 0 : 1);
    if (missing[t] == 0) sequence.push_back(t);
  }
  const auto arrive = [&](std::uint32_t t) {
    if (--missing[t] == 0) sequence.push_back(t);
  };
  std::vector<std::uint32_t> position(n);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::uint32_t t = sequence[i];
    position[t] = static_cast<std::uint32_t>(i);
    if (t + 1 < n && !is_first(t + 1)) arrive(t + 1);
    for (const std::uint32_t place : all.out_of(t)) arrive(subject.places[place].to.value());
  }
  if (sequence.size() != n) return std::nullopt;
  return position;
}

}  // namespace spatialcert::proofs
