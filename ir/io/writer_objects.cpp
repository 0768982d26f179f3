#include <string>
#include <utility>

#include "ir/io/program_writer.hpp"

namespace spatialcert::ir::io {

void write_target(const Target& target, TextSink& out) {
  out << "{\"name\":";
  out.quoted(target.name) << ",\"chips\":";
  out.number(target.chips) << ",\"mesh\":[";
  out.number(target.mesh_width) << ",";
  out.number(target.mesh_height) << "],\"engines\":[";
  std::string_view separator;
  for (const std::string& engine : target.engines) {
    out << std::exchange(separator, ",");
    out.quoted(engine);
  }
  out << "],\"spaces\":[";
  separator = "";
  for (const MemorySpace& space : target.spaces) {
    out << std::exchange(separator, ",") << "{\"name\":";
    out.quoted(space.name) << ",\"bytes\":";
    out.number(space.bytes) << ",\"alignment\":";
    out.number(space.alignment) << "}";
  }
  out << "],\"semaphores\":{\"per_site\":";
  out.number(target.semaphores_per_site) << ",\"maximum\":";
  out.number(target.semaphore_maximum) << "},\"handoffs\":[";
  separator = "";
  for (const Handoff& handoff : target.handoffs) {
    out << std::exchange(separator, ",") << "{\"name\":";
    out.quoted(handoff.name) << ",\"crosses_chips\":" << (handoff.crosses_chips ? "true" : "false")
                             << "}";
  }
  out << "],\"tile\":[";
  out.number(target.tile_rows) << ",";
  out.number(target.tile_cols) << "],\"float_type\":\"" << to_string(target.float_type)
                               << "\",\"widest_integer\":\"" << to_string(target.widest_integer)
                               << "\"}";
}

void ProgramWriter::write_site(const Site& site) {
  out_ << "[";
  out_.number(site.chip) << ",";
  out_.number(site.x) << ",";
  out_.number(site.y) << "]";
}

void ProgramWriter::write_source(LocationIndex location) {
  if (location == kNoLocation) return;
  const SourceLocation& place = program_.locations[location];
  out_ << ",\"source\":[";
  out_.number(place.file) << ",";
  out_.number(place.line);
  if (place.column != 0) (out_ << ",").number(place.column);
  out_ << "]";
}

void ProgramWriter::write_tensor(const Tensor& tensor) {
  out_ << "{\"name\":";
  out_.quoted(tensor.name) << ",\"role\":\"" << to_string(tensor.role) << "\",\"rows\":";
  out_.number(tensor.rows) << ",\"cols\":";
  out_.number(tensor.cols) << ",\"dtype\":\"" << to_string(tensor.dtype) << "\",\"init\":\""
                           << to_string(tensor.init) << "\"";
  if (tensor.owner) {
    out_ << ",\"owner\":";
    out_.number(*tensor.owner);
  }
  if (tensor.view) {
    out_ << ",\"view\":{\"of\":";
    out_.quoted(program_.tensors[tensor.view->base.value()].name) << ",\"offset\":";
    out_.number(tensor.view->offset) << "}";
  }
  if (tensor.values) {
    out_ << ",\"values\":[";
    out_.number(tensor.values->least) << ",";
    out_.number(tensor.values->largest) << "]";
  }
  write_source(tensor.location);
  out_ << "}";
}

void ProgramWriter::write_buffer(const Buffer& buffer) {
  out_ << "{\"name\":";
  out_.quoted(buffer.name) << ",\"kind\":\"" << to_string(buffer.kind) << "\",\"site\":";
  write_site(buffer.site);
  out_ << ",\"space\":";
  out_.quoted(program_.target.spaces[buffer.space.value()].name) << ",\"address\":";
  out_.number(buffer.address) << ",\"page_bytes\":";
  out_.number(buffer.page_bytes) << ",\"pages\":";
  out_.number(buffer.pages);
  if (buffer.tile) {
    out_ << ",\"tile\":{\"rows\":";
    out_.number(buffer.tile->rows) << ",\"cols\":";
    out_.number(buffer.tile->cols) << ",\"dtype\":\"" << to_string(buffer.tile->dtype) << "\"}";
  }
  out_ << ",\"depth\":\"" << to_string(buffer.depth) << "\"";
  if (buffer.handoff.valid()) {
    out_ << ",\"handoff\":";
    out_.quoted(program_.target.handoffs[buffer.handoff.value()].name);
  }
  out_ << ",\"init\":\"" << to_string(buffer.init) << "\",\"lifetime\":";
  if (buffer.lifetime == Lifetime::section) {
    out_ << "\"section\"";
  } else if (!buffer.resident_from.valid()) {
    out_ << "\"resident\"";
  } else {
    out_ << "{\"resident\":[";
    out_.quoted(program_.sections[buffer.resident_from.value()].name) << ",";
    out_.quoted(program_.sections[buffer.resident_to.value()].name) << "]}";
  }
  if (buffer.view) {
    out_ << ",\"view\":{\"of\":" << buffer_names_[buffer.view->base.value()] << ",\"offset\":";
    out_.number(buffer.view->offset) << "}";
  }
  write_source(buffer.location);
  out_ << "}";
}

void ProgramWriter::write_semaphore(const Semaphore& semaphore) {
  out_ << "{\"name\":";
  out_.quoted(semaphore.name) << ",\"site\":";
  write_site(semaphore.site);
  out_ << ",\"initial\":";
  out_.number(semaphore.initial) << ",\"maximum\":";
  out_.number(semaphore.maximum) << ",\"restart\":\"" << to_string(semaphore.restart) << "\"";
  if (semaphore.handoff.valid()) {
    out_ << ",\"handoff\":";
    out_.quoted(program_.target.handoffs[semaphore.handoff.value()].name);
  }
  out_ << "}";
}

void ProgramWriter::write_stage(const Stage& stage) {
  out_ << "{\"name\":";
  out_.quoted(stage.name) << ",\"kind\":\"" << to_string(stage.kind) << "\",\"op\":\""
                          << to_string(stage.op) << "\"";
  if (stage.op == OpKind::scale) {
    out_ << ",\"scale\":";
    out_.real(stage.scale);
  }
  out_ << ",\"section\":";
  out_.quoted(program_.sections[stage.section.value()].name);
  write_source(stage.location);
  out_ << "}";
}

void ProgramWriter::write_edge(const Edge& edge) {
  out_ << "{\"producer\":" << stage_names_[edge.producer.value()]
       << ",\"buffer\":" << buffer_names_[edge.buffer.value()]
       << ",\"consumer\":" << stage_names_[edge.consumer.value()];
  if (edge.handoff.valid()) {
    out_ << ",\"handoff\":";
    out_.quoted(program_.target.handoffs[edge.handoff.value()].name);
  }
  out_ << "}";
}

void ProgramWriter::write_section(SectionId id) {
  const Section& section = program_.sections[id.value()];
  out_ << "{\"name\":";
  out_.quoted(section.name) << ",\"index\":";
  out_.number(section.source_index) << ",\"numerics\":";
  if (section.numerics.exact) {
    out_ << "\"exact\"";
  } else {
    out_ << "{\"approx\":";
    out_.quoted(section.numerics.reason) << "}";
  }
  write_spans(section_spans_[id.value()]);
  write_source(section.location);
  out_ << "}";
}

void ProgramWriter::write_boundary(BoundaryId id) {
  const Boundary& boundary = program_.boundaries[id.value()];
  out_ << "{\"after\":";
  out_.quoted(program_.sections[boundary.after.value()].name)
      << ",\"closed\":" << (boundary.closed ? "true" : "false");
  write_spans(boundary_spans_[id.value()]);
  out_ << "}";
}

void ProgramWriter::write_link(const Link& link) {
  if (link.is_fifo) {
    out_ << "{\"fifo\":" << buffer_names_[link.object] << "}";
  } else {
    out_ << "{\"semaphore\":" << semaphore_names_[link.object] << "}";
  }
}

void ProgramWriter::write_slice(const Slice& slice) {
  out_ << "{\"tensor\":";
  out_.quoted(program_.tensors[slice.tensor.value()].name) << ",\"ranges\":[";
  std::string_view separator;
  for (const IndexRange& range : slice.ranges) {
    out_ << std::exchange(separator, ",") << "[";
    out_.number(range.begin) << ",";
    out_.number(range.end) << "]";
  }
  out_ << "]}";
}

void ProgramWriter::write_sliced_tensor(const SlicedTensor& sliced) {
  out_ << "{\"full\":";
  out_.quoted(sliced.name) << ",\"rows\":";
  out_.number(sliced.rows) << ",\"cols\":";
  out_.number(sliced.cols) << ",\"axis\":\"" << to_string(sliced.axis) << "\",\"dimension\":";
  out_.quoted(sliced.dimension) << ",\"stacked\":" << (sliced.stacked ? "true" : "false")
                                << ",\"copies\":";
  out_.number(sliced.copies) << ",\"parts\":[";
  std::string_view separator;
  for (const Slice& slice : sliced.slices) {
    out_ << std::exchange(separator, ",");
    write_slice(slice);
  }
  out_ << "]}";
}

}  // namespace spatialcert::ir::io
