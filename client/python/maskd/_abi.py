"""The C functions of client/c/maskd.h. For the modules of this package.

The library is MASKD_LIBRARY, or the one beside this file (as wheels have it), or the system's.
ctypes gives up the GIL for the time of every call.
"""

import ctypes
import os
import pathlib
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_char_p, c_float, c_int32, c_int64, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p
from typing import Any

from maskd._errors import NAMES, MaskdError

ABI_VERSION = 1
FORM_FULL, FORM_ALLOWED, FORM_FORBIDDEN, FORM_WORDS, FORM_SLOT = range(5)
FLOAT32, FLOAT16, BFLOAT16 = range(3)


class Logits(Structure):
    """maskd_logits: where a batch's logits lie, and in which shape."""
    _fields_ = [("struct_size", c_size_t), ("data", c_void_p), ("memory", c_int32),
                ("type", c_int32), ("offset", c_int64), ("row_count", c_int64),
                ("width", c_int64), ("row_stride", c_int64)]


class RowStruct(Structure):
    """maskd_row: one row of logits and its mask."""
    _fields_ = [("logits_row", c_int64), ("form", c_int32), ("reserved", c_int32),
                ("words", c_void_p), ("slot", c_int64), ("ids", c_void_p), ("id_count", c_int64)]


class OpenOptions(Structure):
    """maskd_open_options: what a row may be opened with beside its grammar."""
    _fields_ = [("struct_size", c_size_t), ("tokens", c_void_p), ("token_count", c_int64),
                ("stop_ids", c_void_p), ("stop_id_count", c_int64),
                ("reasoning_json", c_char_p), ("min_tokens", c_uint32),
                ("remaining_tokens", c_uint32),
                ("has_temperature", c_int32), ("temperature", c_float), ("biases", c_void_p),
                ("bias_count", c_int64), ("want_answer", c_int32), ("observe", c_int32)]


class RowResultStruct(Structure):
    """maskd_row_result: one row's answer; its strings live until the next collect."""
    _fields_ = [("struct_size", c_size_t), ("row", c_uint64), ("state", c_int32),
                ("error_code", c_int32), ("error_message", c_char_p), ("error_place", c_char_p),
                ("error_reason", c_char_p), ("grammar_id", c_char_p), ("position_count", c_int64),
                ("refused_index", c_int64), ("accepted_drafts", c_int64),
                ("refused_token", c_int32), ("token_count", c_uint32), ("may_end", c_int32),
                ("has_mask", c_int32), ("forced_bytes", c_void_p), ("forced_byte_count", c_int64),
                ("forced_tokens", c_void_p), ("forced_token_count", c_int64),
                ("forced_draft", c_void_p), ("forced_draft_count", c_int64),
                ("has_answer", c_int32), ("reserved", c_int32)]


class CallDeltaStruct(Structure):
    """maskd_call_delta: more of one call of an answer."""
    _fields_ = [("index", c_uint32), ("reserved", c_int32), ("id", c_void_p), ("id_size", c_int64),
                ("name", c_void_p), ("name_size", c_int64), ("arguments", c_void_p),
                ("argument_size", c_int64)]


class AnswerDeltaStruct(Structure):
    """maskd_answer_delta: what is certain of an answer since the last reply."""
    _fields_ = [("struct_size", c_size_t), ("has_cut", c_int32), ("cut_tool_calls", c_uint32),
                ("cut_reasoning", c_uint64), ("cut_content", c_uint64),
                ("cut_arguments", c_uint64), ("cut_id", c_uint32), ("reserved", c_int32),
                ("reasoning", c_void_p), ("reasoning_size", c_int64), ("content", c_void_p),
                ("content_size", c_int64), ("calls", POINTER(CallDeltaStruct)),
                ("call_count", c_int64)]


class PositionStruct(Structure):
    """maskd_position: one position of a row's answer, with a plane of words in every form but FULL.
    """
    _fields_ = [("struct_size", c_size_t), ("form", c_int32), ("invalid", c_int32),
                ("ids", c_void_p), ("id_count", c_int64), ("words", c_void_p),
                ("word_count", c_int64), ("biases", c_void_p), ("bias_count", c_int64),
                ("has_temperature", c_int32), ("temperature", c_float)]


