#!/usr/bin/env python3
"""What a server spends on each thing that there can be many of: the constants of docs/scale.md.

    scripts/python-stubs build/python-stubs
    PYTHONPATH=client/python:build/python-stubs MASKD_LIBRARY=build/release/client/libmaskd.so.1 \\
        build/venv/bin/python bench/sizing.py \\
        --tokenizer llama3=build/vocab/llama3.tiktoken,preset=llama3 \\
        --cases ../shared/maskbench/open.jsonl.gz [--json bench/results/sizing.json]

Memory is the server's resident size before and after, divided by how many there are. Processor time is the server's own,
all its threads, divided by steps: without the client's, and without waiting. A busy machine makes the latter larger, as
caches are shared, not the former.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

import maskd

TICKS = os.sysconf("SC_CLK_TCK")
ROW_TOKENS = 500
REPLAYS = 20
STEP_TOKENS = 50
WIDTH = 128256  # of Llama 3, whose tokens MaskBench has


class Server:
    """A server of its own, with no heap touched ahead and no memory kept back, so that what is resident is in use."""

    def __init__(self, binary: pathlib.Path, tokenizers: list[str], *flags: str):
        self.folder = tempfile.TemporaryDirectory()
        self.address = f"unix:{self.folder.name}/s"
        self.process = subprocess.Popen(
            [binary, f"--listen={self.address}", "--metrics_listen=", "--heap_mib=0", "--max_rows=65536",
             "--max_streams=4096", *(f"--tokenizer={each}" for each in tokenizers), *flags],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def client(self) -> maskd.Client:
        return maskd.Client(self.address, timeout_s=60)

    def resident_kib(self) -> float:
        """Once freed pages are back with the system, which takes the server some seconds."""
        time.sleep(6)
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return float(status.split("VmRSS:")[1].split()[0])

    def processor_us(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
        return 1e6 * (int(fields[11]) + int(fields[12])) / TICKS


def of_vocabulary(binary: pathlib.Path, tokenizer: str) -> float:
    """MiB."""
    sizes = []
    for tokenizers in ([], [tokenizer]):
        with Server(binary, tokenizers) as server, server.client() as client:
            client.compile(maskd.Grammar.regex("a*"))
            sizes.append(server.resident_kib())
    return (sizes[1] - sizes[0]) / 1024


def of_stream(binary: pathlib.Path, shared_memory: bool, count: int = 200) -> float:
    """KiB, each with one row that has taken a token."""
    with Server(binary, []) as server, server.client() as client:
        grammar = client.compile(maskd.Grammar.regex("[a-z]*"))
        before, streams = server.resident_kib(), []
        for _ in range(count):
            stream = client.open_stream(320, shared_memory=shared_memory)
            stream.run(maskd.Step().open(1, grammar))
            stream.run(maskd.Step().take(1, [ord("a")]))
            streams.append(stream)
        return (server.resident_kib() - before) / count


def of_row(binary: pathlib.Path, count: int = 4096) -> float:
    """KiB, of rows that have each taken ROW_TOKENS tokens of one grammar."""
    with Server(binary, []) as server, server.client() as client, client.open_stream(320) as stream:
        grammar = client.compile(maskd.Grammar.regex("[a-z]*"))
        stream.run(maskd.Step().open(0, grammar).take(0, [ord("a")] * STEP_TOKENS))
        before = server.resident_kib()
        for first in range(1, count + 1, 256):
            step = maskd.Step()
            for row in range(first, first + 256):
                step.open(row, grammar)
            stream.run(step)
        for _ in range(ROW_TOKENS // STEP_TOKENS):
            for first in range(1, count + 1, 256):
                step = maskd.Step()
                for row in range(first, first + 256):
                    step.take(row, [ord("a")] * STEP_TOKENS)
                stream.run(step)
        return (server.resident_kib() - before) / count


def schemas(path: pathlib.Path, count: int) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for _, line in zip(range(count), lines, strict=False):
            yield json.loads(line)["schema"]


def of_grammar(binary: pathlib.Path, tokenizer: str, cases: pathlib.Path, count: int = 1400) -> tuple[float, float]:
    """KiB of a compiled schema with its first mask, and the server's milliseconds of processor to make it: without the
    masks that are made ahead behind a compile, in time that nothing else wants."""
    name = tokenizer.split("=")[0]
    with Server(binary, [tokenizer], "--warm_up_ms=0") as server, server.client() as client:
        client.compile(maskd.Grammar.regex("a*"), tokenizer=name)
        before, time_before, made = server.resident_kib(), server.processor_us(), 0
        for schema in schemas(cases, count):
            try:
                client.compile(maskd.Grammar("json_schema", schema), tokenizer=name)
                made += 1
            except maskd.MaskdError:
                continue
        spent = server.processor_us() - time_before
        return (server.resident_kib() - before) / made, spent / made / 1000


def of_step(binary: pathlib.Path, rows: int, shared_memory: bool, steps: int = 3000) -> float:
    """The server's microseconds of processor for a step of so many rows, masks known."""
    with Server(binary, []) as server, server.client() as client:
        with client.open_stream(320, shared_memory=shared_memory) as stream:
            grammar = client.compile(maskd.Grammar.regex("[a-z]*"))
            step = maskd.Step()
            for row in range(rows):
                step.open(row, grammar)
            stream.run(step)
            ids = np.arange(rows, dtype=np.uint64)
            tokens = np.full(rows, ord("a"), dtype=np.int32)
            before = server.processor_us()
            for _ in range(steps):
                stream.submit_each(ids, tokens)
                stream.collect()
            return (server.processor_us() - before) / steps


