#!/usr/bin/env python3
"""The schemas that take longest, and most memory, from result lines of maskbench.

    bench/slowest.py results.jsonl --count 50

Three lists as Markdown tables: by compile, by the slowest mask of a schema, and by the memory that
the grammar holds after its instances; a last line for each says what part of the whole the list is.
"""

import argparse
import json
import sys

MEASURES = {
    "compile": ("ms", lambda line: line["compile_us"] / 1000),
    "slowest mask": ("ms", lambda line: max(line["mask_us"], default=0) / 1000),
    "memory": ("MiB", lambda line: line["mem_bytes"] / 2**20),
}


def read_lines(path):
    with (sys.stdin if path == "-" else open(path, encoding="utf-8")) as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["status"] == "ok"]


def table(name, lines, count):
    unit, measure = MEASURES[name]
    ranked = sorted(((measure(line), line["id"]) for line in lines), reverse=True)
    rows = [f"| {name}, {unit} | schema |", "| --: | --- |"]
    rows += [f"| {value:.1f} | {schema.removesuffix('.json')} |" for value, schema in ranked[:count]]
    total = sum(value for value, _ in ranked)
    listed = sum(value for value, _ in ranked[:count])
    share = 100 * listed / total if total else 0
    rows.append(f"\n{listed:,.0f} of {total:,.0f} {unit}, {share:.0f} %")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", help="result lines of maskbench --out; - is standard input")
    parser.add_argument("--count", type=int, default=50, help="schemas of each list")
    arguments = parser.parse_args()
    lines = read_lines(arguments.results)
    print("\n\n".join(table(name, lines, arguments.count) for name in MEASURES))


if __name__ == "__main__":
    main()
