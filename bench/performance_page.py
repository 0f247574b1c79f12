#!/usr/bin/env python3
"""Writes docs/performance.md, its charts, and the figures in README and docs, from bench/results.

    bench/performance_page.py            writes what differs, and names it
    bench/performance_page.py --check    writes nothing; exit status 1 when something differs

A result file (bench/results/*.json) is one run: title, command, machine, conditions, date, the
commit that was measured (or wrote the figures down), why it is old or "", unit, columns, and rows. A row is a name
and one cell a column: a number, null, or [number, "note"] (the note is shown in brackets).

A page shows a table of a result file between `<!-- figures: NAME -->` and `<!-- end of figures -->`;
`<!-- figures: speed -->` is the README's sentence. No figure stands in this file.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import performance_chart  # noqa: E402  (a neighbour, wherever this is run from)

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
BLOCK = re.compile(r"(<!-- figures: ([a-z_]+) -->)(.*?)(<!-- end of figures -->)", re.DOTALL)
PAGES = ["README.md", "docs/appliers.md", "docs/clients.md", "docs/engines.md", "docs/reliability.md", "docs/transports.md"]


@dataclasses.dataclass
class Result:
    """One result file."""

    name: str
    title: str
    command: str
    machine: str
    conditions: str
    date: str
    recorded_in: str
    old: str
    unit: str
    columns: list
    rows: list

    def number(self, row: str, column: str = "maskd") -> float:
        """The number of a cell, without its note."""
        (cells,) = [cells[1:] for cells in self.rows if cells[0] == row]
        return plain(cells[self.columns.index(column)])


def load() -> dict:
    return {path.stem: Result(name=path.stem, **json.loads(path.read_text(encoding="utf-8")))
            for path in sorted(RESULTS.glob("*.json"))}


def plain(cell):
    return cell[0] if isinstance(cell, list) else cell


def digits(value: float) -> str:
    """As the file has it where that is short, else three digits; thousands are set apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return str(value) if len(str(value)) <= 4 else f"{value:.3g}"


def scaled(cell, scale: float):
    """The number of a cell in the section's unit; a whole one stays whole where the unit is the file's."""
    return plain(cell) if scale == 1 or cell is None else plain(cell) / scale


def text(cell, scale: float) -> str:
    if cell is None:
        return ""
    number = digits(scaled(cell, scale))
    return f"{number} ({cell[1]})" if isinstance(cell, list) else number


def line(cells: list) -> str:
    return "| " + " | ".join(cells).replace("|  ", "| ") + " |"


def table(columns: list, rows: list, corner: str = "", scale: float = 1) -> str:
    names = "--:" if corner == "rows" else "---"
    lines = [line([corner, *columns]), line([names] + ["--:"] * len(columns))]
    lines += [line([row[0], *(text(cell, scale) for cell in row[1:])]) for row in rows]
    return "\n".join(lines).replace("|  |", "| |") + "\n"


@dataclasses.dataclass
class Section:
    """One of the six: a table and a chart of the rows of one result, the prefix cut off their names."""

    slug: str
    title: str
    result: str
    unit: str
    prefix: str = ""
    rows: tuple = ()
    charted: tuple = ()
    scale: float = 1
    logarithmic: bool = True
    before: str = ""
    after: str = ""

    def shown(self, result: Result) -> list:
        names = [self.prefix + name for name in self.rows] or [row[0] for row in result.rows]
        kept = {row[0]: row for row in result.rows}
        return [[name.removeprefix(self.prefix), *kept[name][1:]] for name in names]

    def chart(self, result: Result) -> str:
        rows = [row for row in self.shown(result) if not self.charted or row[0] in self.charted]
        return performance_chart.draw(
            title=f"{self.title}, {self.unit}", logarithmic=self.logarithmic,
            series=[column.replace("`", "") for column in result.columns],
            groups=[(row[0], [scaled(cell, self.scale) for cell in row[1:]]) for row in rows],
            label=digits)

    def markdown(self, results: dict) -> str:
        result = results[self.result]
        parts = [f"### {self.title}\n", self.before.format(**spoken(results)),
                 table(result.columns, self.shown(result), self.unit, self.scale),
                 f"![{self.title}, {self.unit}: the table above as a chart](pictures/performance-{self.slug}.svg)\n",
                 self.after.format(**spoken(results))]
        return "\n".join(part for part in parts if part)


