# The example: the model does not get to read access keys.
# tool_output is the last field, and quotes inside of texts are escaped: this is the whole object.
output=$(printf '%s\n' "$event" | sed -nE 's/.*"tool_output": (\{.*\})\}$/\1/p')
redacted=$(printf '%s\n' "$output" | sed -E 's/AKIA[0-9A-Z]{16}/[redacted]/g')
if [ "$redacted" != "$output" ]; then
    printf '{"modified_output": %s}\n' "$redacted"
fi
