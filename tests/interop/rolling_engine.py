#!/usr/bin/env python3
"""An engine of rolling_restart.py over the Python client, as README.md ("Rolling restart") says it.

    rolling_engine.py ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...
"""

import sys
import time

import maskd

ROWS, LONGEST, REPORT_EVERY, END = 4, 48, 20, 256
TIMEOUT_S = 60.0


def choose(words: list[int], start: int, width: int) -> int:
    """The first allowed token at `start` or behind it, round and round."""
    while not words[start // 32] >> start % 32 & 1:
        start = (start + 1) % width
    return start


def main() -> None:
    addresses, width, digest, pause_s = sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]) / 1000
    grammars = [maskd.Grammar(*pair) for pair in zip(sys.argv[5::2], sys.argv[6::2], strict=True)]
    stream, step = maskd.FailoverStream(addresses, width), maskd.Step()
    order, lengths = list(range(ROWS)), [0] * ROWS
    for row in order:
        step.open(row, grammars[row % len(grammars)], wait_s=TIMEOUT_S / 2)
    steps = 0
    while True:
        result = stream.run(step, TIMEOUT_S)
        if faults := [row for row in result.rows if row.error is not None]:
            sys.exit(f"step {steps}: {faults}")
        masks = result.masks(order).view("uint32").tolist()
        step.clear()
        for i, words in enumerate(masks):
            for word in words:
                digest = (digest ^ word) * 1099511628211 % 2**64
            token = choose(words, (digest >> 33) % width, width)
            lengths[i] += 1
            if token != END and lengths[i] < LONGEST:
                step.take(order[i], [token])
                continue
            step.close(order[i])
            order[i], lengths[i] = order[i] + ROWS + 1, 0
            step.open(order[i], grammars[order[i] % len(grammars)], wait_s=TIMEOUT_S / 2)
        steps += 1
        if steps % REPORT_EVERY == 0:
            print(steps, stream.moves, f"{digest:016x}", flush=True)
        time.sleep(pause_s)


if __name__ == "__main__":
    main()
