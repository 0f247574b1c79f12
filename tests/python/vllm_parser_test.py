"""maskd-vllm's parser of answers over vLLM's interface: whole answers and pieces of them, reasoning that the
prompt began, forced calls. fake_vllm.py says no more than the interface that wheel_interface_test.py
holds the newest release to."""

import importlib
import json
import sys
import types

import fake_vllm
import pytest

import maskd
from maskd._endpoints import Settings

END = 256
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Trondheim é"}}\n</tool_call>'
ARGUMENTS = '{"city": "Trondheim é"}'


class Tokenizer:
    def decode(self, ids):
        return bytes(ids).decode()


@pytest.fixture
def parsing(address, client, monkeypatch):
    """The module, in a process that reads qwen_3."""
    monkeypatch.setenv("MASKD_ADDRESS", address)
    monkeypatch.setenv("MASKD_FAMILY", "qwen_3")
    fake_vllm.install(monkeypatch)
    for name in [each for each in sys.modules if each.startswith("maskd_vllm")]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("maskd_vllm._parser")


def tokens(text):
    return [*text.encode(), END]


def make(parsing):
    return parsing.MaskdParser(Tokenizer(), [WEATHER], model_config=None)


def test_vllm_takes_it_by_its_name(parsing):
    manager = sys.modules["vllm.parser.parser_manager"].ParserManager
    parsing.install()
    parsing.install()
    assert manager.get_parser("maskd", enable_auto_tools=True) is parsing.MaskdParser
    assert manager.get_parser("hermes", model_name="m") == "vLLM's"
    assert fake_vllm.ToolParserManager.known["maskd"] is parsing.MaskdToolParser


def test_a_whole_answer(parsing):
    request = fake_vllm.Request([WEATHER])
    text = f"<think>\nHm.\n</think>\n\nI look é.\n{CALL}\n{CALL}"
    reasoning, content, calls = make(parsing).parse("", request, True, tokens(text))
    assert (reasoning, content) == ("Hm.", "I look é.")
    assert calls == [fake_vllm.FunctionCall("get_weather", ARGUMENTS, f"call_{i}") for i in range(2)]
    assert make(parsing).parse("", request, True, tokens("It rains.")) == (None, "It rains.", None)
    assert make(parsing).parse("", fake_vllm.Request(), False, tokens("It.")) == (None, "It.", None)


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_pieces_make_up_the_same(parsing, at_once):
    request = fake_vllm.Request([WEATHER])
    parser = make(parsing)
    given = tokens(f"Hm.\n</think>\n\nI look é.\n{CALL}")
    said = {"reasoning": "", "content": "", "arguments": ""}
    calls = []
    prompt = list("<|im_start|>assistant\n<think>\n".encode())
    for at in range(0, len(given), at_once):
        delta = parser.parse_delta("", given[at:at + at_once], request, prompt,
                                   finished=at + at_once >= len(given))
        if delta is None:
            continue
        said["reasoning"] += delta.reasoning or ""
        said["content"] += delta.content or ""
        for call in delta.tool_calls:
            said["arguments"] += call.function.arguments
            if call.id is not None:
                calls.append((call.index, call.id, call.type, call.function.name))
    assert said == {"reasoning": "Hm.", "content": "I look é.", "arguments": ARGUMENTS}
    assert calls == [(0, "call_0", "function", "get_weather")]


def test_a_piece_that_may_be_a_marker_waits_for_the_end(parsing):
    request = fake_vllm.Request([WEATHER])
    parser = make(parsing)
    assert parser.parse_delta("", list(b"a<tool"), request, None, finished=False).content == "a"
    assert parser.parse_delta("", [], request, None, finished=True).content == "<tool"
    hidden = make(parsing)
    request.include_reasoning = False
    delta = hidden.parse_delta("", tokens("<think>\nx\n</think>\n\n"), request, None, finished=True)
    assert delta is None


def test_a_call_of_no_tool_is_content(parsing):
    request = fake_vllm.Request([WEATHER])
    text = CALL.replace("get_weather", "nope")
    assert make(parsing).parse("", request, True, tokens(text)) == (None, text, None)


def test_a_forced_call_is_held_to(parsing, client):
    parser = make(parsing)
    free = parser.adjust_request(fake_vllm.Request([WEATHER]))
    assert free.structured_outputs is None
    assert parser.is_reasoning_end([1])
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in ("required", named):
        request = parser.adjust_request(fake_vllm.Request([WEATHER], tool_choice=choice))
        held = request.structured_outputs.structural_tag
        assert json.loads(held)["request"]["tool_choice"] == choice
        grammar = maskd.Grammar("chat", held)
        assert client.check(grammar, CALL)["accepted"]
        assert not client.check(grammar, "It rains.")["accepted"]
    from maskd_vllm import _grammars  # noqa: PLC0415

    key = types.SimpleNamespace(name="STRUCTURAL_TAG"), held
    settings = Settings(("unix:/s",))
    flags = types.SimpleNamespace(backend="auto", disable_any_whitespace=False)
    assert _grammars.grammar_for(key, flags, flags, settings) == grammar
    wide = CALL.replace('"city": ', '"city":\n')
    assert client.check(grammar, wide)["accepted"]
    # The flag leaves what chat templates write.
    narrow = types.SimpleNamespace(disable_any_whitespace=True)
    grammar = _grammars.grammar_for(key, narrow, flags, settings)
    assert client.check(grammar, CALL)["accepted"]
    assert not client.check(grammar, wide)["accepted"]


def test_a_family_that_writes_no_reasoning_is_read_too(parsing, monkeypatch):
    monkeypatch.setenv("MASKD_FAMILY", "llama_3")
    text = '{"name": "get_weather", "parameters": {"city": "Oslo"}}'
    _, content, calls = make(parsing).parse("", fake_vllm.Request([WEATHER]), True, tokens(text))
    assert (content, calls[0].arguments) == (None, '{"city": "Oslo"}')


def test_a_family_that_there_is_not_is_said_at_the_start(parsing, monkeypatch):
    monkeypatch.setenv("MASKD_FAMILY", "nope")
    with pytest.raises(RuntimeError, match="MASKD_FAMILY: .*there is no family"):
        make(parsing)
