#!/usr/bin/env python3
# @include about
import json
import os
import re
import sys

FIELDS = ["command", "file_path", "path", "url", "pattern", "query", "question", "name"]

# @include secrets

event = json.load(sys.stdin.buffer)
texts = (event["tool_input"].get(field) for field in FIELDS)
line = {
    "timestamp": event["timestamp"],
    "session": event["session_id"],
    "event": event["event_type"],
    "tool": event["tool_name"],
    "input": next((text for text in texts if isinstance(text, str)), None),
}
os.umask(0o077)
state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
state_dir = os.environ.get("TENTER_HOOK_STATE") or os.path.join(state, "agent-hooks", "@NAME@")
os.makedirs(state_dir, exist_ok=True)
with open(os.path.join(state_dir, "audit.jsonl"), "a", encoding="utf-8") as log:
    log.write(json.dumps(redacted(line), ensure_ascii=False) + "\n")
