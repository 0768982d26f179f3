#include "ir/packing.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <new>

#include "ir/require.hpp"

namespace spatialcert::ir {

std::string pack(std::string_view bytes, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  SPATIALCERT_REQUIRE(ZSTD_isError(size) == 0, "zstd failed");
  frame.resize(size);
  return frame;
}

std::optional<std::string> unpack(std::string_view frame, std::uint64_t size) {
  if (size / kMostExpansion > frame.size()) return std::nullopt;
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size) return std::nullopt;
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) return std::nullopt;
  std::string bytes(size, '\0');
  // Never writes past the end, whatever the frame holds.
  const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (got != size) return std::nullopt;  // errors are larger than any size
  return bytes;
}

}  // namespace spatialcert::ir
