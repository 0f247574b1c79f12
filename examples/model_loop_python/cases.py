"""What the model is asked, the grammar that its answer is held to, and how others judge the answer.

Judges are not maskd's: jsonschema (with its formats), Python's re, equality.
"""

import dataclasses
import json
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import maskd

_HERE = pathlib.Path(__file__).parent
# A small model likes to write white space and digits without end.
_JSON = {"white_space": "WHITE_SPACE_COMPACT", "max_number_digits": 9}
_TOOLS = {
    "get_weather": {"type": "object", "required": ["city"], "additionalProperties": False,
                    "properties": {"city": {"type": "string", "minLength": 1, "maxLength": 30},
                                   "unit": {"enum": ["celsius", "fahrenheit"]}}},
    "add": {"type": "object", "required": ["a", "b"], "additionalProperties": False,
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
}
_CALL = {"anyOf": [{"type": "object", "required": ["name", "arguments"],
                    "properties": {"name": {"const": name}, "arguments": arguments},
                    "additionalProperties": False} for name, arguments in _TOOLS.items()]}
# A sentence, then one call of a tool.
_TOOL_CALL = f"""start: TEXT "<tool_call>" call "</tool_call>"
TEXT: /[A-Z][A-Za-z ,']{{0,60}}\\.\\n/
call: %json {json.dumps(_CALL)}
"""
_REGEX = {
    r"\(\d{3}\) \d{3}-\d{4}": "Give me a phone number.",
    r"[A-Z][a-z]+, [A-Z][a-z]+ and [A-Z][a-z]+\.": "Name three colours.",
    r"(\d{1,3}\.){3}\d{1,3}(/\d{1,2})?": "Write down an IP address.",
    r"[a-z]{3,12}(-[a-z]{3,12}){1,3}": "Suggest a name for a web page about cats.",
}
_CHOICE = {
    ("yes", "no"): ["Is the sky blue?", "Is ice hot?"],
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"):
        ["Which day comes after Friday?", "On which day does the week begin?"],
}


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    name: str
    prompt: str
    grammar: maskd.Grammar
    is_valid: Callable[[str], bool]


def schema_cases(subjects: int) -> list[Case]:
    """Each of the 20 schemas with so many of its 10 subjects."""
    cases = []
    for entry in json.loads((_HERE / "requests.json").read_text()):
        grammar = maskd.Grammar.json_schema(entry["schema"], **_JSON)
        judge = _satisfies(entry["schema"])
        keys = ", ".join(dict.fromkeys(_keys(entry["schema"])))
        for subject in entry["subjects"][:subjects]:
            ask = f"{entry['ask'].format(subject)} Answer with JSON only{keys and f', keys: {keys}'}."
            cases.append(Case("json_schema", entry["name"], ask, grammar, judge))
    return cases


def other_cases() -> list[Case]:
    """Regular expressions, choices, tool calls."""
    cases = [Case("regex", pattern, ask, maskd.Grammar.regex(pattern), _matches(pattern))
             for pattern, ask in _REGEX.items()]
    for texts, asks in _CHOICE.items():
        cases += [Case("choice", texts[0], ask, maskd.Grammar.choice(texts), texts.__contains__)
                  for ask in asks]
    for ask in ("What is the weather in Rome?", "How much is 17 and 25?"):
        cases.append(Case("tool_call", "tools", f"{ask} Say what you do, then call get_weather or add.",
                          maskd.Grammar("lark", _TOOL_CALL, _JSON),
                          _is_tool_call))
    return cases


def chat(prompt: str) -> str:
    """The prompt in the form that the model was trained on."""
    return (f"<|im_start|>system\nYou are brief.<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
            "<|im_start|>assistant\n")


def _keys(schema: object) -> Iterator[str]:
    """The names of all properties, outer ones first."""
    if isinstance(schema, list):
        for each in schema:
            yield from _keys(each)
    elif isinstance(schema, dict):
        yield from schema.get("properties", {})
        for each in schema.values():
            yield from _keys(each)


def _satisfies(schema: dict[str, Any]) -> Callable[[str], bool]:
    validator = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)

    def judge(text: str) -> bool:
        try:
            return validator.is_valid(json.loads(text))
        except ValueError:
            return False

    return judge


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text, re.ASCII) is not None


def _is_tool_call(text: str) -> bool:
    parts = re.fullmatch(r"[A-Z][A-Za-z ,']{0,60}\.\n<tool_call>(.*)</tool_call>", text)
    return parts is not None and _satisfies(_CALL)(parts[1])
