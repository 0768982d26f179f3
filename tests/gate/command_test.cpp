// spatialcert gate on folders: every outcome, and every way in which it might end in 0 and must
// not.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "tests/certificate/forge.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert::command::test;
namespace fs = std::filesystem;

namespace {

/// Two folders of programs, `a` before a change and `b` after it.
class Folders {
 public:
  Folders() {
    fs::create_directories(folder_ / "a/sub");
    fs::create_directories(folder_ / "b/sub");
  }
  void put(const std::string& path, const std::string& golden_name) const {
    fs::copy_file(golden(golden_name), at(path), fs::copy_options::overwrite_existing);
  }
  void put_both(const std::string& path, const std::string& golden_name) const {
    put("a/" + path, golden_name);
    put("b/" + path, golden_name);
  }
  void write(const std::string& path, const std::string& text) const { write_file(at(path), text); }
  void certify(const std::string& path, const std::string& certificate) const {
    REQUIRE(run({"certify", at(path), "-o", at(certificate)}).status == 0);
  }
  [[nodiscard]] std::string at(const std::string& path) const { return folder_ / path; }
  [[nodiscard]] ChildResult gate(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"gate", "--baseline", at("a"), "--candidate", at("b")};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  [[nodiscard]] ChildResult gate_with(const std::string& policy,
                                      std::vector<std::string> more = {}) {
    write("policy.json", R"({"format": "spatialcert-policy", "version": 1, )" + policy + "}");
    more.insert(more.end(), {"--policy", at("policy.json"), "--today", "2026-12-01"});
    return gate(more);
  }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("each outcome of a change") {
  Folders f;
  f.put_both("same.json", "certified-sum");
  f.put_both("sub/bad.json", "leak");
  SUBCASE("everything held") {
    fs::remove(f.at("a/sub/bad.json"));
    fs::remove(f.at("b/sub/bad.json"));
    const ChildResult result = f.gate();
    CHECK(result.status == 0);
    CHECK(contains(result.out, "gate passed: 1 held"));
    CHECK(result.err.empty());
  }
  SUBCASE("still bad") {
    const ChildResult result = f.gate();
    CHECK(result.status == 1);
    CHECK(contains(result.out, "still refuted:\n  sub/bad: refuted by shard"));
  }
  SUBCASE("fixed and new") {
    f.put("b/sub/bad.json", "certified-two-sections");
    f.put("b/new.json", "certified-persistent");
    const ChildResult result = f.gate();
    CHECK(result.status == 0);
    CHECK(contains(result.out, "fixed:\n  sub/bad: certified; was refuted by shard"));
    CHECK(contains(result.out, "new:\n  new: certified; a new program"));
    CHECK(contains(result.out, "7 -> 18 (+157.1 %)"));
  }
  SUBCASE("newly refuted, with the counterexample in words") {
    f.put("b/same.json", "missing-wait");
    const ChildResult result = f.gate();
    CHECK(result.status == 1);
    CHECK(contains(result.out, "newly refuted:\n  same: refuted by ordering; was certified"));
    CHECK(contains(result.out, "race: two accesses that nothing orders"));
  }
  SUBCASE("lost") {
    fs::remove(f.at("b/same.json"));
    f.put("b/sub/bad.json", "certified-sum");
    const ChildResult result = f.gate();
    CHECK(result.status == 1);
    CHECK(contains(result.out, "lost:\n  same: not in the candidate; was certified"));
  }
  SUBCASE("newly refused") {
    f.put("b/sub/bad.json", "certified-sum");
    f.write("b/same.json", R"({"format": "spatialcert-program", "version": 1})");
    const ChildResult result = f.gate();
    CHECK(result.status == 3);
    CHECK(contains(result.out, "newly refused:\n  same: refused: "));
    CHECK(contains(result.out, "b/same.json:1: $"));
  }
}

TEST_CASE("newly undecided is 2; the baseline's verdict comes from its certificate") {
  Folders f;
  f.put("a/p.json", "certified-sum");
  f.put("b/p.json", "certified-all-reduce");
  f.certify("a/p.json", "a/p.cert");
  const ChildResult result = f.gate({"--rlimit", "1"});
  CHECK(result.status == 2);
  CHECK(contains(result.out, "newly undecided:\n  p: undecided: "));
  CHECK(contains(result.out, "; was certified"));
}

TEST_CASE(
    "what did not change is taken from the baseline's certificate, and only after a recheck") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  f.certify("a/p.json", "a/p.cert");
  // With so few steps nothing is certified anew, so a 0 shows that the certificate was enough.
  ChildResult result = f.gate({"--rlimit", "1"});
  CHECK(result.status == 0);
  CHECK(contains(result.out, "1 taken from certificates after a recheck, 0 judged anew"));
  SUBCASE("a certificate of another program does not count") {
    f.put("other.json", "certified-all-reduce");
    f.certify("other.json", "a/p.cert");
    result = f.gate({"--rlimit", "1"});
    CHECK(result.status == 2);
    CHECK(contains(result.out, "certificates that do not count:\n  p of the baseline: "));
    CHECK(contains(result.out, "another target"));
  }
  SUBCASE("a partial certificate does not count") {
    fs::remove(f.at("a/p.cert"));
    REQUIRE(
        run({"certify", "--rule", "liveness", f.at("a/p.json"), "-o", f.at("a/p.cert")}).status ==
        2);
    REQUIRE(fs::exists(f.at("a/p.cert")));
    result = f.gate({"--rlimit", "1"});
    CHECK(result.status == 2);
    CHECK(contains(result.out, "missing obligation"));
  }
  SUBCASE("a damaged one, one of another version, and what is none do not count") {
    std::string bytes = read_file(f.at("a/p.cert"));
    for (std::size_t at = 0; at < bytes.size(); at += 13) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 1);
      f.write("a/p.cert", damaged);
      CAPTURE(at);
      CHECK(f.gate({"--rlimit", "1"}).status == 2);
    }
    f.write("a/p.cert", "certified");
    CHECK(f.gate({"--rlimit", "1"}).status == 2);
    f.write("a/p.cert", "");
    CHECK(f.gate({"--rlimit", "1"}).status == 2);
    fs::remove(f.at("a/p.cert"));
    fs::create_directory(f.at("a/p.cert"));
    CHECK(f.gate({"--rlimit", "1"}).status == 2);
    fs::remove(f.at("a/p.cert"));
    CHECK(f.gate({"--rlimit", "1"}).status == 2);
  }
  SUBCASE("one of an earlier or later version of a rule does not count") {
    namespace proofs = spatialcert::proofs;
    const std::string payload = proofs::test::payload_of(read_file(f.at("a/p.cert")));
    int versions = 0;
    for (std::size_t at = 0; at < payload.size(); ++at) {
      for (const int by : {-1, 1}) {
        std::string changed = payload;
        changed[at] = static_cast<char>(changed[at] + by);
        const std::string bytes = proofs::test::forge(changed);
        const auto decoded = proofs::decode(bytes);
        const auto* unreadable = std::get_if<proofs::Unreadable>(&decoded);
        if (unreadable == nullptr ||
            unreadable->reason != proofs::Unreadable::Reason::other_rule_version)
          continue;
        ++versions;
        f.write("a/p.cert", bytes);
        result = f.gate({"--rlimit", "1"});
        CHECK(result.status == 2);
        CHECK(contains(result.out, proofs::to_string(unreadable->reason).data()));
      }
    }
    CHECK(versions >= 2);
  }
  SUBCASE("a program that changed is not covered by the certificate of what it was") {
    std::string text = read_file(f.at("b/p.json"));
    const std::size_t at = text.find("{\"wait\": \"summed\"}");
    REQUIRE(at != std::string::npos);
    f.write("b/p.json", text.replace(at, 18, "{\"await\": \"summed\", \"v\": 1}"));
    fs::copy_file(f.at("a/p.cert"), f.at("b/p.cert"));
    CHECK(f.gate({"--rlimit", "1"}).status != 0);
    CHECK(f.gate().status != 0);
  }
}

