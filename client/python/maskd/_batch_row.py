"""One constrained sequence of an engine, and the answer that has its masks.

Answer    a message's rows in order, and the masks that came back: one table
BatchRow  a sequence: its place in the last answer that had it, and what the server does not know yet

The usual step costs nothing of a row but its token's bit: rows that take one token each, in the order
of the last answer, note it there side by side, as the library reads it, and the next message is the
same rows again. Whatever else happens turns what is noted into the rows' own (Ledger.settle()).
"""

import ctypes
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskd._api import Step
from maskd._base import Ids, MaskTable
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar

_NOT_IN_ORDER = -1


class Answer:
    """Of a message: its rows, and their masks once they are here."""

    __slots__ = ("refs", "ids", "packed", "block", "table", "drafts", "known", "bits", "width",
                 "sampled", "taken")

    def __init__(self, rows: "list[BatchRow]", ids: list[int], packed: Ids, block: int = 1,
                 drafts: "dict[int, tuple[int, ...]] | None" = None) -> None:
        self.block = block  # positions of each row in the table; 0: as many as it has masks
        self.table: np.ndarray | None = None  # int32: positions of the rows, words; None: not here yet
        self.drafts = drafts or {}  # that rows were asked about, by id
        self.known: list[int] | None = None  # of each row how many masks it has; None: one each
        self.bits: Any = None  # the table as bytes, its first token in the lowest bit
        self.width = 0  # bytes of one position
        self.taken = _NOT_IN_ORDER  # rows that have taken one token each, in order, where that is counted
        for row in rows:
            row.answer = self
        self.keep(rows, ids, packed)

    def keep(self, rows: "list[BatchRow]", ids: list[int], packed: Ids) -> None:
        """These are its rows."""
        self.refs = [row.ref for row in rows]  # an answer keeps no row from its end
        self.ids = ids  # in the table's order
        self.packed = packed
        self.sampled = (ctypes.c_int32 * len(ids))()  # the tokens of the first `taken` rows
        for index, row in enumerate(rows):
            if row.answer is self:
                row.at, row.mask_count = index, 1

    def room(self) -> int:
        """Positions that the table may need."""
        if not self.drafts:
            return len(self.ids)
        most = sum(1 + len(self.drafts.get(number, ())) for number in self.ids)
        return self.block * len(self.ids) or most

    def fill(self, table: MaskTable, masks: np.ndarray, is_last: bool) -> None:
        """With that table's first rows. Tokens are counted in the last answer alone."""
        self.table = masks
        self.bits = table.bits
        self.width = 4 * table.width
        if is_last and not self.drafts:
            self.taken = 0

    def fill_chains(self, table: MaskTable, known: list[int]) -> None:
        """With the masks of rows that have drafts, so many each."""
        self.known = known
        at = 0
        for ref, count in zip(self.refs, known, strict=True):
            row = ref()
            if row is not None and row.answer is self:
                row.at, row.mask_count = at, count
            at += self.block or count
        self.fill(table, table.words[:at], is_last=False)

    def table_of(self, ids: list[int], drafts: Sequence[Sequence[int]], block: int) -> np.ndarray | None:
        """The table, if it is of these rows in this order and of these drafts, which all have a mask
        behind them."""
        if self.ids != ids:
            return None
        if self.known is None:
            return self.table if block <= 1 and not any(drafts) else None
        if len(drafts) != len(ids):
            return None
        for number, count, tokens in zip(ids, self.known, drafts, strict=True):
            if len(tokens) != count - 1 or (tokens and self.drafts[number][:count - 1] != tuple(tokens)):
                return None
        return self.table

    def ask_again(self) -> Ids:
        """The tokens of all its rows, and no masks: it is under way with them."""
        self.table = None
        self.taken = _NOT_IN_ORDER
        return Ids(self.sampled, len(self.ids))

    def is_taken(self) -> bool:
        """Whether each of its rows has taken one token."""
        return self.taken == len(self.ids)

    def rows(self) -> "list[BatchRow]":
        """Those that the engine still has."""
        return [row for ref in self.refs if (row := ref()) is not None]


NOTHING = Answer([], [], Ids(b"", 0))


class Ledger:
    """What is to be said of rows with the next message."""

    def __init__(self) -> None:
        self.opens: deque[BatchRow] = deque()
        self.closes: deque[int] = deque()
        self.moved: dict[int, BatchRow] = {}
        self.opened: set[int] = set()  # that the server has, or will have with the next message
        self.last = NOTHING  # the answer to the last message, here or not

    def settle(self) -> None:
        """Each row has what it has taken, none is noted in the answer."""
        last = self.last
        taken, last.taken = last.taken, _NOT_IN_ORDER
        for index in range(taken):
            row = last.refs[index]()
            if row is not None:
                row.pending.append(last.sampled[index])
                self.moved[row.id] = row


