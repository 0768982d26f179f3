#include "ir/machine/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace spatialcert::ir::machine {
namespace {

std::string shape_text(const Matrix& m) {
  return fmt::format("{} x {} of {}", m.rows, m.cols, to_string(m.dtype));
}

Status wrong(const char* list, const std::string& name, std::string expected, std::string found) {
  return Refusal{"", 0, fmt::format("inputs.{}[\"{}\"]", list, name), std::move(expected),
                 std::move(found)};
}

/// As many values as elements, of its class, all defined and in range.
bool sound(const Matrix& m) {
  const bool integers = is_integer(m.dtype);
  if (!m.defined() || (integers ? m.integers.size() : m.reals.size()) != m.size()) return false;
  return std::all_of(m.integers.begin(), m.integers.end(),
                     [&](std::int64_t x) { return range_of(m.dtype).holds(x); });
}

template <typename Objects>
const typename Objects::value_type* named(const Objects& objects, const std::string& name) {
  const auto at = std::find_if(objects.begin(), objects.end(),
                               [&](const auto& object) { return object.name == name; });
  return at == objects.end() ? nullptr : &*at;
}

Status check_tensors(const Program& program, const Inputs& inputs) {
  for (const auto& [name, value] : inputs.tensors) {
    const Tensor* tensor = named(program.tensors, name);
    if (tensor == nullptr || tensor->init != Init::external) {
      return wrong("tensors", name, "a tensor whose init is \"external\"",
                   tensor == nullptr ? "no tensor of that name" : "another init");
    }
    if (value.rows != tensor->rows || value.cols != tensor->cols || value.dtype != tensor->dtype) {
      return wrong(
          "tensors", name,
          fmt::format("{} x {} of {}", tensor->rows, tensor->cols, to_string(tensor->dtype)),
          shape_text(value));
    }
    if (!sound(value)) return wrong("tensors", name, "defined values of its type", "others");
  }
  return {};
}

Status check_buffers(const Program& program, const Inputs& inputs) {
  for (const auto& [name, value] : inputs.buffers) {
    const Buffer* buffer = named(program.buffers, name);
    if (buffer == nullptr || buffer->init != Init::external) {
      return wrong("buffers", name, "a buffer whose init is \"external\"",
                   buffer == nullptr ? "no buffer of that name" : "another init");
    }
    const bool size = value.size() * size_of(value.dtype) == buffer->bytes();
    const bool tile =
        !buffer->tile || (value.dtype == buffer->tile->dtype && value.cols == buffer->tile->cols);
    if (!size || !tile) {
      return wrong("buffers", name, fmt::format("its {} bytes, in its tile", buffer->bytes()),
                   shape_text(value));
    }
    if (!sound(value)) return wrong("buffers", name, "defined values of its type", "others");
  }
  for (const Buffer& buffer : program.buffers) {
    if (buffer.init != Init::external || buffer.tile || inputs.buffers.count(buffer.name) != 0) {
      continue;
    }
    if (!inputs.untyped) {
      return wrong("buffers", buffer.name, "contents of an external buffer without a tile", "none");
    }
    if (buffer.bytes() % size_of(*inputs.untyped) != 0) {
      return wrong("buffers", buffer.name,
                   fmt::format("whole elements of {}", to_string(*inputs.untyped)),
                   fmt::format("{} bytes", buffer.bytes()));
    }
  }
  return {};
}

std::uint64_t hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t h = 0xcbf29ce484222325U ^ seed * 0x9e3779b97f4a7c15U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return h;
}

Matrix random_matrix(const std::string& name, std::uint64_t seed, DType type, Shape shape) {
  std::mt19937_64 random(hash(name, seed));
  Matrix out(type, shape.rows, shape.cols);
  for (auto& x : out.integers) x = static_cast<std::int64_t>(random() % 17) - 8;
  for (double& x : out.reals) x = (static_cast<double>(random() % 127) - 63) / 64;
  return out;
}

Matrix given_or_random(const std::map<std::string, Matrix>& given, const std::string& name,
                       std::uint64_t seed, DType type, Shape shape) {
  const auto at = given.find(name);
  if (at == given.end()) return random_matrix(name, seed, type, shape);
  Matrix out = at->second;
  for (double& x : out.reals) x = rounded(x, type);
  return out;
}

