"""The client of a maskd server: control calls, and the decode stream."""

import asyncio
import base64
import ctypes
import dataclasses
import enum
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from maskd import _abi, _buffers
from maskd._abi import lib
from maskd._applier import Applier, planes
from maskd._errors import NAMES, MaskdError
from maskd._grammar import Compiled, Grammar


class RowState(enum.IntEnum):
    COMPILING = 1
    FREE = 2
    ACTIVE = 3
    FINISHED = 4
    FAILED = 5
    REFUSED = 6


@dataclasses.dataclass(frozen=True)
class RefusedToken:
    index: int  # in the tokens that were sent
    id: int


@dataclasses.dataclass(frozen=True)
class RowResult:
    """One row's answer to a step."""

    row: int
    state: RowState
    error: MaskdError | None  # the row goes on from token_count when it is active or finished
    refused: RefusedToken | None
    token_count: int  # that the row has taken
    may_end: bool
    has_mask: bool
    position_count: int
    accepted_drafts: int | None  # that have a mask: of a chain its first ones; None: none were sent
    grammar_id: str  # "" but in the reply that first has a position
    # What must come next, where Step.want_forced() asked for it: bytes; the tokens that may be
    # appended without asking the model; those and more, to be sent as drafts.
    forced_bytes: bytes = b""
    forced_tokens: tuple[int, ...] = ()
    forced_draft: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Position:
    """One position of a row's answer, in the form in which it came."""

    form: int  # FULL: nothing is masked; ALLOWED and FORBIDDEN: by ids; WORDS
    invalid: bool  # it comes after a draft that was refused: there is no mask
    ids: np.ndarray  # int32, of the forms that are lists
    words: np.ndarray  # int32; empty where nothing is masked
    temperature: float | None  # 0: the greatest is to be taken; None: the engine's own
    biases: dict[int, float]  # to add to logits, before they are divided by the temperature

    FULL, ALLOWED, FORBIDDEN, WORDS = range(4)


def _tokens(values: Iterable[int]) -> np.ndarray:
    return _buffers.int32_array(values if isinstance(values, np.ndarray) else list(values))


