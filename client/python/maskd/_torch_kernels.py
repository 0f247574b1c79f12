"""What runs on the device: masks' words from a batch, and words over logits, in the ways that names choose.

Each way takes logits, of each mask the row of logits, and its words, as many as the width needs.
"""

import importlib.util
from collections.abc import Callable
from typing import Any

Mask = Callable[[Any, Any, Any], None]

BLOCK = 4096  # logits that one of triton's programs masks


def why_not(name: str) -> str:
    """Why it cannot be had in this process; nothing where it can."""
    if name == "cuda":
        return "there is no kernel for it yet"
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


def _torch_native(applier: Any) -> Mask:
    shifts = applier.torch.arange(32, dtype=applier.torch.int32, device=applier.place)

    def mask(logits: Any, rows: Any, words: Any) -> None:
        rows = rows.long()
        logits.index_copy_(0, rows, masked(logits.index_select(0, rows), words, shifts))

    return mask


def _torch_compile(applier: Any) -> Mask:
    """Compiled for any number of rows, so once for each type. A batch of one, which torch would compile for by
    itself, is one of two: the row stands again, and writes what it has written."""
    torch = applier.torch
    shifts = torch.arange(32, dtype=torch.int32, device=applier.place)
    compiled = torch.compile(masked, fullgraph=True, dynamic=True)

    def mask(logits: Any, rows: Any, words: Any) -> None:
        rows = rows.long()
        if rows.shape[0] == 1:
            rows, words = rows.repeat(2), words.repeat(2, 1)
        logits.index_copy_(0, rows, compiled(logits.index_select(0, rows), words, shifts))

    return mask


def _cpu(applier: Any) -> Mask:
    """By the kernels of the library, or of numpy where there is none."""
    from maskd._api import Applier

    kernels = Applier("cpu")

    def mask(logits: Any, rows: Any, words: Any) -> None:
        kernels.apply_bitmask(logits, words.numpy(), rows.numpy())

    return mask


def _triton(applier: Any) -> Mask:
    from maskd import _torch_triton

    del applier

    def mask(logits: Any, rows: Any, words: Any) -> None:
        _torch_triton.mask(logits, rows, words, BLOCK)

    return mask


MAKERS: dict[str, Callable[[Any], Mask]] = {
    "cpu": _cpu, "torch_native": _torch_native, "torch_compile": _torch_compile, "triton": _triton,
}