TEST_CASE("certificates may be kept in other folders, and written to become the next baseline's") {
  Folders f;
  f.put("a/sub/p.json", "certified-sum");
  f.put("b/sub/p.json", "certified-all-reduce");
  f.put_both("bad.json", "leak");
  REQUIRE(f.gate({"--write-certificates", f.at("kept")}).status == 1);
  CHECK(fs::exists(f.at("kept/sub/p.cert")));
  CHECK_FALSE(fs::exists(f.at("kept/bad.cert")));
  fs::remove(f.at("a/bad.json"));
  fs::remove(f.at("b/bad.json"));
  CHECK(f.gate({"--rlimit", "1"}).status == 2);
  CHECK(f.gate({"--rlimit", "1", "--certificates", f.at("kept")}).status == 0);
  f.put("a/sub/p.json", "certified-all-reduce");
  CHECK(f.gate({"--rlimit", "1", "--baseline-certificates", f.at("kept")}).status == 0);
  REQUIRE(f.gate({"--rlimit", "1", "--baseline-certificates", f.at("kept"), "--write-certificates",
                  f.at("again")})
              .status == 0);
  CHECK(read_file(f.at("again/sub/p.cert")) == read_file(f.at("kept/sub/p.cert")));
  f.write("taken", "a file");
  CHECK(f.gate({"--write-certificates", f.at("taken")}).status == 70);
}

