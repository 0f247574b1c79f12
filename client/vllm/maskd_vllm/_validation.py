"""Validation of requests by the server, in the process that takes them.

What the server refuses is an HTTP 400 with its words and its place (a JSON Pointer, line:column or
field); a server that is not there, or has no time, is a 503. What it has compiled is remembered,
and is in its cache when the engine asks for it. The calls are made off the event loop, on threads
of their own: those of asyncio are few, and a server that hangs would hold them all.
"""

import asyncio
import functools
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

from vllm.exceptions import GracefulHTTPError, VLLMValidationError
from vllm.sampling_params import SamplingParams, check_json_nesting
from vllm.v1.structured_output.request import get_structured_output_key

from maskd._endpoints import MOVABLE, Endpoints, Settings
from maskd._errors import MaskdError
from maskd._grammar import Grammar
from maskd_vllm._grammars import grammar_for

_REMEMBERED = 4096
_AT_ONCE = 64


class _Known:
    """The grammars that a server has compiled, the newest ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: OrderedDict[str, None] = OrderedDict()

    def has(self, key: str) -> bool:
        """Whether it was compiled lately; that makes it the one used last."""
        with self._lock:
            if key in self._keys:
                self._keys.move_to_end(key)
                return True
            return False

    def add(self, key: str) -> None:
        """Remembers it; the one used longest ago is forgotten."""
        with self._lock:
            self._keys[key] = None
            if len(self._keys) > _REMEMBERED:
                self._keys.popitem(last=False)


_known = _Known()


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="maskd-validate")


@functools.cache
def _endpoints() -> Endpoints:
    return Endpoints(Settings.from_environment())


def validate(self: SamplingParams, model_config: Any, structured_outputs_config: Any,
             tokenizer: Any) -> None:
    """In the place of SamplingParams._validate_structured_outputs."""
    params = self.structured_outputs
    if structured_outputs_config is None or params is None:
        return
    _refuse_diffusion(model_config)
    if tokenizer is None:
        raise VLLMValidationError("Structured outputs require a tokenizer: skip_tokenizer_init is set")
    compile_or_refuse(params, structured_outputs_config)
    backend = structured_outputs_config.backend
    params._backend = "xgrammar" if backend == "auto" else backend  # noqa: SLF001
    params._backend_was_auto = backend == "auto"  # noqa: SLF001


def _refuse_diffusion(model_config: Any) -> None:
    """Errors: VLLMValidationError. A grammar says what may follow a text; a diffusion model fills a whole
    canvas at once."""
    if model_config.is_diffusion:
        raise VLLMValidationError(
            "structured outputs are not supported for diffusion models, which do not write from left to "
            "right: leave out response_format, structured_outputs and a tool_choice that asks for a call",
            parameter="structured_outputs")


def compile_or_refuse(params: Any, config: Any) -> None:
    """Errors: VLLMValidationError (400), GracefulHTTPError (503)."""
    grammar = _grammar(params, config)
    key = repr((grammar.kind, grammar.source, sorted(grammar.options.items())))
    if _known.has(key):
        return
    try:
        _endpoints().compile(grammar)
    except MaskdError as error:
        if error.code in MOVABLE or error.retry_after_ms is not None:
            raise GracefulHTTPError(f"structured outputs are not available: {error.message}",
                                    HTTPStatus.SERVICE_UNAVAILABLE) from error
        where = error.place + ": " if error.place and not error.message.startswith(error.place) else ""
        raise VLLMValidationError(f"structured outputs: {where}{error.message}",
                                  parameter="structured_outputs") from error
    _known.add(key)


def _grammar(params: Any, config: Any) -> Grammar:
    if params.json_object is False:
        raise VLLMValidationError("structured_outputs.json_object must be true if it is set",
                                  parameter="structured_outputs")
    check_json_nesting(params.json)
    check_json_nesting(params.structural_tag, structural_tag=True)
    try:
        return grammar_for(get_structured_output_key(params), params, config,
                           _endpoints().settings)
    except (ValueError, TypeError, RecursionError) as error:
        raise VLLMValidationError(f"structured outputs: {error}",
                                  parameter="structured_outputs") from error


def ahead_of(add_request: Any) -> Any:
    """AsyncLLM.add_request(), before which the server is asked on a thread; validate() then knows."""

    @functools.wraps(add_request)
    async def add_request_after(self: Any, request_id: str, prompt: Any, params: Any,
                                *arguments: Any, **named: Any) -> Any:
        if isinstance(params, SamplingParams) and params.structured_outputs is not None:
            _refuse_diffusion(self.vllm_config.model_config)
            await asyncio.get_running_loop().run_in_executor(
                _threads(), compile_or_refuse, params.structured_outputs,
                self.vllm_config.structured_outputs_config)
        return await add_request(self, request_id, prompt, params, *arguments, **named)

    add_request_after._maskd = True  # type: ignore[attr-defined]  # noqa: SLF001
    return add_request_after
