"""A step's message of a batch, and how its answer is read. For maskd.batch.

compose()  what has happened to the rows, as one Step
expect()   what will answer it
read()     an answer with rows that have no mask
"""

import functools
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from maskd._api import Step
from maskd._base import HAVE_MASKS, Ids, MaskTable, copy_chains
from maskd._batch_row import NOTHING, Answer, BatchRow, Ledger
from maskd._errors import MaskdError

Drafts = Sequence[tuple[BatchRow, Sequence[int]]]
Message = tuple[list[BatchRow], dict[int, tuple[int, ...]]]


def compose(step: Step, ledger: Ledger, drafts: Drafts, wait_s: float) -> Message:
    """The rows that it names, and their drafts by id. New rows are the last, as they are of an engine's
    batch. A reply with a grammar sent by its text may wait `wait_s` for the compile."""
    step.clear()
    _close_in(step, ledger)
    last, rows = ledger.last, []
    drafted = {row.id: tuple(tokens) for row, tokens in drafts if row.failed is None}
    if ledger.moved or drafts or not last.is_taken():
        ledger.settle()
        rows = _moved(ledger, drafts)
        _take(step, rows, drafted)
    else:
        rows = _go_on(step, ledger)
    opened = _open_in(step, ledger)
    if any(row.by_text for row in opened):
        step._wait(wait_s)  # noqa: SLF001: a step's own, of no row
    for row in opened:
        if row.id in drafted:
            step.draft(row.id, drafted[row.id])
    return rows + opened, drafted


def expect(message: Message, block: int) -> Answer:
    """What answers it. Not before it is sent: the server works meanwhile. `block`: positions of each
    row in the table of an answer with drafts; 0: as many as it has masks."""
    rows, drafts = message
    for row in rows:
        row.is_said()
    ids = [row.id for row in rows]
    return Answer(rows, ids, _packed("Q", ids), block if drafts else 1, drafts)


def _close_in(step: Step, ledger: Ledger) -> None:
    while ledger.closes:
        number = ledger.closes.popleft()
        if number in ledger.opened:
            ledger.opened.remove(number)
            step.close(number)


def _moved(ledger: Ledger, drafts: Drafts) -> list[BatchRow]:
    moved, ledger.moved = ledger.moved, {}
    for row, _ in drafts:
        moved[row.id] = row
    return [row for row in moved.values() if row.id in ledger.opened and row.failed is None]


def _go_on(step: Step, ledger: Ledger) -> list[BatchRow]:
    """The rows of the last answer, each with the token that is noted there, but for those that are
    closed."""
    last = ledger.last
    going = [(row, token) for row, token in zip((ref() for ref in last.refs), last.sampled, strict=True)
             if row is not None and row.id in ledger.opened]
    last.taken = -1
    rows = [row for row, _ in going]
    if rows:
        step.take_packed(_packed("Q", [row.id for row in rows]), _packed("i", [each for _, each in going]))
    return rows


def _take(step: Step, rows: Sequence[BatchRow], drafts: Mapping[int, Sequence[int]]) -> None:
    """What each of the rows has done; all in one call, but for what few do."""
    if not rows:
        return
    for row in rows:
        if row.undo:
            step.rollback(row.id, row.undo)
        if row.remaining is not None:
            step.set_remaining(row.id, row.remaining)
    if not drafts and all(len(row.pending) == 1 for row in rows):
        step.take_packed(_packed("Q", [row.id for row in rows]),
                         _packed("i", [row.pending[0] for row in rows]))
    else:
        step.draft_each([row.id for row in rows], [row.pending for row in rows],
                        [drafts.get(row.id, ()) for row in rows])


def _open_in(step: Step, ledger: Ledger) -> list[BatchRow]:
    """Tokens taken before the message that opens a row are its first ones."""
    opened = []
    while ledger.opens:
        row = ledger.opens.popleft()
        if row.by_text or row.start or row.pending:
            step.open(row.id, row.grammar if row.by_text else row.compiled,
                      tokens=[*row.start, *row.pending], stop_ids=sorted(row.stop_ids),
                      remaining_tokens=row.bound)
            row.start = (*row.start, *row.pending)
            row.is_said()
        else:
            step.open_prepared(row.id, row.prepared)
        row.opened = True
        ledger.opened.add(row.id)
        opened.append(row)
    return opened


def read(result: Any, answer: Answer, ledger: Ledger,
         lend: Callable[[int], tuple[MaskTable, np.ndarray]]) -> bool:
    """Whether one of the rows has to be opened again, by its grammar's text."""
    good, again = _sort_out(ledger, result, answer.rows())
    ids = [row.id for row in good]
    answer.keep(good, ids, _packed("Q", ids))
    table, masks = lend(answer.room())
    if answer.drafts:
        accepted = {number: drafts for number, _, _, drafts in result.outcomes()}
        known = [1 + max(accepted[number], 0) for number in ids]
        copy_chains(result, ids, known, answer.block, masks)
        answer.fill_chains(table, known)
        return again
    if ids:
        result.masks(ids, masks)
    answer.fill(table, masks, answer is ledger.last)
    return again


def _sort_out(ledger: Ledger, result: Any, rows: list[BatchRow]) -> tuple[list[BatchRow], bool]:
    """The rows that have masks; whether one of the others has to be opened again."""
    outcomes = {number: (state, error) for number, state, error, _ in result.outcomes()}
    good, again = [], False
    for row in rows:
        state, error = outcomes.get(row.id, (0, None))
        if error is None and state in HAVE_MASKS:
            good.append(row)
            continue
        row.answer = NOTHING
        if error is not None and error.code == "NOT_FOUND" and not row.by_text:
            row.by_text = again = True
            ledger.closes.append(row.id)
            ledger.opens.append(row)
        else:
            row.failed = error or MaskdError("DEADLINE_EXCEEDED", "the row's grammar still compiles")
    return good, again


@functools.cache
def _packer(kind: str, count: int) -> Callable[..., bytes]:
    return struct.Struct(f"={count}{kind}").pack


def _packed(kind: str, values: Sequence[int]) -> Ids:
    """Of struct's kinds: Q or i."""
    count = len(values)
    return Ids(_packer(kind, count)(*values), count)
