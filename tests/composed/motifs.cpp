#include <fmt/format.h>

#include "tests/composed/assembly.hpp"

namespace spatialcert::tests {

using ir::OpCode;

// ---- tensors

std::uint64_t Assembly::columns(const std::string& name) const {
  if (repeats_) return 2;
  std::uint64_t sum = 0;
  for (const char c : name) sum = sum * 31 + static_cast<unsigned char>(c);
  return 1 + sum % 4;
}

void Assembly::declare(const std::string& name, bool written) {
  const auto known = role_.find(name);
  if (known != role_.end()) {
    if (!written || known->second == ir::TensorRole::state) return;
    maker_->tensor_of(name).role = ir::TensorRole::output;
    return;
  }
  auto role = written ? ir::TensorRole::output : ir::TensorRole::input;
  if (name == kState) role = ir::TensorRole::state;
  const bool external = name == kState || !written;
  maker_->tensor(name, role, external ? ir::Init::external : ir::Init::undefined);
  maker_->tensor_of(name).rows = 1;
  maker_->tensor_of(name).cols = columns(name);
  role_[name] = role;
}

std::string Assembly::readable() {
  std::vector<std::string> names;
  for (const std::string& name : defined_) {
    if (uses_.back().written.contains(name)) continue;
    // What earlier sections have written is the more interesting.
    for (int i = 0; i < (written_earlier_.contains(name) ? 3 : 1); ++i) names.push_back(name);
  }
  const std::string name = names[random_.below(names.size())];
  uses_.back().read.insert(name);
  declare(name, false);
  return name;
}

std::string Assembly::writable() {
  std::vector<std::string> names;
  for (const std::string& name : written_earlier_) {
    if (name == kState || uses_.back().read.contains(name)) continue;
    if (!uses_.back().written.contains(name)) names.push_back(name);
  }
  const std::string name = !names.empty() && random_.chance(30) ? names[random_.below(names.size())]
                                                                : fmt::format("t{}", fresh_++);
  uses_.back().written.insert(name);
  declare(name, true);
  return name;
}

// ---- motifs

std::optional<std::pair<TestPlace, TestPlace>> Assembly::two_places(bool together) {
  std::vector<std::pair<TestPlace, TestPlace>> all;
  for (const TestPlace& a : places_) {
    for (const TestPlace& b : places_) {
      const bool same = a.site == b.site && a.engine == b.engine;
      if (!same && (!together || a.site == b.site)) all.emplace_back(a, b);
    }
  }
  if (all.empty()) return std::nullopt;
  return all[random_.below(all.size())];
}

std::uint64_t Assembly::allocate(ir::Site site, std::uint64_t bytes) {
  std::uint64_t& top = top_.emplace(site, kResident).first->second;
  const std::uint64_t at = top;
  top += (bytes + kPage - 1) / kPage * kPage;
  return at;
}

std::string Assembly::new_buffer(ir::BufferKind kind, ir::Site site, std::uint64_t pages,
                                 const std::string& name) {
  maker_->buffer(name, kind, site, allocate(site, pages * kPage), pages);
  maker_->buffer_of(name).page_bytes = kPage;
  return name;
}

ir::HandoffId Assembly::between(ir::Site a, ir::Site b) {
  if (a == b) return ir::HandoffId();
  return ir::HandoffId(a.chip == b.chip ? std::uint32_t{0} : std::uint32_t{1});
}

std::string Assembly::new_semaphore(ir::Site site, ir::Site from, const std::string& name) {
  maker_->semaphore(name, site);
  ir::Semaphore& made = maker_->raw().semaphores.back();
  made.maximum = 1 + random_.below(3);
  if (from.chip != site.chip) made.handoff = between(from, site);
  return name;
}

void Assembly::edge(const std::string& producer, const std::string& buffer,
                    const std::string& consumer) {
  if (!random_.chance(50)) return;
  ir::Program& raw = maker_->raw();
  const auto find = [](const auto& items, const std::string& name) {
    std::uint32_t i = 0;
    while (items[i].name != name) ++i;
    return i;
  };
  raw.edges.push_back({ir::StageId(find(raw.stages, producer)),
                       ir::BufferId(find(raw.buffers, buffer)),
                       ir::StageId(find(raw.stages, consumer)), ir::HandoffId()});
}

void Assembly::copy() {
  const TestPlace at = places_[random_.below(places_.size())];
  std::vector<std::string> reads{readable()};
  if (random_.chance(30)) reads.push_back(readable());
  maker_->at(at.site, at.engine).run(stage(), reads, {writable()});
  feature("copy");
}

void Assembly::in_place() {
  if (uses_.back().read.contains(kState) || uses_.back().written.contains(kState)) return copy();
  const TestPlace at = places_[random_.below(places_.size())];
  const std::string other = readable();
  declare(kState, true);
  uses_.back().read.insert(kState);
  uses_.back().written.insert(kState);
  maker_->at(at.site, at.engine)
      .run(stage(), std::vector<std::string>{kState, other}, std::vector<std::string>{kState});
  feature("state in place");
}

void Assembly::pipeline() {
  const auto ends = two_places(false);
  if (!ends) return copy();
  const auto& [from, to] = *ends;
  const std::uint32_t tiles = 1 + random_.below(2), depth = 1 + random_.below(2);
  const std::string fifo = new_buffer(ir::BufferKind::fifo, to.site, depth, own("q"));
  maker_->buffer_of(fifo).handoff = between(from.site, to.site);
  const std::string first = stage(), second = stage();
  const std::string in = readable(), out = writable();
  for (std::uint32_t i = 0; i < tiles; ++i) {
    maker_->at(from.site, from.engine).op(OpCode::reserve, fifo);
    maker_->run(first, std::vector<std::string>{in}, {fifo}).op(OpCode::push, fifo);
    maker_->at(to.site, to.engine).op(OpCode::front, fifo);
    maker_->run(second, std::vector<std::string>{fifo}, {out}).op(OpCode::pop, fifo);
  }
  edge(first, fifo, second);
  feature("fifo");
}

void Assembly::handed_over() {
  const auto ends = two_places(true);
  if (!ends) return copy();
  const auto& [from, to] = *ends;
  const std::string buffer = new_buffer(ir::BufferKind::scratch, to.site, 1, own("b"));
  const std::string full = new_semaphore(to.site, from.site, own("full"));
  const std::string empty = new_semaphore(to.site, from.site, own("empty"));
  const std::string first = stage(), second = stage();
  const std::string in = readable(), out = writable();
  const std::uint32_t rounds = 1 + random_.below(2);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    maker_->at(from.site, from.engine).run(first, std::vector<std::string>{in}, {buffer});
    maker_->op(OpCode::post, full).op(OpCode::wait, empty);
    maker_->at(to.site, to.engine).op(OpCode::wait, full);
    maker_->run(second, std::vector<std::string>{buffer}, {out}).op(OpCode::post, empty);
  }
  edge(first, buffer, second);
  feature("semaphores both ways");
}

