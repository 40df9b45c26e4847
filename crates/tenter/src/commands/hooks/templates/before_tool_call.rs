
// At before_tool_call: a tool is about to run. The payload's fields:
//   tool_name       "bash", "file_write", "file_edit", ...
//   tool_input      the tool's input, an object; of bash for instance {"command": "ls -la"}
//   tool_user_id    the call's id
//   conv_id         the conversation
//   cwd             the agent's working folder
//   invoked_by      "main" or "subagent"
//   timestamp       RFC 3339 in UTC
//
// The answers:
//   nothing, or {}                          no opinion
//   {"blocked": true, "reason": "..."}      the tool does not run, and the model reads the reason
//   {"blocked": false}                      this hook is fine with it; another may still block
//   {"input": {"command": "ls"}}            the tool runs with this input: the whole of it, not only what changes
//   {"additional_context": "..."}           the model reads this besides
const EVENT: &str = "before_tool_call";

/// The example: no command may delete everything.
fn answer(payload: &str) -> Option<String> {
    let command = text(payload, "command")?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    if has(&["rm"]) && has(&["-rf", "-fr"]) && has(&["/", "/*", "~"]) {
        let reason = quoted("this would delete everything; name the folder that you mean");
        return Some(format!("{{\"blocked\": true, \"reason\": {reason}}}"));
    }
    None
}
