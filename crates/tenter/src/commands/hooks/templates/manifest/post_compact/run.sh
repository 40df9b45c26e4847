# The example: a summary that saves less than half is recorded.
before=$(number tokens_before)
after=$(number tokens_after)
if [ $((${after:-0} * 2)) -gt "${before:-0}" ]; then
    echo '{"log": "the summary saved less than half"}'
fi