def spoken(results: dict) -> dict:
    """The figures that sentences have, by the names in their braces."""
    alone, memory, wire = results["maskbench"], results["memory"], results["wire"]
    suites, answers = results["exactness"], results["vllm_answers"]
    said = {"schemas": digits(alone.number("schemas compiled of 1,500"))}
    for key, row in {"p50": "mask and accept, p50", "p90": "mask and accept, p90", "p99": "mask and accept, p99",
                     "p999": "mask and accept, p99.9"}.items():
        said[key] = digits(alone.number(row))
    for key, row in {"first50": "text to first mask, p50", "first99": "text to first mask, p99",
                     "first_slowest": "text to first mask, slowest"}.items():
        said[key] = f"{alone.number(row) / 1000:.2g}"
    said |= {"resident": digits(memory.number("a grammar, resident")),
             "row": digits(wire.number("a row, all included")), "dense": digits(wire.number("a dense row"))}
    for key, row in {"bench": "MaskBench", "suite": "JSON-Schema-Test-Suite, core"}.items():
        said |= {f"{key}_right": digits(suites.number(row, "right")), f"{key}_all": digits(suites.number(row, "schemas"))}
    said["answers"] = ", ".join(f"{row[0]} {row[1]}" for row in answers.rows if "_" not in row[0])
    return said


SECTIONS = [
    Section("masks", "A token and its mask", "peers_masks", "us", prefix="mask and accept, ",
            rows=("p50", "p90", "p99", "p99.9", "mean", "slowest"), charted=("p50", "p90", "p99", "p99.9"),
            before="A token is taken and the next mask is copied out. 150 real schemas with their documents, the vocabulary of\n"
                   "Llama 3 (128,256 tokens), four engines in one run.\n",
            after="maskd alone over {schemas} schemas: p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}.\n"),
    Section("first", "From a schema's text to its first mask", "peers_masks", "ms", prefix="text to first mask, ",
            rows=("p50", "p90", "slowest"), scale=1000,
            before="The same run: what a request with a new schema waits for.\n",
            after="maskd alone over {schemas} schemas: p50 {first50} ms, p99 {first99}, slowest {first_slowest}. It is slower in the run with\n"
                  "peers, as three other engines have used the processor's caches in between.\n"),
    Section("steps", "A step of a whole batch", "peers_steps", "us",
            charted=("1 row", "8 rows", "64 rows", "256 rows"),
            before="Each row says its token and gets its mask; p50, with p99 in brackets. The peers run inside the engine's process, maskd\n"
                   "runs in another one. With drafts of 4 a row gets 5 masks.\n",
            after="`copied out` writes every mask as dense words, as the peers do. The other columns of maskd leave it in the short form in\n"
                  "which it came, which the applier reads. Over gRPC one row is slower than with both peers: nearly all of that is the way to another\n"
                  "process and back, which an empty step takes too.\n"),
    Section("logits", "Masks onto logits", "peers_logits", "us a row",
            charted=("float32, 1 row, 50 %", "float32, 64 rows, 50 %", "bfloat16, 64 rows, 50 %"),
            before="The logits of refused tokens are set to minus infinity, in place; the per cent are the allowed tokens. `fill_` is\n"
                   "torch's plain fill of the same logits, for comparison.\n"),
    Section("memory", "Memory", "peers_memory", "KiB",
            after="With its documents taken a grammar of maskd has {resident} KiB resident: the states that its rows met stay, for the next rows.\n"
                  "On the wire a row's mask takes {row} bytes at the mean, everything included; as dense words it would be {dense}.\n"),
    Section("exact", "Verdicts", "peers_masks", "of 150 schemas",
            rows=("schemas with every instance right", "schemas not compiled", "valid instances refused",
                  "invalid instances let through"), logarithmic=False,
            before="The same run of 150 schemas. The last two rows count instances, not schemas.\n",
            after="The valid instances that maskd refuses have their keys in another order than the schema. With `property_order=any` it\n"
                  "accepts them: over whole suites {bench_right} of {bench_all} schemas of MaskBench are right and {suite_right} of {suite_all} of\n"
                  "JSON-Schema-Test-Suite's core ([vectors.md](vectors.md) has the rest and the causes).\n\n"
                  "Of 200 requests to a small model in vLLM, these were finished and valid: {answers}\n"
                  "([engines.md](engines.md#in-vllm-and-sglang)).\n"),
]
PARTS = {"masks": "How fast", "memory": "How small", "exact": "How exact"}

