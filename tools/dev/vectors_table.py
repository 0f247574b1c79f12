#!/usr/bin/env python3
"""Writes the table of docs/vectors.md from a run of `maskctl vectors`.

    tools/dev/vectors_table.py [--check] [--maskctl build/release/tools/maskctl]

The vectors are those of ../shared/vectors beside this repository, or of MASKD_SHARED_DIR. With
--check nothing is written; the difference is printed.

Exit status: 0, 1 (--check: the table is another one), 77 (the vectors are missing), 2 (no table
came out).
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "vectors.md"
BLOCK = re.compile(r"(<!-- table -->\n)(.*?)(<!-- end of table -->\n)", re.DOTALL)


def vectors_file() -> pathlib.Path:
    """Where the vectors are, whether or not they are there."""
    shared = os.environ.get("MASKD_SHARED_DIR", ROOT.parent / "shared")
    return pathlib.Path(shared) / "vectors" / "grammar-open.jsonl"


def run(maskctl: pathlib.Path) -> str:
    """The table and what follows it; failures, one a line before it, stay out."""
    done = subprocess.run(
        [maskctl, "vectors", "--local", vectors_file()], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)
    _, mark, table = done.stdout.partition("| kind |")
    if not mark:
        sys.stderr.write(done.stdout + done.stderr)
        sys.exit(2)
    return mark + table


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the table of docs/vectors.md.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--maskctl", type=pathlib.Path, default=ROOT / "build/release/tools/maskctl")
    arguments = parser.parse_args()
    if not vectors_file().is_file():
        print(f"NOT RUN: no {vectors_file()}")
        return 77
    page = PAGE.read_text(encoding="utf-8")
    table = run(arguments.maskctl)
    (found,) = BLOCK.findall(page)
    if not arguments.check:
        PAGE.write_text(BLOCK.sub(lambda block: block[1] + table + block[3], page), encoding="utf-8")
        return 0
    sys.stdout.writelines(difflib.unified_diff(
        found[1].splitlines(True), table.splitlines(True), "docs/vectors.md", "this run"))
    return int(found[1] != table)


if __name__ == "__main__":
    sys.exit(main())
