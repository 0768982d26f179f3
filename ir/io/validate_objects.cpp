// Tensors, semaphores, stages, edges.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "ir/io/validation.hpp"

namespace spatialcert::ir::io {

void Validation::check_tensors() const {
  for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
    const Tensor& tensor = program_.tensors[i];
    const auto path = [&](const char* member) {
      return fmt::format("$.tensors[{}].{}", i, member);
    };
    if (tensor.rows < 1) refuse(path("rows"), "at least 1", "0");
    if (tensor.cols < 1) refuse(path("cols"), "at least 1", "0");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(tensor.rows, tensor.cols, &bytes) ||
        __builtin_mul_overflow(bytes, size_of(tensor.dtype), &bytes)) {
      refuse(path("rows"), "rows x cols elements of fewer than 2^63 bytes",
             fmt::format("{} x {}", tensor.rows, tensor.cols));
    }
    if (tensor.owner && *tensor.owner >= program_.target.chips) {
      refuse(path("owner"), fmt::format("a chip below {}", program_.target.chips),
             fmt::format("{}", *tensor.owner));
    }
    if (tensor.values) check_values(i);
    if (tensor.view) check_tensor_view(i);
    check_location(tensor.location, [&] { return fmt::format("$.tensors[{}]", i); });
  }
  check_view_chains("tensors", program_.tensors);
}

void Validation::check_tensor_view(std::size_t number) const {
  const Tensor& tensor = program_.tensors[number];
  const auto path = [&](const char* member) {
    return fmt::format("$.tensors[{}].view.{}", number, member);
  };
  if (!(tensor.view->base.value() < program_.tensors.size()))
    refuse(path("of"), "a declared tensor");
  const Tensor& base = program_.tensors[tensor.view->base.value()];
  if (base.dtype != tensor.dtype) {
    refuse(path("of"), fmt::format("a tensor of {}, as the view is", to_string(tensor.dtype)),
           fmt::format("\"{}\" of {}", base.name, to_string(base.dtype)));
  }
  if (base.owner != tensor.owner) {
    refuse(path("of"), "a tensor of the owner that the view has",
           fmt::format("\"{}\"{}", base.name,
                       base.owner ? fmt::format(" of chip {}", *base.owner) : " without an owner"));
  }
  std::uint64_t size = 0;
  std::uint64_t end = 0;
  // Sizes that overflow are refused where they are declared.
  const bool odd = __builtin_mul_overflow(base.rows, base.cols, &size);
  if (odd || __builtin_add_overflow(tensor.view->offset, tensor.rows * tensor.cols, &end) ||
      end > size) {
    refuse(path("offset"), fmt::format("a view inside the {} elements of \"{}\"", size, base.name),
           fmt::format("{} elements from {}", tensor.rows * tensor.cols, tensor.view->offset));
  }
}

void Validation::check_semaphores() const {
  const Target& target = program_.target;
  std::map<Site, std::uint32_t> on_site;
  for (std::size_t i = 0; i < program_.semaphores.size(); ++i) {
    const Semaphore& semaphore = program_.semaphores[i];
    const auto path = [&](const char* member) {
      return fmt::format("$.semaphores[{}].{}", i, member);
    };
    check_site(semaphore.site, path("site"));
    if (++on_site[semaphore.site] > target.semaphores_per_site) {
      refuse(path("site"),
             fmt::format("at most {} semaphores per site", target.semaphores_per_site),
             fmt::format("one more on {}", to_text(semaphore.site)));
    }
    if (semaphore.maximum < 0 || semaphore.maximum > target.semaphore_maximum) {
      refuse(path("maximum"), fmt::format("0 to the target's {}", target.semaphore_maximum),
             fmt::format("{}", semaphore.maximum));
    }
    if (semaphore.initial < 0 || semaphore.initial > semaphore.maximum) {
      refuse(path("initial"), fmt::format("0 to its maximum of {}", semaphore.maximum),
             fmt::format("{}", semaphore.initial));
    }
    check_handoff(semaphore.handoff, "semaphores", i);
  }
}

void Validation::check_stages() const {
  for (std::size_t i = 0; i < program_.stages.size(); ++i) {
    const Stage& stage = program_.stages[i];
    const auto path = [&](const char* member) { return fmt::format("$.stages[{}].{}", i, member); };
    if (!std::isfinite(stage.scale)) refuse(path("scale"), "a finite number");
    if (stage.op != OpKind::scale && stage.scale != 1.0) {
      refuse(path("scale"), "\"scale\" only on a stage whose op is \"scale\"",
             fmt::format("{}", stage.scale));
    }
    if (!(stage.section.value() < program_.sections.size())) {
      refuse(path("section"), "a declared section");
    }
    check_location(stage.location, [&] { return fmt::format("$.stages[{}]", i); });
  }
}

void Validation::check_edges() const {
  for (std::size_t i = 0; i < program_.edges.size(); ++i) {
    const Edge& edge = program_.edges[i];
    const auto path = [&](const char* member) { return fmt::format("$.edges[{}].{}", i, member); };
    if (!(edge.producer.value() < program_.stages.size()))
      refuse(path("producer"), "a declared stage");
    if (!(edge.buffer.value() < program_.buffers.size()))
      refuse(path("buffer"), "a declared buffer");
    if (!(edge.consumer.value() < program_.stages.size()))
      refuse(path("consumer"), "a declared stage");
    check_handoff(edge.handoff, "edges", i);
  }
}

}  // namespace spatialcert::ir::io
