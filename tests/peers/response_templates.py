"""The response templates that transformers and TRL ship, and transformers' own parser, out of their wheels.

Neither package is installed: both ask for torch and more. What is run of them is what reads answers. Of
transformers that is the package utils/chat_parsing, beside stand-ins for the two modules that it imports, a logger
and a reader of Python functions; of TRL the assignments of chat_template_utils.py, and its function that says which
response template goes with a chat template.
"""

import ast
import importlib
import logging
import pathlib
import sys
import types
from typing import Any

import packaging.version

Template = dict[str, Any]


def parser_of(folder: pathlib.Path) -> Any:
    """The module transformers.utils.chat_parsing of the wheel in `folder`."""

    def module(name: str, **members: Any) -> types.ModuleType:
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        return made

    utils = folder / "transformers/utils"
    module("transformers", __path__=[str(utils.parent)])
    module("transformers.utils", __path__=[str(utils)], logging=types.SimpleNamespace(get_logger=logging.getLogger))
    module("transformers.utils.chat_template_utils", get_json_schema=None)
    return importlib.import_module("transformers.utils.chat_parsing")


def fallbacks_of(folder: pathlib.Path) -> dict[str, Template]:
    """What transformers reads models of each type with, where their files have nothing."""
    tree = ast.parse((folder / "transformers/cli/serving/utils.py").read_text())
    found: dict[tuple[str, ...], Template] = next(
        ast.literal_eval(each.value) for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        and each.targets[0].id == "_RESPONSE_TEMPLATE_FALLBACKS")
    return {names[0]: template for names, template in found.items()}


class Trl:
    """`templates`: its response templates by name. `chats`: its chat templates by name."""

    def __init__(self, folder: pathlib.Path) -> None:
        path = folder / "trl/chat_template_utils.py"
        tree = ast.parse(path.read_text())
        kept = [each for each in tree.body
                if isinstance(each, (ast.Assign, ast.For))
                or isinstance(each, ast.FunctionDef) and each.name == "add_response_schema"]
        for each in kept:
            if isinstance(each, ast.FunctionDef):
                each.returns = None
                for argument in each.args.args:
                    argument.annotation = None
        self._module: dict[str, Any] = {
            "__file__": str(path), "Path": pathlib.Path, "Version": packaging.version.Version,
            "transformers": types.SimpleNamespace(__version__="5.23.0"), "TypeVar": lambda *names: names,
            "ProcessorMixin": types.SimpleNamespace, "PreTrainedTokenizerBase": None}
        exec(compile(ast.Module(kept, []), str(path), "exec"), self._module)  # noqa: S102
        self.templates: dict[str, Template] = {
            name.removesuffix("_template"): value for name, value in self._module.items()
            if name.endswith("_template") and isinstance(value, dict)}
        self.chats = {each.stem: each.read_text() for each in sorted((path.parent / "chat_templates").glob("*.jinja"))}

    def template_for(self, chat: str) -> str | None:
        """The name of the response template that goes with a chat template."""
        tokenizer = types.new_class("Tokenizer")()
        tokenizer.chat_template = self.chats[chat]
        try:
            self._module["add_response_schema"](tokenizer)
        except ValueError:
            return None
        return next(name for name, value in self.templates.items() if value is tokenizer.response_template)
