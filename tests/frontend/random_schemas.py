#!/usr/bin/env python3
"""Random schemas, judged by the jsonschema package: random_schemas.py SCHEMA_TALLY [COUNT [SEED]].

Makes COUNT schemas of keywords within keywords, tries a pool of values on each, and compares what the
slow recogniser makes of the grammar. Fails if they differ anywhere, if a satisfiable schema is called
wrong, or if more than one schema in MIN_DECIDED_OF is refused. Texts in which a name stands twice must be
refused where one of its values makes them invalid: readers differ in which they keep.
"""
import json
import random
import subprocess
import sys

import jsonschema

MIN_DECIDED_OF = 100
DEPTH = 3
NAMES = ["a", "b", "ab"]
SCALARS = [None, True, False, -1, 0, 0.5, 1, 1.5, 2, 3, 6, 7, "", "a", "b", "ab", "abc"]
TYPES = ["null", "boolean", "number", "integer", "string", "array", "object"]
BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=1):
        kind = self.random.random()
        if depth == 0 or kind < 0.6:
            return self.random.choice(SCALARS)
        if kind < 0.8:
            return [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        names = self.random.sample(NAMES + ["c"], self.random.randrange(4))
        return {name: self.value(depth - 1) for name in names}

    def names(self):
        return self.random.sample(NAMES, self.random.randint(1, 2))

    def schemas(self, depth, count=2):
        return [self.schema(depth) for _ in range(self.random.randint(1, count))]

    def plain(self):
        """A keyword that holds no schema."""
        keyword = self.random.choice(["type", "type", "const", "enum", "multipleOf", "pattern", "required",
                                      "dependentRequired", self.random.choice(BOUNDS),
                                      self.random.choice(BOUNDS), self.random.choice(COUNTS)])
        if keyword == "type":
            value = self.random.sample(TYPES, self.random.randint(1, 3))
        elif keyword == "const":
            value = self.value()
        elif keyword == "enum":
            value = [self.value() for _ in range(self.random.randint(1, 3))]
        elif keyword == "multipleOf":
            value = self.random.choice([0.5, 1, 2, 3])
        elif keyword == "pattern":
            value = self.random.choice(["^a", "b$", "^[ab]*$", "."])
        elif keyword == "required":
            value = self.names()
        elif keyword == "dependentRequired":
            value = {name: self.names() for name in self.names()}
        else:
            value = self.random.choice([0, 1, 2, 3] if keyword in COUNTS else [-1, 0, 0.5, 1, 3, 6])
        return {keyword: value}

    def applied(self, depth):
        """A keyword that applies schemas, with those that belong to it."""
        keyword = self.random.choice(["not", "not", "anyOf", "oneOf", "allOf", "if", "properties",
                                      "properties", "patternProperties", "additionalProperties",
                                      "propertyNames", "dependentSchemas", "items", "prefixItems",
                                      "contains", "unevaluatedItems",
                                      "unevaluatedProperties"])
        if keyword in ("not", "additionalProperties", "propertyNames", "items", "unevaluatedItems",
                       "unevaluatedProperties"):
            return {keyword: self.schema(depth)}
        if keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
            return {keyword: self.schemas(depth)}
        if keyword == "if":
            parts = {"if": self.schema(depth)}
            for follows in self.random.sample(["then", "else"], self.random.randint(1, 2)):
                parts[follows] = self.schema(depth)
            return parts
        if keyword == "contains":
            parts = {"contains": self.schema(depth)}
            if self.random.random() < 0.4:
                parts[self.random.choice(["minContains", "maxContains"])] = self.random.randrange(3)
            return parts
        keys = ["^a", "b"] if keyword == "patternProperties" else NAMES
        return {keyword: {key: self.schema(depth)
                          for key in self.random.sample(keys, self.random.randint(1, 2))}}

    def schema(self, depth=DEPTH):
        if self.random.random() < 0.06:
            return self.random.random() < 0.6
        schema = {}
        for _ in range(self.random.choice([1, 1, 2, 2, 3])):
            plain = depth == 0 or self.random.random() < 0.45
            schema.update(self.plain() if plain else self.applied(depth - 1))
        return schema


def repeated(maker):
    """A text of an object with a name twice, perhaps within another value, and its two readings."""
    value = maker.value() if maker.random.random() < 0.5 else {}
    name = maker.random.choice(NAMES + ["c"])
    members = list(value.items()) if isinstance(value, dict) else []
    members = [member for member in members if member[0] != name]
    pair = [maker.value(), maker.value()]
    members.insert(maker.random.randint(0, len(members)), (name, pair[0]))
    members.append((name, pair[1]))
    readings = [{key: of for key, of in members if key != name} | {name: of} for of in pair]
    text = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(of)}" for key, of in members) + "}"
    around = maker.random.choice(["", "", "[]", "{}"])
    if around == "[]":
        return f"[{text}]", [[of] for of in readings]
    if around == "{}":
        return f'{{"b": {text}}}', [{"b": of} for of in readings]
    return text, readings


def main():
    tally = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    maker = Maker(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    pool = SCALARS + [maker.value(2) for _ in range(120)]
    twice = [repeated(maker) for _ in range(60)]
    schemas, lines = [], []
    for number in range(count):
        schema = maker.schema()
        validator = jsonschema.Draft202012Validator(schema)
        texts = {True: [], False: []}
        for value in pool:
            texts[validator.is_valid(value)].append(json.dumps(value))
        texts[False] += [text for text, readings in twice if not all(map(validator.is_valid, readings))]
        schemas.append(schema)
        lines.append(json.dumps({"id": str(number), "schema": json.dumps(schema),
                                 "valid": texts[True], "invalid": texts[False]}))
    run = subprocess.run([tally], input="\n".join(lines), capture_output=True, text=True, check=True)
    report = run.stdout.splitlines()
    print(report[0])
    refused = [line for line in report[1:] if line.startswith("refused: ")]
    wrong = [line for line in report[1:] if not line.startswith("refused: ")]
    for line in refused[:20] + wrong[:20]:
        number = line.split(": ")[1].split()[0]
        print(f"{line}\n  schema {json.dumps(schemas[int(number)])}")
    return 1 if wrong or len(refused) * MIN_DECIDED_OF > count else 0


if __name__ == "__main__":
    sys.exit(main())
