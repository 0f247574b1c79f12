"""SGLang's own parsers of calls, out of its wheel, without what the rest of SGLang depends on.

They are plain Python; a few modules that they import stand here as far as whole texts need them. What would be
needed for streams (orjson, partial_json_parser) raises when it is called.
"""

import importlib
import json
import pathlib
import sys
import types
from typing import Any

import pydantic

BASE = "sglang.srt.function_call"


class Function(pydantic.BaseModel):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool = False


class Tool(pydantic.BaseModel):
    type: str = "function"
    function: Function


class _Flag:
    """One of SGLang's settings: as it is without a word."""

    def get(self) -> bool:
        return False


class _Flags:
    def __getattr__(self, name: str) -> _Flag:
        return _Flag()


def _missing(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("is no part of a whole text's parsing")


def _stand_in(name: str, **members: Any) -> None:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    module.__path__ = []
    sys.modules[name] = module


def install(source: pathlib.Path) -> None:
    """Makes sglang.srt.function_call of the wheel's folder `source` importable."""
    for name in ("sglang", "sglang.srt", "sglang.srt.entrypoints", "sglang.srt.entrypoints.openai",
                 "partial_json_parser.core"):
        _stand_in(name)
    _stand_in("sglang.srt.entrypoints.openai.protocol", Tool=Tool, ToolChoice=object,
              Function=Function)
    _stand_in("sglang.srt.environ", envs=_Flags())
    _stand_in("orjson", loads=json.loads, dumps=_missing, JSONDecodeError=json.JSONDecodeError)
    _stand_in("partial_json_parser", loads=_missing)
    _stand_in("partial_json_parser.core.exceptions", MalformedJSON=ValueError)
    _stand_in("partial_json_parser.core.options", Allow=types.SimpleNamespace(STR=1, ALL=2))
    _stand_in(BASE)
    sys.modules[BASE].__path__ = [str(source / "sglang/srt/function_call")]


def calls_of(detector: str, text: str, tools: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """What `detector`, MODULE.CLASS, makes of a whole text: names and arguments."""
    module, name = detector.split(".")
    parser = getattr(importlib.import_module(f"{BASE}.{module}"), name)()
    found = parser.detect_and_parse(text, [Tool(**tool) for tool in tools])
    return [(call.name, json.loads(call.parameters)) for call in found.calls]