class BatchRow:
    """One sequence. The numbers of tokens are the engine's to keep; of the text here is only what
    the server does not know yet. What has no underscore and no words is for the stream."""

    __slots__ = ("id", "grammar", "compiled", "stop_ids", "finished", "failed", "ref", "answer",
                 "at", "mask_count", "pending", "undo", "by_text", "opened", "start", "bound", "prepared",
                 "_ledger", "_follows", "_remaining", "__weakref__")

    def __init__(self, number: int, grammar: Grammar, compiled: Compiled, stop_ids: frozenset[int],
                 remaining: int | None, ledger: Ledger) -> None:
        self.id = number
        self.grammar = grammar
        self.compiled = compiled
        self.stop_ids = stop_ids
        self.bound = remaining  # that it opens with
        self.finished = False
        self.failed: MaskdError | None = None
        self.ref = weakref.ref(self)
        self.answer = NOTHING  # of the last message that had it
        self.at = 0  # its first position in that one's table
        self.mask_count = 1  # of its positions there
        self.pending: list[int] = []  # taken since the masks, if not noted in the answer
        self.undo = 0  # tokens of the server's to take back
        self.by_text = False  # the server did not know the grammar's id
        self.opened = False
        self.start: tuple[int, ...] = ()  # tokens that it opens with
        self.prepared = Step.prepare(compiled, sorted(stop_ids), remaining)  # how it opens as a rule
        self._ledger = ledger
        self._follows = True  # whether what is pending are the first drafts
        self._remaining: int | None = None
        weakref.finalize(self, ledger.closes.append, number)

    @property
    def masks(self) -> np.ndarray | None:
        """int32: position, words; as of all that was sent. None: not here."""
        table = self.answer.table
        return None if table is None else table[self.at:self.at + self.mask_count]

    @property
    def place(self) -> tuple[np.ndarray | None, int]:
        """The array that its masks are of, and which row of it is their first."""
        return self.answer.table, self.at

    @property
    def drafts(self) -> tuple[int, ...]:
        """That position 1 and on come after."""
        return self.answer.drafts.get(self.id, ())

    @property
    def known(self) -> int:
        """Positions that have a mask."""
        return 0 if self.answer.table is None else self.mask_count

    def has_judged(self, drafts: Sequence[int]) -> bool:
        """Whether its masks are those of its place and behind these drafts, as far as they are allowed."""
        return self.is_current and (not drafts or self.drafts[:len(drafts)] == tuple(drafts))

    @property
    def is_current(self) -> bool:
        """Whether its masks are those of its place."""
        return (self.answer.table is not None and not self.pending and not self.undo
                and self.at >= self.answer.taken)

    @property
    def remaining(self) -> int | None:
        """How many tokens it may still take, to be said with the next message; None: nothing to say."""
        return self._remaining

    @remaining.setter
    def remaining(self, count: int | None) -> None:
        self._ledger.settle()
        self._remaining = count

    def allows(self, token: int) -> bool:
        """Whether the mask at its place has the token; of a row without masks, True."""
        answer, position = self.answer, len(self.pending)
        if answer.table is None or self.undo or self.at < answer.taken:
            return True  # the server will judge
        if position and not (self._follows and position < self.known):
            return True
        return self._has(answer, position, token)

    def accept(self, tokens: Sequence[int]) -> bool:
        """Takes the tokens, in order; False at the first that is refused, or when the row has
        failed.
        After its end any token is taken as nothing."""
        if self.failed is not None:
            return False
        self._ledger.settle()
        if self._goes_on_as_drafted(tokens):
            return True
        pending, drafts = self.pending, self.drafts
        for token in tokens:
            if self.finished:
                break
            if not self.allows(token):
                return False
            if self._follows:
                position = len(pending)
                self._follows = position < len(drafts) and drafts[position] == token
            pending.append(token)
            self.finished = token in self.stop_ids
        self._ledger.moved[self.id] = self
        return True

    def _goes_on_as_drafted(self, tokens: Sequence[int]) -> bool:
        """accept() of drafts that have masks and one token more, which is the usual step with drafts."""
        answer, last = self.answer, len(tokens) - 1
        if not (0 < last < self.mask_count and self.is_current and self.stop_ids.isdisjoint(tokens)):
            return False
        taken = tuple(tokens)
        drafts = self.drafts
        if self.finished or taken[:last] != drafts[:last] or not self._has(answer, last, taken[last]):
            return False
        self._follows = taken == drafts[:last + 1]
        self.pending += taken
        self._ledger.moved[self.id] = self
        return True

    def _has(self, answer: Answer, position: int, token: int) -> bool:
        """Whether the answer's mask of this position has the token."""
        if not 0 <= token < 8 * answer.width:
            return False
        byte: int = answer.bits[(self.at + position) * answer.width + (token >> 3)]
        return bool(byte >> (token & 7) & 1)

    def accept_one(self, token: int) -> bool:
        """accept() of a row that stands at its mask, which is the usual one."""
        answer, at = self.answer, self.at
        if at != answer.taken or self.finished:
            return self.accept((token,))
        width = answer.width
        if not (0 <= token < 8 * width and answer.bits[at * width + (token >> 3)] >> (token & 7) & 1):
            return False
        answer.sampled[at] = token
        answer.taken = at + 1
        self.finished = token in self.stop_ids
        return True

    def rollback(self, count: int) -> None:
        """Takes back the last tokens, the end too."""
        if count == 0:
            return
        self._ledger.settle()
        here = min(count, len(self.pending))
        if here:
            del self.pending[-here:]
            self._follows = self.drafts[:len(self.pending)] == tuple(self.pending)
        self.undo += count - here
        self.finished = False
        self._ledger.moved[self.id] = self

    def leave(self) -> None:
        """Its sequence is over: the next message closes it. So does the end of the object."""
        self.finished = True
        self._ledger.moved.pop(self.id, None)
        self._ledger.closes.append(self.id)

    def ask(self) -> None:
        """Wants its masks with the next message, also when nothing has happened to it."""
        if self.failed is None and self.opened and not self.finished:
            self._ledger.settle()
            self._ledger.moved[self.id] = self

    def is_said(self) -> None:
        """The message has all of it."""
        if self.pending:
            self.pending.clear()
            self._follows = True
        self.undo, self._remaining = 0, None
