#!/usr/bin/env python3
"""Indented JSON, held against json.dumps: indent_by_json_dumps.py GRAMMAR_VERDICTS [COUNT [SEED]].

Of COUNT random values, and of values of random schemas and the schemas of MaskBench (where its data is),
what json.dumps lays out must be taken exactly if the value is of the grammar; a text that is laid out
otherwise, by a space or a line feed somewhere, must not be. Each byte is a token that the mask of its
step must allow.
"""
import gzip
import json
import os
import random
import subprocess
import sys

import jsonschema

import random_schemas

NAMES = ["a", "b", "ab", "", "é", 'x"y', "{", "\n"]
SCALARS = [None, True, False, 0, -1, 12, 0.5, "", "a", "[1, 2]", '{"a": 1}', "\n  ", "é\\", "}"]
SEPARATORS = [{}, {}, {"key_separator": ":"}, {"item_separator": ", "},
              {"item_separator": ",\t", "key_separator": ":\n"}]
BENCH_SCHEMAS = 150
MAX_TEXT = 3000


class Verdicts:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, kind, grammar, texts, **options):
        request = {"kind": kind, "grammar": grammar, "texts": texts, **options}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def dumps(value, layout):
    separators = (layout.get("item_separator", ","), layout.get("key_separator", ": "))
    return json.dumps(value, indent=layout["indent"], separators=separators, ensure_ascii=False)


def outside_strings(text):
    """The places of `text` that are not within a string, and its end."""
    places, inside, escaped = [], False, False
    for at, char in enumerate(text):
        if not inside:
            places.append(at)
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = inside
        elif char == '"':
            inside = not inside
    return places + [len(text)]


def laid_out_otherwise(text, rng):
    """`text` with a space or a line feed more or less, or two of them exchanged."""
    at = rng.choice(outside_strings(text))
    blanks = [i for i in outside_strings(text)[:-1] if text[i] in " \n\t"]
    way = rng.random()
    if way < 0.4 or not blanks:
        return text[:at] + rng.choice(" \n\t\r") + text[at:]
    at = rng.choice(blanks)
    if way < 0.8:
        return text[:at] + text[at + 1:]
    return text[:at] + rng.choice([c for c in " \n\t" if c != text[at]]) + text[at + 1:]


