
# At after_tool_call: a tool ran, or failed, or was blocked. The payload's fields:
#   tool_name       "bash", "file_write", "file_edit", ...
#   tool_input      the tool's input, an object
#   tool_output     what came of it: {"toolName": "bash", "success": true, "metadataType": "bash",
#                   "metadata": {"command": "ls -la", "exitCode": 0, "output": "..."}, "timestamp": "..."},
#                   and "error": "..." where it failed
#   tool_user_id    the call's id
#   conv_id         the conversation
#   cwd             the agent's working folder
#   invoked_by      "main" or "subagent"
#   timestamp       RFC 3339 in UTC
#
# The answers:
#   nothing, or {}                          no action
#   {"output": {"metadata": {...}}}         the model reads this output instead; fields left out stay as they are, but
#                                           "metadata" is replaced as a whole
#   {"output": {"success": false, "error": "..."}}    the model is told that it failed
#   {"additional_context": "..."}           the model reads this besides
# What was done stays done: only what is read of it changes.
event=after_tool_call

# The example: the model does not get to read access keys.
answer() {
    # The field after tool_output is tool_user_id, and quotes inside of texts are escaped: this is the whole object.
    output=$(printf '%s\n' "$payload" | sed -nE 's/.*"tool_output": (\{.*\}), "tool_user_id": .*/\1/p')
    redacted=$(printf '%s\n' "$output" | sed -E 's/AKIA[0-9A-Z]{16}/[redacted]/g')
    if [ "$redacted" != "$output" ]; then
        printf '{"output": %s}\n' "$redacted"
    fi
}
