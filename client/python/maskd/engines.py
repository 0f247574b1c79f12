"""maskd behind the interfaces that vLLM and SGLang have for grammar libraries.

vLLM    vllm.v1.structured_output.XgrammarBackend = maskd.engines.VllmBackend
SGLang  sglang.srt.constrained.xgrammar_backend.XGrammarGrammarBackend = maskd.engines.SglangBackend

before the engine starts. The server is MASKD_ADDRESS (unix:/tmp/maskd.sock when it is not set), its
vocabulary of the model MASKD_TOKENIZER (its default). Every move of a sequence is a round trip of its own
here; an engine's own integration hands over the whole batch at once (maskd.Stream).
"""

import ctypes
import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from maskd import _buffers
from maskd._api import Applier, Client
from maskd._dialects import KINDS, dialect_of, grammar_of
from maskd._errors import MaskdError
from maskd._matcher import Matcher, MatcherStream

_ALL_ALLOWED = -1


class _Engine:
    """A server, a vocabulary and one stream for all sequences of an engine."""

    def __init__(self, vocab_size: int) -> None:
        self.client = Client(os.environ.get("MASKD_ADDRESS", "unix:/tmp/maskd.sock"))
        self.tokenizer = os.environ.get("MASKD_TOKENIZER", "")
        self.vocab_size = vocab_size
        self.stream = MatcherStream(self.client, vocab_size, self.tokenizer)

    def matcher(self, kind: str, spec: str, backend: str) -> Matcher:
        grammar = self.client.compile(grammar_of(kind, spec, backend), self.tokenizer)
        return Matcher.open(self.stream, grammar)

    def close(self) -> None:
        self.stream.close()
        self.client.close()