HEAD = """# How fast, how small, how exact

<!-- Written by bench/performance_page.py from bench/results/*.json. Change those, and run it. -->

Six tables, each with its chart. Smaller is better in the first five. Charts of times and bytes have a logarithmic scale. The
last section says where, when and by which command each run was made, and which runs are old.
[The notebook](../bench/results/notebook.md) has all other measurements, with what was tried and did not help.
"""

FOOT = """
## Where these figures come from

The commit is that of the code that was measured, or the one that wrote its figures down a little later. All were measured by us, on
our machines. Measure your own schemas before you decide:
[why-not.md](why-not.md) says with what.
"""


def provenance(results: dict) -> str:
    lines = [FOOT]
    for result in results.values():
        lines.append(f"**{result.title}** ([{result.name}.json](../bench/results/{result.name}.json))\n\n"
                     f"- command: `{result.command}`\n- machine: {result.machine}\n- conditions: {result.conditions}\n"
                     f"- date: {result.date}, commit {result.recorded_in}\n"
                     f"- old: {result.old or 'no'}\n")
    return "\n".join(lines)


def page(results: dict) -> str:
    parts = [HEAD]
    for section in SECTIONS:
        if section.slug in PARTS:
            parts.append(f"## {PARTS[section.slug]}\n")
        parts.append(section.markdown(results))
    return "\n".join(parts) + provenance(results)


def block(name: str, results: dict) -> str:
    """What stands between the two marks of a page."""
    if name == "speed":
        return ("A token and its mask take {p50} us at the median and {p99} us at p99, over {schemas} real schemas with the\n"
                "  vocabulary of Llama 3. From a schema's text to its first mask it takes {first50} ms at the median."
                ).format(**spoken(results))
    result = results[name]
    corner = "rows" if result.rows[0][0].isdigit() else {"apply": "allowed"}.get(name, "")
    return "\n\n" + table(result.columns, result.rows, corner) + "\n"


def made() -> dict:
    """Every file that follows from the result files: path below the repository, and its text."""
    results = load()
    files = {"docs/performance.md": page(results)}
    for section in SECTIONS:
        files[f"docs/pictures/performance-{section.slug}.svg"] = section.chart(results[section.result])
    for path in PAGES:
        files[path] = BLOCK.sub(lambda found: found[1] + block(found[2], results) + found[4],
                                (ROOT / path).read_text(encoding="utf-8"))
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/performance.md and what else shows figures.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when something differs")
    check = parser.parse_args().check
    differ = [(ROOT / path, content) for path, content in made().items()
              if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != content]
    for path, content in differ:
        print(f"{path.relative_to(ROOT)}: {'differs' if check else 'written'}")
        if not check:
            path.write_text(content, encoding="utf-8")
    return int(check and bool(differ))


if __name__ == "__main__":
    sys.exit(main())