TEST_CASE(
    "folders without programs, the same folder twice, and folders that are none are never 0") {
  Folders f;
  CHECK(f.gate().status == 64);
  f.put("a/p.json", "certified-sum");
  ChildResult empty = f.gate();
  CHECK(empty.status == 64);
  CHECK(contains(empty.err, "1 programs in the baseline, 0 in the candidate"));
  fs::copy_file(f.at("a/p.json"), f.at("b/p.txt"));
  CHECK(f.gate().status == 64);
  CHECK(run({"gate", "--baseline", f.at("b"), "--candidate", f.at("a")}).status == 64);
  CHECK(run({"gate", "--baseline", f.at("a"), "--candidate", f.at("a")}).status == 64);
  CHECK(run({"gate", "--baseline", f.at("a"), "--candidate", f.at("b/../a/.")}).status == 64);
  CHECK(run({"gate", "--baseline", f.at(""), "--candidate", f.at("a")}).status == 64);
  fs::create_directory_symlink(f.at("a"), f.at("linked"));
  CHECK(run({"gate", "--baseline", f.at("a"), "--candidate", f.at("linked")}).status == 64);
  CHECK(run({"gate", "--baseline", f.at("a"), "--candidate", f.at("none")}).status == 3);
  CHECK(run({"gate", "--baseline", f.at("a/p.json"), "--candidate", f.at("a")}).status == 3);
  CHECK(run({"gate", "--baseline", f.at("a")}).status == 64);
}

