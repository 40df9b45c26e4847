#!/usr/bin/env bash
# @include about
event=$(cat)
umask 077

# @include secrets

# value FIELD: prints the first string with this name in the event, as JSON.
value() {
    printf '%s\n' "$call" | LC_ALL=C grep -oE "\"$1\": *\"([^\"\\\\]|\\\\.)*\"" | head -n 1 | sed -E 's/^"[^"]*": *//'
}

# Everything before the result, which is not recorded.
call=${event%%'"tool_use_id": '*}
input=''
for field in command file_path path url pattern query question name; do
    input=${input:-$(value "$field")}
done
line=$(printf '{"timestamp": %s, "session": %s, "event": %s, "tool": %s, "input": %s}' \
    "$(value timestamp)" "$(value session_id)" "$(value event_type)" "$(value tool_name)" "${input:-null}")

state_dir=${TENTER_HOOK_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/agent-hooks/@NAME@}
mkdir -p "$state_dir" && redacted "$line" >>"$state_dir/audit.jsonl"
