// Reads one counterexample out of JSON. Private to the reports; throws what JsonReader throws.
//
// Numbers are checked against the program, so that whoever gets a counterexample may look up all
// that it names. Whether it is true is for `replay` to find out.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/io/json_reader.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify {

class CounterexampleReader {
 public:
  explicit CounterexampleReader(std::string_view text) : json_(text) {}

  std::string digest(ir::io::Value& root) {
    read_members(root, nullptr);
    return std::move(digest_);
  }

  proofs::Counterexample counterexample(ir::io::Value& root, const ir::Program& program) {
    const char* const at = ir::io::JsonReader::start(root);
    read_members(root, &program);
    require_parts(at);
    return std::move(c_);
  }

 private:
  // ---- the whole ----
  void read_members(ir::io::Value& root, const ir::Program* program);
  void read_head(std::size_t key, ir::io::Value& value);
  void read_part(std::size_t key, ir::io::Value& value);
  void read_list(std::size_t key, ir::io::Value& value);
  void require_parts(const char* at);
  void require(bool holds, const char* at, const char* what) {
    if (!holds) {
      ir::io::JsonReader::refuse(
          at, fmt::format("a counterexample of kind {} with {}", proofs::to_string(c_.kind), what),
          "none");
    }
  }

  // ---- parts ----
  ir::TransitionId transition(ir::io::Value& value);
  ir::CounterId counter(ir::io::Value& value);
  ir::Site site(ir::io::Value& value);
  proofs::LocationRange range(ir::io::Value& value);
  proofs::WaitLink link(ir::io::Value& value);
  proofs::AccessRef access(ir::io::Value& value);
  ir::Schedule schedule(ir::io::Value& value);
  proofs::SliceRef slice(ir::io::Value& value);

  template <typename Items>
  std::uint32_t named(ir::io::Value& value, const Items& items, const char* what) {
    const char* const at = ir::io::JsonReader::start(value);
    const std::string_view name = json_.string(value);
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const auto& item) { return item.name == name; });
    if (found == items.end()) json_.refuse(at, fmt::format("the name of {} of the program", what));
    return static_cast<std::uint32_t>(found - items.begin());
  }
  ir::BufferId fifo(ir::io::Value& value) {
    const char* const at = ir::io::JsonReader::start(value);
    const std::uint32_t id = named(value, program_->buffers, "a fifo");
    if (program_->buffers[id].kind != ir::BufferKind::fifo) json_.refuse(at, "the name of a fifo");
    return ir::BufferId(id);
  }
  std::uint32_t below(ir::io::Value& value, std::size_t end, const char* what) {
    const char* const at = ir::io::JsonReader::start(value);
    const std::uint32_t number = json_.index(value);
    if (number >= end) json_.refuse(at, fmt::format("the number of {}, below {}", what, end));
    return number;
  }
  const ir::Unrolled& unrolled(const char* at);

  ir::io::JsonReader json_;
  const ir::Program* program_ = nullptr;
  std::optional<ir::Unrolled> unrolled_;
  proofs::Counterexample c_;
  std::string digest_;
  bool has_iterations_ = false;
};

}  // namespace spatialcert::certify
