#!/usr/bin/env bash
# An executable hook: one file, which names its event and answers on stdout.
case ${1:-} in
    hook) echo agent_stop ;;
    run)
        # Once: the second time the agent may stop.
        if ! grep -q '"stop_hook_active": true'; then
            echo '{"follow_up_messages": ["Say what you tested, and how."]}'
        fi
        ;;
esac
