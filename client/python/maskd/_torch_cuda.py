"""Words over logits by a CUDA kernel of ours, without a compiler on the machine and without another package.

_torch_cuda.cu is compiled by NVRTC, which torch's wheels for CUDA bring, when the applier is made, for the
device's own architecture; it is launched through the driver on torch's current stream. Both are called by
ctypes: what torch has for this (torch.cuda._compile_kernel) is none of its public interface.

MASKD_NVRTC_LIBRARY names another NVRTC than torch's.
"""

import ctypes
import importlib.util
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from maskd._errors import MaskdError

_DRIVER = "libcuda.so.1"
_THREADS = 256
_CHUNK_BYTES = 16  # of a row of logits, that a thread has
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_HEADER = b"maskd_torch.cu"


class Masks(ctypes.Structure):
    """As in _torch_cuda.cu."""

    _fields_ = [("logits", ctypes.c_void_p), ("rows", ctypes.c_void_p), ("base", ctypes.c_void_p),
                ("lines", ctypes.c_void_p), ("at", ctypes.c_void_p), ("bits", ctypes.c_void_p),
                ("row_stride", ctypes.c_longlong), ("line_stride", ctypes.c_longlong),
                ("row_count", ctypes.c_int), ("width", ctypes.c_int), ("vocab_size", ctypes.c_int),
                ("words", ctypes.c_int), ("pairs", ctypes.c_int), ("minus_infinity", ctypes.c_uint)]


def why_not() -> str:
    """Why there are no kernels in this process; nothing where there are."""
    try:
        _driver()
        _nvrtc()
    except OSError as error:
        return str(error)
    return ""


def source() -> bytes:
    """The kernels' text."""
    return pathlib.Path(__file__).with_suffix(".cu").read_bytes()


def compiled(capability: int) -> bytes:
    """The kernels for a device of this compute capability, 90 for 9.0: its machine code or, where NVRTC is
    older than the device, the newest code of its own that the driver can translate. Errors: UNIMPLEMENTED."""
    nvrtc = _nvrtc()
    known = _architectures(nvrtc)
    if capability in known:
        return _compile(nvrtc, f"sm_{capability}", "CUBIN")
    older = [each for each in known if each < capability]
    if not older:
        raise MaskdError("UNIMPLEMENTED", f"NVRTC compiles for {min(known)} and newer, the device is {capability}")
    return _compile(nvrtc, f"compute_{max(older)}", "PTX")


class Kernels:
    """The kernels on one device. Errors: UNIMPLEMENTED, with the driver's or compiler's words."""

    def __init__(self, device: int) -> None:
        self._driver = _driver()
        self._context = ctypes.c_void_p()
        self._call("cuInit", 0)
        place = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(place), device)
        # The context that torch has, too. Its last user ends it: the process.
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), place)
        image = compiled(10 * self._attribute(_MAJOR, place) + self._attribute(_MINOR, place))
        self._call("cuCtxPushCurrent_v2", self._context)
        try:
            self._load(image)
        finally:
            self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def mask(self, masks: Masks, count: int, logit_bytes: int, stream: int) -> None:
        """Masks so many rows, after what that stream has to do."""
        chunks = masks.width * logit_bytes // _CHUNK_BYTES + 2  # a row may begin and end within one
        kernel = self._mask32 if logit_bytes == 4 else self._mask16
        self._launch(kernel, (count, -(-chunks // _THREADS)), [masks], stream)

    def place(self, lines: int, places: int, words: int, counts: tuple[int, int], stream: int) -> None:
        """Copies masks, so many of so many words, to their places among the lines."""
        new, width = counts
        arguments = [ctypes.c_void_p(lines), ctypes.c_void_p(places), ctypes.c_void_p(words), ctypes.c_int(width)]
        self._launch(self._place, (new, -(-width // _THREADS)), arguments, stream)

    def _attribute(self, which: int, place: ctypes.c_int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), which, place)
        return value.value

    def _load(self, image: bytes) -> None:
        self._module = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(self._module), image)
        self._mask16, self._mask32, self._place = map(self._function, ("maskd_mask16", "maskd_mask32", "maskd_place"))

    def _function(self, name: str) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(found), self._module, name.encode())
        return found

    def _launch(self, kernel: ctypes.c_void_p, grid: tuple[int, int], arguments: Sequence[Any], stream: int) -> None:
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self._call("cuCtxPushCurrent_v2", self._context)  # this thread may have none yet
        try:
            self._call("cuLaunchKernel", kernel, *grid, 1, _THREADS, 1, 1, 0, ctypes.c_void_p(stream), addresses,
                       None)
        finally:
            self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def _call(self, name: str, *arguments: Any) -> None:
        error = getattr(self._driver, name)(*arguments)
        if error:
            words = ctypes.c_char_p()
            self._driver.cuGetErrorString(error, ctypes.byref(words))
            raise MaskdError("UNIMPLEMENTED", f"{name}: {(words.value or str(error).encode()).decode()}")


def _driver() -> ctypes.CDLL:
    return ctypes.CDLL(_DRIVER)


def _nvrtc() -> ctypes.CDLL:
    """Errors: OSError, of the first place that was looked at."""
    missing: OSError | None = None
    for path in _nvrtc_places():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            missing = missing or error
    raise missing or OSError("libnvrtc.so: this torch is not for CUDA")


def _nvrtc_places() -> Iterator[str]:
    named = os.environ.get("MASKD_NVRTC_LIBRARY")
    if named:
        yield named
        return
    import torch

    if torch.version.cuda is None:
        return
    name = f"libnvrtc.so.{torch.version.cuda.split('.')[0]}"
    yield name  # torch has loaded it, or the system has it
    wheels = importlib.util.find_spec("nvidia")
    for folder in wheels.submodule_search_locations or () if wheels is not None else ():
        yield from map(str, sorted(pathlib.Path(folder).glob(f"*/lib/{name}")))


def _architectures(nvrtc: ctypes.CDLL) -> list[int]:
    count = ctypes.c_int()
    _check(nvrtc, nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    known = (ctypes.c_int * count.value)()
    _check(nvrtc, nvrtc.nvrtcGetSupportedArchs(known))
    return list(known)


def _compile(nvrtc: ctypes.CDLL, architecture: str, kind: str) -> bytes:
    """`kind`: CUBIN or PTX."""
    program = ctypes.c_void_p()
    _check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source(), _HEADER, 0, None, None))
    try:
        options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
        error = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        _check(nvrtc, error, lambda: _text(nvrtc, program, "ProgramLog").rstrip(b"\0").decode(errors="replace"))
        return _text(nvrtc, program, kind)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, text))
    return text.raw


def _check(nvrtc: ctypes.CDLL, error: int, log: Any = lambda: "") -> None:
    if error:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise MaskdError("UNIMPLEMENTED", f"NVRTC: {nvrtc.nvrtcGetErrorString(error).decode()} {log()}".rstrip())
