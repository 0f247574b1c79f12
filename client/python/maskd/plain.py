"""The client without the library: the same classes over grpcio, protobuf's Python and numpy.

    import maskd.plain as maskd

`import maskd` itself takes it where MASKD_CLIENT=plain says so, or where there is no library. Needs
grpcio, protobuf, googleapis-common-protos, and the stubs of protos/maskd/v1 as maskd.v1, which wheels have
and scripts/python-stubs makes. Slower than the library: a step takes Python's time for each row.
"""

import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

import grpc
import numpy as np
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2

from maskd import _abi, _buffers
from maskd._answers import Answer, AnswerDelta, AnswerSize, Position, RefusedToken, RowResult
from maskd._answers import RowState, StepResultBase, ToolCallDelta
from maskd._base import ClientBase, Opening, StepBase, StreamBase, reject_misspelt
from maskd._base import reject_unknown
from maskd._errors import NAMES, MaskdError
from maskd._grammar import Compiled, Grammar
from maskd._masking import Row
from maskd._plain_applier import Applier, Dictionary
from maskd._plain_connect import await_server
from maskd._plain_masks import FORM_INVALID, Mask, MaskReader
from maskd.v1 import compile_service_pb2, compile_service_pb2_grpc, grammar_pb2, mask_service_pb2
from maskd.v1 import mask_service_pb2_grpc, tokenizer_service_pb2, tokenizer_service_pb2_grpc

_DICTIONARY_SIZE = 256
_CALL_S = 120.0
_OPTIONS = {"dense_only", "dictionary_size", "read_ahead", "shared_memory", "submit_timeout_ms",
            "tokenizer_hash", "want_bias", "want_temperature"}
_FORMS = [mask_service_pb2.ROW_FORM_SAME_AS, mask_service_pb2.ROW_FORM_ALLOWED_IDS,
          mask_service_pb2.ROW_FORM_FORBIDDEN_IDS, mask_service_pb2.ROW_FORM_DELTA]


def _to_dict(message: Any) -> dict[str, Any]:
    return json_format.MessageToDict(message, preserving_proto_field_name=True,
                                     always_print_fields_with_no_presence=True)


def _read(name: str, given: Mapping[str, Any], message: Any) -> Any:
    try:
        return json_format.ParseDict(dict(given), message)
    except json_format.ParseError as error:
        raise MaskdError("INVALID_ARGUMENT", f"{name}: {error}") from None


def _detail(status: Any, message: Any) -> Any:
    for each in status.details:
        if each.Unpack(message):
            return message
    return None


def _error(error: grpc.RpcError, address: str) -> MaskdError:
    """The server's status, with its details; or what became of the connection, with the address."""
    code = error.code()
    status = status_pb2.Status()
    metadata: Any = error.trailing_metadata() or ()
    for key, value in metadata:
        if key == "grpc-status-details-bin":
            status.ParseFromString(value)
    request = _detail(status, error_details_pb2.BadRequest())
    info = _detail(status, error_details_pb2.ErrorInfo())
    retry = _detail(status, error_details_pb2.RetryInfo())
    place = request.field_violations[0].field if request and request.field_violations else ""
    message = error.details() or ""
    if code is grpc.StatusCode.UNAVAILABLE and info is None and address not in message:
        message = f"{address}: {message}"
    return MaskdError(code.name, message, place, info.reason if info else "",
                      retry.retry_delay.ToMilliseconds() if retry else None)