class Tuning(Structure):
    """maskd_tuning: what is done to the logits that stay."""
    _fields_ = [("temperature", c_float), ("reserved", c_int32), ("biases", c_void_p),
                ("bias_count", c_int64)]


class ApplyOptions(Structure):
    """maskd_apply_options: what maskd_apply_with() may be given beside."""
    _fields_ = [("struct_size", c_size_t), ("dictionary", c_void_p), ("output", POINTER(Logits)),
                ("tunings", POINTER(Tuning))]


class StreamOptions(Structure):
    """maskd_stream_options: what a stream may be opened with."""
    _fields_ = [("struct_size", c_size_t), ("tokenizer", c_char_p), ("tokenizer_hash", c_char_p),
                ("logits_width", c_uint32), ("dictionary_size", c_uint32),
                ("dense_only", c_int32), ("want_temperature", c_int32), ("want_bias", c_int32),
                ("step_timeout_ms", c_int32), ("give_up_after_ms", c_int32),
                ("compile_timeout_ms", c_int32), ("read_ahead", c_int32),
                ("shared_memory", c_int32), ("in_order", c_int32),
                ("submit_timeout_ms", c_int32), ("reserved", c_int32)]


class Target(Structure):
    """maskd_target: which row of the logits a position of a row masks."""
    _fields_ = [("row", c_uint64), ("position", c_int64), ("logits_row", c_int64)]


class MaskStruct(Structure):
    """maskd_mask: a mask in the form in which it came."""
    _fields_ = [("struct_size", c_size_t), ("form", c_int32), ("invalid", c_int32),
                ("ids", c_void_p), ("id_count", c_int64), ("words", c_void_p),
                ("word_count", c_int64), ("serial", c_uint64), ("biases", c_void_p),
                ("bias_count", c_int64), ("has_temperature", c_int32), ("temperature", c_float)]


