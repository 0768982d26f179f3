// recheck PROGRAM CERTIFICATE: is the certificate true of the program?
//
// For the host that uploads programs. Needs neither Z3 nor anything that searched for the proofs.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "ir/bytes_file.hpp"
#include "ir/io/json_writer.hpp"
#include "ir/program_file.hpp"
#include "proofs/recheck/recheck.hpp"

namespace spatialcert::proofs {
namespace {

enum Exit : int { kValid = 0, kRejected = 1, kUnreadable = 3, kUsage = 64, kFault = 70 };

constexpr const char* kFooter = R"(
Exit status:
   0  valid: every rule that applies to the program, and every required one, is shown
   1  rejected: the certificate is about something else, or does not show what it must
   3  unreadable: the program or the certificate is malformed, damaged or of another version
  64  wrong usage
  70  a fault of recheck's own, or output that could not be written

Examples:
  recheck model.json.zst model.cert
  recheck --require reduction --format json model.json model.cert
)";

/// No certificate is larger: a payload, and room for what stands around it and for a frame that
/// does not get smaller.
constexpr std::uint64_t kMostCertificateBytes = kMostPayloadBytes + kMostPayloadBytes / 128;

/// What a run found, in the form of the report.
struct Report {
  std::string program, certificate;  ///< paths
  std::string digest, producer;      ///< as far as they were read
  int exit = kFault;
  std::string reason;  ///< not valid: a word or two
  std::string detail;
  std::vector<RuleOutcome> rules;
};

std::string_view verdict(const Report& report) {
  return report.exit == kValid ? "valid" : report.exit == kRejected ? "rejected" : "unreadable";
}

std::string_view state(const RuleOutcome& rule) {
  if (rule.denial) return "denied";
  return rule.applicable ? "accepted" : "not applicable";
}

Report examine(const std::string& program_path, const std::string& certificate_path,
               const std::vector<Rule>& required) {
  Report out{program_path, certificate_path, "", "", kUnreadable, "", "", {}};
  const auto unreadable = [&](std::string reason, std::string detail) {
    out.reason = std::move(reason);
    out.detail = std::move(detail);
    return out;
  };
  const auto bytes = ir::read_bytes(certificate_path, kMostCertificateBytes);
  if (!bytes) return unreadable("unreadable certificate", bytes.error().message());
  const auto decoded = decode(*bytes);
  if (const auto* no = std::get_if<Unreadable>(&decoded)) {
    return unreadable(std::string(to_string(no->reason)),
                      fmt::format("{}: {}", certificate_path, no->detail));
  }
  const auto& certificate = std::get<Certificate>(decoded);
  out.producer = certificate.producer;
  const auto program = ir::read_program(program_path);
  if (!program) return unreadable("unreadable program", program.error().message());
  Outcome outcome = recheck(*program, certificate, required);
  out.digest = std::move(outcome.digest);
  out.exit = outcome.denial ? kRejected : kValid;
  if (outcome.denial) out.reason = to_string(*outcome.denial);
  out.detail = std::move(outcome.detail);
  out.rules = std::move(outcome.rules);
  return out;
}

std::string text(const Report& report) {
  std::string out = fmt::format("{}: {}", report.program, verdict(report));
  if (report.exit != kValid) out += fmt::format(": {}: {}", report.reason, report.detail);
  out += fmt::format("\n  certificate {}", report.certificate);
  if (!report.producer.empty()) out += fmt::format(" by {}", report.producer);
  if (!report.digest.empty()) out += fmt::format("\n  digest {}", report.digest);
  out += '\n';
  if (report.rules.empty()) return out;
  out += "  rule        verdict         obligations\n";
  for (const RuleOutcome& rule : report.rules) {
    std::string line = fmt::format("  {:<10}  {:<14}  {:>11}", to_string(rule.rule), state(rule),
                                   rule.obligations);
    if (!rule.detail.empty()) line += "  " + rule.detail;
    out += line + "\n";
  }
  return out;
}

std::string json(const Report& report) {
  ir::io::JsonWriter json;
  json.object();
  json.key("format").text("spatialcert-recheck").key("version").natural(1);
  json.key("program").text(report.program).key("certificate").text(report.certificate);
  json.key("verdict").text(verdict(report));
  if (report.exit != kValid)
    json.key("reason").text(report.reason).key("detail").text(report.detail);
  if (!report.digest.empty()) json.key("digest").text(report.digest);
  if (!report.producer.empty()) json.key("producer").text(report.producer);
  json.key("rules").array();
  for (const RuleOutcome& rule : report.rules) {
    json.object(true).key("rule").text(to_string(rule.rule)).key("verdict").text(state(rule));
    json.key("obligations").natural(rule.obligations);
    if (rule.denial) json.key("reason").text(to_string(*rule.denial));
    if (!rule.detail.empty()) json.key("detail").text(rule.detail);
    json.close();
  }
  json.close().close();
  return json.take() + "\n";
}

/// False if standard output could not be written.
bool print(const std::string& out) {
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0;
}

struct Arguments {
  std::string program, certificate;
  std::vector<std::string> required;
  std::string format = "text";
};

/// Declares the arguments; the returned app refers to them.
void declare(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", fmt::format("recheck {}, certificates of version {}",
                                                SPATIALCERT_VERSION, kCertificateVersion));
  app.add_option("program", arguments.program, "Program: FILE.json or FILE.json.zst")->required();
  app.add_option("certificate", arguments.certificate, "Certificate, as certify -o writes it")
      ->required();
  std::vector<std::string> names;
  for (const Rule rule : all_rules()) names.emplace_back(to_string(rule));
  app.add_option("--require", arguments.required,
                 "Rules that must apply and be shown, separated by commas. All rules that apply "
                 "are required anyway")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->take_all();
  app.add_option("--format", arguments.format, "text or json (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  app.footer(kFooter);
}

int run(int argc, char** argv) {
  CLI::App app{"Checks a certificate against its program, without a solver", "recheck"};
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    const int code = app.exit(e, out, err);
    std::fputs(err.str().c_str(), stderr);
    if (!print(out.str())) return kFault;
    return code == 0 ? kValid : kUsage;
  }
  std::vector<Rule> required;
  for (const std::string& name : arguments.required) required.push_back(*parse_rule(name));
  const Report report = examine(arguments.program, arguments.certificate, required);
  if (!print(arguments.format == "json" ? json(report) : text(report))) {
    std::fputs("recheck: standard output could not be written\n", stderr);
    return kFault;
  }
  return report.exit;
}

}  // namespace
}  // namespace spatialcert::proofs

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return spatialcert::proofs::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("recheck: out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "recheck: %s\n", e.what());
  }
  return spatialcert::proofs::kFault;
}
