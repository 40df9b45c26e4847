
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
event=before_tool_call

# The example: no command may delete everything.
answer() {
    case $(text command) in
        *'rm -rf /' | *'rm -rf / '* | *'rm -rf /*'* | *'rm -rf ~' | *'rm -rf ~ '*)
            echo '{"blocked": true, "reason": "this would delete everything; name the folder that you mean"}'
            ;;
    esac
}
