"""vLLM's own parsers of calls, out of its wheel, without the engine and what that depends on.

They are plain Python: vllm.tool_parsers, vllm.parser and vllm.reasoning are read from the wheel. Of what these import
from elsewhere, messages and tools stand here; all else is a stand-in that raises when it is called.

A parser asks its tokenizer for the ids of its markers. Tokens here are those markers, each of which is one token as in
the model, and pieces of two characters.
"""

import importlib
import importlib.abc
import importlib.machinery
import json
import logging
import pathlib
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

import pydantic

_READ = ("vllm.tool_parsers", "vllm.parser", "vllm.reasoning", "vllm.utils", "vllm.logprobs",
         "vllm.entrypoints.cohere.cohere_chat_message", "partial_json_parser", "ijson")
_STAND_IN = ("vllm", "openai", "transformers", "xgrammar", "openai_harmony", "torch")


class _Message(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


class FunctionCall(_Message):
    id: str | None = None
    name: str
    arguments: str


class ToolCall(_Message):
    id: str = "call"
    type: str = "function"
    function: FunctionCall


class DeltaFunctionCall(pydantic.BaseModel):
    name: str | None = None
    arguments: str | None = None


class DeltaToolCall(_Message):
    id: str | None = None
    type: str | None = None
    index: int
    function: DeltaFunctionCall | None = None


class DeltaMessage(_Message):
    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[DeltaToolCall] = []


class ExtractedToolCallInformation(pydantic.BaseModel):
    tools_called: bool
    tool_calls: list[ToolCall]
    content: str | None = None


class FunctionDefinition(_Message):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(_Message):
    type: str = "function"
    function: FunctionDefinition


class ChatCompletionRequest(_Message):
    """What a parser asks of a request."""

    messages: list[Any] = []
    tools: list[Tool] | None = None
    tool_choice: Any = "auto"
    parallel_tool_calls: bool = True
    structured_outputs: Any = None
    response_format: Any = None
    skip_special_tokens: bool = True
    include_reasoning: bool = True


class _StandInType(type):
    """Attributes of a stand-in are stand-ins; calling one raises."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stand_in(name)

    def __or__(cls, other: Any) -> Any:
        return typing.Any

    __ror__ = __or__


def _stand_in(name: str) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{name} is no part of a text's parsing")

    return _StandInType(name, (), {"__init__": refuse, "__class_getitem__": lambda _: typing.Any})


class _Module(types.ModuleType):
    """Any name of it is a stand-in."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _stand_in(name)
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """What is read comes from the folders of the wheels; the rest of the same packages stands in."""

    def __init__(self, folders: Sequence[pathlib.Path]) -> None:
        self._folders = folders

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _GIVEN and any(name == each or name.startswith(f"{each}.") for each in _READ):
            paths = [str(folder.joinpath(*name.split(".")[:-1])) for folder in self._folders]
            return importlib.machinery.PathFinder.find_spec(name, paths)
        if name.split(".")[0] in _STAND_IN:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        for name, value in _GIVEN.get(module.__name__, {}).items():
            setattr(module, name, value)


def _call_id(*_: Any, **__: Any) -> str:
    return "call"


_MESSAGES = {each.__name__: each for each in (
    FunctionCall, ToolCall, DeltaFunctionCall, DeltaToolCall, DeltaMessage, ExtractedToolCallInformation,
    FunctionDefinition)}
_GIVEN: dict[str, dict[str, Any]] = {
    "vllm.entrypoints.generate.base.protocol": _MESSAGES,
    "vllm.entrypoints.openai.chat_completion.protocol": {
        **_MESSAGES, "ChatCompletionRequest": ChatCompletionRequest, "ChatCompletionToolsParam": Tool},
    "vllm.tool_parsers.structural_tag_registry": {},
    "vllm.parser.harmony": {},
    "vllm.parser.metrics": {"record_tool_parser_invocation": lambda *_, **__: None},
    "vllm.renderers.chat_utils": {"make_tool_call_id": _call_id,
                                  "get_tool_call_id_type": lambda *_: "random"},
    "vllm.logger": {"init_logger": logging.getLogger},
    "vllm.exceptions": {"VLLMValidationError": ValueError},
    "vllm.envs": {"VLLM_ENFORCE_STRICT_TOOL_CALLING": False, "VLLM_TOOL_PARSE_REGEX_TIMEOUT_SECONDS": 1},
}


def install(folders: Sequence[pathlib.Path]) -> None:
    """Makes vllm.tool_parsers of the wheels' folders importable."""
    sys.meta_path.insert(0, _Finder(folders))


class _Markers(dict[str, int]):
    """The model's markers by their text: what a parser asks for is one, but for those that the model lacks."""

    def __init__(self, lacks: Sequence[str]) -> None:
        super().__init__()
        self._lacks = lacks

    def __missing__(self, text: str) -> int:
        if text in self._lacks:
            raise KeyError(text)
        self[text] = 1_000_000 + len(self)
        return self[text]

    def get(self, text: str, default: Any = None) -> Any:  # type: ignore[override]
        return self[text] if text in self else default

    def __contains__(self, text: object) -> bool:
        return text not in self._lacks


class Tokenizer:
    """Markers, and pieces of two characters. `has`: markers that no parser asks for, `lacks`: texts that are none.
    `settings`: of its file."""

    all_special_tokens: list[str] = []
    all_special_ids: list[int] = []

    def __init__(self, has: Sequence[str] = (), lacks: Sequence[str] = (),
                 settings: dict[str, Any] | None = None) -> None:
        self.init_kwargs = settings or {}
        self._markers = _Markers(lacks)
        for each in has:
            self._markers.get(each)
        self._pieces: dict[str, int] = {}

    def get_vocab(self) -> dict[str, int]:
        return self._markers

    def convert_tokens_to_ids(self, text: str) -> int:
        return self._markers[text]

    def tokens(self, text: str) -> Iterator[str]:
        markers = sorted(self._markers, key=len, reverse=True)
        piece = ""
        at = 0
        while at < len(text):
            marker = next((each for each in markers if each and text.startswith(each, at)), None)
            if piece and (marker or len(piece) == 2):
                yield piece
                piece = ""
            if marker:
                yield marker
                at += len(marker)
            else:
                piece += text[at]
                at += 1
        if piece:
            yield piece

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self._markers[each] if each in dict.keys(self._markers)
                else self._pieces.setdefault(each, len(self._pieces)) for each in self.tokens(text)]

    def decode(self, ids: int | Sequence[int], **_: Any) -> str:
        texts = {number: text for known in (self._markers, self._pieces) for text, number in known.items()}
        return "".join(texts[each] for each in ([ids] if isinstance(ids, int) else ids))


