#include "compose/composition/object_union.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compose/composition/refusal.hpp"
#include "compose/composition/text.hpp"

namespace spatialcert::compose {
namespace {

constexpr std::uint32_t kNobody = 0xffffffffU;

ir::Site moved(ir::Site site, Offset offset) {
  site.x += offset.x;  // what a placement returns fits the mesh
  site.y += offset.y;
  return site;
}

/// The first member in which two declarations differ; nullptr if none.
const char* difference(const ir::Buffer& a, const ir::Buffer& b) {
  if (a.kind != b.kind) return "kind";
  if (a.site != b.site) return "site";
  if (a.space != b.space) return "space";
  if (a.address != b.address) return "address";
  if (a.page_bytes != b.page_bytes) return "page_bytes";
  if (a.pages != b.pages) return "pages";
  if (a.depth != b.depth) return "depth";
  if (a.handoff != b.handoff) return "handoff";
  if (a.lifetime != b.lifetime) return "lifetime";
  if (a.resident_from.valid() != b.resident_from.valid()) return "lifetime";
  if (a.view.has_value() != b.view.has_value()) return "view";
  if (a.view && (a.view->base != b.view->base || a.view->offset != b.view->offset)) return "view";
  return nullptr;
}

const char* difference(const ir::Semaphore& a, const ir::Semaphore& b) {
  if (a.site != b.site) return "site";
  if (a.initial != b.initial) return "initial";
  if (a.maximum != b.maximum) return "maximum";
  if (a.restart != b.restart) return "restart";
  if (a.handoff != b.handoff) return "handoff";
  return nullptr;
}

[[noreturn]] void refuse_difference(const char* kind, const std::string& name, const char* member,
                                    const std::string& before, const std::string& now) {
  throw Refused{RefusalReason::buffer_clash,
                fmt::format("{} \"{}\" of sections \"{}\" and \"{}\" differs in its {}", kind, name,
                            before, now, member),
                "declare it the same in both, or rename one of them"};
}

}  // namespace

const OwnNames::Entry* OwnNames::add(std::string_view name, const Entry& entry) {
  const auto [known, is_new] = entries_.emplace(name, entry);
  if (is_new) return nullptr;
  if (known->second.shared && entry.shared) return &known->second;
  throw Refused{RefusalReason::name_clash,
                fmt::format("{} \"{}\" is declared by section \"{}\" and by section \"{}\"", kind_,
                            name, section(known->second.section), section(entry.section)),
                "rename one of them; only tensors, resident buffers and declared links are shared"};
}

std::vector<bool> links_of(const ir::Program& section, bool fifos) {
  std::vector<bool> links(fifos ? section.buffers.size() : section.semaphores.size(), false);
  for (const ir::Link& link : section.links) {
    if (link.is_fifo == fifos) links[link.object] = true;
  }
  return links;
}

std::vector<std::uint32_t> BufferUnion::add(std::uint32_t source, const ObjectUses& uses,
                                            std::uint32_t first_location, Offset offset) {
  const std::vector<ir::Buffer>& given = sections_[source].buffers;
  const std::vector<bool> links = links_of(sections_[source], true);
  std::vector<std::uint32_t> numbers;
  std::vector<bool> fresh;
  for (std::uint32_t b = 0; b < given.size(); ++b) {
    const bool shared = given[b].lifetime == ir::Lifetime::resident || links[b];
    const auto next = static_cast<std::uint32_t>(buffers_.size());
    const auto* known = names_.add(given[b].name, {next, source, shared});
    numbers.push_back(known == nullptr ? next : known->number);
    fresh.push_back(known == nullptr);
    if (known != nullptr) continue;
    ir::Buffer& made = buffers_.emplace_back(given[b]);
    made.site = moved(made.site, offset);
    if (made.location != ir::kNoLocation) made.location += first_location;
    claims_.emplace_back();
    written_.push_back(kNobody);
  }
  for (std::uint32_t b = 0; b < given.size(); ++b) {  // bases have their numbers now
    ir::Buffer buffer = given[b];
    buffer.site = moved(buffer.site, offset);
    if (buffer.view) buffer.view->base = ir::BufferId(numbers[buffer.view->base.value()]);
    if (fresh[b]) buffers_[numbers[b]].view = buffer.view;
    compare(source, numbers[b], buffer);
  }
  for (std::uint32_t b = 0; b < given.size(); ++b) {
    claims_[numbers[b]].push_back(
        {given[b].init, uses.buffers[b], written_before(source, numbers[b]), source});
  }
  for (std::uint32_t b = 0; b < given.size(); ++b) {
    std::uint32_t& writer = written_[root_of(buffers_, numbers[b])];
    if (uses.buffers[b].written && writer == kNobody) writer = source;
  }
  return numbers;
}

void BufferUnion::compare(std::uint32_t source, std::uint32_t number,
                          const ir::Buffer& buffer) const {
  const char* const member = difference(buffers_[number], buffer);
  if (member == nullptr) return;
  refuse_difference("buffer", buffer.name, member, names_.section(claims_[number].front().section),
                    names_.section(source));
}

std::vector<ir::Buffer> BufferUnion::finish(const std::vector<std::uint32_t>& position) {
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    decide_contents(b);
    if (!buffers_[b].resident_from.valid()) continue;
    std::uint32_t first = kNobody, last = 0;
    for (const InitClaim& claim : claims_[b]) {
      first = std::min(first, position[claim.section]);
      last = std::max(last, position[claim.section]);
    }
    buffers_[b].resident_from = ir::SectionId(first);
    buffers_[b].resident_to = ir::SectionId(last);
  }
  for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
    if (buffers_[b].init == ir::Init::undefined) continue;
    for (std::uint32_t at = b; buffers_[at].view;) {
      at = buffers_[at].view->base.value();
      if (buffers_[at].init == ir::Init::undefined) continue;
      throw Refused{RefusalReason::init_clash,
                    fmt::format("buffers \"{}\" and \"{}\", of which it is a view, both begin with "
                                "contents",
                                buffers_[b].name, buffers_[at].name),
                    "let one of them say what is in it"};
    }
  }
  return std::move(buffers_);
}

