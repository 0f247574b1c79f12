"""Masks onto logits with numpy, where there is no library: the interface of maskd._applier."""

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskd import _abi, _buffers
from maskd._errors import MaskdError
from maskd._masking import ApplierBase, DictionaryBase, Row
from maskd._plain_numbers import tune

# Minus infinity by type, as the bits of an unsigned number of its size.
_MINUS_INFINITY: dict[int, Any] = {_abi.FLOAT32: np.uint32(0xFF800000), _abi.FLOAT16: np.uint16(0xFC00),
                   _abi.BFLOAT16: np.uint16(0xFF80)}
_NAMES = ("auto", "cpu")


class Dictionary(DictionaryBase):
    """Masks that an applier keeps by slot; made by Applier.dictionary()."""

    def __init__(self, vocab_size: int, slot_count: int) -> None:
        super().__init__(vocab_size)
        self._slots: list[np.ndarray | None] = [None] * slot_count

    def _set(self, slot: int, words: np.ndarray) -> None:
        if not 0 <= slot < len(self._slots):
            raise MaskdError("OUT_OF_RANGE",
                             f"slot: {slot} is not one of the {len(self._slots)} of the dictionary")
        self._slots[slot] = words.copy()

    def find(self, slot: int) -> np.ndarray | None:
        """The slot's words; None where there are none."""
        return self._slots[slot] if 0 <= slot < len(self._slots) else None


