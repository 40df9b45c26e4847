#!/usr/bin/env bash
# Builds every package whose tool is installed: see packaging/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
packaging/stage.sh
packaging/archive.sh
packaging/wheel.sh
if command -v npm >/dev/null; then packaging/npm/build.sh; else echo "skipped: the npm packages need npm"; fi
if command -v dpkg-deb >/dev/null; then packaging/deb.sh; else echo "skipped: the .deb needs dpkg"; fi
packaging/doors/build.py "$stage/bin/tenter" "$out/doors"
