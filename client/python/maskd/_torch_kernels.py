"""What runs on the device: masks' words from a batch, and words over logits, in the ways that names choose."""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

BLOCK = 4096  # logits that one of triton's programs masks


def why_not(name: str) -> str:
    """Why it cannot be had in this process; nothing where it can."""
    if name == "cuda":
        from maskd import _torch_cuda

        return _torch_cuda.why_not()
    if name == "triton" and importlib.util.find_spec("triton") is None:
        return "triton is not installed"
    return ""


def padded(count: int) -> int:
    """The power of two from there on."""
    return 1 << max(count - 1, 0).bit_length()


def place_words(table: Any, sent: Any, counts: tuple[int, int, int], words: int) -> Any:
    """The words of each mask, by what was sent (_torch.py says what that is)."""
    rows, new, pairs = counts
    begin = 2 * rows
    if new:
        lines = sent[begin + new + 2 * pairs:].view(new, words)
        table.index_copy_(0, sent[begin:begin + new].long(), lines)
    made = table.index_select(0, sent[rows:begin].long())
    begin += new
    if pairs:
        at = sent[begin:begin + pairs].long()
        flat = made.view(-1)
        flat.index_copy_(0, at, flat[at] ^ sent[begin + pairs:begin + 2 * pairs])
    return made


def masked(logits: Any, words: Any, shifts: Any) -> Any:
    """Rows of logits with their masks, in torch's own operations."""
    allowed = (words.unsqueeze(-1) >> shifts) & 1
    return logits.masked_fill(allowed.view(words.shape[0], -1)[:, :logits.shape[1]] == 0, float("-inf"))


class Way(ABC):
    """A way of masking, for one applier."""

    def __init__(self, applier: Any) -> None:
        self.torch = applier.torch
        self.place = applier.place
        self.width = applier.width
        self.words = applier.words
        self.vocab_size = applier.vocab_size

    @abstractmethod
    def mask_batch(self, logits: Any, table: Any, sent: Any, counts: tuple[int, int, int]) -> None:
        """By what was sent, and the words that were kept (_torch.py says what they are)."""

    @abstractmethod
    def mask_bitmask(self, logits: Any, rows: Any, words: Any, vocabulary: Any) -> None:
        """`rows`: of each mask its row of logits, where masks are made; None: each its own. `words`: of the
        engine's, wherever they lie. `vocabulary`: the words of all tokens."""


class _OfWords(Way):
    """Makes the words of the batch's masks, and then masks by them."""

    @abstractmethod
    def mask(self, logits: Any, rows: Any, words: Any) -> None:
        """`rows`: of each mask its row of logits; `words`: its words, as many as the width needs."""

    def mask_batch(self, logits: Any, table: Any, sent: Any, counts: tuple[int, int, int]) -> None:
        """See Way."""
        self.mask(logits, sent[:counts[0]], place_words(table, sent, counts, self.words))

    def mask_bitmask(self, logits: Any, rows: Any, words: Any, vocabulary: Any) -> None:
        """See Way."""
        if rows is None:
            rows = self.torch.arange(words.shape[0], device=self.place)
        plane = vocabulary.repeat(words.shape[0], 1)
        least = min(self.words, words.shape[1])
        plane[:, :least] &= words[:, :least].to(self.place)
        plane[:, least:] = 0
        self.mask(logits, rows, plane)


class _TorchNative(_OfWords):
    def __init__(self, applier: Any) -> None:
        super().__init__(applier)
        self._shifts = self.torch.arange(32, dtype=self.torch.int32, device=self.place)

    def mask(self, logits: Any, rows: Any, words: Any) -> None:
        rows = rows.long()
        logits.index_copy_(0, rows, masked(logits.index_select(0, rows), words, self._shifts))


