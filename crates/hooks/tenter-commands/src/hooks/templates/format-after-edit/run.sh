#!/usr/bin/env bash
# @include about
event=$(cat)
PROJECT=${TENTER_PROJECT_DIR:-$PWD}

# format FILE: prints the formatted file. Formatters read stdin, so a file name is never parsed as an option. Those that are
# not installed are skipped. Adapt it to your project.
format() {
    local edition
    case $1 in
        *.rs)
            edition=$(grep -hoE '^edition *= *"[0-9]+"' "$PROJECT/Cargo.toml" 2>/dev/null | grep -oE '[0-9]+' | head -n 1)
            run rustfmt --edition "${edition:-2021}"
            ;;
        *.py) if installed ruff; then run ruff format --stdin-filename "$1" -; else run black -q -; fi ;;
        *.go) run gofmt ;;
        *.sh | *.bash) run shfmt ;;
        *.js | *.mjs | *.cjs | *.jsx | *.ts | *.tsx | *.css | *.html | *.json | *.yaml | *.yml | *.md) run prettier --stdin-filepath "$1" ;;
        *) exit 0 ;;
    esac
}

installed() {
    command -v "$1" >/dev/null
}

run() {
    installed "$1" || exit 0
    formatter=$1
    "$@" <"$file"
}

# @include text

# @include real

# reply TEXT: adds text for the model.
reply() {
    printf '{"additional_context": %s}\n' "$(json "$1")"
    exit 0
}

file=$(text file_path)
file=${file:-$(text path)}
[ -n "$file" ] || exit 0
shown=$file
case $file in /*) ;; *) file=$(text work_dir)/$file ;; esac
real "$PROJECT" && PROJECT=$target
real "$file" && file=$target
# A symlink may lead out of the project.
case $file in "$PROJECT"/*) ;; *) exit 0 ;; esac
[ -f "$file" ] || exit 0

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
if ! format "$file" >"$scratch/formatted" 2>"$scratch/errors"; then
    reply "$formatter cannot format $shown: $(head -c 2000 "$scratch/errors")"
fi
if [ -s "$scratch/formatted" ] && ! cmp -s "$scratch/formatted" "$file"; then
    cat "$scratch/formatted" >"$file" || exit 1
    reply "$formatter changed $shown: read it again before you edit it"
fi
exit 0
