# The example: a summary that nobody asked for keeps what was decided.
if [ "$(text trigger)" = auto ]; then
    echo '{"additional_context": "Keep every decision and the names of all changed files."}'
fi
