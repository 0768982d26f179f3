// spatialcert_bench_program FAMILY NUMBER... FILE writes one of the programs that are measured:
//   ring | pipeline | composed OPS     about that many op texts (bench/programs.hpp)
//   section | rates | nest TURNS       loops of so many turns (bench/shapes.hpp)
//   workers-loop | workers-text WORKERS TURNS
//   sections NUMBER                    a chain of sections, as `compose` joins them
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/programs.hpp"
#include "bench/shapes.hpp"
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"

namespace {

using namespace spatialcert;
using namespace spatialcert::bench;

using Numbers = std::vector<std::uint64_t>;
using Write = std::function<ir::Status(const Numbers&, const std::string& path)>;

struct Family {
  std::size_t numbers = 1;
  Write write;
};

Family program(ir::Program (*make)(std::uint64_t)) {
  return {1, [make](const Numbers& n, const auto& path) {
            return ir::write_program(make(n[0]), path);
          }};
}

Family text(std::string (*make)(std::uint64_t)) {
  return {1,
          [make](const Numbers& n, const auto& path) { return ir::write_bytes(path, make(n[0])); }};
}

Family chain_of_workers(Written written) {
  return {2, [written](const Numbers& n, const auto& path) {
            return ir::write_bytes(path, workers(n[0], n[1], written));
          }};
}

const std::map<std::string_view, Family>& families() {
  static const std::map<std::string_view, Family> all{
      {"ring", program([](std::uint64_t n) { return make(bench::Family::ring, n); })},
      {"pipeline", program([](std::uint64_t n) { return make(bench::Family::pipeline, n); })},
      {"composed", program([](std::uint64_t n) { return make(bench::Family::composed, n); })},
      {"sections",
       program([](std::uint64_t n) { return chain_of_sections(static_cast<std::uint32_t>(n)); })},
      {"section", text(turns_of_section)},
      {"rates", text(turns_of_unequal_rates)},
      {"nest", text(turns_of_nest)},
      {"workers-loop", chain_of_workers(Written::as_loop)},
      {"workers-text", chain_of_workers(Written::as_text)},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto family = families().find(argc < 2 ? "" : argv[1]);
  if (family == families().end()) return 64;
  if (argc != static_cast<int>(family->second.numbers) + 3) return 64;
  Numbers numbers;
  for (int i = 2; i + 1 < argc; ++i) numbers.push_back(std::stoull(argv[i]));
  if (const ir::Status failed = family->second.write(numbers, argv[argc - 1])) {
    fmt::print(stderr, "{}\n", failed->message());
    return 74;
  }
  return 0;
}
