#!/usr/bin/env bash
# Does not let the agent stop while ./check.sh fails. It says so once: an agent that then stops again without having
# done anything is let go, so that the two never argue for ever.
case "$1" in
hook) echo agent_stop ;;
run)
    payload=$(cat)
    if report=$(./check.sh 2>&1); then
        exit 0
    fi
    case "$payload" in *'"stop_hook_active": true'*)
        echo "./check.sh still fails, and the agent was told already" >&2
        exit 0
        ;;
    esac
    report=$(printf '%s' "$report" | tr '\n' ' ' | tr -d '[:cntrl:]"\\') # fit to stand in JSON
    printf '{"follow_up_messages": ["./check.sh fails: %s. Fix that."]}\n' "$report"
    ;;
esac
