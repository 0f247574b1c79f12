#!/usr/bin/env python3
"""Masks onto logits: maskd's CPU applier and its peers, in one process and one run.

    python3 -m venv build/apply-venv
    build/apply-venv/bin/pip install -r bench/peers/requirements.txt -r bench/peers/requirements-apply.txt
    build/apply-venv/bin/pip install --no-deps -r bench/peers/requirements-alone.txt
    PYTHONPATH=client/python MASKD_LIBRARY=build/release/client/libmaskd.so.1 \\
        build/apply-venv/bin/python bench/peers/apply.py

torch takes gigabytes. Every engine masks the same logits by the same words, called from Python, on --threads
threads: xgrammar's backends cpu (which has one) and torch_compile (after their warm-up), llguidance's numpy
(float32 alone, one thread), and torch's masked_fill_ by flags that are expanded beforehand, which no engine
is spared. Beside them what memory allows: torch's fill_ of the same logits, which only writes them.
Microseconds a row, the median of --runs rounds in which all take turns; how many times maskd's in brackets.
"""

import argparse
import statistics
import sys
import time

import llguidance.numpy
import maskd
import numpy as np
import torch
import xgrammar

VOCAB = 128_256
SHARES = {"narrow": 0.0005, "half": 0.5, "wide": 0.97}
WARM_SECONDS = 0.01
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def masks(rows: int, share: float) -> np.ndarray:
    bits = np.random.default_rng(1).random((rows, VOCAB)) < share
    return np.packbits(bits, axis=1, bitorder="little").view(np.int32)


def engines(logits: torch.Tensor, words: np.ndarray, threads: int) -> dict:
    """Name -> a call that masks the logits."""
    applier = maskd.Applier(f"cpu:{threads}")
    bitmask = torch.from_numpy(words)
    flags = torch.from_numpy(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little") == 0)
    calls = {
        "maskd": lambda: applier.apply_bitmask(logits, bitmask),
        "xgrammar cpu": lambda: xgrammar.apply_token_bitmask_inplace(logits, bitmask, backend="cpu"),
        "xgrammar torch_compile": lambda: xgrammar.apply_token_bitmask_inplace(
            logits, bitmask, backend="torch_compile"),
        "torch masked_fill_": lambda: logits.masked_fill_(flags, -torch.inf),
    }
    if logits.dtype == torch.float32:
        plane = logits.numpy()
        calls["llguidance numpy"] = lambda: llguidance.numpy.apply_token_bitmask_inplace(plane, words)
    return calls


def check(calls: dict, logits: torch.Tensor, words: np.ndarray) -> None:
    """All leave the same logits; their warm-up too."""
    allowed = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little") != 0
    for name, call in calls.items():
        logits.fill_(1.0)
        call()
        if not np.array_equal(torch.isfinite(logits).numpy(), allowed):
            sys.exit(f"{name}: not the mask")


def warm_up(call) -> None:
    """After a sleep memory is slow for some milliseconds: what would be measured is that."""
    end = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < end:
        call()


def measure(calls: dict, rows: int, runs: int) -> dict:
    repeats = {name: max(1, (200 if name == "maskd" else 20) // rows) for name in calls}
    times = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            time.sleep(0.02)  # torch's threads spin for a while after their work
            warm_up(call)
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append(1e6 * (time.perf_counter() - start) / repeats[name] / rows)
    return {name: statistics.median(each) for name, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Masks onto logits: maskd and its peers.")
    parser.add_argument("--rows", default="1,64")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1, help="of maskd and torch")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for dtype, kind in TYPES.items():
        for rows in map(int, arguments.rows.split(",")):
            logits = torch.ones((rows, VOCAB), dtype=kind)
            for share_name, share in SHARES.items():
                words = masks(rows, share)
                calls = engines(logits, words, arguments.threads)
                check(calls, logits, words)
                calls["fill_"] = lambda logits=logits: logits.fill_(-torch.inf)
                medians = measure(calls, rows, arguments.runs)
                print(f"{dtype}, {rows} rows, {share_name}: " + ", ".join(
                    f"{name} {micros:.1f} ({micros / medians['maskd']:.1f})"
                    for name, micros in medians.items()), flush=True)


if __name__ == "__main__":
    main()
