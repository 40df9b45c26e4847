#!/usr/bin/env python3
# @include about
import itertools
import json
import os
import re
import sys

# Commands that publish: the program and its subcommands. Adapt the list to your project.
PUBLISHES = {
    "cargo": ["publish"],
    "docker": ["push", "image push"],
    "gem": ["push"],
    "gh": ["gist create", "issue create", "pr create", "pr merge", "release create", "repo create"],
    "git": ["push"],
    "helm": ["push"],
    "mvn": ["deploy", "clean deploy"],
    "npm": ["publish"],
    "pnpm": ["publish"],
    "podman": ["push"],
    "poetry": ["publish"],
    "twine": ["upload"],
    "uv": ["publish"],
    "yarn": ["publish", "npm publish"],
}

# @include call


# @include shell


def published(command):
    """Returns how the command publishes, such as `npm publish`; None if it does not."""
    if {"--dry-run", "--help"} & set(command.words):
        return None
    for program, subcommands in PUBLISHES.items():
        arguments = git_call(command) if program == "git" else command.call({program})[1:]
        if program == "git" and any(re.fullmatch("-[dfquv46]*n[dfnquv46]*", word) for word in arguments):
            continue  # `git push -n` is a dry run
        words = list(itertools.dropwhile(lambda word: word[:1] in ("-", "+"), arguments))
        # The first option may have a value: `npm --prefix web publish`.
        starts = [words, words[1:]] if len(words) < len(arguments) else [words]
        for subcommand in subcommands:
            parts = subcommand.split(" ")
            if any(start[:len(parts)] == parts for start in starts):
                return f"{program} {subcommand}"
    module = command.call({"python", "python3"})
    return "twine upload" if module[1:4] == ["-m", "twine", "upload"] else None


given, cwd = read_call()
for command in commands(given.get("command", ""), cwd):
    what = published(command)
    if what:
        print(json.dumps({"decision": "ask", "reason": f"`{what}` publishes your work"}))
        break
