#!/usr/bin/env python3
"""MaskBench's open half by the slow recogniser: maskbench_by_recognizer.py SCHEMA_TALLY [SHARED_DIR].

Fails if a valid instance is refused, if an invalid instance passes, if more than MAX_REFUSED schemas are
refused, or if one ends in another error than "not supported" or a limit. Exits with 77 where the data is not there.
"""
import gzip
import json
import os
import subprocess
import sys

SKIPPED = 77
MAX_REFUSED = 49


def as_line(entry):
    texts = {True: [], False: []}
    for test in entry["tests"]:
        texts[test["valid"]].append(test["text"])
    return json.dumps({"id": entry["id"], "schema": entry["schema"],
                       "valid": texts[True], "invalid": texts[False]})


def main():
    tally = sys.argv[1]
    beside = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared")
    shared = os.environ.get("MASKD_SHARED_DIR", beside)
    path = os.path.join(shared, "maskbench", "open.jsonl.gz")
    if not os.path.exists(path):
        print("SKIPPED: no", path)
        return SKIPPED
    with gzip.open(path, "rt", encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    lines = "\n".join(as_line(entry) for entry in entries)
    run = subprocess.run([tally], input=lines, capture_output=True, text=True, check=True)
    report = run.stdout.splitlines()
    print(report[0])
    refused = [line for line in report[1:] if line.startswith("refused: ")]
    bad = [line for line in report[1:] if not line.startswith("refused: ")]
    print("\n".join(bad[:50]))
    return 1 if bad or len(refused) > MAX_REFUSED else 0


if __name__ == "__main__":
    sys.exit(main())
