#!/usr/bin/env python3
"""Checks that each product .cc file over 150 lines says its idea once, before the code.

    tools/dev/check_heads.py [ROOT]

A head is the comment that a file begins with, before its first #include: an idea of at least two
lines, then one or more of the marks Invariant, Cost, Source, Threads and Bounds at a line's start.
Tables that a program writes are left out. Exit status: 0, or 1 with one line a finding, or for a
tree that has no such file.
"""

import pathlib
import re
import sys

LEAST_LINES = 150
LEAST_IDEA_LINES = 2
ROOMS = [
    "cache", "client", "cpu", "grammar_core", "local", "memory", "metrics", "playground", "reasons",
    "ring", "service", "tools",
]
MARKS = ["Invariant", "Cost", "Source", "Threads", "Bounds"]
MARK = re.compile(rf"// (?:{'|'.join(MARKS)})\s\s+\S")
GENERATED = "_tables.cc"


def fault(text: str) -> str | None:
    """What the head of a file of this text lacks."""
    head = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        head.append(line)
    marks = [at for at, line in enumerate(head) if MARK.match(line)]
    idea = [line for line in head[: marks[0] if marks else len(head)] if line != "//"]
    if len(idea) < LEAST_IDEA_LINES:
        return f"its head has {len(idea)} lines of an idea, {LEAST_IDEA_LINES} at least"
    if not marks:
        return f"its head has none of the marks {', '.join(MARKS)}"
    return None


def long_files(root: pathlib.Path) -> dict[str, str]:
    """The texts of product files that are long enough to need a head, by their paths."""
    texts = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in sorted((root / room).rglob("*.cc"))
        if not path.name.endswith(GENERATED)
    }
    return {name: text for name, text in texts.items() if text.count("\n") > LEAST_LINES}


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = long_files(root)
    if not files:
        print(f"no product file of more than {LEAST_LINES} lines in this tree")
        return 1
    found = [f"{name}: {lacks}" for name, text in files.items() if (lacks := fault(text))]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
