
# At before_tool_call: a tool is about to run. The payload's fields:
#   tool_name       "bash", "file_write", "file_edit", ...
#   tool_input      the tool's input, an object; of bash for instance {"command": "ls -la"}
#   tool_user_id    the call's id
#   conv_id         the conversation
#   cwd             the agent's working folder
#   invoked_by      "main" or "subagent"
#   timestamp       RFC 3339 in UTC
#
# The answers:
#   nothing, or {}                          no opinion
#   {"blocked": true, "reason": "..."}      the tool does not run, and the model reads the reason
#   {"blocked": false}                      this hook is fine with it; another may still block
#   {"input": {"command": "ls"}}            the tool runs with this input: the whole of it, not only what changes
#   {"additional_context": "..."}           the model reads this besides
EVENT = "before_tool_call"


def answer(payload):
    """The example: no command may delete everything."""
    words = payload["tool_input"].get("command", "").split()
    deletes = "rm" in words and any(word in ("-rf", "-fr") for word in words)
    if deletes and any(word in ("/", "/*", "~") for word in words):
        return {"blocked": True, "reason": "this would delete everything; name the folder that you mean"}
    return None
