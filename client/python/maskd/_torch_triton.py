"""Words over logits, by triton: forbidden logits are written, nothing is read of the others."""

from typing import Any

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(logits: Any, stride: Any, rows: Any, words: Any, word_count: Any, row_count: Any, width: Any,
            BLOCK: tl.constexpr) -> None:
    mask = tl.program_id(0)
    tokens = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(rows + mask).to(tl.int64)
    inside = (tokens < width) & (row >= 0) & (row < row_count)
    word = tl.load(words + mask * word_count + tokens // 32, mask=inside, other=-1)
    forbidden = ((word >> (tokens % 32)) & 1) == 0
    tl.store(logits + row * stride + tokens, float("-inf"), mask=inside & forbidden)


def mask(logits: Any, rows: Any, words: Any, block: int) -> None:
    """Writes minus infinity where a word's bit is 0; one program a row and block, on the tensors'
    device. A row that the logits have not is passed over."""
    grid = (rows.shape[0], triton.cdiv(logits.shape[1], block))
    _kernel[grid](logits, logits.stride(0), rows, words, words.shape[1], logits.shape[0], logits.shape[1],
                  BLOCK=block)
