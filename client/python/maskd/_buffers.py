"""Logits of other libraries, in place: numpy arrays and whatever speaks DLPack (torch, jax, ...).

A view is taken, nothing is copied. Two dimensions (rows, width) or one (a single row); the elements of a
row lie side by side, rows may be further apart. float32, float16, bfloat16; in host memory.
"""

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, NamedTuple

import numpy as np

from maskd import _abi
from maskd._errors import MaskdError

NUMPY_TYPES = {"float32": _abi.FLOAT32, "float16": _abi.FLOAT16, "bfloat16": _abi.BFLOAT16}
# DLDataType (code, bits): code 2 is float, 4 is bfloat.
_DLPACK_TYPES = {(2, 32): _abi.FLOAT32, (2, 16): _abi.FLOAT16, (4, 16): _abi.BFLOAT16}
HOST_DEVICES = {1, 3}  # kDLCPU, kDLCUDAHost


class _DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Kind(NamedTuple):
    """What a plane of elements is called, and which types it may have: number by numpy's name, and by
    DLPack's (code, bits)."""

    name: str
    numpy: dict[str, int]
    dlpack: dict[tuple[int, int], int]
    written: bool = True


# A type's name takes longer than all else here; by numpy's types and torch's.
_NAMES: dict[Any, str] = {}
_LOGITS = _Kind("logits", NUMPY_TYPES, _DLPACK_TYPES)
_WORDS = _Kind("bitmask", {"int32": 0}, {(0, 32): 0})
_LOGITS_READ = _LOGITS._replace(written=False)
_WORDS_READ = _WORDS._replace(written=False)


def _refuse(of: _Kind, what: str) -> MaskdError:
    return MaskdError("INVALID_ARGUMENT", f"{of.name}: {what}")


def _plane(of: _Kind, address: int, kind: int, shape: tuple[int, ...],
           strides: tuple[int, ...]) -> _abi.Logits:
    """Strides count elements."""
    if len(shape) not in (1, 2):
        raise _refuse(of, f"have {len(shape)} dimensions, not rows and width")
    rows, width = (1, shape[0]) if len(shape) == 1 else shape
    row_stride = width if len(shape) == 1 or rows == 1 else strides[0]
    if width > 1 and strides[-1] != 1:
        raise _refuse(of, "the elements of a row do not lie side by side")
    if row_stride < width:
        raise _refuse(of, "rows overlap, or go backwards")
    return _abi.Logits(ctypes.sizeof(_abi.Logits), address, 0, kind, 0, rows, width, row_stride)


def _kind_of(of: _Kind, dtype: Any) -> int:
    name = _NAMES.get(dtype)
    if name is None:
        name = _NAMES[dtype] = str(dtype).removeprefix("torch.")
    kind = of.numpy.get(name)
    if kind is None:
        raise _refuse(of, f"are {name}, not one of {', '.join(of.numpy)}")
    return kind


