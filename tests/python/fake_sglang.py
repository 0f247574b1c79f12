"""As much of SGLang's package as maskd-sglang imports, by the interface that
maskd_sglang/_interface.py states: for
tests where SGLang is not. What it does not state is left out; SGLang itself is driven where it can be had."""

import dataclasses
import sys
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

REGISTRY: dict[str, Callable[..., Any]] = {}
CHOICES = ["xgrammar"]


def register_grammar_backend(name, init_func):
    REGISTRY[name] = init_func


@dataclasses.dataclass
class GrammarStats:
    compilation_time: float | None = None
    is_cache_hit: bool = False
    tree_traversal_time: list = dataclasses.field(default_factory=list)
    dispatch_type: str | None = None


class GrammarRow(NamedTuple):
    row: int
    grammar: Any


class BaseGrammarObject:
    def __init__(self):
        self.finished = False
        self.grammar_stats = None
        self.current_token = None

    def maybe_init_reasoning(self, reasoning):
        pass

    def accept_token(self, token): raise NotImplementedError
    def rollback(self, k): raise NotImplementedError
    def allocate_vocab_mask(self, vocab_size, batch_size, device): raise NotImplementedError
    def fill_vocab_mask(self, vocab_mask, idx): raise NotImplementedError

    @staticmethod
    def fill_vocab_mask_batched(entries, vocab_mask): raise NotImplementedError

    @staticmethod
    def reset_vocab_mask(vocab_mask): raise NotImplementedError

    @staticmethod
    def move_vocab_mask(vocab_mask, device): raise NotImplementedError

    @staticmethod
    def apply_vocab_mask(logits, vocab_mask): raise NotImplementedError

    def copy(self):
        return self


class InvalidGrammarObject(BaseGrammarObject):
    def __init__(self, error_message="unknown"):
        super().__init__()
        self.error_message = error_message


class BaseGrammarBackend:
    def __init__(self):
        self.executor = ThreadPoolExecutor(1)
        self.cache = {}

    def dispatch_json(self, key_string): raise NotImplementedError
    def dispatch_regex(self, key_string): raise NotImplementedError
    def dispatch_ebnf(self, key_string): raise NotImplementedError
    def dispatch_structural_tag(self, key_string): raise NotImplementedError
    def compile_framed_grammar(self, grammar, frame): raise NotImplementedError
    def reserve_framing_tokens(self, token_ids): raise NotImplementedError

    def set_token_filter(self, vocab_mask, token_ids, batch_idx, is_allowed=True,
                         reset_vocab_mask=True): raise NotImplementedError

    def _init_value_dispatch(self, key, require_reasoning):
        kind = "ebnf" if key[0] == "full_assistant_ebnf" else key[0]
        return getattr(self, f"dispatch_{kind}")(key[1])

    def get_cached_or_future_value(self, key, require_reasoning):
        if key in self.cache:
            copied = self.cache[key].copy()
            copied.maybe_init_reasoning(require_reasoning)
            return copied, True
        return self.executor.submit(self._init_value_dispatch, key, require_reasoning), False

    def set_cache(self, key, value):
        self.cache[key] = value

    def reset(self):
        self.cache.clear()


class ReasonerGrammarObject(BaseGrammarObject):
    """A gate that one token opens."""

    def __init__(self, grammar, think_end_ids):
        super().__init__()
        self.grammar = grammar
        self.think_end_ids = tuple(think_end_ids)
        self.tokens_in_think = -1

    def maybe_init_reasoning(self, reasoning):
        self.tokens_in_think = 0
        self._is_open = not reasoning

    def _grammar_active(self):
        return self._is_open

    def accept_token(self, token):
        self.current_token = token
        if self._is_open:
            self.grammar.accept_token(token)
        elif token == self.think_end_ids[0]:
            self._is_open = True
        else:
            self.tokens_in_think += 1

    def allocate_vocab_mask(self, vocab_size, batch_size, device):
        return self.grammar.allocate_vocab_mask(vocab_size, batch_size, device)

    def is_terminated(self):
        return self._is_open and self.grammar.is_terminated()

    def fill_vocab_mask(self, vocab_mask, idx):
        if self._is_open:
            self.grammar.fill_vocab_mask(vocab_mask, idx)

    def copy(self):
        return ReasonerGrammarObject(self.grammar.copy(), self.think_end_ids)


class ReasonerGrammarBackend(BaseGrammarBackend):
    def __init__(self, grammar_backend, reasoning_parser, tokenizer, enable_strict_thinking=False):
        super().__init__()
        self.grammar_backend = grammar_backend
        self.think_end_ids = reasoning_parser.detector.get_think_end_token_ids(tokenizer)

    def _make_grammar_object(self, grammar, reasoning):
        made = ReasonerGrammarObject(grammar, self.think_end_ids)
        made.maybe_init_reasoning(reasoning)
        return made

    def _init_value_dispatch(self, key, require_reasoning):
        made = self.grammar_backend._init_value_dispatch(key, require_reasoning)
        return made if isinstance(made, InvalidGrammarObject) else self._make_grammar_object(
            made, require_reasoning)


class GrammarManager:
    def _apply_request_reasoning_config(self, req):
        pass


class ReasoningParser:
    def __init__(self, model_type, stream_reasoning, tokenizer):
        self.detector = types.SimpleNamespace(get_think_end_token_ids=lambda of: [ord("|")])


SERVING = types.SimpleNamespace(
    constrained_json_disable_any_whitespace=False, constrained_json_max_whitespace_cnt=None,
    reasoning_parser=None, enable_strict_thinking=False)
PARALLEL = types.SimpleNamespace(tp_size=1)


def install(monkeypatch):
    here = sys.modules[__name__]
    base = {name: getattr(here, name) for name in (
        "register_grammar_backend", "GrammarStats", "GrammarRow", "BaseGrammarObject",
        "InvalidGrammarObject", "BaseGrammarBackend")}
    modules = {
        "sglang": {"__version__": "0.5.23"}, "sglang.srt": {}, "sglang.srt.constrained": {},
        "sglang.srt.parser": {}, "sglang.srt.constrained.base_grammar_backend": base,
        "sglang.srt.constrained.reasoner_grammar_backend": {
            "ReasonerGrammarObject": ReasonerGrammarObject,
            "ReasonerGrammarBackend": ReasonerGrammarBackend},
        "sglang.srt.constrained.grammar_manager": {"GrammarManager": GrammarManager},
        "sglang.srt.parser.reasoning_parser": {"ReasoningParser": ReasoningParser},
        "sglang.srt.runtime_context": {"get_serving": lambda: SERVING,
                                       "get_parallel": lambda: PARALLEL},
        "sglang.srt.arg_groups": {}, "sglang.srt.arg_groups.choices": {
            "GRAMMAR_BACKEND_CHOICES": CHOICES, "add_grammar_backend_choices": CHOICES.extend},
    }
    for name, members in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
    for name in modules:
        parent, _, child = name.rpartition(".")
        if parent:
            monkeypatch.setattr(sys.modules[parent], child, sys.modules[name], raising=False)