# Name -> (result, arguments). Functions whose result is STATUS raise it; those that a step calls, or each of its
# rows, leave that to their callers (check()): raising is a call of Python's in each of theirs. PREPARED arguments
# are not converted, which takes 50 ns each: bytes, numbers of ctypes, and pointer() of a handle.
STATUS = "status"
UNCHECKED = c_void_p
PREPARED = None
_FUNCTIONS: dict[str, tuple[Any, list[Any] | None]] = {
    "abi_version": (c_int32, []),
    "version": (c_char_p, []),
    "status_code": (c_int32, [c_void_p]),
    "status_message": (c_char_p, [c_void_p]),
    "status_place": (c_char_p, [c_void_p]),
    "status_reason": (c_char_p, [c_void_p]),
    "status_retry_after_ms": (c_int64, [c_void_p]),
    "status_free": (None, [c_void_p]),
    "applier_new": (STATUS, [c_char_p, POINTER(c_void_p)]),
    "applier_free": (None, [c_void_p]),
    "applier_name": (c_char_p, [c_void_p]),
    "apply": (STATUS, [c_void_p, POINTER(Logits), c_int64, POINTER(RowStruct), c_int64, c_void_p]),
    "apply_with": (STATUS, [c_void_p, POINTER(Logits), c_int64, POINTER(RowStruct), c_int64,
                            POINTER(ApplyOptions)]),
    "apply_bitmask": (STATUS, [c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p, c_int64]),
    "applier_warm_up": (STATUS, [c_void_p, c_int64, c_int64, c_int32, c_int64]),
    "dictionary_new": (STATUS, [c_void_p, c_int64, c_int64, POINTER(c_void_p)]),
    "dictionary_free": (None, [c_void_p]),
    "dictionary_set": (STATUS, [c_void_p, c_int64, c_void_p]),
    "client_connect": (STATUS, [c_char_p, c_int64, POINTER(c_void_p)]),
    "client_connect_any": (STATUS, [POINTER(c_char_p), c_int64, c_int64, POINTER(c_void_p)]),
    "client_free": (None, [c_void_p]),
    "client_call": (STATUS, [c_void_p, c_char_p, c_char_p, POINTER(c_void_p)]),
    "string_free": (None, [c_void_p]),
    "stream_open": (STATUS, [c_void_p, c_char_p, c_uint32, c_int64, POINTER(c_void_p)]),
    "stream_open_with": (STATUS, [c_void_p, POINTER(StreamOptions), c_int64, POINTER(c_void_p)]),
    "stream_open_failover": (STATUS, [POINTER(c_char_p), c_int64, POINTER(StreamOptions), c_int64,
                                      POINTER(c_void_p)]),
    "stream_remember": (STATUS, [c_void_p, c_char_p, c_char_p]),
    "stream_moves": (c_int32, [c_void_p]),
    "stream_free": (None, [c_void_p]),
    "stream_welcome_json": (c_char_p, [c_void_p]),
    "stream_mask_words": (c_int64, [c_void_p]),
    "stream_uses_shared_memory": (c_int32, [c_void_p]),
    "stream_transport": (c_char_p, [c_void_p]),
    "stream_in_flight": (c_int32, [c_void_p]),
    "stream_going_away": (c_int32, [c_void_p]),
    "stream_submit": (STATUS, [c_void_p, c_void_p, POINTER(c_uint64)]),
    "stream_submit_each": (UNCHECKED, PREPARED),
    "stream_collect": (UNCHECKED, PREPARED),
    "stream_collect_masks": (UNCHECKED, [c_void_p, c_int64, c_void_p, c_char_p, c_int64, c_void_p,
                                         c_int64, c_void_p]),
    "stream_collect_positions": (UNCHECKED, [c_void_p, c_int64, c_void_p, c_char_p, c_int64, c_int64,
                                             c_void_p, c_int64, c_int64, c_void_p, c_void_p]),
    "stream_close": (STATUS, [c_void_p, c_int64]),
    "step_new": (c_void_p, []),
    "step_free": (None, [c_void_p]),
    "step_clear": (None, [c_void_p]),
    "step_open": (STATUS, [c_void_p, c_uint64, c_char_p, POINTER(OpenOptions)]),
    "step_open_grammar": (STATUS, [c_void_p, c_uint64, c_char_p, POINTER(OpenOptions)]),
    "step_open_snapshot": (STATUS, [c_void_p, c_char_p]),
    "step_set_remaining": (STATUS, [c_void_p, c_uint64, c_uint32]),
    "step_want_forced": (STATUS, [c_void_p, c_uint64]),
    "step_snapshot": (STATUS, [c_void_p, c_uint64]),
    "step_take": (UNCHECKED, [c_void_p, c_uint64, c_void_p, c_int64]),
    "step_take_each": (STATUS, [c_void_p, c_void_p, c_void_p, c_int64]),
    "step_rollback": (STATUS, [c_void_p, c_uint64, c_uint32]),
    "step_draft": (UNCHECKED, [c_void_p, c_uint64, c_void_p, c_void_p, c_int64]),
    "step_draft_each": (UNCHECKED, [c_void_p, c_char_p, c_char_p, c_char_p, c_char_p, c_int64]),
    "step_fork": (STATUS, [c_void_p, c_uint64, c_uint64]),
    "step_close": (STATUS, [c_void_p, c_uint64]),
    "step_wait_for_compile": (STATUS, [c_void_p, c_int64]),
    "result_new": (c_void_p, []),
    "result_free": (None, [c_void_p]),
    "result_step": (c_uint64, [c_void_p]),
    "result_row_count": (c_int64, [c_void_p]),
    "result_row": (STATUS, [c_void_p, c_int64, POINTER(RowResultStruct)]),
    "result_answer": (STATUS, [c_void_p, c_int64, POINTER(AnswerDeltaStruct)]),
    "result_copy_masks": (STATUS, [c_void_p, POINTER(c_uint64), c_int64, c_void_p, c_int64]),
    "result_copy_positions": (STATUS, [c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_int64]),
    "mask_plane_new": (STATUS, [c_void_p, c_int64, c_int64, POINTER(c_void_p)]),
    "mask_plane_free": (None, [c_void_p]),
    "mask_plane_write": (STATUS, [c_void_p, c_void_p, c_void_p, c_int64, c_int64]),
    "mask_plane_forget": (None, [c_void_p]),
    "result_mask": (STATUS, [c_void_p, c_uint64, c_int64, POINTER(MaskStruct)]),
    "result_outcomes": (STATUS, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "result_allows": (STATUS, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p]),
    "result_position": (STATUS, [c_void_p, c_int64, c_int64, POINTER(PositionStruct)]),
    "result_snapshot_count": (c_int64, [c_void_p]),
    "result_snapshot": (STATUS, [c_void_p, c_int64, POINTER(c_void_p)]),
    "result_apply": (STATUS, [c_void_p, c_void_p, POINTER(Target), c_int64, POINTER(Logits)]),
    "result_apply_to": (STATUS, [c_void_p, c_void_p, POINTER(Target), c_int64, POINTER(Logits),
                                 POINTER(Logits)]),
}


