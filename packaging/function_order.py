#!/usr/bin/env python3
"""Writes event.ld and commands.ld: the functions that tenter-hook runs for an event, and tenter for short commands, so that the linker puts
them together.

    CARGO_PROFILE_RELEASE_STRIP=none packaging/stage.sh
    packaging/function_order.py target/release/tenter-hook target/release/tenter

A system maps a program's code in pieces of 64 KiB when they are first used, and without this an event would use nearly all of them. The
programs run step by step: for a call without hooks, with a hook that runs, with all guards for calls that no rule can fit and for one that
needs the rules, and for commands in a project with hooks. The names are without hashes, so that the lists stay useful when code changes; a name that no longer exists
has no effect. It needs Linux on x86-64, and takes some minutes.
"""

import bisect
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

TRACEME, PEEKUSER, SINGLESTEP, SETOPTIONS = 0, 3, 9, 0x4200
RIP = 16 * 8
TRACE_CLONE, WALL = 8, 0x40000000
CALLS = ["ls -la", "git status && cargo test", "rm src/old.rs", "cat .env"]
COMMANDS = [
    ["hooks", "list"],
    ["hooks", "explain", "--event", "before_tool_call", "--tool", "bash"],
    ["check", "git status"],
    ["log", "-n", "20", "--no-pager"],
]
HERE = pathlib.Path(__file__).parent
GUARDS = "crates/hooks/tenter-commands/src/guard/shipped"
MANIFEST = """\
---
name: {name}
description: Keeps files that are generated from being written by hand.
trigger: before_tool
matcher:
  tool: "^(WriteFile|file_edit)$"
---
"""


def main():
    hook, tenter = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        write("event", "tenter-hook runs for an event", hook, events(hook, tenter, scratch))
        write("commands", "tenter runs for short commands", tenter, commands(tenter, scratch))


def write(name, what, program, runs):
    """Writes the functions of these runs, each of which has a line, a file as its input, and an environment."""
    symbols, order = read_symbols(program), {}
    for line, stdin, environment in runs:
        for _ in range(3):
            subprocess.run(line, stdin=open(stdin), env=environment, check=True, stdout=subprocess.DEVNULL)
        for address in executed(line, stdin, environment):
            order.setdefault(function(symbols, address))
    names = dict.fromkeys(filter(None, map(pattern, filter(None, order))))
    lines = "".join(f"        *(.text*{name})\n" for name in names)
    comment = f"/* Written by function_order.py: the functions that {what}. */"
    script = f"SECTIONS\n{{\n    .text.{name} :\n    {{\n{lines}    }}\n}}\nINSERT BEFORE .text;\n"
    (HERE / f"{name}.ld").write_text(f"{comment}\n{script}")


def events(program, tenter, scratch):
    bare, running, guarded = scratch / "bare", scratch / "running", scratch / "guarded"
    for home in bare, running, guarded:
        (home / "project").mkdir(parents=True)
    add_executable(running / "project/.agents/hooks")
    trust(tenter, running, running / "project")
    for guard in sorted((HERE.parent / GUARDS).glob("*.md")):
        # The other hooks that Tenter contains.
        if "ready_made:" not in guard.read_text():
            add_hook(guarded / ".config/agents/hooks" / guard.stem, guard.read_text())
    # A file that changed a moment ago is not relied on.
    time.sleep(3)
    for home, text in [(bare, CALLS[0]), (running, CALLS[0]), *((guarded, text) for text in CALLS)]:
        line = [program, "claude-code", "PreToolUse", "--home", str(home)]
        yield line, payload(home, text), environment(home)


def commands(program, scratch):
    home, project = scratch / "home", scratch / "home/project"
    (project / ".git").mkdir(parents=True)
    for name in "first", "second", "third":
        hook = project / ".agents/hooks" / name
        add_hook(hook, MANIFEST.format(name=name))
        (hook / "scripts").mkdir()
        script = hook / "scripts/run.sh"
        script.write_text("#!/bin/sh\ncat >/dev/null\n")
        script.chmod(0o755)
    add_executable(project / ".agents/hooks")
    trust(program, home, project)
    time.sleep(3)
    for line in COMMANDS:
        yield [program, *line, "--project", str(project)], os.devnull, environment(home)


def environment(home):
    return {"HOME": str(home), "PATH": os.environ["PATH"]}


def trust(tenter, home, project):
    subprocess.run([tenter, "trust", "--yes", "--project", project], env=environment(home), check=True, capture_output=True)


def add_executable(directory):
    directory.mkdir(parents=True, exist_ok=True)
    hook = directory / "executable"
    hook.write_text("#!/bin/sh\nif [ \"$1\" = hook ]; then echo before_tool_call; fi\n")
    hook.chmod(0o755)


def add_hook(directory, manifest):
    directory.mkdir(parents=True)
    (directory / "HOOK.md").write_text(manifest)


def payload(home, text):
    file = home / "payload.json"
    fields = {"session_id": "01a20060-e872-73af-9a25-ba7a128ce65f", "cwd": str(home / "project")}
    call = {"tool_name": "Bash", "tool_input": {"command": text}, "tool_use_id": "toolu_1"}
    file.write_text(json.dumps({**fields, "hook_event_name": "PreToolUse", **call}))
    return file


def read_symbols(program):
    """Returns the functions of a program: their addresses, and their names."""
    text = subprocess.run(["nm", "-n", program], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in text.splitlines()]
    functions = [row for row in fields if len(row) == 3 and row[1] in "tTwW"]
    return [int(row[0], 16) for row in functions], [row[2] for row in functions]


def function(symbols, address):
    addresses, names = symbols
    place = bisect.bisect_right(addresses, address)
    return names[place - 1] if place else None


def pattern(name):
    """Returns the name of a Rust function without hashes, as a pattern of the linker; None for others."""
    if not name.startswith("_R"):
        return None
    name = re.sub(r"\.(llvm\.)?\d+$", "*", name)
    # The hash of a crate, and references to places in the name, which the length of a hash moves.
    name = re.sub(r"B[0-9A-Za-z]*_", "B*_", re.sub(r"Cs[0-9A-Za-z]+_(?=\d)", "Cs*_", name))
    # The crate that a function with types is compiled for, at the end: equal functions of several crates are one.
    *_, crate = [None, *re.finditer(r"Cs\*_(\d+)_?", name)]
    if crate and len(name) - crate.end() == int(crate[1]):
        name = name[: crate.start()] + "*"
    return name[: -len("B*_")] + "*" if name.endswith("B*_") else name


def executed(words, stdin, environment):
    """Runs a program step by step. Returns the addresses of its instructions, in the order of their first use."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    child = os.fork()
    if child == 0:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        libc.ptrace(TRACEME, 0, None, None)
        os.execve(words[0], words, environment)
    os.waitpid(child, 0)
    libc.ptrace(SETOPTIONS, child, None, TRACE_CLONE)
    libc.ptrace(SINGLESTEP, child, None, None)
    addresses = {}
    while True:
        process, status = os.waitpid(-1, WALL)
        if not os.WIFSTOPPED(status):
            if process == child:
                return addresses
            continue
        addresses.setdefault(libc.ptrace(PEEKUSER, process, RIP, None))
        libc.ptrace(SINGLESTEP, process, None, None)


main()
