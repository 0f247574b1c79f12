"""A batch's bitmask that stays from step to step."""

from collections.abc import Sequence
from typing import Any

from maskd import _abi, _buffers
from maskd._abi import lib
from maskd._client import StepResult


class MaskPlane(_abi.Handle):
    """The packed masks of a batch in the engine's own array, kept from step to step.

        plane = maskd.MaskPlane(bitmask)    # int32, rows and words: numpy, or what speaks DLPack
        plane.write(result, [7, 9])         # row 0 is the mask of row 7

    Most rows have the mask that they had a step before: that costs a comparison, where
    StepResult.masks() copies it. Other rows stay as they are. Whatever else writes to the array,
    forget() comes after it. One thread at a time.
    """

    def __init__(self, bitmask: Any) -> None:
        rows, self._keep = _buffers.packed_rows(bitmask)
        super().__init__(_abi.new("mask_plane_new", rows.data, rows.row_count, rows.width),
                         "mask_plane_free")

    def write(self, result: StepResult, order: Sequence[int], positions: int = 1) -> None:
        """As StepResult.masks() with the array as its `out`."""
        lib.maskd_mask_plane_write(self.handle, result.handle, _buffers.row_ids(order), len(order),
                                   positions)

    def forget(self) -> None:
        """Rows may have any words by now."""
        lib.maskd_mask_plane_forget(self.handle)
