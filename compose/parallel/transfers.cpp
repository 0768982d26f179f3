#include "compose/parallel/transfers.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compose/parallel/fusion.hpp"

namespace spatialcert::compose::parallel {
namespace {

constexpr std::uint32_t kNever = 0xffffffffU;

struct Name {
  std::uint32_t writer = kNever;  ///< latest
  std::uint32_t home = 0;         ///< chip that binds it
  std::uint32_t abroad = kNever;  ///< first op of another chip that has read it
  std::unordered_set<std::uint32_t> received;
};

class Crossings {
 public:
  Crossings(const std::vector<SourceOp>& statements, const Sharding& sharding)
      : statements_(statements), sharding_(sharding) {}

  std::vector<Transfer> run() {
    for (std::uint32_t at = 0; at < statements_.size(); ++at) perform(at);
    return std::move(result_);
  }

 private:
  void perform(std::uint32_t at) {
    const SourceOp& op = statements_[at];
    if (auto refused = check_fusion(op, sharding_)) throw *std::move(refused);
    if (op.members.empty()) return;
    const std::uint32_t chip = sharding_.chip_running(op.members.front().name);
    for (const Statement& member : op.members) {
      for (const std::string& name : member.reads) read(name, at, chip);
      bind(member.name, at, chip);
    }
  }

  Name& known(const std::string& name) {
    const auto [found, fresh] = names_.try_emplace(name);
    if (fresh) found->second.home = sharding_.chip_running(name);
    return found->second;
  }

  void read(const std::string& name, std::uint32_t at, std::uint32_t chip) {
    Name& of = known(name);
    if (of.home == chip) return;
    if (of.abroad == kNever) of.abroad = at;
    if (of.writer == kNever || !of.received.insert(chip).second) return;
    result_.push_back({name, of.home, chip, of.writer, at});
  }

  void bind(const std::string& name, std::uint32_t at, std::uint32_t chip) {
    Name& of = known(name);
    if (of.abroad != kNever) {
      const std::string& reader = statements_[of.abroad].members.front().name;
      throw Refused{RefusalReason::rewritten,
                    fmt::format("\"{}\" of chip {} is bound by statement {}, after statement {} "
                                "(\"{}\") has read it on chip {}",
                                name, chip, at, of.abroad, reader, sharding_.chip_running(reader)),
                    "give the second value a name of its own"};
    }
    of.writer = at;
  }

  const std::vector<SourceOp>& statements_;
  const Sharding& sharding_;
  std::unordered_map<std::string_view, Name> names_;
  std::vector<Transfer> result_;
};

}  // namespace

Outcome<std::vector<Transfer>> transfers(const std::vector<SourceOp>& statements,
                                         const Sharding& sharding) {
  try {
    return Crossings(statements, sharding).run();
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose::parallel
