"""Writes a wheel of what packaging/stage.sh laid out: wheel.py VERSION PLATFORMS STAGE DIRECTORY.

The programs become scripts of the environment, and `share` is copied into it. The same stage gives the same bytes.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

METADATA = """\
Metadata-Version: 2.4
Name: tenter
Version: {version}
Summary: Lifecycle hooks for coding agents: guards that hold in Claude Code, Codex, Gemini CLI and others
Requires-Python: >=3.9
License-Expression: MIT OR Apache-2.0
{licences}
Description-Content-Type: text/markdown

{readme}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: tenter\nRoot-Is-Purelib: false\n"
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt")


def contents(stage, version, platforms):
    """Returns the path in the wheel, the bytes and the mode of each file."""
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms.split("."))
    data, info = f"tenter-{version}.data", f"tenter-{version}.dist-info"
    documents = stage / "share/doc/tenter"
    files = [(f"{data}/scripts/{file.name}", file.read_bytes(), 0o755) for file in sorted((stage / "bin").iterdir())]
    for file in sorted(file for file in (stage / "share").rglob("*") if file.is_file()):
        files.append((f"{data}/data/{file.relative_to(stage)}", file.read_bytes(), 0o644))
    files += [(f"{info}/licenses/{name}", (documents / name).read_bytes(), 0o644) for name in LICENCES]
    licences = "\n".join(f"License-File: {name}" for name in LICENCES)
    metadata = METADATA.format(version=version, licences=licences, readme=(documents / "README.md").read_text())
    files += [(f"{info}/METADATA", metadata.encode(), 0o644), (f"{info}/WHEEL", (WHEEL + tags).encode(), 0o644)]
    record = "".join(f"{path},sha256={digest(bytes_)},{len(bytes_)}\n" for path, bytes_, _ in files)
    path = f"{info}/RECORD"
    return [*files, (path, f"{record}{path},,\n".encode(), 0o644)]


def digest(bytes_):
    return base64.urlsafe_b64encode(hashlib.sha256(bytes_).digest()).rstrip(b"=").decode()


def main():
    version, platforms, stage, directory = sys.argv[1:]
    # A zip has no time before 1980.
    modified = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    wheel = pathlib.Path(directory, f"tenter-{version}-py3-none-{platforms}.whl")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, bytes_, mode in contents(pathlib.Path(stage), version, platforms):
            entry = zipfile.ZipInfo(path, modified)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
            archive.writestr(entry, bytes_)
    print(wheel)


main()
