#!/usr/bin/env bash
# Writes target/package/tenter-VERSION-TARGET.tar.gz and SHA256SUMS. The same sources, toolchain and SOURCE_DATE_EPOCH
# give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
need_stage

name=tenter-$version-$triple
tar --create --directory "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mode=go-w \
    --mtime="@$SOURCE_DATE_EPOCH" --transform "s,^\.,$name," . | gzip --no-name --best >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS && cat SHA256SUMS)
