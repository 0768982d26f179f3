// PNML (ISO/IEC 15909-2:2011), place/transition nets.
#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "certify/views/net_part.hpp"
#include "certify/views/text.hpp"
#include "certify/views/view.hpp"

namespace spatialcert::certify::views {
namespace {

class Writer {
 public:
  Writer(const ir::Program& program, const proofs::Counterexample& c, const Options& options)
      : program_(program), c_(c), names_(program, c.iterations), one_(program, 1) {
    unrolled_ = can_unroll(program, c);
    if (unrolled_) part_ = net_part(one_, names_, marks_of(names_, c, true), options);
  }

  std::string write() {
    pugi::xml_document document;
    pugi::xml_node declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version").set_value("1.0");
    declaration.append_attribute("encoding").set_value("UTF-8");
    pugi::xml_node root = document.append_child("pnml");
    root.append_attribute("xmlns").set_value("http://www.pnml.org/version-2009/grammar/pnml");
    pugi::xml_node net = root.append_child("net");
    net.append_attribute("id").set_value("net");
    net.append_attribute("type").set_value("http://www.pnml.org/version-2009/grammar/ptnet");
    add_text(net, "name", program_.name);
    page_ = net.append_child("page");
    page_.append_attribute("id").set_value("page");
    if (unrolled_) {
      for (const std::uint32_t t : part_.shown) add_transition(t);
      add_orders();
      for (const std::uint32_t i : part_.places) add_handoff(i);
    } else {
      part_.notes.emplace_back("the program has too many op instances to show any");
    }
    add_notes(net);
    std::ostringstream out;
    document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
    return out.str();
  }

 private:
  static void add_text(pugi::xml_node node, const char* label, const std::string& text) {
    node.append_child(label)
        .append_child("text")
        .append_child(pugi::node_pcdata)
        .set_value(legible(text).c_str());
  }

  void add_transition(std::uint32_t number) {
    pugi::xml_node node = page_.append_child("transition");
    set_id(node, fmt::format("t{}", number));
    const ir::TransitionId t(number);
    std::string name = fmt::format("{}: {}", one_.engine(t), one_.op(t));
    const std::string source = source_text(program_, location_of(one_, t));
    if (!source.empty()) name += fmt::format(" [{}]", source);
    add_text(node, "name", name);
  }

  static void set_id(pugi::xml_node node, const std::string& id) {
    node.append_attribute("id").set_value(id.c_str());
  }

  void add_place(const std::string& id, const std::string& name, std::int64_t tokens) {
    pugi::xml_node node = page_.append_child("place");
    set_id(node, id);
    add_text(node, "name", name);
    if (tokens != 0) add_text(node, "initialMarking", fmt::format("{}", tokens));
  }

  void add_arc(const std::string& from, const std::string& to) {
    pugi::xml_node node = page_.append_child("arc");
    set_id(node, fmt::format("a{}", arcs_++));
    node.append_attribute("source").set_value(from.c_str());
    node.append_attribute("target").set_value(to.c_str());
  }

  /// Program order: one token that goes from op to op, and begins again if the program does.
  void add_orders() {
    const bool persistent = program_.execution == ir::Execution::persistent;
    for (std::size_t i = 0; i < part_.shown.size();) {
      const std::uint32_t p = one_.unrolled().program[part_.shown[i]];
      const std::string engine = engine_text(program_, ir::ProgramId(p));
      const std::string start = fmt::format("s{}", p);
      add_place(start, engine + ": start", 1);
      add_arc(start, fmt::format("t{}", part_.shown[i]));
      for (++i; i < part_.shown.size() && one_.unrolled().program[part_.shown[i]] == p; ++i) {
        add_order(engine, part_.shown[i - 1], part_.shown[i]);
      }
      const std::string last = fmt::format("t{}", part_.shown[i - 1]);
      if (persistent) {
        add_arc(last, start);
      } else {
        const std::string end = fmt::format("e{}", p);
        add_place(end, engine + ": end", 0);
        add_arc(last, end);
      }
    }
  }

  void add_order(const std::string& engine, std::uint32_t from, std::uint32_t to) {
    const std::string id = fmt::format("o{}", to);
    std::string name = fmt::format("{}: before op {}", engine, one_.unrolled().op[to]);
    if (to - from > 1) name += fmt::format(" ({} ops are not shown)", to - from - 1);
    add_place(id, name, 0);
    add_arc(fmt::format("t{}", from), id);
    add_arc(id, fmt::format("t{}", to));
  }

  void add_handoff(std::uint32_t number) {
    const ir::Place& place = part_.net.places[number];
    if (place.tokens < 0) {
      part_.notes.push_back(fmt::format(
          "a place/transition net cannot say that {} needs what a later iteration of {} supplies "
          "({})",
          one_.op(place.to), one_.op(place.from), place_text(one_, place)));
      return;
    }
    const std::string id = fmt::format("h{}", number);
    add_place(id, place_text(one_, place), place.tokens);
    add_arc(fmt::format("t{}", place.from.value()), id);
    add_arc(id, fmt::format("t{}", place.to.value()));
  }

  void add_notes(pugi::xml_node net) {
    pugi::xml_node own = net.append_child("toolspecific");
    own.append_attribute("tool").set_value("spatialcert");
    own.append_attribute("version").set_value(std::string(tool_version()).c_str());
    const auto add = [&](const char* name, const std::string& text) {
      own.append_child(name).append_child(pugi::node_pcdata).set_value(legible(text).c_str());
    };
    add("counterexample", headline(program_, c_));
    for (const std::string& note : part_.notes) add("note", note);
  }

  const ir::Program& program_;
  const proofs::Counterexample& c_;
  OpNames names_;
  OpNames one_;
  bool unrolled_ = false;
  NetPart part_;
  pugi::xml_node page_;
  std::uint64_t arcs_ = 0;
};

}  // namespace

std::string pnml_view(const ir::Program& program, const proofs::Counterexample& counterexample,
                      const Options& options) {
  return Writer(program, counterexample, options).write();
}

}  // namespace spatialcert::certify::views
