#!/usr/bin/env python3
"""Checks that a test includes each header of the engine's rooms.

A header without a test of its own contract is seen through its users alone.

    tools/dev/check_tested_headers.py [ROOT]

Exit status: 0, or 1 with one line a finding, "FILE: what".
"""

import pathlib
import re
import sys

CORE = "grammar_core/"
ROOMS = [
    "terms",
    "intersection",
    "derivatives",
    "automaton",
    "mask_routes",
    "unique_items",
    "rows",
    "completion",
    "ir",
    "ir/facts",
    "base",
    "mask",
    "frontend/json_schema/reading",
    "frontend/json_schema/formats",
    "frontend/json_schema/logic",
    "frontend/json_schema/rules",
    "ir/number",
    "ir/passes",
    "matcher",
    "compile",
]

INCLUDE = re.compile(r'^\s*#include "(grammar_core/[^"]+)"', re.MULTILINE)


def findings(root: pathlib.Path) -> list[str]:
    """Headers of the rooms that no file of tests/ includes."""
    headers = {
        path.relative_to(root).as_posix()
        for room in ROOMS
        for path in (root / CORE / room).glob("*.h")
    }
    included = {
        header
        for ending in ("*.cc", "*.h")
        for path in (root / "tests").rglob(ending)
        for header in INCLUDE.findall(path.read_text(encoding="utf-8"))
    }
    found = [f"{header}: no file under tests/ includes it" for header in headers - included]
    return sorted(found)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = findings(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