TEST_CASE("nothing that might be a program is skipped in silence") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  REQUIRE(f.gate().status == 0);
  SUBCASE("two files of one program") {
    fs::copy_file(f.at("b/p.json"), f.at("b/p.json.zst"));
    const ChildResult result = f.gate();
    CHECK(result.status == 3);
    CHECK(contains(result.out, "one file per program"));
  }
  SUBCASE("a file that is no program") {
    f.write("b/notes.json", "{}");
    CHECK(f.gate().status == 3);
  }
  SUBCASE("an empty file") {
    f.write("b/p.json", "");
    CHECK(f.gate().status == 3);
  }
  SUBCASE("a file that is no file") {
    REQUIRE(::mkfifo(f.at("b/pipe.json").c_str(), 0600) == 0);
    CHECK(f.gate().status == 3);
  }
  SUBCASE("a link that leads nowhere") {
    fs::create_symlink("nowhere.json", f.at("b/q.json"));
    CHECK(f.gate().status == 3);
    fs::remove(f.at("b/q.json"));
    fs::create_symlink("nowhere", f.at("b/folder"));
    CHECK(f.gate().status == 3);
  }
  SUBCASE("a loop of links, and a folder that is reached in two ways") {
    fs::create_directory_symlink("..", f.at("b/sub/up"));
    const ChildResult loop = f.gate();
    CHECK(loop.status == 3);
    CHECK(contains(loop.out, "was read already"));
    fs::remove(f.at("b/sub/up"));
    fs::create_directory_symlink("sub", f.at("b/twin"));
    CHECK(f.gate().status == 3);
  }
  SUBCASE("folders behind links are read") {
    fs::create_directory(f.at("real"));
    f.put("real/q.json", "missing-wait");
    fs::create_directory_symlink(f.at("real"), f.at("b/linked"));
    const ChildResult result = f.gate();
    CHECK(result.status == 1);
    CHECK(contains(result.out, "linked/q: refuted by ordering"));
  }
  SUBCASE("a folder that may not be read") {
    fs::permissions(f.at("b/sub"), fs::perms::none);
    if (::access(f.at("b/sub").c_str(), R_OK) != 0) CHECK(f.gate().status == 3);
    fs::permissions(f.at("b/sub"), fs::perms::owner_all);
  }
  SUBCASE("names that would look like lines of a report") {
    f.put("b/x\ngate passed.json", "certified-sum");
    CHECK(f.gate().status == 3);
  }
}

TEST_CASE("a program that shrank to nothing is never 0, certificate or not") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  std::string text = read_file(f.at("b/p.json"));
  text.resize(text.find("  \"postconditions\""));
  f.write("b/p.json", text + "  \"programs\": []\n}\n");
  const ChildResult result = f.gate();
  CHECK(result.status != 0);
  CHECK(result.status != 3);
  CHECK_FALSE(contains(result.out, "passed"));
}

TEST_CASE("policies: exceptions hold to the day, and fail when nothing needs them") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  f.put_both("sub/bad.json", "leak");
  const std::string leak =
      R"("exceptions": [{"program": "sub/bad", "rule": "shard", "may": "refuted", "reason": "a rewrite", "until": ")";
  const ChildResult excused = f.gate_with(leak + "2026-12-01\"}]");
  CHECK(excused.status == 0);
  CHECK(contains(excused.out, "gate passed: 1 held, 1 excused"));
  CHECK(contains(excused.out, "excused until 2026-12-01: a rewrite"));
  const ChildResult expired = f.gate_with(leak + "2026-11-30\"}]");
  CHECK(expired.status == 1);
  CHECK(contains(expired.out, "expired: the exception that sub/bad may be refuted by shard"));
  f.put("b/sub/bad.json", "certified-two-sections");
  const ChildResult unused = f.gate_with(leak + "2026-12-01\"}]");
  CHECK(unused.status == 1);
  CHECK(contains(unused.out, "unused: "));
  const ChildResult required = f.gate_with(R"("require": ["slices"])");
  CHECK(required.status == 1);
  CHECK(contains(required.out, "lacking:"));
  const ChildResult budget = f.gate_with(R"("budgets": [{"cost": "ops", "percent": 100}])");
  CHECK(budget.status == 1);
  CHECK(contains(budget.out, "over budget: sub/bad: ops grew from 7 to 18, by more than 100 %"));
  CHECK(f.gate_with(R"("budgets": [{"cost": "ops", "percent": 160}])").status == 0);
  const ChildResult refused = f.gate_with(R"("exception": [])");
  CHECK(refused.status == 3);
  CHECK(contains(refused.err, "$.exception"));
  CHECK(refused.out.empty());
  CHECK(f.gate({"--policy", f.at("none.json")}).status == 3);
  CHECK(f.gate({"--today", "tomorrow"}).status == 64);
}

