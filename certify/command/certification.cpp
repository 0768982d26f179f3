#include "certify/command/certification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <utility>

#include "certify/command/command.hpp"
#include "certify/command/message_size.hpp"
#include "certify/command/view_options.hpp"
#include "ir/bytes_file.hpp"

namespace spatialcert::command {
namespace {

using certify::ProgramReport;
using certify::Verdict;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDrawEvery{200};

/// Runs `action`; what it throws is a fault of ours, in words.
template <typename F>
std::string fault_of(F action) {
  try {
    action();
  } catch (const std::exception& e) {
    return *e.what() == '\0' ? "unknown fault" : e.what();
  } catch (...) {
    return "unknown fault";
  }
  return {};
}

void add(certify::Totals& to, const certify::Totals& more) {
  to.certified += more.certified;
  to.refuted += more.refuted;
  to.undecided += more.undecided;
  to.refused += more.refused;
  to.faults += more.faults;
}

void count(certify::Totals& totals, Verdict verdict) {
  switch (verdict) {
    case Verdict::certified:
      ++totals.certified;
      return;
    case Verdict::refuted:
      ++totals.refuted;
      return;
    case Verdict::undecided:
    case Verdict::not_evaluated:
    case Verdict::not_applicable:
      ++totals.undecided;
      return;
  }
}

std::string summary_text(const certify::Totals& totals) {
  std::string text =
      fmt::format("{} certified, {} refuted, {} undecided, {} refused", totals.certified,
                  totals.refuted, totals.undecided, totals.refused);
  if (totals.faults != 0) text += fmt::format(", {} faults of spatialcert's own", totals.faults);
  return text + '\n';
}

const certify::RuleReport* rule_report(const ProgramReport& report, proofs::Rule rule) {
  for (const certify::RuleReport& r : report.rules) {
    if (r.rule == rule) return &r;
  }
  return nullptr;
}

/// What is wrong with `-o`, as far as the command line shows.
void check_output(const CertifyOptions& options, bool to_folder) {
  if (options.output.empty() || to_folder) return;
  if (options.paths.size() != 1)
    throw UsageError("certificates of several files need a folder: -o DIR/");
  std::error_code error;
  if (std::filesystem::equivalent(options.output, options.paths.front(), error))
    throw UsageError("-o names the program itself");
}

}  // namespace

std::vector<std::string> OutputNames::claim(std::size_t file, const LoadedFile* loaded) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ == file; });
  std::vector<std::string> names;
  for (std::size_t i = 0; loaded != nullptr && i < loaded->programs.size(); ++i) {
    names.push_back(unused_name(used_, file_name_of(loaded->programs[i].program.name)));
  }
  ++turn_;
  changed_.notify_all();
  return names;
}

Certification::Certification(const CertifyOptions& options)
    : options_(options),
      to_folder_(is_folder(options.output)),
      import_(options.import.msccl()),
      progress_(!options.quiet, options.paths.size()) {}

int Certification::run() {
  const auto start = Clock::now();
  check_output(options_, to_folder_);
  check_views(options_.views, options_.json);
  pool_ = std::make_unique<certify::Pool>(options_.jobs);
  for (std::size_t i = 0; i < options_.paths.size(); ++i) {
    pool_->add([this, i] { start_file(i); });
  }
  certify::Totals totals;
  certify::views::Run all;
  for (std::size_t i = 0; i < options_.paths.size(); ++i) {
    Block block = take(i);
    add(totals, block.totals);
    progress_.finished_file();
    progress_.erase();
    if (!block.usage.empty()) throw UsageError(block.usage);
    // An element brings the comma before it, a block the blank line.
    const bool first = i == 0;
    if (options_.json && first) say(certify::report_json_head());
    if (options_.json && !first) say(",");
    if (!options_.json && !options_.quiet && !first) say("\n");
    say(block.text);
    for (const std::string& complaint : block.complaints) complain(complaint);
    std::move(block.entries.begin(), block.entries.end(), std::back_inserter(all.entries));
  }
  all.exit_status = totals.exit_status();
  for (const std::string& failure : write_views(options_.views, all)) {
    ++totals.faults;
    complain(fmt::format("spatialcert: {}\n", failure));
  }
  if (options_.json) {
    say(certify::report_json_tail(totals,
                                  std::chrono::duration<double>(Clock::now() - start).count()));
  } else if (totals.certified + totals.refuted + totals.undecided + totals.refused + totals.faults >
             1) {
    say((options_.quiet ? "" : "\n") + summary_text(totals));
  }
  return totals.exit_status();
}

void Certification::say(std::string_view text) const {
  if (!options_.views.to_stdout()) print(text);
}

