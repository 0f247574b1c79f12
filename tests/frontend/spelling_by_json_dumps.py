#!/usr/bin/env python3
"""Canonical spelling, held against json.dumps: spelling_by_json_dumps.py GRAMMAR_VERDICTS [COUNT [SEED]].

Of COUNT random values, and of values of random schemas and the schemas of MaskBench (where its data is),
what json.dumps writes must be taken exactly if the value is of the grammar. The same value written with a
needless escape, zero or exponent must not be, but is where any spelling is asked for. Each byte is a token
that the mask of its step must allow.
"""
import json
import random
import struct
import sys

import indent_by_json_dumps as indented

TEXTS = ["", "a", "class", 'say "no"', "back\\slash", "a/b", "tab\tline\n", "\b\f\r", "\x00\x1f\x0b", "\x7f",
         "é", "日本", "😀", "\u2028", "\\u0041"]
# Texts that serializers of other languages write; no value may be without a spelling.
OTHERS = ["1e21", "1e+21", "1.5e+300", "1e-7", "1e-07", "2.5e-324", "5e-324", "1.8e308", "1.7976931348623157e308",
          "0.000001", "123456789012345680000", "-0.5", "100", "1" + "0" * 400, "0." + "0" * 400 + "1", "0.0"]
NEEDLESS = ["1.50", "1.00", "1e5", "1E20", "1.0e20", "10e20", "0e5", "-0", "1e+005", "1e015", "0.5e-10", "1e-4",
            "5e-007", "-0.0", "0.10", "200000000.000000000E-08", "1.e20", "1e"]


def random_number(rng):
    way = rng.random()
    if way < 0.3:
        return rng.randrange(-10**rng.randrange(1, 30), 10**rng.randrange(1, 30))
    if way < 0.6:
        return round(rng.uniform(-1000, 1000), rng.randrange(6)) + 0.0  # no -0.0
    while True:
        value = struct.unpack("d", rng.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            return value


def random_value(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return rng.choice([rng.choice(TEXTS), random_number(rng), rng.choice([None, True, False])])
    if kind < 0.75:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {name: random_value(rng, depth - 1) for name in rng.sample(TEXTS, rng.randrange(4))}


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def escaped(char):
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def needlessly(text, rng):
    """`text` with a character of a string escaped that need not be; None if it has no such."""
    places, inside, skip = [], False, False
    for at, char in enumerate(text):
        if skip:
            skip = False
        elif char == '"':
            inside = not inside
        elif char == "\\":
            skip = True
        elif inside:
            places.append(at)
    # Not the digits of a \u00 escape: what they spell would be another text.
    places = [at for at in places if "\\u" not in text[max(0, at - 6):at]]
    if not places:
        return None
    at = rng.choice(places)
    other = "\\/" if text[at] == "/" and rng.random() < 0.5 else escaped(text[at])
    return text[:at] + other + text[at + 1:]


class Comparison(indented.Verified):
    def compare(self, kind, grammar, values, is_valid, **options):
        cases, respelled = [], []
        for value in values:
            text, valid = dumps(value), is_valid(value)
            cases.append((text, valid))
            other = needlessly(text, self.rng)
            if other is not None:
                cases.append((other, False))
                respelled.append((other, valid))
        if not self.ask(kind, grammar, cases, canonical=True, **options):
            return False
        return not respelled or self.ask(kind, grammar, respelled, **options)


def free_values(comparison, count):
    rng = comparison.rng
    kinds = [("json", ""), ("json_schema", "{}"), ("json_object", ""), ("lark", "start: %json {}"),
             ("response_format", '{"type": "json_object"}'),
             ("structural_tag", '{"format": {"type": "json_schema", "json_schema": {}}}')]
    for i in range(count):
        kind, grammar = kinds[i % len(kinds)]
        objects = kind in ("json_object", "response_format")
        values = [random_value(rng, rng.randrange(4)) for _ in range(5)]
        comparison.compare(kind, grammar, values, lambda value, o=objects: not o or isinstance(value, dict))


def numbers(comparison):
    """Of any number, of one with bounds that says nothing, and of integers."""
    bounded = '{"type": "number", "minimum": -1e999}'
    for grammar in ("{}", bounded):
        comparison.ask("json_schema", grammar, [(text, True) for text in OTHERS], canonical=True)
        comparison.ask("json_schema", grammar, [(text, False) for text in NEEDLESS], canonical=True)
    values = [random_number(comparison.rng) for _ in range(300)]
    for grammar in ("{}", bounded, '{"type": ["number", "string"]}'):
        comparison.compare("json_schema", grammar, values, lambda value: True)
    integers = [("10", True), ("0", True), ("-7", True), ("1" + "0" * 300, True), ("1.0", False), ("1e2", False),
                ("-0", False), ("1e20", False), ("00", False)]
    for grammar in ('{"type": "integer"}', '{"type": "integer", "minimum": -8}', '{"multipleOf": 1, "type": "integer"}'):
        comparison.ask("json_schema", grammar, integers, canonical=True)
    listed = [("1", True), ("1.0", False), ("2.5", True), ("2.50", False), ("1e-7", True), ("1e-07", True),
              ("0.0000001", True), ("1e300", True), ("1" + "0" * 300, True), ("10e299", False)]
    comparison.ask("json_schema", '{"enum": [1, 2.5, 1e-7, 1e300]}', listed, canonical=True)


def is_written(value):
    """Whether json.dumps writes no integer as a float, of which a schema of integers takes no text."""
    if isinstance(value, float):
        return not value.is_integer()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(is_written(part) for part in parts)


def bench_schemas(comparison):
    """Instances that the grammar takes in any spelling must be taken as json.dumps writes them."""
    entries = indented.bench_entries()
    comparison.rng.shuffle(entries)
    for entry in entries[:indented.BENCH_SCHEMAS]:
        values = [json.loads(test["text"]) for test in entry["tests"]][:6]
        values = [value for value in values if len(dumps(value)) < indented.MAX_TEXT and is_written(value)]
        schema = entry["schema"]
        plain = [dumps(value) for value in values]
        free = comparison.verdicts.ask("json_schema", schema, plain)
        if not free["ok"] or "Infinity" in "".join(plain):
            continue
        valid = dict(zip(plain, free["verdicts"]))
        if not comparison.compare("json_schema", schema, values, lambda value, v=valid: v[dumps(value)]):
            comparison.faults.append(f"compiles only in any spelling: {schema[:300]}")
    return min(len(entries), indented.BENCH_SCHEMAS)


def main():
    program, count, seed = indented.arguments(120)
    comparison = Comparison(indented.Verdicts(program), random.Random(seed))
    numbers(comparison)
    free_values(comparison, count)
    compiled = indented.random_grammars(
        comparison, count, seed,
        lambda schema, values, is_valid: comparison.compare(
            "json_schema", schema, values, is_valid, any_order=True))
    return indented.report(comparison, count, compiled, bench_schemas(comparison))


if __name__ == "__main__":
    sys.exit(main())
