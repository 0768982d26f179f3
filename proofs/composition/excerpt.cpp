#include "proofs/composition/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::proofs::composition {
namespace {

/// All sites that something stands on, ascending.
std::vector<ir::Site> used_sites(const ir::Program& program) {
  std::vector<ir::Site> all;
  for (const auto& p : program.programs) all.push_back(p.site);
  for (const auto& s : program.semaphores) {
    if (all.empty() || all.back() != s.site) all.push_back(s.site);
  }
  for (const auto& b : program.buffers) {
    if (all.empty() || all.back() != b.site) all.push_back(b.site);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool same(const ir::Op& a, const ir::Op& b) {
  return a.code == b.code && a.object == b.object && a.count == b.count &&
         a.first_access == b.first_access && a.accesses == b.accesses && a.body == b.body;
}

bool same(const ir::Access& a, const ir::Access& b) {
  const ir::Region &x = a.region, &y = b.region;
  return a.write == b.write && x.kind == y.kind && x.object == y.object && x.page == y.page &&
         std::equal(std::begin(x.bound), std::end(x.bound), std::begin(y.bound)) &&
         x.first_term == y.first_term && x.terms == y.terms;
}

bool same(const ir::AffineTerm& a, const ir::AffineTerm& b) {
  return a.bound == b.bound && a.level == b.level && a.coefficient == b.coefficient;
}

bool same(const ir::Edge& a, const ir::Edge& b) {
  return a.producer == b.producer && a.buffer == b.buffer && a.consumer == b.consumer;
}

/// What they are views of is compared as own numbers.
template <typename Id>
bool same_view(const std::optional<ir::View<Id>>& a, const std::optional<ir::View<Id>>& b) {
  return a.has_value() == b.has_value() && (!a || a->offset == b->offset);
}

bool alike(const ir::Tensor& a, const ir::Tensor& b) {
  return a.rows == b.rows && a.cols == b.cols && a.dtype == b.dtype &&
         a.owner.has_value() == b.owner.has_value() && same_view(a.view, b.view) &&
         a.values == b.values;
}

bool alike(const ir::Semaphore& a, const ir::Semaphore& b) {
  return a.initial == b.initial && a.maximum == b.maximum && a.restart == b.restart;
}

bool alike(const ir::Stage& a, const ir::Stage& b) {
  return a.kind == b.kind && a.op == b.op && a.scale == b.scale;
}

bool alike(const ir::Buffer& a, const ir::Buffer& b) {
  return a.kind == b.kind && a.space == b.space && a.page_bytes == b.page_bytes &&
         a.pages == b.pages && a.depth == b.depth && a.init == b.init &&
         same_view(a.view, b.view) && a.tile == b.tile;
}

template <typename Items, typename Equal>
bool equal_lists(const Items& a, const Items& b, Equal equal) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), equal);
}

template <typename Objects>
bool alike_objects(const Objects& objects, const std::vector<std::uint32_t>& a,
                   const std::vector<std::uint32_t>& b) {
  return equal_lists(
      a, b, [&](std::uint32_t x, std::uint32_t y) { return alike(objects[x], objects[y]); });
}

bool alike_lifetimes(const ir::Program& program, const Excerpt& a, const Excerpt& b) {
  return equal_lists(a.buffers, b.buffers, [&](std::uint32_t x, std::uint32_t y) {
    return is_resident(program, x) == is_resident(program, y);
  });
}

}  // namespace

std::uint32_t base_tensor(const ir::Program& program, std::uint32_t tensor) {
  while (program.tensors[tensor].view) tensor = program.tensors[tensor].view->base.value();
  return tensor;
}

std::uint32_t base_buffer(const ir::Program& program, std::uint32_t buffer) {
  while (program.buffers[buffer].view) buffer = program.buffers[buffer].view->base.value();
  return buffer;
}

bool is_resident(const ir::Program& program, std::uint32_t buffer) {
  return program.buffers[base_buffer(program, buffer)].lifetime == ir::Lifetime::resident;
}

Excerpts::Excerpts(const ir::Program& program)
    : program_(program),
      tensors_(program.tensors.size()),
      buffers_(program.buffers.size()),
      semaphores_(program.semaphores.size()),
      stages_(program.stages.size()),
      sites_(0),
      chips_(0) {
  number_sites();
  list_spans();
  list_edges();
}

