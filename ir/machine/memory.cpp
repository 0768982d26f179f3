#include "ir/machine/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::ir::machine {
namespace {

std::uint64_t to_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Throws unless 0 <= low < high <= size.
void expect_inside(std::int64_t low, std::int64_t high, std::uint64_t size, const char* what) {
  if (low >= 0 && low < high && to_unsigned(high) <= size) return;
  throw Failure{FaultKind::outside, fmt::format("{} [{}, {}) of {}", what, low, high, size)};
}

}  // namespace

Result<Memory> Memory::make(const Program& program) {
  Memory memory(program);
  if (memory.place_tensors() && memory.place_buffers()) return memory;
  return Refusal{"", 0, "$",
                 fmt::format("tensors and buffers of at most {} bytes together, for the reference "
                             "machine",
                             kMostBytes),
                 "more"};
}

std::optional<std::uint32_t> Memory::add_storage(std::uint64_t bytes, bool memory) {
  if (bytes > kMostBytes - total_) return std::nullopt;
  total_ += bytes;
  Storage& storage = storages_.emplace_back();
  storage.bytes.byte.assign(bytes, 0);
  storage.bytes.mark.assign(bytes, 0);
  if (memory && program_->execution == Execution::persistent) storage.iteration.assign(bytes, 0);
  return static_cast<std::uint32_t>(storages_.size() - 1);
}

bool Memory::place_tensors() {
  tensors_.resize(program_->tensors.size());
  for (std::uint32_t t = 0; t < tensors_.size(); ++t) {
    const Tensor& tensor = program_->tensors[t];
    if (tensor.view) continue;
    const auto storage = add_storage(tensor.rows * tensor.cols * size_of(tensor.dtype), false);
    if (!storage) return false;
    tensors_[t] = {*storage, 0};
  }
  for (std::uint32_t t = 0; t < tensors_.size(); ++t) {
    std::uint64_t offset = 0;
    std::uint32_t base = t;
    for (; program_->tensors[base].view; base = program_->tensors[base].view->base.value()) {
      offset += program_->tensors[base].view->offset;
    }
    tensors_[t] = {tensors_[base].storage, offset * size_of(program_->tensors[t].dtype)};
  }
  return true;
}

// Per memory, stretches of addresses that buffers cover without a gap are one storage: the
// spaces themselves may be larger than anything that can be kept.
bool Memory::place_buffers() {
  const auto& buffers = program_->buffers;
  buffers_.resize(buffers.size());
  for (const Buffer& buffer : buffers) {
    const Buffer* base = &buffer;
    while (base->view) base = &buffers[base->view->base.value()];
    mortal_.push_back(program_->execution == Execution::persistent &&
                      base->lifetime == Lifetime::section);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].depth == Depth::exact) {
      order.push_back(b);
      continue;
    }
    const auto storage = add_storage(buffers[b].bytes(), false);
    if (!storage) return false;
    buffers_[b] = {*storage, 0};
  }
  const auto key = [&](std::uint32_t b) {
    return std::tuple(buffers[b].site, buffers[b].space, buffers[b].address);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < order.size();) {
    const Buffer& first = buffers[order[i]];
    std::uint64_t end = first.address;
    std::size_t last = i;
    for (; last < order.size(); ++last) {
      const Buffer& buffer = buffers[order[last]];
      if (buffer.site != first.site || buffer.space != first.space || buffer.address > end) break;
      end = std::max(end, buffer.address + buffer.bytes());
    }
    const auto storage = add_storage(end - first.address, true);
    if (!storage) return false;
    for (; i < last; ++i)
      buffers_[order[i]] = {*storage, buffers[order[i]].address - first.address};
  }
  return true;
}

Place Memory::tensor_place(std::uint32_t tensor) const {
  const Tensor& t = program_->tensors[tensor];
  const std::uint64_t row = t.cols * size_of(t.dtype);
  Place place{tensors_[tensor].storage, tensors_[tensor].offset, 1, t.rows * row, 0, {}, false};
  place.known = {Shape{t.rows, t.cols}, t.dtype};
  return place;
}

Place Memory::buffer_place(std::uint32_t buffer) const {
  const Buffer& b = program_->buffers[buffer];
  Place place{buffers_[buffer].storage, buffers_[buffer].offset, 1, b.bytes(), 0, {}, false};
  set_tile(place, b, 0);
  place.mortal = mortal_[buffer] != 0;
  return place;
}

