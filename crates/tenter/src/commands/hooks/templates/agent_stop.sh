
# At agent_stop: the agent would stop. The payload's fields:
#   stop_reason     "no_tool_calls", "tool_rejected" or "max_turns"
#   stop_hook_active, continuation_count
#                   whether and how often in a row hooks have made the agent go on already
#   last_assistant_content
#                   the model's last text
#   messages        the conversation: [{"role": "user", "content": "...", "blocks": [...]}, ...]
#   usage           {"input_tokens": 900, "output_tokens": 40, "current_context_window": 940,
#                   "max_context_window": 200000, ...}
#   turn_number, auto_compact_enabled, auto_compact_threshold, invoked_recipe
#   conv_id         the conversation
#   cwd             the agent's working folder
#   invoked_by      "main" or "subagent"
#   timestamp       RFC 3339 in UTC
#
# The answers:
#   nothing, or {}                          the agent may stop
#   {"follow_up_messages": ["..."]}         the agent goes on, with these messages as if the user had sent them
#   {"result": "mutate", "messages": [{"role": "user", "content": "..."}]}
#                                           the conversation is replaced by these messages
#   {"result": "callback", "callback": "compact", "callback_args": {}}
#                                           the recipe runs on the conversation and replaces it
#   {"additional_context": "..."}           the model reads this besides
event=agent_stop

# The example: an answer that leaves a TODO is asked about, once.
# A gate that runs the project's tests would stand here too:
#     make test >&2 || echo '{"follow_up_messages": ["`make test` fails. Mend it."]}'
answer() {
    case $payload in *'"stop_hook_active": true'*) return ;; esac
    case $(text last_assistant_content) in
        *TODO*) echo '{"follow_up_messages": ["You left a TODO. Do it now, or say why it has to wait."]}' ;;
    esac
}
