// Small programs for tests, written op by op in a few words.
//
// An op is `CODE OBJECT [N]`, e.g. "reserve q", "wait s 2", or `run STAGE READS > WRITES` with
// regions separated by blanks: `x` (all of a tensor or buffer, or page 0 of a FIFO), `q@1` (page
// 1), `x[0:4]` (rows of a tensor, bytes of anything else; bounds may be affine in the outermost
// loop: `x[4i:4i+4]`). "repeat N" opens a loop that "end" closes. Stages need no declaration: an
// undeclared one is a compute stage that copies. Engines are `load`, `compute`, `store`, `move`, in
// this order, of the one site of chip 0, or of that of another chip: `1:load`. Objects stand on
// chip 0 unless `more` names a site.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::tests {

class Draft {
 public:
  explicit Draft(std::string name) : name_(std::move(name)) {}

  Draft& persistent();
  /// `more`: further JSON members, e.g. `"owner": 1`.
  Draft& tensor(const std::string& name, const std::string& init = "undefined", int rows = 4,
                const std::string& dtype = "f32", const std::string& more = "");
  Draft& fifo(const std::string& name, int pages, const std::string& more = "");
  /// 64 bytes, behind everything declared before, unless `more` names an address.
  Draft& buffer(const std::string& name, const std::string& more = "");
  Draft& semaphore(const std::string& name, int initial = 0, int maximum = 15,
                   const std::string& more = "");
  Draft& stage(const std::string& name, const std::string& op, const std::string& more = "");
  Draft& edge(const std::string& producer, const std::string& buffer, const std::string& consumer);
  Draft& sum(const std::string& region, const std::vector<std::string>& terms);
  /// A member of the program as JSON, e.g. `"sections"`; replaces what stands there by default.
  Draft& member(const std::string& name, const std::string& json);
  Draft& engine(const std::string& name, std::vector<std::string> ops);
  /// Removes op number `op` (counted in the list above) of an engine.
  Draft& without(const std::string& engine, std::size_t op);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string json() const;
  /// Parses and validates; the test fails if it is refused.
  [[nodiscard]] ir::Program program() const;

 private:
  struct Object {
    std::string name;
    std::string json;
  };
  enum class Kind : std::uint8_t { tensor, fifo, buffer };

  Draft& add_buffer(const std::string& name, Kind kind, int pages, const std::string& more);
  [[nodiscard]] std::string region(const std::string& text) const;
  [[nodiscard]] std::string op(const std::string& text,
                               std::map<std::string, std::string>& stages) const;
  [[nodiscard]] std::string ops(const std::vector<std::string>& list,
                                std::map<std::string, std::string>& stages) const;

  std::string name_;
  std::string execution_ = "once";
  std::map<std::string, Kind> kind_;
  std::vector<std::string> tensors_, buffers_, semaphores_, edges_, sums_;
  std::map<std::string, std::string> stages_, members_;
  std::vector<std::pair<std::string, std::vector<std::string>>> engines_;
  std::uint64_t address_ = 0;
};

}  // namespace spatialcert::tests
