"""Prints the licences of every crate that is part of Tenter's programs.

Reads the resolved dependencies from `cargo metadata` and the licence files from the sources of the crates. Fails if a
crate has neither a licence file nor a licence expression.
"""

import json
import pathlib
import subprocess
import sys

NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def metadata():
    host = next(line.split()[1] for line in output("rustc", "-vV").splitlines() if line.startswith("host: "))
    return json.loads(output("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host))


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(data, roots):
    """Returns the ids of the packages that `roots` link: no build scripts, no tests."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    ids = {package["id"] for package in data["packages"] if package["name"] in roots}
    pending = list(ids)
    while pending:
        for dependency in nodes[pending.pop()]["deps"]:
            is_normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_normal and dependency["pkg"] not in ids:
                ids.add(dependency["pkg"])
                pending.append(dependency["pkg"])
    return ids


def files(package):
    directory = pathlib.Path(package["manifest_path"]).parent
    return sorted(file for file in directory.iterdir() if file.is_file() and file.name.upper().startswith(NAMES))


def main():
    data = metadata()
    ids = linked(data, {"tenter", "tenter-hook"})
    foreign = [p for p in data["packages"] if p["id"] in ids and p["source"] is not None]
    for package in sorted(foreign, key=lambda package: (package["name"], package["version"])):
        texts = files(package)
        if not texts and not package["license"]:
            sys.exit(f"{package['name']} {package['version']} has no licence")
        print(f"{'=' * 80}\n{package['name']} {package['version']}: {package['license'] or 'see below'}")
        for author in package["authors"]:
            print(f"  {author}")
        for file in texts:
            print(f"\n--- {file.name}\n")
            print(file.read_text(errors="replace").strip())
        print()


main()
