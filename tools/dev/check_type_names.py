#!/usr/bin/env python3
"""Checks that a name of a namespace stands for one type.

Two files that define a type of one name in one namespace compile and link. A program then takes the
members of one for those of the other. What an unnamed namespace holds is the file's own.

    tools/dev/check_type_names.py [ROOT]

Exit status: 0, or 1 with one line a finding, "NAME: FILE, FILE".
"""

import collections
import pathlib
import re
import subprocess
import sys

NOT_OF_ONE_PROGRAM = ("tests/", "examples/", "third_party/")
NAMESPACE = re.compile(r"^(inline )?namespace(?: ([\w:]+))? \{$")
END = re.compile(r"^\}\s*// namespace")
TYPE = re.compile(
    r"^(?:template <.*> )?(?:struct|class|union|enum(?: class)?) (?:ABSL_\w+(?:\([^)]*\))? |alignas\([^)]*\) )?"
    r"(\w+)(?: final)?(?: :.*)? \{")


def types(text: str) -> set[str]:
    """The types that a file defines in named namespaces, by their whole names."""
    found, inside = set(), []
    for line in text.splitlines():
        opened = NAMESPACE.match(line)
        if opened:
            inside.append(opened.group(2) or "")
        elif END.match(line) and inside:
            inside.pop()
        elif "" not in inside and (defined := TYPE.match(line)):
            found.add("::".join([*inside, defined.group(1)]))
    return found


def findings(root: pathlib.Path) -> list[str]:
    """Names that more than one file defines, with those files."""
    files = collections.defaultdict(list)
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.h", "*.cc"],
        capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if not name.startswith(NOT_OF_ONE_PROGRAM) and (root / name).is_file():
            for defined in types((root / name).read_text(encoding="utf-8")):
                files[defined].append(name)
    return [f"{name}: {', '.join(places)}" for name, places in sorted(files.items()) if len(places) > 1]


def main() -> int:
    found = findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for finding in found:
        print(finding)
    print(f"type names: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
