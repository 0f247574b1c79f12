"""What this package relies on in vLLM: by name and parameter, and which versions were run.

CALLED     what is called or replaced: its parameters, in order, `self` left out; more may follow,
           with defaults
MEMBERS    what a class or a message has
CALLS      what vLLM calls on the manager, and where
checked when the plugin is loaded (differences()), and in CI against the sources of the newest
release (tests/python/wheel_interface_test.py), which also looks at the calls.
"""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

TESTED = ("0.32", "0.33")

_MANAGER = "vllm.v1.structured_output:StructuredOutputManager"
_SCHEDULER = "vllm.v1.core.sched.scheduler:Scheduler"
_GRAMMAR = "vllm.v1.structured_output.backend_types:StructuredOutputGrammar"

CALLED: dict[str, list[str]] = {
    f"{_MANAGER}.__init__": ["vllm_config"],
    f"{_MANAGER}.grammar_init": ["request"],
    f"{_MANAGER}.grammar_bitmask": ["requests", "structured_output_request_ids",
                                    "scheduled_spec_decode_tokens"],
    f"{_MANAGER}.accept_tokens": ["request", "new_token_ids"],
    f"{_MANAGER}.validate_tokens": ["request", "spec_tokens"],
    f"{_MANAGER}.clear_backend": [],
    f"{_MANAGER}._get_constraint_bounds": ["request", "spec_tokens", "spec_tokens_committed"],
    f"{_SCHEDULER}.schedule": [],
    "vllm.v1.core.sched.interface:SchedulerInterface.has_unfinished_requests": [],
    "vllm.v1.engine.core:EngineCoreProc._process_input_queue": [],
    f"{_SCHEDULER}.update_from_output": ["scheduler_output", "model_runner_output"],
    f"{_SCHEDULER}.update_draft_token_ids": ["draft_token_ids"],
    f"{_SCHEDULER}.update_draft_token_ids_in_output": ["draft_token_ids", "scheduler_output"],
    f"{_GRAMMAR}.accept_tokens": ["request_id", "tokens"],
    f"{_GRAMMAR}.validate_tokens": ["tokens"],
    f"{_GRAMMAR}.rollback": ["num_tokens"],
    f"{_GRAMMAR}.fill_bitmask": ["bitmask", "batch_index"],
    f"{_GRAMMAR}.is_terminated": [],
    f"{_GRAMMAR}.reset": [],
    "vllm.v1.structured_output.request:get_structured_output_key": ["params"],
    "vllm.v1.structured_output.utils:strip_speculative_padding": ["token_ids"],
    "vllm.sampling_params:SamplingParams._validate_structured_outputs":
        ["model_config", "structured_outputs_config", "tokenizer"],
    "vllm.sampling_params:check_json_nesting": ["spec", "structural_tag"],
    "vllm.v1.engine.async_llm:AsyncLLM.add_request": ["request_id", "prompt", "params"],
    "vllm.exceptions:VLLMValidationError.__init__": ["message", "parameter"],
    "vllm.exceptions:GracefulHTTPError.__init__": ["message", "http_status"],
}

MEMBERS: dict[str, set[str]] = {
    _MANAGER: {"__init__", "_get_reasoner", "grammar_init", "_create_grammar", "_fill_bitmasks",
               "_async_submit_fill_bitmask", "_masked_reasoning_ends", "_get_constraint_bounds",
               "validate_tokens", "grammar_bitmask", "accept_tokens", "clear_backend"},
    _GRAMMAR: {"accept_tokens", "validate_tokens", "rollback", "fill_bitmask", "is_terminated",
               "reset"},
    "vllm.v1.structured_output.backend_types:StructuredOutputOptions":
        {"JSON", "JSON_OBJECT", "REGEX", "GRAMMAR", "CHOICE", "STRUCTURAL_TAG"},
}

# What is called or replaced where vLLM's answers are read by maskd (_parser.py).
PARSING: dict[str, list[str]] = {
    "vllm.parser.abstract_parser:Parser.__init__": ["tokenizer", "tools", "model_config"],
    "vllm.parser.abstract_parser:Parser.adjust_request": ["request"],
    "vllm.parser.abstract_parser:Parser.set_prompt_token_ids": ["prompt_token_ids"],
    "vllm.parser.abstract_parser:Parser.is_reasoning_end": ["input_ids"],
    "vllm.parser.abstract_parser:Parser.parse":
        ["model_output", "request", "enable_auto_tools", "model_output_token_ids"],
    "vllm.parser.abstract_parser:Parser.parse_delta":
        ["delta_text", "delta_token_ids", "request", "prompt_token_ids", "finished"],
    "vllm.parser.parser_manager:ParserManager.get_parser":
        ["tool_parser_name", "reasoning_parser_name", "enable_auto_tools", "model_name",
         "is_harmony", "tool_strict_level", "tokenizer"],
    "vllm.tool_parsers.abstract_tool_parser:ToolParser.__init__": ["tokenizer", "tools"],
    "vllm.tool_parsers.abstract_tool_parser:ToolParserManager.register_module":
        ["name", "force", "module"],
}

# Of `x.structured_output_manager.NAME(...)` in the whole package: NAME and how many arguments.
CALLS = {("grammar_bitmask", 3), ("accept_tokens", 2), ("validate_tokens", 2), ("clear_backend", 0),
         ("grammar_init", 1)}


def check_version(version: str, any_version: bool) -> None:
    """Errors: RuntimeError, of a vLLM that this package was not tested with."""
    if any_version or ".".join(version.split(".")[:2]) in TESTED:
        return
    raise RuntimeError(f"vLLM {version} is not one of {', '.join(TESTED)}, which this release was tested "
                       "with; MASKD_VLLM_ANY_VERSION=1 goes on all the same")


def differences(called: dict[str, list[str]] = CALLED) -> list[str]:
    """Where the vLLM of this process is not as `called` says."""
    return [each for path, wanted in called.items() for each in _differs(path, wanted)]


def _differs(path: str, wanted: list[str]) -> Iterator[str]:
    try:
        function = _find(path)
    except (ImportError, AttributeError) as error:
        yield f"{path}: {error}"
        return
    has = [name for name in inspect.signature(function).parameters if name != "self"]
    if [name for name in has if name in wanted] != wanted:
        yield f"{path}: has the parameters {', '.join(has) or 'none'}, not {', '.join(wanted) or 'none'}"


def _find(path: str) -> Any:
    module, _, names = path.partition(":")
    found: Any = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found
