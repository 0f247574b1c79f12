#!/usr/bin/env python3
"""Runs the tests of each fault that is done to a server, and writes what came of it into docs/reliability.md.

    tools/dev/fault_matrix.py            runs the tests and writes the table; exit status 1 where one failed
    tools/dev/fault_matrix.py --check    runs nothing: the table has the faults of the matrix, and each test is there

tests/faults/matrix.json has the faults: what is done, what holds, and the tests that hold it, by the beginning of their
names in ctest (a suite, a suite and a test, or a whole name). A test that is skipped is counted and told.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
MATRIX = ROOT / "tests/faults/matrix.json"
PAGE = ROOT / "docs/reliability.md"
BLOCK = re.compile(r"(<!-- fault matrix -->\n)(.*?)(<!-- end of fault matrix -->)", re.DOTALL)


def pattern(*tests: str) -> str:
    """Of ctest's names: parameters stand before and behind it. CMake allows few groups."""
    return rf"(^|/)({'|'.join(map(re.escape, tests))})($|[./])"


def names_of(build: pathlib.Path) -> list:
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ *Test +#\d+: (.+)$", listed, re.MULTILINE)


def missing(faults: list, names: list) -> list:
    """Tests of the matrix that the build does not have."""
    return [test for fault in faults for test in fault["tests"]
            if not any(re.search(pattern(test), name) for name in names)]


def run(build: pathlib.Path, faults: list, jobs: int) -> dict:
    """The status of each test by its name, as JUnit says it: run, fail, notrun, disabled."""
    chosen = pattern(*(test for fault in faults for test in fault["tests"]))
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "junit.xml"
        subprocess.run(["ctest", "--test-dir", build, "-LE", "long", "-R", chosen, "-j", str(jobs), "--output-junit", report],
                       check=False)
        cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
        return {case.get("name"): case.get("status") for case in cases}


def outcome(fault: dict, statuses: dict) -> str:
    chosen = re.compile(pattern(*fault["tests"]))
    found = {name: status for name, status in statuses.items() if chosen.search(name)}
    failed = sorted(name for name, status in found.items() if status == "fail")
    skipped = sum(status not in ("run", "fail") for status in found.values())
    passed = f"{sum(status == 'run' for status in found.values())} passed"
    return ", ".join([passed, *([f"{skipped} skipped"] if skipped else []), *(f"`{name}` failed" for name in failed)])


def table(faults: list, outcomes: list, date: str) -> str:
    lines = [f"Run on {date}:", "", "| fault | what holds | tests | outcome |", "| --- | --- | --- | --- |"]
    for fault, said in zip(faults, outcomes, strict=True):
        tests = ", ".join(f"`{test}`" for test in fault["tests"])
        lines.append(f"| {fault['fault']} | {fault['holds']} | {tests} | {said} |")
    return "\n" + "\n".join(lines) + "\n\n"


def without_outcomes(text: str) -> list:
    """The rows of a table, less their last cell."""
    return [line.rsplit(" | ", 1)[0] for line in text.splitlines() if line.startswith("|")][2:]


def check(build: pathlib.Path, faults: list, page: str) -> list:
    errors = [f"{MATRIX.name}: no test {test}" for test in missing(faults, names_of(build))]
    written = BLOCK.search(page)
    if written is None:
        return [*errors, f"{PAGE.name} has no block for the fault matrix"]
    if without_outcomes(written.group(2)) != without_outcomes(table(faults, [""] * len(faults), "")):
        errors.append(f"{PAGE.name}: not the faults of {MATRIX.name}; run tools/dev/fault_matrix.py")
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    faults, page = json.loads(MATRIX.read_text()), PAGE.read_text()
    errors = check(arguments.build, faults, page) if arguments.check else []
    if not arguments.check:
        outcomes = [outcome(fault, statuses) for statuses in [run(arguments.build, faults, arguments.jobs)] for fault in faults]
        made = table(faults, outcomes, datetime.date.today().strftime("%-d %B %Y"))
        PAGE.write_text(BLOCK.sub(lambda found: found.group(1) + made + found.group(3), page))
        errors = [f"{fault['fault']}: {said}" for fault, said in zip(faults, outcomes, strict=True)
                  if "failed" in said or said.startswith("0 passed")]
    for error in errors:
        print(f"fault_matrix: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
