#!/usr/bin/env python3
"""What a cell of engines and servers needs, from the constants of bench/results/sizing.json: the tables of docs/scale.md.

    bench/cell_plan.py [--engines 1000] [--rows 256] [--tokens_per_s 50] [--replicas 40] [--cores 2] ...
    bench/cell_plan.py --constants       what bench/sizing.py measured
    bench/cell_plan.py --write           puts both into docs/scale.md

Prints what one replica has to do and to hold as usual and when something happens. It is arithmetic, no simulation: each line
is a product of what the command line says and of those constants.
"""

import argparse
import json
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/scale.md"
SIZING = pathlib.Path(__file__).resolve().parent / "results/sizing.json"
ZONES = 3
# Each flag: its default, and what it counts.
FLAGS = {
    "engines": (1000, "engines, each with one stream"),
    "rows": (256, "constrained rows of an engine's batch"),
    "tokens_per_s": (50, "steps a second of an engine"),
    "replicas": (40, "servers"),
    "cores": (2, "of one server"),
    "row_tokens": (500, "tokens that a row has when something happens"),
    "new_states": (0.02, "the share of tokens whose state no row has met before"),
    "grammars": (2000, "grammars in use in the whole cell"),
}


def constants(path: pathlib.Path) -> dict[str, float]:
    """By what it is, without the unit."""
    return {row[0].rpartition(", ")[0]: row[1] for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}


class Replica:
    """Of a cell whose `replicas` share the engines evenly."""

    def __init__(self, cell: argparse.Namespace, of: dict[str, float], replicas: int):
        self.cell, self.of = cell, of
        self.engines = -(-cell.engines // replicas)
        self.rows = self.engines * cell.rows

    def busy_cores(self) -> float:
        """Steps alone, over gRPC."""
        known = self.of["step by gRPC, whatever it has"] + self.cell.rows * self.of["row of a step by gRPC"]
        new = self.cell.rows * self.cell.new_states * self.of["token in new states"]
        return self.engines * self.cell.tokens_per_s * (known + new) / 1e6

    def memory_mib(self) -> float:
        """Without masks and what grammars learn, which stores and caches bound."""
        kib = (self.engines * self.of["stream over gRPC"] + self.rows * self.of["row of 500 tokens"] *
               self.cell.row_tokens / 500 + self.cell.grammars * self.of["grammar"])
        return self.of["vocabulary"] + kib / 1024

    def wire_mb_per_s(self) -> float:
        return self.rows * self.cell.tokens_per_s * self.of["bytes of a row on the wire"] / 1e6

    def reopen_s(self, engines: int, cold: bool) -> float:
        """Until so many engines more have their rows here, on all cores: tokens are taken again, grammars that are not here
        compiled, and their states made by the first row of each."""
        rows = engines * self.cell.rows
        work_us = rows * self.cell.row_tokens * self.of["token taken again"]
        if cold:
            new_us = self.of["token taken again, first on its server"] - self.of["token taken again"]
            work_us += self.cell.grammars * (1000 * self.of["compile"] + self.cell.row_tokens * new_us)
        return work_us / 1e6 / self.cell.cores


def line(what: str, *cells: str) -> str:
    return f"| {what} | {' | '.join(cells)} |"


def tables(cell: argparse.Namespace, of: dict[str, float]) -> str:
    usual = Replica(cell, of, cell.replicas)
    left = cell.replicas - -(-cell.replicas // ZONES)
    lost = Replica(cell, of, left)
    rows = [
        line("a replica of", str(cell.replicas), f"{left}: a zone of {ZONES} is lost"),
        line("---", "--:", "--:"),
        line("engines, rows", *(f"{each.engines}, {each.rows:,}" for each in (usual, lost))),
        line(f"cores busy with steps, of {cell.cores}", *(f"{each.busy_cores():.2f}" for each in (usual, lost))),
        line("MiB held, beside masks and what grammars learn", *(f"{each.memory_mib():.0f}" for each in (usual, lost))),
        line("MB a second on the wire", *(f"{each.wire_mb_per_s():.1f}" for each in (usual, lost))),
    ]
    more = lost.engines - usual.engines
    events = [
        line("what happens", "seconds until every row goes on"),
        line("---", "--:"),
        line(f"a zone is lost: {more} engines more on each replica that is left", f"{lost.reopen_s(more, False):.2f}"),
        line("a rolling upgrade: the rows of one replica open on the others",
             f"{usual.reopen_s(-(-usual.engines // (cell.replicas - 1)), False):.2f}"),
        line("everybody reopens at once, grammars known", f"{usual.reopen_s(usual.engines, False):.2f}"),
        line("everybody reopens at once on new servers, nothing known", f"{usual.reopen_s(usual.engines, True):.2f}"),
    ]
    return "\n".join([*rows, "", *events])


def table_of_constants(path: pathlib.Path) -> str:
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return "\n".join([line("one of", "costs"), line("---", "--:"), *(line(what, f"{value:g}") for what, value in rows)])


def with_tables(page: str, constants_table: str, plan: str) -> str:
    for name, table in (("constants", constants_table), ("plan", plan)):
        page = re.sub(rf"(<!-- {name}: [^>]*-->\n).*?(<!-- end -->)", lambda found, table=table: found[1] + "\n" + table + "\n\n" + found[2],
                      page, flags=re.DOTALL)
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, (default, meaning) in FLAGS.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{meaning} [{default}]")
    parser.add_argument("--sizing", type=pathlib.Path, default=SIZING)
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--write", action="store_true")
    cell = parser.parse_args()
    plan = tables(cell, constants(cell.sizing))
    if cell.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_tables(page, table_of_constants(cell.sizing), plan), encoding="utf-8")
    else:
        print(table_of_constants(cell.sizing) if cell.constants else plan)


if __name__ == "__main__":
    main()
