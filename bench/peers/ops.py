"""Costs of single calls, of decode steps of 64 rows, and memory: maskd and its peers.

    ops.py --cases FILE --tokenizer FILE --build build/release --engines llguidance xgrammar

Documents are those that engine_bench chooses: schemas that maskd compiles, each with its first valid
instance. A peer that does not compile one goes without it. Peers' calls are made from Python and
keep what a call costs there ("empty call"); maskd's are made from C++. Each peer is measured in a
process of its own, so that its memory is its own. Called by compare.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np

import engines

STOP = "<|eot_id|>"
ROWS = 64
STEPS = 300
PASSES = 2  # before the one that counts: what an engine keeps is then known
MATCHERS = 2000
MEMORY_SCHEMAS = 64


def read_documents(path: pathlib.Path, ids: list) -> list:
    """(schema, tokens of the first valid instance) of each id."""
    compare = importable_compare()
    lines = {case_id: line for case_id, line in compare.read_cases(path, 0) if case_id in set(ids)}
    documents = []
    for case_id in ids:
        case = json.loads(lines[case_id])
        test = next(test for test in case["tests"] if test["valid"] and len(test["tokens"]) > 1)
        documents.append((case["schema"], test["tokens"]))
    return documents


def importable_compare():
    from importlib import machinery, util

    loader = machinery.SourceFileLoader("compare", str(pathlib.Path(__file__).with_name("compare")))
    module = util.module_from_spec(util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module


def timed(call, *arguments) -> float:
    start = time.perf_counter_ns()
    call(*arguments)
    return (time.perf_counter_ns() - start) / 1000


def resident_kib() -> float:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1024


def percentiles(name: str, times: list) -> dict:
    return {f"{name} p50": float(np.percentile(times, 50)), f"{name} p99": float(np.percentile(times, 99))}


def measure_calls(engine, documents: list, plane) -> dict:
    times = {"empty call": [], "mask": [], "accept": [], "rollback of 4": [], "fork": []}
    for grammar, tokens in documents:
        for _ in range(PASSES + 1):
            taken = {name: [] for name in times}
            matcher = engine.start(grammar)
            for at, token in enumerate(tokens):
                taken["empty call"].append(timed(lambda *_: None, matcher, token))
                taken["mask"].append(timed(engine.fill, matcher, plane, 0))
                taken["fork"].append(timed(engine.fork, matcher))
                taken["accept"].append(timed(engine.accept, matcher, token))
                if at >= 4:
                    taken["rollback of 4"].append(timed(engine.rollback, matcher, 4))
                    for again in tokens[at - 3:at + 1]:
                        engine.accept(matcher, again)
        for name, each in taken.items():
            times[name] += each
    return dict(itertools.chain.from_iterable(
        percentiles(name, each).items() for name, each in times.items()))


def measure_steps(engine, documents: list, words: int, threads: int) -> dict:
    plane = np.zeros((ROWS, words), dtype=np.int32)
    step = engine.batch(threads)
    rows = [[documents[row % len(documents)], None, 0] for row in range(ROWS)]
    times = []
    longest = max(len(tokens) for _, tokens in documents)
    for number in range(longest + STEPS):
        for row in rows:
            if row[1] is None or row[2] == len(row[0][1]):
                row[1], row[2] = engine.start(row[0][0]), 0
        tokens = [row[0][1][row[2]] for row in rows]
        took = timed(step, [row[1] for row in rows], tokens, plane)
        for row in rows:
            row[2] += 1
        if number >= longest:
            times.append(took)
    return percentiles(f"step of {ROWS} rows, {threads} thread{'s' * (threads > 1)}", times)


def measure_memory(engine, cases: list) -> dict:
    before = resident_kib()
    kept = []
    for _, line in cases:
        case = json.loads(line)
        tokens = next((test["tokens"] for test in case["tests"] if test["valid"]), [])
        try:
            grammar = engine.compile(case["schema"])
            engine.start(grammar)
        except engines.CompileError:
            continue
        kept.append((grammar, tokens))
    compiled = resident_kib()
    matchers = []
    for grammar, tokens in itertools.islice(itertools.cycle(kept), MATCHERS):
        matcher = engine.start(grammar)
        for token in tokens:
            engine.accept(matcher, token)
        matchers.append(matcher)
    return {"KiB a compiled grammar": (compiled - before) / len(kept),
            "KiB a further matcher": (resident_kib() - compiled) / MATCHERS}


def measure_peer(name: str, arguments) -> dict:
    vocabulary = engines.Vocabulary(arguments.tokenizer, STOP)
    engine = engines.ENGINES[name](vocabulary)
    if arguments.part == "memory":
        return measure_memory(
            engine, importable_compare().read_cases(arguments.cases, MEMORY_SCHEMAS))
    documents = []
    for schema, tokens in read_documents(arguments.cases, arguments.documents.split()):
        try:
            documents.append((engine.compile(schema), tokens))
        except engines.CompileError:
            continue
    plane = np.zeros((1, vocabulary.words()), dtype=np.int32)
    figures = {"documents": len(documents)} | measure_calls(engine, documents, plane)
    for threads in (1, 2):
        figures |= measure_steps(engine, documents, vocabulary.words(), threads)
    return figures


def in_process(name: str, part: str, arguments, documents: str) -> dict:
    """measure_peer() in a process of its own."""
    command = [*shlex.split(arguments.prefix), sys.executable, __file__, "--cases", arguments.cases,
               "--tokenizer", arguments.tokenizer, "--peer", name, "--part", part, "--documents",
               documents]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"died": 1}


def measure_ours(arguments) -> tuple:
    """The figures of engine_bench and memory_bench, and the documents' ids."""
    prefix = shlex.split(arguments.prefix)
    common = [f"--cases={arguments.cases}", f"--tokenizer={arguments.tokenizer}"]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([*prefix, arguments.build / "bench/engine_bench", *common,
                        f"--benchmark_out={out.name}", "--benchmark_min_time=0.2"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        report = json.load(out)
    names = {"accept/manual_time": "accept", "rollback_4/manual_time": "rollback of 4",
             "fork/manual_time": "fork", "mask_copied/manual_time": "mask",
             "step/rows:64/threads:1/manual_time": f"step of {ROWS} rows, 1 thread",
             "step/rows:64/threads:2/manual_time": f"step of {ROWS} rows, 2 threads"}
    figures = {"documents": len(report["context"]["documents"].split())}
    for benchmark in report["benchmarks"]:
        name = names.get(benchmark["name"])
        for percent in ("p50", "p99"):
            if name and f"{percent}_us" in benchmark:
                figures[f"{name} {percent}"] = benchmark[f"{percent}_us"]
            elif name:
                figures[f"{name} {percent}"] = benchmark[f"{percent}_ns"] / 1000
    memory = subprocess.run(
        [arguments.build / "bench/memory_bench", *common, f"--sample={MEMORY_SCHEMAS}",
         f"--matchers={MATCHERS}"], capture_output=True, text=True, check=True).stdout
    for what, name in (("compiled", "KiB a compiled grammar"), ("matchers", "KiB a further matcher")):
        figures[name] = float(re.search(rf"^{what} .*, +([\d.]+) KiB each", memory, re.MULTILINE)[1])
    return figures, report["context"]["documents"]


def cell(value) -> str:
    if value is None:
        return ""
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def print_table(columns: dict) -> None:
    rows = list(dict.fromkeys(itertools.chain.from_iterable(columns.values())))
    print("\n| microseconds, or as named | " + " | ".join(columns) + " |")
    print("|:---|" + "---:|" * len(columns))
    for row in rows:
        cells = [cell(column.get(row)) for column in columns.values()]
        print(f"| {row} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Costs of single calls, steps and memory.")
    parser.add_argument("--cases", type=pathlib.Path, required=True)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--engines", nargs="*", default=[])
    parser.add_argument("--peer", help="only this one, as JSON")
    parser.add_argument("--part", choices=["calls", "memory"])
    parser.add_argument("--documents", default="")
    arguments = parser.parse_args()
    if arguments.peer:
        print(json.dumps(measure_peer(arguments.peer, arguments)))
        return
    columns = {}
    columns["maskd"], documents = measure_ours(arguments)
    for name in arguments.engines:
        columns[name] = in_process(name, "calls", arguments, documents)
        columns[name] |= in_process(name, "memory", arguments, documents)
    print_table(columns)


if __name__ == "__main__":
    main()
