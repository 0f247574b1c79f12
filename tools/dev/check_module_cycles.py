#!/usr/bin/env python3
"""Checks that modules of C++ do not include one another in a circle.

A module is a .h and a .cc of one name: a circle through a .cc is as hard to test and to read as one
through headers, and the compiler does not see it. What two modules need of one another is a third
one below both.

    tools/dev/check_module_cycles.py [ROOT]

Exit status: 0, or 1 with one line a circle, its modules in order of their names.
"""

import pathlib
import re
import subprocess
import sys

TESTS = ("tests/", "bench/")


def read_edges(root):
    """Module -> the modules that its files include."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h", "*.cc"],
        cwd=root, capture_output=True, text=True, check=True)
    edges = {}
    for name in listed.stdout.split():
        path = root / name
        if name.startswith(TESTS) or not path.exists():
            continue
        module = name.rsplit(".", 1)[0]
        included = re.findall(r'^#include "([^"]+)\.h"', path.read_text("utf-8"), re.MULTILINE)
        edges.setdefault(module, set()).update(set(included) - {module})
    return {module: {to for to in targets if to in edges} for module, targets in edges.items()}


def in_order_of_end(edges):
    """The modules, each behind all that it reaches but for circles."""
    order, seen = [], set()
    for start in sorted(edges):
        path = [(start, iter(sorted(edges[start])))] if start not in seen else []
        seen.add(start)
        while path:
            module, rest = path[-1]
            fresh = next((to for to in rest if to not in seen), None)
            if fresh is None:
                order.append(module)
                path.pop()
            else:
                seen.add(fresh)
                path.append((fresh, iter(sorted(edges[fresh]))))
    return order


def circles(edges):
    """Strongly connected components of more than one module (Kosaraju and Sharir)."""
    back = {module: set() for module in edges}
    for module, targets in edges.items():
        for to in targets:
            back[to].add(module)
    taken = set()
    for start in reversed(in_order_of_end(edges)):
        component, open_ = [], [start]
        while open_:
            module = open_.pop()
            if module not in taken:
                taken.add(module)
                component.append(module)
                open_.extend(back[module])
        if len(component) > 1:
            yield sorted(component)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(circles(read_edges(root)))
    for circle in found:
        print(f"{len(circle)} modules in a circle: {', '.join(circle)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
