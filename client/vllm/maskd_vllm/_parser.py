"""vLLM's parser of answers, over rows of maskd that are only read: --tool-call-parser maskd.

One for each request, as vLLM has it: reasoning, content and calls come out of the tokens that were sampled,
by the automaton that masks of the same family are made of, in place of a reasoning parser and a tool
parser. MASKD_FAMILY names how the model writes (`maskctl family list`).

A forced call ("required", or a named tool) is also held to: the request goes to the masks as it is. What
else the answer may be is not constrained here.

Order    parse() reads a whole answer; parse_delta() a piece, and lets go of what it held back with the last.
Cost     a round trip to the server for each piece; a request's first one compiles it.
Errors   RuntimeError, when vLLM starts, of a family that there is not. Of a request: GracefulHTTPError.
"""

import functools
import json
import os
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    FunctionCall,
)
from vllm.exceptions import GracefulHTTPError
from vllm.parser.abstract_parser import Parser
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from maskd._answers import AnswerDelta
from maskd._api import Client
from maskd._endpoints import MOVABLE, Settings
from maskd._errors import MaskdError
from maskd._grammar import Grammar
from maskd._matcher import MatcherStream
from maskd._reading import AnswerReader, AnswerTexts

NAME = "maskd"
# Tokens of the prompt's end that are looked at for what begins reasoning.
_TAIL = 16
# What of a request says what its answer may be.
_SAYING = ("tools", "tool_choice", "parallel_tool_calls")


class _Family:
    """The family that this process reads, and the stream of its rows."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self._settings = settings
        client = self._client()
        # Whether it writes reasoning is asked once; a family that there is not is an error here.
        self.reasoning = "auto"
        try:
            client.compile(self.grammar({}), settings.tokenizer)
        except MaskdError as error:
            if error.place != "/reasoning":
                raise RuntimeError(f"MASKD_FAMILY: {error}") from error
            self.reasoning = "off"
            client.compile(self.grammar({}), settings.tokenizer)
        self.stream = self._open_stream(client)

    def _client(self) -> Client:
        addresses = self._settings.addresses
        return Client(addresses[0] if len(addresses) == 1 else list(addresses),
                      timeout_s=self._settings.start_s)

    def _open_stream(self, client: Client) -> MatcherStream:
        tokenizer = self._settings.tokenizer
        return MatcherStream(client, _width(client, tokenizer), tokenizer)

    def read(self, grammar: Grammar) -> AnswerReader:
        """Over a new stream, where the server of the last one has gone."""
        try:
            return AnswerReader(self.stream, grammar)
        except MaskdError as error:
            if error.code not in MOVABLE:
                raise
        self.stream = self._open_stream(self._client())
        return AnswerReader(self.stream, grammar)

    def grammar(self, request: dict[str, Any], tail: str = "") -> Grammar:
        """What the request's answer is held to, as far as it is known to parse."""
        return Grammar.chat(self.name, request, reasoning=self.reasoning, prompt_tail=tail,
                            strictness="auto", bad_tools="leave_out")


def _width(client: Client, tokenizer: str) -> int:
    known = client.tokenizers()
    named = [each for each in known if each["name"] == tokenizer] or known[:1]
    return int(named[0]["vocab_size"])


@functools.cache
def _family() -> _Family:
    name = os.environ.get("MASKD_FAMILY", "").strip()
    if not name:
        raise RuntimeError("MASKD_FAMILY: names no family")
    return _Family(name, Settings.from_environment())


class MaskdToolParser(ToolParser):  # type: ignore[misc]
    """Its name in vLLM's registry; MaskdParser does the work."""

    # A forced call is written in the model's own form, not as a bare list of JSON.
    supports_required_and_named = False


