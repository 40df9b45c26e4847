#!/usr/bin/env python3
"""Removes AWS keys from tool output before the model, the store and the log get it."""
import json
import re
import sys

KEY = re.compile(r"AKIA[0-9A-Z]{16}")


def clean(value):
    if isinstance(value, str):
        return KEY.sub("[removed by 30-redact]", value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {name: clean(item) for name, item in value.items()}
    return value


if sys.argv[1] == "hook":
    print("after_tool_call")
elif sys.argv[1] == "run":
    output = json.load(sys.stdin)["tool_output"]
    if clean(output) != output:
        print(json.dumps({"output": clean(output)}))