void Certification::start_file(std::size_t number) {
  const std::string& path = options_.paths[number];
  const bool named = !options_.smt2_folder.empty() || !options_.counterexample_folder.empty() ||
                     !options_.suggestion_folder.empty() || to_folder_;
  auto job = std::make_shared<Job>();
  std::optional<ir::Refusal> refusal;
  std::string fault = fault_of([&] {
    auto loaded = load(path, import_);
    if (!loaded) {
      refusal = loaded.error();
      return;
    }
    job->number = number;
    job->file = *std::move(loaded);
    job->left = job->file.programs.size();
    job->reports.resize(job->left);
    job->faults.resize(job->left);
    job->certificates.resize(job->left);
    job->suggestions.resize(job->left);
  });
  if (named) {
    const bool usable = fault.empty() && !refusal;
    job->names = names_.claim(number, usable ? &job->file : nullptr);
  }
  Block block;
  if (!fault.empty()) {
    append_fault(path, fault, block);
    put(number, std::move(block));
  } else if (refusal) {
    ++block.totals.refused;
    if (options_.views.any()) block.entries.push_back({{path}, *refusal});
    append_refusal(path, *std::move(refusal), block);
    put(number, std::move(block));
  } else if (!options_.output.empty() && !to_folder_ && job->file.programs.size() != 1) {
    block.usage = fmt::format("{} holds {} programs: -o must name a folder (-o DIR/)", path,
                              job->file.programs.size());
    put(number, std::move(block));
  } else {
    for (std::size_t i = job->file.programs.size(); i-- > 0;) {
      pool_->add_first([this, job, i] { certify_program(job, i); });
    }
  }
}

void Certification::certify_program(const std::shared_ptr<Job>& job, std::size_t index) {
  ProgramReport report;
  std::optional<certify::CertificateFile> certificate;
  SuggestionTexts suggestion;
  std::string fault = fault_of([&] {
    report = certify_one(*job, index);
    write_counterexamples(*job, index, report);
    certificate = write_certificate(*job, index, report);
    if (options_.suggest && report.verdict == Verdict::refuted)
      suggestion = suggestion_for(*job, index, report);
  });
  bool last = false;
  {
    const std::lock_guard lock(job->mutex);
    job->reports[index] = std::move(report);
    job->faults[index] = std::move(fault);
    job->certificates[index] = std::move(certificate);
    job->suggestions[index] = std::move(suggestion);
    last = --job->left == 0;
  }
  if (last) finish_file(*job);
}

certify::Options Certification::pipeline_options(const std::string& program) {
  certify::Options options;
  options.rules = options_.rules;
  options.rlimit = options_.rlimit;
  options.monolithic = options_.monolithic;
  if (options_.unroll || options_.monolithic) options.fold_from.reset();
  if (options_.whole) options.divide_from.reset();
  options.keep_witnesses = !options_.output.empty();
  options.performer = [this](std::size_t count, const std::function<void(std::size_t)>& part) {
    pool_->each(count, part);
  };
  options.on_progress = [this, program](std::string_view what) { progress_.doing(program, what); };
  return options;
}

SuggestionTexts Certification::suggestion_for(const Job& job, std::size_t index,
                                              const ProgramReport& report) {
  const ir::Program& program = job.file.programs[index].program;
  const auto suggestion = certify::repair::suggest(program, report, pipeline_options(program.name));
  return suggestion_texts(suggestion, options_.suggestion_folder,
                          job.names.empty() ? std::string() : job.names[index]);
}

ProgramReport Certification::certify_one(const Job& job, std::size_t index) {
  const ir::Program& program = job.file.programs[index].program;
  certify::Options options = pipeline_options(program.name);
  // A failure is kept until the pipeline has returned, which owes nothing to exceptions of others.
  std::string failure;
  if (!options_.smt2_folder.empty()) {
    options.on_query = [&](std::string_view rule, std::uint64_t number, const std::string& smt2) {
      const std::filesystem::path folder =
          std::filesystem::path(options_.smt2_folder) / job.names[index];
      const std::string fault = fault_of([&] {
        write_file((folder / fmt::format("{}-{:03}.smt2", rule, number)).string(), smt2);
      });
      if (failure.empty()) failure = fault;
    };
  }
  ProgramReport report = certify::certify(program, options);
  if (!failure.empty()) throw OutputError(failure);
  return report;
}

void Certification::write_counterexamples(const Job& job, std::size_t index,
                                          const ProgramReport& report) {
  if (options_.counterexample_folder.empty()) return;
  const std::filesystem::path folder = options_.counterexample_folder;
  for (const certify::RuleReport& rule : report.rules) {
    if (!rule.counterexample) continue;
    const std::string name =
        fmt::format("{}.{}.json", job.names[index], proofs::to_string(rule.rule));
    write_file((folder / name).string(),
               certify::counterexample_json(job.file.programs[index].program, *rule.counterexample,
                                            rule.rule));
  }
}

std::optional<certify::CertificateFile> Certification::write_certificate(
    const Job& job, std::size_t index, ProgramReport& report) const {
  if (options_.output.empty()) return std::nullopt;
  std::filesystem::path path = options_.output;
  if (to_folder_) path /= job.names[index] + ".cert";
  certify::CertificateFile file{path.string()};
  // Witnesses may be large, and other programs are still to come.
  const auto certificate = std::exchange(report.certificate, std::nullopt);
  if (!certificate) return file;
  const std::string bytes = proofs::encode(*certificate);
  if (to_folder_) std::filesystem::create_directories(options_.output);
  if (const ir::Status failed = ir::write_exact_bytes(file.path, bytes)) {
    throw OutputError(failed->message());
  }
  file.bytes = bytes.size();
  return file;
}