class MaskdParser(Parser):  # type: ignore[misc]
    """One answer."""

    tool_parser_cls = MaskdToolParser
    always_adjust_request = True

    def __init__(self, tokenizer: Any, tools: Any = None, *arguments: Any, **named: Any) -> None:
        super().__init__(tokenizer, tools, *arguments, **named)
        self._family = _family()
        self._tail = ""
        self._reader: AnswerReader | None = None
        self._texts = AnswerTexts()

    def adjust_request(self, request: Any) -> Any:
        """Holds a forced call to its tools: the request goes to the masks as a structural tag."""
        forced = request.tools and request.tool_choice not in (None, "auto", "none")
        if forced and getattr(request, "structured_outputs", None) is None:
            held = self._family.grammar(_request(request)).source
            request.structured_outputs = StructuredOutputsParams(structural_tag=held)
        return request

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Keeps the prompt's last text, which may have begun the reasoning."""
        self._tail = self.model_tokenizer.decode(list(prompt_token_ids[-_TAIL:]))

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        """Masks hold from the first token on: reasoning is a part of the grammar."""
        return True

    def parse(self, model_output: str, request: Any, enable_auto_tools: bool = False,
              model_output_token_ids: Sequence[int] = ()) -> Any:
        """A whole answer: reasoning, content and calls."""
        reader = self._open(request)
        reader.take(model_output_token_ids)
        reader.end()
        message: Any = reader.message()
        calls = [FunctionCall(id=call["id"], **call["function"])
                 for call in message.get("tool_calls", ())]
        return message.get("reasoning_content"), message["content"], calls or None

    def parse_delta(self, delta_text: str, delta_token_ids: list[int], request: Any,
                    prompt_token_ids: list[int] | None = None, *, finished: bool) -> Any:
        """What the new tokens add; what may yet become a marker is held back."""
        if self._reader is None:
            if prompt_token_ids:
                self.set_prompt_token_ids(prompt_token_ids)
            self._reader = self._open(request)
        deltas = [self._reader.take(delta_token_ids)]
        if finished:
            deltas.append(self._reader.end())
        return self._message(deltas, request)

    def _open(self, request: Any) -> AnswerReader:
        try:
            return self._family.read(self._family.grammar(_request(request), self._tail))
        except MaskdError as error:
            raise GracefulHTTPError(f"the answer cannot be read: {error.message}",
                                    HTTPStatus.SERVICE_UNAVAILABLE) from error

    def _message(self, deltas: list[AnswerDelta | None], request: Any) -> Any:
        """None where there is nothing to say."""
        reasoning = content = ""
        calls = []
        for delta in deltas:
            reasoning += self._texts.reasoning(delta)
            content += self._texts.content(delta)
            calls += [DeltaToolCall(index=call.index, id=call.id or None,
                                    type="function" if call.name else None,
                                    function=DeltaFunctionCall(name=call.name or None,
                                                               arguments=call.arguments))
                      for call in self._texts.calls(delta)]
        if not request.include_reasoning:
            reasoning = ""
        if not reasoning and not content and not calls:
            return None
        return DeltaMessage(reasoning=reasoning or None, content=content or None, tool_calls=calls)


def _request(request: Any) -> dict[str, Any]:
    """What of vLLM's request says what its answer may be, as OpenAI has it. A choice of no tools reads
    calls all the same as text."""
    said = request.model_dump(mode="json", exclude_none=True)
    kept = {key: said[key] for key in _SAYING if key in said}
    if not kept.get("tools"):
        return {}
    if kept.get("tool_choice") not in (None, "auto", "none", "required") and not isinstance(
            kept["tool_choice"], dict):
        kept.pop("tool_choice")
    return json.loads(json.dumps(kept))  # type: ignore[no-any-return]


def install() -> None:
    """Has vLLM know the name."""
    from vllm.parser.parser_manager import ParserManager  # noqa: PLC0415
    from vllm.tool_parsers import ToolParserManager  # noqa: PLC0415

    ToolParserManager.register_module(NAME, module=MaskdToolParser)
    if hasattr(ParserManager.get_parser, "_maskd"):
        return
    get_parser = ParserManager.get_parser

    @functools.wraps(get_parser)
    def get_parser_or_maskd(cls: Any, tool_parser_name: str | None = None, *arguments: Any,
                            **named: Any) -> Any:
        if tool_parser_name == NAME:
            return MaskdParser
        return get_parser(tool_parser_name, *arguments, **named)

    get_parser_or_maskd._maskd = True  # type: ignore[attr-defined]  # noqa: SLF001
    ParserManager.get_parser = classmethod(get_parser_or_maskd)


__all__ = ["MaskdParser", "MaskdToolParser", "install"]
