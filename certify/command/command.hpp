// What all commands share: exit statuses, checked output, and how a command is declared and run.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace spatialcert::command {

/// Exit statuses (DESIGN 1). `not_reproduced` is `replay`'s.
enum Exit : int {
  kCertified = 0,
  kRefuted = 1,
  kNotReproduced = 1,
  kUndecided = 2,
  kRefused = 3,
  kUsage = 64,
  kFault = 70
};

/// Wrong usage that the parser of the command line cannot see; ends in 64.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Output that could not be written; ends in 70.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Does an option that takes a file or a folder name a folder?
[[nodiscard]] bool is_folder(const std::string& path);

/// Writes all of `text` to standard output. Throws OutputError if that fails, and so does
/// `finish_output`, which must be called at the end: a full disk shows when buffers are flushed.
void print(std::string_view text);
void finish_output();
/// Writes to standard error; nothing can be done if that fails.
void complain(std::string_view text);

/// Makes sure that descriptors 0 to 2 are open, so that no file we open takes the place of a closed
/// standard output, and that writing to a closed pipe, or beyond the largest size of a file, is an
/// error instead of the end.
void prepare_streams();

/// A command as it was declared on the command line, and what to do if it was chosen.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Command declare_certify(CLI::App& parent);
Command declare_import(CLI::App& parent);
Command declare_compose(CLI::App& parent);
Command declare_generate(CLI::App& parent);
Command declare_replay(CLI::App& parent);
Command declare_explain(CLI::App& parent);
Command declare_show(CLI::App& parent);
Command declare_gate(CLI::App& parent);

}  // namespace spatialcert::command
