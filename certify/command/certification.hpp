// One run of `spatialcert certify`: files in, verdict blocks out, in argument order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "certify/command/import_options.hpp"
#include "certify/command/progress.hpp"
#include "certify/command/suggestion.hpp"
#include "certify/command/view_options.hpp"
#include "certify/pool.hpp"
#include "certify/report.hpp"

namespace spatialcert::command {

struct CertifyOptions {
  std::vector<std::string> paths;
  bool json = false;
  bool quiet = false;
  std::vector<proofs::Rule> rules;
  std::uint64_t rlimit = certify::Options{}.rlimit;
  bool monolithic = false;
  bool unroll = false;
  bool whole = false;
  unsigned jobs = 1;
  std::string smt2_folder;
  std::string counterexample_folder;
  bool suggest = false;           ///< look for repairs of what is refuted
  std::string suggestion_folder;  ///< where repaired programs go; nothing: nowhere
  std::string output;             ///< where certificates go: a file for one program, or a folder
  ViewFiles views;
  ImportOptions import;
};

/// Hands out names of files and folders, without collisions, in argument order whatever thread asks
/// first.
class OutputNames {
 public:
  /// One name per program of file number `file`. Waits for all files before it; every file must
  /// claim, be it nothing.
  [[nodiscard]] std::vector<std::string> claim(std::size_t file, const LoadedFile* loaded);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::map<std::string, int> used_;
};

class Certification {
 public:
  explicit Certification(const CertifyOptions& options);
  /// Prints everything; returns the exit status. Throws OutputError, and UsageError before
  /// anything is printed or written.
  int run();

 private:
  /// What there is to print for one file.
  struct Block {
    std::string text;
    certify::Totals totals;
    std::vector<std::string> complaints;
    std::vector<certify::views::Entry> entries;  ///< only where views were asked for
    std::string usage;                           ///< wrong usage that only the file's content shows
  };
  /// A file whose programs are being certified.
  struct Job {
    std::size_t number = 0;
    LoadedFile file;
    std::vector<std::string> names;
    std::vector<certify::ProgramReport> reports;
    std::vector<std::string> faults;  ///< per program; empty = none
    std::vector<std::optional<certify::CertificateFile>> certificates;
    std::vector<SuggestionTexts> suggestions;
    std::size_t left = 0;
    std::mutex mutex;
  };

  /// Prints, unless a view has standard output.
  void say(std::string_view text) const;
  void start_file(std::size_t number);
  [[nodiscard]] certify::Options pipeline_options(const std::string& program);
  [[nodiscard]] SuggestionTexts suggestion_for(const Job& job, std::size_t index,
                                               const certify::ProgramReport& report);
  void certify_program(const std::shared_ptr<Job>& job, std::size_t index);
  [[nodiscard]] certify::ProgramReport certify_one(const Job& job, std::size_t index);
  void write_counterexamples(const Job& job, std::size_t index,
                             const certify::ProgramReport& report);
  [[nodiscard]] std::optional<certify::CertificateFile> write_certificate(
      const Job& job, std::size_t index, certify::ProgramReport& report) const;
  void finish_file(Job& job);
  [[nodiscard]] std::optional<certify::SizeLimit> size_limit(const Job& job,
                                                             std::size_t index) const;
  [[nodiscard]] certify::Provenance provenance(const Job& job, std::size_t index) const;
  static void keep_for_views(Job& job, std::size_t index, certify::Provenance provenance,
                             Block& block);
  void append_program(const Job& job, std::size_t index, const certify::Provenance& provenance,
                      Block& block) const;
  void append_refusal(const std::string& path, ir::Refusal refusal, Block& block) const;
  void append_fault(const std::string& path, const std::string& what, Block& block) const;
  void append_element(std::string text, Block& block) const;
  void put(std::size_t number, Block block);
  [[nodiscard]] Block take(std::size_t number);

  const CertifyOptions& options_;
  bool to_folder_;  ///< certificates
  ir::MscclOptions import_;
  Progress progress_;
  OutputNames names_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Block> blocks_;
  std::unique_ptr<certify::Pool> pool_;
};

}  // namespace spatialcert::command
