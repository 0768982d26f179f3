// Apart from the reader, so that a checker that only reads does not contain it.
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::ir {

Status write_program(const Program& program, const std::string& path) {
  return write_bytes(path, serialise(program));
}

}  // namespace spatialcert::ir
