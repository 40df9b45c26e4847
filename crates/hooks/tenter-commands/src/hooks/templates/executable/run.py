#!/usr/bin/env python3
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
import sys

# Python looks for modules in this file's directory first. Only this file is trusted, so load none from there.
del sys.path[0]

import json


def reply_to(payload):
    """Returns the reply, for example {"additional_context": "It is Friday."}; None for no reply."""
    return None


if sys.argv[1:] == ["hook"]:
    print("@EVENT@")
elif sys.argv[1:] == ["run"]:
    reply = reply_to(json.load(sys.stdin.buffer))
    if reply is not None:
        print(json.dumps(reply))