void BufferUnion::decide_contents(std::uint32_t number) {
  ir::Buffer& buffer = buffers_[number];
  const ir::Buffer& storage = buffers_[root_of(buffers_, number)];
  const bool always = storage.lifetime == ir::Lifetime::resident && !storage.resident_from.valid();
  const InitDecision decision = decide_init(claims_[number], always);
  buffer.init = decision.init;
  if (!decision.contradicted_by) return;
  const InitClaim& claim = *decision.contradicted_by;
  throw Refused{
      RefusalReason::init_clash,
      fmt::format("buffer \"{}\" begins as {} for section \"{}\"{} and as {} for section \"{}\"",
                  buffer.name, to_string(claim.init), names_.section(claim.section),
                  claim.written_earlier ? " (though an earlier one writes it)" : "",
                  to_string(decision.init), names_.section(decision.section)),
      "let the sections agree"};
}

std::vector<std::uint32_t> SemaphoreUnion::add(std::uint32_t source, Offset offset) {
  const std::vector<bool> links = links_of(sections_[source], false);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t s = 0; s < sections_[source].semaphores.size(); ++s) {
    ir::Semaphore semaphore = sections_[source].semaphores[s];
    semaphore.site = moved(semaphore.site, offset);
    const auto next = static_cast<std::uint32_t>(semaphores_.size());
    const auto* known = names_.add(sections_[source].semaphores[s].name, {next, source, links[s]});
    numbers.push_back(known == nullptr ? next : known->number);
    if (known == nullptr) {
      semaphores_.push_back(std::move(semaphore));
      continue;
    }
    if (const char* const member = difference(semaphores_[known->number], semaphore)) {
      refuse_difference("semaphore", semaphore.name, member, names_.section(known->section),
                        names_.section(source));
    }
  }
  return numbers;
}

}  // namespace spatialcert::compose
