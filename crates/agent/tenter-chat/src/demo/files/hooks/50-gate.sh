#!/bin/sh
# Keeps the agent from stopping while ./check.sh fails. It does so only once: if the agent stops again without calling a
# tool, it may stop, so that there is no endless loop.
case "$1" in
hook) echo agent_stop ;;
run)
    payload=$(cat)
    if report=$(./check.sh 2>&1); then
        exit 0
    fi
    case "$payload" in *'"stop_hook_active": true'*)
        echo "./check.sh still fails, and the agent already knows" >&2
        exit 0
        ;;
    esac
    report=$(printf '%s' "$report" | tr '\n' ' ' | tr -d '[:cntrl:]"\\') # safe in a JSON string
    printf '{"follow_up_messages": ["./check.sh fails: %s. Fix that."]}\n' "$report"
    ;;
esac
