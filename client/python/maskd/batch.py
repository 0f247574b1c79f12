"""The constrained sequences of one engine over one stream: a step is one message.

    rows = BatchRows(Settings.from_environment(), logits_width, check=lambda served: ...)
    row = rows.open(grammar, compiled, stop_ids=[2], remaining_tokens=100)   # any thread, no trip
    while not row.finished:
        rows.send()                    # one message of all that has happened; returns at once
        ...                            # the forward pass
        rows.receive()                 # waits for the masks, a bounded time
        masks = row.masks              # at its place, and after its drafts; None: row.failed
        if not row.accept(tokens):     # no trip: a token is taken exactly if its bit was set
            ...                        # row.failed, or a token that the mask did not allow

A row never raises: what goes wrong is `row.failed`, and the engine ends that sequence alone. A
server that is gone or does not answer in time fails the rows that it had; the next open() looks for
one anew. With several addresses the rows move to the next one instead, with their tokens.

Waits    a step waits settings.step_s for its masks, what sending takes included; a server that is
         late is left, so that the steps after it wait for nothing. open_now() waits as long, for a
         server that is not known to hang.
Threads  open(), and `del` of a row, anywhere; all else on the engine's thread.
Cost     the usual step, in which each row has taken one token and stands, is two calls of the library:
         one sends the tokens, one waits and writes the masks. Memory of masks is used again once nobody
         has a view of it. Of a row there is its token's bit and its place in the message.
"""

import functools
import itertools
import logging
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from maskd._api import PLAIN, FailoverStream, Step, Stream
from maskd._base import HAVE_MASKS, Ids, MaskTable
from maskd._endpoints import Endpoints, Settings
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar

_log = logging.getLogger("maskd")
_CONNECT_S = 2.0
# A stream's bound on steps in flight (MaskStream::kMaxInFlight) is above this.
_MAX_IN_FLIGHT = 16
_MOST_TABLES = 4


class _Answer:
    """A message's rows, and the masks that came back: one table, each row at its index in it."""

    __slots__ = ("rows", "ids", "packed", "positions", "table", "drafts", "known", "bits", "width")

    def __init__(self, rows: "list[BatchRow]", ids: list[int], packed: Ids, positions: int) -> None:
        self.rows = rows  # while it is under way: it would hold dropped ones
        self.ids = ids  # theirs, in the table's order
        self.packed = packed
        self.positions = positions  # of each row in the table
        self.table: np.ndarray | None = None  # int32: positions of the rows, words; None: not here yet
        self.drafts: dict[int, tuple[int, ...]] = {}  # that rows were asked about, by id
        self.known: dict[int, int] = {}  # positions that have a mask, of rows with drafts
        self.bits: Any = None  # the table as bytes, its first token in the lowest bit
        self.width = 0  # bytes of one position

    def fill(self, table: MaskTable, count: int) -> None:
        """With that table's first rows."""
        self.table = table.words[:count]
        self.bits = table.bits
        self.width = 4 * table.width


_NOTHING = _Answer([], [], Ids(b"", 0), 1)


