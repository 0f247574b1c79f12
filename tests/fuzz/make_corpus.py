#!/usr/bin/env python3
"""Writes the seed corpus of a fuzz target: one file an input, named by its digest.

    make_corpus.py TARGET FOLDER

Inputs are the sources of TARGET's kind in the vectors, attacks and schemas of MASKD_SHARED_DIR
(default: ../shared beside this repository), the small ones. Those of the target matcher are walks: a
grammar, a vocabulary, and operations most of which take a token. Of vocabulary files there are only
the seeds of tests/fuzz/corpus.
"""

import gzip
import hashlib
import importlib.util
import json
import os
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("MASKD_SHARED_DIR", ROOT.parent / "shared"))
LONGEST = 4096
SCHEMAS = 1000
WALKS = 1000
WALK_GRAMMARS = 32
TAKE_ALLOWED = (4, 5, 6, 7)  # operations of matcher_fuzz.cc, as are these
OTHER_OPERATIONS = (2, 9, 11, 12, 13, 14, 15)


def lines(path: pathlib.Path):
    if not path.is_file():
        print(f"make_corpus: no {path}", file=sys.stderr)
        return
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def vectors(kind: str):
    for vector in lines(SHARED / "vectors" / "grammar-open.jsonl"):
        if vector["kind"] == kind:
            yield vector["grammar"].encode()


def attacks(kind: str):
    reader = SHARED / "attacks" / "expand.py"
    if not reader.is_file():
        return
    spec = importlib.util.spec_from_file_location("expand", reader)
    expand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(expand)
    for path in sorted((SHARED / "attacks").glob("*.jsonl")):
        for case in lines(path):
            if case["format"] == kind:
                yield expand.payload(case)


def schemas():
    for group in lines(SHARED / "vectors" / "json-schema-test-suite.jsonl"):
        yield json.dumps(group["schema"], ensure_ascii=False).encode()
    path = SHARED / "maskbench" / "open.jsonl.gz"
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for _, line in zip(range(SCHEMAS), file):
                yield json.loads(line)["schema"].encode()


def walks():
    draw = random.Random(1)
    for number in range(WALKS):
        walk = bytearray((number % WALK_GRAMMARS, draw.randrange(2)))
        for _ in range(draw.randrange(4, 120)):
            operation = draw.choice(TAKE_ALLOWED * 3 + OTHER_OPERATIONS)
            walk += bytes((operation | draw.randrange(4) << 4, draw.randrange(256)))
        yield bytes(walk)


def inputs(target: str):
    if target == "matcher":
        yield from walks()
    # JSON texts of any kind are seeds for the JSON reader.
    kinds = {"json": ["json_schema", "choice", "structural_tag"]}.get(target, [target])
    for kind in kinds:
        yield from vectors(kind)
        yield from attacks(kind)
    if "json_schema" in kinds:
        yield from schemas()


def main() -> int:
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for data in inputs(target):
        if len(data) <= LONGEST:
            (folder / hashlib.sha256(data).hexdigest()[:32]).write_bytes(data)
            count += 1
    print(f"make_corpus: {count} seeds for {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
