#!/usr/bin/env python3
"""Writes the seed corpus of a fuzz target: one file an input, named by its digest.

    make_corpus.py TARGET FOLDER

Inputs are the sources of TARGET's kind in the vectors, attacks and schemas of MASKD_SHARED_DIR
(default: ../shared beside this repository), the small ones. Those of the target matcher are walks: a
grammar, a vocabulary, and operations most of which take a token; those of steps, requests and ring are
drawn likewise, those of config are the configurations that are shipped. Of vocabulary files there are only the
seeds of tests/fuzz/corpus.
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


def varint(number: int) -> bytes:
    """Of a negative number the 64 bits."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def nested(field: int, content: bytes | str) -> bytes:
    """A field of the wire format: a text, a message, or packed numbers."""
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field: int, values) -> bytes:
    return nested(field, b"".join(map(varint, values)))


HELLO = number(4, 257) + packed(5, range(1, 7)) + number(6, 64) + number(7, 1) + number(8, 1)
GRAMMARS = [("regex", "[a-z]*"), ("json", ""), ("choice", '["ab", "abc"]'), ("json_schema", '{"type": "integer"}'),
            ("regex", "("), ("none", "")]


def step(draw: random.Random, count: int) -> bytes:
    """One with the next number that opens, moves, forks and closes some of a few rows."""
    ids = [97, 98, 123, 256, 49, -1]
    parts = [number(1, count), number(7, 1000)]
    if count == 1 or draw.random() < 0.3:
        kind, text = draw.choice(GRAMMARS)
        parts.append(nested(2, number(1, draw.randrange(6)) + nested(3, nested(1, kind) + nested(2, text))
                            + packed(4, draw.choices(ids[:2], k=draw.randrange(3)))
                            + draw.choice([b"", packed(5, [10]), number(7, 5), number(8, 2), number(11, 1)])))
    for _ in range(draw.randrange(3)):
        drafts = packed(1, draw.choices(ids, k=2)) + draw.choice([b"", packed(2, [-1, 0])])
        parts.append(nested(3, number(1, draw.randrange(6)) + packed(3, draw.choices(ids, k=draw.randrange(4)))
                            + draw.choice([b"", nested(4, drafts), number(2, 1), number(6, 1), number(5, 9)])))
    parts += draw.choice([[], [nested(4, number(1, 1) + number(2, 5))], [packed(5, [1, 2])], [packed(6, [1])]])
    return b"".join(parts)


def streams():
    """A hello and steps, each behind its length."""
    draw = random.Random(2)
    for _ in range(300):
        messages = [nested(1, HELLO), *(nested(2, step(draw, count)) for count in range(1, draw.randrange(2, 12)))]
        yield b"".join(len(message).to_bytes(2, "little") + message for message in messages)


def requests():
    for which in range(3):
        for kind, text in GRAMMARS:
            options = number(1, 1) + number(2, 2) + number(3, 2)
            target = nested(3, nested(1, kind) + nested(2, text) + nested(3, options))
            yield bytes((which,)) + nested(1, "bytes") + target + (nested(4, "text") if which == 1 else b"")
        yield bytes((which,)) + nested(2, "00" * 32)
    yield b"\3" + nested(1, HELLO)


def rings():
    """Sides that keep to the rules for a while, then half of them do not: operations of ring_fuzz.cc."""
    draw = random.Random(3)
    for seed in range(200):
        out = bytearray((seed % 2,))
        for _ in range(draw.randrange(4, 60)):
            operation = draw.choice((0, 0, 1, 5, 6, 6) if seed % 4 < 2 else (0, 1, 2, 3, 4, 5, 6, 6))
            size = {0: 2, 2: 4, 3: 1, 4: 6, 5: 2}.get(operation, 0)
            out += bytes((operation | draw.randrange(8) << 4, *(draw.randrange(256) for _ in range(size))))
        yield bytes(out)


def configurations():
    for path in sorted([*ROOT.glob("k8s/overlays/*/maskd.conf"), *ROOT.glob("examples/*.conf")]):
        text = path.read_bytes()
        yield text
        yield b"\n".join(line for line in text.splitlines() if not line.startswith(b"#"))
    for key, value in [("memory_bytes", '"1GiB"'), ("awake_us", '"20us"'), ("max_rows", "12"), ("tokenizer", '"a=b"'),
                       ("socket_mode", '"0770"'), ("reflection", "false"), ("drain_ms", '"5s"'), ("no_such", "1")]:
        yield f"{key}: {value}\n".encode()


OWN = {"matcher": walks, "steps": streams, "requests": requests, "ring": rings, "config": configurations}


def inputs(target: str):
    if target in OWN:
        yield from OWN[target]()
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
