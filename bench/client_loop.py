#!/usr/bin/env python3
"""What a step costs from Python and from C++: the same loop against one server, in turn.

    scripts/python-stubs build/python-stubs
    PYTHONPATH=client/python:build/python-stubs MASKD_LIBRARY=build/release/client/libmaskd.so.1 \\
        build/venv/bin/python bench/client_loop.py

A step is: clear, take each row's token, submit (submit_each() in Python), collect; and, in `apply`, the
masks onto float32 logits. Each row writes [a-z]* over the embedded vocabulary, so that what is measured
is the clients. p50 in microseconds, the median of --runs runs; C++ is bench/client_loop_bench over
client/cpp.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import maskd
from maskd import plain

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build/release"
WIDTH = 320
WARM_UP = 200


def python_loop(module, address: str, rows: int, steps: int, transport: str, apply: bool) -> float:
    """The p50 of a step."""
    micros = []
    memory = transport == "memory"
    with module.Client(address, timeout_s=20) as client, client.open_stream(WIDTH, shared_memory=memory) as stream:
        grammar = client.compile(maskd.Grammar.regex("[a-z]*"))
        step, applier = module.Step(), module.Applier()
        logits = np.zeros((rows, WIDTH), dtype=np.float32)
        for row in range(rows):
            step.open(row, grammar)
        stream.run(step)
        ids = np.arange(rows, dtype=np.uint64)
        tokens = np.full(rows, ord("a"), dtype=np.int32)
        targets = {row: row for row in range(rows)}
        for _ in range(WARM_UP + steps):
            start = time.perf_counter()
            stream.submit_each(ids, tokens)
            result = stream.collect()
            if apply:
                result.apply(applier, logits, targets)
            micros.append(1e6 * (time.perf_counter() - start))
    return statistics.median(micros[WARM_UP:])


def cpp_loop(address: str, rows: int, steps: int, transport: str) -> float:
    out = subprocess.run([BUILD / "bench/client_loop_bench", address, str(WIDTH), str(rows),
                          str(steps), transport], check=True, capture_output=True, text=True).stdout
    return float(out.split()[0])


def measure(address: str, rows: int, steps: int, transport: str) -> dict[str, float]:
    made = {"C++": cpp_loop(address, rows, steps, transport),
            "Python": python_loop(maskd, address, rows, steps, transport, apply=False),
            "Python, apply": python_loop(maskd, address, rows, steps, transport, apply=True)}
    if transport == "grpc":
        made["plain"] = python_loop(plain, address, rows, steps, transport, apply=False)
    return made


def report(address: str, rows: int, transport: str, arguments: argparse.Namespace) -> None:
    runs = [measure(address, rows, arguments.steps, transport) for _ in range(arguments.runs)]
    medians = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    print(f"{transport}, {rows} rows: " + ", ".join(
        f"{name} {value:.0f} us ({value / medians['C++']:.2f}x)" for name, value in medians.items()),
        flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="A step from Python and from C++.")
    parser.add_argument("--rows", default="1,8,64")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--transports", default="grpc,memory", help="how steps travel")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        command = [BUILD / "service/maskd", f"--listen={address}", "--metrics_listen="]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            for transport in arguments.transports.split(","):
                for rows in map(int, arguments.rows.split(",")):
                    report(address, rows, transport, arguments)
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
