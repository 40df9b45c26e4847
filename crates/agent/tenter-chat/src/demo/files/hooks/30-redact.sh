#!/bin/sh
# Removes AWS keys from tool output before the model, the store and the log get it.
case "$1" in
hook) echo after_tool_call ;;
run)
    # The payload is one line of JSON. The reply is the complete output without keys; there is no reply if it has no keys.
    sed -n '/AKIA[0-9A-Z]\{16\}/ {
        s/AKIA[0-9A-Z]\{16\}/[removed by 30-redact]/g
        s/.*"tool_output": \(.*\), "tool_user_id".*/{"output": \1}/p
    }'
    ;;
esac
