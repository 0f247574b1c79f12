"""Masks onto logits: what the appliers of the library and of numpy have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from maskd import _abi, _buffers
from maskd._errors import MaskdError


class Row:
    """One row of logits and its mask. Not changed once it is made.

    Words: ceil(vocab_size / 32) int32; bit t % 32, least significant first, of word t // 32 is token
    t, 1 = allowed. Ids ascend, each once.
    """

    __slots__ = ("biases", "form", "ids", "logits_row", "slot", "struct", "temperature", "words")

    def __init__(self, logits_row: int, form: int, words: Any = None, slot: int = 0,
                 ids: Any = ()) -> None:
        self.logits_row = logits_row
        self.form = form
        self.words = None if words is None else _buffers.int32_array(words)
        self.slot = slot
        self.ids = _buffers.int32_array(ids)
        self.biases = _buffers.NO_BIASES
        self.temperature = 1.0
        # As the library takes it; made once, for rows are applied more often than made.
        self.struct = _abi.RowStruct(logits_row, form, 0, address_of(self.words), slot,
                                     address_of(self.ids), self.ids.size)

    def tuned(self, biases: Mapping[int, float] | None = None, temperature: float = 1) -> Self:
        """What is done to the logits that stay: biases are added to those of their ids, then all are
        divided by the temperature; at 0 they are not, and the greatest stays the greatest."""
        self.biases, self.temperature = _buffers.bias_array(biases), temperature
        return self

    @property
    def scale(self) -> np.float32:
        """What logits that stay are multiplied by, as the library has it: 1 at temperature 0, and where
        1 / temperature is no number."""
        with np.errstate(divide="ignore", over="ignore"):
            scale = np.float32(1) / np.float32(self.temperature)
        return scale if 0 < scale < np.inf else np.float32(1)

    @classmethod
    def full(cls, logits_row: int) -> Self:
        """Nothing is applied: the row is free or finished."""
        return cls(logits_row, _abi.FORM_FULL)

    @classmethod
    def dense(cls, logits_row: int, words: Any, changed: Any = ()) -> Self:
        """With `words`, in which the bits of the ids `changed` are turned over."""
        return cls(logits_row, _abi.FORM_WORDS, words=words, ids=changed)

    @classmethod
    def same(cls, logits_row: int, slot: int, changed: Any = ()) -> Self:
        """With the mask in a slot of the dictionary, with the bits of `changed` turned over."""
        return cls(logits_row, _abi.FORM_SLOT, slot=slot, ids=changed)

    @classmethod
    def allowed(cls, logits_row: int, ids: Any) -> Self:
        """Only `ids`."""
        return cls(logits_row, _abi.FORM_ALLOWED, ids=ids)

    @classmethod
    def forbidden(cls, logits_row: int, ids: Any) -> Self:
        """All tokens but `ids`."""
        return cls(logits_row, _abi.FORM_FORBIDDEN, ids=ids)


class DictionaryBase(ABC):
    """Masks that an applier keeps by slot; made by Applier.dictionary()."""

    def __init__(self, vocab_size: int) -> None:
        self._word_count = (vocab_size + 31) // 32

    def set(self, slot: int, words: Any) -> None:
        """Puts a copy of `words` into `slot`."""
        array = _buffers.int32_array(words)
        if array.size != self._word_count:
            raise MaskdError("INVALID_ARGUMENT",
                             f"words: are {array.size}, the vocabulary needs {self._word_count}")
        self._set(slot, array)

    @abstractmethod
    def _set(self, slot: int, words: np.ndarray) -> None: ...


class ApplierBase(ABC):
    """Sets the logits of tokens that are not allowed to minus infinity."""

    @property
    @abstractmethod
    def name(self) -> str:
        """"cpu" or "opencl"."""

    @abstractmethod
    def dictionary(self, vocab_size: int, slot_count: int) -> DictionaryBase:
        """Slots for masks of `vocab_size` tokens."""

    @abstractmethod
    def warm_up(self, vocab_size: int, width: int, dtype: str, row_count: int) -> None:
        """Makes now what the first batch of `row_count` rows would otherwise make in its step."""

    def apply(self, logits: Any, rows: Sequence[Row], vocab_size: int | None = None,
              dictionary: DictionaryBase | None = None, out: Any = None) -> None:
        """Masks `rows` of `logits` (numpy or DLPack) and no other.

        `vocab_size`: tokens that the masks speak of, by default the logits' width; what is past it
        becomes minus infinity in the rows named. `out`: where the masked rows go, the logits being
        only read: of their type and shape, and sharing no memory with them. None: in place.
        """
        plane, output, keep = planes(logits, out)
        vocab = plane.width if vocab_size is None else vocab_size
        _check_words(rows, (vocab + 31) // 32, vocab)
        self._apply(plane, output, rows, vocab, dictionary)
        del keep

    def apply_bitmask(self, logits: Any, bitmask: Any, rows: Any = None,
                      vocab_size: int | None = None) -> None:
        """Masks logits by rows of words as engines keep them: int32, ceil(vocab_size / 32) words and
        more, numpy or DLPack. Row i of the bitmask masks logits row rows[i], by default row i."""
        plane, keep = _buffers.view(logits)
        words, keep_words = _buffers.words_view(bitmask, written=False)
        vocab = plane.width if vocab_size is None else vocab_size
        self._apply_bitmask(plane, words, _bitmask_rows(rows, plane, words, vocab), vocab)
        del keep, keep_words

    @abstractmethod
    def _apply(self, plane: _abi.Logits, output: _abi.Logits, rows: Sequence[Row], vocab: int,
               dictionary: Any) -> None:
        """`output` is `plane` where rows are masked in place."""

    @abstractmethod
    def _apply_bitmask(self, plane: _abi.Logits, words: _abi.Logits, rows: np.ndarray | None,
                       vocab: int) -> None:
        """`rows` None: each row's own."""


