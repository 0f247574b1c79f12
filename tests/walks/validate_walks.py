"""Random walks, judged by Python's json and the jsonschema package.

    validate_walks.py random_walks [FLAG...]

Runs the program with the flags and checks every text that it prints: json reads it, and the validator
of the schema's draft (2020-12 where it names none) accepts it, its formats too unless it names 2019-09
or 2020-12. Exit: 0; 1 a text is wrong, or the program failed; 77 the program had no data.
"""

import decimal
import json
import re
import subprocess
import sys
import warnings

import jsonschema

SKIPPED = 77
SHOWN = 20
# Digits: over all that a text of numbers with exponents may need, so that multipleOf never rounds.
decimal.getcontext().prec = 12_000
sys.set_int_max_str_digits(0)


def exact(text):
    """The number, whatever its spelling; an int where it is an integer, as jsonschema asks."""
    number = decimal.Decimal(text)
    return int(number) if number == number.to_integral_value() else number


# The formats that jsonschema's checkers know as we do; tests/formats looks at all.
FORMATS = jsonschema.FormatChecker(
    formats=["date", "email", "hostname", "idn-email", "ipv4", "ipv6", "json-pointer",
             "relative-json-pointer", "uri", "uri-reference", "uuid"])


def read(text):
    return json.loads(text, parse_float=exact)


def validator_of(schema):
    cls = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    named = str(schema.get("$schema", "")) if isinstance(schema, dict) else ""
    return cls(schema, format_checker=None if "/20" in named else FORMATS)


def fault_of(validator, text):
    """What is wrong with the text, or None."""
    # White space in a pattern is what ECMA-262 has it: U+FEFF is in it, but not in Python's, so it is
    # judged as the no-break space, which is in both.
    text = re.sub(r"\ufeff|\\u[fF][eE][fF]{2}", "\u00a0", text)
    try:
        instance = read(text)
    except ValueError as error:
        return f"json: {error}"
    error = next(validator.iter_errors(instance), None)
    return error and f"jsonschema: {error.message[:300]} at {error.json_path[:200]}"


def main():
    # Of a $schema that jsonschema does not know, once a schema.
    warnings.simplefilter("ignore", DeprecationWarning)
    walks = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
    validators, count, faults = {}, 0, []
    for line in walks.stdout:
        walk = json.loads(line)
        if walk["id"] not in validators:
            validators[walk["id"]] = validator_of(read(walk["schema"]))
        count += 1
        fault = fault_of(validators[walk["id"]], walk["text"])
        if fault is not None:
            faults.append((walk, fault))
    status = walks.wait()
    for walk, fault in faults[:SHOWN]:
        print(f"{walk['id']}: {fault}")
        print(f"  text   {walk['text'][:600]!r}\n  schema {walk['schema'][:600]}")
    print(f"{count} texts of {len(validators)} schemas, {len(faults)} not valid", flush=True)
    if status in (0, SKIPPED) and not faults:
        return status
    return 1


if __name__ == "__main__":
    sys.exit(main())
