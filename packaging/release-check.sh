#!/usr/bin/env bash
# What a release needs besides .ci/run: advisories, licences, the oldest Rust version, reproducible packages, macOS.
# Prints a line for each check; a check whose tool is not installed is skipped, and the last line counts them.
#
#   TENTER_SKIP_REPRODUCIBLE=1   does not build twice
#   TENTER_TARGET    builds for another target twice, such as x86_64-unknown-linux-musl
#   TENTER_ADVISORIES   a clone of the advisory database (default: the one that `cargo audit` made)
#   TENTER_PROFILE   the cargo profile of the packages (release; dev for tries)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh
passed=0 skipped=0
ok() { echo "ok       $*" && passed=$((passed + 1)); }
skip() { echo "skipped  $*" && skipped=$((skipped + 1)); }
fail() { echo "FAILED   $*" >&2 && exit 1; }

# Without a database, or with an empty one, `cargo audit` has nothing to report.
advisories=${TENTER_ADVISORIES:-${CARGO_HOME:-$HOME/.cargo}/advisory-db}
if ! cargo audit --version >/dev/null 2>&1; then
    skip "advisories: cargo install cargo-audit"
elif ! compgen -G "$advisories/crates/*/RUSTSEC-*.md" >/dev/null; then
    [ -z "${TENTER_ADVISORIES:-}" ] || fail "advisories: there are none in $advisories"
    skip "advisories: there are none in $advisories (run \`cargo audit\` once, with a network)"
else
    cargo audit --no-fetch --db "$advisories" --deny warnings || fail "advisories: see above"
    ok "no advisory of the database of $(git -C "$advisories" log -1 --format=%cs) applies to Cargo.lock"
fi

python3 packaging/licences.py >/dev/null || fail "a library has no licence text"
ok "every library has its licence"

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
toolchain=$(rustup toolchain list 2>/dev/null | sed -n "s/^\($oldest[.-][^ ]*\).*/\1/p" | head -n 1)
if rustc --version | grep -q "^rustc $oldest\."; then
    ok "Rust $oldest builds it: it is the toolchain of .ci/run"
elif [ -n "$toolchain" ]; then
    CARGO_TARGET_DIR=$target/oldest cargo "+$toolchain" check --locked --workspace || fail "Rust $oldest cannot build it"
    ok "Rust $oldest builds it"
else
    skip "the oldest Rust version: rustup toolchain install $oldest"
fi

if [ "${TENTER_SKIP_REPRODUCIBLE:-}" = 1 ]; then
    skip "reproducible packages: TENTER_SKIP_REPRODUCIBLE is set"
else
    packages=(archive wheel)
    if [ -z "${TENTER_TARGET:-}" ] && command -v dpkg-deb >/dev/null; then packages+=(deb); fi
    digests=()
    for build in one two; do
        export CARGO_TARGET_DIR=$target/reproducible-$build
        rm -rf "$CARGO_TARGET_DIR"
        for package in "${packages[@]}"; do "packaging/$package.sh" >/dev/null || fail "$package cannot be built"; done
        digests+=("$(cd "$CARGO_TARGET_DIR/${TENTER_TARGET:-}/package" && sha256sum tenter[-_]*)")
    done
    unset CARGO_TARGET_DIR
    [ "${digests[0]}" = "${digests[1]}" ] || fail "two builds differ: ${digests[*]}"
    ok "two builds of ${packages[*]} are the same"
fi

mac=aarch64-apple-darwin
if rustup target list --installed 2>/dev/null | grep -q "^$mac\$"; then
    cargo check --locked --target "$mac" -p tenter-hook || fail "tenter-hook does not type-check for macOS"
    ok "tenter-hook type-checks for $mac"
else
    skip "macOS: rustup target add $mac"
fi
echo "$passed passed, $skipped skipped"
