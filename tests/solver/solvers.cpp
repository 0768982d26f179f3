#include "solvers.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "proofs/bounds/rule.hpp"
#include "proofs/flow/rule.hpp"
#include "proofs/liveness/rule.hpp"
#include "proofs/memory/rule.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/quiescence/rule.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/shard/rule.hpp"
#include "smt/query.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests {
namespace {

namespace fs = std::filesystem;

/// A file of this process that is removed again.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& text)
      : path_(fs::temp_directory_path() /
              ("spatialcert-query-" + std::to_string(::getpid()) + ".smt2")) {
    std::ofstream(path_) << text;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

std::vector<AskedQuery> all_queries(const ir::Program& program) {
  std::vector<AskedQuery> out;
  Fixture f(program);
  proofs::Rule rule = proofs::Rule::liveness;
  f.session.on_query = [&](const std::string& text) { out.push_back({rule, text}); };
  static_cast<void>(proofs::liveness::prove(f.subject, f.session));
  rule = proofs::Rule::bounds;
  static_cast<void>(proofs::bounds::prove(f.subject, f.position, f.session));
  rule = proofs::Rule::quiescence;
  static_cast<void>(proofs::quiescence::prove(f.subject, f.session));
  rule = proofs::Rule::memory;
  static_cast<void>(proofs::memory::prove(f.subject, f.session));
  if (f.position.empty()) return out;
  rule = proofs::Rule::ordering;
  const auto ordering = proofs::ordering::prove(f.subject, f.position, f.session);
  if (!std::holds_alternative<proofs::Proved<proofs::ordering::Witness>>(ordering.search))
    return out;
  rule = proofs::Rule::flow;
  static_cast<void>(proofs::flow::prove(f.subject, f.position, ordering.ordered, f.session));
  rule = proofs::Rule::shard;
  if (proofs::shard::applies(program)) {
    static_cast<void>(proofs::shard::prove(f.subject, f.session));
  }
  rule = proofs::Rule::reduction;
  if (!program.postconditions.empty()) {
    static_cast<void>(proofs::reduction::prove(f.subject, f.position, f.session));
  }
  return out;
}

bool ExternalSolver::installed() const { return ::access(path_.c_str(), X_OK) == 0; }

std::string ExternalSolver::answer(const std::string& text) const {
  // Z3 writes x - y as x + (-1) * y, which its own reader takes for linear, not for difference
  // arithmetic.
  std::string readable = text;
  constexpr std::string_view kDifference = "QF_IDL";
  const std::size_t logic = readable.find(kDifference);
  if (logic != std::string::npos) readable.replace(logic, kDifference.size(), "QF_LIA");
  const ScratchFile file(path_ == z3_command().path() ? readable : text);
  FILE* const pipe = ::popen((path_ + " " + file.path() + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe))
    line += static_cast<char>(c);
  while (std::fgetc(pipe) != EOF) {
  }
  ::pclose(pipe);
  return line;
}

const AskedQuery* flipped(const std::vector<AskedQuery>& queries, const ExternalSolver& solver) {
  for (const AskedQuery& query : queries) {
    const std::string answer = solver.answer(query.text);
    const bool decided = answer == "sat" || answer == "unsat";
    CHECK_MESSAGE(decided, solver.path() << " says " << answer);
    if (decided && answer != certified_answer(query.rule)) return &query;
  }
  return nullptr;
}

}  // namespace spatialcert::tests
