"""Masks as the wire has them, read with numpy: every row form of protos/maskd/v1, and the dictionary."""

from typing import Any, NamedTuple

import numpy as np

from maskd._abi import FORM_ALLOWED, FORM_FORBIDDEN, FORM_FULL, FORM_WORDS
from maskd._errors import MaskdError

FORM_INVALID = -1
_NONE = np.empty(0, dtype=np.int32)


class Mask(NamedTuple):
    """One position's mask: ids of the two forms that are lists, words of the dense one."""

    form: int
    ids: np.ndarray = _NONE
    words: np.ndarray = _NONE

    def dense(self, word_count: int, vocab_size: int) -> np.ndarray:
        """The words, whatever the form; all ones where nothing is masked."""
        if self.form == FORM_WORDS:
            return self.words
        if self.form == FORM_FULL:
            return np.full(word_count, -1, dtype=np.int32)
        bits = np.zeros(32 * word_count, dtype=np.uint8)
        if self.form == FORM_FORBIDDEN:
            bits[:vocab_size] = 1
        bits[self.ids] = self.form == FORM_ALLOWED
        return np.packbits(bits, bitorder="little").view("<i4")


class MaskReader:
    """Reads the positions of one stream in their order: what a reply puts into the dictionary, later
    ones are made of."""

    def __init__(self, welcome: Any) -> None:
        self._word_count = int(welcome.mask_words)
        self._vocab_size = int(welcome.tokenizer.vocab_size)
        self._dictionary: list[Mask | None] = [None] * welcome.dictionary_size

    def read(self, position: Any) -> Mask:
        """Checks a position and gives its mask; a slot that it names is filled before the next one
        is read."""
        mask = self._read_form(position)
        if position.HasField("dictionary_slot"):
            if position.dictionary_slot >= len(self._dictionary) or mask.form <= FORM_FULL:
                raise _broken(f"slot {position.dictionary_slot} of a dictionary of "
                              f"{len(self._dictionary)} is to hold what is no mask")
            self._dictionary[position.dictionary_slot] = mask
        return mask

    def _read_form(self, position: Any) -> Mask:
        form = position.WhichOneof("form")
        if form == "full":
            return Mask(FORM_FULL)
        if form == "invalid":
            return Mask(FORM_INVALID)
        if form == "dense":
            return self._read_dense(position.dense)
        if form == "same_as":
            return self._stored(position.same_as)
        if form == "allowed_ids":
            return Mask(FORM_ALLOWED, ids=self._read_ids(position.allowed_ids))
        if form == "forbidden_ids":
            return Mask(FORM_FORBIDDEN, ids=self._read_ids(position.forbidden_ids))
        if form == "delta":
            return self._read_delta(position.delta)
        raise _broken("a row form that was not offered to the server")

    def _read_dense(self, data: bytes) -> Mask:
        if len(data) != 4 * self._word_count:
            raise _broken(f"a mask of {len(data)} bytes where {self._word_count} words are due")
        return Mask(FORM_WORDS, words=np.frombuffer(data, dtype="<i4"))

    def _read_ids(self, ids: Any) -> np.ndarray:
        listed = np.array(ids.ids, dtype=np.int32)
        if listed.size and (listed[0] < 0 or listed[-1] >= self._vocab_size
                            or (listed[1:] <= listed[:-1]).any()):
            raise _broken(f"ids of a list for {self._vocab_size} tokens that do not ascend or are none "
                          "of them")
        return listed

    def _read_delta(self, delta: Any) -> Mask:
        indices = np.array(delta.word_indices, dtype=np.int64)
        if indices.size != len(delta.words) or (indices >= self._word_count).any():
            raise _broken(f"a delta of {indices.size} indices and {len(delta.words)} words that fits no "
                          f"mask of {self._word_count}")
        words = self._stored(delta.base).dense(self._word_count, self._vocab_size).copy()
        words[indices] = np.array(delta.words, dtype=np.uint32).view(np.int32)
        return Mask(FORM_WORDS, words=words)

    def _stored(self, slot: int) -> Mask:
        mask = self._dictionary[slot] if slot < len(self._dictionary) else None
        if mask is None:
            raise _broken(f"slot {slot} of a dictionary of {len(self._dictionary)} holds no mask")
        return mask


def _broken(what: str) -> MaskdError:
    return MaskdError("INTERNAL", what)