Place Memory::locate(const Region& region, const std::int64_t bounds[4], bool write,
                     const PlayState& state) const {
  if (region.kind == RegionKind::page) return page_place(region, bounds, write, state);
  if (region.kind == RegionKind::bytes) {
    const Buffer& buffer = program_->buffers[region.object];
    expect_inside(bounds[0], bounds[1], buffer.bytes(), "bytes");
    Place place = buffer_place(region.object);
    place.start += to_unsigned(bounds[0]);
    place.run_bytes = to_unsigned(bounds[1] - bounds[0]);
    set_tile(place, buffer, to_unsigned(bounds[0]));
    return place;
  }
  const Tensor& tensor = program_->tensors[region.object];
  expect_inside(bounds[0], bounds[1], tensor.rows, "rows");
  expect_inside(bounds[2], bounds[3], tensor.cols, "columns");
  const std::uint64_t element = size_of(tensor.dtype);
  const std::uint64_t rows = to_unsigned(bounds[1] - bounds[0]);
  const std::uint64_t cols = to_unsigned(bounds[3] - bounds[2]);
  Place place = tensor_place(region.object);
  place.start += (to_unsigned(bounds[0]) * tensor.cols + to_unsigned(bounds[2])) * element;
  place.runs = rows;
  place.run_bytes = cols * element;
  place.stride = tensor.cols * element;
  place.known.shape = Shape{rows, cols};
  return place;
}

Place Memory::page_place(const Region& region, const std::int64_t bounds[4], bool write,
                         const PlayState& state) const {
  const Buffer& fifo = program_->buffers[region.object];
  expect_inside(bounds[0], bounds[1], fifo.page_bytes, "bytes");
  const std::int64_t passed = (write ? state.pushed : state.popped)[region.object];
  const std::uint64_t slot = (to_unsigned(passed) + region.page) % fifo.pages;
  Place place{buffers_[region.object].storage, buffers_[region.object].offset, 1, 0, 0, {}, false};
  place.start += slot * fifo.page_bytes + to_unsigned(bounds[0]);
  place.run_bytes = to_unsigned(bounds[1] - bounds[0]);
  set_tile(place, fifo, to_unsigned(bounds[0]));
  return place;
}

/// Bytes of a tile are a matrix if they are whole rows of it or lie in one of them. `low` is
/// counted from the beginning of a page.
void Memory::set_tile(Place& place, const Buffer& buffer, std::uint64_t low) const {
  place.known = {};
  if (!buffer.tile) return;
  const std::uint64_t element = size_of(buffer.tile->dtype);
  const std::uint64_t row = buffer.tile->cols * element;
  const std::uint64_t size = place.run_bytes;
  if (low % element != 0 || size % element != 0) return;
  place.known.type = buffer.tile->dtype;
  if (low % row == 0 && size % row == 0) {
    place.known.shape = Shape{size / row, buffer.tile->cols};
  } else if (low / row == (low + size - 1) / row) {
    place.known.shape = Shape{1, size / element};
  }
}

Bytes Memory::look(const Place& place) const {
  const Storage& storage = storages_[place.storage];
  Bytes out;
  out.byte.reserve(place.bytes());
  out.mark.reserve(place.bytes());
  for (std::uint64_t r = 0; r < place.runs; ++r) {
    const auto from = static_cast<std::ptrdiff_t>(place.start + r * place.stride);
    const auto to = from + static_cast<std::ptrdiff_t>(place.run_bytes);
    const auto& [byte, mark] = storage.bytes;
    out.byte.insert(out.byte.end(), byte.begin() + from, byte.begin() + to);
    out.mark.insert(out.mark.end(), mark.begin() + from, mark.begin() + to);
  }
  return out;
}

Bytes Memory::read(const Place& place, std::uint32_t iteration) const {
  Bytes out = look(place);
  const auto undefined = std::find(out.mark.begin(), out.mark.end(), 0);
  if (undefined != out.mark.end()) {
    throw Failure{
        FaultKind::undefined_read,
        fmt::format("byte {} of what it reads was never written", undefined - out.mark.begin())};
  }
  const auto& written = storages_[place.storage].iteration;
  if (!place.mortal || written.empty()) return out;
  for (std::uint64_t i = 0; i < place.bytes(); ++i) {
    // Regions of buffers are one run.
    if (written[place.start + i] == iteration) continue;
    throw Failure{FaultKind::undefined_read,
                  fmt::format("byte {} of what it reads is of iteration {}, and the buffer keeps "
                              "nothing for iteration {}",
                              i, written[place.start + i], iteration)};
  }
  return out;
}

