#!/usr/bin/env python3
"""Packs a Go module as a module proxy serves it: a zip of the committed files, each under MODULE@VERSION/.

    packaging/go_module.py FOLDER VERSION OUTPUT

The same files give the same bytes: names in order, one time, stored by their contents alone.
"""

import pathlib
import re
import subprocess
import sys
import zipfile


def main() -> None:
    """Files that git does not know are left out, so that a build's own files never get in."""
    folder, version, output = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    module = re.search(r"^module (\S+)$", (folder / "go.mod").read_text("utf-8"), re.MULTILINE)[1]
    listed = subprocess.run(["git", "ls-files", "-z", "--", "."], cwd=folder, capture_output=True, text=True,
                            check=True).stdout.split("\0")
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(filter(None, listed)):
            entry = zipfile.ZipInfo(f"{module}@{version}/{name}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, (folder / name).read_bytes())
        licence = zipfile.ZipInfo(f"{module}@{version}/LICENSE", (1980, 1, 1, 0, 0, 0))
        if "LICENSE" not in listed:
            packed.writestr(licence, pathlib.Path("LICENSE").read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
