#!/usr/bin/env bash
# @include about
event=$(cat)
cd "${TENTER_PROJECT_DIR:-.}" || exit 1

# The command that runs the tests. If it is empty, the project's files determine it.
TESTS=''
# Maximum number of attempts in a row; then the agent may stop.
ATTEMPTS=3

suggested() {
    if [ -f Cargo.toml ]; then
        echo 'cargo test --quiet'
    elif [ -f go.mod ]; then
        echo 'go test ./...'
    elif grep -qs '"test" *:' package.json; then
        echo 'npm test --silent'
    elif grep -qsE '^test *:' Makefile; then
        echo 'make test'
    elif [ -f pytest.ini ] || [ -f tox.ini ] || grep -qsF 'pytest' pyproject.toml setup.cfg; then
        echo 'python3 -m pytest -q'
    fi
}

tests=${TESTS:-$(suggested)}
attempts=$(printf '%s\n' "$event" | grep -oE '"continuation_count": *[0-9]+' | tail -n 1 | grep -oE '[0-9]+$')
if [ -z "$tests" ] || [ "${attempts:-0}" -ge "$ATTEMPTS" ]; then
    exit 0
fi
output=$(bash -c "$tests" 2>&1 </dev/null)
code=$?
case $code in
    0) exit 0 ;;
    126 | 127)
        printf '%s\n' "$output" >&2
        exit 1
        ;;
esac
printf '`%s` fails:\n%s\n' "$tests" "$(printf '%s\n' "$output" | tail -n 40)" >&2
exit 2
