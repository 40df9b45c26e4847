#!/usr/bin/env python3
# @include about
import itertools
import json
import os
import re
import sys

PROJECT = os.path.realpath(os.environ.get("TENTER_PROJECT_DIR") or os.getcwd())
HOME = os.path.realpath(os.environ.get("HOME", "/"))
SYSTEM = r"/((bin|boot|dev(?!/shm/)|etc|lib|lib32|lib64|proc|sbin|sys|usr|System|Library|Applications)(/|$)|(home|opt|root|srv|var|Users)$)"
FILE_SYSTEMS = ["btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fat", "msdos", "ntfs", "vfat", "xfs"]
DISK = r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|mapper/|dm-)"

# @include call


# @include shell


def holds(directory, path):
    """Whether `directory` is `path` or a parent of it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def is_vital(path, cwd, project_too=True):
    """Whether the path is a system directory, the home directory, the project, or a parent of one of them."""
    if re.fullmatch(r"\$\{?\w+\}?/\*?", path):
        return True  # `$DIR/` is `/` where DIR is empty
    if re.fullmatch(r"~[A-Za-z_][\w.-]*/?\*?", path):
        return True  # the home directory of a user
    path = re.sub(r"(^|/)(\.?\*|\.\[!?\^?\.\]\*)$", r"\1.", path)
    path = resolved(path, cwd)
    if path is None:
        return False
    if project_too and (holds(path, PROJECT) or path == PROJECT + "/.git"):
        return True
    is_above_project = path != PROJECT and holds(path, PROJECT)
    return is_above_project or holds(path, HOME) or bool(re.match(SYSTEM, path))


def deletes(command):
    """Returns a path that the command would destroy and must not."""
    paths = []
    call = command.call({"rm"})
    if has_flag(call[1:], "rR", "--recursive"):
        paths += ["/"] if "--no-preserve-root" in call else operands(call[1:])
    call = command.call({"find"})
    if "-delete" in call or ("rm" in call and {"-exec", "-execdir"} & set(call)):
        starts = list(itertools.takewhile(lambda word: not word.startswith("-"), call[1:])) or ["."]
        is_unconditional = call[len(starts) + 1 if call[1] in starts else 1] in ("-delete", "-exec", "-execdir")
        paths += [path for path in starts if is_unconditional or is_vital(path, command.cwd, project_too=False)]
    vital = [path for path in paths if is_vital(path, command.cwd)]
    call = command.call({"chmod", "chown", "chgrp"})
    if has_flag(call[1:], "R", "--recursive"):
        vital += [path for path in operands(call[1:])[1:] if is_vital(path, command.cwd, project_too=False)]
    return vital[0] if vital else None


def overwrites_disk(command):
    formats = command.call({"mkfs", *(f"mkfs.{kind}" for kind in FILE_SYSTEMS)})
    call = command.call({"dd", "shred", "wipefs"})
    paths = [word[3:] if word.startswith("of=") else word for word in call[1:] if not word.startswith("if=")]
    return bool(formats) or any(re.match(DISK, path) for path in paths + command.writes)


def discards(command):
    """Returns the git command that discards uncommitted work."""
    call = git_call(command)
    if not call:
        return None
    name, arguments = call[0], call[1:]
    everything = {".", "./", ":/", ":", "*", "./*"} & set(operands(arguments))
    is_discarding = {
        "reset": "--hard" in arguments,
        "clean": has_flag(arguments, "f", "--force") and not has_flag(arguments, "n", "--dry-run"),
        "checkout": bool(everything) or has_flag(arguments, "f", "--force"),
        "restore": bool(everything) and (not has_flag(arguments, "S", "--staged") or has_flag(arguments, "W", "--worktree")),
        "switch": has_flag(arguments, "f", "--force", "--discard-changes"),
        "stash": arguments[:1] in (["drop"], ["clear"]),
    }
    return f"git {name}" if is_discarding.get(name) else None


given, cwd = read_call()
for command in commands(given.get("command", ""), cwd):
    path, discarding = deletes(command), discards(command)
    if path is not None:
        reason = f"this destroys {path}: name the files of the project that you mean"
    elif overwrites_disk(command):
        reason = "this overwrites a disk: leave it to the user"
    elif discarding:
        reason = f"this `{discarding}` discards uncommitted work: commit it first, or ask the user"
    else:
        continue
    print(reason, file=sys.stderr)
    sys.exit(2)
