#!/usr/bin/env python3
"""Checks that a test includes each header of these rooms.

A header without a test of its own contract is seen through its users alone.

    tools/dev/check_tested_headers.py [ROOT]

Exit status: 0, or 1 with one line a finding, "FILE: what".
"""

import pathlib
import re
import sys

ROOMS = [
    "cache",
    "client/apply",
    "client/apply/opencl",
    "client/c",
    "client/cpp",
    "client/cpp/base",
    "client/cpp/calls",
    "client/cpp/connect",
    "client/cpp/failover",
    "client/cpp/masks",
    "client/cpp/steps",
    "client/cpp/streams",
    "cpu",
    "grammar_core/automaton",
    "grammar_core/base",
    "grammar_core/compile",
    "grammar_core/completion",
    "grammar_core/derivatives",
    "grammar_core/frontend",
    "grammar_core/frontend/chat",
    "grammar_core/frontend/choice",
    "grammar_core/frontend/ebnf",
    "grammar_core/frontend/json",
    "grammar_core/frontend/json_schema/formats",
    "grammar_core/frontend/json_schema/logic",
    "grammar_core/frontend/json_schema/reading",
    "grammar_core/frontend/json_schema/rules",
    "grammar_core/frontend/lark",
    "grammar_core/frontend/notation",
    "grammar_core/frontend/regex",
    "grammar_core/frontend/response_format",
    "grammar_core/frontend/structural_tag",
    "grammar_core/intersection",
    "grammar_core/ir",
    "grammar_core/ir/facts",
    "grammar_core/ir/number",
    "grammar_core/ir/passes",
    "grammar_core/mask",
    "grammar_core/mask_routes",
    "grammar_core/matcher",
    "grammar_core/rows",
    "grammar_core/terms",
    "grammar_core/tokenizer",
    "grammar_core/tokenizer/formats",
    "grammar_core/unique_items",
    "local",
    "memory",
    "metrics",
    "playground",
    "reasons",
    "ring",
    "service/admin",
    "service/base",
    "service/callers",
    "service/calls",
    "service/config",
    "service/grammars",
    "service/ports",
    "service/process",
    "service/sequences",
    "service/streams",
    "service/wire",
    "tools/attack",
    "tools/attack/cases",
    "tools/attack/grammars",
    "tools/attack/servers",
    "tools/attack/targets",
    "tools/cli",
    "tools/cli/bench",
    "tools/cli/lint",
    "tools/cli/schemas",
    "tools/cli/simulate",
    "tools/cli/top",
    "tools/cli/vectors",
]

INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def findings(root: pathlib.Path) -> list[str]:
    """Headers of the rooms that no file of tests/ includes."""
    headers = {
        path.relative_to(root).as_posix()
        for room in ROOMS
        for path in (root / room).glob("*.h")
    }
    included = {
        header
        for ending in ("*.cc", "*.h")
        for path in (root / "tests").rglob(ending)
        for header in INCLUDE.findall(path.read_text(encoding="utf-8"))
    }
    found = [f"{header}: no file under tests/ includes it" for header in headers - included]
    return sorted(found)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = findings(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
