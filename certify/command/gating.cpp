#include "certify/command/gating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "certify/command/command.hpp"
#include "certify/command/view_options.hpp"
#include "certify/pipeline.hpp"
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"
#include "proofs/certificate/certificate.hpp"
#include "proofs/recheck/recheck.hpp"

namespace spatialcert::command {
namespace {

namespace fs = std::filesystem;
using certify::gate::Evidence;
using certify::gate::Side;
using certify::gate::Standing;

constexpr std::chrono::milliseconds kDrawEvery{200};
/// No certificate is larger: a payload, and room for what stands around it.
constexpr std::uint64_t kMostCertificateBytes =
    proofs::kMostPayloadBytes + proofs::kMostPayloadBytes / 128;

std::string utc_today() {
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date{today};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

bool is_inside(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

Side refused_side(const std::string& file, const ir::Refusal& refusal) {
  Side side;
  side.file = file;
  side.standing = Standing::refused;
  side.detail = refusal.message();
  return side;
}

Side fault_side(const std::string& what) {
  Side side;
  side.detail = what;
  return side;
}

/// What `certify` would have reported of a program whose certificate was found valid.
certify::ProgramReport report_of(const ir::Program& program, const proofs::Outcome& outcome) {
  certify::ProgramReport report;
  report.name = program.name;
  report.digest = outcome.digest;
  report.verdict = certify::Verdict::certified;
  report.ops = ir::op_count(program);
  for (const proofs::RuleOutcome& rule : outcome.rules) {
    certify::RuleReport& one = report.rules.emplace_back();
    one.rule = rule.rule;
    one.verdict = rule.applicable ? certify::Verdict::certified : certify::Verdict::not_applicable;
    one.obligations = rule.obligations;
    one.detail = rule.applicable ? "certificate rechecked" : proofs::absence(rule.rule);
  }
  return report;
}

}  // namespace

Gating::Gating(const GateOptions& options, certify::gate::Policy policy)
    : options_(options), policy_(std::move(policy)) {}

certify::gate::Comparison Gating::run() {
  check_folders();
  find_jobs();
  progress_.emplace(!options_.quiet, jobs_.size());
  pool_ = std::make_unique<certify::Pool>(options_.jobs);
  for (Job& job : jobs_) {
    pool_->add([this, &job] { perform(job); });
  }
  std::unique_lock lock(mutex_);
  for (std::size_t seen = 0; seen < jobs_.size();) {
    const bool more = changed_.wait_for(lock, kDrawEvery, [&] { return done_ > seen; });
    for (; seen < done_; ++seen) progress_->finished_file();
    if (!more) progress_->draw();
  }
  lock.unlock();
  progress_->erase();
  pool_.reset();
  std::vector<certify::gate::Pair> pairs;
  for (Job& job : jobs_) pairs.push_back(std::move(job.pair));
  return certify::gate::compare(std::move(pairs), policy_,
                                options_.today.empty() ? utc_today() : options_.today, refusals_);
}

std::vector<std::optional<certify::views::Entry>> Gating::take_entries() {
  std::vector<std::optional<certify::views::Entry>> entries;
  for (Job& job : jobs_) entries.push_back(std::move(job.entry));
  return entries;
}

void Gating::check_folders() const {
  std::error_code no_baseline, no_candidate;
  const fs::path baseline = fs::canonical(options_.baseline, no_baseline);
  const fs::path candidate = fs::canonical(options_.candidate, no_candidate);
  if (no_baseline || no_candidate) return;  // refused when it is read
  if (is_inside(baseline, candidate) || is_inside(candidate, baseline)) {
    throw UsageError(fmt::format(
        "--baseline {} and --candidate {}: two folders are compared, neither inside the other",
        options_.baseline, options_.candidate));
  }
}

void Gating::find_jobs() {
  ProgramFolder baseline = find_programs(options_.baseline);
  ProgramFolder candidate = find_programs(options_.candidate);
  for (ProgramFolder* folder : {&baseline, &candidate})
    std::move(folder->refusals.begin(), folder->refusals.end(), std::back_inserter(refusals_));
  std::map<std::string, Job> jobs;
  for (auto& [name, file] : baseline.programs) jobs[name].baseline = std::move(file);
  for (auto& [name, file] : candidate.programs) jobs[name].candidate = std::move(file);
  for (auto& [name, job] : jobs) {
    job.pair.name = name;
    jobs_.push_back(std::move(job));
  }
}

void Gating::perform(Job& job) {
  std::string fault;
  try {
    judge(job);
  } catch (const std::exception& e) {
    fault = *e.what() == '\0' ? "unknown fault" : e.what();
  } catch (...) {
    fault = "unknown fault";
  }
  if (!fault.empty()) {
    // Whatever was found before it is not to be relied on.
    if (job.baseline) job.pair.baseline = fault_side(fault);
    if (job.candidate) job.pair.candidate = fault_side(fault);
    if (options_.views)
      job.entry = certify::views::Entry{{job.pair.name, {}, {}, {}}, certify::views::Fault{fault}};
  }
  {
    const std::lock_guard lock(mutex_);
    ++done_;
  }
  changed_.notify_all();
}

/// Reads both files, and parses one text once. What is refused is put into the pair.
Gating::LoadedPair Gating::load(Job& job) const {
  LoadedPair out;
  std::string texts[2];
  const std::optional<File>* files[2] = {&job.baseline, &job.candidate};
  std::optional<Side>* sides[2] = {&job.pair.baseline, &job.pair.candidate};
  std::shared_ptr<const Loaded>* loaded[2] = {&out.baseline, &out.candidate};
  for (int i = 0; i < 2; ++i) {
    if (!*files[i]) continue;
    const auto refuse = [&](const std::string& file, const ir::Refusal& refusal) {
      *sides[i] = refused_side(file, refusal);
      if (i == 1 && options_.views) job.entry = certify::views::Entry{{file, {}, {}, {}}, refusal};
    };
    if (const auto* refusal = std::get_if<ir::Refusal>(&**files[i])) {
      refuse(refusal->file, *refusal);
      continue;
    }
    const std::string& path = std::get<std::string>(**files[i]);
    auto text = ir::read_bytes(path, ir::kMaximumInputBytes, ir::look_at_program);
    if (!text) {
      refuse(path, text.error());
      continue;
    }
    texts[i] = *std::move(text);
    if (i == 1 && out.baseline && texts[0] == texts[1]) {
      out.candidate = out.baseline;
      continue;
    }
    auto program = ir::parse_program(texts[i], path);
    if (!program) {
      refuse(path, program.error());
      continue;
    }
    const ir::Digest digest = ir::digest(*program);
    *loaded[i] = std::make_shared<const Loaded>(Loaded{*std::move(program), digest});
  }
  // One program may be written in two ways.
  if (out.baseline && out.candidate && out.baseline->digest == out.candidate->digest)
    out.candidate = out.baseline;
  return out;
}

void Gating::judge(Job& job) {
  const auto certificate_path = [&](const std::string& folder, const std::string& beside) {
    return (fs::path(folder.empty() ? beside : folder) / (job.pair.name + ".cert")).string();
  };
  const std::string baseline_path =
      certificate_path(options_.baseline_certificates, options_.baseline);
  const std::string candidate_path = certificate_path(options_.certificates, options_.candidate);
  const LoadedPair loaded = load(job);
  const bool same = loaded.baseline && loaded.candidate == loaded.baseline;
  std::vector<std::string> baseline_discarded, candidate_discarded;

  std::optional<Valid> baseline_valid, candidate_valid;
  if (loaded.baseline)
    baseline_valid = recheck(baseline_path, *loaded.baseline, baseline_discarded);
  if (loaded.candidate && !(same && baseline_valid))
    candidate_valid = recheck(candidate_path, *loaded.candidate, candidate_discarded);

  std::optional<Side> candidate;
  if (loaded.candidate) {
    const Valid* valid = candidate_valid ? &*candidate_valid : nullptr;
    if (valid == nullptr && same && baseline_valid) valid = &*baseline_valid;
    candidate = judge_candidate(job, *loaded.candidate, valid);
    if (valid != nullptr && valid != (candidate_valid ? &*candidate_valid : nullptr))
      candidate->evidence = Evidence::twin_certificate;
    candidate->file = std::get<std::string>(*job.candidate);
  }
  std::optional<Side> baseline;
  if (loaded.baseline) {
    if (baseline_valid) {
      baseline = certify::gate::side_of(loaded.baseline->program, baseline_valid->outcome);
    } else if (same) {
      baseline = candidate;  // there is one verdict on one program
      if (candidate_valid) baseline->evidence = Evidence::twin_certificate;
    } else {
      baseline = certify::gate::side_of(loaded.baseline->program,
                                        judge_anew(job, loaded.baseline->program, false));
    }
    baseline->file = std::get<std::string>(*job.baseline);
    baseline->discarded = std::move(baseline_discarded);
  }
  if (candidate) candidate->discarded = std::move(candidate_discarded);
  if (baseline) job.pair.baseline = std::move(baseline);
  if (candidate) job.pair.candidate = std::move(candidate);
}

Side Gating::judge_candidate(Job& job, const Loaded& loaded, const Valid* valid) {
  if (valid != nullptr) {
    Side side = certify::gate::side_of(loaded.program, valid->outcome);
    if (side.standing == Standing::certified) write_certificate(job.pair.name, valid->bytes);
    keep_for_views(job, loaded, report_of(loaded.program, valid->outcome));
    return side;
  }
  certify::ProgramReport report = judge_anew(job, loaded.program, true);
  const auto certificate = std::exchange(report.certificate, std::nullopt);
  Side side = certify::gate::side_of(loaded.program, report);
  if (certificate && side.standing == Standing::certified)
    write_certificate(job.pair.name, proofs::encode(*certificate));
  keep_for_views(job, loaded, std::move(report));
  return side;
}

std::optional<Gating::Valid> Gating::recheck(const std::string& path, const Loaded& loaded,
                                             std::vector<std::string>& discarded) const {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return std::nullopt;
  const auto discard = [&](std::string_view reason, std::string_view detail) {
    discarded.push_back(fmt::format("{}: {}: {}", path, reason, detail));
  };
  auto bytes = ir::read_bytes(path, kMostCertificateBytes);
  if (!bytes) {
    discarded.push_back(bytes.error().message());
    return std::nullopt;
  }
  const auto decoded = proofs::decode(*bytes);
  if (const auto* unreadable = std::get_if<proofs::Unreadable>(&decoded)) {
    discard(proofs::to_string(unreadable->reason), unreadable->detail);
    return std::nullopt;
  }
  auto outcome = proofs::recheck(loaded.program, std::get<proofs::Certificate>(decoded));
  if (outcome.denial) {
    discard(proofs::to_string(*outcome.denial), outcome.detail);
    return std::nullopt;
  }
  return Valid{*std::move(bytes), std::move(outcome)};
}

certify::ProgramReport Gating::judge_anew(const Job& job, const ir::Program& program,
                                          bool is_candidate) {
  certify::Options options;
  options.rlimit = options_.rlimit;
  options.keep_witnesses = is_candidate && !options_.write_certificates.empty();
  options.performer = [this](std::size_t count, const std::function<void(std::size_t)>& part) {
    pool_->each(count, part);
  };
  options.on_progress = [&](std::string_view what) { progress_->doing(job.pair.name, what); };
  return certify::certify(program, options);
}

void Gating::keep_for_views(Job& job, const Loaded& loaded, certify::ProgramReport report) const {
  if (!options_.views) return;
  const bool refuted = std::any_of(report.rules.begin(), report.rules.end(), [](const auto& rule) {
    return rule.counterexample.has_value();
  });
  job.entry = certify::views::Entry{
      {std::get<std::string>(*job.candidate), {}, {}, {}},
      certify::views::Judged{refuted ? loaded.program : certify::views::outline(loaded.program),
                             std::move(report)}};
}

void Gating::write_certificate(const std::string& name, std::string_view bytes) const {
  if (options_.write_certificates.empty()) return;
  write_file((fs::path(options_.write_certificates) / (name + ".cert")).string(), bytes);
}

}  // namespace spatialcert::command
