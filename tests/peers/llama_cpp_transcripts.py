"""Reads the transcripts of llama.cpp's tests/test-chat.cpp: texts, the message that its parser is held to, the tools.

The file is C++ whose tests are chains of calls, such as
`tst.test("a text").tools({ a_tool }).expect(a_message).run();`, on constants above them. Those constants and chains are
evaluated here, and nothing else of the file. A chain with what is not known here (a loop's variable, a function) is
`unread`.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|R"(?P<mark>[^(]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\])*)"
    |(?P<char>'(?:\\.|[^'\\])*')|(?P<name>[A-Za-z_][\w:]*)|(?P<number>\d[\w.]*)|(?P<sign>->|.)""", re.DOTALL | re.VERBOSE)
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a"}
# Declarations that give a constant its value.
TYPES = {"common_chat_msg", "common_chat_tool", "std::string", "char", "auto", "std::vector"}


class Unread(Exception):
    """What is not known here."""


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    value: str
    line: int


@dataclasses.dataclass
class Case:
    """A chain: the template, the text, and what each call of the chain was given."""

    template: str
    line: int
    text: str
    given: dict[str, list[Any]]

    def message(self) -> dict[str, Any]:
        """The message expected, as our transcripts have it; arguments that are no whole JSON stay a text."""
        whole = self.given.get("expect", [Message()])[0]
        content = self.given.get("expect_content", [whole.content])[0]
        reasoning = self.given.get("expect_reasoning", [whole.reasoning])[0]
        calls = self.given.get("expect_tool_calls", [whole.calls])[0]
        made: dict[str, Any] = {}
        if reasoning.strip():
            made["reasoning_content"] = reasoning
        if content.strip():
            made["content"] = content
        if calls:
            made["tool_calls"] = [{"name": name, "arguments": arguments_of(text)} for name, text, *_ in calls]
        return made


@dataclasses.dataclass(frozen=True)
class Message:
    content: str = ""
    reasoning: str = ""
    calls: tuple[Any, ...] = ()


def arguments_of(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except json.JSONDecodeError:
        return text


def simple(content: str, reasoning: str = "", name: str = "", arguments: str = "", id: str = "") -> Message:
    return Message(content, reasoning, ((name, arguments, id),) if name or id else ())


def identity(value: Any) -> Any:
    return value


# The file's own helpers, which make messages of texts.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "simple_assist_msg": simple,
    "message_with_tool_calls": lambda name, arguments: simple("", "", name, arguments),
    "message_with_tool_calls_and_reasoning": lambda name, arguments, reasoning: simple("", reasoning, name, arguments),
    "message_with_reasoning_and_tool_call": lambda reasoning, name, arguments: simple("", reasoning, name, arguments),
    "message_with_content_and_tool_call": lambda content, name, arguments: simple(content, "", name, arguments),
    "message_with_reasoning_content_and_multiple_tool_calls":
        lambda reasoning, content, calls: Message(content, reasoning, tuple(calls)),
    "std::string": identity,
    "std::move": identity,
}


def unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        what = found.group(1)
        if what[0] in "xuU":
            return chr(int(what[1:], 16))
        if what[0] in "01234567":
            return chr(int(what, 8))
        return LETTERS.get(what, what)

    made = ESCAPE.sub(one, text)
    # \x is a byte of UTF-8.
    try:
        return made.encode("latin-1").decode() if "\\x" in text else made
    except UnicodeError:
        return made


def tokens_of(source: str) -> list[Token]:
    made = []
    line = 1
    for found in TOKEN.finditer(source):
        if found["raw"] is not None:
            made.append(Token("text", found["raw"], line))
        elif found["text"] is not None:
            made.append(Token("text", unescaped(found["text"]), line))
        elif found["space"] is None:
            kind = next(each for each in ("char", "name", "number", "sign") if found[each] is not None)
            made.append(Token(kind, found[kind], line))
        line += found[0].count("\n")
    return made


class Reader:
    """Goes over the tokens once; constants are known from where they stand."""

    def __init__(self, source: str) -> None:
        self._tokens = [*tokens_of(source), Token("end", "", 0)]
        self._at = 0
        self._known: dict[str, Any] = {"true": True, "false": False}
        self._template: Any = None
        self.unread: list[int] = []  # their lines

    def cases(self) -> Iterator[Case]:
        while self._token().kind != "end":
            if self._is("peg_tester", "("):
                self._at += 2
                self._template = self._maybe()
            elif self._token(1).value == "." and self._token(2).value == "test" and self._token(3).value == "(":
                line = self._token().line
                self._at += 2
                try:
                    yield self._case(line)
                except Unread:
                    self.unread.append(line)
            elif self._token().value not in TYPES or not self._declares():
                self._at += 1

    def _token(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _is(self, *values: str) -> bool:
        return all(self._token(i).value == value for i, value in enumerate(values))

    def _take(self, value: str) -> None:
        if self._token().value != value or self._token().kind == "text":
            raise Unread(f"{value} at line {self._token().line}")
        self._at += 1

    def _maybe(self) -> Any:
        try:
            return self._sum()
        except Unread:
            return None

    def _declares(self) -> bool:
        """Reads `TYPE NAME = VALUE;` or `TYPE NAME{...};`."""
        begin = self._at
        self._at += 1
        while self._token().value in ("<", ">", "*", "&", "const", *TYPES):
            self._at += 1
        name = self._token()
        self._at += 1
        try:
            if name.kind != "name" or self._token().value not in ("=", "{"):
                raise Unread("no value")
            if self._token().value == "=":
                self._at += 1
            self._known[name.value] = self._sum()
            self._take(";")
            return True
        except Unread:
            self._at = begin
            return False

    def _case(self, line: int) -> Case:
        given: dict[str, list[Any]] = {}
        name = "test"
        while name != "run":
            self._at += 1
            arguments = self._list("(", ")")
            given[name] = arguments
            self._take(".")
            name = self._token().value
        if self._template is None or not isinstance(given["test"][0], str):
            raise Unread("no template")
        return Case(self._template, line, given["test"][0], given)

    def _list(self, begin: str, end: str) -> list[Any]:
        self._take(begin)
        made = []
        while not self._is(end):
            made.append(self._sum())
            if self._is(","):
                self._at += 1
            elif not self._is(end):
                raise Unread(f"line {self._token().line}")
        self._at += 1
        return made

    def _sum(self) -> Any:
        value = self._one()
        while self._is("+") or self._token().kind == "text":
            self._at += self._token().kind != "text"
            value = value + self._one()
        return value

    def _one(self) -> Any:
        token = self._token()
        if token.kind == "text":
            self._at += 1
            return token.value
        if token.value == "{":
            return self._list("{", "}")
        if token.kind != "name":
            raise Unread(f"line {token.line}")
        self._at += 1
        if self._is("("):
            arguments = self._list("(", ")")
            if token.value not in FUNCTIONS:
                raise Unread(token.value)
            return FUNCTIONS[token.value](*arguments)
        if token.value in self._known:
            return self._known[token.value]
        if token.value.isupper() or "::" in token.value or token.value.startswith(("COMMON_", "template")):
            return token.value  # a constant of llama.cpp's
        raise Unread(token.value)
