// Buffers, and views of buffers and tensors.
#include <fmt/format.h>

#include <vector>

#include "ir/io/validation.hpp"

namespace spatialcert::ir::io {
namespace {

std::string member_path(std::size_t number, const char* member) {
  return fmt::format("$.buffers[{}].{}", number, member);
}

}  // namespace

void Validation::check_buffers() const {
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    check_site(buffer.site, member_path(i, "site"));
    if (!(buffer.space.value() < program_.target.spaces.size())) {
      refuse(member_path(i, "space"), "a memory space of the target");
    }
    check_buffer_size(i);
    if (buffer.tile) check_tile(i);
    check_buffer_kind(i);
    check_handoff(buffer.handoff, "buffers", i);
    check_lifetime(i);
    check_location(buffer.location, [&] { return fmt::format("$.buffers[{}]", i); });
  }
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    if (program_.buffers[i].view) check_buffer_view(i);
  }
  check_view_chains("buffers", program_.buffers);
}

void Validation::check_buffer_size(std::size_t number) const {
  const Buffer& buffer = program_.buffers[number];
  if (buffer.page_bytes < 1) refuse(member_path(number, "page_bytes"), "at least 1", "0");
  if (buffer.pages < 1) refuse(member_path(number, "pages"), "at least 1", "0");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(buffer.page_bytes, buffer.pages, &bytes)) {
    refuse(member_path(number, "pages"), "page_bytes x pages below 2^63",
           fmt::format("{} x {}", buffer.page_bytes, buffer.pages));
  }
  std::uint64_t end = 0;
  if (__builtin_add_overflow(buffer.address, buffer.bytes(), &end)) {
    refuse(member_path(number, "address"), "a buffer that ends below 2^64",
           fmt::format("{} bytes at {}", buffer.bytes(), buffer.address));
  }
}

void Validation::check_tile(std::size_t number) const {
  const Buffer& buffer = program_.buffers[number];
  const Tile& tile = *buffer.tile;
  if (tile.rows < 1) refuse(member_path(number, "tile.rows"), "at least 1", "0");
  if (tile.cols < 1) refuse(member_path(number, "tile.cols"), "at least 1", "0");
  std::uint64_t bytes = 0;
  if (!__builtin_mul_overflow(tile.rows, tile.cols, &bytes) &&
      !__builtin_mul_overflow(bytes, size_of(tile.dtype), &bytes) && bytes == buffer.page_bytes) {
    return;
  }
  refuse(member_path(number, "tile"), fmt::format("a tile of {} bytes, a page", buffer.page_bytes),
         fmt::format("{} x {} of {}", tile.rows, tile.cols, to_string(tile.dtype)));
}

void Validation::check_buffer_kind(std::size_t number) const {
  const Buffer& buffer = program_.buffers[number];
  if (buffer.kind != BufferKind::fifo) {
    if (buffer.depth == Depth::guaranteed) {
      refuse(member_path(number, "depth"), "\"exact\", as only FIFOs have a guaranteed depth",
             "\"guaranteed\"");
    }
    if (buffer.handoff.valid()) {
      refuse(member_path(number, "handoff"), "a hand-off on FIFOs only",
             fmt::format("one on a buffer of kind {}", to_string(buffer.kind)));
    }
    return;
  }
  if (buffer.init != Init::undefined) {
    refuse(member_path(number, "init"), "\"undefined\", as FIFOs start empty",
           fmt::format("\"{}\"", to_string(buffer.init)));
  }
  if (buffer.lifetime != Lifetime::section) {
    refuse(member_path(number, "lifetime"), "\"section\", as FIFOs are not resident",
           "\"resident\"");
  }
}

void Validation::check_lifetime(std::size_t number) const {
  const Buffer& buffer = program_.buffers[number];
  const auto path = [&] { return member_path(number, "lifetime"); };
  const bool from = buffer.resident_from.valid();
  const bool to = buffer.resident_to.valid();
  if (!from && !to) return;
  if (buffer.lifetime != Lifetime::resident || from != to) {
    refuse(path(), "a first and a last section of a resident buffer only, and both");
  }
  const std::size_t sections = program_.sections.size();
  if (buffer.resident_from.value() >= sections || buffer.resident_to.value() >= sections) {
    refuse(path(), "declared sections");
  }
  if (buffer.resident_to < buffer.resident_from) {
    refuse(path(), "a last section that is not before the first",
           fmt::format("\"{}\" to \"{}\"", program_.sections[buffer.resident_from.value()].name,
                       program_.sections[buffer.resident_to.value()].name));
  }
}

void Validation::check_buffer_view(std::size_t number) const {
  const Buffer& buffer = program_.buffers[number];
  const std::uint64_t offset = buffer.view->offset;
  if (!(buffer.view->base.value() < program_.buffers.size())) {
    refuse(member_path(number, "view.of"), "a declared buffer");
  }
  const Buffer& base = program_.buffers[buffer.view->base.value()];
  if (base.depth == Depth::guaranteed || buffer.depth == Depth::guaranteed) {
    refuse(member_path(number, "view.of"), "FIFOs of exact depth only, as others have no address",
           fmt::format("\"{}\", a view of \"{}\"", buffer.name, base.name));
  }
  if (base.site != buffer.site || base.space != buffer.space) {
    refuse(member_path(number, "view.of"),
           fmt::format("a buffer on {} in \"{}\", as the view is", to_text(buffer.site),
                       program_.target.spaces[buffer.space.value()].name),
           fmt::format("\"{}\" on {} in \"{}\"", base.name, to_text(base.site),
                       program_.target.spaces[base.space.value()].name));
  }
  if (offset > base.bytes() || buffer.bytes() > base.bytes() - offset) {
    refuse(member_path(number, "view.offset"),
           fmt::format("a view inside the {} bytes of \"{}\"", base.bytes(), base.name),
           fmt::format("{} bytes from {}", buffer.bytes(), offset));
  }
  if (buffer.address != base.address + offset) {
    refuse(
        member_path(number, "address"),
        fmt::format("{}, the address of \"{}\" plus the offset", base.address + offset, base.name),
        fmt::format("{}", buffer.address));
  }
}

// No cycles, and along a chain of views at most one init. Linear: every object is passed once.
template <typename Objects>
void Validation::check_view_chains(const char* list, const Objects& objects) const {
  enum class State : std::uint8_t { unseen, open, plain, declares };
  std::vector<State> state(objects.size(), State::unseen);
  std::vector<std::size_t> chain;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    std::size_t at = i;
    for (; state[at] == State::unseen; at = objects[at].view->base.value()) {
      if (!objects[at].view) {
        state[at] = objects[at].init == Init::undefined ? State::plain : State::declares;
        break;
      }
      state[at] = State::open;
      chain.push_back(at);
    }
    if (state[at] == State::open) {
      refuse(fmt::format("$.{}[{}].view.of", list, i), "views that end at an object of its own",
             "a cycle of views");
    }
    bool declared = state[at] == State::declares;
    for (; !chain.empty(); chain.pop_back()) {
      const bool own = objects[chain.back()].init != Init::undefined;
      if (own && declared) {
        refuse(fmt::format("$.{}[{}].init", list, chain.back()),
               "an init on a view or on what it is a view of", "one on both");
      }
      declared = declared || own;
      state[chain.back()] = declared ? State::declares : State::plain;
    }
  }
}

template void Validation::check_view_chains(const char*, const std::vector<Tensor>&) const;
template void Validation::check_view_chains(const char*, const std::vector<Buffer>&) const;

}  // namespace spatialcert::ir::io