def _new_bitmask(rows: int, vocab_size: int) -> Any:
    """All ones: a tensor where torch is, else an array."""
    words = np.full((rows, (vocab_size + 31) // 32), _ALL_ALLOWED, dtype=np.int32)
    try:
        import torch
    except ImportError:
        return words
    return torch.from_numpy(words)


def _fill(bitmask: Any, index: int, mask: np.ndarray | None) -> None:
    """Row `index` becomes the mask, or all ones."""
    plane, keep = _buffers.words_view(bitmask)
    if not 0 <= index < plane.row_count:
        raise MaskdError("OUT_OF_RANGE",
                         f"index: {index} is not one of the {plane.row_count} rows of the bitmask")
    address = plane.data + 4 * index * plane.row_stride
    if mask is None:
        ctypes.memset(address, 0xFF, 4 * plane.width)
    elif mask.size != plane.width:
        raise MaskdError("INVALID_ARGUMENT",
                         f"bitmask: has rows of {plane.width} words, the mask has {mask.size}")
    else:
        ctypes.memmove(address, mask.ctypes.data, mask.nbytes)
    del keep


class VllmGrammar:
    """One request: vLLM's StructuredOutputGrammar."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def find_jump_string(self) -> str | None:
        return None

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        return self._matcher.accept(tokens)

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        return tokens[:self._matcher.accepted_prefix(tokens)]

    def rollback(self, num_tokens: int) -> None:
        self._matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        _fill(bitmask, batch_index, self._matcher.mask)

    def is_terminated(self) -> bool:
        return self._matcher.finished

    def reset(self) -> None:
        self._matcher.reset()


class VllmBackend:
    """vLLM's StructuredOutputBackend. `backend`: the library whose dialect and defaults a request has,
    here for all of them; compile_grammar() takes another one for a single request."""

    def __init__(self, vllm_config: Any = None, tokenizer: Any = None, vocab_size: int = 0,
                 backend: str = "xgrammar") -> None:
        dialect_of(backend)
        self.vllm_config = vllm_config
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._backend = backend
        self._engine = _Engine(vocab_size)

    def compile_grammar(self, request_type: Any, grammar_spec: str,
                        backend: str | None = None) -> VllmGrammar:
        """`request_type`: a member of vLLM's StructuredOutputOptions, known by its name."""
        kind = request_type.name.lower()
        return VllmGrammar(self._engine.matcher(kind, grammar_spec, backend or self._backend))

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        return _new_bitmask(max_num_seqs, self.vocab_size)

    def destroy(self) -> None:
        self._engine.close()


class SglangGrammar:
    """One request: SGLang's BaseGrammarObject. Logits are masked in host memory."""

    _applier: Applier | None = None

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.finished = False

    def accept_token(self, token: int) -> None:
        if not self._matcher.accept([token]):
            raise ValueError(f"token {token} is refused by its grammar")

    def rollback(self, k: int) -> None:
        self._matcher.rollback(k)

    def is_terminated(self) -> bool:
        return self._matcher.finished

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        return _new_bitmask(batch_size, vocab_size)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        _fill(vocab_mask, idx, self._matcher.mask)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        return vocab_mask if isinstance(vocab_mask, np.ndarray) else vocab_mask.to(device)

    @classmethod
    def apply_vocab_mask(cls, logits: Any, vocab_mask: Any) -> None:
        if cls._applier is None:
            cls._applier = Applier()
        words, keep = _buffers.words_view(vocab_mask)
        rows = (ctypes.c_int32 * (words.row_count * words.row_stride)).from_address(words.data)
        table = np.frombuffer(rows, dtype=np.int32).reshape(words.row_count, words.row_stride)
        vocab = min(words.width * 32, int(logits.shape[-1]))
        table = table[:, :(vocab + 31) // 32]
        constrained = np.flatnonzero((table != _ALL_ALLOWED).any(axis=1))
        cls._applier.apply_bitmask(logits, table[constrained], constrained, vocab)
        del keep

    def copy(self) -> "SglangGrammar":
        return SglangGrammar(self._matcher.fork())

    def try_jump_forward(self, tokenizer: Any) -> None:
        return None


_SGLANG_KINDS = {"json": "json", "regex": "regex", "ebnf": "grammar",
                 "structural_tag": "structural_tag"}


class SglangBackend:
    """SGLang's BaseGrammarBackend: grammars by (kind, text), compiled off the scheduler's thread."""

    def __init__(self, tokenizer: Any = None, vocab_size: int = 0,
                 backend: str = "xgrammar", **_: Any) -> None:
        dialect_of(backend)
        self._backend = backend
        self._engine = _Engine(vocab_size)
        self._cache: dict[tuple[str, str], SglangGrammar] = {}
        self._executor = ThreadPoolExecutor(thread_name_prefix="maskd-compile")

    def _make(self, key: tuple[str, str], backend: str) -> SglangGrammar:
        kind, text = key
        if kind not in _SGLANG_KINDS:
            raise MaskdError("INVALID_ARGUMENT",
                             f'kind: "{kind}" is not one of {", ".join(_SGLANG_KINDS)}')
        if kind == "json" and text == "$$ANY$$":
            return SglangGrammar(self._engine.matcher("json_object", "", backend))
        return SglangGrammar(self._engine.matcher(_SGLANG_KINDS[kind], text, backend))

    def get_cached_or_future_value(
            self, key: tuple[str, str], *_: Any,
            backend: str | None = None) -> tuple["SglangGrammar | Future[SglangGrammar]", bool]:
        """A copy and True, or what will be one and False. With a library of its own the request is not
        answered from the cache, whose keys do not tell."""
        dialect_of(backend or self._backend)
        made = self._cache.get(key) if backend is None else None
        if made is not None:
            return made.copy(), True
        return self._executor.submit(self._make, key, backend or self._backend), False

    def set_cache(self, key: tuple[str, str], value: SglangGrammar) -> None:
        self._cache[key] = value

    def reset(self) -> None:
        self._cache.clear()

    def destroy(self) -> None:
        self._cache.clear()
        self._executor.shutdown()
        self._engine.close()


__all__ = ["KINDS", "SglangBackend", "SglangGrammar", "VllmBackend", "VllmGrammar"]
