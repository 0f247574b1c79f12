#!/usr/bin/env python3
"""The structural tags that xgrammar makes for models' tool calls, here and in xgrammar itself.

  tests/peers/model_tags.py [--seed S]

Every model, tool choice and kind of reasoning that xgrammar knows; texts are put together of the
tag's own parts so that xgrammar takes them, and then spoilt. With --any_order members of arguments
come in any order: xgrammar then takes one twice and leaves out required ones, and differs in that.

Where no registry gives xgrammar it ends with 77.
"""

import argparse
import itertools
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import xgrammar_peer  # noqa: E402
from engine import Engine  # noqa: E402


def tool(name: str, properties: dict, required: list) -> dict:
    return {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": properties, "required": required, "additionalProperties": False}}}


TOOLS = [
    tool("get_weather", {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]}},
         ["city"]),
    tool("add", {"a": {"type": "number"}, "l": {"type": "boolean"}}, ["a"])]
CHOICES = ["auto", "required", "none", {"type": "function", "function": {"name": "add"}}]
VALUES = ["1", "Paris", '{"city":"Paris"}', '{"city":"P","days":3}', '{"a":3,"l":true}', "true", "c",
          "hello ", "\n", " ", "-2.5", "<", "{}", "{", "}", ","]
ARGUMENTS = [("city", "Paris", "string"), ("days", "3", "number"), ("unit", "c", "string"),
             ("a", "3.5", "number"), ("l", "true", "boolean"), ("q", "1", "number")]
STRING = {"string": "true"}
RAW = {"string": "raw"}


def elements(name: str, value: str, kind: str) -> list:
    """An argument in every style."""
    dsml = f'parameter name="{name}" string="{STRING.get(kind, "false")}">{value}</｜DSML｜'
    return [f"<parameter={name}>{value}</parameter>",
            f'<parameter name="{name}">{value}</parameter>',
            f"]<]minimax[>[<{name}>{value}]<]minimax[>[</{name}>",
            f"<｜DSML｜{dsml}parameter>", f"<｜DSML｜ {dsml} parameter>",
            f"<arg_key>{name}</arg_key><arg_value>{value}</arg_value>",
            f'{name}:<|"|>{value}<|"|>' if kind == "string" else f"{name}:{value}",
            f'<cofl:value name="{name}" type="{RAW.get(kind, "json")}">{value}</cofl:value>',
            f'<|open|>argument key="{name}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>']


def strings(part, found: set) -> set:
    """Those of a tag that may stand in a text."""
    if isinstance(part, str):
        found.add(part)
    elif isinstance(part, list):
        for element in part:
            strings(element, found)
    elif isinstance(part, dict):
        for key, element in part.items():
            if key not in ("json_schema", "type"):
                strings(element, found)
    return found


def texts_of(matcher_of, fragments: list, rnd) -> list:
    texts = {""}
    for _ in range(12):
        matcher, parts = matcher_of(), []
        for _ in range(rnd.randint(1, 14)):
            taken = next((text for text in rnd.sample(fragments, len(fragments))
                          if text and matcher.accept_string(text)), None)
            if taken is None:
                break
            parts.append(taken)
        texts.add("".join(parts))
        for i in range(min(len(parts), 2)):
            spoilt = parts.copy()
            spoilt[rnd.randrange(len(parts))] = rnd.choice(fragments) if i else ""
            texts.add("".join(spoilt))
    return sorted(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--any_order", action="store_true")
    flags = parser.parse_args()
    try:
        peer = xgrammar_peer.Xgrammar()
    except xgrammar_peer.Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)
    engine, rnd = Engine(), random.Random(flags.seed)
    from xgrammar import GrammarMatcher
    from xgrammar import builtin_structural_tag as builtin

    compared = different = tags = 0
    arguments = list(itertools.chain.from_iterable(elements(*each) for each in ARGUMENTS))
    models = sorted(builtin._structural_tag_registry)
    for model, choice, reasoning in itertools.product(models, CHOICES, ["enabled", "disabled"]):
        source = builtin.get_model_structural_tag(
            model, tools=TOOLS, tool_choice=choice, reasoning=reasoning,
            any_order=flags.any_order).model_dump_json()
        compiled = peer.compile(source)
        fragments = sorted(strings(json.loads(source), set())) + VALUES + arguments
        texts = texts_of(lambda: GrammarMatcher(compiled), fragments, rnd)
        ours = engine.ask("structural_tag", source, texts)
        tags += 1
        compared += len(texts)
        theirs = [peer.verdict(compiled, text) for text in texts]
        wrong = [text for text, mine, its in zip(texts, ours.get("verdicts", theirs), theirs) if mine != its]
        if wrong or not ours["ok"]:
            different += 1
            print(f"{model} {choice} {reasoning}: {ours.get('error', wrong[:3])}\n{source}")
    print(f"{len(models)} models, {tags} tags, {compared} texts; {different} tags differ")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