class Step(_abi.Handle):
    """One decode step: which rows open, what was sampled, which rows close. Kept and reused."""

    def __init__(self) -> None:
        super().__init__(lib.maskd_step_new(), "step_free")

    def clear(self) -> Self:
        """Empties it for its next use."""
        lib.maskd_step_clear(self.handle)
        return self

    def open(self, row: int, grammar: Grammar | Compiled | str, tokens: Iterable[int] = (),
             stop_ids: Iterable[int] = (), wait_s: float | None = None,
             reasoning: Mapping[str, Any] | None = None, min_tokens: int = 0,
             remaining_tokens: int | None = None, temperature: float | None = None,
             biases: Mapping[int, float] | None = None) -> Self:
        """Opens a row on a grammar: its text, or what compile() gave, or its id.

        `tokens`: taken already. `stop_ids`: that end its text; none: the tokenizer's own. `wait_s`:
        the reply of the whole step may wait so long for grammars that still compile. `reasoning`: free
        text before the grammar, a ReasoningGate of protos/maskd/v1 such as {"style": "think"}.
        `min_tokens`: of the text, before which it may not end. `remaining_tokens`: that the row may
        still produce, as set_remaining() says. `temperature`: of its text, in place of the
        grammar's own. `biases`: numbers to add to logits of its text, by token. The stream must
        have been opened with want_temperature and want_bias.
        """
        taken, stops = _tokens(tokens), _tokens(stop_ids)
        numbers = _buffers.bias_array(biases)
        gate = None if reasoning is None else json.dumps(dict(reasoning)).encode()
        options = _abi.OpenOptions(ctypes.sizeof(_abi.OpenOptions), taken.ctypes.data, taken.size,
                                   stops.ctypes.data, stops.size, gate, min_tokens,
                                   remaining_tokens or 0,
                                   temperature is not None, temperature or 0,
                                   numbers.ctypes.data, numbers.size)
        if isinstance(grammar, Grammar):
            text = json.dumps(grammar.to_json()).encode()
            lib.maskd_step_open_grammar(self.handle, row, text, ctypes.byref(options))
        else:
            grammar_id = grammar.id if isinstance(grammar, Compiled) else grammar
            lib.maskd_step_open(self.handle, row, grammar_id.encode(), ctypes.byref(options))
        if wait_s is not None:
            lib.maskd_step_wait_for_compile(self.handle, int(wait_s * 1000))
        return self

    def open_snapshot(self, snapshot: Mapping[str, Any], wait_s: float | None = None) -> Self:
        """Opens a row as one of StepResult.snapshots describes it, on any server that has its
        grammar."""
        lib.maskd_step_open_snapshot(self.handle, json.dumps(snapshot).encode())
        if wait_s is not None:
            lib.maskd_step_wait_for_compile(self.handle, int(wait_s * 1000))
        return self

    def take(self, row: int, tokens: Iterable[int]) -> Self:
        """Gives a row the tokens sampled since the last step; none: only asks for its mask."""
        array = _tokens(tokens)
        lib.maskd_step_take(self.handle, row, array.ctypes.data, array.size)
        return self

    def take_each(self, rows: Any, tokens: Any) -> Self:
        """Gives each of the rows the one token that it sampled: a whole batch in one call."""
        named = np.ascontiguousarray(rows, dtype=np.uint64)
        sampled = _buffers.int32_array(tokens)
        if named.size != sampled.size:
            raise MaskdError("INVALID_ARGUMENT",
                             f"tokens: are {sampled.size}, there are {named.size} rows")
        lib.maskd_step_take_each(self.handle, named.ctypes.data, sampled.ctypes.data, named.size)
        return self

    def rollback(self, row: int, token_count: int) -> Self:
        """Takes back a row's last tokens, before those that take() gives."""
        lib.maskd_step_rollback(self.handle, row, token_count)
        return self

    def draft(self, row: int, drafts: Iterable[int], parents: Iterable[int] | None = None) -> Self:
        """Asks for the masks after these draft tokens, which the row does not take: position i + 1 of
        its answer is the one after drafts[i]. `parents` None: a chain; else parents[i] is the index
        of the draft that drafts[i] comes after, or -1."""
        tokens = _tokens(drafts)
        tree = None if parents is None else _tokens(parents)
        if tree is not None and tree.size != tokens.size:
            raise MaskdError("INVALID_ARGUMENT",
                             f"parents: are {tree.size}, there are {tokens.size} drafts")
        lib.maskd_step_draft(self.handle, row, tokens.ctypes.data,
                             None if tree is None else tree.ctypes.data, tokens.size)
        return self

    def set_remaining(self, row: int, token_count: int) -> Self:
        """Says how many tokens the row may still produce, its end included: its masks lead to a
        complete text within them. The server counts on from here."""
        lib.maskd_step_set_remaining(self.handle, row, token_count)
        return self

    def want_forced(self, row: int) -> Self:
        """Asks for what must come next: RowResult.forced_bytes and its tokens."""
        lib.maskd_step_want_forced(self.handle, row)
        return self

    def snapshot(self, row: int) -> Self:
        """Asks for the row's description, by which it can be opened anew: StepResult.snapshots."""
        lib.maskd_step_snapshot(self.handle, row)
        return self

    def fork(self, parent: int, child: int) -> Self:
        """Makes `child` an independent copy of `parent`."""
        lib.maskd_step_fork(self.handle, parent, child)
        return self

    def close(self, row: int) -> Self:
        lib.maskd_step_close(self.handle, row)
        return self


