
// At user_message_send: a message of the user's is about to be added. The payload's fields:
//   message         the message
//   conv_id         the conversation
//   cwd             the agent's working folder
//   invoked_by      "main" or "subagent"
//   timestamp       RFC 3339 in UTC
//
// The answers:
//   nothing, or {}                          no opinion
//   {"blocked": true, "reason": "..."}      the message is refused, and the user reads the reason
//   {"blocked": false}                      this hook is fine with it; another may still block
//   {"message": "..."}                      the model reads this message instead
//   {"additional_context": "..."}           the model reads this besides
const EVENT: &str = "user_message_send";

/// The example: private keys do not go to the model.
fn answer(payload: &str) -> Option<String> {
    if text(payload, "message")?.contains("PRIVATE KEY-----") {
        let reason = quoted("the message holds a private key");
        return Some(format!("{{\"blocked\": true, \"reason\": {reason}}}"));
    }
    None
}
