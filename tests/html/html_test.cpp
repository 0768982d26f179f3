// The HTML view without a browser: what pages hold, how large they get, and that nothing a user
// called things comes out as markup. And the pages for the browser are written here.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "certify/names.hpp"
#include "certify/views/lanes.hpp"
#include "certify/views/markup.hpp"
#include "certify/views/page_parts.hpp"
#include "certify/views/playback.hpp"
#include "certify/views/text.hpp"
#include "tests/html/pages.hpp"

namespace spatialcert::tests {
namespace {

using certify::views::base64;
using certify::views::clipped;
using certify::views::data_block;
using certify::views::escaped;
namespace fs = std::filesystem;

std::size_t count(const std::string& text, const std::string& of) {
  std::size_t n = 0;
  for (std::size_t at = text.find(of); at != text.npos; at = text.find(of, at + 1)) ++n;
  return n;
}

void write(const std::string& name, const std::vector<Certified>& all) {
  const fs::path folder = fs::path(SPATIALCERT_BINARY_DIR) / "html_pages";
  fs::create_directories(folder);
  std::ofstream(folder / (name + ".html"), std::ios::binary) << page_of(all);
  std::ofstream(folder / (name + ".json"), std::ios::binary) << expectations(all);
}

}  // namespace

TEST_CASE("text never becomes markup") {
  CHECK(escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escaped("\x01").find('\x01') ==
        std::string::npos);  // which parts of pages keep for themselves
  const std::string block = data_block("x", R"("</script><!--&")");
  CHECK(block ==
        "<script type=\"application/json\" id=\"x\">\"\\u003c/script\\u003e\\u003c!--\\u0026\""
        "</script>\n");
}

TEST_CASE("clipping keeps whole characters") {
  CHECK(clipped("abc", 3) == "abc");
  CHECK(clipped("abcd", 3) == "abc\xE2\x80\xA6");
  CHECK(clipped("a\xC3\xA4\xC3\xA4", 4) == "a\xC3\xA4\xE2\x80\xA6");
}

TEST_CASE("base64 as in RFC 4648, section 10") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("a page with hostile names has the scripts that it should have, and no other") {
  const Certified c = hostile();
  CHECK(c.report.verdict == certify::Verdict::refuted);
  const std::string page = page_of({c});
  const std::size_t blocks = count(page, "<script type=\"application/json\"");
  CHECK(blocks >= 2);
  CHECK(count(page, "<script") == blocks + 1);
  CHECK(count(page, "</script") == blocks + 1);
  CHECK(count(page, "<img") == 0);
  CHECK(count(page, "NAME &lt;b&gt;&amp;amp; &quot;q&quot; &#39;") > 0);
  CHECK(count(page, std::string(1, '\x01')) == 0);
  CHECK(count(page, "http") == 2);  // `http-equiv`, and the name space of SVG
  CHECK(count(page, "src=") == count(page, "src=x onerror"));
  CHECK(count(page, "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'") == 1);
}

TEST_CASE("every step that a page has is what the token game does") {
  std::vector<Certified> all = goldens();
  all.push_back(long_loop());
  all.push_back(ring(5, 3));
  for (const Certified& c : all) {
    for (const certify::RuleReport& rule : c.report.rules) {
      if (!rule.counterexample || rule.counterexample->schedules.empty()) continue;
      const ir::Schedule& schedule = rule.counterexample->schedules[0];
      const certify::OpNames names(c.program, rule.counterexample->iterations);
      const auto extra = certify::views::extra_pages(c.program, *rule.counterexample, 0);
      const ir::TokenGame game(c.program, names.unrolled(), extra);
      const auto played = certify::views::play_back(game, schedule, 50, extra);
      REQUIRE(played.complete);
      CHECK(played.steps.size() == std::min<std::uint64_t>(50, played.total));
      CHECK(played.skipped + played.steps.size() == played.total);
      const certify::views::Gauges gauges(game);
      ir::PlayState state = played.before;
      auto blocked = played.blocked_before;
      for (const certify::views::PlayedStep& step : played.steps) {
        const ir::PlayState before = state;
        const ir::ProgramId p = names.program_of(step.transition);
        REQUIRE(state.next[p.value()] == step.transition.value());
        REQUIRE(game.can_step(state, p));
        REQUIRE_FALSE(game.step(state, p));
        for (const auto& change : step.gauges) {
          CHECK(gauges.value(state, change.gauge) == change.value);
          CHECK(gauges.value(before, change.gauge) != change.value);
        }
        for (const auto& change : step.lanes) blocked[change.program.value()] = change.test;
        for (std::uint32_t q = 0; q < blocked.size(); ++q) {
          const auto now = game.blocked(state, ir::ProgramId(q));
          REQUIRE(now.has_value() == blocked[q].has_value());
          if (!now) continue;
          CHECK((now->counter == blocked[q]->counter && now->need == blocked[q]->need));
          CHECK(now->have == gauges.value(state, gauges.of(now->counter)));
        }
        // Whoever supplied what was waited for did so before.
        if (step.supplier.valid()) {
          const ir::ProgramId q = names.program_of(step.supplier);
          CHECK(before.next[q.value()] > step.supplier.value());
        }
      }
      CHECK(state == played.after);
    }
  }
}

TEST_CASE("marks are numbered as the text numbers them, and lanes of marked ops come first") {
  std::size_t numbered = 0;
  for (const Certified& c : goldens()) {
    for (const certify::RuleReport& rule : c.report.rules) {
      if (!rule.counterexample) continue;
      const certify::OpNames names(c.program, rule.counterexample->iterations);
      const auto scene = certify::views::scene_of(names, *rule.counterexample, {});
      const std::string text = certify::counterexample_text(c.program, *rule.counterexample);
      CAPTURE(text);
      for (const certify::views::Mark& mark : scene.marks) {
        const auto lane =
            std::find(scene.lanes.begin(), scene.lanes.end(), names.program_of(mark.transition));
        CHECK(lane - scene.lanes.begin() < static_cast<std::ptrdiff_t>(scene.involved));
        CHECK(scene.rows.at(names.program_of(mark.transition)).contains(mark.transition.value()));
        if (mark.role != "access") continue;
        ++numbered;
        CHECK(mark.text.starts_with("(" + mark.label + ") "));
        if (text.find("  (1) ") == text.npos && text.find("  (a) ") == text.npos) continue;
        // `  (a) load at chip 0, op 2 ...`
        CHECK(text.find(fmt::format("({}) {}, {}", mark.label, names.engine(mark.transition),
                                    names.op(mark.transition))) != text.npos);
      }
    }
  }
  CHECK(numbered > 20);
}

TEST_CASE("a hand-off joins the push and the front that takes its page") {
  const Certified c = long_loop();
  const certify::OpNames names(c.program, 1);
  const ir::TokenGame game(c.program, names.unrolled());
  for (const certify::RuleReport& rule : c.report.rules) {
    if (!rule.counterexample) continue;
    const auto played =
        certify::views::play_back(game, rule.counterexample->schedules.at(0), 300, {});
    std::size_t fronts = 0;
    for (const auto& step : played.steps) {
      if (names.op_of(step.transition).code != ir::OpCode::front) continue;
      ++fronts;
      REQUIRE(step.supplier.valid());
      CHECK(names.op_of(step.supplier).code == ir::OpCode::push);
      CHECK(names.instance(step.supplier) == names.instance(step.transition));
    }
    CHECK(fronts > 20);
  }
}

TEST_CASE("pages stay small whatever the program") {
  const Certified c = long_loop();
  CHECK(c.report.verdict == certify::Verdict::refuted);
  const std::string page = page_of({c});
  CHECK(page == page_of({c}));
  CHECK(page.size() < 2'000'000);
  CHECK(count(page, "\"skipped\": ") > 0);
  const std::string many = certify::views::page_of(
      std::vector(180, certify::views::program_part(c.program, c.report, {}, 2'000)));
  CHECK(many.size() < 8'000'000);
  CHECK(count(many, "The views of this program were left out") > 0);
  certify::views::PagePart large;
  large.name = "large";
  large.verdict = "certified";
  large.body = std::string(3'000'000, 'x');
  const std::string larger = certify::views::page_of({large, large, large, large});
  CHECK(larger.size() < 8'000'000);
  CHECK(count(larger, "The table, texts and views of this program were left out") == 2);
  CHECK(count(larger, "<h2>large</h2>") == 2);
}

TEST_CASE("a page has fewer steps where each of them changes very much") {
  const Certified c = crowd(200, 500);
  CHECK(c.report.verdict == certify::Verdict::refuted);
  for (const certify::RuleReport& rule : c.report.rules) {
    if (!rule.counterexample) continue;
    const certify::OpNames names(c.program, 1);
    const ir::TokenGame game(c.program, names.unrolled());
    const ir::Schedule& schedule = rule.counterexample->schedules.at(0);
    const auto played = certify::views::play_back(game, schedule, 6'000, {});
    std::size_t changes = 0;
    for (const auto& step : played.steps) changes += step.gauges.size() + step.lanes.size();
    CHECK(changes <= certify::views::kMostChanges);
    CHECK(changes > certify::views::kMostChanges / 2);
    CHECK(played.skipped + played.steps.size() == played.total);
    // What was before is what the token game says after so many steps.
    ir::Schedule first;
    std::uint64_t left = played.skipped;
    for (const ir::ScheduleRun& run : schedule) {
      const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, run.steps));
      if (now > 0) first.push_back({run.program, now});
      left -= now;
    }
    const ir::PlayState before = ir::play(game, first).state;
    CHECK(before == played.before);
    for (std::uint32_t p = 0; p < c.program.programs.size(); ++p) {
      const auto test = game.blocked(before, ir::ProgramId(p));
      CHECK(test.has_value() == played.blocked_before[p].has_value());
    }
  }
  CHECK(page_of({c}).size() < 3'000'000);
}

TEST_CASE("files that were refused have their place") {
  using certify::views::message_part;
  const auto part = message_part("<x>.json", "refused", "<x>.json:3: \"</pre>\"");
  CHECK(part.verdict == "refused");
  CHECK(count(part.body, "</pre>") == 1);
  const std::string page =
      certify::views::page_of({part, message_part("y.json", "fault", "out of <b>")});
  CHECK(count(page, "<article") == 2);
  CHECK(count(page, "out of &lt;b&gt;") == 2);
}

TEST_CASE("the pages for the browser") {
  std::vector<Certified> all = goldens();
  for (Certified& c : sliced_programs()) all.push_back(std::move(c));
  write("kinds", all);
  write("ring", {ring(100, 12)});
  write("long", {long_loop()});
  write("hostile", {hostile()});
}

}  // namespace spatialcert::tests
