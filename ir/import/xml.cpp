// From text to `Algorithm`, strictly: what the format does not know is refused, because a field
// that is skipped could be the one that makes the program wrong.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/import/algorithm.hpp"
#include "ir/import/attributes.hpp"
#include "ir/import/msccl.hpp"

namespace spatialcert::ir::msccl {
namespace {

using Need = AttributeSpec::Need;

// `ignored` attributes steer when a runtime selects the file, or are older compilers' notes.
constexpr std::array<AttributeSpec, 14> kAlgoAttributes{{{"name", Need::optional},
                                                         {"proto"},
                                                         {"nchannels"},
                                                         {"nchunksperloop"},
                                                         {"ngpus"},
                                                         {"coll"},
                                                         {"inplace", Need::optional},
                                                         {"outofplace", Need::optional},
                                                         {"minBytes", Need::ignored},
                                                         {"maxBytes", Need::ignored},
                                                         {"redop", Need::ignored},
                                                         {"nthreads", Need::ignored},
                                                         {"nthreadblocks", Need::ignored},
                                                         {"maxcount", Need::ignored}}};
constexpr std::array<AttributeSpec, 4> kGpuAttributes{
    {{"id"}, {"i_chunks"}, {"o_chunks"}, {"s_chunks"}}};
constexpr std::array<AttributeSpec, 4> kBlockAttributes{{{"id"}, {"send"}, {"recv"}, {"chan"}}};
constexpr std::array<AttributeSpec, 11> kStepAttributes{{{"s"},
                                                         {"type"},
                                                         {"srcbuf"},
                                                         {"srcoff"},
                                                         {"dstbuf"},
                                                         {"dstoff"},
                                                         {"cnt"},
                                                         {"depid"},
                                                         {"deps"},
                                                         {"hasdep"},
                                                         {"algostep", Need::ignored}}};

constexpr std::array<std::string_view, 3> kProtocols{"Simple", "LL", "LL128"};
constexpr std::array<std::string_view, 13> kCollectives{
    "allreduce", "allgather", "reduce_scatter", "alltoall", "broadcast", "reduce",       "custom",
    "send",      "recv",      "gather",         "scatter",  "alltoallv", "reducescatter"};
constexpr std::array<std::string_view, 9> kStepTypes{"s",    "r",   "rcs", "rrs", "rrc",
                                                     "rrcs", "cpy", "re",  "nop"};
constexpr std::array<std::string_view, 3> kLetters{"i", "o", "s"};
constexpr std::int32_t kAnyOffset = 1 << 30;

std::size_t count_children(const pugi::xml_node& node, const char* name) {
  std::size_t count = 0;
  for (const pugi::xml_node& child : node.children(name)) {
    static_cast<void>(child);
    ++count;
  }
  return count;
}

class Reader {
 public:
  Reader(const std::string& file, const LineTable& lines) : file_(file), lines_(lines) {}

  Result<Algorithm> read(const pugi::xml_document& document);

 private:
  [[nodiscard]] ElementPlace place(const pugi::xml_node& node, std::string path) const {
    return {file_, lines_.line(node.offset_debug()), std::move(path)};
  }
  Status read_attributes(const pugi::xml_node& node, std::span<const AttributeSpec> specs,
                         const std::string& path);
  Status expect_element(const pugi::xml_node& child, std::string_view name,
                        const std::string& parent) const;
  Status read_algo(const pugi::xml_node& node);
  Status read_placement(const pugi::xml_node& node);
  Status read_gpus(const pugi::xml_node& node);
  Status read_gpu(const pugi::xml_node& node, std::size_t id);
  Status read_block(const pugi::xml_node& node, std::size_t rank, std::size_t id);
  Status read_step(const pugi::xml_node& node, std::size_t rank, std::size_t block, Block& to);

