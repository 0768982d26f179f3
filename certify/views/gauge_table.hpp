// The gauges that a page has of a counterexample, and their values. Private to the HTML view.
//
// A program may have very many semaphores and FIFOs. Those are chosen that a shown step may change,
// that a shown engine program waits for, or that the counterexample names.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "certify/views/lanes.hpp"
#include "certify/views/playback.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::views {

class GaugeTable {
 public:
  GaugeTable(const OpNames& names, const ir::TokenGame& game) : names_(names), gauges_(game) {}

  void choose(const proofs::Counterexample& counterexample, const Scene& scene,
              const std::vector<Playback>& playbacks);
  /// `gauges`: objects; those of the windows and of free pages follow the FIFO they belong to.
  void write(ir::io::JsonWriter& json) const;
  /// `counters`: texts of those that `write_test` was asked for; `counter_gauges`: which gauge has
  /// the value of each.
  void write_counters(ir::io::JsonWriter& json) const;
  /// The elements of a list: all values in a state of `game`.
  void write_values(const ir::TokenGame& game, const ir::PlayState& state,
                    ir::io::JsonWriter& json) const;
  /// Two numbers: gauge and value.
  void write_change(const GaugeChange& change, ir::io::JsonWriter& json) const;
  /// Two numbers: counter and what is needed of it.
  void write_test(const ir::BlockingTest& test, ir::io::JsonWriter& json);

 private:
  void take(Gauges::Range range, std::set<std::uint32_t>& chosen) const;
  void write_one(Gauges::Gauge gauge, ir::io::JsonWriter& json) const;

  const OpNames& names_;
  Gauges gauges_;
  std::vector<std::uint32_t> chosen_;
  std::map<std::uint32_t, std::uint32_t> at_;  ///< gauge -> place in the table
  std::vector<ir::CounterId> counters_;
  std::map<ir::CounterId, std::uint32_t> counter_at_;
};

}  // namespace spatialcert::certify::views
