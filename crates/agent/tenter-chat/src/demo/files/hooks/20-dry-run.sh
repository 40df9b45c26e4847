#!/bin/sh
# Turns every deployment into a dry run: if the model calls ./deploy.sh, ./deploy.sh --dry-run runs.
case "$1" in
hook) echo before_tool_call ;;
run)
    # The payload is one line of JSON. The reply is the tool's complete input with a changed command; there is no reply to
    # other commands.
    sed -n '/--dry-run/d
        /"command": "[^"]*\.\/deploy\.sh/ {
            s/.*"tool_input": \(.*\), "tool_user_id".*/{"input": \1}/
            s|\./deploy\.sh|./deploy.sh --dry-run|gp
        }'
    ;;
esac