  const std::string& file_;
  const LineTable& lines_;
  Attributes attributes_;
  Algorithm algorithm_;
};

Status Reader::read_attributes(const pugi::xml_node& node, std::span<const AttributeSpec> specs,
                               const std::string& path) {
  Status refused = attributes_.read(node, specs);
  if (refused) {
    refused->file = file_;
    refused->line = lines_.line(node.offset_debug());
    refused->path = path;
  }
  return refused;
}

Status Reader::expect_element(const pugi::xml_node& child, std::string_view name,
                              const std::string& parent) const {
  if (child.type() == pugi::node_element && name == child.name()) return {};
  const std::string found = child.type() == pugi::node_element
                                ? fmt::format("an element {}", quoted(child.name()))
                                : std::string("text");
  // Only elements know their offset: text is reported at the element that contains it.
  const bool element = child.type() == pugi::node_element;
  return place(element ? child : child.parent(), parent)
      .refuse(fmt::format("only elements `{}`", name), found);
}

Result<Algorithm> Reader::read(const pugi::xml_document& document) {
  pugi::xml_node root;
  for (const pugi::xml_node& child : document.children()) {
    if (child.type() == pugi::node_doctype) {
      return Refusal{file_, 0, {}, "no document type", "one"};
    }
    if (child.type() != pugi::node_element) {
      return Refusal{
          file_, root ? 0U : 1U, {}, "one element `algo` and nothing else", "text beside it"};
    }
    if (root) {
      return place(child, "algo")
          .refuse("the end of the file after the first document",
                  fmt::format("another element {}", quoted(child.name())));
    }
    root = child;
  }
  if (!root) return Refusal{file_, 1, {}, "an element `algo`", "none"};
  if (std::string_view(root.name()) != "algo") {
    return place(root, {}).refuse("an element `algo`", quoted(root.name()));
  }
  algorithm_.file = file_;
  if (Status refused = read_algo(root)) return *std::move(refused);
  if (Status refused = read_gpus(root)) return *std::move(refused);
  return std::move(algorithm_);
}

Status Reader::read_algo(const pugi::xml_node& node) {
  if (Status refused = read_attributes(node, kAlgoAttributes, "algo")) return refused;
  algorithm_.line = lines_.line(node.offset_debug());
  const auto protocol = attributes_.word(1, kProtocols);
  const auto channels = attributes_.integer(2, 1, 1 << 16);
  const auto chunks = attributes_.integer(3, 1, static_cast<std::int32_t>(kMaximumChunks));
  const auto ranks = attributes_.integer(4, 1, static_cast<std::int32_t>(kMaximumRanks));
  const auto collective = attributes_.word(5, kCollectives);
  if (!protocol || !channels || !chunks || !ranks || !collective) {
    return attributes_.refusal(place(node, "algo"));
  }
  if (const char* name = attributes_.text(0); name != nullptr) algorithm_.name = name;
  algorithm_.protocol = static_cast<Protocol>(*protocol);
  algorithm_.channels = static_cast<std::uint32_t>(*channels);
  algorithm_.chunks = static_cast<std::uint32_t>(*chunks);
  algorithm_.collective =
      *collective == 12 ? Collective::reduce_scatter : static_cast<Collective>(*collective);
  algorithm_.ranks.resize(static_cast<std::size_t>(*ranks));
  return read_placement(node);
}

// One runtime knows `inplace` alone, and then it says which of the two calls the file is for; the
// others have a switch for each.
Status Reader::read_placement(const pugi::xml_node& node) {
  const bool has_in = attributes_.text(6) != nullptr;
  const bool has_out = attributes_.text(7) != nullptr;
  if (!has_in && !has_out) {
    return place(node, "algo").refuse("an attribute `inplace`, `outofplace` or both", {});
  }
  const auto in = has_in ? attributes_.integer(6, 0, 1) : std::optional<std::int32_t>(0);
  const auto out = has_out ? attributes_.integer(7, 0, 1) : std::optional<std::int32_t>(0);
  if (!in || !out) return attributes_.refusal(place(node, "algo"));
  algorithm_.allows_in_place = *in == 1;
  algorithm_.allows_out_of_place = has_out ? *out == 1 : *in == 0;
  if (!algorithm_.allows_in_place && !algorithm_.allows_out_of_place) {
    return place(node, "algo")
        .refuse("`inplace` or `outofplace` to be 1", "both 0: no call may use the file");
  }
  return {};
}

Status Reader::read_gpus(const pugi::xml_node& node) {
  std::vector<bool> seen(algorithm_.ranks.size());
  std::size_t count = 0;
  for (const pugi::xml_node& child : node.children()) {
    if (Status refused = expect_element(child, "gpu", "algo")) return refused;
    if (Status refused = read_attributes(child, kGpuAttributes, "algo/gpu")) return refused;
    const auto id = attributes_.integer(0, 0, static_cast<std::int32_t>(seen.size()) - 1);
    if (!id) return attributes_.refusal(place(child, "algo/gpu"));
    const auto index = static_cast<std::size_t>(*id);
    if (seen[index]) {
      return place(child, path_of(index)).refuse("every `id` once", fmt::format("{} twice", index));
    }
    seen[index] = true;
    ++count;
    if (Status refused = read_gpu(child, index)) return refused;
  }
  if (count != seen.size()) {
    const auto missing = std::find(seen.begin(), seen.end(), false) - seen.begin();
    return place(node, "algo")
        .refuse(fmt::format("{} elements `gpu`, as `ngpus` says", seen.size()),
                fmt::format("{}; there is none with id {}", count, missing));
  }
  return {};
}

Status Reader::read_gpu(const pugi::xml_node& node, std::size_t id) {
  Rank& rank = algorithm_.ranks[id];
  const auto maximum = static_cast<std::int32_t>(kMaximumChunks);
  const auto input = attributes_.integer(1, 0, maximum);
  const auto output = attributes_.integer(2, 0, maximum);
  const auto scratch = attributes_.integer(3, 0, maximum);
  if (!input || !output || !scratch) return attributes_.refusal(place(node, path_of(id)));
  rank.input_chunks = static_cast<std::uint32_t>(*input);
  rank.output_chunks = static_cast<std::uint32_t>(*output);
  rank.scratch_chunks = static_cast<std::uint32_t>(*scratch);
  rank.line = lines_.line(node.offset_debug());
  rank.blocks.resize(count_children(node, "tb"));
  std::vector<bool> seen(rank.blocks.size());
  for (const pugi::xml_node& child : node.children()) {
    // Older synthesisers list their local copies here; every loader passes over them.
    if (child.type() == pugi::node_element && std::string_view(child.name()) == "copy") continue;
    if (Status refused = expect_element(child, "tb", path_of(id))) return refused;
    const std::string path = path_of(id) + "/tb";
    if (Status refused = read_attributes(child, kBlockAttributes, path)) return refused;
    const auto block = attributes_.integer(0, 0, static_cast<std::int32_t>(seen.size()) - 1);
    if (!block) return attributes_.refusal(place(child, path));
    const auto index = static_cast<std::size_t>(*block);
    if (seen[index]) {
      return place(child, path_of(id, index))
          .refuse("every `id` once", fmt::format("{} twice", index));
    }
    seen[index] = true;
    if (Status refused = read_block(child, id, index)) return refused;
  }
  return {};
}

Status Reader::read_block(const pugi::xml_node& node, std::size_t rank, std::size_t id) {
  Block& block = algorithm_.ranks[rank].blocks[id];
  const auto last = static_cast<std::int32_t>(algorithm_.ranks.size()) - 1;
  const auto send = attributes_.integer(1, -1, last);
  const auto receive = attributes_.integer(2, -1, last);
  if (!send || !receive) return attributes_.refusal(place(node, path_of(rank, id)));
  // A block that talks to nobody has no channel either.
  const std::int32_t lowest = *send < 0 && *receive < 0 ? -1 : 0;
  const auto channel =
      attributes_.integer(3, lowest, static_cast<std::int32_t>(algorithm_.channels) - 1);
  if (!channel) return attributes_.refusal(place(node, path_of(rank, id)));
  for (const std::int32_t peer : {*send, *receive}) {
    if (peer == static_cast<std::int32_t>(rank)) {
      return place(node, path_of(rank, id))
          .refuse("a peer other than the own rank", fmt::format("{}", peer),
                  peer == *send ? "send" : "recv");
    }
  }
  block.send_peer = *send;
  block.receive_peer = *receive;
  block.channel = *channel;
  block.line = lines_.line(node.offset_debug());
  block.steps.reserve(count_children(node, "step"));
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() != pugi::node_element || std::strcmp(child.name(), "step") != 0) {
      return expect_element(child, "step", path_of(rank, id));
    }
    if (Status refused = read_step(child, rank, id, block)) return refused;
  }
  return {};
}