class StepResult(_abi.Handle):
    """The answer to one step. Valid until the next collect() of the stream that gave it."""

    def __init__(self, mask_words: int) -> None:
        self._mask_words = mask_words
        super().__init__(lib.maskd_result_new(), "result_free")

    @property
    def step(self) -> int:
        """The step's number."""
        return lib.maskd_result_step(self.handle)

    @property
    def rows(self) -> list[RowResult]:
        """In the server's order: opened rows, named rows, rows that have compiled since."""
        return [self._row(i) for i in range(lib.maskd_result_row_count(self.handle))]

    def _row(self, index: int) -> RowResult:
        row = _abi.RowResultStruct(ctypes.sizeof(_abi.RowResultStruct))
        lib.maskd_result_row(self.handle, index, ctypes.byref(row))
        error = None
        if row.error_code:
            error = MaskdError(NAMES.get(row.error_code, str(row.error_code)),
                               row.error_message.decode(), row.error_place.decode(),
                               row.error_reason.decode())
        refused = None
        if row.refused_index >= 0:
            refused = RefusedToken(row.refused_index, row.refused_token)
        return RowResult(row.row, RowState(row.state), error, refused, row.token_count,
                         bool(row.may_end), bool(row.has_mask), row.position_count,
                         None if row.accepted_drafts < 0 else row.accepted_drafts,
                         row.grammar_id.decode(),
                         _bytes(row.forced_bytes, row.forced_byte_count),
                         _tuple(row.forced_tokens, row.forced_token_count),
                         _tuple(row.forced_draft, row.forced_draft_count))

    def position(self, row: int, position: int = 0) -> Position:
        """One of the row's positions, for engines that apply it themselves."""
        for index, answer in enumerate(self.rows):
            if answer.row == row and answer.state != RowState.REFUSED:
                break
        else:
            raise MaskdError("NOT_FOUND", f"row {row}: has no answer in this step")
        at = _abi.PositionStruct(ctypes.sizeof(_abi.PositionStruct))
        lib.maskd_result_position(self.handle, index, position, ctypes.byref(at))
        biases = _array(at.biases, at.bias_count, _buffers.BIAS).tolist()
        return Position(at.form, bool(at.invalid), _ids(at.ids, at.id_count),
                        _ids(at.words, at.word_count),
                        at.temperature if at.has_temperature else None, dict(biases))

    @property
    def snapshots(self) -> list[dict[str, Any]]:
        """Descriptions of the rows that Step.snapshot() named, for Step.open_snapshot()."""
        return [json.loads(_take_string("result_snapshot", self.handle, i))
                for i in range(lib.maskd_result_snapshot_count(self.handle))]

    def masks(self, order: Sequence[int], out: np.ndarray | None = None,
              positions: int = 1) -> np.ndarray:
        """Row i is the mask of order[i], all ones where there is nothing to apply.

        `out`: int32, a row of at least the stream's mask_words for each; made, as zeros, when None.
        `positions`: so many rows for each of `order`; those that are invalid, or that a row does not
        have, are not written.
        """
        out = _buffers.mask_rows(out, len(order) * positions, self._mask_words)
        ids = (ctypes.c_uint64 * len(order))(*order)
        lib.maskd_result_copy_positions(self.handle, ids, len(order), positions, out.ctypes.data,
                                        out.shape[1])
        return out

    def apply(self, applier: Applier, logits: Any,
              rows: Mapping[int, int] | Iterable[tuple[int, int, int]], out: Any = None) -> None:
        """Masks logits with the result as it came, with its temperatures and biases.

        `rows`: {row: logits row}, or (row, position, logits row) for rows with several positions.
        `out`: where the masked rows go, as of Applier.apply().
        """
        triples: list[Any] = ([(row, 0, target) for row, target in rows.items()]
                              if isinstance(rows, Mapping) else list(rows))
        targets = (_abi.Target * len(triples))(*triples)
        plane, output, keep = planes(logits, out)
        lib.maskd_result_apply_to(self.handle, applier.handle, targets, len(triples),
                                  ctypes.byref(plane), ctypes.byref(output))
        del keep


