"""Times of maskd.TorchApplier on a GPU, each way beside triton's, in turns: microseconds of one application.

    tests/python/on_gpu                    the tests, and then this
    python tests/python/torch_applier_times.py [--rows 1 8 64] [--names triton cuda torch_native]

"call" is the host's time until apply() returns, "done" the time until the device has masked, the copy included.
A plain fill of the same logits, launched in the same way, is beside them.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import maskd
from maskd._torch import TorchMask

WIDTH = 128_256
ROUNDS = 60


def forms(count: int) -> dict[str, list[TorchMask]]:
    """Rows as steps have them."""
    random = np.random.default_rng(1)
    words = [random.integers(-2**31, 2**31, size=WIDTH // 32).astype(np.int32) for _ in range(count)]
    ids = [np.sort(random.choice(WIDTH, 16, replace=False)) for _ in range(count)]
    return {
        "16 ids allowed": [TorchMask(maskd.Row.allowed(i, ids[i])) for i in range(count)],
        "16 ids forbidden": [TorchMask(maskd.Row.forbidden(i, ids[i])) for i in range(count)],
        "words seen before": [TorchMask(maskd.Row.dense(i, words[i]), serial=i + 1) for i in range(count)],
        "words that are new": [TorchMask(maskd.Row.dense(i, words[i])) for i in range(count)],
    }


def timed(act: Callable[[], Any]) -> tuple[float, float]:
    """Of one call, with nothing else to do for the device: until it returns, until it is done."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    act()
    called = time.perf_counter()
    torch.cuda.synchronize()
    return 1e6 * (called - begin), 1e6 * (time.perf_counter() - begin)


def measured(ways: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, float]]:
    """Medians, of turns of one each."""
    for act in ways.values():
        for _ in range(5):
            act()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, act in ways.items():
            times[name].append(timed(act))
    return {name: (statistics.median(t[0] for t in all_of_it), statistics.median(t[1] for t in all_of_it))
            for name, all_of_it in times.items()}


def main() -> None:
    """Prints a table in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, nargs="+", default=[1, 8, 64])
    arguments.add_argument("--names", nargs="+", default=["triton", "cuda", "torch_native"])
    given = arguments.parse_args()
    appliers = {name: maskd.TorchApplier(WIDTH, "cuda", name) for name in given.names}
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {WIDTH} tokens, bfloat16; microseconds: "
          "call; done\n")
    print("| rows | masks | " + " | ".join(given.names) + " | (fill) |")
    print("| --: | --- " + "| --: " * (len(given.names) + 1) + "|")
    for count in given.rows:
        logits = torch.zeros((count, WIDTH), dtype=torch.bfloat16, device="cuda")
        bitmask = torch.randint(-2**31, 2**31, (count, WIDTH // 32), dtype=torch.int32, device="cuda")
        cases: dict[str, dict[str, Callable[[], Any]]] = {
            form: {name: (lambda a=applier, r=rows: a.apply(logits, r)) for name, applier in appliers.items()}
            for form, rows in forms(count).items()}
        cases["words on the device"] = {name: (lambda a=applier: a.apply_bitmask(logits, bitmask))
                                        for name, applier in appliers.items()}
        for form, ways in cases.items():
            found = measured({**ways, "fill": lambda: logits.fill_(0)})
            print(f"| {count} | {form} | " + " | ".join(f"{call:.0f}; {done:.0f}" for call, done in found.values())
                  + " |", flush=True)


if __name__ == "__main__":
    main()
