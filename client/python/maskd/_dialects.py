"""What a request means under the names of the in-process libraries: the syntax of their grammars, and
their defaults for white space and the order of keys.

xgrammar            EBNF (Lark where no line has "::="); any white space, keys as declared
guidance            Lark (EBNF where a line has "::="); any white space, keys as declared
outlines            no grammars; at most one character of white space between tokens, keys as declared
lm-format-enforcer  no grammars; up to 12 characters of white space, keys in any order

Source: their documentation and the defaults that vLLM passes them (xgrammar 0.2, llguidance 1.9,
outlines-core 0.2, lm-format-enforcer 0.11).
"""

import json
from typing import Any, NamedTuple

from maskd._errors import MaskdError
from maskd._grammar import Grammar


class Dialect(NamedTuple):
    """What one library's name stands for."""
    has_grammars: bool
    json_options: dict[str, Any]


_FLEXIBLE: dict[str, Any] = {"white_space": "WHITE_SPACE_FLEXIBLE"}
DIALECTS = {
    "xgrammar": Dialect(True, _FLEXIBLE),
    "guidance": Dialect(True, _FLEXIBLE),
    "outlines": Dialect(False, {**_FLEXIBLE, "max_whitespace": 1}),
    "lm-format-enforcer": Dialect(False, {**_FLEXIBLE, "max_whitespace": 12,
                                          "property_order": "PROPERTY_ORDER_ANY"}),
}
KINDS = ("json", "json_object", "regex", "grammar", "choice", "structural_tag")


def dialect_of(name: str) -> Dialect:
    """Errors: INVALID_ARGUMENT, with the names there are."""
    if name not in DIALECTS:
        raise MaskdError("INVALID_ARGUMENT",
                         f'backend: "{name}" is not one of {", ".join(DIALECTS)}')
    return DIALECTS[name]


def grammar_of(kind: str, spec: str, backend: str = "xgrammar") -> Grammar:
    """A request of an engine as a grammar. `kind`: one of KINDS; `choice` is a JSON array of texts."""
    dialect = dialect_of(backend)
    if kind == "json":
        return Grammar("json_schema", spec, dialect.json_options)
    if kind == "json_object":
        return Grammar("json_object", "", dialect.json_options)
    if kind == "regex":
        return Grammar("regex", spec)
    if kind == "choice":
        return Grammar("choice", spec if isinstance(spec, str) else json.dumps(spec))
    if kind == "structural_tag":
        return Grammar("structural_tag", spec, dialect.json_options)
    if kind != "grammar":
        raise MaskdError("INVALID_ARGUMENT", f'kind: "{kind}" is not one of {", ".join(KINDS)}')
    if not dialect.has_grammars:
        raise MaskdError("UNIMPLEMENTED", f"backend: {backend} has no kind grammar")
    return Grammar("ebnf" if "::=" in spec else "lark", spec)
