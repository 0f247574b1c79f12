#!/usr/bin/env python3
"""Judges the results of `maskctl simulate --out FILE` with the jsonschema package (Draft 2020-12).

    examples/validate_json.py FILE

Each line of FILE is an object with `schema` and `text`, and perhaps a `name`. Prints a verdict for
each. Exit status: 0 when every text is JSON that its schema accepts, 1 when one is not or there is
none, 2 when FILE cannot be read.
"""

import json
import sys
from typing import Any, NoReturn

from jsonschema import Draft202012Validator


def refuse_constant(name: str) -> NoReturn:
    """NaN and Infinity, which Python's reader takes and JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def verdict(schema: Any, text: str) -> str | None:
    """None when `schema` accepts `text`, else why not."""
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except ValueError as error:
        return f"not JSON: {error}"
    Draft202012Validator.check_schema(schema)
    errors = sorted(Draft202012Validator(schema).iter_errors(value), key=lambda e: list(e.path))
    return f"{errors[0].json_path}: {errors[0].message}" if errors else None


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    failed = 0
    for line in lines:
        why = verdict(line["schema"], line["text"])
        failed += why is not None
        print(f"{line.get('name', 'text')}: {'valid' if why is None else 'INVALID: ' + why}")
    print(f"{len(lines) - failed} of {len(lines)} valid (jsonschema, Draft 2020-12)")
    return 0 if lines and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
