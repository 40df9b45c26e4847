#!/usr/bin/env python3
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
import sys

# Python looks for modules beside this file first. Only this file is trusted, so it takes none from there.
del sys.path[0]

import json


def answer(payload):
    """What it has to say, for example: return {"additional_context": "It is Friday."}"""
    return None


if sys.argv[1:] == ["hook"]:
    print("@EVENT@")
elif sys.argv[1:] == ["run"]:
    reply = answer(json.load(sys.stdin.buffer))
    if reply is not None:
        print(json.dumps(reply))
