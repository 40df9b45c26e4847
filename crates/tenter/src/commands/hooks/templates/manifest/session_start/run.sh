# The example: where nobody sits at a terminal, the model is told not to ask.
if [ "$(text ui)" = headless ]; then
    echo '{"additional_context": "Nobody can answer questions: decide, and say what you decided."}'
fi