def _bitmask_rows(rows: Any, plane: _abi.Logits, words: _abi.Logits, vocab: int) -> np.ndarray | None:
    """The logits rows of a bitmask's rows; None where they are their own."""
    needed = (vocab + 31) // 32
    if words.width < needed:
        raise MaskdError("INVALID_ARGUMENT", f"bitmask: has rows of {words.width} words, a vocabulary "
                         f"of {vocab} needs {needed}")
    if rows is None:
        if words.row_count != plane.row_count:
            raise MaskdError("INVALID_ARGUMENT", f"bitmask: has {words.row_count} rows, the logits "
                             f"have {plane.row_count}; name them by rows=")
        return None
    numbers = np.ascontiguousarray(rows, dtype=np.int64)
    if numbers.size != words.row_count:
        raise MaskdError("INVALID_ARGUMENT",
                         f"rows: are {numbers.size}, the bitmask has {words.row_count}")
    return numbers


def planes(logits: Any, out: Any) -> tuple[_abi.Logits, _abi.Logits, object]:
    """Where logits are read and where they are written, and what must live as long."""
    if out is None:
        plane, keep = _buffers.view(logits)
        return plane, plane, keep
    plane, keep = _buffers.source_view(logits)
    output, keep_output = _buffers.view(out)
    return plane, output, (keep, keep_output)


def _check_words(rows: Sequence[Row], needed: int, vocab_size: int) -> None:
    for row in rows:
        if row.words is not None and row.words.size != needed:
            raise MaskdError("INVALID_ARGUMENT", f"rows: of logits row {row.logits_row}, words: are "
                             f"{row.words.size}, a vocabulary of {vocab_size} needs {needed}")


def address_of(array: np.ndarray | None) -> int | None:
    """For C: an array's memory, which must live through the call, or None."""
    return None if array is None else array.ctypes.data
