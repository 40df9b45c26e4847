#!/usr/bin/env python3
# @include about
import json
import sys

event = json.load(sys.stdin.buffer)

# Read a field, for example: event["session_id"]
# Reply, for example: print("not on a Friday", file=sys.stderr); sys.exit(2), or with a JSON object: print(json.dumps({"log": "seen"}))
