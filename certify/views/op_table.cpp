#include "certify/views/op_table.hpp"

#include "certify/report.hpp"
#include "certify/views/markup.hpp"

namespace spatialcert::certify::views {
namespace {

constexpr std::size_t kText = 240;
constexpr std::size_t kName = 160;

}  // namespace

std::uint32_t Texts::of(const std::string& text) {
  const auto [at, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(all_.size()));
  if (fresh) all_.push_back(text);
  return at->second;
}

void Texts::write(const char* key, ir::io::JsonWriter& json) const {
  json.key(key).array();
  for (const std::string& text : all_) json.text(text);
  json.close();
}

void OpTable::write_op(ir::TransitionId t, ir::io::JsonWriter& json) {
  const std::pair key{names_.program_of(t), names_.unrolled().op[t.value()]};
  const auto [at, fresh] = at_.try_emplace(key, static_cast<std::uint32_t>(ops_.size()));
  if (fresh) ops_.push_back(key);
  json.natural(at->second).natural(instances_.of(names_.instance(t)));
}

void OpTable::write(ir::io::JsonWriter& json) const {
  const ir::Program& program = names_.program();
  Texts parts;
  Texts sources;
  json.key("ops").array();
  for (const auto& [p, op] : ops_) {
    const ir::Op& text = program.programs[p.value()].ops[op];
    json.array().natural(op);
    json.text(clipped(op_text(program, text), kText));
    json.natural(parts.of(clipped(part_text(program, p, op), kName)));
    json.natural(sources.of(clipped(source_text(program, text.location), kName)));
    json.close();
  }
  json.close();
  parts.write("parts", json);
  sources.write("sources", json);
  instances_.write("instances", json);
}

}  // namespace spatialcert::certify::views
