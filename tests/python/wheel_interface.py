"""What the sources of a package say of its interface, read without importing it: signatures of its
classes, and
how it calls a method wherever it does."""

import ast
import functools
import pathlib
from collections.abc import Iterator


class Sources:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.version = folder.name.partition("-")[2]

    @functools.cache  # noqa: B019: there are two of them
    def tree(self, module: str) -> ast.Module:
        base = self.folder / module.replace(".", "/")
        path = base.with_suffix(".py") if base.with_suffix(".py").exists() else base / "__init__.py"
        return ast.parse(path.read_text())

    def find(self, path: str) -> ast.stmt:
        """`module:name` or `module:Class.name`. Errors: LookupError."""
        module, _, names = path.partition(":")
        body = self.tree(module).body
        for name in names.split("."):
            found = [each for each in body if getattr(each, "name", None) == name]
            if not found:
                raise LookupError(f"{path}: there is no {name}")
            body = getattr(found[0], "body", [])
        return found[0]

    def parameters(self, path: str) -> dict[str, bool]:
        """Of a function: whether each of its parameters must be given; `self` left out."""
        function = self.find(path)
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef), path
        of = function.args
        positional = [*of.posonlyargs, *of.args]
        required = len(positional) - len(of.defaults)
        all_of_them = {each.arg: i < required for i, each in enumerate(positional)}
        all_of_them |= {each.arg: default is None
                        for each, default in zip(of.kwonlyargs, of.kw_defaults, strict=True)}
        return {name: must for name, must in all_of_them.items() if name not in ("self", "cls")}

    def members(self, path: str) -> set[str]:
        """Of a class: its methods, and its names that are assigned."""
        names: set[str] = set()
        for each in self.find(path).body:  # type: ignore[attr-defined]
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(each.name)
            elif isinstance(each, ast.Assign):
                names.update(target.id for target in each.targets if isinstance(target, ast.Name))
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                names.add(each.target.id)
        return names

    def modules(self) -> Iterator[tuple[str, ast.Module]]:
        """All of the package that name grammars or structured outputs."""
        for path in sorted(self.folder.rglob("*.py")):
            text = path.read_text(errors="replace")
            if "grammar" in text or "structured_output" in text:
                yield str(path.relative_to(self.folder)), ast.parse(text)

    @functools.cache  # noqa: B019
    def calls(self) -> list[tuple[str, str, str, int, tuple[str, ...]]]:
        """Of each call `holder.name(...)`: file and line, the holder's last name, the method, how
        many
        arguments stand by place, and the names of the others."""
        return [(f"{path}:{each.lineno}", _last_name(each.func.value), each.func.attr, len(each.args),
                 tuple(word.arg or "**" for word in each.keywords))
                for path, tree in self.modules() for each in ast.walk(tree)
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]

    def uses(self, holder: str) -> Iterator[tuple[str, str]]:
        """Of each `....holder.name`: file and line, and the name."""
        for path, tree in self.modules():
            for each in ast.walk(tree):
                if isinstance(each, ast.Attribute) and _last_name(each.value) == holder:
                    yield f"{path}:{each.lineno}", each.attr


def _last_name(of: ast.expr) -> str:
    if isinstance(of, ast.Name):
        return of.id
    return of.attr if isinstance(of, ast.Attribute) else ""
