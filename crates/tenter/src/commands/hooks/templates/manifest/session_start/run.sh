# The example: where one query is answered and nobody can be asked, the model is told not to ask.
if [ "$(text ui)" = run ]; then
    echo '{"additional_context": "Nobody can answer questions: decide, and say what you decided."}'
fi
