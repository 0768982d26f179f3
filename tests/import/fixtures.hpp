// Small MSCCL files and a readable form of what becomes of them.
#pragma once

#include <string>
#include <vector>

#include "ir/import/msccl.hpp"

namespace spatialcert::ir::fixtures {

/// The attributes of a step; the defaults are those of most steps.
struct StepText {
  std::string type;
  std::string source = "i 0";       ///< buffer and offset
  std::string destination = "i 0";  ///< buffer and offset
  int count = 1;
  int depid = -1;
  int deps = -1;
  int hasdep = 0;
};

/// `<algo ...>` with a line per gpu, block and step; the first gpu is on line 2.
class File {
 public:
  /// `attributes` replaces attributes of a plain in-place allreduce on two ranks with one chunk.
  explicit File(std::string attributes = {}) : attributes_(std::move(attributes)) {}

  File& gpu(int input = 0, int output = 0, int scratch = 0);
  File& block(int send, int receive, int channel = 0);
  File& step(const StepText& step);
  /// A line as it is.
  File& raw(const std::string& line);
  [[nodiscard]] std::string text() const;

 private:
  void close_block();
  void close_gpu();

  std::string attributes_;
  std::vector<std::string> lines_;
  int gpus_ = 0;
  int blocks_ = 0;
  int steps_ = 0;
  bool in_gpu_ = false;
  bool in_block_ = false;
};

/// Head of a two-rank file: in-place allreduce under the LL protocol with this many chunks.
std::string head(int chunks, const std::string& more = "inplace=\"1\"",
                 const std::string& protocol = "LL", const std::string& collective = "allreduce",
                 int ranks = 2, int channels = 1);

/// The only variant of a file that must import.
MscclVariant import_one(const std::string& text, MscclOptions options = {});
/// The program of `text` with every step as one transfer.
Program import_program(const std::string& text, MscclRuntime runtime = MscclRuntime::msccl);
/// The refusal of a file that must be refused; line 0 and empty texts if it was not.
Refusal import_refusal(const std::string& text, const MscclOptions& options = {});

/// The ops of one engine program, one per line; empty if there is none.
std::string ops_of(const Program& program, std::uint32_t chip, const std::string& engine);
/// A region as `NAME[bytes)` in units of the program's chunk, e.g. `i@0[0,2)`.
std::string show(const Program& program, const Region& region);

}  // namespace spatialcert::ir::fixtures
