"""The client without the library: the same classes over grpcio, protobuf's Python and numpy.

    import maskd.plain as maskd

`import maskd` itself takes it where MASKD_CLIENT=plain says so, or where there is no library. Needs
grpcio, protobuf, googleapis-common-protos, and the stubs of protos/maskd/v1 as maskd.v1, which wheels have
and scripts/python-stubs makes. Slower than the library: a step takes Python's time for each row.
"""

import queue
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import grpc
import numpy as np
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2

from maskd import _abi, _buffers, _client
from maskd._applier import Row
from maskd._client import Compiled, Grammar, Position, RefusedToken, RowResult, RowState
from maskd._errors import NAMES, MaskdError
from maskd._plain_applier import Applier, Dictionary
from maskd._plain_masks import FORM_INVALID, Mask, MaskReader
from maskd.v1 import compile_service_pb2, compile_service_pb2_grpc, grammar_pb2, mask_service_pb2
from maskd.v1 import mask_service_pb2_grpc, tokenizer_service_pb2, tokenizer_service_pb2_grpc

_DICTIONARY_SIZE = 256
_CALL_S = 120.0
_OPTIONS = {"dense_only", "dictionary_size", "read_ahead", "shared_memory", "tokenizer_hash",
            "want_bias", "want_temperature"}
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


def _error(error: grpc.RpcError) -> MaskdError:
    """The server's status, with its details."""
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
    return MaskdError(code.name, error.details() or "", place, info.reason if info else "",
                      retry.retry_delay.ToMilliseconds() if retry else None)


class Step:
    """One decode step: which rows open, what was sampled, which rows close. Kept and reused."""

    def __init__(self) -> None:
        self._message = mask_service_pb2.Step()
        self._updates: dict[int, Any] = {}

    def clear(self) -> Self:
        """Empties it for its next use."""
        self._message.Clear()
        self._updates.clear()
        return self

    def open(self, row: int, grammar: Grammar | Compiled | str, tokens: Iterable[int] = (),
             stop_ids: Iterable[int] = (), wait_s: float | None = None,
             reasoning: Mapping[str, Any] | None = None, min_tokens: int = 0,
             remaining_tokens: int | None = None, temperature: float | None = None,
             biases: Mapping[int, float] | None = None) -> Self:
        """As of maskd.Step."""
        opened = mask_service_pb2.OpenRow(row=row, tokens=tokens, stop_ids=stop_ids,
                                          min_tokens=min_tokens, remaining_tokens=remaining_tokens,
                                          temperature=temperature)
        for token, bias in sorted((biases or {}).items()):
            opened.biases.add(id=token, bias=bias)
        if isinstance(grammar, Grammar):
            opened.grammar.CopyFrom(_read("grammar_json", grammar.to_json(), grammar_pb2.Grammar()))
        else:
            opened.grammar_id = grammar.id if isinstance(grammar, Compiled) else grammar
        if reasoning is not None:
            _read("options.reasoning_json", dict(reasoning), opened.reasoning)
            opened.reasoning.SetInParent()
        return self._open(opened, wait_s)

    def _open(self, opened: Any, wait_s: float | None) -> Self:
        self._message.open.append(opened)
        if wait_s is not None:
            self._message.wait_for_compile_ms = int(wait_s * 1000)
        return self

    def open_snapshot(self, snapshot: Mapping[str, Any], wait_s: float | None = None) -> Self:
        """Opens a row as one of StepResult.snapshots describes it."""
        return self._open(_read("snapshot_json", snapshot, mask_service_pb2.OpenRow()), wait_s)

    def _update(self, row: int) -> Any:
        update = self._updates.get(row)
        if update is None:
            update = self._updates[row] = self._message.rows.add(row=row)
        return update

    def take(self, row: int, tokens: Iterable[int]) -> Self:
        """Gives a row the tokens sampled since the last step; none: only asks for its mask."""
        self._update(row).tokens.extend(tokens)
        return self

    def take_each(self, rows: Any, tokens: Any) -> Self:
        """Gives each of the rows the one token that it sampled."""
        named, sampled = np.asarray(rows).tolist(), np.asarray(tokens).tolist()
        if len(named) != len(sampled):
            raise MaskdError("INVALID_ARGUMENT",
                             f"tokens: are {len(sampled)}, there are {len(named)} rows")
        for row, token in zip(named, sampled, strict=True):
            self._update(row).tokens.append(token)
        return self

    def rollback(self, row: int, token_count: int) -> Self:
        """Takes back a row's last tokens, before those that take() gives."""
        self._update(row).rollback = token_count
        return self

    def set_remaining(self, row: int, token_count: int) -> Self:
        """Says how many tokens a row may still produce, as open() does; the server counts on."""
        self._update(row).remaining_tokens = token_count
        return self

    def draft(self, row: int, drafts: Iterable[int], parents: Iterable[int] | None = None) -> Self:
        """Asks for the masks after these draft tokens, which the row does not take."""
        tokens = list(drafts)
        tree = [] if parents is None else list(parents)
        if parents is not None and len(tree) != len(tokens):
            raise MaskdError("INVALID_ARGUMENT",
                             f"parents: are {len(tree)}, there are {len(tokens)} drafts")
        self._update(row).drafts.CopyFrom(mask_service_pb2.Drafts(tokens=tokens, parents=tree))
        return self

    def want_forced(self, row: int) -> Self:
        """Asks for what must come next: RowResult.forced_bytes and its tokens."""
        self._update(row).want_forced = True
        return self

    def snapshot(self, row: int) -> Self:
        """Asks for the row's description, by which it can be opened anew: StepResult.snapshots."""
        self._message.snapshot.append(row)
        return self

    def fork(self, parent: int, child: int) -> Self:
        """Makes `child` an independent copy of `parent`."""
        self._message.fork.add(parent=parent, child=child)
        return self

    def close(self, row: int) -> Self:
        self._message.close.append(row)
        return self

    def numbered(self, number: int) -> Any:
        """The message to send."""
        self._message.step = number
        return mask_service_pb2.DecodeRequest(step=self._message)


