#!/usr/bin/env python3
"""Writes event.ld: the functions that tenter-hook runs for an event, so that the linker puts them together.

    CARGO_PROFILE_RELEASE_STRIP=none cargo build --release -p tenter-hook
    packaging/event_order.py target/release/tenter-hook

A system maps a program's code in pieces of 64 KiB when they are first used, and without this an event would use nearly all of them. The
program runs step by step for a call without hooks, and with all guards for calls that no rule can fit and for one that needs the rules. The names are without hashes, so that the list stays useful
when code changes; a name that no longer exists has no effect. It needs Linux on x86-64, and takes some minutes.
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
COMMANDS = ["ls -la", "git status && cargo test", "rm src/old.rs", "cat .env"]
GUARDS = "crates/hooks/tenter-commands/src/guard/shipped"


def main():
    program = os.path.abspath(sys.argv[1])
    here = pathlib.Path(__file__).parent
    symbols = read_symbols(program)
    order = {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        bare, guarded = scratch / "bare", scratch / "guarded"
        for home in bare, guarded:
            (home / "project").mkdir(parents=True)
        for guard in sorted((here.parent / GUARDS).glob("*.md")):
            # The other hooks that Tenter contains.
            if "ready_made:" in guard.read_text():
                continue
            hook = guarded / ".config/agents/hooks" / guard.stem
            hook.mkdir(parents=True)
            (hook / "HOOK.md").write_bytes(guard.read_bytes())
        # A file that changed a moment ago is not relied on.
        time.sleep(3)
        for home, text in [(bare, COMMANDS[0]), *((guarded, text) for text in COMMANDS)]:
            call = payload(home, text)
            for _ in range(3):
                subprocess.run(command(program, home), stdin=open(call), check=True, stdout=subprocess.DEVNULL)
            for address in executed(command(program, home), call):
                order.setdefault(function(symbols, address))
    names = dict.fromkeys(filter(None, map(pattern, filter(None, order))))
    lines = "".join(f"        *(.text*{name})\n" for name in names)
    comment = "/* Written by event_order.py: the functions that tenter-hook runs for an event. */"
    script = f"SECTIONS\n{{\n    .text.event :\n    {{\n{lines}    }}\n}}\nINSERT BEFORE .text;\n"
    (here / "event.ld").write_text(f"{comment}\n{script}")


def command(program, home):
    return [program, "claude-code", "PreToolUse", "--home", str(home)]


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
    if name.startswith("_ZN"):
        return re.sub(r"17h[0-9a-f]{16}E.*", "17h*", name)
    return re.sub(r"Cs[0-9A-Za-z]+_(?=\d)", "Cs*_", name) if name.startswith("_R") else None


def executed(words, stdin):
    """Runs a program step by step. Returns the addresses of its instructions, in the order of their first use."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    child = os.fork()
    if child == 0:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        libc.ptrace(TRACEME, 0, None, None)
        os.execv(words[0], words)
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
