#!/usr/bin/env bash
# Writes target/package/tenter-VERSION-py3-none-PLATFORM.whl from the staged programs. Needs Python alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
need_stage

case $(uname -s) in
Linux) platform=manylinux_$(glibc | tr . _)_$(uname -m) ;;
Darwin) platform=macosx_11_0_$(uname -m) ;;
*) echo "error: no wheel is known for $(uname -s)" >&2 && exit 1 ;;
esac
# A wheel that was built before has another platform in its name.
rm -f "$out"/tenter-*.whl
python3 packaging/wheel.py "$version" "$platform" "$stage" "$out"