void Excerpts::number_sites() {
  const std::vector<ir::Site> sites = used_sites(program_);
  std::uint32_t chips = 0;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (i > 0 && sites[i - 1].chip != sites[i].chip) ++chips;
    chip_of_site_.push_back(chips);
  }
  const auto number = [&](const ir::Site& site) {
    return static_cast<std::uint32_t>(std::lower_bound(sites.begin(), sites.end(), site) -
                                      sites.begin());
  };
  for (const auto& p : program_.programs) site_of_program_.push_back(number(p.site));
  for (const auto& s : program_.semaphores) site_of_semaphore_.push_back(number(s.site));
  for (const auto& b : program_.buffers) site_of_buffer_.push_back(number(b.site));
  sites_ = Numbers(sites.size());
  chips_ = Numbers(sites.size());  // no more chips than sites
}

void Excerpts::list_spans() {
  first_span_.assign(program_.sections.size() + 1, 0);
  for (const ir::EngineProgram& p : program_.programs) {
    for (const ir::Span& span : p.spans) {
      if (span.section.valid()) ++first_span_[span.section.value() + 1];
    }
  }
  for (std::size_t s = 1; s < first_span_.size(); ++s) first_span_[s] += first_span_[s - 1];
  spans_.resize(first_span_.back());
  std::vector<std::uint32_t> at(first_span_.begin(), first_span_.end() - 1);
  for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
    for (const ir::Span& span : program_.programs[p].spans) {
      if (span.section.valid()) spans_[at[span.section.value()]++] = {p, span.begin, span.end};
    }
  }
}

void Excerpts::list_edges() {
  first_edge_.assign(program_.buffers.size() + 1, 0);
  for (const ir::Edge& edge : program_.edges) ++first_edge_[edge.buffer.value() + 1];
  for (std::size_t b = 1; b < first_edge_.size(); ++b) first_edge_[b] += first_edge_[b - 1];
  edges_.resize(first_edge_.back());
  std::vector<std::uint32_t> at(first_edge_.begin(), first_edge_.end() - 1);
  for (std::uint32_t e = 0; e < program_.edges.size(); ++e)
    edges_[at[program_.edges[e].buffer.value()]++] = e;
}

std::optional<std::string> Excerpts::take(ir::SectionId section, Excerpt& out) {
  for (auto* list : {&out.programs, &out.tensors, &out.buffers, &out.semaphores, &out.stages,
                     &out.tensor_bases, &out.buffer_bases, &out.begin, &out.sites, &out.chips})
    list->clear();
  out.ops.clear();
  out.accesses.clear();
  out.terms.clear();
  out.edges.clear();
  out.section = section.value();
  for (std::uint32_t i = first_span_[section.value()]; i < first_span_[section.value() + 1]; ++i) {
    const SpanOf& span = spans_[i];
    if (out.programs.empty() || out.programs.back() != span.program) {
      out.programs.push_back(span.program);
      out.begin.push_back(static_cast<std::uint32_t>(out.ops.size()));
    }
    const auto& ops = program_.programs[span.program].ops;
    for (std::uint32_t o = span.begin; o < span.end; ++o) add_op(ops[o], out);
  }
  out.begin.push_back(static_cast<std::uint32_t>(out.ops.size()));
  add_bases(out);
  auto foreign = add_edges(out);
  place(out);
  tensors_.forget(out.tensors);
  buffers_.forget(out.buffers);
  semaphores_.forget(out.semaphores);
  stages_.forget(out.stages);
  return foreign;
}

void Excerpts::add_op(const ir::Op& op, Excerpt& out) {
  ir::Op own = op;
  own.location = ir::kNoLocation;
  switch (op.code) {
    case ir::OpCode::wait:
    case ir::OpCode::await:
    case ir::OpCode::post:
      own.object = semaphores_.of(op.object, out.semaphores);
      break;
    case ir::OpCode::reserve:
    case ir::OpCode::push:
    case ir::OpCode::front:
    case ir::OpCode::pop:
      own.object = buffers_.of(op.object, out.buffers);
      break;
    case ir::OpCode::run:
      own.object = stages_.of(op.object, out.stages);
      break;
    case ir::OpCode::repeat:
      own.object = 0;
      break;
  }
  own.first_access = static_cast<std::uint32_t>(out.accesses.size());
  for (std::uint32_t a = 0; a < op.accesses; ++a)
    add_access(program_.accesses[op.first_access + a], out);
  out.ops.push_back(own);
}

