#!/usr/bin/env bash
# @include about
event=$(cat)

# @include secrets

# @include field

result=$(field "$event" tool_output)
if [ -z "$result" ]; then
    echo 'the event has no `tool_output`' >&2
    exit 1
fi
without=$(redacted "$result")
if [ "$without" != "$result" ]; then
    printf '{"modified_output": %s}\n' "$without"
fi
exit 0
