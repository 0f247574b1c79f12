#!/usr/bin/env python3
"""Checks that a failed assertion about terms prints them as text.

A term is a number to GoogleTest, which prints its bytes, unless the test sees PRINTER: then it is
printed as what it stands for. So each test file that names a term's type, or one of the terms that
every store has, includes PRINTER or a header that leads there.

    tools/dev/check_shown_terms.py [ROOT]

Exit status: 0, or 1 with one line a file, or for a tree that has no such test.
"""

import pathlib
import re
import sys

import check_hidden_headers
import check_layers

PRINTER = "tests/rooms/shown_terms.h"
TERM = re.compile(r"\b(?:TermId|CharTerm|AnyTerm|k(?:Nothing|Empty|Unknown|Failed)Term)\b")


def sees(root: pathlib.Path, path: str, known: dict) -> bool:
    """Whether `path` includes PRINTER, itself or by a header."""
    reached = [path]
    for file in reached:  # which grows
        reached += [header for header in check_hidden_headers.includes_of(root, file, known)
                    if header not in reached]
    return PRINTER in reached


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    known: dict = {}
    tests = [path for path in check_layers.sources(root)
             if path.startswith("tests/") and path.endswith(".cc")
             and TERM.search((root / path).read_text(encoding="utf-8"))]
    blind = [path for path in tests if not sees(root, path, known)]
    for path in blind:
        print(f"{path}: names terms, and does not see {PRINTER}")
    print(f"shown terms: {len(tests)} tests, {len(blind)} findings")
    return 1 if blind or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
