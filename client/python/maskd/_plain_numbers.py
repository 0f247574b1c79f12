"""Biases and temperature onto logits, in float32 and rounded once: what the library's appliers compute."""

import numpy as np

from maskd import _abi

_FLOATS = {_abi.FLOAT32: np.float32, _abi.FLOAT16: np.float16}


def tune(elements: np.ndarray, kind: int, biases: np.ndarray, scale: np.float32) -> None:
    """`elements`: the logits of one row's tokens, as unsigned numbers of their bits."""
    divides = scale != 1
    if not divides and not biases.size:
        return
    at = slice(None) if divides else biases["id"]
    numbers = _to_float32(elements[at], kind)
    numbers[biases["id"] if divides else slice(None)] += biases["bias"]
    if divides:
        numbers *= scale
    elements[at] = _from_float32(numbers, kind)


def _to_float32(bits: np.ndarray, kind: int) -> np.ndarray:
    if kind == _abi.BFLOAT16:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(_FLOATS[kind]).astype(np.float32)


def _from_float32(numbers: np.ndarray, kind: int) -> np.ndarray:
    if kind != _abi.BFLOAT16:
        rounded = numbers.astype(_FLOATS[kind])
        return rounded.view(np.uint32 if kind == _abi.FLOAT32 else np.uint16)
    bits = numbers.view(np.uint32)
    # To the nearest, of two as near the even one; what is no number stays none.
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(numbers), (bits >> 16) | 0x40, rounded).astype(np.uint16)
