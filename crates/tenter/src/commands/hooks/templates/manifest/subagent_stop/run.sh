# The example: a subagent that says nothing has done nothing.
if [ -z "$(text response)" ]; then
    block "The subagent said nothing. Do its task yourself."
fi
