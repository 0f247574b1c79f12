"""Grammars as the client takes them and as the server answers."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from maskd._errors import MaskdError

# Options of a grammar, as GrammarOptions of protos/maskd/v1 has them. Those with names: the names'
# common beginning on the wire, and the names.
_NAMED = {
    "property_order": ("PROPERTY_ORDER_", ("declared", "any")),
    "spelling": ("JSON_SPELLING_", ("canonical", "any")),
    "strictness": ("STRICTNESS_", ("refuse", "relax")),
    "white_space": ("WHITE_SPACE_", ("flexible", "compact")),
}
_OTHERS = ("additional_properties", "assert_formats", "indent", "item_separator", "key_separator",
           "max_characters", "max_number_digits", "max_tokens", "max_whitespace")


def _wire_option(name: str, value: Any) -> Any:
    """An option's value as the wire has it: "compact" is WHITE_SPACE_COMPACT, which may be written too."""
    if name in _OTHERS:
        return value
    if name not in _NAMED:
        known = ", ".join(sorted((*_NAMED, *_OTHERS)))
        raise MaskdError("INVALID_ARGUMENT", f"{name}: is not one of {known}")
    begin, names = _NAMED[name]
    short = str(value).upper().removeprefix(begin).lower()
    if short not in names:
        raise MaskdError("INVALID_ARGUMENT", f'{name}: "{value}" is not one of {", ".join(names)}')
    return begin + short.upper()


@dataclasses.dataclass(frozen=True)
class Grammar:
    """What is to be compiled: kind, source and the options of protos/maskd/v1's GrammarOptions.

        Grammar.json_schema({"type": "object"}, white_space="compact")
        Grammar("lark", text)

    Errors: INVALID_ARGUMENT (an option or a name of its value that there is not; those there are).
    """

    kind: str
    source: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        options = {name: _wire_option(name, value) for name, value in self.options.items()}
        object.__setattr__(self, "options", options)

    @classmethod
    def json_schema(cls, schema: str | Mapping[str, Any] | bool, **options: Any) -> Self:
        """A schema as text, or as what json.loads() gives. The order of properties counts."""
        return cls("json_schema", schema if isinstance(schema, str) else json.dumps(schema), options)

    @classmethod
    def json_object(cls, **options: Any) -> Self:
        """Any JSON object."""
        return cls("json_object", "", options)

    @classmethod
    def regex(cls, pattern: str) -> Self:
        """The whole text matches."""
        return cls("regex", pattern)

    @classmethod
    def choice(cls, texts: Sequence[str]) -> Self:
        """One of the texts."""
        return cls("choice", json.dumps(list(texts)))

    @classmethod
    def chat(cls, family: str, request: Mapping[str, Any], **members: Any) -> Self:
        """What a model of a family may answer to an OpenAI request. `members`: reasoning, strictness,
        bad_tools (docs/chat.md)."""
        return cls("chat", json.dumps({"family": family, **members, "request": dict(request)}))

    def to_json(self) -> dict[str, Any]:
        """As a Grammar of protos/maskd/v1 in JSON."""
        message: dict[str, Any] = {"kind": self.kind, "source": self.source}
        if self.options:
            message["options"] = dict(self.options)
        return message


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A grammar that the server has: rows are opened on its id."""

    id: str
    from_cache: bool
    warnings: list[tuple[str, str]]  # place, message
