#!/usr/bin/env python3
"""Builds plugins for the marketplaces of other agents, in target/package/doors.

usage: packaging/doors/build.py TENTER OUT

A plugin has the registration that `tenter bridge install AGENT --project --shared` writes, and no program. It runs the copy of
`tenter-hook` in ~/.local/share/tenter/bin; where that is missing, it says at the start of a session how to get it.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

DESCRIPTION = "Your hooks and guards watch, block and rewrite what the agent does."
MISSING = "Hooks of Tenter do not run: install Tenter, then run `tenter bridge renew` in a terminal."
PROGRAM = "$HOME/.local/share/tenter/bin/tenter-hook"

# Agent: the file of its shared registration, and the plugin's manifest.
PLUGINS = {
    "claude-code": (".claude/settings.json", ".claude-plugin/plugin.json"),
    "codex": (".codex/hooks.json", ".codex-plugin/plugin.json"),
    "gemini": (".gemini/settings.json", "gemini-extension.json"),
    "opencode": (".opencode/plugin/tenter.js", "package.json"),
}


def registration(tenter, agent, path):
    """The text of the shared registration, written in an empty project by a user who has no agent."""
    with tempfile.TemporaryDirectory() as scratch:
        project = os.path.join(scratch, "project")
        os.mkdir(project)
        environment = {"HOME": scratch, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        command = [tenter, "bridge", "install", agent, "--project", "--shared", "--yes"]
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("cannot register for %s: %s" % (agent, done.stderr))
        with open(os.path.join(project, path)) as file:
            return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def hooks_file(text):
    """The hooks of a registration, and one that says that the program is missing."""
    hooks = json.loads(text)["hooks"]
    say = "[ -x \"%s\" ] || echo '%s'" % (PROGRAM, json.dumps({"systemMessage": MISSING}))
    start = hooks["SessionStart"][0]["hooks"]
    start.append({"type": "command", "command": say, "timeout": start[0]["timeout"]})
    return json.dumps({"hooks": hooks}, indent=2) + "\n"


def javascript(text):
    """The plugin of a registration, which also says that the program is missing."""
    start = "\nif (!isInstalled()) console.error(%s)\n" % json.dumps(MISSING)
    return text.rstrip("\n") + "\n" + start


def build(tenter, version, agent, out):
    path, manifest_path = PLUGINS[agent]
    text = registration(tenter, agent, path)
    place = os.path.join(out, agent)
    shutil.rmtree(place, ignore_errors=True)
    manifest = {"name": "tenter", "version": version, "description": DESCRIPTION, "license": "MIT OR Apache-2.0"}
    if agent == "opencode":
        manifest.update({"name": "opencode-tenter", "type": "module", "main": "tenter.js", "files": ["tenter.js"]})
        write(os.path.join(place, "tenter.js"), javascript(text))
    else:
        write(os.path.join(place, "hooks/hooks.json"), hooks_file(text))
    write(os.path.join(place, manifest_path), json.dumps(manifest, indent=2) + "\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tenter, out = map(os.path.abspath, sys.argv[1:])
    words = subprocess.run([tenter, "--version"], check=True, capture_output=True, text=True).stdout.split()
    for agent in PLUGINS:
        build(tenter, words[1], agent, out)
    claude_code = {
        "name": "tenter",
        "owner": {"name": "Tenter"},
        "plugins": [{"name": "tenter", "source": "./claude-code", "description": DESCRIPTION, "version": words[1]}],
    }
    codex = {
        "name": "tenter",
        "interface": {"displayName": "Tenter"},
        "plugins": [{
            "name": "tenter",
            "source": {"source": "local", "path": "./codex"},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
            "category": "Developer Tools",
        }],
    }
    for path, marketplace in ((".claude-plugin/marketplace.json", claude_code), (".agents/plugins/marketplace.json", codex)):
        write(os.path.join(out, path), json.dumps(marketplace, indent=2) + "\n")
    print("wrote %s" % out)


if __name__ == "__main__":
    main()
