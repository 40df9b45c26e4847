#!/usr/bin/env bash
# @include about
event=$(cat)

# @include secrets

# The result is the last field of the event.
result=${event#*'"tool_output": '}
result=${result%'}'*}
without=$(redacted "$result")
if [ "$without" != "$result" ]; then
    printf '{"modified_output": %s}\n' "$without"
fi
exit 0
