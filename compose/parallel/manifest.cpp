// Reading and writing of parallelism manifests.
#include "compose/parallel/manifest.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "compose/composition/manifest_text.hpp"
#include "ir/bytes_file.hpp"
#include "ir/io/enumerations.hpp"
#include "ir/io/json_reader.hpp"
#include "ir/io/json_writer.hpp"
#include "ir/io/locate.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::compose::parallel {
namespace {

namespace io = ir::io;

constexpr ManifestFormat kText{"a split over chips (a JSON object)", "spatialcert-parallelism", 1};

enum Member : std::size_t {
  kFormatKey,
  kVersionKey,
  kChips,
  kOwners,
  kQuantised,
  kSlices,
  kCollectives,
  kStatements
};
constexpr io::Key kMembers[] = {{"format"},
                                {"version"},
                                {"chips"},
                                {"owners", false},
                                {"quantised", false},
                                {"slices", false},
                                {"collectives", false},
                                {"statements", false}};
constexpr io::Key kQuantisedKeys[] = {{"weight"}, {"values"}, {"scales"}};
constexpr io::Key kSliceKeys[] = {{"full"},      {"rows"},           {"cols"},          {"axis"},
                                  {"dimension"}, {"stacked", false}, {"copies", false}, {"parts"}};
constexpr io::Key kPartKeys[] = {{"tensor"}, {"ranges"}};
constexpr io::Key kCollectiveKeys[] = {{"out"}, {"partials"}, {"folds"}};
constexpr io::Key kStatementKeys[] = {
    {"binds", false}, {"op", false}, {"reads", false}, {"fused", false}};
constexpr io::Key kMemberKeys[] = {{"binds"}, {"op"}, {"reads"}};

class ManifestReader {
 public:
  explicit ManifestReader(const io::JsonReader& json) : json_(json) {}

  Manifest read(io::Object root, const char* at) {
    json_.members_of(root, at, kMembers,
                     [&](std::size_t key, io::Value& value) { read_member(key, value); });
    return std::move(manifest_);
  }

 private:
  void read_member(std::size_t key, io::Value& value) {
    switch (key) {
      case kChips:
        manifest_.chips = json_.index(value, 1);
        break;
      case kOwners:
        read_owners(value);
        break;
      case kQuantised:
        json_.elements(value, "quantised weights", [&](io::Value& item, std::size_t) {
          Quantised& weight = manifest_.quantised.emplace_back();
          std::string* const members[] = {&weight.weight, &weight.values, &weight.scales};
          json_.members(item, "{\"weight\", \"values\", \"scales\"}", kQuantisedKeys,
                        [&](std::size_t member, io::Value& name) {
                          *members[member] = text_in(json_, name);
                        });
        });
        break;
      case kSlices:
        json_.elements(value, "full tensors",
                       [&](io::Value& item, std::size_t) { read_full(item); });
        break;
      case kCollectives:
        json_.elements(value, "collectives",
                       [&](io::Value& item, std::size_t) { read_collective(item); });
        break;
      case kStatements:
        json_.elements(value, "statements",
                       [&](io::Value& item, std::size_t) { read_source_op(item); });
        break;
      default:
        break;  // format and version have been checked
    }
  }

  std::vector<std::string> names(io::Value& value, const char* what) const {
    std::vector<std::string> out;
    json_.elements(value, what,
                   [&](io::Value& item, std::size_t) { out.push_back(text_in(json_, item)); });
    return out;
  }

  void read_owners(io::Value& value) {
    for (auto member : json_.object(value, "the chips of tensors, by name")) {
      io::Field field;
      io::JsonReader::check(std::move(member).get(field));
      const char* const key_at = io::JsonReader::key_start(field);
      std::string name(io::JsonReader::key(field));
      if (name.empty()) io::JsonReader::refuse(key_at, "a name that is not empty", "\"\"");
      const std::uint32_t chip = json_.index(field.value());
      const auto [known, fresh] = manifest_.owners.emplace(std::move(name), chip);
      if (!fresh) io::JsonReader::refuse_duplicate(key_at, known->first);
    }
  }

