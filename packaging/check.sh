#!/usr/bin/env bash
# Installs every package of target/package offline into a fresh home or root, lets the installed programs deny a call as an
# agent would ask, upgrades from the packages of an earlier version, and uninstalls. Prints a line for each step.
#
#   packaging/check.sh [--from DIR] [--client ID]... [FORM...]
#
#   --from DIR    the packages of an earlier version, which are installed first and upgraded
#   --client ID   also proves an agent of this machine with the installed programs (`tenter bridge prove ID`)
#   FORM          wheel, pipx, uv, npm, deb, archive (default: those that were built and whose tool is installed)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/common.sh

from='' clients=() forms=()
while [ $# -gt 0 ]; do
    case $1 in
    --from) from=$(realpath "$2") && shift 2 ;;
    --client) clients+=("$2") && shift 2 ;;
    -*) echo "usage: packaging/check.sh [--from DIR] [--client ID]... [FORM...]" >&2 && exit 2 ;;
    *) forms+=("$1") && shift ;;
    esac
done
out=$(realpath "$out")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
passed=0

say() { echo "ok  $*" && passed=$((passed + 1)); }
fail() { echo "FAILED  $*" >&2 && exit 1; }
# The one file that matches, in the packages of this version or an earlier one.
one() { compgen -G "$1/$2" | head -n 1 || fail "there is no $1/$2"; }

# Runs a command as a user who has only the system's programs and what was installed.
as_user() { env -i HOME="$home" PATH="$bin:/usr/bin:/bin" TERM=dumb LANG=C.UTF-8 "$@"; }
# The same without a network, where the system allows it.
if unshare --user --net --map-root-user true 2>/dev/null; then
    offline() { unshare --user --net --map-root-user "$@"; }
else
    offline() { "$@"; }
fi

# Fails unless the registered program denies a force push and lets `ls` pass.
denies() {
    local program=$home/.local/share/tenter/bin/tenter-hook project=$home/project answer
    mkdir -p "$project"
    payload() {
        printf '{"session_id":"check","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"%s",' "$project" "$2"
        printf '"tool_input":{"command":"%s"}}' "$1"
    }
    answer=$(payload 'git push --force origin main' 1 | as_user "$program" claude-code PreToolUse --home "$home")
    grep -q '"permissionDecision":"deny"' <<<"$answer" || fail "$form: the guard did not deny: $answer"
    answer=$(payload 'ls' 2 | as_user "$program" claude-code PreToolUse --home "$home")
    [ -z "$answer" ] || fail "$form: a harmless call got $answer"
}

# Fails unless the launcher that was copied with it is there, and is the one of the package.
launches() {
    local program=$home/.local/share/tenter/bin/tenter-launch
    as_user "$program" --version >"$root/version" || fail "$form: the launcher of confined commands does not start"
    [ "$(as_user tenter --version | cut -d ' ' -f 2)" = "$(cut -d ' ' -f 2 "$root/version")" ] || fail "$form: it is $(cat "$root/version")"
    # Where the system cannot confine, the launcher says so, and does not run the command.
    as_user "$program" confine --spec '{"network": "none"}' -- true || [ $? = 125 ] || fail "$form: a confined command failed"
}

# Each command says itself that it fails: bash ignores `set -e` in functions before `&&`.
# Registers for Claude Code, tries a call, and proves the agents that were asked for.
use() {
    as_user tenter --version >/dev/null || fail "$form: a command failed"
    as_user tenter guard add git-safety >/dev/null || fail "$form: a command failed"
    mkdir -p "$home/.claude"
    as_user tenter bridge install claude-code --yes >/dev/null || fail "$form: a command failed"
    denies
    for client in "${clients[@]}"; do
        as_user env PATH="$bin:$PATH" tenter bridge prove "$client" >"$root/proof" || fail "$form: $(tail -n 20 "$root/proof")"
        say "$form: $client: $(tail -n 1 "$root/proof")"
    done
}

# Fails if files of the package are left below a directory. pipx keeps a lock file of its own.
gone() { local left; [ -e "$1" ] || return 0; left=$(find "$1" -name '*tenter*' -not -name '.tenter.lock' -not -path '*/.cache/*' | head -n 5) && [ -z "$left" ] || fail "$form: left after uninstalling: $left"; }

# Each form: install FILES, the directory of its programs, uninstall.
wheel_install() { offline "$home/venv/bin/python" -m pip install --quiet --no-index --force-reinstall "$(one "$1" 'tenter-*.whl')"; }
wheel_prepare() { python3 -m venv "$home/venv" && bin=$home/venv/bin; }
wheel_remove() { "$home/venv/bin/python" -m pip uninstall --quiet --yes tenter && gone "$home/venv"; }

