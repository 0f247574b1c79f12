"""Grammars as the client takes them and as the server answers."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Self


@dataclasses.dataclass(frozen=True)
class Grammar:
    """What is to be compiled: kind, source and the options of protos/maskd/v1's GrammarOptions.

        Grammar.json_schema({"type": "object"}, white_space="WHITE_SPACE_COMPACT")
        Grammar("lark", text)
    """

    kind: str
    source: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

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

    def to_json(self) -> dict[str, Any]:
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