class BatchRow:
    """One sequence. The numbers of tokens are the engine's to keep; of the text here is only what
    the
    server does not know yet."""

    __slots__ = ("id", "grammar", "compiled", "stop_ids", "remaining", "finished", "failed", "_answer",
                 "_at", "_link", "_pending", "_undo", "_by_text", "_opened", "_start", "_bound",
                 "_prepared", "__weakref__")

    def __init__(self, number: int, grammar: Grammar, compiled: Compiled, stop_ids: frozenset[int],
                 remaining: int | None, link: "_Link") -> None:
        self.id = number
        self.grammar = grammar
        self.compiled = compiled
        self.stop_ids = stop_ids
        self.remaining: int | None = None  # to be said with the next message; None: nothing to say
        self._bound = remaining  # that it opens with
        self.finished = False
        self.failed: MaskdError | None = None
        self._answer = _NOTHING  # of the last message that had it
        self._at = 0  # its first position in that one's table
        self._link = link
        self._pending: list[int] = []  # taken since the masks
        self._undo = 0  # tokens of the server's to take back
        self._by_text = False  # the server did not know the grammar's id
        self._opened = False
        self._start: tuple[int, ...] = ()  # tokens that it opens with: a copy's
        self._prepared = Step.prepare(compiled, sorted(stop_ids), remaining)  # how it opens as a rule
        weakref.finalize(self, link.closes.append, number)

    @property
    def masks(self) -> np.ndarray | None:
        """int32: position, words; as of all that was sent. None: not here."""
        table = self._answer.table
        return None if table is None else table[self._at:self._at + self._answer.positions]

    @property
    def place(self) -> tuple[np.ndarray | None, int]:
        """The array that its masks are of, and which row of it is their first."""
        return self._answer.table, self._at

    @property
    def drafts(self) -> tuple[int, ...]:
        """That position 1 and on come after."""
        return self._answer.drafts.get(self.id, ())

    @property
    def known(self) -> int:
        """Positions that have a mask."""
        return 0 if self._answer.table is None else self._answer.known.get(self.id, 1)

    @property
    def is_current(self) -> bool:
        """Whether its masks are those of its place."""
        return self._answer.table is not None and not self._pending and not self._undo

    def allows(self, token: int) -> bool:
        """Whether the mask at its place has the token; of a row without masks, True."""
        answer, position = self._answer, len(self._pending)
        if answer.table is None or self._undo:
            return True  # the server will judge
        if position and (position >= self.known or self.drafts[:position] != tuple(self._pending)):
            return True
        if not 0 <= token < 8 * answer.width:
            return False
        byte: int = answer.bits[(self._at + position) * answer.width + (token >> 3)]
        return bool(byte >> (token & 7) & 1)

    def accept(self, tokens: Sequence[int]) -> bool:
        """Takes the tokens, in order; False at the first that is refused, or when the row has
        failed.
        After its end any token is taken as nothing."""
        if self.failed is not None:
            return False
        for token in tokens:
            if self.finished:
                break
            if not self.allows(token):
                return False
            self._pending.append(token)
            self.finished = token in self.stop_ids
        self._link.moved[self.id] = self
        return True

    def accept_one(self, token: int) -> bool:
        """accept() of a row that stands at its mask, which is the usual one."""
        answer = self._answer
        if (self.failed is not None or self.finished or self._pending or self._undo
                or answer.table is None):
            return self.accept((token,))
        width = answer.width
        if not (0 <= token < 8 * width
                and answer.bits[self._at * width + (token >> 3)] >> (token & 7) & 1):
            return False
        self._pending.append(token)
        self.finished = token in self.stop_ids
        self._link.moved[self.id] = self
        return True

    def rollback(self, count: int) -> None:
        """Takes back the last tokens, the end too."""
        if count == 0:
            return
        here = min(count, len(self._pending))
        if here:
            del self._pending[-here:]
        self._undo += count - here
        self.finished = False
        self._link.moved[self.id] = self

    def leave(self) -> None:
        """Its sequence is over: the next message closes it. So does the end of the object."""
        self.finished = True
        self._link.moved.pop(self.id, None)
        self._link.closes.append(self.id)

    def ask(self) -> None:
        """Wants its masks with the next message, also when nothing has happened to it."""
        if self.failed is None and self._opened and not self.finished:
            self._link.moved[self.id] = self


