#!/usr/bin/env bash
# Builds the programs and lays out everything that a package contains in target/package/stage:
#
#   bin/        tenter, tenter-hook, tenter-launch
#   share/man, share/bash-completion, share/zsh, share/fish
#   share/doc/tenter/   the licences of Tenter and of its dependencies, README, CHANGELOG
#
# TENTER_PROFILE is the cargo profile (release), TENTER_TARGET another target than this machine's. SOURCE_DATE_EPOCH is the time of all files (that of the last commit).
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh

cargo build --locked --profile "$profile" ${TENTER_TARGET:+--target "$TENTER_TARGET"} -p tenter -p tenter-hook

rm -rf "$stage"
install -Dm755 -t "$stage/bin" "$built/tenter" "$built/tenter-hook" "$built/tenter-launch"
tenter=$stage/bin/tenter

mkdir -p "$stage/share/man/man1"
"$tenter" man --out "$stage/share/man/man1"
completions() { install -Dm644 /dev/stdin "$stage/share/$2" < <("$tenter" completions "$1"); }
completions bash bash-completion/completions/tenter
completions zsh zsh/vendor-completions/_tenter
completions fish fish/vendor_completions.d/tenter.fish

install -Dm644 -t "$stage/share/doc/tenter" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE
python3 packaging/licences.py >"$stage/share/doc/tenter/THIRD-PARTY.txt"

find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
echo "staged tenter $version ($profile) in $stage"
