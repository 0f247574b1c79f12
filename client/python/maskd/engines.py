"""maskd behind the interface that vLLM has for grammar libraries, one request at a time.

    vllm.v1.structured_output.XgrammarBackend = maskd.engines.VllmBackend

before the engine starts, and in the process that it runs in: for experiments with LLM(...) under
VLLM_ENABLE_V1_MULTIPROCESSING=0. Engines that serve have the packages maskd-vllm and maskd-sglang,
where a step is one message. The server is MASKD_ADDRESS (unix:/tmp/maskd.sock when it is not set),
its vocabulary of the model MASKD_TOKENIZER (its default). Every move of a sequence is a round trip
of its own here.
"""

import ctypes
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from maskd import _buffers
from maskd._api import Client
from maskd._dialects import KINDS, dialect_of, grammar_of
from maskd._errors import MaskdError
from maskd._grammar import Grammar
from maskd._matcher import Matcher, MatcherStream

_ALL_ALLOWED = -1


class _Engine:
    """A server, a vocabulary and one stream for all sequences of an engine."""

    def __init__(self, vocab_size: int) -> None:
        self.client = Client(os.environ.get("MASKD_ADDRESS", "unix:/tmp/maskd.sock"), timeout_s=10)
        self.tokenizer = os.environ.get("MASKD_TOKENIZER", "")
        self.vocab_size = vocab_size
        self.stream = MatcherStream(self.client, vocab_size, self.tokenizer)

    def matcher(self, grammar: Grammar, stop_ids: Iterable[int] = ()) -> Matcher:
        """A row on that grammar, compiled now: two round trips."""
        compiled = self.client.compile(grammar, self.tokenizer)
        return Matcher.open(self.stream, compiled, stop_ids)

    def close(self) -> None:
        """Ends all rows and the connection."""
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
        """None: forced text is not asked for one request at a time."""
        return None

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """One round trip; False leaves the row as it was."""
        return self._matcher.accept(tokens)

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The first of `tokens` that the grammar takes, by masks: the row stays where it is."""
        return tokens[:self._matcher.accepted_prefix(tokens)]

    def rollback(self, num_tokens: int) -> None:
        """Takes the last tokens back."""
        self._matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Writes the mask into row `batch_index` of the engine's bitmask."""
        _fill(bitmask, batch_index, self._matcher.mask)

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self._matcher.finished

    def reset(self) -> None:
        """Takes all tokens back."""
        self._matcher.reset()


class VllmBackend:
    """vLLM's StructuredOutputBackend. `backend`: the library whose dialect and defaults a request
    has,
    here for all of them; compile_grammar() takes another one for a single request."""

    def __init__(self, vllm_config: Any = None, tokenizer: Any = None, vocab_size: int = 0,
                 backend: str = "xgrammar") -> None:
        dialect_of(backend)
        self.vllm_config = vllm_config
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._backend = backend
        self._engine = _Engine(vocab_size)
        config = getattr(vllm_config, "structured_outputs_config", None)
        self._is_compact = bool(getattr(config, "disable_any_whitespace", False))

    def compile_grammar(self, request_type: Any, grammar_spec: str,
                        stop_token_ids: Iterable[int] | None = None,
                        backend: str | None = None) -> VllmGrammar:
        """`request_type`: a member of vLLM's StructuredOutputOptions, known by its name.
        `stop_token_ids`: that end
        this request's text; None: the vocabulary's."""
        grammar = grammar_of(request_type.name.lower(), grammar_spec, backend or self._backend)
        if self._is_compact and grammar.options:
            grammar = Grammar(grammar.kind, grammar.source,
                              {**grammar.options, "white_space": "WHITE_SPACE_COMPACT"})
        return VllmGrammar(self._engine.matcher(grammar, sorted(stop_token_ids or ())))

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """A bitmask of the engine's own, a row a request, all ones."""
        return _new_bitmask(max_num_seqs, self.vocab_size)

    def destroy(self) -> None:
        """Ends all rows and the connection."""
        self._engine.close()


__all__ = ["KINDS", "VllmBackend", "VllmGrammar"]
