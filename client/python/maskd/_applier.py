"""Masks onto logits, in place."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskd import _abi, _buffers
from maskd._abi import lib
from maskd._masking import ApplierBase, DictionaryBase, Row, address_of


class Dictionary(_abi.Handle, DictionaryBase):
    """Masks that an applier keeps by slot; made by Applier.dictionary()."""

    def __init__(self, applier: "Applier", vocab_size: int, slot_count: int) -> None:
        DictionaryBase.__init__(self, vocab_size)
        self._applier = applier  # goes after this
        _abi.Handle.__init__(self, _abi.new("dictionary_new", applier.handle, vocab_size, slot_count),
                             "dictionary_free")

    def _set(self, slot: int, words: np.ndarray) -> None:
        lib.maskd_dictionary_set(self.handle, slot, words.ctypes.data)


class Applier(_abi.Handle, ApplierBase):
    """Sets the logits of tokens that are not allowed to minus infinity.

    name  "auto", "cpu", "cpu:KERNEL", "opencl", "opencl:DEVICE"; None: MASKD_APPLIER in the
          environment, or else "auto". One that this machine lacks is a MaskdError with the list of
          those it has.

    Any number of threads may use one, each with logits of its own.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(_abi.new("applier_new", None if name is None else name.encode()),
                         "applier_free")

    @property
    def name(self) -> str:
        """The name it was made by, never "auto"."""
        return str(lib.maskd_applier_name(self.handle).decode())

    def dictionary(self, vocab_size: int, slot_count: int) -> Dictionary:
        """Slots for masks of `vocab_size` tokens, all empty; closed before this is."""
        return Dictionary(self, vocab_size, slot_count)

    def warm_up(self, vocab_size: int, width: int, dtype: str, row_count: int) -> None:
        """Makes now what the first batch of that shape would otherwise make in its step."""
        kind = _buffers.NUMPY_TYPES[dtype]
        lib.maskd_applier_warm_up(self.handle, vocab_size, width, kind, row_count)

    def _apply(self, plane: _abi.Logits, output: _abi.Logits, rows: Sequence[Row], vocab: int,
               dictionary: Dictionary | None) -> None:
        structs = (_abi.RowStruct * len(rows))(*[row.struct for row in rows])
        tunings = _tunings(rows)
        options = None
        if not (dictionary is None and tunings is None and output is plane):
            options = ctypes.byref(_abi.ApplyOptions(
                ctypes.sizeof(_abi.ApplyOptions), None if dictionary is None else dictionary.handle,
                ctypes.pointer(output), tunings))
        lib.maskd_apply_with(self.handle, ctypes.byref(plane), vocab, structs, len(rows), options)

    def _apply_bitmask(self, plane: _abi.Logits, words: _abi.Logits, rows: np.ndarray | None,
                       vocab: int) -> None:
        lib.maskd_apply_bitmask(self.handle, ctypes.byref(plane), vocab, words.data, words.row_stride,
                                address_of(rows), words.row_count)


def _tunings(rows: Sequence[Row]) -> Any:
    """One for each row; None where no row has one."""
    if all(row.temperature == 1 and not row.biases.size for row in rows):
        return None
    return (_abi.Tuning * len(rows))(*[
        _abi.Tuning(row.temperature, 0, address_of(row.biases), row.biases.size) for row in rows])
