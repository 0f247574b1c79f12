#!/usr/bin/env python3
"""Small schemas on small values, judged by the jsonschema package: small_schemas.py GRAMMAR_VERDICTS [COUNT [SEED]].

Each of COUNT schemas has few keywords, and constants that are among the values, so that keywords meet; all
values of few parts are tried on each (small_values.py). The masks of one-byte tokens, and of pieces of several
bytes, must let through exactly the values that jsonschema calls valid:

declared   of a valid value the members in one order at least; of another value none
any        a text in any order and spelling
canonical  what json.dumps writes
indented   what json.dumps writes with an indent

Prints each difference with the schema made smaller. Fails if there is one, or if more than one schema in
MIN_DECIDED_OF is refused.
"""
import json
import random
import subprocess
import sys

import jsonschema
import small_values
from small_schema_maker import DRAFTS, Maker

MIN_DECIDED_OF = 12
SHOWN = 20
VALUES = small_values.every_value()
VALIDATORS = {DRAFTS["2020-12"]: jsonschema.Draft202012Validator, DRAFTS["2019-09"]: jsonschema.Draft201909Validator,
              DRAFTS["7"]: jsonschema.Draft7Validator}
WAYS = {"declared": {}, "any": {"any_order": True}, "canonical": {"any_order": True, "canonical": True},
        "indented": {"any_order": True, "indent": 2}}


class Engine:
    def __init__(self, program):
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, schema, texts, options):
        request = {"kind": "json_schema", "grammar": json.dumps(schema), "texts": texts, **options}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def texts_of(value, way, rng):
    if way == "declared":
        return [small_values.plainly(order) for order in small_values.orders(value)]
    return [small_values.spelled(value, rng) if way == "any" else
            json.dumps(value, indent=2) if way == "indented" else small_values.plainly(value)]


class Comparison:
    def __init__(self, engine, seed):
        self._engine = engine
        self._seed = seed
        self.refusals: list = []

    def differences(self, schema, way, pieces):
        """Lines "value: verdict", or None where the schema is refused or has no verdict."""
        rng = random.Random(self._seed)
        validator = VALIDATORS[schema["$schema"]](schema)
        try:
            expected = [validator.is_valid(value) for value in VALUES]
        except RecursionError:
            return None
        except TypeError:  # its additionalItems beside items that are a boolean
            return None
        texts = [texts_of(value, way, rng) for value in VALUES]
        flat = [text for some in texts for text in some]
        answer = self._engine.ask(schema, flat, WAYS[way] | {"pieces": pieces})
        if not answer["ok"] and answer["code"] != "INVALID_ARGUMENT":
            self.refusals.append((answer["error"], schema))
            return None
        verdicts = iter(answer["verdicts"] if answer["ok"] else [False] * len(flat))
        found = []
        for valid, some in zip(expected, texts):
            ours = [next(verdicts) for _ in some]
            if any(one not in (True, False) for one in ours) or any(ours) != valid:
                found.append(f"{some[0]!r} is {'valid' if valid else 'invalid'}, {ours[:6]}")
        return found if answer["ok"] or not found else [answer["error"], *found]

    def smaller(self, schema, way, pieces):
        """The schema with all left out that it differs without."""
        for less in reductions(schema):
            try:
                jsonschema.validators.validator_for(less).check_schema(less)
                if "$schema" in less and self.differences(less, way, pieces):
                    return self.smaller(less, way, pieces)
            except Exception:  # What a reference leads to was left out.
                continue
        return schema


def reductions(tree):
    """The tree with one part left out, or a schema replaced by one of its own or by true."""
    if isinstance(tree, dict):
        for key in tree:
            yield {name: value for name, value in tree.items() if name != key}
        for key, value in tree.items():
            for less in reductions(value):
                yield {**tree, key: less}
        yield from (value for value in tree.values() if isinstance(value, dict))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            if len(tree) > 1:
                yield tree[:at] + tree[at + 1:]
            for less in reductions(value):
                yield tree[:at] + [less] + tree[at + 1:]


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    comparison = Comparison(Engine(sys.argv[1]), seed)
    compared = wrong = 0
    for number in range(count):
        schema = Maker(rng, rng.choice(["2020-12", "2020-12", *DRAFTS])).schema()
        way, pieces = rng.choice(list(WAYS)), rng.random() < 0.5
        found = comparison.differences(schema, way, pieces)
        compared += found is not None
        if not found:
            continue
        wrong += 1
        if wrong <= SHOWN:
            less = comparison.smaller(schema, way, pieces)
            print(f"{number}, order {way}, pieces {pieces}:\n  {json.dumps(less)}\n  "
                  + "\n  ".join(comparison.differences(less, way, pieces)[:5]), flush=True)
    refused = len(comparison.refusals)
    for error, schema in comparison.refusals[:3]:
        print(f"refused: {error}\n  {json.dumps(schema)}")
    print(f"{compared} of {count} schemas compared on {len(VALUES)} values, {refused} refused, {wrong} differ")
    return 1 if wrong or refused * MIN_DECIDED_OF > count else 0


if __name__ == "__main__":
    sys.exit(main())
