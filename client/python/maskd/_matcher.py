"""One sequence at a time, as the in-process libraries have it: for engines whose loops ask each request's
matcher alone. Each move is a round trip; an engine that can hand over its whole batch uses Stream."""

import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from maskd._api import Client, Step, Stream
from maskd._answers import RowResult, RowState
from maskd._errors import MaskdError
from maskd._grammar import Compiled

_TIMEOUT_S = 30.0


class MatcherStream:
    """A stream that any number of threads and matchers share: one move at a time."""

    def __init__(self, client: Client, logits_width: int, tokenizer: str = "") -> None:
        self._stream: Stream = client.open_stream(logits_width, tokenizer)
        self._lock = threading.Lock()
        self._step = Step()
        self._next_row = 0
        self._dropped: list[int] = []
        self.mask_words = self._stream.mask_words
        self.stop_ids = self._stream.stop_ids

    def new_row(self) -> int:
        """A number that no row of this stream has had."""
        with self._lock:
            self._next_row += 1
            return self._next_row

    def drop(self, row: int) -> None:
        """Closes a row with the next move: also from a finalizer, which may not wait for one."""
        self._dropped.append(row)

    def move(self, row: int, fill: Callable[[Step], object]) -> tuple[RowResult, np.ndarray | None]:
        """Runs the step that `fill` fills; the row's answer and a copy of its mask, None for no mask."""
        with self._lock:
            self._step.clear()
            while self._dropped:
                self._step.close(self._dropped.pop())
            fill(self._step)
            result = self._stream.run(self._step, _TIMEOUT_S)
            (answer,) = (each for each in result.rows if each.row == row)
            mask = result.masks([row])[0] if answer.has_mask else None
            return answer, mask

    def close(self) -> None:
        """Ends the stream and all its rows."""
        with self._lock:
            self._stream.close()


class Matcher:
    """One row: its state after each token, and its mask."""

    def __init__(self, stream: MatcherStream, row: int, answer: RowResult,
                 mask: np.ndarray | None) -> None:
        self._stream = stream
        self._row = row
        self._set(answer, mask)

    @classmethod
    def open(cls, stream: MatcherStream, grammar: Compiled,
             stop_ids: Iterable[int] = ()) -> "Matcher":
        """Opens a row on a compiled grammar: one round trip. Raises the row's error."""
        row = stream.new_row()
        answer, mask = stream.move(
            row, lambda step: step.open(row, grammar, stop_ids=stop_ids, wait_s=_TIMEOUT_S))
        if answer.error is not None:
            raise answer.error
        return cls(stream, row, answer, mask)

    def _set(self, answer: RowResult, mask: np.ndarray | None) -> None:
        self._mask = mask
        self._finished = answer.state == RowState.FINISHED
        self._token_count = answer.token_count

    @property
    def finished(self) -> bool:
        """Whether a stop token was taken."""
        return self._finished

    @property
    def mask(self) -> np.ndarray | None:
        """None: nothing to mask."""
        return self._mask

    def accept(self, tokens: Sequence[int]) -> bool:
        """Takes all tokens, or none and is False. After the end any token is taken as nothing."""
        if self._finished or not tokens:
            return True
        before = self._token_count
        answer, mask = self._stream.move(self._row, lambda step: step.take(self._row, tokens))
        if answer.error is None:
            self._set(answer, mask)
            return True
        if answer.refused is None:
            raise answer.error
        if answer.token_count > before:
            self._token_count = answer.token_count
            self.rollback(answer.token_count - before)
        return False

    def accepted_prefix(self, tokens: Sequence[int]) -> int:
        """How many of the tokens accept() would take, one after the other; changes nothing."""
        drafts = list(tokens)
        negative = next((i for i, token in enumerate(drafts) if token < 0), len(drafts))
        if self._finished or not drafts[:negative]:
            return 0
        answer, _ = self._stream.move(
            self._row, lambda step: step.take(self._row, ()).draft(self._row, drafts[:negative]))
        if answer.error is not None:
            raise answer.error
        return answer.accepted_drafts or 0

    def rollback(self, token_count: int) -> None:
        """Takes back the last tokens, the end too."""
        if token_count == 0:
            return
        if token_count > self._token_count:
            raise MaskdError("OUT_OF_RANGE", f"rollback: {token_count} tokens, the row has taken "
                             f"{self._token_count}")
        answer, mask = self._stream.move(
            self._row, lambda step: step.rollback(self._row, token_count).take(self._row, ()))
        if answer.error is not None:
            raise answer.error
        self._set(answer, mask)

    def reset(self) -> None:
        """Takes all tokens back."""
        self.rollback(self._token_count)

    def fork(self) -> "Matcher":
        """An independent copy."""
        child = self._stream.new_row()
        answer, mask = self._stream.move(
            child, lambda step: step.fork(self._row, child).take(child, ()))
        if answer.error is not None:
            raise answer.error
        return Matcher(self._stream, child, answer, mask)

    def __del__(self) -> None:
        if hasattr(self, "_row"):
            self._stream.drop(self._row)
