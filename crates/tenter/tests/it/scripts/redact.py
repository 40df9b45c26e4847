#!/usr/bin/env python3
import json
import re
import sys

if sys.argv[1] == "hook":
    print("after_tool_call")
else:
    output = json.dumps(json.load(sys.stdin)["tool_output"])
    redacted = re.sub(r"SECRETKEY-\d+", "[redacted]", output)
    if redacted != output:
        print(json.dumps({"output": json.loads(redacted)}))
