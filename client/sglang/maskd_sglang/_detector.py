"""SGLang's parser of calls, over rows of maskd that are only read: --tool-call-parser maskd.

SGLang gives its parsers text, behind the reasoning. So it is read over bytes, by an engine of maskd in
this process (`local:`); no server is asked. MASKD_FAMILY names how the model writes
(`maskctl family list`).
"""

import functools
import os
from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem

from maskd._answers import AnswerDelta
from maskd._api import Client
from maskd._errors import MaskdError
from maskd._grammar import Grammar
from maskd._matcher import MatcherStream
from maskd._reading import AnswerReader, AnswerTexts

NAME = "maskd"


@functools.cache
def _stream() -> MatcherStream:
    client = Client("local:")
    return MatcherStream(client, int(client.tokenizers()[0]["vocab_size"]))


def family() -> str:
    """Errors: RuntimeError, where none is named or it is not known."""
    name = os.environ.get("MASKD_FAMILY", "").strip()
    if not name:
        raise RuntimeError("MASKD_FAMILY: names no family")
    try:
        Client("local:").compile(Grammar.chat(name, {}))
    except MaskdError as error:
        raise RuntimeError(f"MASKD_FAMILY: {error}") from error
    return name


@functools.cache
def _begin_of_a_call(of: str) -> str:
    """What must come first where a call must: up to the tool's name."""
    name = "zqxjk"
    grammar = Grammar.chat(of, {"tools": [{"type": "function", "function": {"name": name}}],
                                "tool_choice": "required"})
    stream = _stream()
    row = stream.new_row()
    opened, _ = stream.move(row, lambda step: step.open(row, grammar, wait_s=30).want_forced(row))
    stream.drop(row)
    return opened.forced_bytes.decode(errors="ignore").partition(name)[0]


class MaskdDetector(BaseFormatDetector):  # type: ignore[misc]
    """One answer."""

    def __init__(self) -> None:
        super().__init__()
        self._family = os.environ["MASKD_FAMILY"].strip()
        self._reader: AnswerReader | None = None
        self._texts = AnswerTexts()

    def has_tool_call(self, text: str) -> bool:
        """Whether the text holds what a call of the family begins with."""
        return _begin_of_a_call(self._family) in text

    def supports_structural_tag(self) -> bool:
        """No: what the grammar holds a call to is said by a grammar of kind "chat"."""
        return False

    def parses_required_natively(self) -> bool:
        """Yes: a forced call is read as any other."""
        return True

    def structure_info(self) -> Any:
        """Not to be asked for, see supports_structural_tag()."""
        raise NotImplementedError("maskd reads answers; its masks are asked for by a grammar of kind chat")

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        """A whole answer at once: its content and its calls."""
        reader = self._open(tools)
        reader.take(text.encode())
        reader.end()
        message: Any = reader.message()
        calls = [ToolCallItem(tool_index=i, name=call["function"]["name"],
                              parameters=call["function"]["arguments"])
                 for i, call in enumerate(message.get("tool_calls", ()))]
        return StreamingParseResult(normal_text=message["content"] or "", calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        """More of the answer; what may yet become a marker is held back."""
        if self._reader is None:
            self._reader = self._open(tools)
        return self._result(self._reader.take(new_text.encode()))

    def finish(self, tools: list[Any]) -> Any:
        """The end of the answer: what was held back is text."""
        return self._result(None if self._reader is None else self._reader.end())

    def _open(self, tools: list[Any]) -> AnswerReader:
        asked = {"tools": [tool.model_dump(exclude_none=True) for tool in tools]} if tools else {}
        return AnswerReader(_stream(), Grammar.chat(self._family, asked, strictness="function",
                                                    bad_tools="leave_out"))

    def _result(self, delta: AnswerDelta | None) -> Any:
        calls = []
        for call in self._texts.calls(delta):
            self._note(call.index, call.name, call.arguments)
            calls.append(ToolCallItem(tool_index=call.index, name=call.name or None,
                                      parameters=call.arguments))
        return StreamingParseResult(normal_text=self._texts.content(delta), calls=calls)

    def _note(self, index: int, name: str, arguments: str) -> None:
        """What SGLang looks at when the stream ends: all arguments were said."""
        self.current_tool_id = index
        if index == len(self.streamed_args_for_tool):
            self.streamed_args_for_tool.append("")
            self.prev_tool_call_arr.append({"name": name, "arguments": ""})
        self.streamed_args_for_tool[index] += arguments
        self.prev_tool_call_arr[index]["arguments"] = self.streamed_args_for_tool[index]


def install() -> None:
    """Has SGLang know the name. Errors: RuntimeError, of the family."""
    from sglang.srt.function_call.function_call_parser import (  # noqa: PLC0415
        FunctionCallParser,
    )

    family()
    FunctionCallParser.ToolCallParserEnum[NAME] = MaskdDetector


__all__ = ["MaskdDetector", "install"]
