#!/usr/bin/env python3
# @include about
import json
import os
import re
import shutil
import subprocess
import sys

PROJECT = os.path.realpath(os.environ.get("TENTER_PROJECT_DIR") or os.getcwd())
WEB = "js mjs cjs jsx ts tsx css html json yaml yml md".split()


def formatter(path):
    """The formatter of a file. It reads stdin, so a file name is never parsed as an option. Adapt it to your project."""
    kind = os.path.splitext(path)[1][1:]
    if kind == "rs":
        return ["rustfmt", "--edition", edition()]
    if kind == "py":
        return ["ruff", "format", "--stdin-filename", path, "-"] if shutil.which("ruff") else ["black", "-q", "-"]
    if kind in WEB:
        return ["prettier", "--stdin-filepath", path]
    return {"go": ["gofmt"], "sh": ["shfmt"], "bash": ["shfmt"]}.get(kind)


def edition():
    try:
        with open(os.path.join(PROJECT, "Cargo.toml"), encoding="utf-8") as manifest:
            found = re.search(r'^edition *= *"(\d+)"', manifest.read(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else "2021"


def reply(text):
    """Adds text for the model."""
    print(json.dumps({"additional_context": text}))
    sys.exit(0)


event = json.load(sys.stdin.buffer)
shown = event["tool_input"].get("file_path") or event["tool_input"].get("path") or ""
path = os.path.realpath(os.path.join(event["work_dir"], shown))
# A symlink may lead out of the project.
if not shown or not path.startswith(PROJECT + "/") or not os.path.isfile(path):
    sys.exit(0)
command = formatter(path)
if not command or not shutil.which(command[0]):
    sys.exit(0)
with open(path, "rb") as file:
    text = file.read()
done = subprocess.run(command, input=text, capture_output=True)
if done.returncode != 0:
    reply(f"{command[0]} cannot format {shown}: {done.stderr.decode(errors='replace')[:2000]}")
if done.stdout and done.stdout != text:
    with open(path, "wb") as file:
        file.write(done.stdout)
    reply(f"{command[0]} changed {shown}: read it again before you edit it")
