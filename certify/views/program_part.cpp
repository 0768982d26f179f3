// What a page says of one program: verdict, figures, table of rules, and its counterexamples with
// the data of their views.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "certify/names.hpp"
#include "certify/views/markup.hpp"
#include "certify/views/page_parts.hpp"
#include "certify/views/scene.hpp"
#include "certify/views/text.hpp"
#include "ir/sections.hpp"

namespace spatialcert::certify::views {
namespace {

constexpr std::size_t kMostSections = 400;

std::string fact(const char* name, const std::string& markup) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, markup);
}

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

class PartWriter {
 public:
  PartWriter(const ir::Program& program, const ProgramReport& report, const Provenance& provenance,
             std::size_t most_steps)
      : program_(program), report_(report), provenance_(provenance), most_steps_(most_steps) {}

  PagePart write() {
    PagePart part;
    part.name = clipped(report_.name, kNameBytes);
    part.verdict = to_string(report_.verdict);
    part.summary = summary();
    body_ += heading(part);
    facts();
    for (const std::string& note : report_.notes)
      body_ += fmt::format("<p class=\"note\">note: {}</p>\n", escaped(clipped(note, 2'000)));
    table();
    bool any = false;
    for (const RuleReport& rule : report_.rules) {
      if (!rule.counterexample) continue;
      counterexample(rule);
      any = true;
    }
    // Every counterexample has its own, with the sections that it is about.
    if (!any)
      body_ += fmt::format("<div class=\"strip\" data-sections=\"p{}-sections\"></div>\n", kPlace);
    sections();
    part.body = std::move(body_);
    part.data = std::move(data_);
    return part;
  }

 private:
  [[nodiscard]] std::string summary() const {
    const std::string line = verdict_line(report_);
    const std::string head = fmt::format("{}: {}", report_.name, to_string(report_.verdict));
    std::string rest = line.size() > head.size() ? line.substr(head.size()) : std::string();
    rest.erase(0, rest.find_first_not_of(": "));
    return clipped(rest, kLineBytes);
  }

  void facts() {
    body_ += "<dl class=\"facts\">\n";
    if (!provenance_.file.empty())
      body_ += fact("file", "<code>" + escaped(clipped(provenance_.file, 1'000)) + "</code>");
    if (!provenance_.variant.empty())
      body_ += fact("variant", escaped(clipped(provenance_.variant, kNameBytes)));
    if (!report_.digest.empty()) {
      body_ += fact("digest", fmt::format("<code class=\"digest\" data-copy=\"{0}\">{0}</code>",
                                          escaped(report_.digest)));
    }
    std::string size = fmt::format("{} ops", grouped(report_.ops));
    // Whoever looked at one counterexample only has not counted the rest.
    if (report_.transitions != 0) {
      size += fmt::format(", {} transitions, {} places, {} pairs", grouped(report_.transitions),
                          grouped(report_.places), grouped(report_.pairs));
    }
    body_ += fact("size", size);
    if (report_.folded) {
      body_ += fact("folded", fmt::format("{} loops, {} transitions looked at",
                                          grouped(report_.folded->loops),
                                          grouped(report_.folded->transitions)));
    }
    if (report_.divided) {
      body_ += fact("divided", fmt::format("{} sections in {} classes, {} transitions looked at",
                                           grouped(report_.divided->sections),
                                           grouped(report_.divided->classes),
                                           grouped(report_.divided->transitions)));
    }
    if (provenance_.deadlocks_above)
      body_ += fact("limit", escaped(size_limit_text(*provenance_.deadlocks_above)));
    if (provenance_.certificate) {
      const CertificateFile& file = *provenance_.certificate;
      body_ += fact("certificate", file.bytes == 0
                                       ? "none written"
                                       : fmt::format("<code>{}</code> ({} bytes)",
                                                     escaped(file.path), grouped(file.bytes)));
    }
    body_ += "</dl>\n";
  }

  void table() {
    body_ +=
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rules\">"
        "<table class=\"rules\"><thead><tr><th scope=\"col\">rule</th><th "
        "scope=\"col\">verdict</th>"
        "<th scope=\"col\" class=\"number\">obligations</th>"
        "<th scope=\"col\" class=\"number\">queries</th>"
        "<th scope=\"col\">detail</th></tr></thead>"
        "<tbody>\n";
    for (const RuleReport& rule : report_.rules) {
      const std::string_view name = proofs::to_string(rule.rule);
      const std::string linked = rule.counterexample
                                     ? fmt::format("<a href=\"#p{}-{}\">{}</a>", kPlace, name, name)
                                     : std::string(name);
      body_ += fmt::format(
          "<tr class=\"{}\"><th scope=\"row\" title=\"{}\">{}</th><td>{}</td><td "
          "class=\"number\">{}</td>"
          "<td class=\"number\">{}</td><td>{}</td></tr>\n",
          css_class(to_string(rule.verdict)), escaped(statement_of(rule.rule)), linked,
          badge(to_string(rule.verdict)), grouped(rule.obligations), grouped(rule.queries),
          escaped(clipped(rule.detail, 1'000)));
    }
    body_ += "</tbody></table></div>\n";
  }

  void counterexample(const RuleReport& rule) {
    const std::string_view name = proofs::to_string(rule.rule);
    const std::string text = counterexample_text(program_, *rule.counterexample);
    const std::string title = clipped(text.substr(0, text.find('\n')), kLineBytes);
    std::set<std::uint32_t> culprits;
    const std::string id = fmt::format("p{}-{}", kPlace, name);
    data_ += data_block(id + "-scene",
                        scene_json(program_, *rule.counterexample, most_steps_, culprits));
    for (const std::uint32_t section : culprits) culprits_[section].push_back(rule.rule);
    body_ += fmt::format(
        "<section class=\"counterexample\" id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
        "<h3 id=\"{0}-title\"><span class=\"rule\">{1}</span> {2}</h3>\n"
        "<details class=\"help\"><summary>{5}</summary><p>{6}</p></details>\n"
        "<div class=\"strip\" data-sections=\"p{3}-sections\" data-rule=\"{1}\"></div>\n"
        "<div class=\"views\" data-scene=\"{0}-scene\"></div>\n"
        "<details class=\"text\" open><summary>Report as text{7}</summary><pre tabindex=\"0\">{4}"
        "</pre></details>\n</section>\n",
        id, name, escaped(title), kPlace, escaped(clipped(text, kTextBytes)),
        escaped(statement_of(rule.rule)), escaped(help_of(rule.rule)),
        text.size() > kTextBytes ? fmt::format(" (its first {} bytes)", grouped(kTextBytes)) : "");
  }

  /// The sections by phase. Of very many, those around the culprits and at both ends.
  void sections() {
    const ir::Phases phases = ir::phases_of(program_);
    const auto count = static_cast<std::uint32_t>(program_.sections.size());
    std::set<std::uint32_t> shown;
    const auto show = [&](std::uint32_t middle, std::uint32_t around) {
      const std::uint32_t low = middle > around ? middle - around : 0;
      for (std::uint32_t s = low; s < count && s <= middle + around; ++s) {
        if (count <= kMostSections || shown.size() < kMostSections) shown.insert(s);
      }
    };
    for (const auto& [section, rules] : culprits_) show(section, 0);
    for (const auto& [section, rules] : culprits_) show(section, 3);
    show(0, 8);
    show(count, 8);
    show(0, count);
    ir::io::JsonWriter json;
    json.object(true);
    json.key("count").natural(count).key("phases").natural(phases.count);
    json.key("persistent").boolean(program_.execution == ir::Execution::persistent);
    json.key("sections").array();
    for (const std::uint32_t s : shown) write_section(s, phases.in_order[s], json);
    json.close().close();
    data_ += data_block(fmt::format("p{}-sections", kPlace), json.take());
  }
  void write_section(std::uint32_t s, std::uint32_t phase, ir::io::JsonWriter& json) const {
    const ir::Section& section = program_.sections[s];
    json.object();
    json.key("n").natural(s).key("phase").natural(phase);
    json.key("name").text(clipped(section.name, kNameBytes));
    json.key("source").text(clipped(source_text(program_, section.location), kNameBytes));
    json.key("rules").array();
    const auto at = culprits_.find(s);
    if (at != culprits_.end()) {
      for (const proofs::Rule rule : at->second) json.text(proofs::to_string(rule));
    }
    json.close().close();
  }

  const ir::Program& program_;
  const ProgramReport& report_;
  const Provenance& provenance_;
  std::size_t most_steps_;
  std::string body_;
  std::string data_;
  std::map<std::uint32_t, std::vector<proofs::Rule>> culprits_;
};

}  // namespace

PagePart program_part(const ir::Program& program, const ProgramReport& report,
                      const Provenance& provenance, std::size_t most_steps) {
  return PartWriter(program, report, provenance, most_steps).write();
}

}  // namespace spatialcert::certify::views