class Step(StepBase):
    """One decode step: which rows open, what was sampled, which rows close. Kept and reused."""

    def __init__(self) -> None:
        self._message = mask_service_pb2.Step()
        self._updates: dict[int, Any] = {}

    def clear(self) -> Self:
        """Empties the step for its next use."""
        self._message.Clear()
        self._updates.clear()
        return self

    def _open(self, row: int, grammar: Grammar | str, opening: Opening) -> None:
        opened = mask_service_pb2.OpenRow(
            row=row, tokens=opening.tokens.tolist(), stop_ids=opening.stop_ids.tolist(),
            min_tokens=opening.min_tokens, remaining_tokens=opening.remaining_tokens,
            temperature=opening.temperature, want_answer=opening.want_answer,
            observe=opening.observe)
        for token, bias in opening.biases.tolist():
            opened.biases.add(id=token, bias=bias)
        if isinstance(grammar, Grammar):
            opened.grammar.CopyFrom(_read("grammar_json", grammar.to_json(), grammar_pb2.Grammar()))
        else:
            opened.grammar_id = grammar
        if opening.reasoning is not None:
            _read("options.reasoning_json", dict(opening.reasoning), opened.reasoning)
            opened.reasoning.SetInParent()
        self._message.open.append(opened)

    def _open_snapshot(self, snapshot: Mapping[str, Any]) -> None:
        self._message.open.append(_read("snapshot_json", snapshot, mask_service_pb2.OpenRow()))

    def _wait_for_compile(self, milliseconds: int) -> None:
        self._message.wait_for_compile_ms = milliseconds

    def _update(self, row: int) -> Any:
        update = self._updates.get(row)
        if update is None:
            update = self._updates[row] = self._message.rows.add(row=row)
        return update

    def _take(self, row: int, tokens: np.ndarray) -> None:
        self._update(row).tokens.extend(tokens.tolist())

    def _take_each(self, rows: np.ndarray, tokens: np.ndarray) -> None:
        for row, token in zip(rows.ravel().tolist(), tokens.ravel().tolist(), strict=True):
            self._update(row).tokens.append(token)

    def _rollback(self, row: int, token_count: int) -> None:
        self._update(row).rollback = token_count

    def _set_remaining(self, row: int, token_count: int) -> None:
        self._update(row).remaining_tokens = token_count

    def _draft(self, row: int, tokens: np.ndarray, parents: np.ndarray | None) -> None:
        tree = [] if parents is None else parents.tolist()
        self._update(row).drafts.CopyFrom(
            mask_service_pb2.Drafts(tokens=tokens.tolist(), parents=tree))

    def _want_forced(self, row: int) -> None:
        self._update(row).want_forced = True

    def _snapshot(self, row: int) -> None:
        self._message.snapshot.append(row)

    def _fork(self, parent: int, child: int) -> None:
        self._message.fork.add(parent=parent, child=child)

    def _close(self, row: int) -> None:
        self._message.close.append(row)

    def numbered(self, number: int) -> Any:
        """The message to send."""
        self._message.step = number
        return mask_service_pb2.DecodeRequest(step=self._message)


