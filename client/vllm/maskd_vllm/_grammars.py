"""A request's structured outputs as a grammar of maskd."""

from typing import Any

from maskd._dialects import grammar_of
from maskd._endpoints import Settings
from maskd._grammar import Grammar


def grammar_for(key: tuple[Any, str], params: Any, config: Any, settings: Settings) -> Grammar:
    """`key`: get_structured_output_key()'s; `params`: a StructuredOutputsParams; `config`: the
    engine's
    StructuredOutputsConfig. The engine's backend names the syntax of grammars and its defaults."""
    kind, spec = key
    engines: dict[str, Any] = {}
    compact = config.disable_any_whitespace or params.disable_any_whitespace
    if compact:
        engines["white_space"] = "WHITE_SPACE_COMPACT"
    if kind.name == "STRUCTURAL_TAG" and '"family"' in spec[:16]:  # of _parser.py: a tag begins otherwise
        if compact:  # as chat templates write arguments, so that a model stays on its way
            engines |= {"item_separator": ", ", "key_separator": ": "}
        return settings.with_options(Grammar("chat", spec), **engines)
    if config.disable_additional_properties or params.disable_additional_properties:
        engines["additional_properties"] = False
    backend = config.backend if config.backend in _DIALECTS else "xgrammar"
    grammar = grammar_of(kind.name.lower(), spec, backend)
    if compact:  # a bound says nothing of no white space, and is an error beside it
        bounded = {name: value for name, value in grammar.options.items() if name != "max_whitespace"}
        grammar = Grammar(grammar.kind, grammar.source, bounded)
    return settings.with_options(grammar, **engines)


_DIALECTS = frozenset({"xgrammar", "guidance", "outlines", "lm-format-enforcer"})
