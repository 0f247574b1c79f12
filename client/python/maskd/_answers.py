"""What the server answers to a step: the same of the client over the library and of the plain one."""

import dataclasses
import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from maskd import _buffers
from maskd._errors import MaskdError
from maskd._masking import ApplierBase


class RowState(enum.IntEnum):
    COMPILING = 1
    FREE = 2
    ACTIVE = 3
    FINISHED = 4
    FAILED = 5
    REFUSED = 6


@dataclasses.dataclass(frozen=True)
class RefusedToken:
    index: int  # in the tokens that were sent
    id: int


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

    def apply(self, applier: ApplierBase, logits: Any,
              rows: Mapping[int, int] | Iterable[tuple[int, int, int]], out: Any = None) -> None:
        """Masks logits with the result as it came, with its temperatures and biases.

        `rows`: {row: logits row}, or (row, position, logits row) for rows with several positions.
        `out`: where the masked rows go, as of Applier.apply().
        """
        self._apply(applier, logits, [(row, 0, target) for row, target in rows.items()]
                    if isinstance(rows, Mapping) else list(rows), out)

    @abstractmethod
    def _copy_masks(self, order: Sequence[int], out: np.ndarray, positions: int) -> None: ...

    @abstractmethod
    def _apply(self, applier: Any, logits: Any, targets: list[Any], out: Any) -> None:
        """`targets`: (row, position, logits row) each."""
