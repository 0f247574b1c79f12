"""The verbs of a step, a stream and a client: the same of the client over the library and of the plain
one."""

import asyncio
import base64
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from maskd import _buffers
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar


class Opening(NamedTuple):
    """How a row begins: what Step.open() is given, but for the grammar."""

    tokens: np.ndarray
    stop_ids: np.ndarray
    reasoning: Mapping[str, Any] | None
    min_tokens: int
    remaining_tokens: int | None
    temperature: float | None
    biases: np.ndarray  # as _buffers.BIAS, ids ascending
    want_answer: bool = False
    observe: bool = False


class Ids(NamedTuple):
    """Row ids (uint64) or tokens (int32), side by side as the library reads them."""

    data: Any  # bytes, or an array of ctypes
    size: int  # how many


class StepBase(ABC):
    """One decode step: which rows open, what was sampled, which rows close. Kept and reused."""

    @abstractmethod
    def clear(self) -> Self:
        """Empties it for its next use."""

    def open(self, row: int, grammar: Grammar | Compiled | str, tokens: Iterable[int] = (),
             stop_ids: Iterable[int] = (), wait_s: float | None = None,
             reasoning: Mapping[str, Any] | None = None, min_tokens: int = 0,
             remaining_tokens: int | None = None, temperature: float | None = None,
             biases: Mapping[int, float] | None = None, want_answer: bool = False,
             observe: bool = False) -> Self:
        """Opens a row on a grammar: its text, or what compile() gave, or its id.

        `tokens`: taken already. `stop_ids`: that end its text; none: the tokenizer's own. `wait_s`:
        the reply of the whole step may wait so long for grammars that still compile. `reasoning`: free
        text before the grammar, a ReasoningGate of protos/maskd/v1 such as {"style": "think"}.
        `min_tokens`: of the text, before which it may not end. `remaining_tokens`: that the row may
        still produce, as set_remaining() says. `temperature`: of its text, in place of the
        grammar's own. `biases`: numbers to add to logits of its text, by token. The stream must
        have been opened with want_temperature and want_bias. `want_answer`: of a grammar of kind
        "chat", each RowResult.answer says what its text says. `observe`: the same of a row that is
        only read: nothing is masked and any token is taken. Errors: INVALID_ARGUMENT (a row below 0, as
        of every verb).
        """
        _reject_negative(row)
        opening = Opening(_tokens(tokens), _tokens(stop_ids), reasoning, min_tokens, remaining_tokens,
                          temperature, _buffers.bias_array(biases), want_answer, observe)
        self._open(row, grammar.id if isinstance(grammar, Compiled) else grammar, opening)
        return self._wait(wait_s)

    @classmethod
    def prepare(cls, grammar: Compiled, stop_ids: Iterable[int], remaining_tokens: int | None) -> Any:
        """What open_prepared() is given: the work of an open() outside of a step."""
        opening = Opening(_tokens(()), _tokens(stop_ids), None, 0, remaining_tokens, None,
                          _buffers.bias_array(None))
        return cls._prepared(grammar.id, opening)

    def open_prepared(self, row: int, prepared: Any) -> None:
        """open()."""
        self._open(row, *prepared)

    @classmethod
    def _prepared(cls, grammar: str, opening: Opening) -> Any:
        return grammar, opening

    def open_snapshot(self, snapshot: Mapping[str, Any], wait_s: float | None = None) -> Self:
        """Opens a row as one of StepResult.snapshots describes it, on any server that has its
        grammar."""
        self._open_snapshot(snapshot)
        return self._wait(wait_s)

    def _wait(self, wait_s: float | None) -> Self:
        if wait_s is not None:
            self._wait_for_compile(int(wait_s * 1000))
        return self

    def take(self, row: int, tokens: Iterable[int]) -> Self:
        """Gives a row the tokens sampled since the last step; none: only asks for its mask."""
        _reject_negative(row)
        self._take(row, _tokens(tokens))
        return self

    def take_each(self, rows: Any, tokens: Any) -> Self:
        """Gives each of the rows the one token that it sampled: a whole batch in one call."""
        self._take_each(*one_each(rows, tokens))
        return self

    def draft_each(self, rows: Sequence[int], tokens: Sequence[Sequence[int]],
                   drafts: Sequence[Sequence[int]]) -> Self:
        """take() and draft() of each of the rows, its drafts a chain: a whole batch in one call. Without
        drafts a row only takes its tokens."""
        check_chains(rows, tokens, drafts)
        for row, taken, drafted in zip(rows, tokens, drafts, strict=True):
            self.take(row, taken)
            if drafted:
                self.draft(row, drafted)
        return self

    def take_packed(self, rows: Ids, tokens: Ids) -> None:
        """take_each() of what an engine has packed."""
        self._take_each(np.frombuffer(rows.data, np.uint64), np.frombuffer(tokens.data, np.int32))

    def take_row_packed(self, row: int, tokens: Ids) -> None:
        """take() of the same."""
        self._take(row, np.frombuffer(tokens.data, np.int32))

    def rollback(self, row: int, token_count: int) -> Self:
        """Takes back a row's last tokens, before those that take() gives."""
        _reject_negative(row)
        self._rollback(row, token_count)
        return self

    def draft(self, row: int, drafts: Iterable[int], parents: Iterable[int] | None = None) -> Self:
        """Asks for the masks after these draft tokens, which the row does not take: position i + 1 of
        its answer is the one after drafts[i]. `parents` None: a chain; else parents[i] is the index
        of the draft that drafts[i] comes after, or -1."""
        _reject_negative(row)
        tokens = _tokens(drafts)
        tree = None if parents is None else _tokens(parents)
        if tree is not None and tree.size != tokens.size:
            raise MaskdError("INVALID_ARGUMENT",
                             f"parents: are {tree.size}, there are {tokens.size} drafts")
        self._draft(row, tokens, tree)
        return self

    def set_remaining(self, row: int, token_count: int) -> Self:
        """Says how many tokens the row may still produce, its end included: its masks lead to a
        complete text within them. The server counts on from here."""
        _reject_negative(row)
        self._set_remaining(row, token_count)
        return self

    def want_forced(self, row: int) -> Self:
        """Asks for what must come next: RowResult.forced_bytes and its tokens."""
        _reject_negative(row)
        self._want_forced(row)
        return self

    def snapshot(self, row: int) -> Self:
        """Asks for the row's description, by which it can be opened anew, on any server: StepResult.snapshots."""
        _reject_negative(row)
        self._snapshot(row)
        return self

    def fork(self, parent: int, child: int) -> Self:
        """Makes `child` an independent copy of `parent`."""
        _reject_negative(min(parent, child))
        self._fork(parent, child)
        return self

    def close(self, row: int) -> Self:
        """Closes the row; the server closes before it opens, so its number may be opened in this step."""
        _reject_negative(row)
        self._close(row)
        return self

    @abstractmethod
    def _open(self, row: int, grammar: Grammar | str, opening: Opening) -> None: ...

    @abstractmethod
    def _open_snapshot(self, snapshot: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def _wait_for_compile(self, milliseconds: int) -> None: ...

    @abstractmethod
    def _take(self, row: int, tokens: np.ndarray) -> None: ...

    @abstractmethod
    def _take_each(self, rows: np.ndarray, tokens: np.ndarray) -> None: ...

    @abstractmethod
    def _rollback(self, row: int, token_count: int) -> None: ...

    @abstractmethod
    def _draft(self, row: int, tokens: np.ndarray, parents: np.ndarray | None) -> None: ...

    @abstractmethod
    def _set_remaining(self, row: int, token_count: int) -> None: ...

    @abstractmethod
    def _want_forced(self, row: int) -> None: ...

    @abstractmethod
    def _snapshot(self, row: int) -> None: ...

    @abstractmethod
    def _fork(self, parent: int, child: int) -> None: ...

    @abstractmethod
    def _close(self, row: int) -> None: ...


class MaskTable:
    """Room for the masks of a batch. What numpy would be asked for in each step is asked once, and so
    is the memory, which for many rows is new pages each time."""

    __slots__ = ("_alone", "address", "bits", "room", "width", "words")

    def __init__(self, rows: int, words: int) -> None:
        self.words = np.empty((rows, words), np.int32)
        self.address = self.words.ctypes.data
        # Machines that maskd runs on have the lowest byte of a word first.
        self.bits: Any = self.words.data.cast("B") if self.words.size else b""
        self.width = words
        self.room = rows
        self._alone = sys.getrefcount(self.words)

    def lend(self, count: int) -> np.ndarray | None:
        """Its first rows; None: it has not so many, or a view of it is left, in the engine or here."""
        if count > self.room or sys.getrefcount(self.words) != self._alone:
            return None
        return self.words[:count]


# States of rows that have a mask: active and finished ones.
HAVE_MASKS = frozenset({3, 4})


def copy_chains(result: Any, rows: Sequence[int], known: Sequence[int], block: int,
                words: np.ndarray) -> None:
    """The masks of rows with drafts, known[i] of rows[i], as collect_chains() has them."""
    at = 0
    for row, count in zip(rows, known, strict=True):
        end = at + (block or count)
        words[at + count:end] = -1
        result.masks([row], words[at:at + count], count)
        at = end


def _reject_negative(row: int) -> None:
    """The library would take it for a number near 2^64."""
    if row < 0:
        raise MaskdError("INVALID_ARGUMENT", f"row: {row} is below 0")


def one_each(rows: Any, tokens: Any) -> tuple[np.ndarray, np.ndarray]:
    """As many tokens as rows, as the library reads them."""
    given = np.asarray(rows)
    if given.size and given.dtype.kind != "u":
        _reject_negative(given.min())
    named = np.ascontiguousarray(given, dtype=np.uint64)
    sampled = _buffers.int32_array(tokens)
    if named.size != sampled.size:
        raise MaskdError("INVALID_ARGUMENT",
                         f"tokens: are {sampled.size}, there are {named.size} rows")
    return named, sampled


_UINT64, _INT32 = np.dtype(np.uint64), np.dtype(np.int32)


def each_as_bytes(rows: Any, tokens: Any) -> tuple[bytes, bytes, int]:
    """one_each() as bytes, and how many. Nothing else is made of arrays of the library's types."""
    try:
        if rows.dtype is _UINT64 and tokens.dtype is _INT32:
            named, sampled = rows.tobytes(), tokens.tobytes()
            if len(named) == 2 * len(sampled):
                return named, sampled, len(sampled) >> 2
    except AttributeError:
        pass  # lists
    of_rows, of_tokens = one_each(rows, tokens)
    return of_rows.tobytes(), of_tokens.tobytes(), of_rows.size


def check_chains(rows: Sequence[int], tokens: Sequence[Any], drafts: Sequence[Any]) -> None:
    """Errors: INVALID_ARGUMENT, unless there are as many of each and no row is below 0."""
    if len(rows):
        _reject_negative(min(rows))
    if not len(rows) == len(tokens) == len(drafts):
        raise MaskdError("INVALID_ARGUMENT", f"tokens and drafts: are {len(tokens)} and {len(drafts)}, there "
                                             f"are {len(rows)} rows")


def _tokens(values: Iterable[int]) -> np.ndarray:
    return _buffers.int32_array(values if isinstance(values, np.ndarray) else list(values))


_Step = TypeVar("_Step")
_Result = TypeVar("_Result")


class StreamBase(ABC, Generic[_Step, _Result]):
    """A decode stream: submit() sends a step, collect() waits for its answer, in order."""

    welcome: dict[str, Any]  # what the server has said of itself: Welcome of protos/maskd/v1
    mask_words: int
    _executor: ThreadPoolExecutor | None = None

    @property
    @abstractmethod
    def transport(self) -> str:
        """How its steps travel: "grpc", "shared_memory" or "local"."""

    @property
    @abstractmethod
    def in_flight(self) -> int:
        """Steps submitted and not collected."""

    @property
    @abstractmethod
    def going_away(self) -> bool:
        """Whether the server has said that it will stop: move the rows to another one."""

    @property
    def stop_ids(self) -> list[int]:
        """Ids that end a text where a row names none of its own."""
        return list(self.welcome["tokenizer"]["stop_ids"])

    @property
    def vocab_size(self) -> int:
        """Tokens of the vocabulary; the logits may be wider."""
        return int(self.welcome["tokenizer"]["vocab_size"])

    @abstractmethod
    def submit(self, step: _Step) -> int:
        """Sends the step and gives its number; the step may be cleared and used again."""

    @abstractmethod
    def submit_each(self, rows: Any, tokens: Any) -> int:
        """Sends a step that is nothing but the one token that each of the rows sampled, as
        Step.take_each() gives them, and gives its number."""

    @abstractmethod
    def collect(self, timeout_s: float = 10.0) -> _Result:
        """Waits for the oldest step's answer. DEADLINE_EXCEEDED: it may still be collected."""

    def submit_packed(self, rows: Ids, tokens: Ids) -> None:
        """submit_each() of what an engine has packed."""
        self.submit_each(np.frombuffer(rows.data, np.uint64), np.frombuffer(tokens.data, np.int32))

    def collect_masks(self, timeout_s: float, rows: Ids, out: MaskTable) -> tuple[_Result, bool]:
        """collect(), and whether the answer is whole: each of `rows` is in it, and every row in it is ACTIVE
        or FINISHED without an error. A FREE row makes it not whole. The masks of a whole answer are in `out`."""
        result: Any = self.collect(timeout_s)
        numbers, states, _, errors = result.columns()
        order = np.frombuffer(rows.data, np.uint64).tolist()
        is_whole = (HAVE_MASKS.issuperset(states) and not any(errors)
                    and set(numbers).issuperset(order))
        if is_whole and order:
            result.masks(order, out.words[:len(order)])
        return result, is_whole

    def collect_chains(self, timeout_s: float, rows: Ids, block: int,
                       out: MaskTable) -> tuple[_Result, list[int] | None]:
        """The same of rows with drafts that are chains: of each of `rows` how many masks it has, or None
        where the answer is not whole. In `out` each row has `block` masks, all ones where it has none;
        with 0 as many as it has."""
        result: Any = self.collect(timeout_s)
        numbers, states, drafts, errors = result.columns()
        order = np.frombuffer(rows.data, np.uint64).tolist()
        accepted = dict(zip(numbers, drafts, strict=True))
        if not HAVE_MASKS.issuperset(states) or any(errors) or not accepted.keys() >= set(order):
            return result, None
        known = [1 + max(accepted[row], 0) for row in order]
        copy_chains(result, order, known, block, out.words)
        return result, known

    def run(self, step: _Step, timeout_s: float = 10.0) -> _Result:
        """Submits and collects."""
        self.submit(step)
        return self.collect(timeout_s)

    async def collect_async(self, timeout_s: float = 10.0) -> _Result:
        """collect() on a thread of the stream's own, so that the event loop goes on."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="maskd-stream")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.collect, timeout_s)

    async def run_async(self, step: _Step, timeout_s: float = 10.0) -> _Result:
        """submit() and collect_async(): the event loop goes on while the server answers."""
        self.submit(step)
        return await self.collect_async(timeout_s)

    @abstractmethod
    def close(self, timeout_s: float = 5.0) -> None:
        """Says goodbye, waits for the stream's end and frees it."""

    def _stop_thread(self) -> None:
        if self._executor is not None:
            self._executor.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ClientBase(ABC):
    """A client of one server. Any number of threads; streams live on their own."""

    @abstractmethod
    def call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call of protos/maskd/v1, its messages as protobuf's JSON: Compile, Check, Explain,
        GetTokenizer, ListTokenizers."""

    async def call_async(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """call() on a thread, so that the event loop goes on."""
        return await asyncio.to_thread(self.call, method, request)

    def compile(self, grammar: Grammar, tokenizer: str = "") -> Compiled:
        """Compiles a grammar, or finds it in the server's cache."""
        return _compiled(self.call("Compile", _compile_request(grammar, tokenizer)))

    async def compile_async(self, grammar: Grammar, tokenizer: str = "") -> Compiled:
        """compile() on a thread, so that the event loop goes on."""
        return _compiled(await self.call_async("Compile", _compile_request(grammar, tokenizer)))

    def check(self, grammar: Grammar, text: str | bytes, tokenizer: str = "") -> dict[str, Any]:
        """Whether a grammar accepts a text: CheckResponse of protos/maskd/v1. Of a grammar of kind
        "chat" its "message" is what the text says, in OpenAI's shape."""
        request: dict[str, Any] = {"tokenizer": tokenizer, "grammar": grammar.to_json()}
        if isinstance(text, str):
            request["text"] = text
        else:
            request["raw_text"] = base64.b64encode(text).decode()
        return self.call("Check", request)

    def tokenizers(self) -> list[dict[str, Any]]:
        """The server's, the default first."""
        return list(self.call("ListTokenizers", {})["tokenizers"])

    @abstractmethod
    def close(self) -> None:
        """Lets go of the connection; its streams live on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def reject_unknown(options: Mapping[str, Any], known: AbstractSet[str]) -> None:
    """Errors: INVALID_ARGUMENT, with the options there are."""
    unknown = options.keys() - known
    if unknown:
        raise MaskdError("INVALID_ARGUMENT",
                         f"{min(unknown)}: is not one of {', '.join(sorted(known))}")


def reject_misspelt(address: str) -> None:
    """Errors: INVALID_ARGUMENT, at once, for what gRPC would look up as a name until the time is over."""
    if address.startswith("/"):
        raise MaskdError("INVALID_ARGUMENT", f'address: a Unix socket is "unix:{address}"')
    if address.startswith(("http://", "https://")):
        server = address.split("://", 1)[1].rstrip("/")
        raise MaskdError("INVALID_ARGUMENT", f'address: without "http", as "{server}"')


def _compile_request(grammar: Grammar, tokenizer: str) -> dict[str, Any]:
    return {"tokenizer": tokenizer, "grammar": grammar.to_json()}


def _compiled(reply: Mapping[str, Any]) -> Compiled:
    warnings = [(each["place"], each["message"]) for each in reply["warnings"]]
    return Compiled(reply["grammar_id"], reply["from_cache"], warnings)
