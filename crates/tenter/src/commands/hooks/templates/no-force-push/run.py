#!/usr/bin/env python3
# @include about
import json
import os
import re
import sys

# @include call


# @include shell


def is_forced(arguments):
    """Whether the arguments of `git push` overwrite a branch: --force, -f, --mirror or +branch."""
    takes_value = {"-o", "--push-option", "--repo", "--receive-pack", "--exec"}
    words = iter(arguments)
    for word in words:
        if word in takes_value:
            next(words, None)
        elif word == "--force" or (word.startswith("--m") and "--mirror".startswith(word)):
            return True
        elif re.match(r"-[A-Za-z0-9]*f", word) and "o" not in word[:word.index("f")]:
            return True
        elif word.startswith("+"):
            return True
    return False


given, cwd = read_call()
for command in commands(given.get("command", ""), cwd):
    call = git_call(command)
    if call[:1] in (["push"], ["send-pack"]) and is_forced(call[1:]):
        print("a force push overwrites commits that others may have: push new commits, or ask the user", file=sys.stderr)
        sys.exit(2)
