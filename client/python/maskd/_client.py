"""The client of a maskd server: control calls, and the decode stream."""

import ctypes
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from maskd import _abi, _buffers
from maskd._abi import lib
from maskd._answers import AnswerDelta, AnswerSize, Outcomes, Position, RefusedToken, RowResult
from maskd._answers import RowState, StepResultBase, ToolCallDelta
from maskd._applier import Applier
from maskd._base import ClientBase, Ids, MaskTable, Opening, StepBase, StreamBase, check_chains
from maskd._base import each_as_bytes, reject_misspelt, reject_unknown
from maskd._errors import NAMES, MaskdError
from maskd._grammar import Grammar
from maskd._masking import planes
from maskd._torch import TorchMask, masks_of


class Step(_abi.Handle, StepBase):
    """One decode step: which rows open, what was sampled, which rows close. Kept and reused.

    Ids go to the library as bytes: an array's `ctypes` takes longer than a copy of thousands.
    """

    def __init__(self) -> None:
        super().__init__(lib.maskd_step_new(), "step_free")

    def clear(self) -> Self:
        """Empties the step for its next use; its memory is kept."""
        lib.maskd_step_clear(self.handle)
        return self

    def _open(self, row: int, grammar: Grammar | str, opening: Opening) -> None:
        options = ctypes.byref(_open_options(opening))
        if isinstance(grammar, Grammar):
            text = json.dumps(grammar.to_json()).encode()
            lib.maskd_step_open_grammar(self.handle, row, text, options)
        else:
            lib.maskd_step_open(self.handle, row, grammar.encode(), options)

    @classmethod
    def _prepared(cls, grammar: str, opening: Opening) -> Any:
        return grammar.encode(), ctypes.byref(_open_options(opening)), opening

    def open_prepared(self, row: int, prepared: Any) -> None:
        """Opens a row with what a Prepared holds: no text is encoded again."""
        lib.maskd_step_open(self.handle, row, prepared[0], prepared[1])

    def _open_snapshot(self, snapshot: Mapping[str, Any]) -> None:
        lib.maskd_step_open_snapshot(self.handle, json.dumps(snapshot).encode())

    def _wait_for_compile(self, milliseconds: int) -> None:
        lib.maskd_step_wait_for_compile(self.handle, milliseconds)

    def _take(self, row: int, tokens: np.ndarray) -> None:
        _abi.check(lib.maskd_step_take(self.handle, row, tokens.tobytes(), tokens.size))

    def _take_each(self, rows: np.ndarray, tokens: np.ndarray) -> None:
        lib.maskd_step_take_each(self.handle, rows.tobytes(), tokens.tobytes(), rows.size)

    def take_packed(self, rows: Ids, tokens: Ids) -> None:
        """take_each() with arrays of the right type, which are not looked at."""
        lib.maskd_step_take_each(self._handle, rows.data, tokens.data, rows.size)

    def take_row_packed(self, row: int, tokens: Ids) -> None:
        """take() of one row with an array of the right type."""
        status = lib.maskd_step_take(self._handle, row, tokens.data, tokens.size)
        if status:
            _abi.check(status)

    def draft_each(self, rows: Sequence[int], tokens: Sequence[Sequence[int]],
                   drafts: Sequence[Sequence[int]]) -> Self:
        """take() and draft() of each of the rows, its drafts a chain: a whole batch in one call. Without
        drafts a row only takes its tokens."""
        check_chains(rows, tokens, drafts)
        each: list[int] = []
        for taken, drafted in zip(tokens, drafts, strict=True):
            each += taken
            each += drafted
        status = lib.maskd_step_draft_each(
            self._handle, array("Q", rows).tobytes(), array("i", map(len, tokens)).tobytes(),
            array("i", map(len, drafts)).tobytes(), array("i", each).tobytes(), len(rows))
        if status:
            _abi.check(status)
        return self

    def _rollback(self, row: int, token_count: int) -> None:
        lib.maskd_step_rollback(self.handle, row, token_count)

    def _draft(self, row: int, tokens: np.ndarray, parents: np.ndarray | None) -> None:
        tree = None if parents is None else parents.tobytes()
        _abi.check(lib.maskd_step_draft(self.handle, row, tokens.tobytes(), tree, tokens.size))

    def _set_remaining(self, row: int, token_count: int) -> None:
        lib.maskd_step_set_remaining(self.handle, row, token_count)

    def _want_forced(self, row: int) -> None:
        lib.maskd_step_want_forced(self.handle, row)

    def _snapshot(self, row: int) -> None:
        lib.maskd_step_snapshot(self.handle, row)

    def _fork(self, parent: int, child: int) -> None:
        lib.maskd_step_fork(self.handle, parent, child)

    def _close(self, row: int) -> None:
        lib.maskd_step_close(self.handle, row)


