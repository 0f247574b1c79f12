"""maskd-sglang's parser of calls over SGLang's interface of detectors: whole texts and pieces of them, over
the engine in this process."""

import dataclasses
import importlib
import sys
import types

import pytest

WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Trondheim é"}}\n</tool_call>'
ARGUMENTS = '{"city": "Trondheim é"}'


class Tool:
    def model_dump(self, exclude_none=False):
        return WEATHER


class BaseFormatDetector:
    def __init__(self):
        self.prev_tool_call_arr = []
        self.current_tool_id = -1
        self.streamed_args_for_tool = []


@dataclasses.dataclass
class ToolCallItem:
    tool_index: int
    parameters: str
    name: str | None = None


@dataclasses.dataclass
class StreamingParseResult:
    normal_text: str = ""
    calls: list[ToolCallItem] = dataclasses.field(default_factory=list)


class FunctionCallParser:
    ToolCallParserEnum: dict[str, type] = {}


@pytest.fixture
def detecting(monkeypatch):
    """The module, in a process that reads qwen_3."""
    monkeypatch.setenv("MASKD_FAMILY", "qwen_3")
    base = "sglang.srt.function_call"
    modules = {
        "sglang": {}, "sglang.srt": {}, base: {},
        f"{base}.base_format_detector": {"BaseFormatDetector": BaseFormatDetector},
        f"{base}.core_types": {"ToolCallItem": ToolCallItem,
                               "StreamingParseResult": StreamingParseResult},
        f"{base}.function_call_parser": {"FunctionCallParser": FunctionCallParser},
    }
    for name, members in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
    for name in [each for each in sys.modules if each.startswith("maskd_sglang")]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("maskd_sglang._detector")


def test_sglang_takes_it_by_its_name(detecting, monkeypatch):
    detecting.install()
    assert FunctionCallParser.ToolCallParserEnum["maskd"] is detecting.MaskdDetector
    detector = detecting.MaskdDetector()
    assert not detector.supports_structural_tag() and detector.parses_required_natively()
    monkeypatch.setenv("MASKD_FAMILY", "nope")
    with pytest.raises(RuntimeError, match="there is no family"):
        detecting.install()


def test_a_whole_text(detecting):
    detector = detecting.MaskdDetector()
    assert detector.has_tool_call(CALL) and not detector.has_tool_call("It rains <tool_call")
    said = detector.detect_and_parse(f"I look é.\n{CALL}\n{CALL}", [Tool()])
    assert said == StreamingParseResult("I look é.", [
        ToolCallItem(i, ARGUMENTS, "get_weather") for i in range(2)])
    assert detector.detect_and_parse("It rains.", [Tool()]) == StreamingParseResult("It rains.")


@pytest.mark.parametrize("at_once", [1, 3, 5, 1000])
def test_pieces_make_up_the_same(detecting, at_once):
    detector = detecting.MaskdDetector()
    text = f"I look é.\n{CALL}\n{CALL}"
    results = [detector.parse_streaming_increment(text[at:at + at_once], [Tool()])
               for at in range(0, len(text), at_once)]
    results.append(detector.finish([Tool()]))
    assert "".join(each.normal_text for each in results) == "I look é."
    calls = [call for each in results for call in each.calls]
    assert [(call.tool_index, call.name) for call in calls if call.name] == [
        (0, "get_weather"), (1, "get_weather")]
    for index in range(2):
        assert "".join(each.parameters for each in calls if each.tool_index == index) == ARGUMENTS
    assert detector.streamed_args_for_tool == [ARGUMENTS, ARGUMENTS]
    assert [each["arguments"] for each in detector.prev_tool_call_arr] == [ARGUMENTS, ARGUMENTS]


def test_what_may_be_a_marker_waits_for_the_end(detecting):
    detector = detecting.MaskdDetector()
    assert detector.parse_streaming_increment("a<tool", [Tool()]).normal_text == "a"
    assert detector.finish([Tool()]).normal_text == "<tool"
