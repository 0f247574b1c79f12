"""What the server answers to a step: the same of the client over the library and of the plain one."""

import dataclasses
import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from maskd import _buffers
from maskd._errors import NUMBERS, MaskdError
from maskd._masking import ApplierBase, Row
from maskd._torch import TorchApplier, TorchMask


class RowState(enum.IntEnum):
    """Where a row stands, by the numbers of RowState in protos/maskd/v1."""
    COMPILING = 1
    FREE = 2
    ACTIVE = 3
    FINISHED = 4
    FAILED = 5
    REFUSED = 6


@dataclasses.dataclass(frozen=True)
class RefusedToken:
    """A token that the row did not take; it stands where it stood."""
    index: int  # in the tokens that were sent
    id: int


class AnswerSize(NamedTuple):
    """How much there is of an answer, in bytes."""

    reasoning_content: int
    content: int
    tool_calls: int  # calls
    id: int  # of the last call; those before are whole
    arguments: int  # of the last call


@dataclasses.dataclass(frozen=True)
class ToolCallDelta:
    """More of one call."""

    index: int  # in the answer, from 0
    id: str
    name: str  # in the first delta of the call
    arguments: bytes  # of JSON


class AnswerDelta(NamedTuple):
    """What is certain of a row's answer since its last reply: the cut, then the rest to be appended.

    Texts are bytes, as a token may end within a character. Answer puts them together.
    """

    cut: AnswerSize | None  # what is left of what was said before; None: all
    reasoning_content: bytes
    content: bytes
    tool_calls: tuple[ToolCallDelta, ...]


class Answer:
    """A row's answer, of its deltas.

        answer = maskd.Answer()
        answer.apply(row.answer)           # of each RowResult of the row
        answer.message()["tool_calls"]
    """

    def __init__(self) -> None:
        self._reasoning = bytearray()
        self._content = bytearray()
        self._calls: list[tuple[str, str, bytes]] = []  # id, name, arguments

    def apply(self, delta: AnswerDelta | None) -> None:
        """None: nothing new."""
        if delta is None:
            return
        if delta.cut is not None:
            self._cut(delta.cut)
        self._reasoning += delta.reasoning_content
        self._content += delta.content
        for call in delta.tool_calls:
            if call.index == len(self._calls):
                self._calls.append(("", call.name, b""))
            id_, name, arguments = self._calls[call.index]
            self._calls[call.index] = (id_ + call.id, name, arguments + call.arguments)

    def _cut(self, left: AnswerSize) -> None:
        del self._reasoning[left.reasoning_content:]
        del self._content[left.content:]
        del self._calls[left.tool_calls:]
        if self._calls:
            id_, name, arguments = self._calls[-1]
            self._calls[-1] = (id_.encode()[:left.id].decode(), name, arguments[:left.arguments])

    def message(self) -> dict[str, Any]:
        """OpenAI's message, as far as it goes: role, content, and where there are some
        reasoning_content and tool_calls. A character that is not whole yet is U+FFFD."""
        content = self._content.decode(errors="replace")
        message: dict[str, Any] = {"role": "assistant", "content": content or None}
        if self._reasoning:
            message["reasoning_content"] = self._reasoning.decode(errors="replace")
        if self._calls:
            message["tool_calls"] = [
                {"id": id_, "type": "function",
                 "function": {"name": name, "arguments": arguments.decode(errors="replace")}}
                for id_, name, arguments in self._calls]
        return message


@dataclasses.dataclass(frozen=True)
class RowResult:
    """One row's answer to a step."""

    row: int
    state: RowState
    error: MaskdError | None  # the row goes on from token_count when it is active or finished
    refused: RefusedToken | None
    token_count: int  # that the row has taken
    may_end: bool
    has_mask: bool
    position_count: int
    accepted_drafts: int | None  # that have a mask: of a chain its first ones; None: none were sent
    grammar_id: str  # "" but in the reply that first has a position
    # What must come next, where Step.want_forced() asked for it: bytes; the tokens that may be
    # appended without asking the model; those and more, to be sent as drafts.
    forced_bytes: bytes = b""
    forced_tokens: tuple[int, ...] = ()
    forced_draft: tuple[int, ...] = ()
    answer: AnswerDelta | None = None  # None: nothing new, or not wanted (Step.open)


@dataclasses.dataclass(frozen=True)
class Position:
    """One position of a row's answer, in the form in which it came."""

    form: int  # FULL: nothing is masked; ALLOWED and FORBIDDEN: by ids; WORDS
    invalid: bool  # it comes after a draft that was refused: there is no mask
    ids: np.ndarray  # int32, of the forms that are lists
    words: np.ndarray  # int32; empty where nothing is masked
    temperature: float | None  # 0: the greatest is to be taken; None: the engine's own
    biases: dict[int, float]  # to add to logits, before they are divided by the temperature

    FULL, ALLOWED, FORBIDDEN, WORDS = range(4)


