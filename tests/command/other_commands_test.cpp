// import, generate, replay, show.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;

TEST_CASE("generate writes what certify accepts, and refuses what it does not support") {
  const TemporaryFolder folder;
  const ChildResult printed =
      run({"generate", "--collective", "tree", "--op", "allreduce", "--ranks", "4"});
  CHECK(printed.status == 0);
  REQUIRE(run({"generate", "--collective", "tree", "--op", "allreduce", "--ranks", "4", "-o",
               folder / "t.xml"})
              .status == 0);
  CHECK(read_file(folder / "t.xml") == printed.out);
  CHECK(run({"certify", folder / "t.xml"}).status == 0);
  REQUIRE(run({"generate", "--collective", "ring", "--op", "allgather", "--ranks", "4",
               "--protocol", "LL", "--in-place", "-o", folder / "r.xml.zst"})
              .status == 0);
  CHECK(run({"certify", folder / "r.xml.zst"}).status == 0);

  const ChildResult unsupported =
      run({"generate", "--collective", "tree", "--op", "alltoall", "--ranks", "4"});
  CHECK(unsupported.status == 64);
  CHECK(unsupported.out.empty());
  CHECK(contains(unsupported.err, "--collective allpairs --op alltoall"));
  CHECK(run({"generate", "--collective", "ring", "--op", "allreduce", "--ranks", "4", "--fault",
             "bad-luck"})
            .status == 64);
  CHECK(run({"generate", "--collective", "star", "--op", "allreduce", "--ranks", "4"}).status ==
        64);
}

TEST_CASE("import wants one variant, or a folder") {
  const TemporaryFolder folder;
  const std::string xml = folder / "x.xml";
  REQUIRE(run({"generate", "--collective", "recursive-doubling", "--op", "allgather", "--ranks",
               "4", "-o", xml})
              .status == 0);
  const ChildResult several = run({"import", "msccl", xml, "-o", folder / "x.json"});
  CHECK(several.status == 64);
  CHECK(contains(several.err, "--placement out --transfers per-step"));
  CHECK_FALSE(std::filesystem::exists(folder / "x.json"));

  REQUIRE(run({"import", "msccl", xml, "--transfers", "per-step", "-o", folder / "x.json.zst"})
              .status == 0);
  CHECK(run({"certify", folder / "x.json.zst"}).status == 0);
  REQUIRE(run({"import", "msccl", xml, "-o", folder / "all/"}).status == 0);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "all")) {
    CHECK(run({"show", entry.path().string()}).status == 0);
    ++files;
  }
  CHECK(files == 2);
  CHECK(run({"import", "msccl", golden("certified-sum"), "-o", folder / "y.json"}).status == 3);
  CHECK(run({"import", "msccl", folder / "none.xml", "-o", folder / "y.json"}).status == 3);
}

TEST_CASE("replay reproduces what certify found, and nothing else") {
  const TemporaryFolder folder;
  REQUIRE(run({"certify", "--cex", folder.path(), golden("missing-wait")}).status == 1);
  const std::string found = folder / "missing-wait.ordering.json";
  const ChildResult reproduced = run({"replay", golden("missing-wait"), found});
  CHECK(reproduced.status == 0);
  CHECK(contains(reproduced.out, "reproduced: race"));
  CHECK(contains(reproduced.out, "both touch"));

  const ChildResult foreign = run({"replay", golden("certified-sum"), found});
  CHECK(foreign.status == 3);
  CHECK(contains(foreign.err, "$.digest"));

  std::string text = read_file(found);
  const std::string second = "[[1, 1], [0, 1]]";
  const std::size_t at = text.find(second);
  REQUIRE(at != std::string::npos);
  write_file(found, text.replace(at, second.size(), "[[0, 1], [1, 1]]"));
  const ChildResult altered = run({"replay", golden("missing-wait"), found});
  CHECK(altered.status == 1);
  CHECK(contains(altered.out, "not reproduced"));
  write_file(found, text.substr(0, text.size() / 2));
  CHECK(run({"replay", golden("missing-wait"), found}).status == 3);
  CHECK(run({"replay", golden("missing-wait"), folder / "none.json"}).status == 3);
}

TEST_CASE("replay picks the variant of a foreign file by digest") {
  const TemporaryFolder folder;
  const std::string xml = folder / "x.xml";
  REQUIRE(run({"generate", "--collective", "recursive-doubling", "--op", "allgather", "--ranks",
               "8", "--fault", "send-first", "-o", xml})
              .status == 0);
  CHECK(run({"certify", "--cex", folder / "found", xml}).status == 1);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "found")) {
    const ChildResult result = run({"replay", xml, entry.path().string()});
    CHECK(result.status == 0);
    CHECK(contains(result.out, "one transfer per chunk"));
    ++files;
  }
  CHECK(files == 1);
}

TEST_CASE("show lists a program with the numbers that reports use") {
  const ChildResult result = run({"show", golden("double-buffer-overwrite")});
  CHECK(result.status == 0);
  for (const char* part :
       {"program double-buffer-overwrite (once)", "slots: scratch at chip 0 (0,0), sram [0, 256)",
        "free: chip 0 (0,0), initially 3, maximum 4", "load at chip 0 (0,0)", "section weights",
        "     0  repeat 2", "     2    run load_x (x[0:2, 0:16] -> slots[0:128])"}) {
    CAPTURE(part);
    CHECK(contains(result.out, part));
  }
  const ChildResult refused = run({"show", SPATIALCERT_SOURCE_DIR});
  CHECK(refused.status == 3);
  CHECK_FALSE(refused.err.empty());
}
