# Sourced by the recipes of this directory, in the root of the repository.
profile=${TENTER_PROFILE:-release}
target=${CARGO_TARGET_DIR:-target}
host=$(rustc -vV | sed -n 's/^host: //p')
# TENTER_TARGET is another target than this machine's, such as x86_64-unknown-linux-musl.
triple=${TENTER_TARGET:-$host}
[ -z "${TENTER_TARGET:-}" ] || target=$target/$triple
built=$target/$([ "$profile" = dev ] && echo debug || echo "$profile")
out=$target/package
stage=$out/stage
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
# `tenter --version` shows the commit. The profile dev does not, so that a commit does not rebuild the program.
[ "$profile" = dev ] || export TENTER_COMMIT=${TENTER_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || true)}
# Panic messages contain the paths of sources: the same ones on every machine. The profile dev is for tries, and shares the
# build of `cargo test`. A recipe that another one starts inherits the flags, and other flags would build everything again.
remap="--remap-path-prefix=$PWD=/tenter --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
# The names of functions contain their types, so that the linker's scripts mean one function by each name.
flags="$remap -Csymbol-mangling-version=v0"
[ "$profile" = dev ] || [[ " ${RUSTFLAGS:-} " == *" $flags "* ]] || export RUSTFLAGS="${RUSTFLAGS:+$RUSTFLAGS }$flags"
# Links tenter-hook and tenter-launch statically.
[ "$profile" = dev ] || [[ $triple != *-linux-* ]] || export RUSTC_WORKSPACE_WRAPPER=$PWD/packaging/rustc.sh
mkdir -p "$out"

# Runs packaging/stage.sh unless it ran already.
need_stage() { [ -x "$stage/bin/tenter" ] || packaging/stage.sh; }

# The architecture of the staged program in the words of Node.js, and of the operating system.
npm_cpu() { case $(uname -m) in x86_64) echo x64 ;; aarch64 | arm64) echo arm64 ;; *) uname -m ;; esac; }
npm_os() { uname -s | tr '[:upper:]' '[:lower:]'; }

# What is built for musl has the same use as what is built for glibc: an archive or a wheel is enough.
glibc_only() { [[ $triple != *-musl ]] || { echo "error: $1 is built for glibc: unset TENTER_TARGET" >&2 && exit 1; }; }
