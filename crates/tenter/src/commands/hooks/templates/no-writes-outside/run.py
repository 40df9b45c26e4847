#!/usr/bin/env python3
# @include about
import json
import os
import re
import sys

PROJECT = os.environ.get("TENTER_PROJECT_DIR") or os.getcwd()
# Directories outside the project that may be written to. Adapt the list to your project.
ALLOWED = [os.environ.get("TMPDIR", "/tmp")]
DEVICES = r"/dev/(null|zero|full|stdin|stdout|stderr|tty|fd/\d+)$"
# Programs that write all of their operands, and programs that write the last one.
WRITES_ALL = {"mkdir", "mv", "rm", "rmdir", "shred", "tee", "touch", "truncate", "unlink"}
WRITES_LAST = {"cp", "install", "ln", "rsync"}
WRITES_AFTER_FIRST = {"chgrp", "chmod", "chown", "sed"}
# The options of programs whose values are written to: short (also bundled) and long.
COPY = (r"-[abCdDfHilLnPpRrsTuvxZ]*t(.*)", "--target-directory")
OUTPUT_OPTIONS = {
    "cp": COPY, "install": COPY, "ln": COPY, "mv": COPY,
    "curl": (r"-[#:0-46aBfgGiIjJklLMnNOpqRsSvVZ]*o(.*)", "--output"),
    "wget": (r"-[46bcdEFhHkKLmnNpqrSvVx]*O(.*)", "--output-document"),
}

# @include call


# @include shell


def written_values(program, arguments):
    """Returns the values of options that are written to."""
    if program not in OUTPUT_OPTIONS:
        return []
    short, long = OUTPUT_OPTIONS[program]
    values = []
    for index, word in enumerate(arguments):
        bundle = re.fullmatch(short, word, re.DOTALL)
        if word.startswith(long + "="):
            values.append(word[len(long) + 1:])
        elif bundle and bundle[1]:
            values.append(bundle[1])
        elif bundle or word == long:
            values += arguments[index + 1:index + 2]
    return values


def written(command):
    """Returns the paths that a command writes to, as far as its text shows them."""
    paths = list(command.writes)
    call = command.call(WRITES_ALL | WRITES_LAST | WRITES_AFTER_FIRST | {"dd", "curl", "wget"})
    if not call:
        return paths
    program, arguments = call[0].rsplit("/", 1)[-1], call[1:]
    named = operands(arguments)
    if program in WRITES_ALL:
        paths += named
    elif program in WRITES_LAST:
        paths += named[-1:] if len(named) > 1 else []
    elif program == "sed":
        in_place = has_flag(arguments, "i", "--in-place")
        paths += (named if has_flag(arguments, "e", "--expression") else named[1:]) if in_place else []
    elif program in WRITES_AFTER_FIRST:
        paths += named[1:]
    elif program == "dd":
        paths += [word[3:] for word in arguments if word.startswith("of=")]
    paths += written_values(program, arguments)
    return [path for path in paths if path != "-" and not (program == "rsync" and ":" in path)]


def is_allowed(path):
    roots = [os.path.realpath(root) for root in [PROJECT, *ALLOWED]]
    return re.match(DEVICES, path) or any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


given, cwd = read_call()
paths = [(given[key], cwd) for key in ("file_path", "path", "notebook_path") if key in given]
for command in commands(given.get("command", ""), cwd):
    paths += [(path, command.cwd) for path in written(command)]
for path, base in paths:
    target = path if re.match(DEVICES, path) else resolved(path, base)
    if target and not is_allowed(target):
        print(f"{path} is outside the project: write to a file of the project, or ask the user", file=sys.stderr)
        sys.exit(2)
