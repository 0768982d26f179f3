// One run of `spatialcert gate`: two folders of programs in, one comparison out.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "certify/command/program_folder.hpp"
#include "certify/command/progress.hpp"
#include "certify/gate/comparison.hpp"
#include "certify/pool.hpp"
#include "certify/views/view.hpp"
#include "ir/program.hpp"

namespace spatialcert::command {

struct GateOptions {
  std::string baseline, candidate;  ///< folders
  /// Where NAME.cert is looked for; empty: in the folder of the programs.
  std::string baseline_certificates, certificates;
  std::string today;               ///< YYYY-MM-DD; empty: the day it is, in UTC
  std::string write_certificates;  ///< a folder; empty: none are written
  std::uint64_t rlimit = certify::Options{}.rlimit;
  unsigned jobs = 1;
  bool quiet = false;  ///< no progress
  bool views = false;  ///< keep what views need
};

class Gating {
 public:
  Gating(const GateOptions& options, certify::gate::Policy policy);
  /// What became of all programs, compared. Throws UsageError if the folders cannot be compared.
  [[nodiscard]] certify::gate::Comparison run();
  /// The candidate's programs for views, after run(), one per pair; nothing for lost ones.
  [[nodiscard]] std::vector<std::optional<certify::views::Entry>> take_entries();

 private:
  /// One program file that could be read.
  struct Loaded {
    ir::Program program;
    ir::Digest digest{};
  };
  /// A certificate that was found true of a program.
  struct Valid {
    std::string bytes;
    proofs::Outcome outcome;
  };
  /// Both are the same object if there is one program.
  struct LoadedPair {
    std::shared_ptr<const Loaded> baseline, candidate;
  };
  using File = std::variant<std::string, ir::Refusal>;
  /// What is done for one name.
  struct Job {
    certify::gate::Pair pair;
    std::optional<File> baseline, candidate;
    std::optional<certify::views::Entry> entry;  ///< of the candidate, where views were asked for
  };

  void check_folders() const;
  void find_jobs();
  void perform(Job& job);
  [[nodiscard]] LoadedPair load(Job& job) const;
  void judge(Job& job);
  [[nodiscard]] certify::gate::Side judge_candidate(Job& job, const Loaded& loaded,
                                                    const Valid* valid);
  [[nodiscard]] std::optional<Valid> recheck(const std::string& path, const Loaded& loaded,
                                             std::vector<std::string>& discarded) const;
  [[nodiscard]] certify::ProgramReport judge_anew(const Job& job, const ir::Program& program,
                                                  bool is_candidate);
  void keep_for_views(Job& job, const Loaded& loaded, certify::ProgramReport report) const;
  void write_certificate(const std::string& name, std::string_view bytes) const;

  const GateOptions& options_;
  certify::gate::Policy policy_;
  std::vector<ir::Refusal> refusals_;
  std::vector<Job> jobs_;
  std::optional<Progress> progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t done_ = 0;
  std::unique_ptr<certify::Pool> pool_;
};

}  // namespace spatialcert::command
