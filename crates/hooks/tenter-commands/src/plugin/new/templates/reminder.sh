#!/usr/bin/env bash
# An executable hook: one file that prints its event, and replies on stdout.
case ${1:-} in
    hook) echo agent_stop ;;
    run)
        # Only once: the second time, the agent may stop.
        if ! grep -q '"stop_hook_active": true'; then
            echo '{"follow_up_messages": ["Say what you tested, and how."]}'
        fi
        ;;
esac