class Outcomes(NamedTuple):
    """The rows' answers as arrays, in the order of StepResult.rows."""

    rows: np.ndarray  # uint64
    states: np.ndarray  # of RowState
    accepted_drafts: np.ndarray  # -1: none were sent
    error_codes: np.ndarray  # of gRPC's codes, 0: no error; its words are in outcomes() and rows


class StepResultBase(ABC):
    """The answer to one step. Valid until the next collect() of the stream that gave it."""

    def __init__(self, mask_words: int) -> None:
        self._mask_words = mask_words

    @property
    @abstractmethod
    def step(self) -> int:
        """The step's number."""

    @property
    @abstractmethod
    def rows(self) -> list[RowResult]:
        """In the server's order: opened rows, named rows, rows that have compiled since."""

    def outcomes(self) -> Iterator[tuple[int, int, MaskdError | None, int]]:
        """Of each row its id, its state, its error and how many drafts have a mask (-1: none were sent): what a
        batch asks each step, in a third of the time of `rows`."""
        for row in self.rows:
            drafts = -1 if row.accepted_drafts is None else row.accepted_drafts
            yield row.row, int(row.state), row.error, drafts

    def arrays(self) -> Outcomes:
        """All of outcomes() at once, without an object a row."""
        columns = self.columns()
        return Outcomes(np.array(columns[0], dtype=np.uint64),
                        *(np.array(each, dtype=np.int32) for each in columns[1:]))

    def columns(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """The same as lists: for batches of a few rows in a fifth of the time."""
        given = [(row, state, drafts, NUMBERS[error.code] if error else 0)
                 for row, state, error, drafts in self.outcomes()]
        rows, states, drafts, errors = zip(*given) if given else ((), (), (), ())
        return list(rows), list(states), list(drafts), list(errors)

    def allows(self, row: int, token: int) -> bool:
        """Whether the row's next token may be that one: by the mask that is here, without a trip."""
        return bool(self.allows_each([row], [token])[0])

    def allows_each(self, rows: Any, tokens: Any) -> np.ndarray:
        """The same for a token of each of the rows."""
        return self._allows(np.ascontiguousarray(rows, dtype=np.uint64),
                            _buffers.int32_array(tokens))

    def _allows(self, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        words = self.masks(rows.tolist()).view(np.uint32)
        inside = (tokens >= 0) & (tokens < words.shape[1] * 32)
        at = np.where(inside, tokens, 0)
        bits: np.ndarray = words[np.arange(rows.size), at >> 5] >> (at & 31).astype(np.uint32) & 1
        allowed: np.ndarray = np.logical_and(inside, bits != 0)
        return allowed

    @property
    @abstractmethod
    def snapshots(self) -> list[dict[str, Any]]:
        """Descriptions of the rows that Step.snapshot() named, for Step.open_snapshot()."""

    @abstractmethod
    def position(self, row: int, position: int = 0) -> Position:
        """One of the row's positions, for engines that apply it themselves."""

    def masks(self, order: Sequence[int], out: np.ndarray | None = None,
              positions: int = 1) -> np.ndarray:
        """Row i is the mask of order[i], all ones where there is nothing to apply.

        `out`: int32, a row of at least the stream's mask_words for each; made, as zeros, when None.
        `positions`: so many rows for each of `order`; those that are invalid, or that a row does not
        have, are not written.
        """
        out = _buffers.mask_rows(out, len(order) * positions, self._mask_words)
        self._copy_masks(order, out, positions)
        return out

    def apply(self, applier: ApplierBase | TorchApplier, logits: Any,
              rows: Mapping[int, int] | Iterable[tuple[int, int, int]], out: Any = None) -> None:
        """Masks logits with the result as it came, with its temperatures and biases.

        `rows`: {row: logits row}, or (row, position, logits row) for rows with several positions.
        `out`: where the masked rows go, as of Applier.apply().
        """
        targets = ([(row, 0, target) for row, target in rows.items()] if isinstance(rows, Mapping)
                   else list(rows))
        if isinstance(applier, TorchApplier):
            if out is not None:
                raise MaskdError("UNIMPLEMENTED", "out: a TorchApplier masks in place")
            applier.apply(logits, self._torch_masks(targets))
        else:
            self._apply(applier, logits, targets, out)

    @abstractmethod
    def _copy_masks(self, order: Sequence[int], out: np.ndarray, positions: int) -> None: ...

    def _torch_masks(self, targets: list[tuple[int, int, int]]) -> list[TorchMask]:
        """Their masks, each for its logits row."""
        masks = []
        for row, position, logits_row in targets:
            at = self.position(row, position)
            if at.invalid:
                raise MaskdError("FAILED_PRECONDITION", f"row {row}: position {position} has no mask")
            words = at.words if at.form == Position.WORDS else None
            made = Row(logits_row, at.form, words, ids=at.ids)
            masks.append(TorchMask(made.tuned(at.biases, 1 if at.temperature is None else at.temperature)))
        return masks

    @abstractmethod
    def _apply(self, applier: Any, logits: Any, targets: list[Any], out: Any) -> None:
        """`targets`: (row, position, logits row) each."""
