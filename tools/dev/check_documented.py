#!/usr/bin/env python3
"""Checks that nine public declarations of ten are documented, in each folder at the top of the tree.

    tools/dev/check_documented.py [--print | --list FOLDER] [ROOT]

C++      functions and types of headers, as check_marks.py finds them: a comment above them, alone
         or as a block of neighbours
Python   classes and functions without an underscore in front, those within functions left out: a
         docstring
Go       exported functions, methods and types: a comment above them
proto    messages, enums, services, rpcs, fields and values: a comment behind them, or above them or
         a block of neighbours

Tests, benchmarks, examples, what others wrote and what a program writes are left out. --print says
what each share is, --list names the declarations of a folder that have no comment.
Exit status: 0, or 1 with one line a share that is too small, or for a tree with no declaration.
"""

import argparse
import ast
import collections
import pathlib
import re
import subprocess
import sys

import check_marks

DOCUMENTED = 0.90
LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|bench|fuzz|examples?|third_party|build|\.[^/]+)/"
    r"|(?:^|/)(?:test_|conftest)[^/]*\.py$|_test\.(?:go|py)$|\.pb\.go$|_pb2(?:_grpc)?\.pyi?$|_tables\.h$")
GO = re.compile(r"^(?:func(?:\s*\([^)]*\))?|type)\s+[A-Z]\w*")
PROTO = re.compile(
    r"^\s*(?:(?:message|enum|service|rpc|oneof)\s+\w+"
    r"|(?:repeated\s+|optional\s+)?(?:map\s*<[^>]*>|[\w.]+)\s+\w+\s*=\s*\d+"
    r"|[A-Z]\w*\s*=\s*-?\d+)")
NO_PROTO = re.compile(r"^\s*(?:option|syntax|package|import|reserved)\b")


def of_header(text: str) -> list[tuple[int, bool]]:
    """The line of each declaration, from 0, and whether it is documented."""
    lines = text.splitlines()
    # What /* */ says is read as lines of comment, too: headers of C have no other form.
    block = re.compile(r"/\*.*?\*/", re.DOTALL)
    for comment in block.finditer(text):
        first = text.count("\n", 0, comment.start())
        for number in range(first, first + comment[0].count("\n") + 1):
            if lines[number].strip().startswith(("/*", "*")):
                lines[number] = "// " + lines[number]
    return [(line, check_marks.has_comment(lines, line)) for line in check_marks.declared_lines(text)]


def of_python(text: str) -> list[tuple[int, bool]]:
    """The same of a module of Python."""
    found = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            if is_function or isinstance(child, ast.ClassDef):
                if not child.name.startswith("_"):
                    found.append((child.lineno - 1, ast.get_docstring(child) is not None))
            if not is_function:
                visit(child)

    visit(ast.parse(text))
    return found


def of_go(text: str) -> list[tuple[int, bool]]:
    """The same of a file of Go."""
    lines = text.splitlines()
    return [(number, number > 0 and lines[number - 1].startswith("//"))
            for number, line in enumerate(lines) if GO.match(line)]


def of_proto(text: str) -> list[tuple[int, bool]]:
    """The same of a file of protocol buffers."""
    lines = text.splitlines()
    return [(number, "//" in line or check_marks.has_comment(lines, number))
            for number, line in enumerate(lines)
            if PROTO.match(line.split("//")[0]) and not NO_PROTO.match(line)]


READERS = {".h": of_header, ".py": of_python, ".go": of_go, ".proto": of_proto}


def sources(root: pathlib.Path) -> list[str]:
    """Tracked files, or every file where ROOT is no repository (a source archive, a test)."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [
        path.relative_to(root).as_posix() for path in sorted(root.rglob("*"))]
    return [name for name in names
            if pathlib.PurePath(name).suffix in READERS and "/" in name and not LEFT_OUT.search(name)
            and (root / name).is_file()]


def declarations(root: pathlib.Path) -> dict[str, list[tuple[str, bool]]]:
    """By folder at the top: "FILE:LINE: text" of each declaration, and whether it is documented."""
    found = collections.defaultdict(list)
    for name in sources(root):
        text = (root / name).read_text(encoding="utf-8")
        lines = text.splitlines()
        for line, is_documented in READERS[pathlib.PurePath(name).suffix](text):
            found[name.split("/")[0]].append(
                (f"{name}:{line + 1}: {lines[line].strip()}", is_documented))
    return dict(sorted(found.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", dest="all")
    parser.add_argument("--list", metavar="FOLDER")
    parser.add_argument("root", nargs="?", default=".")
    args = parser.parse_args()
    found = declarations(pathlib.Path(args.root))
    if args.list is not None:
        print(*(text for text, is_documented in found.get(args.list, []) if not is_documented), sep="\n")
        return 0
    if not found:
        print("no declaration in this tree")
        return 1
    failed = False
    found["the whole tree"] = [each for folder in found.values() for each in folder]
    for folder, each in found.items():
        part = sum(is_documented for _, is_documented in each)
        short = part < DOCUMENTED * len(each)
        failed |= short
        if short or args.all:
            print(f"{folder}: {part} of {len(each)} declarations documented, "
                  f"{100 * part / len(each):.1f} %, {DOCUMENTED:.0%} at least")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
