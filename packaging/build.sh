#!/usr/bin/env bash
# Builds every package whose tool is installed: see packaging/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
packaging/stage.sh
packaging/archive.sh
if command -v maturin >/dev/null; then packaging/wheel/build.sh; else echo "skipped: the wheel needs maturin"; fi
if command -v npm >/dev/null; then packaging/npm/build.sh; else echo "skipped: the npm packages need npm"; fi
if cargo deb --version >/dev/null 2>&1; then packaging/deb.sh; else echo "skipped: the .deb needs cargo-deb"; fi
packaging/doors/build.py "$stage/bin/tenter" "$out/doors"