/// Does the storage of this tensor live on when the host starts the program again? Decided where
/// the storage is declared, which for a view is its base.
std::vector<char> kept_tensors(const Program& program) {
  const std::unordered_set<std::string_view> carried(program.carried.begin(),
                                                     program.carried.end());
  std::vector<char> own;
  for (const Tensor& t : program.tensors) {
    const bool lives = t.role == TensorRole::state || t.role == TensorRole::weight;
    own.push_back(lives || carried.count(t.name) != 0 ? 1 : 0);
  }
  // What any name of a storage keeps is kept.
  std::vector<char> kept(own.size(), 0);
  const auto base = [&](std::uint32_t t) {
    while (program.tensors[t].view) t = program.tensors[t].view->base.value();
    return t;
  };
  for (std::uint32_t t = 0; t < own.size(); ++t) kept[base(t)] |= own[t];
  for (std::uint32_t t = 0; t < own.size(); ++t) kept[t] = kept[base(t)];
  return kept;
}

bool lives_for_ever(const Program& program, const Buffer& buffer) {
  const Buffer* base = &buffer;
  while (base->view) base = &program.buffers[base->view->base.value()];
  return base->lifetime == Lifetime::resident && !base->resident_from.valid();
}

void set_tensors(const Program& program, const Inputs& inputs, bool again, Memory& memory) {
  const std::vector<char> kept = kept_tensors(program);
  for (std::uint32_t t = 0; t < kept.size(); ++t) {
    if (again && kept[t] == 0 && !program.tensors[t].view) memory.undefine(memory.tensor_place(t));
  }
  for (std::uint32_t t = 0; t < kept.size(); ++t) {
    const Tensor& tensor = program.tensors[t];
    const bool keeps = again && kept[t] != 0 && inputs.tensors.count(tensor.name) == 0;
    if (tensor.init == Init::undefined || keeps) continue;
    const Shape shape{tensor.rows, tensor.cols};
    const Matrix value =
        tensor.init == Init::zero
            ? Matrix(tensor.dtype, shape.rows, shape.cols)
            : given_or_random(inputs.tensors, tensor.name, inputs.seed, tensor.dtype, shape);
    memory.write(memory.tensor_place(t), encoded(value), 0);
  }
}

void set_buffer(const Buffer& buffer, std::uint32_t number, const Inputs& inputs, Memory& memory) {
  const Place place = memory.buffer_place(number);
  if (buffer.init == Init::zero) return memory.fill_with_zeros(place);
  const auto given = inputs.buffers.find(buffer.name);
  const DType type = buffer.tile                     ? buffer.tile->dtype
                     : given != inputs.buffers.end() ? given->second.dtype
                                                     : *inputs.untyped;
  const std::uint64_t cols = buffer.tile ? buffer.tile->cols : buffer.bytes() / size_of(type);
  const Shape shape{buffer.bytes() / size_of(type) / cols, cols};
  memory.write(place,
               encoded(given_or_random(inputs.buffers, buffer.name, inputs.seed, type, shape)), 0);
}

void set_buffers(const Program& program, const Inputs& inputs, bool again, Memory& memory) {
  std::vector<char> keeps;
  for (const Buffer& b : program.buffers) {
    keeps.push_back(again && lives_for_ever(program, b) && inputs.buffers.count(b.name) == 0);
  }
  for (std::uint32_t b = 0; again && b < keeps.size(); ++b) {
    if (!lives_for_ever(program, program.buffers[b])) memory.undefine(memory.buffer_place(b));
  }
  for (std::uint32_t b = 0; b < keeps.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (keeps[b] == 0 && buffer.init != Init::undefined) set_buffer(buffer, b, inputs, memory);
  }
}

}  // namespace

Status check_inputs(const Program& program, const Inputs& inputs) {
  if (Status status = check_tensors(program, inputs)) return status;
  return check_buffers(program, inputs);
}

void set_contents(const Program& program, const Inputs& inputs, bool again, Memory& memory) {
  set_tensors(program, inputs, again, memory);
  set_buffers(program, inputs, again, memory);
}

}  // namespace spatialcert::ir::machine
