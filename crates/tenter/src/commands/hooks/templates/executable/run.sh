#!/usr/bin/env bash
# Tenter starts this file in the project's directory, in two ways:
#   FILE hook    it prints the event that it is for
#   FILE run     it reads a payload on stdin, one line of JSON, and prints its answer: one JSON object, or nothing
# Another exit code than 0, or other text on stdout, is a failure of the hook: the agent warns, and blocks where the
# configuration says `fail = "closed"`. stderr goes to the journal: `tenter log`. Logs and other files of its own belong in
# the directory $TENTER_HOOK_STATE.
#
# Try a change with `tenter hooks test @NAME@`.
#
@FIELDS@
case ${1:-} in
    hook) echo @EVENT@ ;;
    run)
        payload=$(cat)
        # What it has to say, for example: echo '{"additional_context": "It is Friday."}'
        ;;
esac
