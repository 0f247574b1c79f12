"""Masks onto torch tensors, where they lie: on any device that torch has.

A batch is packed on the host into one array of int32 and sent in one copy. On the device the masks' words are
made from it in a plane that stays there, and written over the logits:

    base words      of each row an index into a table that lies on the device: all ones, none, the vocabulary,
                    the masks that this applier has seen before (by their serial), those of this batch
    pairs           (word, bits to turn over): ids that are allowed, forbidden or changed, joined by word

So a row of ids costs 8 bytes an id at most, a mask that was seen before 8 bytes, and one that is new
ceil(width / 32) words; logits never travel.
"""

import ctypes
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from maskd import _abi, _buffers, _torch_kernels
from maskd._errors import MaskdError
from maskd._masking import Row

_NAMES = ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native")
# Base words that are always there, and where the masks that were seen before begin.
_ALL, _NONE, _VOCABULARY, _KEPT = range(4)


class Traffic(NamedTuple):
    """What one application moved and touched."""

    bytes_to_device: int
    bytes_from_device: int
    logits_touched: int


class TorchMask(NamedTuple):
    """One row of a batch: as Row, and the serial of words that may come again (0: they may not)."""

    row: Row
    serial: int = 0


def supported(device: str | Any) -> tuple[str, ...]:
    """The names that may be chosen for tensors on that device, "auto" first."""
    import torch

    kind = torch.device(device).type
    if kind != "cuda":
        return ("auto", "cpu") if kind in ("cpu", "xpu") else ("auto", "cpu", "torch_native")
    if torch.version.hip is not None:
        return ("auto", "cpu", "torch_compile", "torch_native")
    return _NAMES