class _Link:
    """A stream and what is to be said on it."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.opens: deque[BatchRow] = deque()
        self.closes: deque[int] = deque()
        self.moved: dict[int, BatchRow] = {}
        self.opened: set[int] = set()  # that the server has, or will have with the next message
        self.rows: weakref.WeakSet[BatchRow] = weakref.WeakSet()
        self.in_flight: deque[_Answer] = deque()
        self.last = _NOTHING  # that was received


class BatchRows:
    """All constrained rows of an engine.

    check  is given the server's Tokenizer (protos/maskd/v1) once for each vocabulary; an error of
           its own refuses it
    """

    def __init__(self, settings: Settings, logits_width: int,
                 check: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        self.settings = settings
        self.endpoints = Endpoints(settings)
        self.words = (logits_width + 31) // 32
        self.messages = 0  # sent
        self.late = 0  # steps in which a server was left because it did not answer
        self._width = logits_width
        self._check = check
        self._hash = settings.tokenizer_hash
        self._ids = itertools.count(1)
        self._step = Step()
        self._tables: list[MaskTable] = []
        self._link: _Link | None = None
        self._sending_s = 0.0  # since the last receive()
        self._lock = threading.Lock()
        self._searches = threading.Event()  # whether a thread looks for a server
        self._hangs = False  # the last server, or who was asked after it, did not answer

    # --- any thread

    def connect(self, wait_s: float = 0.0) -> str:
        """Opens the stream, looking for a server for `wait_s`; how steps travel. Errors: the last
        one's."""
        deadline = time.monotonic() + wait_s
        while True:
            try:
                return self._linked().stream.transport
            except MaskdError as error:
                if error.code not in ("UNAVAILABLE", "DEADLINE_EXCEEDED") or time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def open(self, grammar: Grammar, compiled: Compiled, stop_ids: Iterable[int] = (),
             remaining_tokens: int | None = None) -> BatchRow:
        """A row, which the next message opens. Without stop ids it has the vocabulary's.
        Errors: those of connect()."""
        return self._row(self._linked(), grammar, compiled, stop_ids, remaining_tokens)

    def _row(self, link: _Link, grammar: Grammar, compiled: Compiled, stop_ids: Iterable[int],
             remaining_tokens: int | None) -> BatchRow:
        if isinstance(link.stream, FailoverStream):
            link.stream.remember(compiled.id, grammar)
        size = link.stream.vocab_size
        stops = frozenset(each for each in stop_ids if 0 <= each < size)
        row = BatchRow(next(self._ids), grammar, compiled, stops or frozenset(link.stream.stop_ids),
                       remaining_tokens, link)
        link.rows.add(row)
        link.opens.append(row)
        return row

    def _linked(self) -> _Link:
        with self._lock:
            if self._link is None:
                self._link = _Link(self._open_stream())
            return self._link

    def _open_stream(self) -> Stream:
        settings, addresses = self.settings, self.settings.addresses
        options = {"tokenizer_hash": self._hash, "shared_memory": settings.shared_memory,
                   "submit_timeout_ms": _milliseconds(settings.step_s / 2)}
        # A name may stand for many servers.
        if (len(addresses) > 1 or addresses[0].startswith("dns:")) and not PLAIN:
            stream: Stream = FailoverStream(
                addresses, self._width, settings.tokenizer, _CONNECT_S, **options,
                step_timeout_ms=_milliseconds(0.3 * settings.step_s),
                give_up_after_ms=_milliseconds(_CONNECT_S),
                compile_timeout_ms=_milliseconds(settings.hang_s))
        else:
            client = self.endpoints.client(addresses[0], _CONNECT_S)
            stream = client.open_stream(self._width, settings.tokenizer, _CONNECT_S, **options)
        served = stream.welcome["tokenizer"]
        if served["hash"] != self._hash and self._check is not None:
            self._check(served)
        self._hash = served["hash"]
        return stream

    # --- the engine's thread

    def open_now(self, grammar: Grammar, compiled: Compiled, stop_ids: Iterable[int] = (),
                 remaining_tokens: int | None = None) -> BatchRow:
        """open() in a step: a lost server is looked for on a thread of its own, which is waited for
        a step's time, and not at all while the last one hangs."""
        link = self._link
        if link is None:
            self._search()
            link = self._link
        if link is None:
            raise MaskdError("UNAVAILABLE", f"no server at {', '.join(self.settings.addresses)} yet")
        return self._row(link, grammar, compiled, stop_ids, remaining_tokens)

    def _search(self) -> None:
        may_wait = not self._hangs
        if self._searches.is_set():
            return
        self._searches.set()
        done = threading.Event()
        threading.Thread(target=self._find, args=(done,), daemon=True, name="maskd-connect").start()
        if may_wait and not done.wait(self.settings.step_s):
            self._hangs = True

    def _find(self, done: threading.Event) -> None:
        begin = time.monotonic()
        try:
            self._linked()
            self._hangs = False
        except MaskdError as error:
            self._hangs = time.monotonic() - begin > self.settings.step_s
            _log.warning("maskd: %s", error)
        finally:
            self._searches.clear()
            done.set()

    def send(self, drafts: Sequence[tuple[BatchRow, Sequence[int]]] = ()) -> None:
        """Says in one message what has happened since the last one, and asks for the masks after
        these
        drafts too. Does not wait."""
        link = self._link
        if link is None or not (link.moved or link.opens or link.closes or drafts):
            return
        if len(link.in_flight) >= _MAX_IN_FLIGHT:
            self.receive()
            if self._link is not link:
                return
        begin = time.monotonic()
        try:
            answer = (self._send_tokens(link) if not (drafts or link.opens or link.closes) else None
                      ) or self._send_all(link, drafts)
        except MaskdError as error:
            self._lose(link, error)
            return
        self._sending_s += time.monotonic() - begin
        self.messages += 1
        link.in_flight.append(answer)

    @staticmethod
    def _send_tokens(link: _Link) -> _Answer | None:
        """A message that is one token of each row; None: there is more to say."""
        rows = [row for row in link.moved.values() if row._opened and row.failed is None]
        tokens = _one_each(rows)
        if tokens is None or not rows:
            return None
        link.moved = {}
        ids = [row.id for row in rows]
        answer = _Answer(rows, ids, _packed("Q", ids), 1)
        at = 0
        for row in rows:
            row._answer, row._at = answer, at
            row._pending.clear()
            at += 1
        link.stream.submit_packed(answer.packed, _packed("i", tokens))
        return answer

    def _send_all(self, link: _Link, drafts: Sequence[tuple[BatchRow, Sequence[int]]]) -> _Answer:
        answer, wait_s = self._fill(link, drafts)
        if wait_s:
            self._step._wait(wait_s)  # noqa: SLF001: a step's own, of no row
        link.stream.submit(self._step)
        return answer

    def _fill(self, link: _Link, drafts: Sequence[tuple[BatchRow, Sequence[int]]],
              ) -> tuple[_Answer, float]:
        """The step; what it will answer, and how long its reply may wait for compiles. New rows are the
        last of the answer, as they are of an engine's batch."""
        step = self._step.clear()
        while link.closes:
            number = link.closes.popleft()
            if number in link.opened:
                link.opened.remove(number)
                step.close(number)
        opened, wait_s = [], 0.0
        while link.opens:
            row = link.opens.popleft()
            self._open_in(step, row)
            wait_s = self.settings.step_s / 2 if row._by_text else wait_s
            opened.append(row)
        new = {row.id for row in opened}
        link.opened |= new
        moved, link.moved = link.moved, {}
        for row, _ in drafts:
            moved[row.id] = row
        rows = [row for row in moved.values()
                if row._opened and row.failed is None and row.id not in new]
        _take(step, rows)
        rows += opened
        positions = 1 + max((len(tokens) for _, tokens in drafts), default=0)
        ids = [row.id for row in rows]
        answer = _Answer(rows, ids, _packed("Q", ids), positions)
        for at, row in enumerate(rows):
            row._answer, row._at = answer, at * positions
        for row, tokens in drafts:
            if row.failed is None:
                step.draft(row.id, tokens)
                answer.drafts[row.id] = tuple(tokens)
        return answer, wait_s

    @staticmethod
    def _open_in(step: Step, row: BatchRow) -> None:
        """Tokens taken before the message that opens the row are its first ones."""
        if not (row._by_text or row._start or row._pending):
            step.open_prepared(row.id, row._prepared)
            row._opened = True
            return
        step.open(row.id, row.grammar if row._by_text else row.compiled,
                  tokens=[*row._start, *row._pending], stop_ids=sorted(row.stop_ids),
                  remaining_tokens=row._bound)
        row._start = (*row._start, *row._pending)
        row._pending = []
        row._opened = True

    def receive(self, nobody_else_waits: Callable[[], bool] = lambda: False) -> None:
        """Waits until all that was sent is answered, at most settings.step_s; settings.hang_s while
        `nobody_else_waits`, which is asked only of a server that is late."""
        link = self._link
        if link is None or not link.in_flight:
            return
        begin = time.monotonic() - self._sending_s
        self._sending_s = 0.0
        deadline = begin + self.settings.step_s
        again = False
        while link.in_flight:
            try:
                again = self._collect(link, max(deadline - time.monotonic(), 0.001)) or again
            except MaskdError as error:
                is_late = error.code == "DEADLINE_EXCEEDED"
                if is_late and deadline < begin + self.settings.hang_s and nobody_else_waits():
                    deadline += self.settings.step_s
                    continue
                self.late += is_late
                self._hangs = is_late
                self._lose(link, error, time.monotonic() - begin)
                return
            if again and not link.in_flight:
                again = False
                self.send()  # in the same step's time
                if self._link is not link:
                    return

    def _collect(self, link: _Link, timeout_s: float) -> bool:
        """Gives the rows of the oldest message their masks; whether one has to be opened again, by its
        grammar's text."""
        answer = link.in_flight[0]
        count = answer.packed.size
        if answer.positions > 1:
            result, is_whole = link.stream.collect(timeout_s), False
        else:
            table = self._table(count)
            result, is_whole = link.stream.collect_masks(timeout_s, answer.packed, table)
        link.in_flight.popleft()
        if not is_whole:
            return self._read(link, result, answer)
        answer.fill(table, count)
        answer.rows = []
        link.last = answer
        return False

    def _table(self, count: int) -> MaskTable:
        """With room for so many masks."""
        for table in self._tables:
            if table.is_free and table.words.shape[0] >= count:
                return table
        made = MaskTable(1 << max(3, (count - 1).bit_length()), self.words)
        self._tables = [*self._tables[-_MOST_TABLES + 1:], made]
        return made

    def _read(self, link: _Link, result: Any, answer: _Answer) -> bool:
        """The same of an answer with drafts, or with rows that have no mask."""
        rows, answer.rows, positions = answer.rows, [], answer.positions
        numbers, states, drafts, errors = result.columns()
        again = False
        if (not HAVE_MASKS.issuperset(states) or any(errors)
                or not set(numbers).issuperset(answer.ids)):
            rows, again = self._sort_out(link, result, rows)
            answer.ids = [row.id for row in rows]
            for at, row in enumerate(rows):
                row._at = at * positions
        count = len(rows) * positions
        table = self._table(count)
        if positions > 1:
            table.words[:count] = -1  # of a row with fewer positions than others some are not written
        if rows:
            result.masks(answer.ids, table.words[:count], positions)
        if answer.drafts:
            accepted = dict(zip(numbers, drafts, strict=True))
            answer.known = {number: 1 + max(accepted[number], 0) for number in answer.drafts
                            if number in accepted}
        answer.fill(table, count)
        link.last = answer
        return again

    @staticmethod
    def _sort_out(link: _Link, result: Any, rows: list[BatchRow]) -> tuple[list[BatchRow], bool]:
        """The rows that have masks; whether one of the others has to be opened again."""
        outcomes = {number: (state, error) for number, state, error, _ in result.outcomes()}
        good, again = [], False
        for row in rows:
            state, error = outcomes.get(row.id, (0, None))
            if error is None and state in HAVE_MASKS:
                good.append(row)
                continue
            row._answer = _NOTHING
            if error is not None and error.code == "NOT_FOUND" and not row._by_text:
                row._by_text = again = True
                link.closes.append(row.id)
                link.opens.append(row)
            else:
                row.failed = error or MaskdError("DEADLINE_EXCEEDED",
                                                 "the row's grammar still compiles")
        return good, again

    def table_of(self, ids: list[int]) -> np.ndarray | None:
        """The masks where they lie, when they are the last answer, whole and of these rows in this order,
        and nothing has happened to its rows since."""
        link = self._link
        if link is None or link.moved or link.in_flight or link.last.positions != 1:
            return None
        return link.last.table if link.last.ids == ids else None

    def _lose(self, link: _Link, error: MaskdError, waited_s: float = 0.0) -> None:
        """The rows of this stream end."""
        rows = list(link.rows)
        for row in rows:
            if row.failed is None:
                row.failed = error
        if self._link is link:
            self._link = None
        _log.error("maskd: %s; %d constrained requests end with an error, after a wait of %.0f ms", error,
                   len(rows), 1000 * waited_s)
        self.endpoints.close()
        # The stream of the library waits for nothing when it is released; the plain one has no such
        # thing.
        release = getattr(link.stream, "release", link.stream.close)
        threading.Thread(target=release, daemon=True, name="maskd-release").start()

    def close(self) -> None:
        """Says goodbye."""
        link, self._link = self._link, None
        if link is not None:
            try:
                link.stream.close(timeout_s=1.0)
            except MaskdError as error:
                _log.info("maskd: %s", error)
        self.endpoints.close()


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))


@functools.cache
def _packer(kind: str, count: int) -> Callable[..., bytes]:
    return struct.Struct(f"={count}{kind}").pack


def _packed(kind: str, values: Sequence[int]) -> Ids:
    """Of struct's kinds: Q or i."""
    count = len(values)
    return Ids(_packer(kind, count)(*values), count)


def _one_each(rows: Sequence[BatchRow]) -> list[int] | None:
    """The token that each row has taken, where that is all there is to say."""
    tokens = [row._pending[0] for row in rows
              if len(row._pending) == 1 and not row._undo and row.remaining is None]
    return tokens if len(tokens) == len(rows) else None


def _take(step: Step, rows: Sequence[BatchRow]) -> None:
    """What each of the rows has done; all in one call where each has taken a token."""
    simple = _one_each(rows)
    if simple is not None:
        if rows:
            step.take_packed(_packed("Q", [row.id for row in rows]), _packed("i", simple))
        for row in rows:
            row._pending.clear()
        return
    for row in rows:
        if row._undo:
            step.rollback(row.id, row._undo)
        step.take(row.id, row._pending)
        if row.remaining is not None:
            step.set_remaining(row.id, row.remaining)
        row._pending, row._undo, row.remaining = [], 0, None
