
// At after_tool_call: a tool ran, or failed, or was blocked. The payload's fields:
//   tool_name       "bash", "file_write", "file_edit", ...
//   tool_input      the tool's input, an object
//   tool_output     what came of it: {"toolName": "bash", "success": true, "metadataType": "bash",
//                   "metadata": {"command": "ls -la", "exitCode": 0, "output": "..."}, "timestamp": "..."},
//                   and "error": "..." where it failed
//   tool_user_id    the call's id
//   conv_id         the conversation
//   cwd             the agent's working folder
//   invoked_by      "main" or "subagent"
//   timestamp       RFC 3339 in UTC
//
// The answers:
//   nothing, or {}                          no action
//   {"output": {"metadata": {...}}}         the model reads this output instead; fields left out stay as they are, but
//                                           "metadata" is replaced as a whole
//   {"output": {"success": false, "error": "..."}}    the model is told that it failed
//   {"additional_context": "..."}           the model reads this besides
// What was done stays done: only what is read of it changes.
const EVENT: &str = "after_tool_call";

/// The example: the model does not get to read access keys.
fn answer(payload: &str) -> Option<String> {
    // The field after tool_output is tool_user_id, and quotes inside of texts are escaped: this is the whole object.
    let (_, rest) = payload.split_once("\"tool_output\": ")?;
    let (output, _) = rest.rsplit_once(", \"tool_user_id\": ")?;
    let redacted = without_keys(output);
    (redacted != output).then(|| format!("{{\"output\": {redacted}}}"))
}

/// `output` with every access key (AKIA and 16 capitals or digits) taken out.
fn without_keys(output: &str) -> String {
    let mut redacted = String::new();
    let mut rest = output;
    while let Some(at) = rest.find("AKIA") {
        redacted.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_of_key = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        let is_key = rest.len() >= 20 && rest.as_bytes()[..20].iter().all(is_of_key);
        redacted.push_str(if is_key { "[redacted]" } else { "AKIA" });
        rest = &rest[if is_key { 20 } else { 4 }..];
    }
    redacted + rest
}
