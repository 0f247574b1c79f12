#!/usr/bin/env python3
"""Checks that who uses the engine compiles without seeing how it works inside.

No file of service/, client/, cache/, memory/ or local/ may see a header of the engine's inner rooms
(HIDDEN in check_layers.py), whether it includes the header itself or one that leads there. So a
change within those rooms touches nothing above grammar_core/matcher, and a test of the service
needs none of their words.

    tools/dev/check_hidden_headers.py [ROOT]

Exit status: 0, or 1 with one line a file, "FILE: sees HEADER, by way of A, B".
"""

import pathlib
import sys

import check_layers

# First folders.
USERS = {"service", "client", "cache", "memory", "local"}


def includes_of(root: pathlib.Path, path: str, known: dict) -> list:
    """The files of the repository that `path` includes, in their order."""
    if path not in known:
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        found = [match.group(2) for match in map(check_layers.INCLUDE.match, lines) if match]
        known[path] = [header for header in found if (root / header).is_file()]
    return known[path]


def way_to_hidden(root: pathlib.Path, path: str, known: dict) -> list:
    """The shortest chain of headers from `path` to a hidden one, that one last; or nothing."""
    chains, seen = [[path]], {path}
    for chain in chains:  # which grows: breadth first
        for header in includes_of(root, chain[-1], known):
            if check_layers.room_of(header) in check_layers.HIDDEN:
                return chain[1:] + [header]
            if header not in seen:
                seen.add(header)
                chains.append(chain + [header])
    return []


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    paths = [path for path in check_layers.sources(root) if path.split("/")[0] in USERS]
    known, findings = {}, 0
    for path in paths:
        way = way_to_hidden(root, path, known)
        if way:
            findings += 1
            by = f", by way of {', '.join(way[:-1])}" if len(way) > 1 else ""
            print(f"{path}: sees {way[-1]}{by}")
    print(f"hidden headers: {len(paths)} files, {findings} findings")
    return 1 if findings or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
