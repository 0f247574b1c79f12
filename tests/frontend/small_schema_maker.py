"""Small random schemas of few keywords and few values, for small_schemas.py."""
import random

import small_values

DRAFTS = {"2020-12": "https://json-schema.org/draft/2020-12/schema",
          "2019-09": "https://json-schema.org/draft/2019-09/schema",
          "7": "http://json-schema.org/draft-07/schema#"}
NAMES = ["a", "b"]
PATTERNS = ["^a", "b$", "^[ab]$", "."]
TYPES = ["null", "boolean", "number", "integer", "string", "array", "object"]
BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
COUNTS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]
# A schema within one of these speaks of a part of the instance, so a reference there may lead back.
INWARD = ["properties", "patternProperties", "additionalProperties", "propertyNames", "items", "prefixItems", "contains",
          "unevaluatedItems", "unevaluatedProperties"]
BESIDE = ["not", "oneOf", "anyOf", "allOf", "if", "dependentSchemas"]
# Beside what draft 7 does not have: jsonschema 4.26 judges what 2019-09 calls unevaluated as no standard does.
LEFT_OUT = {"7": {"unevaluatedItems", "unevaluatedProperties"}, "2020-12": set(),
            "2019-09": {"unevaluatedItems", "unevaluatedProperties"}}


class Maker:
    """Schemas of one draft; `focus` keywords come up more often than others."""

    def __init__(self, rng: random.Random, draft: str = "2020-12"):
        self._rng = rng
        self._draft = draft
        self._definitions = 0
        self._of_resources = False
        self._anchored: list = []
        self._values = [value for value in small_values.every_value() if rng.random() < 0.15]
        self._values = self._values or [1]
        self._focus = rng.sample(INWARD + BESIDE, 3)

    def schema(self):
        """A root with its definitions: by pointers, or of resources with dynamic anchors (2020-12)."""
        rng = self._rng
        self._definitions = rng.choice([0, 0, 1, 2])
        self._of_resources = self._draft == "2020-12" and self._definitions > 0 and rng.random() < 0.4
        self._anchored = [rng.random() < 0.6 for _ in range(self._definitions + 1)]
        root = self._object(3, -1, False)
        held = [self._object(2, number, False) for number in range(self._definitions)]
        if self._of_resources:
            for number, schema in enumerate([root, *held]):
                # The root is not the resource of a definition: its number is one less.
                schema["$id"] = f"https://example.com/{'root' if number == 0 else f'r{number - 1}'}"
                if self._anchored[number]:
                    schema["$dynamicAnchor"] = "n"
        if held:
            root["$defs" if self._draft != "7" else "definitions"] = {f"d{n}": held[n] for n in range(len(held))}
        return {"$schema": DRAFTS[self._draft], **root}

    def _object(self, depth, here, inward):
        schema: dict = {}
        for _ in range(self._rng.choice([1, 1, 2, 2, 3])):
            plain = depth == 0 or self._rng.random() < 0.4
            schema.update(self._plain() if plain else self._applied(depth - 1, here, inward))
        return schema or {"type": self._rng.choice(TYPES)}

    def _sub(self, depth, here, inward):
        chance = self._rng.random()
        if chance < 0.08:
            return chance < 0.05
        if chance < 0.25:
            reference = self._reference(here, inward)
            if reference and self._draft != "7" and self._rng.random() < 0.3:
                reference.update(self._plain())
            if reference:
                return reference
        return self._object(depth, here, inward)

    def _reference(self, here, inward):
        """Beside the instance only to a later definition: no schema leads back to itself without a step in."""
        if inward and self._of_resources and self._rng.random() < 0.5:
            targets = [("" if number == here + 1 else f"r{number - 1}") for number, has in enumerate(self._anchored)
                       if has and (number > 0 or here == -1)]
            return {"$dynamicRef": self._rng.choice(targets) + "#n"} if targets else None
        targets = list(range(0 if inward else here + 1, self._definitions))
        if inward and self._rng.random() < 0.3 and not self._of_resources:
            return {"$ref": "#"}
        if not targets:
            return None
        number = self._rng.choice(targets)
        if self._of_resources:
            return {"$ref": f"r{number}"}
        return {"$ref": f"#/{'$defs' if self._draft != '7' else 'definitions'}/d{number}"}

    def _names(self):
        return self._rng.sample(NAMES, self._rng.randint(1, 2))

    def _plain(self):
        rng = self._rng
        keyword = rng.choice(["type", "type", "const", "enum", "enum", "multipleOf", "pattern", "required", "required",
                              "uniqueItems", "dependentRequired", rng.choice(BOUNDS), rng.choice(COUNTS)])
        values = {
            "type": lambda: rng.choice([rng.choice(TYPES), rng.sample(TYPES, 2)]),
            "const": lambda: rng.choice(self._values),
            "enum": lambda: [rng.choice(self._values) for _ in range(rng.randint(1, 3))],
            "multipleOf": lambda: rng.choice([0.5, 1, 2, 3]),
            "pattern": lambda: rng.choice(PATTERNS),
            "required": self._names,
            "uniqueItems": lambda: rng.random() < 0.8,
            "dependentRequired": lambda: {name: self._names() for name in self._names()}}
        numbers = [0, 1, 2, 3] if keyword in COUNTS else [-1, 0, 1, 1.5, 2]
        value = values[keyword]() if keyword in values else rng.choice(numbers)
        return {"dependencies" if self._draft == "7" and keyword == "dependentRequired" else keyword: value}

    def _applied(self, depth, here, inward):
        rng = self._rng
        keyword = rng.choice(self._focus if rng.random() < 0.5 else INWARD + BESIDE)
        inward = inward or keyword in INWARD
        if keyword in LEFT_OUT[self._draft]:
            keyword = "additionalProperties"
        some = [self._sub(depth, here, inward) for _ in range(rng.randint(1, 2))]
        if keyword in ("anyOf", "oneOf", "allOf"):
            return {keyword: some}
        if keyword == "prefixItems":
            return self._prefix(some)
        if keyword == "if":
            follows = rng.sample(["then", "else"], rng.randint(1, 2))
            return {"if": some[0]} | {name: self._sub(depth, here, inward) for name in follows}
        if keyword in ("properties", "patternProperties", "dependentSchemas"):
            keys = rng.sample(PATTERNS if keyword == "patternProperties" else NAMES, len(some))
            renamed = "dependencies" if self._draft == "7" and keyword == "dependentSchemas" else keyword
            return {renamed: dict(zip(keys, some))}
        if keyword == "contains" and self._draft != "7" and rng.random() < 0.4:
            return {"contains": some[0], rng.choice(["minContains", "maxContains"]): rng.randrange(3)}
        return {keyword: some[0]}

    def _prefix(self, some):
        """As each draft calls it, perhaps with what stands behind."""
        first, behind = ("prefixItems", "items") if self._draft == "2020-12" else ("items", "additionalItems")
        return {first: some} | ({behind: self._rng.random() < 0.3} if self._rng.random() < 0.4 else {})