def documents(path: pathlib.Path, count: int) -> list[tuple[str, list[int]]]:
    """Schemas, each with the tokens of its first valid document."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            valid = [test["tokens"] for test in case["tests"] if test.get("valid")]
            if valid and len(found) < count:
                found.append((case["schema"], valid[0][:ROW_TOKENS]))
    return found


def compiled(client: maskd.Client, tokenizer: str, cases: pathlib.Path, count: int) -> list[tuple]:
    """Grammars, each with the tokens of a text of it."""
    rows = []
    for schema, tokens in documents(cases, count):
        try:
            rows.append((client.compile(maskd.Grammar("json_schema", schema), tokenizer=tokenizer), tokens))
        except maskd.MaskdError:
            continue
    time.sleep(2)  # the warm-up behind the compiles
    return rows


def of_tokens(binary: pathlib.Path, tokenizer: str, cases: pathlib.Path, count: int = 256) -> tuple[float, float]:
    """The server's microseconds of processor for a token of a row whose grammar nobody has used: masks are made, those
    ahead of the row too. And for a token that is taken again, as where a row is opened with what it has written."""
    name = tokenizer.split("=")[0]
    with Server(binary, [tokenizer]) as server, server.client() as client:
        rows = compiled(client, name, cases, count)
        with client.open_stream(WIDTH, tokenizer=name) as stream:
            stream.run(opening([(grammar, []) for grammar, _ in rows]))
            total, before = sum(len(tokens) for _, tokens in rows), server.processor_us()
            for at in range(max(len(tokens) for _, tokens in rows)):
                step = maskd.Step()
                for row, (_, tokens) in enumerate(rows):
                    if at < len(tokens):
                        step.take(row, [tokens[at]])
                stream.run(step)
            new = (server.processor_us() - before) / total
        before = server.processor_us()
        for _ in range(REPLAYS):
            with client.open_stream(WIDTH, tokenizer=name) as stream:
                stream.run(opening(rows))
        return new, (server.processor_us() - before) / total / REPLAYS


def of_first_replay(binary: pathlib.Path, tokenizer: str, cases: pathlib.Path, count: int = 2048) -> float:
    """The server's microseconds for a token of a row that is opened with what it has written elsewhere, where nobody has
    used its grammar: states are made on the way, and a mask at its end alone."""
    name = tokenizer.split("=")[0]
    with Server(binary, [tokenizer]) as server, server.client() as client:
        rows = compiled(client, name, cases, count)
        before = server.processor_us()
        with client.open_stream(WIDTH, tokenizer=name) as stream:
            stream.run(opening(rows))
        return (server.processor_us() - before) / sum(len(tokens) for _, tokens in rows)


def opening(rows: list[tuple]) -> maskd.Step:
    step = maskd.Step()
    for row, (grammar, tokens) in enumerate(rows):
        step.open(row, grammar, tokens)
    return step


def measure(options: argparse.Namespace) -> Iterator[tuple[str, float, str]]:
    yield "vocabulary", of_vocabulary(options.server, options.tokenizer), "MiB"
    yield "stream over gRPC", of_stream(options.server, False), "KiB"
    yield "stream through shared memory", of_stream(options.server, True), "KiB"
    yield f"row of {ROW_TOKENS} tokens", of_row(options.server), "KiB"
    grammar, compile_ms = of_grammar(options.server, options.tokenizer, options.cases)
    yield "grammar", grammar, "KiB"
    yield "compile", compile_ms, "ms"
    new, again = of_tokens(options.server, options.tokenizer, options.cases)
    yield "token in new states", new, "us"
    yield "token taken again", again, "us"
    first = of_first_replay(options.server, options.tokenizer, options.cases)
    yield "token taken again, first on its server", first, "us"
    for memory, way in ((False, "gRPC"), (True, "shared memory")):
        one, many = of_step(options.server, 1, memory), of_step(options.server, 256, memory)
        yield f"step by {way}, whatever it has", one - (many - one) / 255, "us"
        yield f"row of a step by {way}", (many - one) / 255, "us"


def as_results(written: dict) -> str:
    """A row a line, as the other files of bench/results."""
    text = json.dumps(written | {"rows": "ROWS"}, indent=1)
    return text.replace('"ROWS"', "[\n  " + ",\n  ".join(map(json.dumps, written["rows"])) + "\n ]") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--server", type=pathlib.Path, default=pathlib.Path("build/release/service/maskd"))
    parser.add_argument("--tokenizer", required=True, help="as maskd takes it")
    parser.add_argument("--cases", type=pathlib.Path, required=True, help="MaskBench's open.jsonl.gz")
    parser.add_argument("--json", type=pathlib.Path, help="the file of bench/results whose rows it writes anew")
    options = parser.parse_args()
    rows = []
    for what, value, unit in measure(options):
        print(f"{what}: {value:.3g} {unit}", flush=True)
        rows.append([f"{what}, {unit}", float(f"{value:.3g}")])
    if options.json:
        written = json.loads(options.json.read_text(encoding="utf-8"))
        kept = [row for row in written["rows"] if row[0] not in {row[0] for row in rows}]
        options.json.write_text(as_results(written | {"rows": rows + kept}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