class Applier(ApplierBase):
    """Sets the logits of tokens that are not allowed to minus infinity, with numpy.

    name  "auto" or "cpu"; None: MASKD_APPLIER in the environment, or else "auto".

    Any number of threads may use one, each with logits of its own.
    """

    def __init__(self, name: str | None = None) -> None:
        asked = os.environ.get("MASKD_APPLIER", "auto") if name is None else name
        if asked in _NAMES:
            return
        if asked.startswith(("cpu:", "opencl")):
            raise MaskdError("UNIMPLEMENTED", f'applier "{asked}" is not supported (it needs libmaskd) on '
                             "cpu (numpy); supported: auto, cpu")
        raise MaskdError("INVALID_ARGUMENT",
                         f'applier "{asked}" is not known on cpu (numpy); supported: auto, cpu')

    @property
    def name(self) -> str:
        """Always "cpu": numpy works in host memory."""
        return "cpu"

    def dictionary(self, vocab_size: int, slot_count: int) -> Dictionary:
        """Slots for masks of `vocab_size` tokens, all empty."""
        return Dictionary(vocab_size, slot_count)

    def warm_up(self, vocab_size: int, width: int, dtype: str, row_count: int) -> None:
        """There is nothing to make beforehand."""

    def _apply(self, plane: _abi.Logits, output: _abi.Logits, rows: Sequence[Row], vocab: int,
               dictionary: Dictionary | None) -> None:
        _check_output(plane, output)
        _check(rows, plane, vocab, dictionary)
        minus_infinity = _MINUS_INFINITY[plane.type]
        source = _buffers.array_of(plane, minus_infinity.dtype)
        target = source if output is plane else _buffers.array_of(output, minus_infinity.dtype)
        for row in rows:
            elements = target[row.logits_row]
            if output is not plane:
                elements[:] = source[row.logits_row]
            if row.form != _abi.FORM_FULL:
                tune(elements[:vocab], plane.type, row.biases, row.scale)
                _mask(elements, row, vocab, dictionary, minus_infinity)

    def _apply_bitmask(self, plane: _abi.Logits, words: _abi.Logits, rows: np.ndarray | None,
                       vocab: int) -> None:
        lines = _buffers.array_of(words, np.dtype(np.uint32)).view(np.int32)[:, :(vocab + 31) // 32]
        order = range(len(lines)) if rows is None else rows.tolist()
        masks = [Row.dense(at, line) for at, line in zip(order, lines, strict=True)]
        self._apply(plane, plane, masks, vocab, None)


def _mask(elements: np.ndarray, row: Row, vocab: int, dictionary: Dictionary | None,
          minus_infinity: Any) -> None:
    if row.form == _abi.FORM_ALLOWED:
        kept = elements[row.ids]
        elements[:] = minus_infinity
        elements[row.ids] = kept
        return
    if row.form == _abi.FORM_FORBIDDEN:
        elements[row.ids] = minus_infinity
    else:
        words: Any = row.words
        if row.form == _abi.FORM_SLOT and dictionary is not None:
            words = dictionary.find(row.slot)
        bits = np.unpackbits(words.view(np.uint8), count=vocab, bitorder="little")
        bits[row.ids] ^= 1
        np.copyto(elements[:vocab], minus_infinity, where=bits == 0)
    elements[vocab:] = minus_infinity


def _check(rows: Sequence[Row], plane: Any, vocab: int, dictionary: Dictionary | None) -> None:
    """Refuses what does not fit, before anything is written."""
    if vocab <= 0:
        raise _refused("masks.vocab_size", f"{vocab} is not positive")
    if vocab > plane.width:
        raise _refused("masks.vocab_size", f"{vocab} is more than the logits' width, {plane.width}")
    seen = set()
    for i, row in enumerate(rows):
        _check_row(f"masks.rows[{i}]", row, plane, vocab, dictionary)
        if row.logits_row in seen:
            raise _refused("masks.rows", f"logits row {row.logits_row} is named twice")
        seen.add(row.logits_row)


def _check_row(place: str, row: Row, plane: Any, vocab: int, dictionary: Dictionary | None) -> None:
    if not 0 <= row.logits_row < plane.row_count:
        raise MaskdError("OUT_OF_RANGE", f"{place}.logits_row: {row.logits_row} is not one of the "
                         f"{plane.row_count} rows of logits")
    needed = (vocab + 31) // 32
    if row.form == _abi.FORM_SLOT:
        _check_slot(place, row.slot, needed, dictionary)
    _check_tuning(place, row, vocab)
    descents = np.flatnonzero(row.ids[1:] <= row.ids[:-1])
    if descents.size:
        at = int(descents[0]) + 1
        raise _refused(f"{place}.ids[{at}]", f"{row.ids[at]} does not come after {row.ids[at - 1]}")
    for at in (0, row.ids.size - 1) if row.ids.size else ():
        if not 0 <= row.ids[at] < vocab:
            raise _refused(f"{place}.ids[{at}]", f"{row.ids[at]} is not one of the {vocab} tokens")


def _check_tuning(place: str, row: Row, vocab: int) -> None:
    if not math.isfinite(row.temperature) or row.temperature < 0:
        raise _refused(f"{place}.temperature",
                       f"{row.temperature:g} is not a finite number from 0 on")
    before = -1
    for i, (token, bias) in enumerate(row.biases.tolist()):
        if not before < token < vocab or not math.isfinite(bias):
            raise _refused(f"{place}.biases[{i}]", f"of token {token} by {bias:g} is not finite, or not "
                           f"of one of the {vocab} tokens in ascending order")
        before = token


def _check_output(plane: Any, output: Any) -> None:
    if output is plane:
        return
    if output.type != plane.type:
        raise _refused("output.type", "is not that of the logits")
    if (output.row_count, output.width) != (plane.row_count, plane.width):
        raise _refused("output.width", f"{output.row_count} rows of {output.width} are not the logits' "
                       f"{plane.row_count} rows of {plane.width}")
    begins = [each.data or 0 for each in (plane, output)]
    size = _MINUS_INFINITY[plane.type].dtype.itemsize
    ends = [begin + _buffers.byte_count(each, size)
            for begin, each in zip(begins, (plane, output), strict=True)]
    if begins[0] < ends[1] and begins[1] < ends[0]:
        raise _refused("output.data", "shares memory with the logits")


def _check_slot(place: str, slot: int, needed: int, dictionary: Dictionary | None) -> None:
    if dictionary is None:
        raise _refused(f"{place}.slot", "there is no dictionary")
    words = dictionary.find(slot)
    if words is None or words.size != needed:
        raise _refused(f"{place}.slot", f"the dictionary has no mask in slot {slot}")


def _refused(place: str, what: str) -> MaskdError:
    return MaskdError("INVALID_ARGUMENT", f"{place}: {what}")
