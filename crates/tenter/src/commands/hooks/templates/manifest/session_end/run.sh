# The example: an error is recorded.
if [ "$(text exit_reason)" = error ]; then
    echo '{"log": "the session ended by an error"}'
fi