class _TorchCompile(_OfWords):
    """Compiled for any number of rows, so once for each type. A batch of one, which torch would compile for by
    itself, is one of two: the row stands again, and writes what it has written."""

    def __init__(self, applier: Any) -> None:
        super().__init__(applier)
        self._shifts = self.torch.arange(32, dtype=self.torch.int32, device=self.place)
        self._compiled = self.torch.compile(masked, fullgraph=True, dynamic=True)

    def mask(self, logits: Any, rows: Any, words: Any) -> None:
        rows = rows.long()
        if rows.shape[0] == 1:
            rows, words = rows.repeat(2), words.repeat(2, 1)
        logits.index_copy_(0, rows, self._compiled(logits.index_select(0, rows), words, self._shifts))


class _Cpu(_OfWords):
    """By the kernels of the library, or of numpy where there is none. Of logits on a device the rows named,
    and no other, go to the host and back."""

    def __init__(self, applier: Any) -> None:
        super().__init__(applier)
        from maskd._api import Applier

        self._kernels = Applier("cpu")

    def mask(self, logits: Any, rows: Any, words: Any) -> None:
        if logits.device.type == "cpu":
            self._kernels.apply_bitmask(logits, words.numpy(), rows.numpy())
            return
        named = rows.long().to(logits.device)
        picked = logits[named].cpu()
        self._kernels.apply_bitmask(picked, words.numpy())
        logits[named] = picked.to(logits.device)


class _Triton(_OfWords):
    def __init__(self, applier: Any) -> None:
        super().__init__(applier)
        from maskd import _torch_triton

        self._triton = _torch_triton

    def mask(self, logits: Any, rows: Any, words: Any) -> None:
        self._triton.mask(logits, rows, words, BLOCK)


class _Cuda(Way):
    """A kernel of ours, which takes the batch as it was sent: one launch, two where masks are new."""

    def __init__(self, applier: Any) -> None:
        super().__init__(applier)
        from maskd import _torch_cuda

        torch = self.torch
        self._cuda = _torch_cuda
        self._is_device = self.place.type == "cuda"
        self._kernels = _torch_cuda.Kernels(self._index())
        self._minus_infinity = {torch.float32: 0xFF800000, torch.float16: 0xFC00, torch.bfloat16: 0xFF80}

    def mask_batch(self, logits: Any, table: Any, sent: Any, counts: tuple[int, int, int]) -> None:
        rows, new, pairs = counts
        begin = sent.data_ptr()
        places = begin + 8 * rows  # behind the rows and their bases
        at = places + 4 * new
        if new:
            self._kernels.place(table.data_ptr(), places, at + 8 * pairs, (new, self.words), self._stream())
        masks = self._masks(logits, table)
        masks.rows, masks.base = begin, begin + 4 * rows
        masks.at, masks.bits, masks.pairs = at, at + 4 * pairs, pairs
        self._launch(logits, masks, rows)

    def mask_bitmask(self, logits: Any, rows: Any, words: Any, vocabulary: Any) -> None:
        words = words.to(self.place)
        if words.stride(1) != 1:
            words = words.contiguous()
        masks = self._masks(logits, words)
        if rows is not None:
            rows = rows.to(self.torch.int32)
            masks.rows = rows.data_ptr()
        self._launch(logits, masks, words.shape[0])

    def _masks(self, logits: Any, lines: Any) -> Any:
        return self._cuda.Masks(
            logits=logits.data_ptr(), lines=lines.data_ptr(), row_stride=logits.stride(0),
            line_stride=lines.stride(0), row_count=logits.shape[0], width=self.width,
            vocab_size=self.vocab_size, words=self.words, minus_infinity=self._minus_infinity[logits.dtype])

    def _launch(self, logits: Any, masks: Any, count: int) -> None:
        self._kernels.mask(masks, count, logits.element_size(), self._stream())

    def _index(self) -> int:
        if self.place.index is not None:
            return int(self.place.index)
        return int(self.torch.cuda.current_device()) if self._is_device else 0

    def _stream(self) -> int:
        return int(self.torch.cuda.current_stream(self.place).cuda_stream) if self._is_device else 0


MAKERS: dict[str, Callable[[Any], Way]] = {
    "cpu": _Cpu, "torch_native": _TorchNative, "torch_compile": _TorchCompile, "triton": _Triton, "cuda": _Cuda,
}
