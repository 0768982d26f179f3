#include "compose/models/configuration.hpp"

#include <fmt/format.h>

#include "compose/composition/manifest_text.hpp"
#include "ir/bytes_file.hpp"
#include "ir/io/enumerations.hpp"
#include "ir/io/json_reader.hpp"

namespace spatialcert::compose::models {
namespace {

namespace io = ir::io;

constexpr ManifestFormat kText{"a model (a JSON object)", "spatialcert-model", 1};

enum Member : std::size_t {
  kFormatKey,
  kVersionKey,
  kName,
  kLayers,
  kHidden,
  kVocabulary,
  kAttention,
  kLinearAttention,
  kFfn,
  kExperts,
  kQuantised,
  kArithmetic,
  kDtype
};
constexpr io::Key kMembers[] = {{"format"},
                                {"version"},
                                {"name"},
                                {"layers"},
                                {"hidden"},
                                {"vocabulary"},
                                {"attention"},
                                {"linear_attention", false},
                                {"ffn", false},
                                {"experts", false},
                                {"quantised", false},
                                {"arithmetic", false},
                                {"dtype", false}};
constexpr io::Key kAttentionKeys[] = {
    {"heads"}, {"kv_heads"}, {"head_dim"}, {"qk_norm", false}, {"output_gate", false}};
constexpr io::Key kLinearKeys[] = {{"key_heads"}, {"value_heads"}, {"key_dim"},
                                   {"value_dim"}, {"convolution"}, {"interval"}};
constexpr io::Key kExpertKeys[] = {{"count"}, {"routed"}, {"ffn"}, {"shared_ffn", false}};
constexpr io::Key kBlockKeys[] = {{"rows"}, {"cols"}};

/// Sizes are so small that products of four of them fit 63 bits, and real models have them.
constexpr std::int64_t kLargest = 1 << 20;

class Reader {
 public:
  Reader(const io::JsonReader& json, Configuration& out) : json_(json), out_(out) {}

  void read(io::Object root, const char* at) {
    bool dtype = false;
    json_.members_of(root, at, kMembers, [&](std::size_t key, io::Value& value) {
      dtype |= key == kDtype;
      read_member(key, value);
    });
    if ((out_.ffn == 0) == !out_.experts) {
      io::JsonReader::refuse(at, "either \"ffn\" or \"experts\"",
                             out_.experts ? "both" : "neither");
    }
    if (out_.arithmetic == Arithmetic::integer) {
      if (dtype) io::JsonReader::refuse(at, "no \"dtype\" in integer arithmetic", "one");
      if (out_.quantised) {
        io::JsonReader::refuse(at, "no \"quantised\" in integer arithmetic", "it");
      }
      out_.dtype = ir::DType::i64;
    }
  }

 private:
  void read_member(std::size_t key, io::Value& value) {
    switch (key) {
      case kName:
        out_.name = text_in(json_, value);
        break;
      case kLayers:
        out_.layers = size(value);
        break;
      case kHidden:
        out_.hidden = size(value);
        break;
      case kVocabulary:
        out_.vocabulary = size(value);
        break;
      case kAttention:
        read_attention(value);
        break;
      case kLinearAttention:
        read_linear(value);
        break;
      case kFfn:
        out_.ffn = size(value);
        break;
      case kExperts:
        read_experts(value);
        break;
      case kQuantised:
        read_sizes(value, "{\"rows\", \"cols\"}", kBlockKeys,
                   {&out_.quantised.emplace().rows, &out_.quantised->cols});
        break;
      case kArithmetic:
        out_.arithmetic =
            one_of(value, {"real", "integer"}) == 1 ? Arithmetic::integer : Arithmetic::real;
        break;
      case kDtype: {
        const ir::DType types[] = {ir::DType::bf16, ir::DType::f16, ir::DType::f32, ir::DType::f64};
        out_.dtype = types[one_of(value, {"bf16", "f16", "f32", "f64"})];
        break;
      }
      default:
        break;  // format and version have been checked
    }
  }

