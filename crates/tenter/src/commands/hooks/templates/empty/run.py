#!/usr/bin/env python3
# @include about
import json
import sys

event = json.load(sys.stdin.buffer)

# What the event says, for example: event["session_id"].
# What the hook answers, for example: sys.exit(2) with a reason on stderr, or a JSON object: print(json.dumps({"log": "seen"}))
