#!/usr/bin/env bash
# Tenter runs this file in the project's directory, in two ways:
#   FILE hook    prints the event that it subscribes to
#   FILE run     reads a payload on stdin, one line of JSON, and prints its reply: one JSON object, or nothing
# An exit code other than 0, or other text on stdout, is a failure: the agent shows a warning, and blocks if the
# configuration has `fail = "closed"`. stderr is written to the journal: `tenter log`. Keep logs and other files in
# the directory $TENTER_HOOK_STATE.
#
# Test changes with `tenter hooks test @NAME@`.
#
@FIELDS@
case ${1:-} in
    hook) echo @EVENT@ ;;
    run)
        payload=$(cat)
        # Reply, for example: echo '{"additional_context": "It is Friday."}'
        ;;
esac
