"""The servers of an engine: settings of its environment, compiles with a bound.

MASKD_ADDRESS          where the servers are, separated by commas; a later one takes over from an
                       earlier one
MASKD_TOKENIZER        the vocabulary's name on them; not set: their default
MASKD_TOKENIZER_HASH   that the vocabulary must have; not set: any, see maskd/_vocabulary.py
MASKD_STEP_MS          how long a step waits for its masks, then its constrained rows end [80]
MASKD_HANG_MS          the same of a step in which no other sequence waits, all being constrained
                       [2000]
MASKD_COMPILE_MS       how long a compile may take at one address [5000]
MASKD_START_MS         how long an engine that starts waits for a server [30000]
MASKD_SHARED_MEMORY    0: steps travel over gRPC, also on one machine [1]
MASKD_CLOSE_IN_TIME    0: texts may be cut by max_tokens; 1: they are complete within them [1]
MASKD_GRAMMAR_OPTIONS  GrammarOptions of protos/maskd/v1 in JSON, for all grammars of JSON
"""

import dataclasses
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from maskd._api import Client
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar

_T = TypeVar("_T")
# After so long without an answer the next address is asked too.
_PATIENCE_S = 0.5
# A server that was not there, or did not answer, is asked last for so long.
_AVOIDED_S = 10.0
# The server is not there, or does not answer: another one may.
MOVABLE = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL"})
_JSON_KINDS = frozenset({"json_schema", "json_object", "structural_tag", "chat"})


@dataclasses.dataclass(frozen=True)
class Settings:
    """What an engine was told about maskd."""

    addresses: tuple[str, ...]
    tokenizer: str = ""
    tokenizer_hash: str = ""
    step_s: float = 0.08
    hang_s: float = 2.0
    compile_s: float = 5.0
    start_s: float = 30.0
    shared_memory: bool = True
    close_in_time: bool = True
    grammar_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Errors: INVALID_ARGUMENT, with the variable's name."""
        given = os.environ if environment is None else environment
        addresses = tuple(each.strip() for each in given.get("MASKD_ADDRESS", "").split(",")
                          if each.strip())
        if not addresses:
            raise MaskdError("INVALID_ARGUMENT", "MASKD_ADDRESS: names no server")
        return cls(addresses, given.get("MASKD_TOKENIZER", ""),
                   given.get("MASKD_TOKENIZER_HASH", ""),
                   _milliseconds(given, "MASKD_STEP_MS", 80),
                   _milliseconds(given, "MASKD_HANG_MS", 2000),
                   _milliseconds(given, "MASKD_COMPILE_MS", 5000),
                   _milliseconds(given, "MASKD_START_MS", 30000),
                   _is_on(given, "MASKD_SHARED_MEMORY"), _is_on(given, "MASKD_CLOSE_IN_TIME"),
                   _options(given.get("MASKD_GRAMMAR_OPTIONS", "{}")))

    def with_options(self, grammar: Grammar, **engines: Any) -> Grammar:
        """The grammar as the engine's flags (`engines`) and then MASKD_GRAMMAR_OPTIONS have it."""
        if grammar.kind not in _JSON_KINDS:
            return grammar
        return Grammar(grammar.kind, grammar.source,
                       {**grammar.options, **engines, **self.grammar_options})


def _milliseconds(given: Mapping[str, str], name: str, default: int) -> float:
    text = given.get(name, str(default))
    if not text.isdecimal() or int(text) == 0:
        raise MaskdError("INVALID_ARGUMENT", f'{name}: "{text}" is not a number of milliseconds')
    return int(text) / 1000


def _is_on(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "1")
    if text not in ("0", "1"):
        raise MaskdError("INVALID_ARGUMENT", f'{name}: "{text}" is neither 0 nor 1')
    return text == "1"


def _options(text: str) -> Mapping[str, Any]:
    try:
        options = json.loads(text)
    except ValueError as error:
        raise MaskdError("INVALID_ARGUMENT", f"MASKD_GRAMMAR_OPTIONS: {error}") from None
    if not isinstance(options, dict):
        raise MaskdError("INVALID_ARGUMENT", "MASKD_GRAMMAR_OPTIONS: is not an object of JSON")
    return options


