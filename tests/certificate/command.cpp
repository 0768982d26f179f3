// `certify -o`: what is written, when, where, and what the report says of it.
#include <doctest/doctest.h>

#include <filesystem>

#include "ir/program_file.hpp"
#include "tests/certificate/forge.hpp"
#include "tests/command/child.hpp"

namespace spatialcert::proofs::test {
namespace {

using command::test::ChildResult;
using command::test::contains;
using command::test::golden;
using command::test::read_file;
using command::test::run;
using command::test::TemporaryFolder;
using command::test::write_file;

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

/// An algorithm, whose certificate is longer than what the command says.
std::string generate_ring(const TemporaryFolder& folder) {
  const std::string xml = folder / "ring.xml";
  REQUIRE(run({"generate", "--collective", "ring", "--op", "allreduce", "--ranks", "8", "-o", xml})
              .status == 0);
  return xml;
}

}  // namespace

TEST_CASE("the certificate of a certified program") {
  const TemporaryFolder folder;
  const std::string path = folder / "sum.cert";
  const ChildResult result = run({"certify", golden("certified-sum"), "-o", path});
  CHECK(result.status == 0);
  const std::string bytes = read_file(path);
  CHECK(contains(result.out,
                 "certificate: " + path + " (" + std::to_string(bytes.size()) + " bytes)"));
  const Certificate certificate = decoded(bytes);
  const auto program = ir::read_program(golden("certified-sum"));
  REQUIRE(program.has_value());
  CHECK(certificate.program == ir::digest(*program));
  CHECK(certificate.target == ir::target_digest(*program));
  CHECK((certificate.liveness && certificate.bounds && certificate.quiescence &&
         certificate.ordering && certificate.flow && certificate.memory && certificate.reduction &&
         certificate.coverage));
  CHECK(certificate.liveness->potential.size() == 12);
  CHECK(certificate.ordering->begin.size() == 4);
  CHECK(files_in(folder.path()) == 1);
  // Every run writes the same bytes.
  CHECK(run({"certify", golden("certified-sum"), "-o", folder / "again.cert"}).status == 0);
  CHECK(read_file(folder / "again.cert") == bytes);
}

TEST_CASE("a target's digest depends on the target alone") {
  auto program = ir::read_program(golden("certified-sum"));
  REQUIRE(program.has_value());
  const ir::Digest before = ir::target_digest(*program);
  program->name = "another";
  CHECK(ir::target_digest(*program) == before);
  program->target.spaces[0].bytes += 64;
  CHECK(ir::target_digest(*program) != before);
}

TEST_CASE("a program that is not certified leaves what was there") {
  const TemporaryFolder folder;
  const std::string path = folder / "old.cert";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{golden("missing-wait")},
        std::vector<std::string>{"--rlimit", "1", golden("certified-sum")},
        std::vector<std::string>{"--rule", "ordering", golden("missing-wait")}}) {
    write_file(path, "what was there");
    std::vector<std::string> all{"certify", "-o", path};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ChildResult result = run(all);
    CAPTURE(result.out);
    CHECK((result.status == 1 || result.status == 2));
    CHECK(contains(result.out, "no certificate written; " + path + " was not touched"));
    CHECK(read_file(path) == "what was there");
    std::filesystem::remove(path);
    CHECK(run(all).status == result.status);
    CHECK_FALSE(std::filesystem::exists(path));
  }
  write_file(folder / "broken.json", "{");
  CHECK(run({"certify", "-o", path, folder / "broken.json"}).status == 3);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("some rules only: a partial certificate") {
  const TemporaryFolder folder;
  const std::string path = folder / "part.cert";
  const ChildResult result =
      run({"certify", "--rule", "flow", golden("certified-sum"), "-o", path});
  CHECK(result.status == 2);
  CHECK(contains(result.out, "partial certificate: " + path));
  const Certificate certificate = decoded(read_file(path));
  CHECK((certificate.flow && certificate.ordering && certificate.liveness && certificate.bounds));
  CHECK_FALSE((certificate.memory || certificate.quiescence || certificate.reduction ||
               certificate.coverage));
}

TEST_CASE("several programs: a folder, whose names do not collide") {
  const TemporaryFolder folder;
  const std::string certificates = folder / "made/for/it/";
  const ChildResult result =
      run({"certify", golden("certified-sum"), golden("missing-wait"), golden("certified-sum"),
           golden("certified-persistent"), "-o", certificates});
  CHECK(result.status == 1);
  CHECK(files_in(certificates) == 3);
  const std::string sum = read_file(certificates + "certified-sum.cert");
  CHECK(decoded(sum).flow.has_value());
  CHECK(read_file(certificates + "certified-sum-2.cert") == sum);
  CHECK(decoded(read_file(certificates + "certified-persistent.cert")).flow.has_value());
  CHECK(contains(result.out, "no certificate written; " + certificates + "missing-wait.cert"));
}