pipx_run() { (export PIPX_HOME="$home/pipx" PIPX_BIN_DIR="$home/bin" PIPX_MAN_DIR="$home/man" && "$@"); }
pipx_install() { pipx_run offline pipx install --quiet --force --pip-args=--no-index "$(one "$1" 'tenter-*.whl')" >/dev/null 2>&1; }
pipx_prepare() { bin=$home/bin; }
pipx_remove() { pipx_run pipx uninstall tenter >/dev/null 2>&1 && gone "$home/pipx" && gone "$home/bin" && gone "$home/man"; }

uv_run() { (export UV_TOOL_DIR="$home/uv" UV_TOOL_BIN_DIR="$home/bin" UV_CACHE_DIR="$home/.cache/uv" && "$@"); }
uv_install() { uv_run offline uv tool install --quiet --offline --force "$(one "$1" 'tenter-*.whl')"; }
uv_prepare() { bin=$home/bin; }
uv_remove() { uv_run uv tool uninstall --quiet tenter && gone "$home/uv" && gone "$home/bin"; }

npm_install() {
    offline npm install --silent --offline --ignore-scripts --no-audit --no-fund --global --prefix "$home/npm" --cache "$home/cache" \
        "$(one "$1" "tenter-$(npm_os)-$(npm_cpu)-*.tgz")" "$(one "$1" 'tenter-[0-9]*.tgz')"
}
npm_prepare() { bin=$home/npm/bin:$(dirname "$(command -v node)"); }
npm_remove() { npm uninstall --silent --global --prefix "$home/npm" "tenter-$(npm_os)-$(npm_cpu)" tenter && gone "$home/npm"; }

deb_install() { dpkg --root="$home/root" --force-depends --force-not-root --install "$(one "$1" 'tenter_*.deb')" >/dev/null 2>&1; }
deb_prepare() {
    mkdir -p "$home/root/var/lib/dpkg/"{info,updates,triggers} "$home/root/etc" && : >"$home/root/var/lib/dpkg/status"
    bin=$home/root/usr/bin
}
deb_remove() { dpkg --root="$home/root" --force-not-root --purge tenter >/dev/null 2>&1 && gone "$home/root/usr"; }

# Fails unless `cargo binstall` finds the programs in the archive, by the metadata of their packages.
binstall_finds() {
    local crate bin metadata url directory
    for bin in tenter:tenter hooks/tenter-hook:tenter-hook hooks/tenter-hook:tenter-launch; do
        crate=crates/${bin%:*} bin=${bin#*:}
        metadata=$(sed -n '/^\[package.metadata.binstall\]/,/^$/p' "$crate/Cargo.toml" | sed "s/{ version }/$version/g; s/{ target }/$triple/g; s/{ bin }/$bin/; s/{ binary-ext }//")
        url=$(sed -n 's/^pkg-url = "\(.*\)"/\1/p' <<<"$metadata") directory=$(sed -n 's/^bin-dir = "\(.*\)"/\1/p' <<<"$metadata")
        tar -tzf "$out/${url##*/}" "$directory" >/dev/null || fail "archive: cargo binstall does not find $directory in ${url##*/}"
    done
    say "archive: cargo binstall finds the programs in it"
}

archive_install() { mkdir -p "$home/opt" && tar -xzf "$(one "$1" 'tenter-*.tar.gz')" -C "$home/opt" --strip-components=1; }
archive_prepare() { bin=$home/opt/bin && binstall_finds; }
archive_remove() { rm -rf "$home/opt"; }

try() {
    form=$1 home=$root/$1
    mkdir -p "$home"
    "${form}_prepare"
    if [ -n "$from" ]; then
        "${form}_install" "$from" && use
        before=$(as_user tenter --version)
        "${form}_install" "$out"
        denies && say "$form: what $before registered works after the upgrade"
        as_user tenter bridge list >/dev/null
        denies && say "$form: upgraded from $before to $(as_user tenter --version)"
    else
        "${form}_install" "$out"
    fi
    use && say "$form: installed offline, denies a force push"
    launches && say "$form: the launcher of confined commands starts"
    # The package's own directory may be gone at any time: what is registered stays.
    mv "${bin%%:*}" "$home/moved" && denies && mv "$home/moved" "${bin%%:*}" && say "$form: denies with its directory moved away"
    as_user tenter bridge remove claude-code --yes >/dev/null
    [ ! -e "$home/.local/share/tenter/bin" ] || fail "$form: the copies are left"
    ! grep -qs tenter "$home/.claude/settings.json" || fail "$form: the registration is left"
    "${form}_remove"
    say "$form: uninstalled, nothing is left"
}

[ ${#forms[@]} -gt 0 ] || for form in wheel:python3:whl pipx:pipx:whl uv:uv:whl npm:npm:tgz deb:dpkg:deb archive:tar:tar.gz; do
    IFS=: read -r form tool suffix <<<"$form"
    if compgen -G "$out/*.$suffix" >/dev/null && command -v "$tool" >/dev/null; then forms+=("$form"); fi
done
[ ${#forms[@]} -gt 0 ] || fail "there is no package in $out: run packaging/build.sh"
for form in "${forms[@]}"; do try "$form"; done
echo "$passed passed, 0 failed"