Status Reader::read_step(const pugi::xml_node& node, std::size_t rank, std::size_t block,
                         Block& to) {
  const std::size_t position = to.steps.size();
  if (Status refused = attributes_.read(node, kStepAttributes)) {
    refused->file = file_;
    refused->line = lines_.line(node.offset_debug());
    refused->path = path_of(rank, block, position);
    return refused;
  }
  if (node.first_child()) {
    return place(node, path_of(rank, block, position)).refuse("an element without content", "some");
  }
  const auto expected = static_cast<std::int32_t>(position);
  const auto number = attributes_.integer(0, expected, expected);
  const auto type = attributes_.word(1, kStepTypes);
  const auto source = attributes_.word(2, kLetters);
  const auto source_offset = attributes_.integer(3, -1, kAnyOffset);
  const auto destination = attributes_.word(4, kLetters);
  const auto destination_offset = attributes_.integer(5, -1, kAnyOffset);
  const auto count = attributes_.integer(6, 0, static_cast<std::int32_t>(kMaximumCount));
  const auto blocks = static_cast<std::int32_t>(algorithm_.ranks[rank].blocks.size());
  const auto depends = attributes_.integer(7, -1, blocks - 1);
  // Without a block to wait for, nobody looks at the step.
  const auto depends_step = attributes_.integer(8, depends.value_or(0) < 0 ? -1 : 0, kAnyOffset);
  const auto has_dependents = attributes_.integer(9, 0, 1);
  if (!number || !type || !source || !source_offset || !destination || !destination_offset ||
      !count || !depends || !depends_step || !has_dependents) {
    return attributes_.refusal(place(node, path_of(rank, block, position)));
  }
  Step& step = to.steps.emplace_back();
  step.type = static_cast<StepType>(*type);
  step.has_dependents = *has_dependents == 1;
  step.count = static_cast<std::uint32_t>(*count);
  step.source = {static_cast<BufferLetter>(*source), *source_offset};
  step.destination = {static_cast<BufferLetter>(*destination), *destination_offset};
  step.depends_on_block = *depends;
  step.depends_on_step = *depends_step;
  step.line = lines_.line(node.offset_debug());
  return {};
}

