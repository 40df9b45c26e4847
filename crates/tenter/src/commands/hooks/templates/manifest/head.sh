#!/usr/bin/env bash
# Tenter starts this script in the project's folder whenever HOOK.md says so. It reads the event on stdin, one line of
# JSON, and answers by its exit code:
#   0        stdout is the answer: one JSON object, or nothing
#   2        it blocks, and stderr says why
#   other    it failed: the agent warns and goes on, unless HOOK.md says `metadata: {fail: closed}`
# HOOK.md tells the event's fields and the answers. `tenter hooks test NAME` runs the tests in the folder `tests`.
set -u

event=$(cat)

# text FIELD: the event's first text of this name, as JSON writes it: with \" for " and \n for a new line.
text() {
    printf '%s\n' "$event" | grep -oE "\"$1\": \"([^\"\\\\]|\\\\.)*\"" | head -n 1 |
        sed -e "s/^\"$1\": \"//" -e 's/"$//'
}

# number FIELD: the event's first whole number of this name.
number() {
    printf '%s\n' "$event" | grep -oE "\"$1\": [0-9]+" | head -n 1 | grep -oE '[0-9]+$'
}

# block REASON: the answer that it must not be.
block() {
    echo "$1" >&2
    exit 2
}

