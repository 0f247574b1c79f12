#!/usr/bin/env python3
"""Checks that the payload of an IR node is read by name outside of grammar_core/ir.

IrNode has two fields that mean something else for each kind. They are private, and IrPayload is
their only friend: the views of ir_views.h read them through it. So a file outside of
grammar_core/ir that names IrPayload reads or writes what it has no name for.

    tools/dev/check_ir_fields.py [ROOT]

Exit status: 0, or 1 with one line a use, "FILE:LINE: text".
"""

import pathlib
import re
import sys

import check_layers

OWNER = "grammar_core/ir/"
PAYLOAD = re.compile(r"\bIrPayload\b")
COMMENT = re.compile(r"//.*")


def uses(text: str) -> list:
    """The numbers of the lines that name IrPayload, from 1, each with its text."""
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)
            if PAYLOAD.search(COMMENT.sub("", line))]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    paths = [path for path in check_layers.sources(root) if not path.startswith(OWNER)]
    findings = 0
    for path in paths:
        for number, line in uses((root / path).read_text(encoding="utf-8")):
            findings += 1
            print(f"{path}:{number}: {line}")
    print(f"IR fields: {len(paths)} files, {findings} findings")
    return 1 if findings or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
