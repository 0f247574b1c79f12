"""Real schemas with their valid instances, shuffled and mutated, for `maskctl schemas`.

    mutate_instances.py --schemas 2000 > mutants.jsonl
    mutate_instances.py --schemas 150 --maskctl build/release/tools/maskctl

Each line has a schema of MaskBench's open half, its valid instances, the same with the keys of every
object in a random order ("shuffled"), and mutants: a member or an item dropped, added, doubled,
swapped or of another type, a number or a string changed a little. The jsonschema package says which
mutants are valid; formats are annotations here, to it and to maskctl. Schemas that jsonschema cannot
judge (patterns that Python does not read, references that it would fetch) are left out and counted.

With --maskctl the file is run, any order of keys and formats as annotations. Exit: 0; 1 a verdict is
wrong; 77 the data is missing.
"""

import argparse
import copy
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import jsonschema

from validate_walks import SKIPPED, read

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUES = [None, True, False, 0, 1, -1, 2.5, "", "a", [], {}, [0], {"a": 0}]


def places(value, at=()):
    """Every path into the value."""
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], at + (name,))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], at + (index,))


def find(value, at):
    for step in at:
        value = value[step]
    return value


def changed(value, rng):
    """A scalar, a little different."""
    if isinstance(value, bool) or value is None:
        return rng.choice(VALUES)
    if isinstance(value, (int, float)):
        return rng.choice([value + 1, value - 1, -value, value * 10])
    if isinstance(value, str):
        cut = rng.randrange(len(value) + 1)
        return rng.choice([value + "x", value[:cut], value[:cut] + "0" + value[cut:], value.upper()])
    return rng.choice(VALUES)


def mutate_object(value, rng):
    name = rng.choice(list(value)) if value else "a"
    kind = rng.randrange(3)
    if kind == 0 and value:
        del value[name]
    elif kind == 1 and value:
        value[name + "x"] = value.pop(name)
    else:
        value[rng.choice(["zz", "a", name + "1"])] = rng.choice(VALUES)


def mutate_array(value, rng):
    kind = rng.randrange(3)
    if kind == 0 and value:
        del value[rng.randrange(len(value))]
    elif kind == 1 and value:
        value.insert(rng.randrange(len(value) + 1), copy.deepcopy(rng.choice(value)))
    else:
        value.append(rng.choice(VALUES))


def mutant(instance, rng):
    whole = [copy.deepcopy(instance)]
    at = rng.choice(list(places(whole[0])))
    value = find(whole[0], at)
    if isinstance(value, dict) and rng.random() < 0.8:
        mutate_object(value, rng)
    elif isinstance(value, list) and rng.random() < 0.8:
        mutate_array(value, rng)
    else:
        at = (0,) + at
        find(whole, at[:-1])[at[-1]] = changed(value, rng)
    return whole[0]


def shuffled(value, rng):
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: shuffled(value[name], rng) for name in names}
    if isinstance(value, list):
        return [shuffled(item, rng) for item in value]
    return value


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


def no_fetch(uri):
    raise LookupError(uri)


def judge_of(schema):
    """The validator; it fetches nothing."""
    cls = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    resolver = jsonschema.RefResolver.from_schema(
        schema, id_of=cls.ID_OF, handlers={"http": no_fetch, "https": no_fetch})
    return cls(schema, resolver=resolver)


def line_of(entry, mutants, rng):
    schema = read(entry["schema"])
    judge = judge_of(schema)
    line = {"id": entry["id"], "schema": entry["schema"], "valid": [], "invalid": [], "shuffled": []}
    for test in entry["tests"]:
        if not test["valid"]:
            continue
        instance = json.loads(test["text"])
        if not judge.is_valid(read(test["text"])):
            continue  # jsonschema knows better, or worse: this one is not for it to judge
        line["valid"].append(test["text"])
        line["shuffled"].append(text_of(shuffled(instance, rng)))
        for _ in range(mutants):
            text = text_of(mutant(instance, rng))
            line["valid" if judge.is_valid(read(text)) else "invalid"].append(text)
    return line


def lines_of(path, arguments):
    rng = random.Random(arguments.seed)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    rng.shuffle(entries)
    left_out, lines = 0, []
    for entry in entries:
        if len(lines) == arguments.schemas:
            break
        if not any(test["valid"] for test in entry["tests"]):
            continue
        try:
            lines.append(line_of(entry, arguments.mutants, rng))
        except Exception:  # pylint: disable=broad-except  # whatever jsonschema stumbles over
            left_out += 1
    print(f"{len(lines)} schemas, {sum(len(l['valid']) for l in lines)} valid texts, "
          f"{sum(len(l['invalid']) for l in lines)} invalid, "
          f"{sum(len(l['shuffled']) for l in lines)} shuffled; "
          f"{left_out} schemas that jsonschema cannot judge left out", file=sys.stderr)
    return lines


def run(maskctl, lines):
    """Whether maskctl's verdicts are jsonschema's."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
        file.flush()
        done = subprocess.run(
            [maskctl, "schemas", "--local", "--property_order", "any", "--assert_formats", "false",
             file.name], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    print(done.stdout[-6000:], done.stderr[-2000:])
    rows = [row for row in done.stdout.splitlines() if row.startswith("|  | ")]
    if not rows:
        return False
    cells = [cell.strip() for cell in rows[0].split("|")[2:-1]]
    return [int(cell) for cell in cells[3:6] + cells[7:9]] == [0] * 5


def main():
    warnings.simplefilter("ignore", DeprecationWarning)
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=2000)
    parser.add_argument("--mutants", type=int, default=6, help="of each valid instance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--maskctl", help="run the file instead of printing it")
    arguments = parser.parse_args()
    shared = os.environ.get("MASKD_SHARED_DIR", ROOT.parent / "shared")
    path = pathlib.Path(shared) / "maskbench" / "open.jsonl.gz"
    if not path.exists():
        print("SKIPPED: no", path)
        return SKIPPED
    lines = lines_of(path, arguments)
    if arguments.maskctl:
        return 0 if run(arguments.maskctl, lines) else 1
    for line in lines:
        print(json.dumps(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