def _of_numpy(of: _Kind, array: np.ndarray) -> _abi.Logits:
    kind = _kind_of(of, array.dtype)
    flags = array.flags
    if of.written and not flags.writeable:
        raise _refuse(of, "cannot be written")
    if flags.c_contiguous and array.ndim:
        return _plane(of, _address(array), kind, array.shape, (array.shape[-1], 1))
    size = array.dtype.itemsize
    if any(stride % size for stride in array.strides):
        raise _refuse(of, "strides are not whole elements")
    return _plane(of, array.ctypes.data, kind, array.shape,
                  tuple(stride // size for stride in array.strides))


def _address(array: np.ndarray) -> int:
    """Of elements side by side. A buffer gives it in a quarter of the time, where there is one:
    arrays that are read only, empty or of types of other packages have none."""
    try:
        return ctypes.addressof(_from_buffer(array))
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


_from_buffer: Any = ctypes.c_char.from_buffer


def _of_torch(of: _Kind, tensor: Any) -> _abi.Logits:
    """What DLPack would say, in a tenth of the time."""
    if not tensor.is_cpu:
        raise _refuse(of, f"lie on {tensor.device}, not in host memory")
    if tensor.requires_grad:
        raise _refuse(of, "are recorded for gradients; detach() them")
    return _plane(of, tensor.data_ptr(), _kind_of(of, tensor.dtype), tuple(tensor.shape),
                  tensor.stride())


def _of_dlpack(of: _Kind, exporter: Any) -> tuple[_abi.Logits, object]:
    capsule = exporter.__dlpack__()
    # A DLManagedTensor begins with its DLTensor. The capsule, unused, frees it when it goes.
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    if tensor.device_type not in HOST_DEVICES:
        raise _refuse(of, f"lie on a DLPack device of type {tensor.device_type}, not in host memory")
    kind = of.dlpack.get((tensor.code, tensor.bits))
    if kind is None or tensor.lanes != 1:
        raise _refuse(of, f"have DLPack type {tensor.code} of {tensor.bits} bits, not one of "
                      f"{', '.join(of.numpy)}")
    shape = tuple(tensor.shape[:tensor.ndim])
    if tensor.strides:
        strides = tuple(tensor.strides[:tensor.ndim])
    else:
        strides = (shape[-1], 1)[-len(shape):]
    return _plane(of, (tensor.data or 0) + tensor.byte_offset, kind, shape, strides), capsule


def view(logits: Any) -> tuple[_abi.Logits, object]:
    """The logits as the library takes them, and what must live as long as that is used."""
    return _view(_LOGITS, logits)


def source_view(logits: Any) -> tuple[_abi.Logits, object]:
    """view() of logits that are only read."""
    return _view(_LOGITS_READ, logits)


def words_view(bitmask: Any, *, written: bool = True) -> tuple[_abi.Logits, object]:
    """The same of rows of mask words."""
    return _view(_WORDS if written else _WORDS_READ, bitmask)


def _view(of: _Kind, given: Any) -> tuple[_abi.Logits, object]:
    if isinstance(given, np.ndarray):
        return _of_numpy(of, given), given
    if type(given).__module__ == "torch":
        return _of_torch(of, given), given
    if hasattr(given, "__dlpack__"):
        return _of_dlpack(of, given)
    raise _refuse(of, f"are a {type(given).__name__}, neither a numpy array nor a DLPack tensor")


def packed_rows(bitmask: Any) -> tuple[_abi.Logits, object]:
    """words_view() of rows without anything between them."""
    rows, keep = words_view(bitmask)
    if rows.row_stride != rows.width:
        raise _refuse(_WORDS, "its rows do not lie side by side")
    return rows, keep


def array_of(plane: Any, kind: np.dtype) -> np.ndarray:
    """A plane's elements as numbers of that kind, in place."""
    size, count = kind.itemsize, byte_count(plane, kind.itemsize)
    memory: Any = (ctypes.c_char * count).from_address(plane.data or 0) if count else b""
    return np.ndarray((plane.row_count, plane.width), kind, memory,
                      strides=(size * plane.row_stride, size))


def byte_count(plane: Any, size: int) -> int:
    """From its first element to its last."""
    if plane.row_count == 0:
        return 0
    return int((plane.row_count - 1) * plane.row_stride + plane.width) * size


# As maskd_bias.
BIAS = np.dtype([("id", np.int32), ("bias", np.float32)])


NO_BIASES = np.empty(0, dtype=BIAS)


def bias_array(biases: Mapping[int, float] | None) -> np.ndarray:
    """Ids ascending."""
    if not biases:
        return NO_BIASES
    return np.array(sorted(biases.items()), dtype=BIAS)


def row_ids(order: Any) -> bytes:
    """As the library reads them."""
    return np.array(order, dtype=np.uint64).tobytes()


def int32_array(values: Any) -> np.ndarray:
    """Ids or words: int32, side by side; not copied when they are so already."""
    return np.ascontiguousarray(values, dtype=np.int32)


def mask_rows(out: np.ndarray | None, count: int, words: int) -> np.ndarray:
    """`out`, if `count` masks of `words` words can be written there; new zeros when None."""
    if out is None:
        return np.zeros((count, words), dtype=np.int32)
    if not (out.dtype == np.int32 and out.flags.c_contiguous and out.ndim == 2
            and out.shape[0] >= count and out.shape[1] >= words and out.flags.writeable):
        raise MaskdError("INVALID_ARGUMENT", f"out: is not a writable int32 array of {count} rows of "
                         f"{words} words or more")
    return out
