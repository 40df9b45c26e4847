#!/usr/bin/env python3
# @include about
import json
import os
import subprocess
import sys

# Do not start programs from the repository's own configuration.
GIT = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]


def git(*arguments):
    """Returns the output of git; empty if it fails."""
    done = subprocess.run([*GIT, *arguments], stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout.decode(errors="replace").rstrip("\n") if done.returncode == 0 else ""


json.load(sys.stdin.buffer)
os.chdir(os.environ.get("TENTER_PROJECT_DIR") or ".")
if not git("rev-parse", "--git-dir"):
    sys.exit(0)
context = ["Branch: " + (git("symbolic-ref", "--quiet", "--short", "HEAD") or "none")]
changed = git("status", "--short").split("\n")[:20]
if changed != [""]:
    context += ["Not committed:", *changed]
commits = git("log", "--no-show-signature", "--max-count=5", "--format=%h %s")
if commits:
    context += ["Last commits:", commits]
print(json.dumps({"additional_context": "\n".join(context)}))