class Stream(_abi.Handle):
    """A decode stream: submit() sends a step, collect() waits for its answer, in order.

    One thread at a time. The result of collect() is the stream's own and changes with the next one.
    """

    def __init__(self, handle: int) -> None:
        super().__init__(handle, "stream_free")
        self.welcome: dict[str, Any] = json.loads(lib.maskd_stream_welcome_json(handle))
        self.mask_words: int = lib.maskd_stream_mask_words(handle)
        self._result = StepResult(self.mask_words)
        self._executor: ThreadPoolExecutor | None = None

    @property
    def transport(self) -> str:
        """How its steps travel: "grpc" or "shared_memory"."""
        return "shared_memory" if lib.maskd_stream_uses_shared_memory(self.handle) else "grpc"

    @property
    def in_flight(self) -> int:
        """Steps submitted and not collected."""
        return lib.maskd_stream_in_flight(self.handle)

    @property
    def going_away(self) -> bool:
        """Whether the server has said that it will stop: move the rows to another one."""
        return bool(lib.maskd_stream_going_away(self.handle))

    @property
    def stop_ids(self) -> list[int]:
        return list(self.welcome["tokenizer"]["stop_ids"])

    @property
    def vocab_size(self) -> int:
        return int(self.welcome["tokenizer"]["vocab_size"])

    def submit(self, step: Step) -> int:
        """Sends the step and gives its number; the step may be cleared and used again."""
        number = ctypes.c_uint64()
        lib.maskd_stream_submit(self.handle, step.handle, ctypes.byref(number))
        return number.value

    def collect(self, timeout_s: float = 10.0) -> StepResult:
        """Waits for the oldest step's answer. DEADLINE_EXCEEDED: it may still be collected."""
        lib.maskd_stream_collect(self.handle, int(timeout_s * 1000), self._result.handle)
        return self._result

    def run(self, step: Step, timeout_s: float = 10.0) -> StepResult:
        """Submits and collects."""
        self.submit(step)
        return self.collect(timeout_s)

    async def collect_async(self, timeout_s: float = 10.0) -> StepResult:
        """collect() on a thread of the stream's own, so that the event loop goes on."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="maskd-stream")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.collect, timeout_s)

    async def run_async(self, step: Step, timeout_s: float = 10.0) -> StepResult:
        self.submit(step)
        return await self.collect_async(timeout_s)

    def close(self, timeout_s: float = 5.0) -> None:
        """Says goodbye, waits for the stream's end and frees it."""
        if not self._handle:
            return
        if self._executor is not None:
            self._executor.shutdown()
        try:
            lib.maskd_stream_close(self.handle, int(timeout_s * 1000))
        finally:
            self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FailoverStream(Stream):
    """A stream that outlives its servers: when one breaks, stops answering or says that it will stop,
    the rows are opened with their tokens on the next address, and the masks go on bit for bit. No
    token is taken twice.

        stream = FailoverStream(["unix:/run/maskd-a.sock", "dns:///maskd:7411"], logits_width=32000)

    `options`: those of Client.open_stream(), and step_timeout_ms (after which a server is given up),
    give_up_after_ms (how long one that serves is looked for), compile_timeout_ms.
    """

    def __init__(self, addresses: Sequence[str], logits_width: int, tokenizer: str = "",
                 timeout_s: float = 10.0, **options: Any) -> None:
        names = (ctypes.c_char_p * len(addresses))(*(each.encode() for each in addresses))
        given = _stream_options(logits_width, tokenizer, options)
        super().__init__(_abi.new("stream_open_failover", names, len(addresses),
                                  ctypes.byref(given), int(timeout_s * 1000)))

    @property
    def moves(self) -> int:
        """How often the rows have moved to another server."""
        return lib.maskd_stream_moves(self.handle)

    def remember(self, grammar_id: str, grammar: Grammar) -> None:
        """Keeps a grammar's text for servers that do not have its id."""
        lib.maskd_stream_remember(self.handle, grammar_id.encode(),
                                  json.dumps(grammar.to_json()).encode())