def bounded(function: Callable[[], _T], seconds: float, what: str) -> _T:
    """What the function gives. After `seconds` its thread is left behind: DEADLINE_EXCEEDED."""
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((True, function()))
        except BaseException as error:  # noqa: BLE001: it is raised again by the caller
            answers.put((False, error))

    threading.Thread(target=run, name="maskd-call", daemon=True).start()
    try:
        is_good, answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise MaskdError("DEADLINE_EXCEEDED", f"{what}: no answer in {seconds:g} s") from None
    if not is_good:
        raise answer
    return answer  # type: ignore[no-any-return]


class Endpoints:
    """Control calls to the first of an engine's servers that answers. Any number of threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._clients: dict[str, Client] = {}
        self._avoided: dict[str, float] = {}  # until when
        self._lock = threading.Lock()

    def client(self, address: str, timeout_s: float) -> Client:
        """The client of that server, made at the first call; raises where it is not there in time.
        """
        with self._lock:
            known = self._clients.get(address)
        if known is not None:
            return known
        made = bounded(lambda: Client(address, timeout_s=timeout_s), timeout_s + 1, address)
        with self._lock:
            return self._clients.setdefault(address, made)

    def call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call of protos/maskd/v1. No server is asked twice: the next one when one is not there,
        or has not answered for a while; the first answer counts. When there is none, the last one's
        error."""
        left = self._order()
        if len(left) == 1:
            return self._call(left[0], method, request)
        answers: queue.SimpleQueue[dict[str, Any] | MaskdError] = queue.SimpleQueue()
        last: MaskdError | None = None
        asked = 0
        while left or asked:
            if left:
                address = left.pop(0)
                threading.Thread(target=self._answer, args=(answers, address, method, request),
                                 daemon=True, name="maskd-call").start()
                asked += 1
            try:
                answer = answers.get(timeout=_PATIENCE_S if left else None)
            except queue.Empty:
                self._avoid(address)
                continue
            asked -= 1
            if not isinstance(answer, MaskdError):
                return answer
            if answer.code not in MOVABLE:
                raise answer
            last = answer
        assert last is not None, "settings have an address"
        raise last

    def _order(self) -> list[str]:
        """The addresses, those last that did not answer lately."""
        with self._lock:
            avoided = {address for address, until in self._avoided.items() if until > time.monotonic()}
        return sorted(self.settings.addresses, key=lambda each: each in avoided)

    def _avoid(self, address: str) -> None:
        with self._lock:
            self._avoided[address] = time.monotonic() + _AVOIDED_S

    def _answer(self, answers: "queue.SimpleQueue[dict[str, Any] | MaskdError]", address: str,
                method: str, request: Mapping[str, Any]) -> None:
        """The call's answer or error, always one."""
        try:
            answers.put(self._call(address, method, request))
        except MaskdError as error:
            answers.put(error)
        except Exception as error:  # noqa: BLE001: whoever waits is to be told
            answers.put(MaskdError("UNKNOWN", f"{address}: {error!r}"))

    def compile(self, grammar: Grammar) -> Compiled:
        """Compiles, or finds in the server's cache. The other servers compile too, unasked for: so
        a
        row that moves to one finds its grammar there."""
        request = {"tokenizer": self.settings.tokenizer, "grammar": grammar.to_json()}
        reply = self.call("Compile", request)
        for address in self._order()[1:]:
            threading.Thread(target=self._compile_quietly, args=(address, request), daemon=True,
                             name="maskd-compile").start()
        return Compiled(reply["grammar_id"], reply["from_cache"],
                        [(each["place"], each["message"]) for each in reply["warnings"]])

    def _compile_quietly(self, address: str, request: Mapping[str, Any]) -> None:
        try:
            self._call(address, "Compile", request)
        except MaskdError:
            pass  # the row that needs it there will say so

    def _call(self, address: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        seconds = self.settings.compile_s
        try:
            client = self.client(address, min(seconds, 1.0))
            reply = bounded(lambda: client.call(method, request), seconds, address)
        except MaskdError as error:
            if error.code in MOVABLE:
                self._avoid(address)
                with self._lock:
                    self._clients.pop(address, None)
            raise
        with self._lock:
            self._avoided.pop(address, None)
        return reply

    def close(self) -> None:
        """Lets go of all clients; calls that run go on."""
        with self._lock:
            self._clients.clear()