class TorchApplier:
    """Sets the logits of tokens that are not allowed to minus infinity, in a torch tensor on its device.

        applier = maskd.TorchApplier(width=logits.shape[1], device=logits.device)     # once, at start
        applier.warm_up(row_counts=[1, 8, 64], dtypes=[logits.dtype])
        result.apply(applier, logits, {7: 0})                                         # each step

    name    "auto", "cpu", "cuda", "triton", "torch_compile", "torch_native"; None: MASKD_APPLIER in the
            environment, or else "auto". A name that is not known, or not supported on the device, is
            refused here, with the device and those that are.
    width   logits of a row; `vocab_size`: tokens that masks speak of, by default the width. What is past it
            becomes minus infinity in the rows named.
    masks   that are kept on the device, for rows that have them again.
    anywhere  takes the names that torch itself can run on that device too: for tests.

    One thread at a time, on the device's current stream. Only the rows named are touched.
    """

    def __init__(self, width: int, device: Any = "cpu", name: str | None = None,
                 vocab_size: int | None = None, masks: int = 256, anywhere: bool = False) -> None:
        import torch

        self.torch = torch
        self.device = torch.device(device)
        self.width = width
        self.vocab_size = width if vocab_size is None else vocab_size
        if not 0 < self.vocab_size <= width:
            raise MaskdError("INVALID_ARGUMENT", f"vocab_size: {self.vocab_size} is not one of 1 to the "
                             f"logits' width, {width}")
        self.name = _choose(name, self.device, anywhere)
        self.words = (width + 31) // 32
        self._masks = masks
        self._kept: OrderedDict[int, int] = OrderedDict()  # serial: place in the table
        self.place = torch.device("cpu") if self.name == "cpu" else self.device  # where masks are made
        try:
            self._way = _torch_kernels.MAKERS[self.name](self)
        except MaskdError as error:
            raise _unsupported(self.name, error.message, self.device) from error
        self._table = self._make_table()
        self.traffic = Traffic(0, 0, 0)  # of the last application

    def _make_table(self) -> Any:
        table = np.zeros((_KEPT + self._masks, self.words), dtype=np.int32)
        table[_ALL] = -1
        table[_VOCABULARY] = _words_of(range(self.vocab_size), self.words)
        return self.torch.from_numpy(table).to(self.place)

    def warm_up(self, row_counts: Sequence[int], dtypes: Sequence[Any]) -> None:
        """Makes what batches of so many rows, of these types, need: no step compiles after."""
        for dtype in dtypes:
            for count in row_counts:
                logits = self.torch.zeros((count, self.width), dtype=dtype, device=self.device)
                self.apply(logits, [Row.allowed(i, [0]) for i in range(count)])

    def apply(self, logits: Any, rows: Sequence[Row | TorchMask]) -> None:
        """Masks `rows` of `logits`, a tensor of rows and width on this applier's device, and no other."""
        self._check(logits)
        masks = [each if isinstance(each, TorchMask) else TorchMask(each) for each in rows]
        masks = [each for each in masks if each.row.form != _abi.FORM_FULL]
        _check_rows(masks, logits.shape[0], self)
        self._tune(logits, [each.row for each in masks])
        if not masks:
            self.traffic = Traffic(0, 0, 0)
            return
        batch = self._pack(masks)
        sent = self._send(batch.packed())
        self._way.mask_batch(logits, self._table, sent, batch.counts())
        self._count(logits, len(masks), 4 * sent.numel())

    def apply_bitmask(self, logits: Any, bitmask: Any, rows: Any = None) -> None:
        """Masks logits by rows of words as engines keep them: int32, numpy or torch, on the host or, then
        nothing is sent, on the logits' device. Row i of the bitmask masks logits row rows[i], by default row i.

        A CUDA graph may capture it with words and rows that lie on the device. Rows are then not looked at
        here: those that there are none of are passed over by "cuda" and "triton"."""
        self._check(logits)
        torch = self.torch
        words = torch.as_tensor(bitmask)
        if words.dtype != torch.int32 or words.dim() != 2 or words.shape[1] * 32 < self.vocab_size:
            raise MaskdError("INVALID_ARGUMENT", f"bitmask: is {words.dtype} of {tuple(words.shape)}, not int32 "
                             f"rows of {(self.vocab_size + 31) // 32} words and more")
        order = None if rows is None else torch.as_tensor(rows)
        if order is not None and order.numel() != words.shape[0]:
            raise MaskdError("INVALID_ARGUMENT", f"rows: are {order.numel()}, the bitmask has {words.shape[0]}")
        if not words.shape[0]:
            return
        self._check_order(order, words.shape[0], logits)
        is_there = words.device.type == self.place.type
        self._way.mask_bitmask(logits, None if order is None else order.to(self.place), words,
                               self._table[_VOCABULARY])
        self._count(logits, words.shape[0], 0 if is_there else words.numel() * 4)

    def _check_order(self, order: Any, count: int, logits: Any) -> None:
        if order is None:
            good = count <= logits.shape[0]
        elif order.device.type == "cuda" and self.torch.cuda.is_current_stream_capturing():
            good = True
        else:
            good = int(order.min()) >= 0 and int(order.max()) < logits.shape[0]
        if not good:
            raise MaskdError("OUT_OF_RANGE", f"rows: are not all of the {logits.shape[0]} rows of logits")

    def _count(self, logits: Any, rows: int, sent: int) -> None:
        """Of an application: masks are sent to the device or, where the host makes them, logits travel."""
        is_there = self.place.type == logits.device.type
        back = 0 if is_there else rows * self.width * logits.element_size()
        self.traffic = Traffic(back if self.place.type == "cpu" else sent, back, rows * self.width)

    def _check(self, logits: Any) -> None:
        torch = self.torch
        if not isinstance(logits, torch.Tensor) or logits.dim() != 2 or logits.shape[1] != self.width:
            raise MaskdError("INVALID_ARGUMENT", f"logits: are not a tensor of rows and {self.width}")
        kind = logits.device
        if kind.type != self.device.type or (None not in (kind.index, self.device.index)
                                             and kind.index != self.device.index):
            raise MaskdError("INVALID_ARGUMENT", f"logits: lie on {kind}, the applier is for {self.device}")
        if self.width > 1 and logits.stride(1) != 1:
            raise MaskdError("INVALID_ARGUMENT", "logits: do not lie side by side in their rows")
        if logits.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise MaskdError("INVALID_ARGUMENT", f"logits: are {logits.dtype}, not one of float32, float16, bfloat16")

    def _tune(self, logits: Any, rows: Sequence[Row]) -> None:
        """Biases and temperatures, before the masks: of few rows, so one by one."""
        torch = self.torch
        for row in rows:
            scale = row.scale
            if not row.biases.size and scale == 1:
                continue
            line = logits[row.logits_row, :self.vocab_size]
            tuned = line.float()
            ids = torch.from_numpy(row.biases["id"].astype(np.int64)).to(self.device)
            if row.biases.size:
                tuned[ids] += torch.from_numpy(row.biases["bias"].copy()).to(self.device)
            if scale != 1:
                tuned *= float(scale)
                line.copy_(tuned)
            else:
                line[ids] = tuned[ids].to(line.dtype)

    def _pack(self, masks: Sequence[TorchMask]) -> "_Batch":
        """The batch as it is sent; masks that may come again get their place in the table."""
        base, places, lines, at, bits = [], [], [], [], []
        used: set[int] = set()
        scratch = _KEPT + self._masks
        for i, mask in enumerate(masks):
            row = mask.row
            if row.words is None:
                base.append(_NONE if row.form == _abi.FORM_ALLOWED else _VOCABULARY)
            else:
                place, is_new = self._place(mask.serial, used)
                if place < 0:
                    place, is_new, scratch = scratch, True, scratch + 1
                base.append(place)
                if is_new:
                    places.append(place)
                    lines.append(_fitted(row.words, self.words, self.vocab_size))
            words, turned = _joined(row.ids)
            at.append(words + i * self.words)
            bits.append(turned)
        self._grow(scratch)
        return _Batch([mask.row.logits_row for mask in masks], base, places, lines, np.concatenate(at),
                      np.concatenate(bits))

    def _place(self, serial: int, used: set[int]) -> tuple[int, bool]:
        """Where a mask's words lie in the table, -1: nowhere; whether they have to be sent."""
        if not serial:
            return -1, True
        place = self._kept.get(serial)
        is_new = place is None
        if place is not None:
            self._kept.move_to_end(serial)
        elif len(self._kept) < self._masks:
            place = _KEPT + len(self._kept)
        else:
            oldest, place = next(iter(self._kept.items()), (0, -1))
            if place < 0 or place in used:
                return -1, True  # this batch has more masks than are kept
            del self._kept[oldest]
        self._kept[serial] = place
        used.add(place)
        return place, is_new

    def _grow(self, size: int) -> None:
        """Makes room for masks of one batch alone, behind those that are kept."""
        have = self._table.shape[0]
        if size > have:
            more = self.torch.zeros((_torch_kernels.padded(size - have), self.words), dtype=self.torch.int32,
                                     device=self._table.device)
            self._table = self.torch.cat((self._table, more))

    def _send(self, data: np.ndarray) -> Any:
        """It on the device, in one copy."""
        staged = self.torch.from_numpy(data)
        if self.place.type == "cuda":
            staged = staged.pin_memory()
        return staged.to(self.place, non_blocking=True)


