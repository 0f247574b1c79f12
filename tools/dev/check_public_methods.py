#!/usr/bin/env python3
"""Checks that a class which everybody uses stays one that a reader can know by heart.

Counted are the public methods of each class in MOST: an overload is one more; constructors, the
destructor and operators are none. What a class cannot say in so many is said by a view beside it.

    tools/dev/check_public_methods.py [--print] [ROOT]

Exit status: 0, or 1 with one line a class that has too many, or that its header does not have.
"""

import argparse
import pathlib
import re
import sys

import check_marks

MOST = {
    ("grammar_core/automaton/automaton.h", "Automaton"): 15,
}

ACCESS = re.compile(r"\b(public|private|protected)\s*:(?!:)")
NO_METHOD = re.compile(r"^(?:using|friend|typedef|static_assert|class|struct|enum|union)\b")
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")


def without_arguments(head: str) -> str:
    """`head` without what stands between angle brackets."""
    while (shorter := re.sub(r"<[^<>]*>", "", head)) != head:
        head = shorter
    return head


def is_method(head: str, name: str) -> bool:
    """Whether a declaration in class `name` is one of a method that is counted."""
    head = without_arguments(ATTRIBUTE.sub("", head)).strip()
    if NO_METHOD.match(head) or re.search(r"\boperator\b", head):
        return False
    called = re.search(r"([~\w]+)\s*\(", head)
    return called is not None and called[1].lstrip("~") != name


def body_of(code: str, name: str) -> str | None:
    """What stands in the braces of class `name`; None where `code` does not define it."""
    found = re.search(rf"\b(?:class|struct)\s+(?:[A-Z_]+\s+)?{name}\b[^;{{}}()]*\{{", code)
    if found is None:
        return None
    depth = 1
    for brace in re.finditer(r"[{}]", code[found.end():]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return code[found.end():found.end() + brace.start()]
    return None


def public_methods(text: str, name: str) -> list[str] | None:
    """The heads of those of class `name`, in order; None where `text` does not define it."""
    code = check_marks.blanked(text)
    body = body_of(code, name)
    if body is None:
        return None
    is_public = re.search(rf"\bstruct\s+(?:[A-Z_]+\s+)?{name}\b[^;]*\{{", code) is not None
    methods, depth, begin = [], 0, 0
    for token in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:(?!:)", body):
        if depth == 0 and ACCESS.match(token[0]):
            is_public, begin = token[0].startswith("public"), token.end()
            continue
        if token[0] == "}":
            depth -= 1
        if depth == 0 and token[0] != "}":
            head = body[begin:token.start()]
            if is_public and is_method(head, name):
                methods.append(" ".join(head.split()))
        if token[0] == "{":
            depth += 1
        if depth == 0:
            begin = token.end()
    return methods


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", dest="all")
    parser.add_argument("root", nargs="?", default=".")
    args = parser.parse_args()
    failed = False
    for (path, name), most in MOST.items():
        file = pathlib.Path(args.root) / path
        methods = public_methods(file.read_text("utf-8"), name) if file.is_file() else None
        if methods is None:
            print(f"{path}: defines no class {name}")
        elif args.all or len(methods) > most:
            print(f"{path}: {name} has {len(methods)} public methods, {most} at most")
        failed |= methods is None or len(methods) > most
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