TEST_CASE("wrong usage of -o is found before anything is written") {
  const TemporaryFolder folder;
  const std::string path = folder / "some.cert";
  CHECK(run({"certify", golden("certified-sum"), golden("missing-wait"), "-o", path}).status == 64);
  CHECK(run({"certify", golden("certified-sum"), "-o", ""}).status == 64);
  const std::string program = folder / "program.json";
  std::filesystem::copy_file(golden("certified-sum"), program);
  CHECK(run({"certify", program, "-o", program}).status == 64);
  CHECK(read_file(program) == read_file(golden("certified-sum")));
  // An algorithm that is several programs.
  const std::string xml = folder / "exchange.xml";
  REQUIRE(run({"generate", "--collective", "recursive-doubling", "--op", "allreduce", "--ranks",
               "4", "-o", xml})
              .status == 0);
  const ChildResult several = run({"certify", "--format", "json", xml, "-o", path});
  CHECK(several.status == 64);
  CHECK(several.out.empty());
  CHECK(contains(several.err, "-o must name a folder"));
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(run({"certify", "--transfers", "per-step", xml, "-o", path}).status == 0);
  CHECK(decoded(read_file(path)).reduction.has_value());
}

TEST_CASE("the JSON report names the certificate") {
  const TemporaryFolder folder;
  const std::string path = folder / "sum.cert";
  const ChildResult good =
      run({"certify", "--format", "json", golden("certified-sum"), "-o", path});
  CHECK(contains(good.out, "\"certificate\": {\"file\": \"" + path + "\", \"written\": true, " +
                               "\"bytes\": " + std::to_string(read_file(path).size()) + "}"));
  const ChildResult bad = run({"certify", "--format", "json", golden("missing-wait"), "-o", path});
  CHECK(contains(
      bad.out, "\"certificate\": {\"file\": \"" + path + "\", \"written\": false, \"bytes\": 0}"));
  CHECK_FALSE(contains(run({"certify", "--format", "json", golden("certified-sum")}).out,
                       "\"certificate\""));
}

TEST_CASE("a certificate that cannot be written: 70, with path and reason, and nothing left") {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  for (const std::string& path :
       {std::string("/dev/full"), folder / "missing/sum.cert", folder / "file/sum.cert",
        std::string("/proc/sum.cert"), folder / std::string(300, 'n')}) {
    const ChildResult result = run({"certify", golden("certified-sum"), "-o", path});
    CAPTURE(path);
    CHECK(result.status == 70);
    CHECK(contains(result.err, path + ": expected a file that can be written, found "));
    CHECK(files_in(folder.path()) == 1);
  }
  CHECK(run({"certify", golden("certified-sum"), "-o", folder / "file/"}).status == 70);
}

TEST_CASE(
    "a disk that is full in the middle: the old certificate stays, and no part of a new one") {
  const TemporaryFolder folder;
  const std::string xml = generate_ring(folder);
  const std::string path = folder / "ring.cert";
  write_file(path, "what was there");
  const auto most = [&](std::uint64_t bytes) {
    return command::test::run_with_small_files({"certify", "--quiet", xml, "-o", path}, bytes);
  };
  const ChildResult result = most(512);
  CHECK(result.status == 70);
  CHECK(contains(result.err, path + ": expected a file that can be written, found File too large"));
  CHECK(read_file(path) == "what was there");
  CHECK(files_in(folder.path()) == 2);
  CHECK(most(1U << 20U).status == 0);
  CHECK(read_file(path).size() > 512);
}

TEST_CASE("a device takes a certificate, and a link is followed") {
  const TemporaryFolder folder;
  CHECK(run({"certify", golden("certified-sum"), "-o", "/dev/null"}).status == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  write_file(folder / "real.cert", "");
  std::filesystem::create_symlink("real.cert", folder / "link.cert");
  CHECK(run({"certify", golden("certified-sum"), "-o", folder / "link.cert"}).status == 0);
  CHECK(std::filesystem::is_symlink(folder / "link.cert"));
  CHECK(decoded(read_file(folder / "real.cert")).flow.has_value());
  // A name does not make it another format.
  CHECK(run({"certify", golden("certified-sum"), "-o", folder / "sum.zst"}).status == 0);
  CHECK(read_file(folder / "sum.zst") == read_file(folder / "real.cert"));
}

}  // namespace spatialcert::proofs::test