void Certification::finish_file(Job& job) {
  Block block;
  const std::string fault = fault_of([&] {
    std::vector<certify::Provenance> provenances;
    for (std::size_t i = 0; i < job.reports.size(); ++i) provenances.push_back(provenance(job, i));
    for (std::size_t i = 0; i < job.reports.size(); ++i) {
      append_program(job, i, provenances[i], block);
      if (options_.views.any()) keep_for_views(job, i, std::move(provenances[i]), block);
    }
  });
  if (!fault.empty()) append_fault(job.file.path, fault, block);
  job.file = {};  // the programs may be large, and other files are still to come
  put(job.number, std::move(block));
}

/// The variant with one transfer per chunk carries the limit, if its twin with one per step is
/// live.
std::optional<certify::SizeLimit> Certification::size_limit(const Job& job,
                                                            std::size_t index) const {
  using Mode = ir::MscclTransfers::Mode;
  const LoadedProgram& refuted = job.file.programs[index];
  const auto verdict = [&](std::size_t i) {
    const certify::RuleReport* rule = rule_report(job.reports[i], proofs::Rule::liveness);
    return rule == nullptr ? Verdict::not_evaluated : rule->verdict;
  };
  if (!job.file.foreign || refuted.transfers.mode != Mode::one_per_chunk ||
      verdict(index) != Verdict::refuted) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < job.file.programs.size(); ++i) {
    const LoadedProgram& twin = job.file.programs[i];
    if (twin.placement == refuted.placement && twin.transfers.mode == Mode::one_per_step &&
        verdict(i) == Verdict::certified) {
      return find_size_limit(job.file, refuted.placement, import_.runtime);
    }
  }
  return std::nullopt;
}

certify::Provenance Certification::provenance(const Job& job, std::size_t index) const {
  return {job.file.path,           job.file.programs[index].variant, size_limit(job, index),
          job.certificates[index], job.suggestions[index].text,      job.suggestions[index].json};
}

/// Takes program and report from the job; of a program without counterexample only the outline.
void Certification::keep_for_views(Job& job, std::size_t index, certify::Provenance provenance,
                                   Block& block) {
  if (!job.faults[index].empty()) return;  // append_fault has added an entry
  ProgramReport& report = job.reports[index];
  const bool refuted = std::any_of(report.rules.begin(), report.rules.end(), [](const auto& rule) {
    return rule.counterexample.has_value();
  });
  ir::Program program = std::move(job.file.programs[index].program);
  if (!refuted) program = certify::views::outline(std::move(program));
  block.entries.push_back(
      {std::move(provenance), certify::views::Judged{std::move(program), std::move(report)}});
}

void Certification::append_program(const Job& job, std::size_t index,
                                   const certify::Provenance& provenance, Block& block) const {
  if (!job.faults[index].empty()) {
    append_fault(job.file.path, job.faults[index], block);
    return;
  }
  const LoadedProgram& loaded = job.file.programs[index];
  const ProgramReport& report = job.reports[index];
  if (options_.json) {
    append_element(certify::report_json(loaded.program, report, provenance), block);
  } else if (options_.quiet) {
    append_element(certify::verdict_line(report) + '\n', block);
  } else {
    append_element(certify::report_text(loaded.program, report, true, provenance), block);
  }
  count(block.totals, report.verdict);
}

void Certification::append_refusal(const std::string& path, ir::Refusal refusal,
                                   Block& block) const {
  if (options_.json) {
    append_element(certify::refusal_json(path, refusal), block);
    return;
  }
  if (refusal.file == path) refusal.file.clear();  // it begins the line
  append_element(
      fmt::format("{}: refused:{}{}\n", path, options_.quiet ? " " : "\n  ", refusal.message()),
      block);
}

void Certification::append_fault(const std::string& path, const std::string& what,
                                 Block& block) const {
  ++block.totals.faults;
  if (options_.views.any()) block.entries.push_back({{path}, certify::views::Fault{what}});
  append_element(options_.json ? certify::fault_json(path, what)
                               : fmt::format("{}: fault of spatialcert's own: {}\n", path, what),
                 block);
  block.complaints.push_back(fmt::format("spatialcert: {}: {}\n", path, what));
}

void Certification::append_element(std::string text, Block& block) const {
  const bool first = block.text.empty();
  if (options_.json) {
    block.text += (first ? "\n    " : ",\n    ") + std::move(text);
  } else {
    block.text += (first || options_.quiet ? "" : "\n") + std::move(text);
  }
}

void Certification::put(std::size_t number, Block block) {
  {
    const std::lock_guard lock(mutex_);
    blocks_.emplace(number, std::move(block));
  }
  changed_.notify_all();
}

Certification::Block Certification::take(std::size_t number) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kDrawEvery, [&] { return blocks_.contains(number); })) {
    progress_.draw();
  }
  auto node = blocks_.extract(number);
  return std::move(node.mapped());
}

}  // namespace spatialcert::command
