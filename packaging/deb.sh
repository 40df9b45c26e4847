#!/usr/bin/env bash
# Writes target/package/tenter_VERSION_ARCH.deb. Needs cargo-deb (`cargo install cargo-deb`) and dpkg.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
need_stage

# cargo-deb finds the files by the list in crates/tenter/Cargo.toml, which names them from the root of the repository.
rm -f "$out"/tenter_*.deb
cargo deb --package tenter --no-build --no-strip --profile "$profile" --compress-system --output "$out/"
