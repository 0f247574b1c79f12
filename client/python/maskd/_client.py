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
from maskd._applier import Applier
from maskd._errors import NAMES, MaskdError


@dataclasses.dataclass(frozen=True)
class Grammar:
    """What is to be compiled: kind, source and the options of protos/maskd/v1's GrammarOptions.

        Grammar.json_schema({"type": "object"}, white_space="WHITE_SPACE_COMPACT")
        Grammar("lark", text)
    """

    kind: str
    source: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def json_schema(cls, schema: str | Mapping[str, Any] | bool, **options: Any) -> Self:
        """A schema as text, or as what json.loads() gives. The order of properties counts."""
        return cls("json_schema", schema if isinstance(schema, str) else json.dumps(schema), options)

    @classmethod
    def json_object(cls, **options: Any) -> Self:
        """Any JSON object."""
        return cls("json_object", "", options)

    @classmethod
    def regex(cls, pattern: str) -> Self:
        """The whole text matches."""
        return cls("regex", pattern)

    @classmethod
    def choice(cls, texts: Sequence[str]) -> Self:
        """One of the texts."""
        return cls("choice", json.dumps(list(texts)))

    def to_json(self) -> dict[str, Any]:
        message: dict[str, Any] = {"kind": self.kind, "source": self.source}
        if self.options:
            message["options"] = dict(self.options)
        return message


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A grammar that the server has: rows are opened on its id."""

    id: str
    from_cache: bool
    warnings: list[tuple[str, str]]  # place, message


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
             remaining_tokens: int | None = None) -> Self:
        """Opens a row on a grammar: its text, or what compile() gave, or its id.

        `tokens`: taken already. `stop_ids`: that end its text; none: the tokenizer's own. `wait_s`:
        the reply of the whole step may wait so long for grammars that still compile. `reasoning`: free
        text before the grammar, a ReasoningGate of protos/maskd/v1 such as {"style": "think"}.
        `min_tokens`: of the text, before which it may not end. `remaining_tokens`: that the row may
        still produce, its end included, so that its masks lead to a complete text within them.
        """
        taken, stops = _tokens(tokens), _tokens(stop_ids)
        gate = None if reasoning is None else json.dumps(dict(reasoning)).encode()
        options = _abi.OpenOptions(ctypes.sizeof(_abi.OpenOptions), taken.ctypes.data, taken.size,
                                   stops.ctypes.data, stops.size, gate, min_tokens,
                                   remaining_tokens or 0)
        if isinstance(grammar, Grammar):
            text = json.dumps(grammar.to_json()).encode()
            lib.maskd_step_open_grammar(self.handle, row, text, ctypes.byref(options))
        else:
            grammar_id = grammar.id if isinstance(grammar, Compiled) else grammar
            lib.maskd_step_open(self.handle, row, grammar_id.encode(), ctypes.byref(options))
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

    def set_remaining(self, row: int, token_count: int) -> Self:
        """Says how many tokens a row may still produce, as open() does; the server counts on from here."""
        lib.maskd_step_set_remaining(self.handle, row, token_count)
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
                         row.grammar_id.decode())

    def masks(self, order: Sequence[int], out: np.ndarray | None = None) -> np.ndarray:
        """Row i is the mask of order[i], all ones where there is nothing to apply.

        `out`: int32, a row of at least the stream's mask_words for each; made when None.
        """
        if out is None:
            out = np.empty((len(order), self._mask_words), dtype=np.int32)
        fits = (out.dtype == np.int32 and out.flags.c_contiguous and out.ndim == 2
                and out.shape[0] >= len(order) and out.flags.writeable)
        if not fits:
            raise MaskdError("INVALID_ARGUMENT",
                             f"out: is not a writable int32 array of {len(order)} rows")
        ids = (ctypes.c_uint64 * len(order))(*order)
        lib.maskd_result_copy_masks(self.handle, ids, len(order), out.ctypes.data, out.shape[1])
        return out

    def apply(self, applier: Applier, logits: Any,
              rows: Mapping[int, int] | Iterable[tuple[int, int, int]]) -> None:
        """Masks logits with the result as it came.

        `rows`: {row: logits row}, or (row, position, logits row) for rows with several positions.
        """
        triples = ([(row, 0, target) for row, target in rows.items()]
                   if isinstance(rows, Mapping) else list(rows))
        targets = (_abi.Target * len(triples))(*(_abi.Target(*each) for each in triples))
        plane, keep = _buffers.view(logits)
        lib.maskd_result_apply(self.handle, applier.handle, targets, len(triples),
                               ctypes.byref(plane))
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
        reply = ctypes.c_void_p()
        lib.maskd_client_call(self.handle, method.encode(), json.dumps(request).encode(),
                              ctypes.byref(reply))
        assert reply.value is not None
        try:
            return json.loads(ctypes.string_at(reply.value))
        finally:
            lib.maskd_string_free(reply)

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

    def open_stream(self, logits_width: int, tokenizer: str = "",
                    timeout_s: float = 10.0) -> Stream:
        """A stream for the rows of one engine. `logits_width`: at least the tokenizer's size."""
        return Stream(_abi.new("stream_open", self.handle, tokenizer.encode(), logits_width,
                               int(timeout_s * 1000)))

    def close(self) -> None:
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _compile_request(grammar: Grammar, tokenizer: str) -> dict[str, Any]:
    return {"tokenizer": tokenizer, "grammar": grammar.to_json()}


def _compiled(reply: Mapping[str, Any]) -> Compiled:
    warnings = [(each["place"], each["message"]) for each in reply["warnings"]]
    return Compiled(reply["grammar_id"], reply["from_cache"], warnings)
