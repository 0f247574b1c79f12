"""As much of vLLM's package as maskd_vllm/_parser.py and _validation.py import, by the interface that
maskd_vllm/_interface.py states: for
tests where vLLM is not. What it does not state is left out."""

import dataclasses
import enum
import json
import sys
import types
from typing import Any


@dataclasses.dataclass
class FunctionCall:
    name: str
    arguments: str
    id: str | None = None


@dataclasses.dataclass
class DeltaFunctionCall:
    name: str | None = None
    arguments: str | None = None


@dataclasses.dataclass
class DeltaToolCall:
    index: int
    id: str | None = None
    type: str | None = None
    function: DeltaFunctionCall | None = None


@dataclasses.dataclass
class DeltaMessage:
    reasoning: str | None = None
    content: str | None = None
    tool_calls: list[DeltaToolCall] = dataclasses.field(default_factory=list)


class GracefulHTTPError(Exception):
    def __init__(self, message, http_status):
        super().__init__(message)
        self.http_status = http_status


class VLLMValidationError(ValueError):
    def __init__(self, message, *, parameter=None):
        super().__init__(message)
        self.parameter = parameter


@dataclasses.dataclass
class StructuredOutputsParams:
    structural_tag: str | None = None
    json: Any = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False


@dataclasses.dataclass
class SamplingParams:
    structured_outputs: StructuredOutputsParams | None = None


def check_json_nesting(spec, structural_tag=False):
    """No test has a deep one."""


Kind = enum.Enum("StructuredOutputOptions", ["JSON"])


def get_structured_output_key(params):
    return Kind.JSON, params.json if isinstance(params.json, str) else json.dumps(params.json)


class ToolParser:
    supports_required_and_named = True

    def __init__(self, tokenizer, tools=None):
        self.model_tokenizer = tokenizer
        self.tools = tools or []


class Parser:
    tool_parser_cls: Any = None

    def __init__(self, tokenizer, tools=None, *args, model_config=None, **kwargs):
        self.model_tokenizer = tokenizer
        self._tool_parser = self.tool_parser_cls(tokenizer, tools)


class ToolParserManager:
    known: dict[str, type] = {}

    @classmethod
    def register_module(cls, name=None, force=True, module=None):
        cls.known[name] = module


class ParserManager:
    @classmethod
    def get_parser(cls, tool_parser_name=None, reasoning_parser_name=None, enable_auto_tools=False,
                   model_name=None, is_harmony=False, tool_strict_level=None, tokenizer=None):
        return "vLLM's"


@dataclasses.dataclass
class Request:
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = "auto"
    include_reasoning: bool = True
    structured_outputs: StructuredOutputsParams | None = None

    def model_dump(self, mode="json", exclude_none=True):
        said = {"messages": [], "tools": self.tools, "tool_choice": self.tool_choice}
        return json.loads(json.dumps({key: of for key, of in said.items() if of is not None}))


def install(monkeypatch):
    modules = {
        "vllm": {}, "vllm.entrypoints": {}, "vllm.entrypoints.generate": {},
        "vllm.entrypoints.generate.base": {}, "vllm.parser": {},
        "vllm.entrypoints.generate.base.protocol": {
            "FunctionCall": FunctionCall, "DeltaFunctionCall": DeltaFunctionCall,
            "DeltaToolCall": DeltaToolCall, "DeltaMessage": DeltaMessage},
        "vllm.exceptions": {"GracefulHTTPError": GracefulHTTPError,
                            "VLLMValidationError": VLLMValidationError},
        "vllm.parser.abstract_parser": {"Parser": Parser},
        "vllm.parser.parser_manager": {"ParserManager": type("ParserManager", (ParserManager,), {})},
        "vllm.sampling_params": {
            "StructuredOutputsParams": StructuredOutputsParams, "SamplingParams": SamplingParams,
            "check_json_nesting": check_json_nesting},
        "vllm.tool_parsers": {"ToolParserManager": ToolParserManager},
        "vllm.tool_parsers.abstract_tool_parser": {"ToolParser": ToolParser},
        "vllm.v1": {}, "vllm.v1.structured_output": {},
        "vllm.v1.structured_output.request": {"get_structured_output_key": get_structured_output_key},
    }
    for name, members in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
