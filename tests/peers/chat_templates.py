"""What chat templates write as the assistant's turn: the answers that the families are held to.

A template is rendered twice, with the answer and without it; what it adds is the answer, less what ends a turn. What
ends a turn is found the same way, from an answer of one word.
"""

import datetime
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

WORD = "Xyzzy"
EOS = "<|the end|>"
QUESTION = {"role": "user", "content": "What is it like in Oslo?"}
ARGUMENTS = {"city": "Oslo", "days": 3}
AWKWARD = {"city": "O'Higgins, \"é\" <b>", "days": -1}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": text,
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Its name"},
                    "days": {"type": "integer", "description": "How many"},
                },
                "required": ["city", "days"],
            },
        },
    }
    for name, text in (("get_weather", "Weather of a city"), ("get_news", "News of a city"))
]


class NoAnswer(Exception):
    """The template refuses the message, or writes nothing that tells its parts."""


class Generation(jinja2.ext.Extension):
    """{% generation %}: what stands in it is the answer; here it is only rendered."""

    tags = {"generation"}

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def environment() -> jinja2.Environment:
    """As transformers and llama.cpp render chat templates; lists may grow, as in llama.cpp."""

    def refuse(text: str) -> None:
        raise jinja2.TemplateError(text)

    def to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None,
                separators: tuple[str, str] | None = None, sort_keys: bool = False) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys,
                          default=list)

    made = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: datetime.datetime(2026, 1, 1).strftime(form)
    return made


def call(name: str, arguments: Mapping[str, Any], index: int, as_text: bool) -> dict[str, Any]:
    given = json.dumps(arguments, ensure_ascii=False) if as_text else arguments
    return {"id": f"call0000{index}", "type": "function", "function": {"name": name, "arguments": given}}


def messages() -> Iterator[tuple[str, dict[str, Any]]]:
    """The kinds of answers, each with the message that it reads as."""
    weather = {"name": "get_weather", "arguments": ARGUMENTS}
    news = {"name": "get_news", "arguments": AWKWARD}
    for content, calls in itertools.product(("", "It rains."), ([], [weather], [news], [weather, news])):
        if content or calls:
            parts: dict[str, Any] = {"content": content} if content else {}
            if calls:
                parts["tool_calls"] = calls
            yield f"{'content and ' if content else ''}{len(calls)} calls", parts


class Answers:
    """The answers of one template. Arguments are given as an object or as text, no content as "" or null,
    whichever it takes. `ends` are markers that end the model's turn; without them it is what stands behind a turn
    of one word. `begin` is the marker behind which the turn begins, where the prompt ends with more than that."""

    def __init__(self, source: str, ends: Iterable[str] = (), begin: str = "") -> None:
        self._begin = begin
        self._named = list(ends)
        self._ends = [*self._named, EOS]
        self._template = environment().from_string(source)
        self._question = self._render([QUESTION], True)
        self._end = ""
        plain = self._added({"role": "assistant", "content": WORD})
        self._end = plain[plain.rindex(WORD) + len(WORD):]

    def _render(self, spoken: list[dict[str, Any]], prompt: bool) -> str:
        return self._template.render(
            messages=spoken, tools=TOOLS, add_generation_prompt=prompt, bos_token="", eos_token=EOS,
            enable_thinking=False, thinking=False, functions=json.dumps(TOOLS), datetime="1 January 2026")

    def _added(self, answer: dict[str, Any]) -> str:
        try:
            whole = self._render([QUESTION, answer], False)
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            raise NoAnswer(str(error)) from error
        shared = os.path.commonprefix([whole, self._question])
        # Two markers may begin alike: the answer begins where its marker does.
        text = whole[len(re.sub(r"<[^<>\s]*$", "", shared)):]
        if self._begin:
            text = text.split(self._begin, 1)[1]
        for end in self._ends:
            text = text.split(end)[0]
        return text if self._named else text.removesuffix(self._end)

    def text(self, message: Mapping[str, Any]) -> str:
        """What the template writes for a message; NoAnswer where it leaves a part out."""
        why = "it leaves a part out"
        content = message.get("content")
        for as_text, nothing in itertools.product((False, True), ("", None)):
            calls = [call(each["name"], each["arguments"], index, as_text)
                     for index, each in enumerate(message.get("tool_calls", []))]
            answer = {"role": "assistant", "content": nothing if content is None else content}
            if calls:
                answer["tool_calls"] = calls
            try:
                text = self._added(answer)
            except NoAnswer as error:
                why = str(error)
                continue
            if (content or "") in text and all(
                    each["name"] in text and each["arguments"]["city"][2:4] in text
                    for each in message.get("tool_calls", [])):
                return text
        raise NoAnswer(why)
