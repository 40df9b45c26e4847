
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
EVENT = "after_tool_call"


def answer(payload):
    """The example: the model does not get to read access keys."""
    output = json.dumps(payload["tool_output"])
    redacted = re.sub("AKIA[0-9A-Z]{16}", "[redacted]", output)
    if redacted != output:
        return {"output": json.loads(redacted)}
    return None
