#!/usr/bin/env bash
# Writes target/package/tenter-VERSION-py3-none-PLATFORM.whl. Needs maturin (`pip install maturin`).
set -euo pipefail
cd "$(dirname "$0")/../.."
. packaging/common.sh
need_stage

data=packaging/wheel/data licences=packaging/wheel/licences
trap 'rm -rf "$data" "$licences"' EXIT
rm -rf "$data" "$licences"
install -Dm755 -t "$data/scripts" "$stage/bin/tenter-hook"
mkdir -p "$data/data" "$licences"
cp -R "$stage/share" "$data/data/share"
cp "$stage"/share/doc/tenter/{LICENSE-MIT,LICENSE-APACHE,THIRD-PARTY.txt} "$licences"

# A wheel that was built before has another platform in its name.
rm -f "$out"/tenter-*.whl
out=$(realpath "$out")
(cd packaging/wheel && maturin build --locked --profile "$profile" --out "$out")
