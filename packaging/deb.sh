#!/usr/bin/env bash
# Writes target/package/tenter_VERSION_ARCH.deb from the staged programs. Needs dpkg. The same stage gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
glibc_only "the .deb"
need_stage

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/usr" "$scratch/DEBIAN"
cp -R "$stage/bin" "$stage/share" "$scratch/usr"
documents=$scratch/usr/share/doc/tenter
cat "$documents/LICENSE-MIT" "$documents/LICENSE-APACHE" >"$documents/copyright"
rm "$documents"/LICENSE-*
gzip --no-name --best "$scratch"/usr/share/man/man1/* "$documents/CHANGELOG.md" "$documents/THIRD-PARTY.txt"

arch=$(dpkg --print-architecture)
cat >"$scratch/DEBIAN/control" <<CONTROL
Package: tenter
Version: $version-1
Architecture: $arch
Maintainer: The Tenter authors <tenter@localhost>
Section: devel
Priority: optional
Installed-Size: $(du --summarize --apparent-size --block-size=1024 "$scratch/usr" | cut -f 1)
Depends: libc-bin
Recommends: git, bash
Description: Lifecycle hooks for coding agents
 Hooks are programs of yours that watch, block, rewrite and steer what a coding
 agent does. Tenter runs them in Claude Code, Codex, Gemini CLI, OpenCode,
 Copilot CLI and others, and proves on your machine that they hold.
CONTROL
(cd "$scratch" && find usr -type f -printf '%P\0' | sort -z | (cd usr && xargs -0 md5sum) | sed 's,  ,  usr/,' >DEBIAN/md5sums)
chmod -R go-w,a+rX "$scratch"
find "$scratch" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
rm -f "$out"/tenter_*.deb
dpkg-deb --root-owner-group --build "$scratch" "$out/tenter_$version-1_$arch.deb"
