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

import itertools
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from maskd._api import PLAIN, FailoverStream, Step, Stream
from maskd._base import MaskTable
from maskd._batch_message import Drafts, compose, expect, read
from maskd._batch_row import Answer, BatchRow, Ledger
from maskd._endpoints import Endpoints, Settings
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar

_log = logging.getLogger("maskd")
_CONNECT_S = 2.0
# A stream's bound on steps in flight (MaskStream::kMaxInFlight) is above this.
_MAX_IN_FLIGHT = 16
_MOST_TABLES = 4


class _Link(Ledger):
    """A stream and what is to be said on it."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream
        self.rows: weakref.WeakSet[BatchRow] = weakref.WeakSet()
        self.in_flight: deque[Answer] = deque()


class BatchRows:
    """All constrained rows of an engine.

    check  is given the server's Tokenizer (protos/maskd/v1) once for each vocabulary; an error of
           its own refuses it
    block  of each row in the table of a step with drafts: so many masks, all ones where it has none;
           0: as many as it has
    """

    def __init__(self, settings: Settings, logits_width: int,
                 check: Callable[[Mapping[str, Any]], None] | None = None, block: int = 0) -> None:
        self.settings = settings
        self.endpoints = Endpoints(settings)
        self.words = (logits_width + 31) // 32
        self.messages = 0  # sent
        self.late = 0  # steps in which a server was left because it did not answer
        self._width = logits_width
        self._check = check
        self._block = block
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

    def send(self, drafts: Drafts = ()) -> None:
        """Says in one message what has happened since the last one, and asks for the masks after
        these
        drafts too. Does not wait."""
        link = self._link
        if link is None:
            return
        last = link.last
        if drafts or link.moved or link.opens or link.closes:
            self._send_news(link, drafts)
        elif last.taken == len(last.ids) > 0:  # which is the last answer, and here: nothing is under way
            begin = time.monotonic()
            try:
                link.stream.submit_packed(last.packed, last.ask_again())
            except MaskdError as error:
                self._lose(link, error)
                return
            self._is_sent(link, begin)
        elif last.taken > 0:
            self._send_news(link, ())

    def _send_news(self, link: _Link, drafts: Drafts) -> None:
        """The same of what is not the last message's rows with a token each."""
        if len(link.in_flight) >= _MAX_IN_FLIGHT:
            self.receive()
            if self._link is not link:
                return
        begin = time.monotonic()
        try:
            message = compose(self._step, link, drafts, self.settings.step_s / 2)
            link.stream.submit(self._step)
        except MaskdError as error:
            self._lose(link, error)
            return
        link.last = expect(message, self._block)
        self._is_sent(link, begin)

    def _is_sent(self, link: _Link, begin: float) -> None:
        self._sending_s += time.monotonic() - begin
        self.messages += 1
        link.in_flight.append(link.last)

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
        table, masks = self._lend(answer.room())
        if answer.drafts:
            result, known = link.stream.collect_chains(timeout_s, answer.packed, answer.block, table)
            is_whole = known is not None
        else:
            result, is_whole = link.stream.collect_masks(timeout_s, answer.packed, table)
            known = None
        link.in_flight.popleft()
        if not is_whole:
            return read(result, answer, link, self._lend)
        if known is None:
            answer.fill(table, masks, answer is link.last)
        else:
            answer.fill_chains(table, known)
        return False

    def _lend(self, count: int) -> tuple[MaskTable, np.ndarray]:
        """Room for so many masks, and its view."""
        for table in self._tables:
            masks = table.lend(count)
            if masks is not None:
                return table, masks
        made = MaskTable(1 << max(3, (count - 1).bit_length()), self.words)
        self._tables = [*self._tables[-_MOST_TABLES + 1:], made]
        return made, made.words[:count]

    def table_of(self, ids: list[int], drafts: Sequence[Sequence[int]] = ()) -> np.ndarray | None:
        """The masks where they lie, when they are the last answer, whole and of these rows in this order,
        and nothing has happened to its rows since. `drafts`: of each row those that it goes on with;
        none: nobody has any."""
        link = self._link
        if link is None or link.moved or link.in_flight or link.last.taken > 0:
            return None
        return link.last.table_of(ids, drafts, self._block)

    def _lose(self, link: _Link, error: MaskdError, waited_s: float = 0.0) -> None:
        """The rows of this stream end."""
        link.settle()
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


__all__ = ["BatchRow", "BatchRows"]
