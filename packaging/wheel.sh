#!/usr/bin/env bash
# Writes target/package/tenter-VERSION-py3-none-PLATFORM.whl from the staged programs. Needs Python alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
need_stage

arch=${triple%%-*}
case $triple in
# The programs are linked statically: any Linux runs them.
*-linux-*) platform=manylinux_2_17_$arch.musllinux_1_1_$arch ;;
*-apple-darwin) platform=macosx_11_0_${arch/aarch64/arm64} ;;
*) echo "error: no wheel is known for $triple" >&2 && exit 1 ;;
esac
# A wheel that was built before has another platform in its name.
rm -f "$out"/tenter-*.whl
python3 packaging/wheel.py "$version" "$platform" "$stage" "$out"