def _path() -> str:
    named = os.environ.get("MASKD_LIBRARY")
    if named:
        return named
    beside = pathlib.Path(__file__).with_name("libmaskd.so.1")
    return str(beside) if beside.exists() else "libmaskd.so.1"


def _load() -> ctypes.CDLL:
    """Errors: ImportError (another ABI, or a library from before a function), OSError (the linker's)."""
    path = _path()
    if os.environ.get("MASKD_LIBRARY") and not pathlib.Path(path).is_file():
        raise OSError(f"MASKD_LIBRARY: {path}: there is no such file")
    library = ctypes.CDLL(path)
    version = library.maskd_abi_version()
    if version != ABI_VERSION:
        raise ImportError(f"{path}: has ABI {version}, this package needs {ABI_VERSION}")
    lacking = [name for name in _FUNCTIONS if not hasattr(library, "maskd_" + name)]
    if lacking:
        raise ImportError(f"{path}: is older than this package, it has no maskd_{lacking[0]}")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "maskd_" + name)
        function.argtypes = arguments
        function.restype = c_void_p if result is STATUS else result
        if result is STATUS:
            function.errcheck = check
    return library


def check(status: int | None, _function: object = None, _arguments: object = None) -> None:
    """Errors: the status's."""
    if not status:
        return
    try:
        code = lib.maskd_status_code(status)
        retry = lib.maskd_status_retry_after_ms(status)
        raise MaskdError(NAMES.get(code, str(code)), lib.maskd_status_message(status).decode(),
                         lib.maskd_status_place(status).decode(),
                         lib.maskd_status_reason(status).decode(), None if retry < 0 else retry)
    finally:
        lib.maskd_status_free(status)


class _Library:
    """The functions by name, looked up when the first of them is called."""

    def __getattr__(self, name: str) -> Any:
        loaded = _load()
        for each in _FUNCTIONS:
            setattr(self, f"maskd_{each}", getattr(loaded, f"maskd_{each}"))
        return object.__getattribute__(self, name)


lib = _Library()


def why_no_library() -> str:
    """Why the library cannot be loaded here, in the linker's words; nothing when it can."""
    try:
        return "" if lib.maskd_abi_version else "it has no maskd_abi_version"
    except OSError as error:
        return str(error)


class Handle:
    """Something of the library's that is freed with its Python object."""

    def __init__(self, handle: int, free: str) -> None:
        self._handle = handle
        self._free = getattr(lib, "maskd_" + free)

    @property
    def handle(self) -> int:
        """The pointer for C, while the object is open; else MaskdError FAILED_PRECONDITION."""
        if not self._handle:
            raise MaskdError("FAILED_PRECONDITION", f"{type(self).__name__}: is closed")
        return self._handle

    def release(self) -> None:
        """Frees it now; any later use is an error."""
        if getattr(self, "_handle", None):
            self._free(self._handle)
            self._handle = 0

    def __del__(self) -> None:
        self.release()


def pointer(handle: int) -> Any:
    """A handle as a PREPARED argument, made once."""
    return ctypes.byref(ctypes.c_char.from_address(handle))


def strings(values: Sequence[str]) -> "ctypes.Array[c_char_p]":
    """An array of them, as the library takes it."""
    return (c_char_p * len(values))(*(each.encode() for each in values))


def new(function: str, *arguments: object) -> int:
    """Calls a function whose last argument takes what it makes."""
    out = c_void_p()
    getattr(lib, "maskd_" + function)(*arguments, ctypes.byref(out))
    assert out.value is not None
    return out.value