class StepResult:
    """The answer to one step. Valid until the next collect() of the stream that gave it."""

    def __init__(self, reply: Any, reader: MaskReader, welcome: Any) -> None:
        self.step: int = reply.step
        self._reply = reply
        self._word_count = welcome.mask_words
        self._vocab_size = welcome.tokenizer.vocab_size
        self._masks = [[reader.read(each) for each in row.positions] for row in reply.rows]
        self._by_row: dict[int, int] = {}
        for i, row in enumerate(reply.rows):
            if row.state != RowState.REFUSED:
                self._by_row.setdefault(row.row, i)

    @property
    def rows(self) -> list[RowResult]:
        """In the server's order: opened rows, named rows, rows that have compiled since."""
        return [_row_result(reply, masks)
                for reply, masks in zip(self._reply.rows, self._masks, strict=True)]

    @property
    def snapshots(self) -> list[dict[str, Any]]:
        """Descriptions of the rows that Step.snapshot() named, for Step.open_snapshot()."""
        return [_to_dict(each) for each in self._reply.snapshots]

    def position(self, row: int, position: int = 0) -> Position:
        """One of the row's positions, for engines that apply it themselves."""
        index, masks = self._find(row)
        if not 0 <= position < len(masks):
            raise MaskdError("OUT_OF_RANGE",
                             f"position: {position} is not one of the row's {len(masks)}")
        mask, wire = masks[position], self._reply.rows[index].positions[position]
        nothing = mask.form in (_abi.FORM_FULL, FORM_INVALID)
        words = mask.words if nothing else mask.dense(self._word_count, self._vocab_size)
        return Position(max(mask.form, _abi.FORM_FULL), mask.form == FORM_INVALID, mask.ids, words,
                        wire.temperature if wire.HasField("temperature") else None,
                        {each.id: each.bias for each in wire.biases})

    def masks(self, order: Sequence[int], out: np.ndarray | None = None,
              positions: int = 1) -> np.ndarray:
        """Row i is the mask of order[i], all ones where there is nothing to apply.

        `out`: int32, a row of at least the stream's mask_words for each; made, as zeros, when None.
        `positions`: so many rows for each of `order`; those that are invalid, or that a row does not
        have, are not written.
        """
        out = _buffers.mask_rows(out, len(order) * positions, self._word_count, self._word_count)
        for i, row in enumerate(order):
            self._copy(row, out[i * positions:(i + 1) * positions])
        return out

    def _copy(self, row: int, to: np.ndarray) -> None:
        index, masks = self._find(row)
        if not masks:
            state = mask_service_pb2.RowState.Name(self._reply.rows[index].state)
            raise MaskdError("FAILED_PRECONDITION", f"row {row}: no mask, it is {state}")
        for words, mask in zip(to, masks, strict=False):
            if mask.form != FORM_INVALID:
                words[self._word_count:] = 0
                words[:self._word_count] = mask.dense(self._word_count, self._vocab_size)

    def _find(self, row: int) -> tuple[int, list[Mask]]:
        index = self._by_row.get(row)
        if index is None:
            raise MaskdError("NOT_FOUND", f"row {row}: has no answer in this step")
        return index, self._masks[index]

    def apply(self, applier: Applier, logits: Any,
              rows: Mapping[int, int] | Iterable[tuple[int, int, int]], out: Any = None) -> None:
        """Masks logits with the result as it came, with its temperatures and biases.

        `rows`: {row: logits row}, or (row, position, logits row) for rows with several positions.
        `out`: where the masked rows go, as of Applier.apply().
        """
        triples = ([(row, 0, target) for row, target in rows.items()]
                   if isinstance(rows, Mapping) else list(rows))
        applier.apply(logits, [self._row(*each) for each in triples], self._vocab_size, out=out)

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
                     tuple(reply.forced_draft))


