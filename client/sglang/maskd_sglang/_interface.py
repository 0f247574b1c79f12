"""What this package relies on in SGLang: by name and parameter, and which versions were run. As
maskd_vllm/_interface.py."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

TESTED = ("0.5.23",)

_BASE = "sglang.srt.constrained.base_grammar_backend:"
_REASONER = "sglang.srt.constrained.reasoner_grammar_backend:"
_MANAGER = "sglang.srt.constrained.grammar_manager:GrammarManager"

CALLED: dict[str, list[str]] = {
    f"{_BASE}register_grammar_backend": ["name", "init_func"],
    f"{_BASE}BaseGrammarBackend.__init__": [],
    f"{_BASE}BaseGrammarBackend.dispatch_json": ["key_string"],
    f"{_BASE}BaseGrammarBackend.dispatch_regex": ["key_string"],
    f"{_BASE}BaseGrammarBackend.dispatch_ebnf": ["key_string"],
    f"{_BASE}BaseGrammarBackend.dispatch_structural_tag": ["key_string"],
    f"{_BASE}BaseGrammarBackend.set_cache": ["key", "value"],
    f"{_BASE}BaseGrammarBackend.compile_framed_grammar": ["grammar", "frame"],
    f"{_BASE}BaseGrammarBackend.reserve_framing_tokens": ["token_ids"],
    f"{_BASE}BaseGrammarBackend.set_token_filter":
        ["vocab_mask", "token_ids", "batch_idx", "is_allowed", "reset_vocab_mask"],
    f"{_BASE}BaseGrammarObject.__init__": [],
    f"{_BASE}BaseGrammarObject.accept_token": ["token"],
    f"{_BASE}BaseGrammarObject.rollback": ["k"],
    f"{_BASE}BaseGrammarObject.allocate_vocab_mask": ["vocab_size", "batch_size", "device"],
    f"{_BASE}BaseGrammarObject.fill_vocab_mask": ["vocab_mask", "idx"],
    f"{_BASE}BaseGrammarObject.fill_vocab_mask_batched": ["entries", "vocab_mask"],
    f"{_BASE}BaseGrammarObject.reset_vocab_mask": ["vocab_mask"],
    f"{_BASE}BaseGrammarObject.move_vocab_mask": ["vocab_mask", "device"],
    f"{_BASE}BaseGrammarObject.apply_vocab_mask": ["logits", "vocab_mask"],
    f"{_BASE}InvalidGrammarObject.__init__": ["error_message"],
    f"{_REASONER}ReasonerGrammarBackend.__init__":
        ["grammar_backend", "reasoning_parser", "tokenizer", "enable_strict_thinking"],
    f"{_REASONER}ReasonerGrammarBackend._make_grammar_object": ["grammar", "reasoning"],
    f"{_REASONER}ReasonerGrammarObject.accept_token": ["token"],
    f"{_REASONER}ReasonerGrammarObject._grammar_active": [],
    f"{_REASONER}ReasonerGrammarObject.copy": [],
    f"{_MANAGER}._apply_request_reasoning_config": ["req"],
    "sglang.srt.parser.reasoning_parser:ReasoningParser.__init__":
        ["model_type", "stream_reasoning", "tokenizer"],
}

_DETECTOR = "sglang.srt.function_call.base_format_detector:BaseFormatDetector"

# What is called or replaced where calls are read by maskd (_detector.py).
PARSING: dict[str, list[str]] = {
    f"{_DETECTOR}.__init__": [],
    f"{_DETECTOR}.has_tool_call": ["text"],
    f"{_DETECTOR}.detect_and_parse": ["text", "tools"],
    f"{_DETECTOR}.parse_streaming_increment": ["new_text", "tools"],
    f"{_DETECTOR}.finish": ["tools"],
    f"{_DETECTOR}.supports_structural_tag": [],
    f"{_DETECTOR}.parses_required_natively": [],
    f"{_DETECTOR}.structure_info": [],
}

MEMBERS: dict[str, set[str]] = {
    f"{_BASE}BaseGrammarObject": {
        "__init__", "maybe_init_reasoning", "accept_token", "rollback", "is_terminated",
        "allocate_vocab_mask", "fill_vocab_mask", "fill_vocab_mask_batched", "reset_vocab_mask",
        "move_vocab_mask", "apply_vocab_mask", "copy", "finished", "try_jump_forward",
        "jump_forward_str_state", "jump_and_retokenize"},
    f"{_BASE}BaseGrammarBackend": {
        "_enable_strict_thinking", "__init__", "initialize_vocab_mask_buffer", "_not_supported",
        "enable_strict_thinking", "get_request_grammar_key", "reserve_framing_tokens",
        "compile_framed_grammar", "is_support_token_filter", "set_token_filter",
        "init_strict_reasoning_grammar", "dispatch_fallback", "dispatch_json", "dispatch_regex",
        "dispatch_ebnf", "dispatch_structural_tag", "_init_value_dispatch",
        "get_cached_or_future_value", "set_cache", "reset"},
}


def check_version(version: str, any_version: bool) -> None:
    """Errors: RuntimeError, of an SGLang that this package was not tested with."""
    if not any_version and version not in TESTED:
        raise RuntimeError(f"maskd-sglang: SGLang {version} is not one of {', '.join(TESTED)}, which this "
                           "release was tested with; MASKD_SGLANG_ANY_VERSION=1 goes on all the same")


def differences(called: dict[str, list[str]] = CALLED) -> list[str]:
    """Where the SGLang of this process is not as `called` says."""
    return [each for path, wanted in called.items() for each in _differs(path, wanted)]


def _differs(path: str, wanted: list[str]) -> Iterator[str]:
    module, _, names = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        yield f"{path}: {error}"
        return
    has = [name for name in inspect.signature(found).parameters if name not in ("self", "args", "kwargs")]
    if [name for name in has if name in wanted] != wanted and not names.endswith("__init__"):
        yield f"{path}: has the parameters {', '.join(has) or 'none'}, not {', '.join(wanted) or 'none'}"
