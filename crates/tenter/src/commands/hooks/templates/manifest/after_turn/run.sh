# The example: where the context is nearly full, the model is told to come to an end.
used=$(number current_context_window)
most=$(number max_context_window)
if [ "${most:-0}" -gt 0 ] && [ $((${used:-0} * 100 / most)) -ge 90 ]; then
    echo '{"additional_context": "The context is nearly full. Finish what you are at, and say what is left to do."}'
fi