def random_value(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return rng.choice(SCALARS)
    if kind < 0.7:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {name: random_value(rng, depth - 1) for name in rng.sample(NAMES, rng.randrange(4))}


def random_layout(rng):
    return {"indent": rng.choice([0, 1, 2, 2, 3, 4, 7, 16]), **rng.choice(SEPARATORS)}


def is_laid_out(text, layout):
    """Whether json.dumps makes `text` of some value."""
    try:
        return dumps(json.loads(text), layout) == text
    except ValueError:
        return False


class Verified:
    """Texts that were held against an expectation, and what differed."""

    def __init__(self, verdicts, rng):
        self.verdicts = verdicts
        self.rng = rng
        self.texts = 0
        self.faults = []

    def ask(self, kind, grammar, cases, **options):
        """`cases`: texts, each with what its verdict must be. False: the grammar does not compile."""
        answer = self.verdicts.ask(kind, grammar, [text for text, _ in cases], **options)
        if not answer["ok"]:
            return False
        for (text, expected), verdict in zip(cases, answer["verdicts"]):
            self.texts += 1
            if verdict != expected:
                self.faults.append(f"{kind} {grammar[:300]} {options}: {text[:300]!r} {verdict}")
        return True


class Comparison(Verified):
    def compare(self, kind, grammar, values, layout, is_valid, **options):
        """False: the grammar does not compile."""
        cases = []
        for value in values:
            text = dumps(value, layout)
            cases.append((text, is_valid(value)))
            for _ in range(4):
                other = laid_out_otherwise(text, self.rng)
                fits = is_laid_out(other, layout) and is_valid(json.loads(other))
                cases.append((other, fits))
        return self.ask(kind, grammar, cases, **layout, **options)


def free_values(comparison, count):
    """Any JSON, by every kind that has it."""
    rng = comparison.rng
    kinds = [("json", ""), ("json_schema", "{}"), ("json_schema", '{"$ref": "#"}'), ("json_object", ""),
             ("response_format", '{"type": "json_object"}'), ("lark", "start: %json {}"),
             ("structural_tag", '{"format": {"type": "json_schema", "json_schema": {}}}')]
    for i in range(count):
        kind, grammar = kinds[i % len(kinds)]
        if grammar == '{"$ref": "#"}':
            grammar = ('{"anyOf": [{"type": ["null", "boolean", "number", "string"]}, {"items": {"$ref": "#"},'
                       ' "type": "array"}, {"type": "object", "additionalProperties": {"$ref": "#"}}]}')
        objects = kind in ("json_object", "response_format")
        values = [random_value(rng, rng.randrange(6)) for _ in range(5)]
        comparison.compare(kind, grammar, values, random_layout(rng),
                           lambda value, o=objects: not o or isinstance(value, dict))


def random_grammars(verified, count, seed, compare):
    """Calls compare(schema, values, is_valid) for random schemas; how many compile."""
    maker = random_schemas.Maker(seed)
    compiled = 0
    for _ in range(count):
        schema = maker.schema(random_schemas.DEPTH)
        if verified.rng.random() < 0.2:
            schema = {"type": "array", "uniqueItems": True, "items": schema}
        validator = jsonschema.Draft202012Validator(schema)
        values = [maker.value(3) for _ in range(6)]
        compiled += compare(json.dumps(schema), values, validator.is_valid)
    return compiled


def bench_entries():
    beside = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared")
    path = os.path.join(os.environ.get("MASKD_SHARED_DIR", beside), "maskbench", "open.jsonl.gz")
    if not os.path.exists(path):
        print("without MaskBench: no", path)
        return []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def bench_schemas(comparison):
    """Instances that the grammar takes on one line must be taken on lines, and no others."""
    entries = bench_entries()
    comparison.rng.shuffle(entries)
    for entry in entries[:BENCH_SCHEMAS]:
        texts = [test["text"] for test in entry["tests"]][:6]
        values = [json.loads(text) for text in texts]
        values = [value for value in values if len(json.dumps(value)) < MAX_TEXT]
        schema = entry["schema"]
        plain = [json.dumps(value, ensure_ascii=False) for value in values]
        flexible = comparison.verdicts.ask("json_schema", schema, plain)
        if not flexible["ok"] or "Infinity" in "".join(plain):
            continue
        valid = dict(zip(plain, flexible["verdicts"]))

        def is_valid(value, known=valid):
            return known.get(json.dumps(value, ensure_ascii=False), False)
        if not comparison.compare("json_schema", schema, values, random_layout(comparison.rng), is_valid):
            comparison.faults.append(f"compiles only on one line: {schema[:300]}")
    return min(len(entries), BENCH_SCHEMAS)


def report(verified, count, compiled, benched):
    """The exit status."""
    print(f"{verified.texts} texts, {compiled} random schemas, {benched} of MaskBench, "
          f"{len(verified.faults)} faults")
    print("\n".join(verified.faults[:20]))
    few = compiled < count // 2 or verified.texts < 10 * count
    return 1 if verified.faults or few else 0


def arguments(count):
    """The program of verdicts, `count` unless another is given, the seed."""
    given = sys.argv[2:4]
    return (sys.argv[1], int(given[0]) if given else count, int(given[1]) if len(given) > 1 else 1)


def main():
    program, count, seed = arguments(140)
    comparison = Comparison(Verdicts(program), random.Random(seed))
    free_values(comparison, count)
    compiled = random_grammars(
        comparison, count, seed,
        lambda schema, values, is_valid: comparison.compare(
            "json_schema", schema, values, random_layout(comparison.rng), is_valid, any_order=True))
    return report(comparison, count, compiled, bench_schemas(comparison))


if __name__ == "__main__":
    sys.exit(main())
