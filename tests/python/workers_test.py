"""One scheduler and two workers, processes of their own, as engines with tensor parallelism have them: the
scheduler alone speaks with maskd; what it hands out names rows, drafts and masks, and both workers make the
same of it, over 100 steps with drafts and preemption.
"""

import hashlib
import multiprocessing
import random
import re
from typing import Any

import numpy as np
import pytest

import maskd
from maskd._endpoints import Settings
from maskd.batch import BatchRows

END = 256
WIDTH = 320
STEPS = 100
PATTERNS = ("(ab|cd|a)*e", "[a-f]{3,40}", '"[a-z ]{2,30}"', "x(yz?)+!")


def logits_of(step: int, count: int) -> np.ndarray:
    """What the model says, in every process the same. It likes to go on."""
    logits = np.random.default_rng(step).standard_normal((count, WIDTH)).astype(np.float32)
    logits[:, END] -= 1
    return logits


def work(pipe: Any) -> None:
    """A worker: masks its logits, and says what it would sample."""
    applier = maskd.Applier()
    while (order := pipe.recv()) is not None:
        logits = logits_of(order["step"], len(order["masks"]))
        applier.apply_bitmask(logits, order["masks"])
        digest = hashlib.sha256(logits.tobytes()).hexdigest()
        pipe.send((digest, logits.argmax(axis=1).tolist(), {k: order[k] for k in order if k != "masks"}))


class Workers:
    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)

    def do(self, order: dict[str, Any]) -> list[int]:
        """The tokens that all of them sample."""
        for pipe in self.pipes:
            pipe.send(order)
        answers = [pipe.recv() for pipe in self.pipes]
        assert all(answer == answers[0] for answer in answers)
        assert answers[0][2] == {name: order[name] for name in order if name != "masks"}
        return answers[0][1]

    def end(self) -> None:
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            pipe.send(None)
            process.join(20)
            assert process.exitcode == 0


class Scheduler:
    """Six sequences, of which one is preempted at any time; a new one for each that ends."""

    def __init__(self, rows: BatchRows) -> None:
        self.rows = rows
        self.random = random.Random(26)
        self.ended: list[tuple[str, str]] = []
        self.drafts_taken = 0
        self.running = [self.open(i) for i in range(5)]
        self.preempted = [self.open(5)]
        self.kept: dict[int, np.ndarray] = {}  # masks of preempted rows

    def open(self, number: int) -> dict[str, Any]:
        pattern = PATTERNS[number % len(PATTERNS)]
        grammar = maskd.Grammar.regex(pattern)
        row = self.rows.open(grammar, self.rows.endpoints.compile(grammar), remaining_tokens=60)
        return {"row": row, "pattern": pattern, "tokens": []}

    def drafts(self, sequence: dict[str, Any]) -> list[int]:
        """What followed its last token before, and something at random."""
        tokens = sequence["tokens"]
        after = [b for a, b in zip(tokens, tokens[1:], strict=False) if a == tokens[-1]]
        return (after[-2:] + [ord(self.random.choice("abcde"))])[:self.random.randrange(4)]

    def step(self, number: int, workers: Workers) -> None:
        if number % 5 == 0:
            self.change_places()
        asked = [(each["row"], self.drafts(each)) for each in self.running]
        self.rows.send([(row, drafts) for row, drafts in asked if drafts])
        self.rows.receive()
        order: dict[str, Any] = {"step": number, "rows": [], "drafts": [], "known": [], "grammars": []}
        masks = []
        for row, drafts in asked:
            assert row.failed is None and row.masks is not None
            known = row.known
            order["rows"].append(row.id)
            order["drafts"].append(drafts[:known - 1])
            order["known"].append(known)
            order["grammars"].append(row.compiled.id)
            masks.append(row.masks[:known])
        order["masks"] = np.concatenate(masks)
        sampled = iter(workers.do(order))
        for sequence, drafts in zip(self.running, order["drafts"], strict=True):
            self.take(sequence, drafts, [next(sampled) for _ in range(len(drafts) + 1)])
        self.running = [self.open(number + i) if each["row"].finished else each
                        for i, each in enumerate(self.running)]

    def take(self, sequence: dict[str, Any], drafts: list[int], sampled: list[int]) -> None:
        same = 0
        while same < len(drafts) and drafts[same] == sampled[same]:
            same += 1
        self.drafts_taken += same
        taken = sampled[:same + 1]
        assert sequence["row"].accept(taken)
        sequence["tokens"] += taken
        if sequence["row"].finished:
            text = bytes(sequence["tokens"][:sequence["tokens"].index(END)]).decode()
            self.ended.append((sequence["pattern"], text))
            sequence["row"].leave()

    def change_places(self) -> None:
        """The preempted one comes back, as it was, and another goes."""
        back, gone = self.preempted.pop(), self.running.pop(0)
        if back["row"].id in self.kept:
            np.testing.assert_array_equal(back["row"].masks[0], self.kept[back["row"].id])
        self.rows.send()  # what it has taken is said before it rests
        self.rows.receive()
        self.kept[gone["row"].id] = gone["row"].masks[0].copy()
        self.running.append(back)
        self.preempted.append(gone)
        for each in self.running:
            each["row"].ask()


@pytest.fixture
def workers():
    made = Workers(2)
    yield made
    made.end()


def test_two_workers_make_the_same_of_100_steps(address, client, workers):
    rows = BatchRows(Settings(tuple(address.split(",")), step_s=20.0), WIDTH)
    scheduler = Scheduler(rows)
    for number in range(STEPS):
        scheduler.step(number, workers)
    rows.close()
    assert len(scheduler.ended) > 5 and scheduler.drafts_taken > 5
    for pattern, text in scheduler.ended:
        assert re.fullmatch(pattern, text), (pattern, text)
