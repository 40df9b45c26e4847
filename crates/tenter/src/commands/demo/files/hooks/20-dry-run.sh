#!/usr/bin/env bash
# Makes every deployment a rehearsal: the agent asks for ./deploy.sh, and ./deploy.sh --dry-run is what runs.
case "$1" in
hook) echo before_tool_call ;;
run)
    # The payload is one line of JSON. The answer is the tool's whole input, with the command changed; no answer for
    # any other command.
    sed -n '/--dry-run/d
        /"command": "[^"]*\.\/deploy\.sh/ {
            s/.*"tool_input": \(.*\), "tool_user_id".*/{"input": \1}/
            s|\./deploy\.sh|./deploy.sh --dry-run|gp
        }'
    ;;
esac
