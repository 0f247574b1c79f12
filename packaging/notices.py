#!/usr/bin/env python3
"""Prints the notices of what others made that is inside one of our programs.

    packaging/notices.py BUILD maskd|maskctl|libmaskd

The text of each package's file of copyrights is Debian's, for the whole source of the package.
"""

import pathlib
import sys

import parts

HEAD = """maskd is under the Apache License 2.0. Inside {name} is also what others made, under the licences below.
Texts that stand behind a path /usr/share/common-licenses are the licences' own, unchanged.
"""


def main() -> None:
    """Prints to standard output, each package's notice once."""
    build, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    inside = parts.linked_in(build, parts.targets()[name])
    print(HEAD.format(name=name))
    for part in inside:
        print(f"* {part.name} {part.version}: {part.licence} ({part.how})")
    for part in inside:
        print(f"\n{'=' * 80}\n{part.name} {part.version}\n{'=' * 80}\n")
        print(pathlib.Path(part.notice).read_text("utf-8").strip())


if __name__ == "__main__":
    main()
