#!/usr/bin/env bash
# Prints the path of a `spatialcert` that can be run: SPATIALCERT_BINARY if it is set, otherwise one that is built here,
# with the Debian packages that takes (installing them needs root). Everything else goes to standard error.
set -euo pipefail

if [ -n "${SPATIALCERT_BINARY:-}" ]; then
  "$SPATIALCERT_BINARY" --version >&2 || {
    echo "spatialcert: SPATIALCERT_BINARY=$SPATIALCERT_BINARY cannot be run" >&2
    exit 64
  }
  realpath "$SPATIALCERT_BINARY"
  exit 0
fi

cd "$(dirname "$0")/../.."
scripts/dependencies build >&2
cmake --preset release >&2
cmake --build --preset release --target spatialcert >&2
echo "$PWD/build/release/bin/spatialcert"
