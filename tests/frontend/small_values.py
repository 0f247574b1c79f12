"""Values of few parts, and texts that mean them, for small_schemas.py."""
import itertools
import json

NAMES = ["a", "b", "c"]
SCALARS = [None, True, False, -1, 0, 1, 2, 3, 1.5, "", "a", "b", "ab"]
FEW = [None, 1, 2, "a"]
NESTED = [[[]], [{}], [[1], 1], [[1], [1]], [{"a": 1}, {"a": 1}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [True, 1],
          [0, False], {"a": {}}, {"a": []}, {"a": [1]}, {"a": [1, 2], "b": 1}, {"a": {"a": 1}}, {"a": {"b": "a"}, "b": 1},
          {"b": {"a": {"a": 1}}}, {"a": [{"a": 1}]}, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": "a", "c": None}]


def every_value():
    """All scalars, arrays of up to three and objects of up to two of few values, and some of more depth."""
    arrays = [list(items) for length in range(3) for items in itertools.product(FEW, repeat=length)]
    arrays += [list(items) for items in itertools.product([1, "a"], repeat=3)]
    objects = [dict(zip(names, values)) for length in range(3) for names in itertools.combinations(NAMES, length)
               for values in itertools.product(FEW[1:], repeat=length)]
    return SCALARS + arrays + objects + NESTED


def orders(value):
    """The value with its members in every order, those of inner objects too."""
    if isinstance(value, list):
        return [list(items) for items in itertools.product(*map(orders, value))]
    if not isinstance(value, dict):
        return [value]
    return [dict(zip(names, values)) for names in itertools.permutations(value)
            for values in itertools.product(*(orders(value[name]) for name in names))]


def plainly(value):
    return json.dumps(value)


def spelled(value, rng):
    """A text of the value, with escapes, fractions, exponents, white space and an order that RFC 8259 allows."""
    def gap():
        return rng.choice(["", "", "", " ", "\n\t"])

    if isinstance(value, dict):
        names = rng.sample(list(value), len(value))
        members = (gap() + spelled(name, rng) + gap() + ":" + gap() + spelled(value[name], rng) for name in names)
        return "{" + (gap() + ",").join(members) + gap() + "}"
    if isinstance(value, list):
        return "[" + (gap() + ",").join(gap() + spelled(item, rng) for item in value) + gap() + "]"
    text = json.dumps(value)
    if isinstance(value, str):
        return "".join(f"\\u{ord(c):04x}" if c != '"' and rng.random() < 0.3 else c for c in text)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return rng.choice([text, text, text + ("0" if "." in text else ".0"), text + "e0", f"{value * 10:g}E-1"])
    return text