class StepResult(_abi.Handle, StepResultBase):
    """The answer to one step. Valid until the next collect() of the stream that gave it."""

    def __init__(self, mask_words: int) -> None:
        StepResultBase.__init__(self, mask_words)
        _abi.Handle.__init__(self, lib.maskd_result_new(), "result_free")
        self._room = 0
        self._columns: Any = None  # of so many rows; kept from step to step

    @property
    def step(self) -> int:
        """The number of the step that this answers."""
        return int(lib.maskd_result_step(self.handle))

    @property
    def rows(self) -> list[RowResult]:
        """All answers, in the server's order; each call makes them anew."""
        return [self._row(i) for i in range(lib.maskd_result_row_count(self.handle))]

    def outcomes(self) -> Iterator[tuple[int, int, MaskdError | None, int]]:
        """(row, state, error, accepted drafts) of each answer, without the objects of `rows`."""
        row = _abi.RowResultStruct(ctypes.sizeof(_abi.RowResultStruct))
        to_row, read, handle = ctypes.byref(row), lib.maskd_result_row, self.handle
        for index in range(lib.maskd_result_row_count(handle)):
            read(handle, index, to_row)
            yield row.row, row.state, _error_of(row), row.accepted_drafts

    def arrays(self) -> Outcomes:
        """The same as arrays of numpy, in one call of the library."""
        count = lib.maskd_result_row_count(self.handle)
        rows = np.empty(count, dtype=np.uint64)
        states, drafts, errors = np.empty((3, count), dtype=np.int32)
        lib.maskd_result_outcomes(self.handle, count, rows.ctypes.data, states.ctypes.data,
                                  drafts.ctypes.data, errors.ctypes.data)
        return Outcomes(rows, states, drafts, errors)

    def columns(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """The same as lists, for engines whose batches are lists; the buffers are kept."""
        count = lib.maskd_result_row_count(self.handle)
        if count > self._room:
            self._room = 2 * count
            self._columns = ((ctypes.c_uint64 * self._room)(),
                             *((ctypes.c_int32 * self._room)() for _ in range(3)))
        rows, states, drafts, errors = self._columns
        lib.maskd_result_outcomes(self.handle, count, rows, states, drafts, errors)
        return rows[:count], states[:count], drafts[:count], errors[:count]

    def _torch_masks(self, targets: list[tuple[int, int, int]]) -> list[TorchMask]:
        return masks_of(self.handle, targets)

    def _allows(self, rows: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        allowed = np.empty(rows.size, dtype=np.bool_)
        lib.maskd_result_allows(self.handle, rows.ctypes.data, tokens.ctypes.data, rows.size,
                                allowed.ctypes.data)
        return allowed

    def _row(self, index: int) -> RowResult:
        row = _abi.RowResultStruct(ctypes.sizeof(_abi.RowResultStruct))
        lib.maskd_result_row(self.handle, index, ctypes.byref(row))
        error = _error_of(row)
        refused = None
        if row.refused_index >= 0:
            refused = RefusedToken(row.refused_index, row.refused_token)
        return RowResult(row.row, RowState(row.state), error, refused, row.token_count,
                         bool(row.may_end), bool(row.has_mask), row.position_count,
                         None if row.accepted_drafts < 0 else row.accepted_drafts,
                         row.grammar_id.decode(),
                         _bytes(row.forced_bytes, row.forced_byte_count),
                         _tuple(row.forced_tokens, row.forced_token_count),
                         _tuple(row.forced_draft, row.forced_draft_count),
                         self._answer(index) if row.has_answer else None)

    def _answer(self, index: int) -> AnswerDelta:
        said = _abi.AnswerDeltaStruct(ctypes.sizeof(_abi.AnswerDeltaStruct))
        lib.maskd_result_answer(self.handle, index, ctypes.byref(said))
        cut = AnswerSize(said.cut_reasoning, said.cut_content, said.cut_tool_calls, said.cut_id,
                         said.cut_arguments)
        calls = tuple(ToolCallDelta(call.index, _bytes(call.id, call.id_size).decode(),
                                    _bytes(call.name, call.name_size).decode(),
                                    _bytes(call.arguments, call.argument_size))
                      for call in said.calls[:said.call_count])
        return AnswerDelta(cut if said.has_cut else None,
                           _bytes(said.reasoning, said.reasoning_size),
                           _bytes(said.content, said.content_size), calls)

    def position(self, row: int, position: int = 0) -> Position:
        """One position's mask, biases and temperature; NOT_FOUND for a row without an answer."""
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
        """Descriptions of the rows that Step.snapshot() named."""
        return [json.loads(_take_string("result_snapshot", self.handle, i))
                for i in range(lib.maskd_result_snapshot_count(self.handle))]

    def _copy_masks(self, order: Sequence[int], out: np.ndarray, positions: int) -> None:
        lib.maskd_result_copy_positions(self.handle, _buffers.row_ids(order), len(order),
                                        positions, out.ctypes.data, out.shape[1])

    def _apply(self, applier: Applier, logits: Any, targets: list[Any], out: Any) -> None:
        structs = (_abi.Target * len(targets))(*targets)
        plane, output, keep = planes(logits, out)
        lib.maskd_result_apply_to(self.handle, applier.handle, structs, len(targets),
                                  ctypes.byref(plane), ctypes.byref(output))
        del keep


class Stream(_abi.Handle, StreamBase[Step, StepResult]):
    """A decode stream: submit() sends a step, collect() waits for its answer, in order.

    One thread at a time. The result of collect() is the stream's own and changes with the next one.
    """

    def __init__(self, handle: int) -> None:
        super().__init__(handle, "stream_free")
        self.welcome = json.loads(lib.maskd_stream_welcome_json(handle))
        self.mask_words = lib.maskd_stream_mask_words(handle)
        self._result = StepResult(self.mask_words)
        self._each = Step()
        self._number = ctypes.c_uint64()
        self._to_number = ctypes.byref(self._number)
        self._is_whole = ctypes.c_int32()
        self._to_is_whole = ctypes.byref(self._is_whole)
        self._known = (ctypes.c_int32 * 16)()
        self._result_handle = self._result.handle
        # Arguments of what each step calls.
        self._pointer, self._each_pointer = _abi.pointer(handle), _abi.pointer(self._each.handle)
        self._result_pointer = _abi.pointer(self._result_handle)
        self._count, self._to_count = 0, ctypes.c_int64()
        self._timeout_s, self._timeout_ms = 0.0, ctypes.c_int64()

    @property
    def transport(self) -> str:
        """How steps and replies travel: "grpc", "shared_memory" or "local"."""
        return str(lib.maskd_stream_transport(self.handle).decode())

    @property
    def in_flight(self) -> int:
        """Steps submitted and not collected."""
        return int(lib.maskd_stream_in_flight(self.handle))

    @property
    def going_away(self) -> bool:
        """Whether the server has said that it will stop: move the rows to another one."""
        return bool(lib.maskd_stream_going_away(self.handle))

    def submit(self, step: Step) -> int:
        """Sends the step and gives its number. The step may be cleared and used again at once."""
        lib.maskd_stream_submit(self.handle, step.handle, self._to_number)
        return self._number.value

    def submit_each(self, rows: Any, tokens: Any) -> int:
        """A step of one token a row, in one call; gives its number."""
        named, sampled, count = each_as_bytes(rows, tokens)
        # What is done before the call is time in which the server has no work.
        if count != self._count:
            self._set_count(count)
        if not self._handle:
            _ = self.handle  # raises
        status = lib.maskd_stream_submit_each(self._pointer, self._each_pointer, named, sampled,
                                              self._to_count, self._to_number)
        if status:
            _abi.check(status)
        return self._number.value

    def submit_packed(self, rows: Ids, tokens: Ids) -> None:
        """submit_each() with arrays of the right type, which are not looked at."""
        if rows.size != self._count:
            self._set_count(rows.size)
        if not self._handle:
            _ = self.handle  # raises
        status = lib.maskd_stream_submit_each(self._pointer, self._each_pointer, rows.data, tokens.data,
                                              self._to_count, None)
        if status:
            _abi.check(status)

    def _set_count(self, count: int) -> None:
        self._count, self._to_count = count, ctypes.c_int64(count)

    def collect_masks(self, timeout_s: float, rows: Ids, out: MaskTable) -> tuple[StepResult, bool]:
        """collect(), and whether the answer is whole, as maskd_stream_collect_masks() says."""
        status = lib.maskd_stream_collect_masks(self._handle, int(timeout_s * 1000), self._result_handle,
                                                rows.data, rows.size, out.address, out.width,
                                                self._to_is_whole)
        if status:
            _abi.check(status)
        return self._result, self._is_whole.value != 0

    def collect_chains(self, timeout_s: float, rows: Ids, block: int,
                       out: MaskTable) -> tuple[StepResult, list[int] | None]:
        """The same of rows with drafts that are chains: of each of `rows` how many masks it has, or None
        where the answer is not whole. In `out` each row has `block` masks, all ones where it has none;
        with 0 as many as it has."""
        if rows.size > len(self._known):
            self._known = (ctypes.c_int32 * (2 * rows.size))()
        status = lib.maskd_stream_collect_positions(
            self._handle, int(timeout_s * 1000), self._result_handle, rows.data, rows.size, block,
            out.address, out.room, out.width, self._known, self._to_is_whole)
        if status:
            _abi.check(status)
        return self._result, self._known[:rows.size] if self._is_whole.value else None

    def collect(self, timeout_s: float = 10.0) -> StepResult:
        """Waits for the reply to the oldest step; DEADLINE_EXCEEDED may be tried again. The result
        is the stream's, good until the next collect."""
        if not self._handle:
            _ = self.handle  # raises
        if timeout_s != self._timeout_s:
            self._timeout_s, self._timeout_ms = timeout_s, ctypes.c_int64(int(timeout_s * 1000))
        status = lib.maskd_stream_collect(self._pointer, self._timeout_ms, self._result_pointer)
        if status:
            _abi.check(status)
        return self._result

    def close(self, timeout_s: float = 5.0) -> None:
        """Says goodbye and waits for the stream's end; a second call does nothing."""
        if not self._handle:
            return
        self._stop_thread()
        try:
            lib.maskd_stream_close(self.handle, int(timeout_s * 1000))
        finally:
            self.release()


class FailoverStream(Stream):
    """A stream that outlives its servers: when one breaks, stops answering or says that it will stop,
    the rows are opened with their tokens on the next address, and the masks go on bit for bit. No
    token is taken twice. A server whose vocabulary or grammars differ from the first one's is refused:
    FAILED_PRECONDITION with both values where no other is left. The rows of a step under which two
    servers ended fail, with the reason SERVERS_ENDED, and are closed.

        stream = FailoverStream(["unix:/run/maskd-a.sock", "dns:///maskd:7411"], logits_width=32000)

    `options`: those of Client.open_stream(), and step_timeout_ms (after which a server is given up),
    give_up_after_ms (how long one that serves is looked for), compile_timeout_ms, in_order (whether
    the addresses are tried as listed; else the stream goes where there are few, also later on).
    """

    def __init__(self, addresses: Sequence[str], logits_width: int, tokenizer: str = "",
                 timeout_s: float = 10.0, **options: Any) -> None:
        names = _abi.strings(addresses)
        given = _stream_options(logits_width, tokenizer, options)
        super().__init__(_abi.new("stream_open_failover", names, len(addresses),
                                  ctypes.byref(given), int(timeout_s * 1000)))

    @property
    def moves(self) -> int:
        """How often the rows have moved to another server."""
        return int(lib.maskd_stream_moves(self.handle))

    def remember(self, grammar_id: str, grammar: Grammar) -> None:
        """Keeps a grammar's text for servers that do not have its id."""
        lib.maskd_stream_remember(self.handle, grammar_id.encode(),
                                  json.dumps(grammar.to_json()).encode())


class Client(_abi.Handle, ClientBase):
    """A client of a server, or of several that serve the same vocabularies, or of an engine in this process.
    Any number of threads; streams live on their own.

    address  "unix:/run/maskd.sock", "127.0.0.1:7411", "dns:///maskd:7411"; a list: each call goes to the
             one that answered last, and to the next where that one is not there; "local:..." or
             maskd.local(tokenizer): no server at all
    timeout_s  waits so long for a server that is yet to come; without it one that is silent has 5 s,
             and an address whose system says at once that nobody is there fails at once
    """

    def __init__(self, address: str | Sequence[str], timeout_s: float | None = None) -> None:
        addresses = [address] if isinstance(address, str) else address
        for each in addresses:
            reject_misspelt(each)
        names = _abi.strings(addresses)
        timeout_ms = 0 if timeout_s is None else max(1, int(timeout_s * 1000))
        super().__init__(_abi.new("client_connect_any", names, len(names), timeout_ms),
                         "client_free")

    def call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call of protos/maskd/v1 with JSON both ways; `method` is an rpc's name."""
        reply: dict[str, Any] = json.loads(_take_string(
            "client_call", self.handle, method.encode(), json.dumps(request).encode()))
        return reply

    def open_stream(self, logits_width: int, tokenizer: str = "", timeout_s: float = 10.0,
                    **options: Any) -> Stream:
        """A stream for the rows of one engine. `logits_width`: at least the tokenizer's size.

        `options`: tokenizer_hash (that it must have), dictionary_size (masks kept for short forms),
        dense_only, want_temperature and want_bias (whether positions may carry them), read_ahead
        (whether a thread receives replies between submit() and collect(): for engines that compute
        meanwhile), shared_memory (whether steps may go through memory shared with the server: on
        one machine, over a Unix socket; Stream.transport says whether they do), submit_timeout_ms
        (how long a server that has stopped reading may delay submit(); then the stream has ended).
        """
        given = _stream_options(logits_width, tokenizer, options)
        return Stream(_abi.new("stream_open_with", self.handle, ctypes.byref(given),
                               int(timeout_s * 1000)))

    def close(self) -> None:
        """Gives the connection back. Streams that it opened live on."""
        self.release()


_STREAM_OPTIONS = {field[0] for field in _abi.StreamOptions._fields_} - {"struct_size", "reserved"}


def _stream_options(width: int, tokenizer: str, options: Mapping[str, Any]) -> _abi.StreamOptions:
    reject_unknown(options, _STREAM_OPTIONS)
    texts = {name: value.encode() if isinstance(value, str) else value
             for name, value in options.items()}
    return _abi.StreamOptions(struct_size=ctypes.sizeof(_abi.StreamOptions), logits_width=width,
                              tokenizer=tokenizer.encode(), **texts)


def _open_options(opening: Opening) -> _abi.OpenOptions:
    """They point into the opening."""
    taken, stops, biases = opening.tokens, opening.stop_ids, opening.biases
    gate = None if opening.reasoning is None else json.dumps(dict(opening.reasoning)).encode()
    return _abi.OpenOptions(ctypes.sizeof(_abi.OpenOptions), _data(taken), taken.size, _data(stops),
                            stops.size, gate, opening.min_tokens, opening.remaining_tokens or 0,
                            opening.temperature is not None, opening.temperature or 0, _data(biases),
                            biases.size, opening.want_answer, opening.observe)


def _error_of(row: _abi.RowResultStruct) -> MaskdError | None:
    if not row.error_code:
        return None
    return MaskdError(NAMES.get(row.error_code, str(row.error_code)), row.error_message.decode(),
                      row.error_place.decode(), row.error_reason.decode())


def _data(array: np.ndarray) -> int | None:
    return array.ctypes.data if array.size else None


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