class Client(_abi.Handle):
    """A client of one server. Any number of threads; streams live on their own.

    address  "unix:/run/maskd.sock", "127.0.0.1:7411", "dns:///maskd:7411"
    """

    def __init__(self, address: str, timeout_s: float = 5.0) -> None:
        super().__init__(_abi.new("client_connect", address.encode(), int(timeout_s * 1000)),
                         "client_free")

    def call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call of protos/maskd/v1, its messages as protobuf's JSON: Compile, Check, Explain,
        GetTokenizer, ListTokenizers."""
        return json.loads(_take_string("client_call", self.handle, method.encode(),
                                       json.dumps(request).encode()))

    async def call_async(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self.call, method, request)

    def compile(self, grammar: Grammar, tokenizer: str = "") -> Compiled:
        """Compiles a grammar, or finds it in the server's cache."""
        return _compiled(self.call("Compile", _compile_request(grammar, tokenizer)))

    async def compile_async(self, grammar: Grammar, tokenizer: str = "") -> Compiled:
        return _compiled(await self.call_async("Compile", _compile_request(grammar, tokenizer)))

    def check(self, grammar: Grammar, text: str | bytes, tokenizer: str = "") -> dict[str, Any]:
        """Whether a grammar accepts a text: CheckResponse of protos/maskd/v1."""
        request: dict[str, Any] = {"tokenizer": tokenizer, "grammar": grammar.to_json()}
        if isinstance(text, str):
            request["text"] = text
        else:
            request["text_bytes"] = base64.b64encode(text).decode()
        return self.call("Check", request)

    def tokenizers(self) -> list[dict[str, Any]]:
        """The server's, the default first."""
        return self.call("ListTokenizers", {})["tokenizers"]

    def open_stream(self, logits_width: int, tokenizer: str = "", timeout_s: float = 10.0,
                    **options: Any) -> Stream:
        """A stream for the rows of one engine. `logits_width`: at least the tokenizer's size.

        `options`: tokenizer_hash (that it must have), dictionary_size (masks kept for short forms),
        dense_only, want_temperature and want_bias (whether positions may carry them), read_ahead
        (whether a thread receives replies between submit() and collect(): for engines that compute
        meanwhile), shared_memory (whether steps may go through memory shared with the server: on
        one machine, over a Unix socket; Stream.transport says whether they do).
        """
        given = _stream_options(logits_width, tokenizer, options)
        return Stream(_abi.new("stream_open_with", self.handle, ctypes.byref(given),
                               int(timeout_s * 1000)))

    def close(self) -> None:
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_STREAM_OPTIONS = {field[0] for field in _abi.StreamOptions._fields_} - {"struct_size"}


def _stream_options(width: int, tokenizer: str, options: Mapping[str, Any]) -> _abi.StreamOptions:
    unknown = options.keys() - _STREAM_OPTIONS
    if unknown:
        raise MaskdError("INVALID_ARGUMENT", f"{min(unknown)}: is not one of "
                         f"{', '.join(sorted(_STREAM_OPTIONS))}")
    texts = {name: value.encode() if isinstance(value, str) else value
             for name, value in options.items()}
    return _abi.StreamOptions(struct_size=ctypes.sizeof(_abi.StreamOptions), logits_width=width,
                              tokenizer=tokenizer.encode(), **texts)


def _take_string(function: str, *arguments: object) -> bytes:
    """Calls a function whose last argument takes a string that it makes."""
    address = _abi.new(function, *arguments)
    try:
        return ctypes.string_at(address)
    finally:
        lib.maskd_string_free(address)


def _array(address: int | None, count: int, dtype: np.dtype) -> np.ndarray:
    """A copy of what lies there."""
    size = count * dtype.itemsize
    return np.frombuffer(ctypes.string_at(address or 0, size) if size else b"", dtype=dtype)


def _bytes(address: int | None, count: int) -> bytes:
    return ctypes.string_at(address or 0, count) if count else b""


def _tuple(address: int | None, count: int) -> tuple[int, ...]:
    return tuple(_ids(address, count).tolist()) if count else ()


def _ids(address: int | None, count: int) -> np.ndarray:
    return _array(address, count, np.dtype(np.int32))


def _compile_request(grammar: Grammar, tokenizer: str) -> dict[str, Any]:
    return {"tokenizer": tokenizer, "grammar": grammar.to_json()}


def _compiled(reply: Mapping[str, Any]) -> Compiled:
    warnings = [(each["place"], each["message"]) for each in reply["warnings"]]
    return Compiled(reply["grammar_id"], reply["from_cache"], warnings)
