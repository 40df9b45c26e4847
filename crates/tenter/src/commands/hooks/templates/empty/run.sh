#!/usr/bin/env bash
# @include about
event=$(cat)

# @include text

# What the event says, for example: $(text session_id). With `jq` it is: jq -r .session_id <<<"$event"
# What the hook answers, for example: block "not on a Friday", or a JSON object: echo '{"log": "seen"}'
exit 0