void Excerpts::add_access(const ir::Access& access, Excerpt& out) {
  ir::Access own = access;
  ir::Region& region = own.region;
  region.object = region.kind == ir::RegionKind::tensor
                      ? tensors_.of(access.region.object, out.tensors)
                      : buffers_.of(access.region.object, out.buffers);
  region.first_term = static_cast<std::uint32_t>(out.terms.size());
  const auto first = program_.affine_terms.begin() + access.region.first_term;
  if (region.terms != 0) out.terms.insert(out.terms.end(), first, first + region.terms);
  out.accesses.push_back(own);
}

void Excerpts::add_bases(Excerpt& out) {
  // The lists grow while they are gone through: bases may be views too.
  for (std::size_t i = 0; i < out.tensors.size(); ++i) {
    const auto& view = program_.tensors[out.tensors[i]].view;
    out.tensor_bases.push_back(view ? tensors_.of(view->base.value(), out.tensors) : kNone);
  }
  for (std::size_t i = 0; i < out.buffers.size(); ++i) {
    const auto& view = program_.buffers[out.buffers[i]].view;
    out.buffer_bases.push_back(view ? buffers_.of(view->base.value(), out.buffers) : kNone);
  }
}

std::optional<std::string> Excerpts::add_edges(Excerpt& out) {
  std::optional<std::string> foreign;
  for (std::uint32_t own = 0; own < out.buffers.size(); ++own) {
    const std::uint32_t buffer = out.buffers[own];
    for (std::uint32_t i = first_edge_[buffer]; i < first_edge_[buffer + 1]; ++i) {
      const ir::Edge& edge = program_.edges[edges_[i]];
      const ir::SectionId section(out.section);
      if (is_resident(program_, buffer) ||
          program_.stages[edge.producer.value()].section != section ||
          program_.stages[edge.consumer.value()].section != section) {
        foreign = fmt::format("an edge of buffer {} leads to another section",
                              program_.buffers[buffer].name);
        continue;
      }
      out.edges.push_back({ir::StageId(stages_.of(edge.producer.value(), out.stages)),
                           ir::BufferId(own),
                           ir::StageId(stages_.of(edge.consumer.value(), out.stages)),
                           {}});
    }
  }
  return foreign;
}

void Excerpts::place(Excerpt& out) {
  occurred_sites_.clear();
  occurred_chips_.clear();
  const auto add = [&](std::uint32_t site) {
    const std::size_t known = occurred_sites_.size();
    out.sites.push_back(sites_.of(site, occurred_sites_));
    if (occurred_sites_.size() != known)
      out.chips.push_back(chips_.of(chip_of_site_[site], occurred_chips_));
  };
  for (const std::uint32_t p : out.programs) add(site_of_program_[p]);
  for (const std::uint32_t s : out.semaphores) add(site_of_semaphore_[s]);
  for (const std::uint32_t b : out.buffers) add(site_of_buffer_[b]);
  sites_.forget(occurred_sites_);
  chips_.forget(occurred_chips_);
}

bool alike(const ir::Program& program, const Excerpt& a, const Excerpt& b) {
  const auto equal = [](const auto& x, const auto& y) { return same(x, y); };
  return a.programs.size() == b.programs.size() && a.begin == b.begin &&
         equal_lists(a.ops, b.ops, equal) && equal_lists(a.accesses, b.accesses, equal) &&
         equal_lists(a.terms, b.terms, equal) && equal_lists(a.edges, b.edges, equal) &&
         a.sites == b.sites && a.chips == b.chips &&
         alike_objects(program.tensors, a.tensors, b.tensors) &&
         alike_objects(program.buffers, a.buffers, b.buffers) &&
         alike_objects(program.semaphores, a.semaphores, b.semaphores) &&
         alike_objects(program.stages, a.stages, b.stages) && a.tensor_bases == b.tensor_bases &&
         a.buffer_bases == b.buffer_bases && alike_lifetimes(program, a, b);
}

}  // namespace spatialcert::proofs::composition
