// Configurations of decoder models: the sizes that their publishers give, as data files
// (docs/models.md).
//
// A configuration is a JSON object, format `spatialcert-model`, version 1, read as strictly as
// program files. Those of `compose/models/configurations/` are part of the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose::models {

/// `integer` is an arithmetic for tests: what needs real numbers is replaced by something of
/// integers with the same operands (docs/models.md), so that programs can be compared bit by bit.
enum class Arithmetic : std::uint8_t { real, integer };

/// Attention with a query head per `heads` and a key and value head per `kv_heads`.
struct Attention {
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_dim = 0;
  bool qk_norm = false;      ///< queries and keys are normalised head by head
  bool output_gate = false;  ///< the result is multiplied by the sigmoid of a projection
};

/// Gated DeltaNet [Yang, Kautz, Hatamizadeh 2025]. Value head v has the key head v modulo
/// key_heads.
struct LinearAttention {
  std::uint64_t key_heads = 0;
  std::uint64_t value_heads = 0;
  std::uint64_t key_dim = 0;
  std::uint64_t value_dim = 0;
  std::uint64_t convolution = 0;  ///< width, the present input included
  std::uint64_t interval = 0;     ///< every so many layers the last one has attention instead
};

/// A mixture of experts in the place of the feed-forward network.
struct Experts {
  std::uint64_t count = 0;
  std::uint64_t routed = 0;      ///< chosen for a token
  std::uint64_t ffn = 0;         ///< columns of one expert
  std::uint64_t shared_ffn = 0;  ///< of the expert that every token takes, with a gate; 0: none
};

/// Weights of projections as values of i8 with a scale for every block of rows x cols.
struct Quantisation {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
};

struct Configuration {
  std::string name;
  std::uint64_t layers = 0;
  std::uint64_t hidden = 0;
  std::uint64_t vocabulary = 0;
  Attention attention;
  std::optional<LinearAttention> linear_attention;
  std::uint64_t ffn = 0;           ///< columns of the feed-forward network; 0 with experts
  std::optional<Experts> experts;  ///< or this
  std::optional<Quantisation> quantised;
  Arithmetic arithmetic = Arithmetic::real;
  ir::DType dtype = ir::DType::bf16;  ///< of weights and activations; i64 in integer arithmetic
};

/// Has this layer linear attention?
[[nodiscard]] bool is_linear(const Configuration& configuration, std::uint64_t layer);

/// `file` only labels refusals. Refused beside what is not of the form: sizes of 0, query heads
/// that are no multiple of key and value heads (or value heads of key heads), an odd head
/// dimension, more experts chosen than there are, quantised integers.
[[nodiscard]] ir::Result<Configuration> parse_configuration(std::string_view json,
                                                            const std::string& file);
[[nodiscard]] ir::Result<Configuration> read_configuration(const std::string& path);

/// Names of the configurations that come with the library, in alphabetical order.
[[nodiscard]] std::vector<std::string> known_models();
/// Refused: an unknown name, with the nearest known one.
[[nodiscard]] ir::Result<Configuration> known_model(std::string_view name);

}  // namespace spatialcert::compose::models