class Stream:
    """A decode stream: submit() sends a step, collect() waits for its answer, in order.

    One thread at a time; a second one, its own, reads what the server sends.
    """

    def __init__(self, channel: grpc.Channel, hello: Any, timeout_s: float) -> None:
        self._requests: queue.SimpleQueue = queue.SimpleQueue()
        self._replies: queue.SimpleQueue = queue.SimpleQueue()
        self._requests.put(mask_service_pb2.DecodeRequest(hello=hello))
        self._closed = False
        self._call = mask_service_pb2_grpc.MaskServiceStub(channel).Decode(
            iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._receive, name="maskd-plain", daemon=True)
        self._reader.start()
        self._executor: ThreadPoolExecutor | None = None
        self._number = 0
        self.transport = "grpc"  # how its steps travel
        self.in_flight = 0  # steps submitted and not collected
        self.going_away = False  # whether the server has said that it will stop
        welcome = self._next(timeout_s).welcome
        self._masks = MaskReader(welcome)
        self._welcome = welcome
        self.welcome: dict[str, Any] = _to_dict(welcome)
        self.mask_words: int = welcome.mask_words

    def _receive(self) -> None:
        try:
            for response in self._call:
                if response.WhichOneof("message") == "go_away":
                    self.going_away = True
                else:
                    self._replies.put(response)
            self._replies.put(MaskdError("UNAVAILABLE", "the server ended the stream"))
        except grpc.RpcError as error:
            self._replies.put(_error(error))

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
    def stop_ids(self) -> list[int]:
        return list(self._welcome.tokenizer.stop_ids)

    @property
    def vocab_size(self) -> int:
        return int(self._welcome.tokenizer.vocab_size)

    def submit(self, step: Step) -> int:
        """Sends the step and gives its number; the step may be cleared and used again."""
        if self._closed:
            raise MaskdError("FAILED_PRECONDITION", "Stream: is closed")
        self._number += 1
        self._requests.put(step.numbered(self._number))
        self.in_flight += 1
        return self._number

    def collect(self, timeout_s: float = 10.0) -> StepResult:
        """Waits for the oldest step's answer. DEADLINE_EXCEEDED: it may still be collected."""
        if self.in_flight == 0:
            raise MaskdError("FAILED_PRECONDITION", "no step is under way")
        reply = self._next(timeout_s)
        self.in_flight -= 1
        return StepResult(reply.step, self._masks, self._welcome)

    run = _client.Stream.run
    collect_async = _client.Stream.collect_async
    run_async = _client.Stream.run_async

    def close(self, timeout_s: float = 5.0) -> None:
        """Says goodbye and waits for the stream's end."""
        if self._closed:
            return
        self._closed = True
        if self._executor is not None:
            self._executor.shutdown()
        self._requests.put(None)
        self._reader.join(timeout_s)
        self._call.cancel()

    def __del__(self) -> None:
        if hasattr(self, "_call"):
            self._requests.put(None)
            self._call.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    """A client of one server. Any number of threads; streams live on their own.

    address  "unix:/run/maskd.sock", "127.0.0.1:7411", "dns:///maskd:7411"
    """

    def __init__(self, address: str, timeout_s: float = 5.0) -> None:
        # Compiled grammars and dense masks may be larger than gRPC's 4 MiB.
        self._closed = False
        self._channel = grpc.insecure_channel(
            address, options=[("grpc.max_receive_message_length", -1)])
        try:
            grpc.channel_ready_future(self._channel).result(timeout_s)
        except grpc.FutureTimeoutError:
            self._channel.close()
            raise MaskdError("UNAVAILABLE", f"{address}: nobody there within "
                             f"{int(timeout_s * 1000)} ms") from None
        compiles = compile_service_pb2_grpc.CompileServiceStub(self._channel)
        tokenizers = tokenizer_service_pb2_grpc.TokenizerServiceStub(self._channel)
        self._methods = {
            "Compile": (compiles.Compile, compile_service_pb2.CompileRequest),
            "Check": (compiles.Check, compile_service_pb2.CheckRequest),
            "Explain": (compiles.Explain, compile_service_pb2.ExplainRequest),
            "GetTokenizer": (tokenizers.GetTokenizer, tokenizer_service_pb2.GetTokenizerRequest),
            "ListTokenizers": (tokenizers.ListTokenizers,
                               tokenizer_service_pb2.ListTokenizersRequest),
        }

    def call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call of protos/maskd/v1, its messages as protobuf's JSON: Compile, Check, Explain,
        GetTokenizer, ListTokenizers."""
        if method not in self._methods:
            raise MaskdError("INVALID_ARGUMENT",
                             f'method: "{method}" is not one of {", ".join(self._methods)}')
        self._check_open()
        function, kind = self._methods[method]
        try:
            return _to_dict(function(_read("request_json", request, kind()), timeout=_CALL_S))
        except grpc.RpcError as error:
            raise _error(error) from None

    call_async = _client.Client.call_async
    compile = _client.Client.compile
    compile_async = _client.Client.compile_async
    check = _client.Client.check
    tokenizers = _client.Client.tokenizers

    def open_stream(self, logits_width: int, tokenizer: str = "", timeout_s: float = 10.0,
                    **options: Any) -> Stream:
        """A stream for the rows of one engine. `logits_width`: at least the tokenizer's size.

        `options`: tokenizer_hash (that it must have), dictionary_size (masks kept for short forms),
        dense_only, want_temperature and want_bias (whether positions may carry them), read_ahead
        (as grpcio does anyway), shared_memory (which this client goes without).
        """
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise MaskdError("INVALID_ARGUMENT", f"{min(unknown)}: is not one of "
                             f"{', '.join(sorted(_OPTIONS))}")
        self._check_open()
        given = {"dictionary_size": _DICTIONARY_SIZE, **options}
        given.pop("read_ahead", None)
        given.pop("shared_memory", None)
        forms = [] if given.pop("dense_only", False) else _FORMS
        hello = mask_service_pb2.Hello(protocol_version=1, tokenizer=tokenizer, row_forms=forms,
                                       logits_width=logits_width, **given)
        return Stream(self._channel, hello, timeout_s)

    def _check_open(self) -> None:
        if self._closed:
            raise MaskdError("FAILED_PRECONDITION", "Client: is closed")

    def close(self) -> None:
        self._closed = True
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Applier", "Client", "Compiled", "Dictionary", "Grammar", "MaskdError", "Position",
           "RefusedToken", "Row", "RowResult", "RowState", "Step", "StepResult", "Stream"]
