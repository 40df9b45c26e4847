#!/usr/bin/env bash
# @include about
event=$(cat)

# @include text

# Read a field, for example: $(text session_id), or with jq: jq -r .session_id <<<"$event"
# Reply, for example: echo "not on a Friday" >&2; exit 2, or with a JSON object: echo '{"log": "seen"}'
exit 0