TEST_CASE("SARIF and JUnit have the verdicts, what was lost, and violations of the policy") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  f.put("b/sub/r.json", "missing-wait");
  f.put("a/gone.json", "certified-sum");
  f.certify("a/p.json", "a/p.cert");
  const std::string unused =
      R"("exceptions": [{"program": "q", "rule": "flow", "may": "refuted", "reason": "x", "until": "2027-01-01"}])";
  REQUIRE(f.gate_with(unused, {"--sarif", f.at("s.sarif"), "--junit", f.at("j.xml")}).status == 1);
  const std::string sarif = read_file(f.at("s.sarif"));
  const std::string junit = read_file(f.at("j.xml"));
  for (const char* part : {"ordering", "a/gone.json", "it is lost", "policy.json", "unused"}) {
    CAPTURE(part);
    CHECK(contains(sarif, part));
    CHECK(contains(junit, part));
  }
  CHECK(contains(junit, "<failure"));
  CHECK(contains(junit, "certified-sum"));  // judged from its certificate
  CHECK(f.gate({"--sarif", "-", "--junit", "-"}).status == 64);
  CHECK(f.gate({"--junit", "-"}).out.starts_with("<?xml"));
  CHECK(f.gate({"--sarif", "/dev/full"}).status == 70);
}

TEST_CASE(
    "reports: the same for every number of threads, and none that could not be written is 0") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  f.put_both("q.json", "certified-persistent");
  f.put("a/sub/r.json", "certified-all-reduce");
  f.put("b/sub/r.json", "missing-wait");
  for (const char* format : {"text", "json"}) {
    const ChildResult one = f.gate({"-j", "1", "--format", format});
    const ChildResult many = f.gate({"-j", "5", "--format", format});
    CHECK(one.status == 1);
    CHECK(one.out == many.out);
    CHECK_FALSE(one.out.empty());
  }
  CHECK(f.gate({"--markdown", f.at("m.md")}).status == 1);
  const ChildResult printed = f.gate({"--markdown", "-"});
  CHECK(printed.status == 1);
  CHECK(printed.out == read_file(f.at("m.md")));
  CHECK(contains(printed.out, "## spatialcert gate failed: 1 newly refuted, 2 held"));
  CHECK(f.gate({"--markdown", "-", "--format", "json"}).status == 64);
  f.put("b/sub/r.json", "certified-all-reduce");
  CHECK(f.gate().status == 0);
  CHECK(f.gate({"--markdown", "/dev/full"}).status == 70);
  CHECK(
      run({"gate", "--baseline", f.at("a"), "--candidate", f.at("b")}, Output::full_disk).status ==
      70);
}

TEST_CASE(
    "what an exception excuses is suppressed in SARIF and skipped in JUnit, and nothing else is") {
  Folders f;
  f.put_both("p.json", "certified-sum");
  f.put_both("sub/bad.json", "leak");
  f.put_both("sub/race.json", "missing-wait");
  const std::string leak =
      R"({"program": "sub/bad", "rule": "shard", "may": "refuted", "reason": "a rewrite", "until": "2026-12-01"})";
  const std::string race =
      R"({"program": "sub/race", "rule": "ordering", "may": "refuted", "reason": "known", "until": "2026-11-30"})";
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  };
  const std::vector<std::string> views{"--sarif", f.at("s.sarif"), "--junit", f.at("j.xml")};
  CHECK(f.gate_with("\"exceptions\": [" + leak + ", " + race + "]", views).status == 1);
  std::string sarif = read_file(f.at("s.sarif"));
  std::string junit = read_file(f.at("j.xml"));
  CHECK(count(sarif, "\"suppressions\"") == 2);
  CHECK(count(sarif, "\"status\": \"accepted\"") == 1);
  CHECK(contains(sarif, "\"justification\": \"a rewrite (until 2026-12-01)\""));
  CHECK(count(junit, "<failure") == 1);  // an exception that has expired excuses nothing
  CHECK(contains(junit, "<skipped message=\"refuted, excused: a rewrite (until 2026-12-01)\""));
  CHECK(f.gate({"--sarif", f.at("s.sarif"), "--junit", f.at("j.xml")}).status == 1);
  sarif = read_file(f.at("s.sarif"));
  junit = read_file(f.at("j.xml"));
  CHECK_FALSE(contains(sarif, "suppressions"));  // without a policy nothing can be excused
  CHECK(count(junit, "<failure") == 2);
}

}  // namespace
