"""SGLang's grammar backend: grammars compiled by the server, and the gate of reasoning, which
SGLang puts around its own backends
alone."""

import functools
import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
)
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.runtime_context import get_parallel, get_serving

from maskd._dialects import grammar_of
from maskd._endpoints import MOVABLE, Settings
from maskd._errors import MaskdError
from maskd._grammar import Grammar
from maskd._vocabulary import check_vocabulary
from maskd.batch import BatchRows
from maskd_sglang._grammar import (
    DEVICES,
    MaskdGrammar,
    MaskdReasonerGrammar,
    allocate,
    apply,
    move,
    stats_of,
)

_log = logging.getLogger("maskd.sglang")
_ANY_JSON = "$$ANY$$"


class UnavailableGrammar(InvalidGrammarObject):  # type: ignore[misc]
    """A server that was not there: of this request alone, no cache keeps it."""


class MaskdBackend(BaseGrammarBackend):  # type: ignore[misc]
    """Grammars by (kind, text). Errors at start: RuntimeError, when there is no server or its
    vocabulary is another one."""

    def __init__(self, settings: Settings, tokenizer: Any, vocab_size: int,
                 eos_token_ids: Iterable[int] = (), white_space: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._settings = settings
        self._white_space = white_space or {}
        self._stop_ids = frozenset(eos_token_ids)
        check = None if settings.tokenizer_hash else functools.partial(check_vocabulary, tokenizer)
        self.rows = BatchRows(settings, vocab_size, check)
        try:
            transport = self.rows.connect(settings.start_s)
        except MaskdError as error:
            raise RuntimeError(f"maskd at {', '.join(settings.addresses)}: {error}") from error
        _log.info("maskd: %s by %s", ", ".join(settings.addresses), transport)

    @property
    def is_support_token_filter(self) -> bool:
        """SGLang may test tokens by the mask that they were sampled under."""
        return True

    def set_token_filter(self, vocab_mask: Any, token_ids: Sequence[int], batch_idx: int,
                         is_allowed: bool = True, reset_vocab_mask: bool = True) -> None:
        """Rows of masks are in host memory here."""
        from sglang.srt.constrained.torch_ops.token_filter_torch_ops import (  # noqa: PLC0415
            set_token_filter_torch,
        )

        set_token_filter_torch(vocab_mask, token_ids, batch_idx, is_allowed=is_allowed,
                               reset_vocab_mask=reset_vocab_mask)

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> Any:
        """On the host, a row of words a request; `device` is where it goes later."""
        return allocate(vocab_size, batch_size)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """One copy for the batch, which the engine does not wait for."""
        return move(vocab_mask, device)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Minus infinity for what the words do not allow, where the logits lie."""
        apply(logits, vocab_mask)

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Special tokens of the server's vocabulary match no text as it is."""

    def compile_framed_grammar(self, grammar: Any,
                               frame: Callable[[dict[str, Any]], dict[str, Any]]) -> BaseGrammarObject:
        """`grammar` within what `frame` puts around its format, as one structural tag."""
        return self._made("structural_tag", json.dumps(frame(_as_format(grammar.grammar))))

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """A JSON Schema, or SGLang's word for any JSON object."""
        if key_string == _ANY_JSON:
            return self._made("json_object", "")
        return self._made("json", key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """A regular expression for the whole text."""
        return self._made("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """A grammar in EBNF or Lark; the server tells which."""
        return self._made("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """A structural tag of either form."""
        return self._made("structural_tag", key_string)

    def _made(self, kind: str, spec: str) -> BaseGrammarObject:
        begun = time.perf_counter()
        try:
            grammar = self._settings.with_options(grammar_of(kind, spec), **self._white_space)
            compiled = self.rows.endpoints.compile(grammar)
        except MaskdError as error:
            if error.code in MOVABLE or error.retry_after_ms is not None:
                return UnavailableGrammar(f"structured outputs are not available: {error.message}")
            return InvalidGrammarObject(error.message)
        return MaskdGrammar(self.rows, grammar, compiled, self._stop_ids, stats_of(kind, begun))

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        """Keeps no failure of a server: the next request asks again."""
        if not isinstance(value, UnavailableGrammar):
            super().set_cache(key, value)


class MaskdReasonerBackend(ReasonerGrammarBackend):  # type: ignore[misc]
    """SGLang's gate, whose grammars are filled as a batch."""

    def _make_grammar_object(self, grammar: Any, reasoning: bool) -> Any:
        made = super()._make_grammar_object(grammar, reasoning)
        made.__class__ = MaskdReasonerGrammar
        return made

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        """Keeps no failure of a server: the next request asks again."""
        if not isinstance(value, UnavailableGrammar):
            super().set_cache(key, value)


def _as_format(grammar: Grammar) -> dict[str, Any]:
    """A grammar as the content of a structural tag."""
    if grammar.kind == "json_schema":
        return {"type": "json_schema", "json_schema": json.loads(grammar.source)}
    if grammar.kind == "json_object":
        return {"type": "json_schema", "json_schema": {"type": "object"}}
    if grammar.kind == "regex":
        return {"type": "regex", "pattern": grammar.source}
    if grammar.kind == "structural_tag":
        tag = json.loads(grammar.source)
        return tag["format"] if "format" in tag else tag  # type: ignore[no-any-return]
    return {"type": "grammar", "grammar": grammar.source}


def _white_space(serving: Any) -> dict[str, Any]:
    if serving.constrained_json_disable_any_whitespace:
        return {"white_space": "WHITE_SPACE_COMPACT"}
    most = serving.constrained_json_max_whitespace_cnt
    return {} if most is None else {"max_whitespace": most}


def create(server_args: Any, tokenizer: Any, vocab_size: int,
           eos_token_ids: Iterable[int] | None = None) -> BaseGrammarBackend:
    """What register_grammar_backend() is given. Errors: RuntimeError, which ends the engine at its
    start."""
    settings, serving = Settings.from_environment(), get_serving()
    if get_parallel().tp_size > 1:
        raise RuntimeError("maskd-sglang: tensor parallelism is not supported: each rank would ask the "
                           "server alone, and ranks that end a request at different steps wait for "
                           "each other for ever")
    device = str(getattr(server_args, "device", None) or "cpu").partition(":")[0]
    if device not in DEVICES:  # which sampling would notice in the first constrained step
        raise RuntimeError(f"maskd-sglang: no kernel masks logits on {device}; supported: {', '.join(DEVICES)}")
    backend = MaskdBackend(settings, tokenizer, vocab_size, eos_token_ids or (), _white_space(serving))
    if not serving.reasoning_parser:
        return backend
    from sglang.srt.parser.reasoning_parser import ReasoningParser  # noqa: PLC0415

    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False,
                             tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return MaskdReasonerBackend(backend, parser, tokenizer,
                                enable_strict_thinking=serving.enable_strict_thinking)


__all__ = ["MaskdBackend", "MaskdReasonerBackend", "UnavailableGrammar", "create"]