  void read_full(io::Value& value) {
    FullTensor& full = manifest_.full.emplace_back();
    json_.members(value, "a full tensor and its parts", kSliceKeys,
                  [&](std::size_t key, io::Value& member) { read_full_member(full, key, member); });
  }

  void read_full_member(FullTensor& full, std::size_t key, io::Value& value) const {
    switch (key) {
      case 0:
        full.name = text_in(json_, value);
        break;
      case 1:
        full.rows = json_.natural(value);
        break;
      case 2:
        full.cols = json_.natural(value);
        break;
      case 3:
        full.axis = axis(value);
        break;
      case 4:
        full.dimension = text_in(json_, value);
        break;
      case 5:
        full.stacked = json_.boolean(value);
        break;
      case 6:
        full.copies = json_.index(value, 1);
        break;
      default:
        json_.elements(value, "the parts",
                       [&](io::Value& item, std::size_t) { full.parts.push_back(part(item)); });
    }
  }

  [[nodiscard]] ir::Axis axis(io::Value& value) const {
    const char* const at = io::JsonReader::start(value);
    const std::string_view word = json_.string(value);
    for (const ir::Axis axis : {ir::Axis::rows, ir::Axis::columns}) {
      if (word == to_string(axis)) return axis;
    }
    json_.refuse(at, "\"rows\" or \"columns\"");
  }

  [[nodiscard]] Part part(io::Value& value) const {
    Part out;
    json_.members(
        value, "{\"tensor\", \"ranges\"}", kPartKeys, [&](std::size_t key, io::Value& member) {
          if (key == 0) {
            out.tensor = text_in(json_, member);
            return;
          }
          json_.elements(member, "ranges",
                         [&](io::Value& item, std::size_t) { out.ranges.push_back(range(item)); });
        });
    return out;
  }

  [[nodiscard]] ir::IndexRange range(io::Value& value) const {
    const char* const at = io::JsonReader::start(value);
    std::uint64_t ends[2] = {0, 0};
    const std::size_t count =
        json_.elements(value, "[begin, end]", [&](io::Value& item, std::size_t position) {
          if (position > 1) io::JsonReader::refuse(at, "[begin, end]", "more than two numbers");
          ends[position] = json_.natural(item);
        });
    if (count < 2) io::JsonReader::refuse(at, "[begin, end]", "fewer than two numbers");
    return {ends[0], ends[1]};
  }

  void read_collective(io::Value& value) {
    Collective& one = manifest_.collectives.emplace_back();
    json_.members(value, "{\"out\", \"partials\", \"folds\"}", kCollectiveKeys,
                  [&](std::size_t key, io::Value& member) {
                    if (key == 0) {
                      one.out = text_in(json_, member);
                    } else {
                      (key == 1 ? one.partials : one.folds) = names(member, "names");
                    }
                  });
  }

  void read_source_op(io::Value& value) {
    constexpr const char* kExpected = "{\"binds\", \"op\", \"reads\"} or {\"fused\": [statements]}";
    SourceOp& op = manifest_.statements.emplace_back();
    const char* const at = io::JsonReader::start(value);
    Statement alone;
    unsigned seen = 0;
    json_.members(value, kExpected, kStatementKeys, [&](std::size_t key, io::Value& member) {
      seen |= 1U << key;
      if (key < 3) {
        read_statement_member(alone, key, member);
        return;
      }
      json_.elements(member, "statements", [&](io::Value& item, std::size_t) {
        Statement& statement = op.members.emplace_back();
        json_.members(item, "{\"binds\", \"op\", \"reads\"}", kMemberKeys,
                      [&](std::size_t inner, io::Value& inner_value) {
                        read_statement_member(statement, inner, inner_value);
                      });
      });
    });
    if (seen == 8U) return;
    if (seen != 7U) io::JsonReader::refuse(at, kExpected, "some of their members");
    op.members.push_back(std::move(alone));
  }