  [[nodiscard]] std::uint64_t size(io::Value& value) const {
    return static_cast<std::uint64_t>(json_.integer(value, 1, kLargest));
  }

  std::size_t one_of(io::Value& value, const std::vector<std::string_view>& words) const {
    const char* const at = io::JsonReader::start(value);
    const std::string_view text = json_.string(value);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (text == words[i]) return i;
    }
    json_.refuse(at, fmt::format("one of {}", fmt::join(words, ", ")));
  }

  template <std::size_t N>
  void read_sizes(io::Value& value, const char* what, const io::Key (&keys)[N],
                  const std::vector<std::uint64_t*>& to) {
    json_.members(value, what, keys,
                  [&](std::size_t key, io::Value& member) { *to[key] = size(member); });
  }

  void expect_multiple(const char* at, std::uint64_t value, std::uint64_t of, const char* what,
                       const char* of_what) const {
    if (value % of == 0) return;
    io::JsonReader::refuse(at,
                           fmt::format("{} that are a multiple of the {} {}", what, of, of_what),
                           fmt::format("{}", value));
  }

  void read_attention(io::Value& value) {
    const char* const at = io::JsonReader::start(value);
    Attention& a = out_.attention;
    std::uint64_t* const sizes[] = {&a.heads, &a.kv_heads, &a.head_dim};
    bool* const flags[] = {&a.qk_norm, &a.output_gate};
    json_.members(value, "the heads of attention", kAttentionKeys,
                  [&](std::size_t key, io::Value& member) {
                    if (key < 3) {
                      *sizes[key] = size(member);
                    } else {
                      *flags[key - 3] = json_.boolean(member);
                    }
                  });
    expect_multiple(at, a.heads, a.kv_heads, "heads", "kv_heads");
    expect_multiple(at, a.head_dim, 2, "head dimensions", "halves that rotations turn");
  }

  void read_linear(io::Value& value) {
    const char* const at = io::JsonReader::start(value);
    LinearAttention& l = out_.linear_attention.emplace();
    read_sizes(
        value, "the heads of linear attention", kLinearKeys,
        {&l.key_heads, &l.value_heads, &l.key_dim, &l.value_dim, &l.convolution, &l.interval});
    expect_multiple(at, l.value_heads, l.key_heads, "value_heads", "key_heads");
    if (l.convolution < 2) io::JsonReader::refuse(at, "a convolution of 2 inputs at least", "1");
  }

  void read_experts(io::Value& value) {
    const char* const at = io::JsonReader::start(value);
    Experts& e = out_.experts.emplace();
    read_sizes(value, "experts", kExpertKeys, {&e.count, &e.routed, &e.ffn, &e.shared_ffn});
    if (e.routed > e.count) {
      io::JsonReader::refuse(at, fmt::format("at most {} routed experts", e.count),
                             fmt::format("{}", e.routed));
    }
  }

  const io::JsonReader& json_;
  Configuration& out_;
};

}  // namespace

bool is_linear(const Configuration& configuration, std::uint64_t layer) {
  return configuration.linear_attention &&
         (layer + 1) % configuration.linear_attention->interval != 0;
}

ir::Result<Configuration> parse_configuration(std::string_view json, const std::string& file) {
  Configuration out;
  ir::Status refused = read_manifest_text(
      json, file, kText, [&](const io::JsonReader& reader, io::Object root, const char* at) {
        Reader(reader, out).read(root, at);
      });
  if (refused) return *std::move(refused);
  return out;
}

ir::Result<Configuration> read_configuration(const std::string& path) {
  const ir::Result<std::string> bytes = ir::read_bytes(path);
  if (!bytes) return bytes.error();
  return parse_configuration(*bytes, path);
}

}  // namespace spatialcert::compose::models