class StepResult(StepResultBase):
    """The answer to one step. Valid until the next collect() of the stream that gave it."""

    def __init__(self, reply: Any, reader: MaskReader, welcome: Any) -> None:
        super().__init__(welcome.mask_words)
        self._reply = reply
        self._vocab_size = welcome.tokenizer.vocab_size
        self._masks = [[reader.read(each) for each in row.positions] for row in reply.rows]
        self._by_row: dict[int, int] = {}
        for i, row in enumerate(reply.rows):
            if row.state != RowState.REFUSED:
                self._by_row.setdefault(row.row, i)

    @property
    def step(self) -> int:
        """The number of the step that this answers."""
        return int(self._reply.step)

    @property
    def rows(self) -> list[RowResult]:
        """All answers, in the server's order; each call makes them anew."""
        return [_row_result(reply, masks)
                for reply, masks in zip(self._reply.rows, self._masks, strict=True)]

    @property
    def snapshots(self) -> list[dict[str, Any]]:
        """Descriptions of the rows that Step.snapshot() named."""
        return [_to_dict(each) for each in self._reply.snapshots]

    def position(self, row: int, position: int = 0) -> Position:
        """One position's mask, biases and temperature; NOT_FOUND for a row without an answer."""
        index, masks = self._find(row)
        if not 0 <= position < len(masks):
            raise MaskdError("OUT_OF_RANGE",
                             f"position: {position} is not one of the row's {len(masks)}")
        mask, wire = masks[position], self._reply.rows[index].positions[position]
        nothing = mask.form in (_abi.FORM_FULL, FORM_INVALID)
        words = mask.words if nothing else mask.dense(self._mask_words, self._vocab_size)
        return Position(max(mask.form, _abi.FORM_FULL), mask.form == FORM_INVALID, mask.ids, words,
                        wire.temperature if wire.HasField("temperature") else None,
                        {each.id: each.bias for each in wire.biases})

    def _copy_masks(self, order: Sequence[int], out: np.ndarray, positions: int) -> None:
        for i, row in enumerate(order):
            self._copy(row, out[i * positions:(i + 1) * positions])

    def _copy(self, row: int, to: np.ndarray) -> None:
        index, masks = self._find(row)
        if not masks:
            state = mask_service_pb2.RowState.Name(self._reply.rows[index].state)
            raise MaskdError("FAILED_PRECONDITION", f"row {row}: no mask, it is {state}")
        for words, mask in zip(to, masks, strict=False):
            if mask.form != FORM_INVALID:
                words[self._mask_words:] = 0
                words[:self._mask_words] = mask.dense(self._mask_words, self._vocab_size)

    def _find(self, row: int) -> tuple[int, list[Mask]]:
        index = self._by_row.get(row)
        if index is None:
            raise MaskdError("NOT_FOUND", f"row {row}: has no answer in this step")
        return index, self._masks[index]

    def _apply(self, applier: Applier, logits: Any, targets: list[Any], out: Any) -> None:
        applier.apply(logits, [self._row(*each) for each in targets], self._vocab_size, out=out)

    def _row(self, row: int, position: int, target: int) -> Row:
        index, masks = self._find(row)
        if not 0 <= position < len(masks):
            raise MaskdError("FAILED_PRECONDITION",
                             f"row {row}: has no mask at position {position}")
        mask = masks[position]
        if mask.form == FORM_INVALID:
            raise MaskdError("FAILED_PRECONDITION", f"row {row}: position {position} comes after a "
                             "draft that was refused")
        words = mask.words[:(self._vocab_size + 31) // 32] if mask.form == _abi.FORM_WORDS else None
        made = Row(target, mask.form, words=words, ids=mask.ids)
        wire = self._reply.rows[index].positions[position]
        if wire.biases or wire.HasField("temperature"):
            made.tuned({each.id: each.bias for each in wire.biases},
                       wire.temperature if wire.HasField("temperature") else 1)
        return made


class MaskPlane:
    """The packed masks of a batch in the engine's own array, kept from step to step.

    As the library's, but that every row is written in every step.
    """

    def __init__(self, bitmask: Any) -> None:
        rows, self._keep = _buffers.packed_rows(bitmask)
        self._words = _buffers.array_of(rows, np.dtype(np.int32))

    def write(self, result: StepResult, order: Sequence[int], positions: int = 1) -> None:
        """As StepResult.masks() with the array as its `out`."""
        result.masks(order, self._words, positions)

    def forget(self) -> None:
        """Nothing is remembered."""


def _row_result(reply: Any, masks: list[Mask]) -> RowResult:
    error = refused = None
    if reply.HasField("error"):
        of = reply.error
        error = MaskdError(NAMES.get(of.code, str(of.code)), of.message, of.place, of.reason,
                           of.retry_after_ms if of.HasField("retry_after_ms") else None)
        if of.HasField("token"):
            refused = RefusedToken(of.token.index, of.token.id)
    has_mask = bool(masks) and masks[0].form not in (_abi.FORM_FULL, FORM_INVALID)
    return RowResult(reply.row, RowState(reply.state), error, refused, reply.token_count,
                     reply.may_end, has_mask, len(masks),
                     reply.accepted_drafts if reply.HasField("accepted_drafts") else None,
                     reply.grammar_id, reply.forced_bytes, tuple(reply.forced_tokens),
                     tuple(reply.forced_draft),
                     _answer(reply.answer) if reply.HasField("answer") else None)


def _answer(said: Any) -> AnswerDelta:
    cut = said.cut
    left = AnswerSize(cut.reasoning_content, cut.content, cut.tool_calls, cut.id, cut.arguments)
    calls = tuple(ToolCallDelta(each.index, each.id, each.name, each.arguments)
                  for each in said.tool_calls)
    return AnswerDelta(left if said.HasField("cut") else None, said.reasoning_content, said.content,
                       calls)


class Stream(StreamBase[Step, StepResult]):
    """A decode stream: submit() sends a step, collect() waits for its answer, in order.

    One thread at a time; a second one, its own, reads what the server sends.
    """

    def __init__(self, channel: grpc.Channel, address: str, hello: Any, timeout_s: float) -> None:
        self._address = address
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._requests.put(mask_service_pb2.DecodeRequest(hello=hello))
        self._closed = False
        self._call = mask_service_pb2_grpc.MaskServiceStub(channel).Decode(
            iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._receive, name="maskd-plain", daemon=True)
        self._reader.start()
        self._number = 0
        self._in_flight = 0
        self._going_away = False
        welcome = self._next(timeout_s).welcome
        self._masks = MaskReader(welcome)
        self._welcome = welcome
        self.welcome = _to_dict(welcome)
        self.mask_words = welcome.mask_words

    def _receive(self) -> None:
        try:
            for response in self._call:
                if response.WhichOneof("message") == "go_away":
                    self._going_away = True
                else:
                    self._replies.put(response)
            self._replies.put(MaskdError("UNAVAILABLE",
                                         f"{self._address}: the server ended the stream"))
        except grpc.RpcError as error:
            self._replies.put(_error(error, self._address))

    def _next(self, timeout_s: float) -> Any:
        try:
            reply = self._replies.get(timeout=timeout_s)
        except queue.Empty:
            raise MaskdError("DEADLINE_EXCEEDED",
                             f"no answer within {int(timeout_s * 1000)} ms") from None
        if isinstance(reply, MaskdError):
            self._replies.put(reply)  # for whoever asks next
            raise reply
        return reply

    @property
    def transport(self) -> str:
        """Always "grpc": shared memory needs the library."""
        return "grpc"

    @property
    def in_flight(self) -> int:
        """Steps submitted and not collected."""
        return self._in_flight

    @property
    def going_away(self) -> bool:
        """Whether the server has said that it will stop: move the rows to another one."""
        return self._going_away

    def submit(self, step: Step) -> int:
        """Queues the step for the thread that writes, and gives its number."""
        if self._closed:
            raise MaskdError("FAILED_PRECONDITION", "Stream: is closed")
        self._number += 1
        self._requests.put(step.numbered(self._number))
        self._in_flight += 1
        return self._number

    def submit_each(self, rows: Any, tokens: Any) -> int:
        """A step of one token a row; gives its number."""
        return self.submit(Step().take_each(rows, tokens))

    def collect(self, timeout_s: float = 10.0) -> StepResult:
        """Waits for the reply to the oldest step; DEADLINE_EXCEEDED may be tried again."""
        if self._in_flight == 0:
            raise MaskdError("FAILED_PRECONDITION", "no step is under way")
        reply = self._next(timeout_s)
        self._in_flight -= 1
        return StepResult(reply.step, self._masks, self._welcome)

    def close(self, timeout_s: float = 5.0) -> None:
        """Says goodbye and waits for the stream's end; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._stop_thread()
        self._requests.put(None)
        self._reader.join(timeout_s)
        self._call.cancel()

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self._requests.put(None)
            self._call.cancel()


class Client(ClientBase):
    """A client of one server. Any number of threads; streams live on their own.

    address  "unix:/run/maskd.sock", "127.0.0.1:7411", "dns:///maskd:7411"
    timeout_s  waits so long for a server that is yet to come; without it one that is silent has 5 s,
             and an address whose system says at once that nobody is there fails at once
    """

    def __init__(self, address: str, timeout_s: float | None = None) -> None:
        if not isinstance(address, str) or address.startswith("local:"):
            raise MaskdError("UNIMPLEMENTED", "several addresses, and local ones, need libmaskd")
        reject_misspelt(address)
        # Compiled grammars and dense masks may be larger than gRPC's 4 MiB.
        self._closed = False
        self._address = address
        self._channel = grpc.insecure_channel(
            address, options=[("grpc.max_receive_message_length", -1)])
        compiles = compile_service_pb2_grpc.CompileServiceStub(self._channel)
        tokenizers = tokenizer_service_pb2_grpc.TokenizerServiceStub(self._channel)
        try:
            await_server(self._channel, address, tokenizers, timeout_s)
        except MaskdError:
            self._channel.close()
            raise
        self._methods = {
            "Compile": (compiles.Compile, compile_service_pb2.CompileRequest),
            "Check": (compiles.Check, compile_service_pb2.CheckRequest),
            "Explain": (compiles.Explain, compile_service_pb2.ExplainRequest),
            "GetTokenizer": (tokenizers.GetTokenizer, tokenizer_service_pb2.GetTokenizerRequest),
            "ListTokenizers": (tokenizers.ListTokenizers,
                               tokenizer_service_pb2.ListTokenizersRequest),
        }

    def call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call of protos/maskd/v1 with JSON both ways; `method` is an rpc's name."""
        if method not in self._methods:
            raise MaskdError("INVALID_ARGUMENT",
                             f'method: "{method}" is not one of {", ".join(self._methods)}')
        self._check_open()
        function, kind = self._methods[method]
        try:
            return _to_dict(function(_read("request_json", request, kind()), timeout=_CALL_S))
        except grpc.RpcError as error:
            raise _error(error, self._address) from None

    def open_stream(self, logits_width: int, tokenizer: str = "", timeout_s: float = 10.0,
                    **options: Any) -> Stream:
        """A stream for the rows of one engine. `logits_width`: at least the tokenizer's size.

        `options`: tokenizer_hash (that it must have), dictionary_size (masks kept for short forms),
        dense_only, want_temperature and want_bias (whether positions may carry them), read_ahead
        (as grpcio does anyway), shared_memory (which this client goes without), submit_timeout_ms
        (submit() never waits here).
        """
        reject_unknown(options, _OPTIONS)
        self._check_open()
        given = {"dictionary_size": _DICTIONARY_SIZE, **options}
        given.pop("read_ahead", None)
        given.pop("shared_memory", None)
        given.pop("submit_timeout_ms", None)
        forms = [] if given.pop("dense_only", False) else _FORMS
        hello = mask_service_pb2.Hello(protocol_version=1, tokenizer=tokenizer, row_forms=forms,
                                       logits_width=logits_width, **given)
        return Stream(self._channel, self._address, hello, timeout_s)

    def _check_open(self) -> None:
        if self._closed:
            raise MaskdError("FAILED_PRECONDITION", "Client: is closed")

    def close(self) -> None:
        """Gives the connection back."""
        self._closed = True
        self._channel.close()


__all__ = ["Answer", "AnswerDelta", "Applier", "Client", "Compiled", "Dictionary", "Grammar",
           "MaskdError", "Position", "RefusedToken", "Row", "RowResult", "RowState", "Step",
           "StepResult", "Stream"]
