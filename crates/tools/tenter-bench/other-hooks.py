#!/usr/bin/env python3
"""Times a guard against `rm -rf` in several forms, as an agent starts them before a tool call.

usage: other-hooks.py TENTER_HOOK [--rounds N] [--tool NAME=COMMAND_LINE]...

Each round starts every form once, so that other load affects all of them; a form must deny `rm -rf ~/` and let `ls` pass.
Prints a table in Markdown: the median and the fastest time from start to end, and the ratio of the medians to the first row.
`--tool` adds the hook of another tool, which must be installed: its name, and the command that Claude Code would run for it.
Works in a scratch directory, uses no network, and changes nothing else.
"""
import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON_GUARD = """\
import json, sys
command = json.load(sys.stdin)["tool_input"].get("command", "")
if "rm -rf" in command:
    print("rm -rf is not allowed", file=sys.stderr)
    sys.exit(2)
"""

JQ_GUARD = """\
command=$(jq -r '.tool_input.command // ""')
case $command in *'rm -rf'*) echo 'rm -rf is not allowed' >&2; exit 2 ;; esac
"""

NODE_GUARD = """\
let text = ""
process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => {
  const command = JSON.parse(text).tool_input.command ?? ""
  if (!command.includes("rm -rf")) return
  console.error("rm -rf is not allowed")
  process.exitCode = 2
})
"""

STATIC_HOOK = """\
---
name: no-delete
description: Blocks the deletion of whole directories.
trigger: before_tool
matcher:
  tool: ^Bash$
  pattern: rm -rf
metadata:
  action: deny
  reason: rm -rf is not allowed
---
"""


def payload(project, command):
    return json.dumps({
        "session_id": "s", "transcript_path": None, "cwd": project, "hook_event_name": "PreToolUse",
        "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": {"command": command, "description": "Run a command"},
    }).encode()


def forms(scratch, tenter_hook):
    """The forms that can be run here: a name and a command line each."""
    def file(name, text):
        path = os.path.join(scratch, name)
        with open(path, "w") as out:
            out.write(text)
        return path

    home = os.path.join(scratch, "home")
    hook = os.path.join(home, ".config/agents/hooks/no-delete")
    os.makedirs(hook)
    with open(os.path.join(hook, "HOOK.md"), "w") as out:
        out.write(STATIC_HOOK)
    tenter = [tenter_hook, "claude-code", "PreToolUse", "--home", home]
    yield "`tenter-hook` with a static hook", tenter
    if shutil.which("jq") and shutil.which("bash"):
        yield "a bash script with jq", ["bash", file("guard.sh", JQ_GUARD)]
    yield "a Python script", [sys.executable, file("guard.py", PYTHON_GUARD)]
    if shutil.which("node"):
        yield "a Node script", ["node", file("guard.js", NODE_GUARD)]


def run(command, text):
    """Runs a command; the time in milliseconds, and whether it denied."""
    start = time.perf_counter()
    done = subprocess.run(command, input=text, capture_output=True)
    took = (time.perf_counter() - start) * 1000
    return took, done.returncode == 2 or b'"deny"' in done.stdout


def tool(text):
    """A hook of another tool: its name and its command line."""
    name, equals, command = text.partition("=")
    if not equals or not command.strip():
        raise argparse.ArgumentTypeError("give NAME=COMMAND_LINE")
    return name, shlex.split(command)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tenter_hook", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--tool", type=tool, action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tenter-other-hooks-") as scratch:
        project = os.path.join(scratch, "project")
        os.mkdir(project)
        os.environ.update(HOME=os.path.join(scratch, "home"))
        allowed, denied = payload(project, "ls"), payload(project, "rm -rf ~/")
        candidates = [*forms(scratch, options.tenter_hook), *options.tool]
        for name, command in candidates:
            answers = run(command, allowed)[1], run(command, denied)[1]
            if answers != (False, True):
                sys.exit("%s does not guard: %r" % (name, answers))
        times = {name: [] for name, _ in candidates}
        for number in range(options.rounds):
            for name, command in candidates:
                times[name].append(run(command, denied if number % 2 else allowed)[0])
    first = statistics.median(times[candidates[0][0]])
    print("| form | median | fastest | ratio |\n| --- | --- | --- | --- |")
    for name, _ in candidates:
        median = statistics.median(times[name])
        print("| %s | %.1f ms | %.1f ms | %.1f |" % (name, median, min(times[name]), median / first))


if __name__ == "__main__":
    main()
