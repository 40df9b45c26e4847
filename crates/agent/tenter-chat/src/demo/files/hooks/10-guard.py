#!/usr/bin/env python3
"""Blocks destructive commands. The model reads the reason and finds another way."""
import json
import sys

FORBIDDEN = ["rm -rf", "rm -fr", "sudo ", "mkfs"]

if sys.argv[1] == "hook":
    print("before_tool_call")
elif sys.argv[1] == "run":
    payload = json.load(sys.stdin)
    command = str(payload["tool_input"].get("command", ""))
    for forbidden in FORBIDDEN:
        if forbidden in command:
            reason = f"{forbidden.strip()} is not allowed here"
            print(json.dumps({"blocked": True, "reason": reason}))
            break
