#!/usr/bin/env python3
"""Checks the marks of a house that a newcomer can read: three shares that fall unless they are held.

    tools/dev/check_marks.py [--print] [ROOT]

Invariants    an assert, or a check of MASKD_DCHECK_..., in 150 lines of grammar_core at least.
Comments      a tenth of the lines of the .cc files, blank ones left out: in each of ROOMS, of the
              rooms of json_schema, and in all rooms of service together.
Declarations  nine of ten in the headers of each of ROOMS and of service have a comment above them,
              alone or as a block of neighbours: functions and types that are public.

Tables that a script makes are left out of all three. --print says what each share is.
Exit status: 0, or 1 with one line a share that is too small.
"""

import argparse
import math
import pathlib
import re
import sys

CORE = "grammar_core/"
ROOMS = [
    CORE + room
    for room in ("terms", "intersection", "derivatives", "automaton", "mask_routes", "unique_items",
                 "rows", "completion", "ir/facts")
]
JSON_SCHEMA = [
    f"{CORE}frontend/json_schema/{room}" for room in ("reading", "logic", "rules", "formats")
]
LINES_AN_INVARIANT = 150
COMMENTS = 0.10
DOCUMENTED = 0.90

INVARIANT = re.compile(r"\b(?:assert|MASKD_DCHECK\w*)\(")
# What hides braces, semicolons and words that are no code.
HIDDEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"^(?:template\s*<.*?>\s*)?(?:class|struct|enum|union)\b", re.DOTALL)
NO_DECLARATION = re.compile(
    r"=\s*(?:default|delete)$|^(?:using|friend|typedef|static_assert|extern|return)\b")
CALLS = re.compile(r"[\w>)\]]\s*\(")


def sources(folder: pathlib.Path, ending: str) -> list[pathlib.Path]:
    """The files in `folder` and within its own folders that people write."""
    return sorted(path for path in folder.rglob(f"*{ending}")
                  if not path.stem.endswith("_tables"))


def blanked(text: str) -> str:
    """`text` with spaces for what is no code; every line stays where it is."""
    return HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def invariants(root: pathlib.Path) -> tuple[int, int]:
    """Those of grammar_core, and its lines."""
    texts = [path.read_text("utf-8") for path in sorted((root / CORE).rglob("*"))
             if path.suffix in (".h", ".cc") and not path.stem.endswith("_tables")]
    return (sum(len(INVARIANT.findall(blanked(text))) for text in texts),
            sum(text.count("\n") for text in texts))


def comments(folder: pathlib.Path) -> tuple[int, int]:
    """Lines of comment alone in the .cc files, and all lines that are not blank."""
    lines = [line.strip() for path in sources(folder, ".cc")
             for line in path.read_text("utf-8").splitlines() if line.strip()]
    return sum(line.startswith("//") for line in lines), len(lines)


def has_comment(lines: list[str], line: int) -> bool:
    """Whether one is above `line`, or above the neighbours that are directly over it."""
    for text in reversed(lines[:line]):
        text = text.strip()
        if text.startswith("//"):
            return True
        if not text or text.endswith("{") or re.match(r"(?:public|private|protected):", text):
            return False
    return False


def declared_lines(text: str) -> list[int]:
    """The lines, from 0, on which public functions and types begin."""
    code = blanked(text)
    # Of each brace that is open: whether declarations within are public ones; None in a body.
    open_braces: list = [True]
    found, begin, parens = [], 0, 0
    for token in re.finditer(r"[{}();]|\b(?:public|private|protected)\s*:(?!:)", code):
        head = code[begin:token.start()].strip()
        at = begin + len(code[begin:token.start()]) - len(code[begin:token.start()].lstrip())
        line = code.count("\n", 0, at)
        if token[0][0] in "pr" and open_braces[-1] is not None:
            open_braces[-1] = token[0].startswith("public")
        elif token[0] in "()":
            parens += 1 if token[0] == "(" else -1
            continue
        elif parens:
            continue
        elif token[0] == "{":
            is_type = TYPE.match(head) is not None and not head.endswith(")")
            is_space = head.startswith("namespace")
            if open_braces[-1] and (is_type or (CALLS.search(head) and not is_space)):
                found.append(line)
            # Members of what is no class are public, where it is public itself.
            inner = open_braces[-1] if is_space or is_type else None
            if is_type and re.match(r"(?:template\s*<.*?>\s*)?class\b", head, re.DOTALL):
                inner = False if inner is not None else None
            open_braces.append(None if head.startswith("enum") else inner)
        elif token[0] == "}":
            if len(open_braces) > 1:
                open_braces.pop()
        elif open_braces[-1] and CALLS.search(head) and not NO_DECLARATION.search(head):
            found.append(line)
        begin = token.end()
    return found


def declarations(folder: pathlib.Path) -> tuple[int, int]:
    """Those of the headers that have a comment, and all."""
    documented = declared = 0
    for path in sources(folder, ".h"):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        begins = declared_lines(text)
        declared += len(begins)
        documented += sum(has_comment(lines, line) for line in begins)
    return documented, declared


def shares(root: pathlib.Path) -> list[tuple[str, int, int, float]]:
    """What is counted, how many there are, of how many, and the least share that may be."""
    made = [(f"{CORE}: invariants, of lines", *invariants(root), 1 / LINES_AN_INVARIANT)]
    for room in [*ROOMS, *JSON_SCHEMA, "service"]:
        made.append((f"{room}: lines of comment in .cc files", *comments(root / room), COMMENTS))
    for room in [*ROOMS, "service"]:
        made.append((f"{room}: documented declarations", *declarations(root / room), DOCUMENTED))
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", dest="all")
    parser.add_argument("root", nargs="?", default=".")
    args = parser.parse_args()
    failed = False
    for what, part, whole, least in shares(pathlib.Path(args.root)):
        short = part < least * whole
        failed |= short
        if short or args.all:
            print(f"{what}: {part} of {whole}, {math.ceil(least * whole)} at least")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