  void read_statement_member(Statement& statement, std::size_t key, io::Value& value) const {
    const char* const at = io::JsonReader::start(value);
    if (key == 0) {
      statement.name = text_in(json_, value);
    } else if (key == 1) {
      const auto op = io::enumerator<ir::OpKind>(json_.string(value));
      if (!op) json_.refuse(at, io::enumerator_names<ir::OpKind>());
      statement.op = *op;
    } else {
      statement.reads = names(value, "names that are read");
    }
  }

  const io::JsonReader& json_;
  Manifest manifest_;
};

ir::Result<std::uint64_t> look(std::string_view beginning, const std::string& file) {
  if (ir::Status refused = ir::look_at_json(beginning, file, kText.what)) {
    return *std::move(refused);
  }
  return ir::kMaximumInputBytes;
}

void write_names(io::JsonWriter& out, std::string_view key, const std::vector<std::string>& names) {
  out.key(key).array(true);
  for (const std::string& name : names) out.text(name);
  out.close();
}

void write_full(io::JsonWriter& out, const FullTensor& full) {
  out.object();
  out.key("full").text(full.name);
  out.key("rows").natural(full.rows).key("cols").natural(full.cols);
  out.key("axis").text(to_string(full.axis)).key("dimension").text(full.dimension);
  out.key("stacked").boolean(full.stacked).key("copies").natural(full.copies);
  out.key("parts").array();
  for (const Part& part : full.parts) {
    out.object(true).key("tensor").text(part.tensor).key("ranges").array(true);
    for (const ir::IndexRange& range : part.ranges)
      out.array(true).natural(range.begin).natural(range.end).close();
    out.close().close();
  }
  out.close().close();
}

void write_statement(io::JsonWriter& out, const Statement& statement) {
  out.object(true).key("binds").text(statement.name).key("op").text(to_string(statement.op));
  write_names(out, "reads", statement.reads);
  out.close();
}

void write_source_op(io::JsonWriter& out, const SourceOp& op) {
  if (op.members.size() == 1) return write_statement(out, op.members.front());
  out.object().key("fused").array();
  for (const Statement& statement : op.members) write_statement(out, statement);
  out.close().close();
}

}  // namespace

ir::Result<Manifest> parse_manifest(std::string_view json, const std::string& file) {
  Manifest manifest;
  const auto read = [&](const io::JsonReader& reader, io::Object root, const char* at) {
    manifest = ManifestReader(reader).read(root, at);
  };
  if (ir::Status refused = read_manifest_text(json, file, kText, read)) return *std::move(refused);
  if (ir::Status refused = validate(manifest)) {
    refused->file = file;
    refused->line = io::line_of(json, refused->path);
    return *std::move(refused);
  }
  return manifest;
}

ir::Result<Manifest> read_manifest(const std::string& path) {
  const ir::Result<std::string> bytes = ir::read_bytes(path, ir::kMaximumInputBytes, look);
  if (!bytes) return bytes.error();
  return parse_manifest(*bytes, path);
}

std::string serialise(const Manifest& manifest) {
  io::JsonWriter out;
  out.object().key("format").text(kText.name).key("version").integer(kText.version);
  out.key("chips").natural(manifest.chips);
  out.key("owners").object();
  for (const auto& [tensor, chip] : manifest.owners) out.key(tensor).natural(chip);
  out.close().key("quantised").array();
  for (const Quantised& weight : manifest.quantised) {
    out.object(true).key("weight").text(weight.weight).key("values").text(weight.values);
    out.key("scales").text(weight.scales).close();
  }
  out.close().key("slices").array();
  for (const FullTensor& full : manifest.full) write_full(out, full);
  out.close().key("collectives").array();
  for (const Collective& one : manifest.collectives) {
    out.object().key("out").text(one.out);
    write_names(out, "partials", one.partials);
    write_names(out, "folds", one.folds);
    out.close();
  }
  out.close().key("statements").array();
  for (const SourceOp& op : manifest.statements) write_source_op(out, op);
  out.close().close();
  return out.take() + "\n";
}

ir::Status write_manifest(const Manifest& manifest, const std::string& path) {
  return ir::write_bytes(path, serialise(manifest));
}

}  // namespace spatialcert::compose::parallel
