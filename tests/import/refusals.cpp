// One refusal per way of being ill-formed: where it points and what it says.
#include <doctest/doctest.h>

#include <functional>

#include "fixtures.hpp"

namespace spatialcert::ir {
namespace {

using fixtures::File;
using fixtures::head;
using fixtures::import_refusal;

void check_refused(const std::string& text, std::uint64_t line, const std::string& path,
                   const std::string& expected, const std::string& found) {
  const Refusal refusal = import_refusal(text);
  CHECK(refusal.file == "t.xml");
  CHECK(refusal.line == line);
  CHECK(refusal.path == path);
  CHECK(refusal.expected == expected);
  CHECK(refusal.found == found);
}

/// A right file: rank 0 sends (line 4), rank 1 receives (line 9). The tests spoil one thing each.
std::string right() {
  return File(head(4))
      .gpu(4, 4, 2)
      .block(1, -1)
      .step({"s", "i 0", "i 0", 2})
      .gpu(4, 4, 2)
      .block(-1, 0)
      .step({"r", "i 0", "i 0", 2})
      .text();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

const std::string kGpu = "algo/gpu[@id=0]";
const std::string kBlock = kGpu + "/tb[@id=0]";
const std::string kStep = kBlock + "/step[@s=0]";

void check_replaced(const std::string& from, const std::string& to, std::uint64_t line,
                    const std::string& path, const std::string& expected,
                    const std::string& found) {
  CAPTURE(to);
  check_refused(replaced(right(), from, to), line, path, expected, found);
}

TEST_CASE("the file that the refusals spoil is right") {
  CHECK(import_msccl_text(right(), "t.xml", {}).has_value());
}

TEST_CASE("refused: what is not one XML document") {
  check_refused("", 0, "", "an XML document", "an empty file");
  check_refused("  \n ", 1, "", "an element `algo`", "none");
  check_refused("hello", 1, "", "one element `algo` and nothing else", "text beside it");
  check_refused("<x/>", 1, "", "an element `algo`", "`x`");
  check_refused(right() + right(), 13, "algo", "the end of the file after the first document",
                "another element `algo`");
  check_refused(right() + "rest", 0, "", "one element `algo` and nothing else", "text beside it");
  check_refused(right() + std::string("\0<x/>", 5), 13, "", "text", "a NUL character");
  const Refusal cut = import_refusal(right().substr(0, 300));
  CHECK(cut.expected == "well-formed XML");
  CHECK(cut.line == 4);
}

TEST_CASE("refused: document types, so that there are no entities to expand") {
  const std::string bomb =
      "<!DOCTYPE algo [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]>\n";
  check_refused(bomb + right(), 0, "", "no document type", "one");
  check_replaced("name=\"t\"", "name=\"&b;\" coll=\"&b;\"", 1, "algo", "`coll` once", "it twice");
}

TEST_CASE("refused: unknown elements and content") {
  check_replaced("<step", "<stop", 4, kBlock, "only elements `step`", "an element `stop`");
  check_replaced("<tb", "<copy i_off=\"0\"/><bt/><tb", 3, kGpu, "only elements `tb`",
                 "an element `bt`");
  check_replaced("  <gpu", "text <gpu", 1, "algo", "only elements `gpu`", "text");
  check_replaced("hasdep=\"0\"/>", "hasdep=\"0\">text</step>", 4, kStep,
                 "an element without content", "some");
}

TEST_CASE("not refused: comments, declarations, and the copies that older files list") {
  const std::string text = "<?xml version=\"1.0\"?>\n<!-- made by hand -->\n" +
                           replaced(right(), "<tb", "<copy i_off=\"0\" o_off=\"0\"/><tb");
  CHECK(import_msccl_text(text, "t.xml", {}).has_value());
  CHECK(import_msccl_text("\xEF\xBB\xBF" + right(), "t.xml", {}).has_value());
}

TEST_CASE("refused: attributes that are unknown, missing or there twice") {
  check_replaced("cnt=", "count=", 4, kStep, "only attributes that the format has", "`count`");
  check_replaced(" deps=\"-1\"", "", 4, kStep, "an attribute `deps`", "");
  check_replaced("deps=", "depid=", 4, kStep, "`depid` once", "it twice");
  check_replaced(" chan=\"0\"", "", 3, kGpu + "/tb", "an attribute `chan`", "");
  check_replaced(" s_chunks=\"2\"", "", 2, "algo/gpu", "an attribute `s_chunks`", "");
  check_replaced(" coll=\"allreduce\"", "", 1, "algo", "an attribute `coll`", "");
  check_replaced(" inplace=\"1\"", "", 1, "algo", "an attribute `inplace`, `outofplace` or both",
                 "");
  check_replaced("inplace=\"1\"", "inplace=\"0\" outofplace=\"0\"", 1, "algo",
                 "`inplace` or `outofplace` to be 1", "both 0: no call may use the file");
}

TEST_CASE("refused: what is no integer, or none that fits") {
  for (const char* bad :
       {"2abc", "", " 2", "+2", "2.0", "0x2", "100000000000000000000", "72", "-1"}) {
    check_replaced("cnt=\"2\"", std::string("cnt=\"") + bad + "\"", 4, kStep + "/@cnt",
                   "an integer from 0 to 71", std::string("`") + bad + "`");
  }
  check_replaced("hasdep=\"0\"", "hasdep=\"2\"", 4, kStep + "/@hasdep", "an integer from 0 to 1",
                 "`2`");
  check_replaced("srcoff=\"0\"", "srcoff=\"-2\"", 4, kStep + "/@srcoff",
                 "an integer from -1 to 1073741824", "`-2`");
  check_replaced("ngpus=\"2\"", "ngpus=\"5000\"", 1, "algo/@ngpus", "an integer from 1 to 4096",
                 "`5000`");
  check_replaced("nchunksperloop=\"4\"", "nchunksperloop=\"0\"", 1, "algo/@nchunksperloop",
                 "an integer from 1 to 16777216", "`0`");
  check_replaced("inplace=\"1\"", "inplace=\"yes\"", 1, "algo/@inplace", "an integer from 0 to 1",
                 "`yes`");
}

TEST_CASE("refused: unknown words") {
  check_replaced("proto=\"LL\"", "proto=\"LL256\"", 1, "algo/@proto", "one of Simple, LL, LL128",
                 "`LL256`");
  check_replaced("type=\"s\"", "type=\"sr\"", 4, kStep + "/@type",
                 "one of s, r, rcs, rrs, rrc, rrcs, cpy, re, nop", "`sr`");
  check_replaced("srcbuf=\"i\"", "srcbuf=\"x\"", 4, kStep + "/@srcbuf", "one of i, o, s", "`x`");
  check_replaced(
      "coll=\"allreduce\"", "coll=\"" + std::string(100, 'a') + "\"", 1, "algo/@coll",
      "one of allreduce, allgather, reduce_scatter, alltoall, broadcast, reduce, custom, "
      "send, recv, gather, scatter, alltoallv, reducescatter",
      "`" + std::string(60, 'a') + "`...");
}

TEST_CASE("refused: ids that are not dense and unique") {
  check_replaced("gpu id=\"1\"", "gpu id=\"0\"", 7, "algo/gpu[@id=0]", "every `id` once",
                 "0 twice");
  check_replaced("gpu id=\"0\"", "gpu id=\"2\"", 2, "algo/gpu/@id", "an integer from 0 to 1",
                 "`2`");
  check_replaced("ngpus=\"2\"", "ngpus=\"3\"", 1, "algo", "3 elements `gpu`, as `ngpus` says",
                 "2; there is none with id 2");
  check_replaced("tb id=\"0\"", "tb id=\"1\"", 3, kGpu + "/tb/@id", "0", "`1`");
  check_replaced("s=\"0\" type", "s=\"1\" type", 4, kStep + "/@s", "0", "`1`");
}

TEST_CASE("not refused: ranks in another order") {
  const std::string text =
      File(head(1))
          .raw("<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\"/>")
          .raw(
              "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"3\"><tb id=\"0\" "
              "send=\"-1\" recv=\"-1\" chan=\"0\"/></gpu>")
          .text();
  CHECK(fixtures::import_program(text).buffers[2].name == "s@0");
}

TEST_CASE("refused: peers and channels") {
  check_replaced("send=\"1\"", "send=\"2\"", 3, kBlock + "/@send", "an integer from -1 to 1",
                 "`2`");
  check_replaced("send=\"1\"", "send=\"0\"", 3, kBlock + "/@send", "a peer other than the own rank",
                 "0");
  check_replaced("chan=\"0\"", "chan=\"1\"", 3, kBlock + "/@chan", "0", "`1`");
  check_replaced("chan=\"0\"", "chan=\"-1\"", 3, kBlock + "/@chan", "0", "`-1`");
  check_replaced("send=\"1\"", "send=\"-1\"", 4, kStep, "a block with a `send` peer for a step `s`",
                 "send=\"-1\"");
  check_replaced("recv=\"0\"", "recv=\"-1\"", 9, "algo/gpu[@id=1]/tb[@id=0]/step[@s=0]",
                 "a block with a `recv` peer for a step `r`", "recv=\"-1\"");
}

TEST_CASE("not refused: no channel for a block without peers") {
  const std::string text = File(head(1)).gpu().block(-1, -1, -1).gpu().text();
  CHECK(import_msccl_text(text, "t.xml", {}).has_value());
}

TEST_CASE("refused: dependencies on blocks that do not exist") {
  check_replaced("depid=\"-1\"", "depid=\"1\"", 4, kStep + "/@depid", "an integer from -1 to 0",
                 "`1`");
  check_replaced("depid=\"-1\"", "depid=\"0\"", 4, kStep + "/@deps",
                 "an integer from 0 to 1073741824", "`-1`");
}

TEST_CASE("refused: chunks outside their buffer, whichever operand the runtime touches") {
  const auto refused = [](const fixtures::StepText& step, const std::string& role,
                          const std::string& buffer, const std::string& found) {
    CAPTURE(step.type);
    const Refusal refusal = import_refusal(File(head(4, "inplace=\"1\"", "LL", "allgather"))
                                               .gpu(0, 0, 3)
                                               .block(1, 1)
                                               .step(step)
                                               .gpu()
                                               .text());
    CHECK(refusal.line == 4);
    CHECK(refusal.expected == role + " chunks inside buffer " + buffer + " chunks");
    CHECK(refusal.found == found);
  };
  // All-gather of 4 chunks on 2 ranks: i has 2, o has 4, and s the 3 that are declared.
  refused({"s", "i 1", "o 0", 2}, "source", "`i` of 2", "chunks [1, 3)");
  refused({"s", "i -1", "o 0", 2}, "source", "`i` of 2", "chunks [-1, 1)");
  refused({"r", "i 0", "o 3", 2}, "destination", "`o` of 4", "chunks [3, 5)");
  refused({"rcs", "i 0", "s 2", 2}, "destination", "`s` of 3", "chunks [2, 4)");
  refused({"rrs", "s 2", "i 0", 2}, "source", "`s` of 3", "chunks [2, 4)");
  refused({"rrc", "i 1", "o 0", 2}, "source", "`i` of 2", "chunks [1, 3)");
  refused({"rrc", "i 0", "o 3", 2}, "destination", "`o` of 4", "chunks [3, 5)");
  refused({"rrcs", "i 0", "s 2", 2}, "destination", "`s` of 3", "chunks [2, 4)");
  refused({"cpy", "o 3", "o 0", 2}, "source", "`o` of 4", "chunks [3, 5)");
  refused({"re", "o 0", "i 1", 2}, "destination", "`i` of 2", "chunks [1, 3)");
}

TEST_CASE("not refused: comments that lie outside of every buffer") {
  CHECK(import_msccl_text(replaced(right(), "dstoff=\"0\"", "dstoff=\"99\""), "t.xml", {})
            .has_value());
  CHECK(import_msccl_text(replaced(right(), "type=\"r\" srcbuf=\"i\" srcoff=\"0\"",
                                   "type=\"r\" srcbuf=\"s\" srcoff=\"99\""),
                          "t.xml", {})
            .has_value());
}

TEST_CASE("refused: chunks of ranks that do not divide") {
  for (const char* collective : {"allgather", "reduce_scatter", "alltoall"}) {
    check_refused(File(head(3, "inplace=\"1\"", "LL", collective)).gpu().gpu().text(), 1,
                  "algo/@nchunksperloop",
                  std::string("a multiple of the 2 ranks, because the chunks of ") + collective +
                      " belong to ranks",
                  "3");
  }
}

TEST_CASE("refused: a file without any block") {
  check_refused(File(head(1)).gpu(1).gpu(1).text(), 1, "algo", "at least one element `tb`", "none");
}

TEST_CASE("refused: two blocks at one end of a connection, even if one has no steps") {
  check_refused(File(head(1)).gpu().block(1, -1).step({"s"}).block(1, -1).gpu().text(), 6,
                "algo/gpu[@id=0]/tb[@id=1]",
                "one block for the sending end of the connection 0>1 on channel 0",
                "this block and block 0 (line 3)");
  check_refused(File(head(1)).gpu().gpu().block(-1, 0).block(-1, 0).text(), 7,
                "algo/gpu[@id=1]/tb[@id=1]",
                "one block for the receiving end of the connection 0>1 on channel 0",
                "this block and block 0 (line 5)");
}

TEST_CASE("refused: a connection with one end") {
  check_refused(File(head(1)).gpu().block(1, -1).step({"s"}).gpu().text(), 4, kStep,
                "a block of rank 1 that receives from rank 0 on channel 0", "none");
  check_refused(File(head(1)).gpu().block(-1, 1).step({"r"}).gpu().text(), 4, kStep,
                "a block of rank 1 that sends to rank 0 on channel 0", "none");
}

TEST_CASE("not refused: an end that is declared and not used") {
  CHECK(import_msccl_text(File(head(1)).gpu().block(1, 1).gpu().text(), "t.xml", {}).has_value());
}

TEST_CASE("refused: transfers that do not pair, naming both steps") {
  const std::string expected =
      "transfer 0 of the connection 0>1 on channel 0 to be sent and received with equal `cnt`";
  check_replaced("cnt=\"2\"", "cnt=\"1\"", 9, "algo/gpu[@id=1]/tb[@id=0]/step[@s=0]", expected,
                 "rank 0 block 0 step 0 (line 4) sends 1 chunks, rank 1 block 0 step 0 (line 9) "
                 "receives 2 chunks");
  check_replaced("cnt=\"2\"", "cnt=\"0\"", 9, "algo/gpu[@id=1]/tb[@id=0]/step[@s=0]", expected,
                 "rank 0 block 0 (line 3) sends no more, rank 1 block 0 step 0 (line 9) receives 2 "
                 "chunks");
  check_refused(
      File(head(1))
          .gpu()
          .block(1, -1)
          .step({"s"})
          .step({"s"})
          .gpu()
          .block(-1, 0)
          .step({"r"})
          .text(),
      5, "algo/gpu[@id=0]/tb[@id=0]/step[@s=1]",
      "transfer 1 of the connection 0>1 on channel 0 to be sent and received with equal `cnt`",
      "rank 0 block 0 step 1 (line 5) sends 1 chunks, rank 1 block 0 (line 9) receives no more");
}

TEST_CASE("refused: more ranks than a result can speak of") {
  File file(head(1, "inplace=\"1\"", "LL", "allreduce", 2049));
  for (int r = 0; r < 2049; ++r) file.gpu();
  file.block(-1, -1);
  check_refused(file.text(), 1, "algo/@ngpus", "a result of at most 4194304 terms over all ranks",
                "2049 ranks");
}

TEST_CASE("any prefix of a file is refused without a fault") {
  const std::string text = right();
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    CHECK(!import_msccl_text(text.substr(0, n), "t.xml", {}).has_value());
  }
}

TEST_CASE("a changed byte is imported or refused, and never a fault") {
  const std::string text = right();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char to : {'\0', '"', '<', '&', '9', '-', ' '}) {
      std::string changed = text;
      changed[at] = to;
      static_cast<void>(import_msccl_text(changed, "t.xml", {}));
    }
  }
}

TEST_CASE("a file that is not there is refused by name") {
  const auto imported = import_msccl("/nonexistent/none.xml", {});
  REQUIRE(!imported.has_value());
  CHECK(imported.error().file == "/nonexistent/none.xml");
}

}  // namespace
}  // namespace spatialcert::ir