Status check_text(const std::string& text, const std::string& file) {
  if (text.empty()) return Refusal{file, 0, {}, "an XML document", "an empty file"};
  if (text.size() > kMaximumMscclBytes) {
    return Refusal{file,
                   0,
                   {},
                   fmt::format("at most {} bytes", kMaximumMscclBytes),
                   fmt::format("{}", text.size())};
  }
  const std::size_t nul = text.find('\0');
  if (nul != text.npos) {
    // The parser would take it for the end and not look at what follows.
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    return Refusal{file, static_cast<std::uint64_t>(line) + 1, {}, "text", "a NUL character"};
  }
  const auto nodes = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '<'));
  const auto attributes = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '='));
  if (nodes > kMaximumNodes || attributes > 16 * kMaximumNodes) {
    return Refusal{file, 0, {}, fmt::format("at most {} elements", kMaximumNodes), "more"};
  }
  return {};
}

}  // namespace

Result<Algorithm> parse_algorithm(std::string text, const std::string& file) {
  if (Status refused = check_text(text, file)) return *std::move(refused);
  const LineTable lines(text);
  pugi::xml_document document;
  // Fragments keep text beside the root, which would be dropped otherwise; document types are kept
  // to be refused. pugixml expands no entities but the five of XML itself.
  const unsigned options = pugi::parse_default | pugi::parse_fragment | pugi::parse_doctype;
  const pugi::xml_parse_result parsed =
      document.load_buffer_inplace(text.data(), text.size(), options, pugi::encoding_utf8);
  if (!parsed) {
    return Refusal{file, lines.line(parsed.offset), {}, "well-formed XML", parsed.description()};
  }
  return Reader(file, lines).read(document);
}

}  // namespace spatialcert::ir::msccl