class _Batch(NamedTuple):
    """What is sent of the masks of one application."""

    rows: list[int]  # of the logits
    base: list[int]  # places in the table
    places: list[int]  # that these lines go to
    lines: list[np.ndarray]
    at: np.ndarray  # words of the masks, one after the other, whose bits are turned over
    bits: np.ndarray

    def counts(self) -> tuple[int, int, int]:
        """Rows, places of words and pairs, as the packed array begins."""
        return len(self.rows), len(self.places), self.at.size

    def packed(self) -> np.ndarray:
        """All of the batch as int32, for one copy to the device."""
        heads = [np.array(self.rows + self.base + self.places, dtype=np.int32)]
        return np.concatenate([*heads, self.at, self.bits, *self.lines], dtype=np.int32)


def _joined(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words that ascending ids lie in, each once, and their bits there."""
    if not ids.size:
        return ids[:0], ids[:0]
    words = ids >> 5
    begins = np.flatnonzero(np.diff(words, prepend=-1))
    bits = np.bitwise_or.reduceat(np.left_shift(np.uint32(1), (ids & 31).astype(np.uint32)), begins)
    return words[begins], bits.view(np.int32)


def _words_of(ids: Any, count: int) -> np.ndarray:
    at, bits = _joined(np.asarray(ids, dtype=np.int32))
    words = np.zeros(count, dtype=np.int32)
    words[at] = bits
    return words


def _fitted(words: np.ndarray, count: int, vocab: int) -> np.ndarray:
    """A mask's words as long as the logits' width, with nothing past the vocabulary."""
    fitted = np.zeros(count, dtype=np.int32)
    needed = (vocab + 31) // 32
    fitted[:needed] = words[:needed]
    if vocab % 32:
        fitted[needed - 1] &= np.int32((1 << vocab % 32) - 1)
    return fitted


def _check_rows(masks: Sequence[TorchMask], row_count: int, applier: TorchApplier) -> None:
    needed, seen = (applier.vocab_size + 31) // 32, set()
    for mask in masks:
        row = mask.row
        place = f"rows: of logits row {row.logits_row}"
        if not 0 <= row.logits_row < row_count:
            raise MaskdError("OUT_OF_RANGE", f"{place}: is not one of the {row_count} rows of logits")
        if row.logits_row in seen:
            raise MaskdError("INVALID_ARGUMENT", f"rows: logits row {row.logits_row} is named twice")
        seen.add(row.logits_row)
        if row.form == _abi.FORM_SLOT:
            raise MaskdError("INVALID_ARGUMENT", f"{place}: has a slot; masks are kept by their serial here")
        if row.words is not None and row.words.size != needed:
            raise MaskdError("INVALID_ARGUMENT", f"{place}, words: are {row.words.size}, a vocabulary of "
                             f"{applier.vocab_size} needs {needed}")
        if row.ids.size and not (0 <= row.ids[0] and row.ids[-1] < applier.vocab_size
                                 and (np.diff(row.ids) > 0).all()):
            raise MaskdError("INVALID_ARGUMENT", f"{place}, ids: do not ascend within the "
                             f"{applier.vocab_size} tokens")


def _choose(name: str | None, device: Any, anywhere: bool) -> str:
    """Settles the name. Errors: INVALID_ARGUMENT (not known), UNIMPLEMENTED (not here)."""
    asked = os.environ.get("MASKD_APPLIER", "auto") if name is None else name
    known = supported(device)
    if asked not in _NAMES:
        raise MaskdError("INVALID_ARGUMENT", f'applier "{asked}" is not known on {device}; supported: '
                         f"{', '.join(known)}")
    if asked == "auto":
        return next((each for each in ("triton", "torch_native") if each in known
                     and not _torch_kernels.why_not(each)), "cpu")
    if asked not in known and not anywhere:
        raise _unsupported(asked, "", device)
    why = _torch_kernels.why_not(asked)
    if why:
        raise _unsupported(asked, why, device)
    return asked


def _unsupported(name: str, why: str, device: Any) -> MaskdError:
    reason = f" ({why})" if why else ""
    return MaskdError("UNIMPLEMENTED", f'applier "{name}" is not supported{reason} on {device}; supported: '
                      f"{', '.join(supported(device))}")


def masks_of(handle: int, targets: Sequence[tuple[int, int, int]]) -> list[TorchMask]:
    """A step's masks in the forms in which they came. `targets`: (row, position, logits row)."""
    lib = _abi.lib
    struct = _abi.MaskStruct(ctypes.sizeof(_abi.MaskStruct))
    to, masks = ctypes.byref(struct), []
    for row, position, logits_row in targets:
        lib.maskd_result_mask(handle, row, position, to)
        if struct.invalid:
            raise MaskdError("FAILED_PRECONDITION", f"row {row}: position {position} has no mask")
        words = _copied(struct.words, struct.word_count, np.dtype(np.int32)) if struct.word_count else None
        made = Row(logits_row, struct.form, words, ids=_copied(struct.ids, struct.id_count, np.dtype(np.int32)))
        if struct.has_temperature or struct.bias_count:
            biases: Mapping[int, float] = dict(_copied(struct.biases, struct.bias_count, _buffers.BIAS).tolist())
            made.tuned(biases, struct.temperature if struct.has_temperature else 1)
        masks.append(TorchMask(made, struct.serial))
    return masks


def _copied(address: int | None, count: int, dtype: np.dtype) -> np.ndarray:
    size = count * dtype.itemsize
    return np.frombuffer(ctypes.string_at(address or 0, size) if size else b"", dtype=dtype)
