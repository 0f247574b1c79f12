"""peers.md B12: an interface only where nothing simpler works. Of each class with virtual functions there are two
kinds or more, or a reason is given here."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("client", "grammar_core", "service", "cache", "local", "ring", "memory", "metrics", "cpu", "reasons")
# Interface -> why it has one implementation.
REASONS = {"CallView": "the work of a call is tested without gRPC",
           "CharEdgeSource": "intersections, below the derivatives, are handed their edges",
           "Clock": "tests and benchmarks have clocks that they move",
           "LocalEngine": "the client sees nothing of the service: local/ implements it",
           "NodeLowering": "terms of objects lower their members by what includes them",
           "OpenClApplier": "its header needs none of OpenCL's",
           "TextMasks": "mask routes, below the rows, ask for the masks of another place"}
CLASS = re.compile(r"^ *(?:class|struct) (\w+)(?: final)?(?: : public (?:\w+::)*(\w+))?[^;]*\{", re.MULTILINE)
VIRTUAL = re.compile(r"\bvirtual\b(?! ~)")


def kinds(sources: list[str]) -> dict[str, int]:
    """Class with virtual functions -> kinds of it: those derived, and itself where it leaves nothing open."""
    found: dict[str, int] = {}
    derived: list[str] = []
    for source in sources:
        classes = list(CLASS.finditer(source))
        ends = [each.start() for each in classes[1:]] + [len(source)]
        for at, end in zip(classes, ends, strict=False):
            body = source[at.end():end]
            if at[2]:
                derived.append(at[2])
            if VIRTUAL.search(body):
                found[at[1]] = 0 if "= 0;" in body else 1
    return {name: own + derived.count(name) for name, own in found.items()}


def read(folder: str) -> list[str]:
    return [path.read_text() for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cc")]


def test_b12_an_interface_has_two_implementations_or_a_reason():
    found = kinds([source for room in ROOMS for source in read(room)])
    assert {"Applier", "MaskDictionary", "StepCall", "CallEvent", "TextMasks"} <= set(found)
    assert {name for name, count in found.items() if count < 2} == set(REASONS)


def test_what_is_counted():
    assert kinds(["class A {\n virtual void F() = 0;\n};\nclass B final : public A {\n};\n"]) == {"A": 1}
    assert kinds(["class A {\n virtual void F();\n};\n", "class B : public x::A {\n};\n"]) == {"A": 2}
    assert kinds(["class A {\n virtual ~A();\n};\n"]) == {}
