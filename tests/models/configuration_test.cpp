// Configuration files: what is read, what is refused, and those that come with the library.
#include "compose/models/configuration.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

const std::string kGood = R"({
"format": "spatialcert-model", "version": 1, "name": "small", "layers": 4, "hidden": 8,
"vocabulary": 16,
"attention": {"heads": 4, "kv_heads": 2, "head_dim": 4, "qk_norm": true},
"linear_attention": {"key_heads": 2, "value_heads": 4, "key_dim": 2, "value_dim": 3, "convolution": 4, "interval": 4},
"experts": {"count": 8, "routed": 2, "ffn": 3, "shared_ffn": 4},
"quantised": {"rows": 2, "cols": 4},
"dtype": "f32"
})";

std::string with(const std::string& old, const std::string& fresh) {
  std::string text = kGood;
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

TEST_CASE("a configuration says what is in its file") {
  const auto read = models::parse_configuration(kGood, "m.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  CHECK(read->name == "small");
  CHECK(read->layers == 4);
  CHECK(read->hidden == 8);
  CHECK(read->vocabulary == 16);
  CHECK(read->attention.heads == 4);
  CHECK(read->attention.kv_heads == 2);
  CHECK(read->attention.head_dim == 4);
  CHECK(read->attention.qk_norm);
  CHECK_FALSE(read->attention.output_gate);
  CHECK(read->linear_attention->convolution == 4);
  CHECK(read->experts->shared_ffn == 4);
  CHECK(read->quantised->cols == 4);
  CHECK(read->dtype == DType::f32);
  CHECK(models::is_linear(*read, 2));
  CHECK_FALSE(models::is_linear(*read, 3));
}

TEST_CASE("configurations are refused by line and place") {
  struct Bad {
    std::string old, fresh, path, expected;
  };
  const Bad all[] = {
      {"\"version\": 1", "\"version\": 2", "$.version", "version 1"},
      {"spatialcert-model", "spatialcert-program", "$.format", "\"spatialcert-model\""},
      {"\"layers\": 4", "\"layers\": 0", "$.layers", "1"},
      {"\"layers\": 4", "\"layers\": 4, \"layers\": 4", "$.layers", "once"},
      {"\"layers\": 4, ", "", "$", "\"layers\""},
      {"\"hidden\": 8", "\"hidden\": 8.5", "$.hidden", "integer"},
      {"\"hidden\": 8", "\"hiden\": 8", "$.hiden", "\"hidden\""},
      {"\"vocabulary\": 16", "\"vocabulary\": 1048577", "$.vocabulary", "1048576"},
      {"\"kv_heads\": 2", "\"kv_heads\": 3", "$.attention", "multiple of the 3 kv_heads"},
      {"\"head_dim\": 4", "\"head_dim\": 3", "$.attention", "multiple of the 2 halves"},
      {"\"value_heads\": 4", "\"value_heads\": 3", "$.linear_attention",
       "multiple of the 2 key_heads"},
      {"\"convolution\": 4", "\"convolution\": 1", "$.linear_attention", "2 inputs at least"},
      {"\"routed\": 2", "\"routed\": 9", "$.experts", "at most 8 routed"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"i8\"", "$.dtype", "bf16, f16, f32, f64"},
      {"\"dtype\": \"f32\"", "\"arithmetic\": \"fuzzy\"", "$.arithmetic", "real, integer"},
      {"\"dtype\": \"f32\"", "\"arithmetic\": \"integer\"", "$", "no \"quantised\" in integer"},
      {"\"dtype\": \"f32\"", "\"arithmetic\": \"integer\", \"dtype\": \"f32\"", "$",
       "no \"dtype\" in integer"},
      {"\"dtype\": \"f32\"", "\"ffn\": 4", "$", "either \"ffn\" or \"experts\""},
      {"\"name\": \"small\"", "\"name\": \"\"", "$.name", "not empty"}};
  for (const Bad& bad : all) {
    CAPTURE(bad.fresh);
    const auto read = models::parse_configuration(with(bad.old, bad.fresh), "m.json");
    REQUIRE_FALSE(read.has_value());
    INFO(read.error().message());
    CHECK(read.error().file == "m.json");
    CHECK(read.error().line > 0);
    CHECK(read.error().path == bad.path);
    CHECK(read.error().expected.find(bad.expected) != std::string::npos);
  }
  CHECK_FALSE(models::parse_configuration(kGood + "x", "m.json").has_value());
  CHECK_FALSE(models::read_configuration("/nowhere/m.json").has_value());
}

TEST_CASE("the models that come with the library have the sizes that are published") {
  const std::vector<std::string> known = {"llama-3.1-405b", "llama-3.1-70b", "llama-3.1-8b",
                                          "qwen3-8b", "qwen3-next-80b-a3b"};
  CHECK(models::known_models() == known);
  const auto check = [](const char* name, std::uint64_t layers, std::uint64_t hidden,
                        std::uint64_t heads, std::uint64_t kv_heads, std::uint64_t ffn,
                        std::uint64_t vocabulary) {
    CAPTURE(name);
    const auto model = models::known_model(name);
    REQUIRE(model.has_value());
    CHECK(model->name == name);
    CHECK(model->layers == layers);
    CHECK(model->hidden == hidden);
    CHECK(model->attention.heads == heads);
    CHECK(model->attention.kv_heads == kv_heads);
    CHECK(model->ffn == ffn);
    CHECK(model->vocabulary == vocabulary);
    CHECK(model->dtype == DType::bf16);
  };
  check("qwen3-8b", 36, 4096, 32, 8, 12288, 151936);
  check("llama-3.1-8b", 32, 4096, 32, 8, 14336, 128256);
  check("llama-3.1-70b", 80, 8192, 64, 8, 28672, 128256);
  check("llama-3.1-405b", 126, 16384, 128, 8, 53248, 128256);
  check("qwen3-next-80b-a3b", 48, 2048, 16, 2, 0, 151936);
  CHECK(models::known_model("qwen3-8b")->attention.qk_norm);
  CHECK_FALSE(models::known_model("llama-3.1-8b")->attention.qk_norm);
  const auto hybrid = models::known_model("qwen3-next-80b-a3b");
  CHECK(hybrid->experts->count == 512);
  CHECK(hybrid->experts->routed == 10);
  std::size_t linear = 0;
  for (std::uint64_t layer = 0; layer < hybrid->layers; ++layer) {
    if (models::is_linear(*hybrid, layer)) ++linear;
  }
  CHECK(linear == 36);
}

TEST_CASE("an unknown model is refused with the nearest one") {
  const auto model = models::known_model("llama3.1-8b");
  REQUIRE_FALSE(model.has_value());
  CHECK(model.error().expected.find("did you mean llama-3.1-8b?") != std::string::npos);
  CHECK(models::known_model("qwen-8b").error().expected.find("did you mean qwen3-8b?") !=
        std::string::npos);
}

TEST_CASE("docs/model.schema.json and docs/models.md name the members that are read") {
  const auto document = [](const char* name) {
    std::ifstream file(std::string(SPATIALCERT_SOURCE_DIR) + "/docs/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  simdjson::dom::parser parser;
  simdjson::dom::element schema;
  const std::string text = document("model.schema.json"), manual = document("models.md");
  REQUIRE(parser.parse(text).get(schema) == simdjson::SUCCESS);
  const auto unknown = models::parse_configuration(with("\"hidden\"", "\"?\""), "m.json");
  REQUIRE_FALSE(unknown.has_value());
  std::size_t members = 0;
  simdjson::dom::object properties;
  REQUIRE(schema["properties"].get(properties) == simdjson::SUCCESS);
  for (const auto& member : properties) {
    const std::string name(member.key);
    CAPTURE(name);
    CHECK(unknown.error().expected.find("\"" + name + "\"") != std::string::npos);
    CHECK(manual.find("`" + name + "`") != std::string::npos);
    ++members;
    simdjson::dom::object inner;
    if (member.value["properties"].get(inner) != simdjson::SUCCESS) continue;
    for (const auto& part : inner) {
      CHECK_MESSAGE(manual.find(std::string(part.key)) != std::string::npos, part.key);
    }
  }
  CHECK(std::count(unknown.error().expected.begin(), unknown.error().expected.end(), '"') ==
        static_cast<std::ptrdiff_t>(2 * members));
  for (const std::string& name : models::known_models()) {
    CHECK(manual.find("`" + name + "`") != std::string::npos);
  }
}

}  // namespace
}  // namespace spatialcert::tests
