#!/usr/bin/env bash
# Writes target/package/tenter-VERSION.tgz, the main package, and tenter-OS-CPU-VERSION.tgz, the programs of this platform.
# Neither has an install script. Needs npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
. packaging/common.sh
glibc_only "the npm package"
need_stage

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R packaging/npm/main packaging/npm/platform "$scratch"
cp README.md LICENSE-MIT LICENSE-APACHE "$scratch/main"
cp -R "$stage/bin" "$stage/share" "$scratch/platform"
sed -i.orig -e "s/@VERSION@/$version/" -e "s/@OS@/$(npm_os)/" -e "s/@CPU@/$(npm_cpu)/" "$scratch"/*/package.json
rm "$scratch"/*/package.json.orig
rm -f "$out"/tenter-*.tgz
for package in main platform; do npm pack --silent --pack-destination "$out" "$scratch/$package"; done