def calls_of(name: str, text: str, tools: list[dict[str, Any]], tokenizer: Tokenizer) -> list[tuple[str, Any]]:
    """What the parser of that name makes of a whole text: names and arguments."""
    parser, request = _made(name, tools, tokenizer)
    found = parser.extract_tool_calls(text, request)
    return [(call.function.name, json.loads(call.function.arguments)) for call in found.tool_calls]


def calls_of_tokens(name: str, text: str, tools: list[dict[str, Any]],
                    tokenizer: Tokenizer) -> list[tuple[str, Any]]:
    """The same of a text that comes token by token: what its deltas add up to."""
    parser, request = _made(name, tools, tokenizer)
    calls: list[list[str]] = []
    for delta in _deltas(parser, request, tokenizer, text):
        for call in delta.tool_calls if delta else ():
            while len(calls) <= call.index:
                calls.append(["", ""])
            calls[call.index][0] += (call.function and call.function.name) or ""
            calls[call.index][1] += (call.function and call.function.arguments) or ""
    return [(call_name, json.loads(arguments)) for call_name, arguments in calls]


def _made(name: str, tools: list[dict[str, Any]], tokenizer: Tokenizer) -> tuple[Any, Any]:
    request = ChatCompletionRequest(tools=[Tool(**tool) for tool in tools])
    manager = importlib.import_module("vllm.tool_parsers").ToolParserManager
    return manager.get_tool_parser(name)(tokenizer, request.tools), request


def _deltas(parser: Any, request: Any, tokenizer: Tokenizer, text: str) -> Iterator[Any]:
    """In the order of vLLM's DelegatingParser.parse_delta()."""
    ids = tokenizer.encode(text)
    said = ""
    for i, token in enumerate(ids):
        piece = tokenizer.decode(token)
        delta = parser.extract_tool_calls_streaming(said, said + piece, piece, ids[:i], ids[:i + 1], [token], request)
        if i + 1 == len(ids) and delta and delta.tool_calls and delta.tool_calls[-1].function:
            last = delta.tool_calls[-1].function
            last.arguments = (last.arguments or "") + parser.get_remaining_unstreamed_args()
        yield delta
        said += piece
    if parser.engine_based_streaming:
        yield parser.finish_streaming()
