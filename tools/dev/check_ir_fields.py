#!/usr/bin/env python3
"""Checks that the payload of an IR node is read by name outside of grammar_core/ir.

IrNode has two fields, `a` and `b`, that mean something else for each kind. grammar_core/ir keeps
them; everybody else reads them through ir_views.h. A read is found by its form: `.a`, `.b` behind a
name that the file declares as an IrNode, behind `nodes[...]` or behind `node(...)`.

    tools/dev/check_ir_fields.py [ROOT]

Exit status: 0, or 1 with one line a read, "FILE:LINE: text".
"""

import pathlib
import re
import sys

import check_layers

OWNER = "grammar_core/ir/"
DECLARED = re.compile(r"\bIrNode\b(?:\s+const)?\s*[&*]?\s*(?:const\s+)?(\w+)\b(?!\s*::)")
OF_A_LIST = re.compile(r"\bnodes\[(?:[^\[\]]|\[[^\[\]]*\])*\]\.[ab]\b")
OF_A_CALL = re.compile(r"\bnode\((?:[^()]|\([^()]*\))*\)\.[ab]\b")
COMMENT = re.compile(r"//.*")


def reads(text: str) -> list:
    """The numbers of the lines that read a field, from 1, each with its text."""
    lines = [COMMENT.sub("", line) for line in text.splitlines()]
    names = sorted({name for line in lines for name in DECLARED.findall(line)})
    forms = [OF_A_LIST, OF_A_CALL]
    if names:
        forms.append(re.compile(rf"(?<![\w.>])(?:{'|'.join(names)})(?:\.|->)[ab]\b"))
    return [(number, line.strip()) for number, line in enumerate(lines, 1)
            if any(form.search(line) for form in forms)]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    paths = [path for path in check_layers.sources(root) if not path.startswith(OWNER)]
    findings = 0
    for path in paths:
        for number, line in reads((root / path).read_text(encoding="utf-8")):
            findings += 1
            print(f"{path}:{number}: {line}")
    print(f"IR fields: {len(paths)} files, {findings} findings")
    return 1 if findings or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
