#!/usr/bin/env bash
# Takes AWS keys out of whatever a tool found. The model, the store and the log never see them.
case "$1" in
hook) echo after_tool_call ;;
run)
    # The payload is one line of JSON. The answer is the tool's whole output without keys; no answer where there are none.
    sed -n '/AKIA[0-9A-Z]\{16\}/ {
        s/AKIA[0-9A-Z]\{16\}/[removed by 30-redact]/g
        s/.*"tool_output": \(.*\), "tool_user_id".*/{"output": \1}/p
    }'
    ;;
esac