void Assembly::tensor_over() {
  const auto ends = two_places(false);
  if (!ends) return copy();
  const auto& [from, to] = *ends;
  const std::string ready = new_semaphore(to.site, from.site, own("ready"));
  const std::string in = readable(), middle = writable(), out = writable();
  maker_->at(from.site, from.engine).run(stage(), std::vector<std::string>{in}, {middle});
  maker_->op(OpCode::post, ready);
  maker_->at(to.site, to.engine).op(OpCode::wait, ready);
  maker_->run(stage(), std::vector<std::string>{middle}, {out});
  if (random_.chance(50)) {
    const std::string back = new_semaphore(from.site, to.site, own("back"));
    maker_->op(OpCode::post, back).at(from.site, from.engine).op(OpCode::wait, back);
  }
  feature(from.site == to.site ? "tensor handed over" : "tensor handed to another site");
}

void Assembly::resident() {
  if (uses_.back().written.contains("kv")) return copy();
  if (!resident_) resident_ = places_[random_.below(places_.size())].site;
  std::vector<TestPlace> there;
  for (const TestPlace& place : places_) {
    if (place.site == *resident_) there.push_back(place);
  }
  const TestPlace at = there[random_.below(there.size())];
  maker_->resident("kv", at.site, 0);
  maker_->buffer_of("kv").page_bytes = kPage;
  uses_.back().written.insert("kv");
  maker_->at(at.site, at.engine);
  if (!resident_written_) {
    maker_->run(stage(), std::vector<std::string>{readable()}, {std::string("kv")});
    resident_written_ = true;
  } else if (random_.chance(70)) {
    maker_->run(stage(), std::vector<std::string>{"kv"}, {writable()});
    feature("resident buffer");
  } else {
    maker_->run(stage(), std::vector<std::string>{"kv", readable()}, {std::string("kv")});
    feature("resident buffer");
  }
}

void Assembly::declare_link(bool fifo) {
  ir::Program& raw = maker_->raw();
  const auto number = static_cast<std::uint32_t>(fifo ? raw.buffers.size() : raw.semaphores.size());
  raw.links.push_back({fifo, number - 1});
}

void Assembly::open_link() {
  const bool fifo = random_.chance(50);
  // A section that has one end of a FIFO says where it lies, and that is where this end is.
  const auto ends = two_places(fifo);
  if (!ends) return;
  const auto& [from, to] = *ends;
  OpenLink link;
  link.name = fmt::format("link{}", fresh_++);
  declare_link_object(fifo, link.name, from, to);
  maker_->at(from.site, from.engine);
  if (fifo) {
    maker_->op(OpCode::reserve, link.name);
    maker_->run(stage(), std::vector<std::string>{readable()}, {link.name});
    maker_->op(OpCode::push, link.name);
  } else {
    link.tensor = writable();
    maker_->run(stage(), std::vector<std::string>{readable()}, {link.tensor});
    maker_->op(OpCode::post, link.name);
    handed_.insert(link.tensor);
  }
  link_ = link;
  link_ends_ = {from, to};
  feature(fifo ? "fifo link" : "semaphore link");
}

void Assembly::declare_link_object(bool fifo, const std::string& name, TestPlace from,
                                   TestPlace to) {
  if (fifo) {
    // Where no section has anything of its own.
    maker_->buffer(name, ir::BufferKind::fifo, to.site, 128, 1);
    maker_->buffer_of(name).page_bytes = kPage;
    maker_->buffer_of(name).handoff = between(from.site, to.site);
  } else {
    maker_->semaphore(name, to.site);
    ir::Semaphore& made = maker_->raw().semaphores.back();
    made.maximum = 1;
    if (from.site.chip != to.site.chip) made.handoff = between(from.site, to.site);
  }
  declare_link(fifo);
}

void Assembly::take_up_link() {
  const auto& [from, to] = link_ends_;
  const bool fifo = link_->tensor.empty();
  declare_link_object(fifo, link_->name, from, to);
  maker_->at(to.site, to.engine).op(fifo ? OpCode::front : OpCode::wait, link_->name);
  const std::string source = fifo ? link_->name : link_->tensor;
  if (!fifo) {
    uses_.back().read.insert(source);
    declare(source, false);
  }
  maker_->run(stage(), std::vector<std::string>{source}, {writable()});
  if (fifo) maker_->op(OpCode::pop, link_->name);
  link_.reset();
  linked_.insert(uses_.size() - 1);
}

}  // namespace spatialcert::tests
