
# At after_turn: the model answered, and the results of the tools that it called are recorded. The payload's fields:
#   turn_number     answers of the model since the user's last message, this one included
#   tools_used      whether the model called tools
#   usage           {"input_tokens": 900, "output_tokens": 40, "current_context_window": 940,
#                   "max_context_window": 200000, ...}
#   response        the text of the answer
#   messages        the conversation: [{"role": "user", "content": "...", "blocks": [...]}, ...]
#   auto_compact_enabled, auto_compact_threshold, session_turn, invoked_recipe
#   conv_id         the conversation
#   cwd             the agent's working folder
#   invoked_by      "main" or "subagent"
#   timestamp       RFC 3339 in UTC
#
# The answers:
#   nothing, or {}                          no action
#   {"additional_context": "..."}           the model reads this before its next turn
#   {"result": "mutate", "messages": [{"role": "user", "content": "..."}]}
#                                           the conversation goes on with these messages instead
#   {"result": "callback", "callback": "compact", "callback_args": {}}
#                                           the recipe runs on the conversation and replaces it
EVENT = "after_turn"


def answer(payload):
    """The example: where the context is nearly full, the model is told to come to an end."""
    usage = payload["usage"]
    most = usage["max_context_window"]
    if most > 0 and usage["current_context_window"] / most >= 0.9:
        return {"additional_context": "The context is nearly full. Finish what you are at, and say what is left to do."}
    return None
