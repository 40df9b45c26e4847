
# At user_message_send: a message of the user's is about to be added. The payload's fields:
#   message         the message
#   conv_id         the conversation
#   cwd             the agent's working folder
#   invoked_by      "main" or "subagent"
#   timestamp       RFC 3339 in UTC
#
# The answers:
#   nothing, or {}                          no opinion
#   {"blocked": true, "reason": "..."}      the message is refused, and the user reads the reason
#   {"blocked": false}                      this hook is fine with it; another may still block
#   {"message": "..."}                      the model reads this message instead
#   {"additional_context": "..."}           the model reads this besides
EVENT = "user_message_send"


def answer(payload):
    """The example: private keys do not go to the model."""
    if "PRIVATE KEY-----" in payload["message"]:
        return {"blocked": True, "reason": "the message holds a private key"}
    return None
