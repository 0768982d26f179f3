#include <algorithm>
#include <array>
#include <utility>

#include "compose/collectives/collectives.hpp"

namespace spatialcert::compose {
namespace {

template <typename T>
struct Named {
  T value;
  std::string_view name;
};

constexpr std::array<Named<Algorithm>, 5> kAlgorithms{{
    {Algorithm::ring, "ring"},
    {Algorithm::allpairs, "allpairs"},
    {Algorithm::recursive_doubling, "recursive-doubling"},
    {Algorithm::tree, "tree"},
    {Algorithm::hierarchical, "hierarchical"},
}};

constexpr std::array<Named<Collective>, 4> kCollectives{{
    {Collective::allreduce, "allreduce"},
    {Collective::allgather, "allgather"},
    {Collective::reduce_scatter, "reduce-scatter"},
    {Collective::alltoall, "alltoall"},
}};

constexpr std::array<Named<Fault>, 10> kFaults{{
    {Fault::none, "none"},
    {Fault::drop_dependency, "drop-dependency"},
    {Fault::dependency_cycle, "dependency-cycle"},
    {Fault::send_first, "send-first"},
    {Fault::wrong_slot, "wrong-slot"},
    {Fault::reduce_twice, "reduce-twice"},
    {Fault::skip_rank, "skip-rank"},
    {Fault::missing_receive, "missing-receive"},
    {Fault::count_mismatch, "count-mismatch"},
    {Fault::out_of_range, "out-of-range"},
}};

template <typename T, std::size_t N>
std::string_view name_of(const std::array<Named<T>, N>& names, T value) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.value == value; });
  return found == names.end() ? std::string_view{} : found->name;
}

/// Underscores count as hyphens.
template <typename T, std::size_t N>
std::optional<T> parse(const std::array<Named<T>, N>& names, std::string_view text) {
  std::string spelled(text);
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.name == spelled; });
  return found == names.end() ? std::nullopt : std::optional<T>(found->value);
}

/// What exists for a pair: everything goes wrong in the same ways, except that only sums can count
/// a term twice and that a tree has no exchange in which both partners could send first.
std::vector<Fault> faults_of(Algorithm algorithm, Collective collective) {
  std::vector<Fault> faults{Fault::drop_dependency, Fault::dependency_cycle};
  if (algorithm != Algorithm::tree) {
    faults.push_back(Fault::send_first);
  }
  faults.push_back(Fault::wrong_slot);
  if (collective == Collective::allreduce || collective == Collective::reduce_scatter) {
    faults.push_back(Fault::reduce_twice);
  }
  faults.insert(faults.end(), {Fault::skip_rank, Fault::missing_receive, Fault::count_mismatch,
                               Fault::out_of_range});
  return faults;
}

SupportedPair pair_of(Algorithm algorithm, Collective collective, std::string ranks) {
  return {algorithm, collective, std::move(ranks), faults_of(algorithm, collective)};
}

}  // namespace

const std::vector<SupportedPair>& supported_pairs() {
  static const std::string any = "2 to 256";
  static const std::string power = "a power of two, 2 to 256";
  static const std::string nodes = "2 to 256, a multiple of the ranks per node";
  using enum Algorithm;
  using enum Collective;
  static const std::vector<SupportedPair> pairs{
      pair_of(ring, allreduce, any),
      pair_of(ring, allgather, any),
      pair_of(ring, reduce_scatter, any),
      pair_of(allpairs, allreduce, any),
      pair_of(allpairs, allgather, any),
      pair_of(allpairs, reduce_scatter, any),
      pair_of(allpairs, alltoall, any),
      pair_of(recursive_doubling, allreduce, any),
      pair_of(recursive_doubling, allgather, power),
      pair_of(recursive_doubling, reduce_scatter, power),
      pair_of(tree, allreduce, any),
      pair_of(hierarchical, allreduce, nodes),
      pair_of(hierarchical, allgather, nodes),
  };
  return pairs;
}

std::string_view to_string(Algorithm algorithm) { return name_of(kAlgorithms, algorithm); }
std::string_view to_string(Collective collective) { return name_of(kCollectives, collective); }
std::string_view to_string(Fault fault) { return name_of(kFaults, fault); }
std::optional<Algorithm> parse_algorithm(std::string_view text) { return parse(kAlgorithms, text); }
std::optional<Collective> parse_collective(std::string_view text) {
  return parse(kCollectives, text);
}
std::optional<Fault> parse_fault(std::string_view text) { return parse(kFaults, text); }

}  // namespace spatialcert::compose