void Memory::write(const Place& place, const Bytes& bytes, std::uint32_t iteration) {
  SPATIALCERT_REQUIRE(bytes.byte.size() == place.bytes(), "a region is written as a whole");
  Storage& storage = storages_[place.storage];
  for (std::uint64_t r = 0; r < place.runs; ++r) {
    const auto source = static_cast<std::ptrdiff_t>(r * place.run_bytes);
    const auto from = static_cast<std::ptrdiff_t>(place.start + r * place.stride);
    std::copy_n(bytes.byte.begin() + source, place.run_bytes, storage.bytes.byte.begin() + from);
    std::copy_n(bytes.mark.begin() + source, place.run_bytes, storage.bytes.mark.begin() + from);
    if (storage.iteration.empty()) continue;
    std::fill_n(storage.iteration.begin() + from, place.run_bytes, iteration);
  }
}

void Memory::undefine(const Place& place) {
  write(place,
        {std::vector<std::uint8_t>(place.bytes(), 0), std::vector<std::uint8_t>(place.bytes(), 0)},
        0);
}

void Memory::fill_with_zeros(const Place& place) {
  write(place,
        {std::vector<std::uint8_t>(place.bytes(), 0),
         std::vector<std::uint8_t>(place.bytes(), kZeroOfAnyType)},
        0);
}

void Memory::free_pages(std::uint32_t fifo, std::int64_t count, const PlayState& state) {
  const auto bytes = static_cast<std::int64_t>(program_->buffers[fifo].page_bytes);
  Region region;
  region.kind = RegionKind::page;
  region.object = fifo;
  const std::int64_t bounds[4] = {0, bytes, 0, 0};
  for (; region.page < count; ++region.page) undefine(page_place(region, bounds, false, state));
}

namespace {

std::uint8_t mark_of(DType type, std::uint64_t byte) {
  return static_cast<std::uint8_t>(1 + 8 * static_cast<std::uint64_t>(type) + byte);
}

bool is_element(const std::uint8_t* mark, DType type) {
  for (std::uint64_t b = 0; b < size_of(type); ++b) {
    if (mark[b] != mark_of(type, b) && mark[b] != kZeroOfAnyType) return false;
  }
  return true;
}

}  // namespace

std::optional<DType> type_of(const Bytes& bytes) {
  for (const std::uint8_t mark : bytes.mark) {
    if (mark != 0 && mark != kZeroOfAnyType) return static_cast<DType>((mark - 1) / 8);
  }
  return std::nullopt;
}

void expect_elements(const Bytes& bytes, DType type) {
  const std::uint64_t element = size_of(type);
  for (std::uint64_t i = 0; i < bytes.mark.size(); i += element) {
    if (i + element <= bytes.mark.size() && is_element(&bytes.mark[i], type)) continue;
    const auto found = type_of(bytes);
    throw Failure{
        FaultKind::wrong_type,
        found && *found != type
            ? fmt::format("elements of {} where {} is wanted", to_string(*found), to_string(type))
            : fmt::format("byte {} begins no whole {}", i, to_string(type))};
  }
}

Operand decoded(const Bytes& bytes, const Target& known, std::optional<DType> type) {
  if (known.type) type = known.type;
  if (const auto own = type_of(bytes); own && !known.type) type = own;
  if (!type) throw Failure{FaultKind::wrong_type, "zeros of which nothing says the type"};
  expect_elements(bytes, *type);
  const Shape shape = known.shape.value_or(Shape{1, bytes.byte.size() / size_of(*type)});
  return {seen(bytes, shape, *type), known.shape.has_value()};
}

Matrix seen(const Bytes& bytes, const Shape& shape, DType type) {
  Matrix out(type, shape.rows, shape.cols);
  const std::uint64_t element = size_of(type);
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    if (!is_element(&bytes.mark[i * element], type)) {
      if (out.defined()) out.undefined.assign(out.size(), 0);
      out.undefined[i] = 1;
    } else if (is_integer(type)) {
      out.integers[i] = decode_integer(&bytes.byte[i * element], type);
    } else {
      out.reals[i] = decode_real(&bytes.byte[i * element], type);
    }
  }
  return out;
}

Bytes encoded(const Matrix& value) {
  const std::uint64_t element = size_of(value.dtype);
  Bytes out;
  out.byte.resize(value.size() * element);
  out.mark.resize(value.size() * element);
  for (std::uint64_t i = 0; i < value.size(); ++i) {
    if (is_integer(value.dtype)) {
      encode_integer(value.integers[i], value.dtype, &out.byte[i * element]);
    } else {
      encode_real(value.reals[i], value.dtype, &out.byte[i * element]);
    }
    for (std::uint64_t b = 0; b < element; ++b) out.mark[i * element + b] = mark_of(value.dtype, b);
  }
  return out;
}

}  // namespace spatialcert::ir::machine
