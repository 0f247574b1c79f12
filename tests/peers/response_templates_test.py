"""Families that `maskctl family import` makes of response templates, against transformers' own parser.

The templates are those that transformers 5.23.0 and TRL 1.16.0 ship, read out of their wheels (scripts/engine-sources);
response_templates.json says of each what stands for white space (`space`), and where it is refused without that
(`refused_without_space`) or at all (`refused`). Of those that are taken, answers are walked out of the family's grammar, and
answers are rendered by the chat templates that TRL ships for them: transformers' parser and ours read the same message.

White space around texts is not compared, as transformers strips it. DIFFERENCES has the rest of what it reads otherwise than it
was written; the walks have nothing of that.
"""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

pytest.importorskip("jinja2", reason="SKIPPED: the package Jinja2 is not installed (scripts/python-env)")
pytest.importorskip("regex", reason="SKIPPED: the package regex is not installed (scripts/python-env)")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import chat_templates  # noqa: E402
import response_templates  # noqa: E402

Json = dict[str, Any]

ROOT = pathlib.Path(__file__).parents[2]
MASKCTL = os.environ.get("MASKD_MASKCTL", str(ROOT / "build/release/tools/maskctl"))
WALKS = os.environ.get("MASKD_ANSWER_WALKS", str(ROOT / "build/release/tests/peers/answer_walks"))
TABLE: dict[str, Json] = json.loads(pathlib.Path(__file__).with_name("response_templates.json").read_text())
TAKEN = [name for name, row in TABLE.items() if "refused" not in row]


def tool(name: str, properties: Json, required: list[str] | None = None) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": properties, "additionalProperties": False,
        "required": list(properties) if required is None else required}}}


TOOLS = [
    tool("all_types", {
        "text": {"type": "string"}, "count": {"type": "integer"}, "on": {"type": "boolean"},
        "size": {"type": "number", "minimum": -1e9, "maximum": 1e9}, "gone": {"type": "null"}, "items": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "inner": {"type": "object", "additionalProperties": False, "required": ["key"], "properties": {
            "key": {"type": "string"}, "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 2}}}}),
    tool("optional", {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                      "c": {"type": ["integer", "string"]}, "d": {"type": "array"}, "e": {"type": "boolean"}}, []),
    tool("nothing", {}),
    tool("choice", {"unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                    "level": {"type": "integer", "enum": [1, 2]}}),
]
# Refused by a family whose names are of word characters.
ODD_TOOLS = [*TOOLS, tool("get-it.v1/x:y", {"x-y": {"type": "string"}, "x.y": {"type": "integer"}})]
PIECES = [
    "rain ", "Oslo", "é", "😀", "\u2028", "\n", " ", "  ", "<", ">", '"', '\\"', "\\n", "\\u00e9", "'", "`", "{", "}", "[",
    "]", ":", ",", ", ", "null", "true", "false", "0", "7", "-1.5e3", "12", "</", "<|", "<tool_call>", "<think>",
    "<|im_end|>", "<|eot_id|>", "<|user|>", "<eos>", "<turn|>", "<|tool_response>", "<|tool_call>", '<|"|>', "<parameter=",
    "<function=", "<arg_value>", "</parameter>", "</arg_value>", "<|channel>", "<|tool_call>call:", '{"name": "']


class Difference(NamedTuple):
    name: str
    text: str
    calls: list[tuple[str, Json]]  # as we read them
    content: str
    why: str


# What transformers reads otherwise than it was written, or not at all.
DIFFERENCES = [
    Difference("tf_qwen2", '<tool_call>\n{"name": "optional", "arguments": {"a": "</tool_call>"}}\n</tool_call>',
               [("optional", {"a": "</tool_call>"})], "", "what closes a call ends it within a string, too"),
    Difference("trl_glm4moe", "<tool_call>optional\n<arg_key>a</arg_key>\n<arg_value></tool_call></arg_value></tool_call>",
               [("optional", {"a": "</tool_call>"})], "", "the same within an element"),
    Difference("trl_glm4moe", "<tool_call>optional\n<arg_key>a</arg_key>\n<arg_value> x </arg_value></tool_call>",
               [("optional", {"a": " x "})], "", "white space around strings in elements is stripped"),
    Difference("trl_glm4moe", "<tool_call>untyped\n<arg_key>level</arg_key>\n<arg_value>1</arg_value></tool_call>",
               [("untyped", {"level": 1})], "", "elements have types by 'type', 'anyOf' and 'oneOf' alone"),
    Difference("trl_glm4moe", "<tool_call>untyped\n<arg_key>far</arg_key>\n<arg_value>1e400</arg_value></tool_call>",
               [("untyped", {"far": float("inf")})], "", "a number past any double stays a text"),
    Difference("trl_qwen3", 'One.\n<tool_call>\n{"name": "nothing", "arguments": {}}\n</tool_call>\nTwo.',
               [("nothing", {})], "One.\nTwo.", "beside calls the last stretch of content is kept alone"),
]


class Sources(NamedTuple):
    parser: Any
    templates: dict[str, Json]
    trl: response_templates.Trl

    def read(self, name: str, text: str, tools: list[Json]) -> Json:
        """What transformers reads, as maskctl prints messages. The turn's end is written, as by a model."""
        said = self.parser.parse_response(text + TABLE[name]["turn_ends"][0], self.templates[name], prefix="", tools=tools)
        calls = [each["function"] for each in said.get("tool_calls", [])]
        kept = {key: said.get(key, "") for key in ("reasoning_content", "content")} | {"tool_calls": calls}
        return {key: value for key, value in kept.items() if value}


@pytest.fixture(scope="session")
def sources() -> Sources:
    done = subprocess.run([ROOT / "scripts/engine-sources", "transformers==5.23.0", "trl==1.16.0"],
                          capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"SKIPPED: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    transformers, trl = map(pathlib.Path, done.stdout.split())
    of_trl = response_templates.Trl(trl)
    fallbacks = response_templates.fallbacks_of(transformers)
    templates = {f"tf_{key}": value for key, value in fallbacks.items()}
    templates |= {f"trl_{key}": value for key, value in of_trl.templates.items()}
    return Sources(response_templates.parser_of(transformers), templates, of_trl)


def imported(template: Json, folder: pathlib.Path, row: Json) -> subprocess.CompletedProcess[str]:
    file = folder / "template.json"
    file.write_text(json.dumps({"response_template": template}))
    flags = [f"--{key}={row[key].encode('unicode_escape').decode()}" for key in ("space", "behind_arguments") if key in row]
    return subprocess.run([MASKCTL, "family", "import", "mine", *flags, file], capture_output=True, text=True)


def family_of(sources: Sources, name: str, folder: pathlib.Path) -> pathlib.Path:
    done = imported(sources.templates[name], folder, TABLE[name])
    assert done.returncode == 0, done.stderr
    file = folder / "family.json"
    file.write_text(done.stdout)
    return file


def walks(asked: Json) -> list[str]:
    done = subprocess.run([WALKS], input=json.dumps(asked) + "\n", capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert "error" not in answer, answer
    texts: list[str] = answer["texts"]
    return texts


def read_back(family: pathlib.Path, reasoning: str, request: Json, texts: list[str]) -> list[Json]:
    """The messages that maskctl reads; every text is taken."""
    file = family.with_name("transcripts.jsonl")
    # No message is {"probe": 1}: each is reported as what it reads as.
    rows = [{"request": request, "reasoning": reasoning, "text": text, "message": {"probe": 1}} for text in texts]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = subprocess.run([MASKCTL, "family", "test", family, "--local", "--json", file], capture_output=True, text=True)
    wrong = json.loads(said.stdout)["wrong"]
    assert len(wrong) == len(texts), said.stdout + said.stderr
    messages = []
    for text, row in zip(texts, wrong, strict=True):
        assert row["fault"].startswith("reads as "), f"{row['fault']}\n  {text!r}"
        messages.append(json.loads(row["fault"].removeprefix("reads as ")))
        for call in messages[-1].get("tool_calls", []):
            if isinstance(call["arguments"], str):  # numbers past any double
                call["arguments"] = json.loads(call["arguments"])
    return messages


def plain(value: Any, is_stripped: bool) -> Any:
    """Numbers as doubles, as maskctl prints them; texts without white space around them where `is_stripped`."""
    if isinstance(value, str):
        return value.strip() if is_stripped else value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list):
        return [plain(each, is_stripped) for each in value]
    return {key: plain(each, is_stripped) for key, each in value.items()} if isinstance(value, dict) else value


def same(ours: Json, theirs: Json, strips_arguments: bool) -> bool:
    """Beside calls transformers keeps the last stretch of content alone."""
    content = [each.get("content", "").strip() for each in (ours, theirs)]
    calls = [plain(each.get("tool_calls", []), strips_arguments) for each in (ours, theirs)]
    thoughts = [each.get("reasoning_content", "").strip() for each in (ours, theirs)]
    is_same = content[0].endswith(content[1]) if calls[0] else content[0] == content[1]
    return bool(is_same and thoughts[0] == thoughts[1] and calls[0] == calls[1])


def is_of_elements(sources: Sources, name: str) -> bool:
    return bool(sources.templates[name]["fields"]["tool_calls"]["content"] == "xml-inline")


def test_the_table_names_every_template(sources: Sources) -> None:
    assert TABLE.keys() == sources.templates.keys()


@pytest.mark.parametrize("name", TABLE)
def test_taken_or_refused_at_its_place(name: str, sources: Sources, tmp_path: pathlib.Path) -> None:
    row = TABLE[name]
    with_space = imported(sources.templates[name], tmp_path, row)
    without = imported(sources.templates[name], tmp_path, {})
    assert with_space.returncode == ("refused" in row), with_space.stderr
    for done, place in ((with_space, row.get("refused")), (without, row.get("refused_without_space"))):
        if place is not None:
            assert done.returncode == 1 and f": /response_template{place}: " in done.stderr, done.stderr


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", TAKEN)
def test_walked_answers_read_the_same(name: str, choice: str, sources: Sources, tmp_path: pathlib.Path) -> None:
    family = family_of(sources, name, tmp_path)
    file = json.loads(family.read_text())
    has_words = '"word"' in family.read_text()
    tools = TOOLS if has_words else ODD_TOOLS
    request = {"tools": tools, "tool_choice": choice}
    found = []
    for reasoning in ("off", "on") if "reasoning" in file else ("off",):
        walked = walks({"source": {"family": file, "request": request, "reasoning": reasoning}, "pieces": PIECES,
                        "walks": 300 if os.environ.get("MASKD_LONG") else 100, "steps": 60, "seed": 1})
        # transformers' parser keeps two characters for itself and refuses a text that has one.
        texts = [text for text in walked if not {"\x01", "\x02"} & set(text)]
        assert len(texts) > 0.9 * len(walked), f"{len(texts)} of {len(walked)}"
        for text, ours in zip(texts, read_back(family, reasoning, request, texts), strict=True):
            theirs = sources.read(name, text, tools)
            if not same(ours, theirs, is_of_elements(sources, name)):
                found.append(f"{text!r}\n  ours   {ours}\n  theirs {theirs}")
    assert not found, f"{len(found)} answers\n" + "\n".join(found[:5])


def rendered(sources: Sources, name: str) -> Iterator[tuple[str, str, Json]]:
    for chat, source in sources.trl.chats.items():
        of = sources.trl.template_for(chat)
        if of is None or of != name.split("_", 1)[1] and of != TABLE[name].get("chats"):
            continue
        answers = chat_templates.Answers(source, TABLE[name]["turn_ends"])
        for why, message in chat_templates.messages():
            try:
                yield f"{chat}, {why}", answers.text(message), message
            except chat_templates.NoAnswer:
                continue


@pytest.mark.parametrize("name", TAKEN)
def test_answers_of_chat_templates_read_back(name: str, sources: Sources, tmp_path: pathlib.Path) -> None:
    family = family_of(sources, name, tmp_path)
    made = list(rendered(sources, name))
    assert sum("tool_calls" in message for _, _, message in made) > 0
    reasoning = "auto" if "reasoning" in json.loads(family.read_text()) else "off"
    read = read_back(family, reasoning, {"tools": chat_templates.TOOLS}, [text for _, text, _ in made])
    found = []
    for (why, text, message), ours in zip(made, read, strict=True):
        theirs = sources.read(name, text, chat_templates.TOOLS)
        if not plain(ours, True) == plain(message, True) == plain(theirs, True):
            found.append(f"{why}: {text!r}\n  ours   {ours}\n  theirs {theirs}")
    assert not found, f"{len(found)} of {len(made)} answers\n" + "\n".join(found)


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.why)
def test_what_is_read_otherwise(row: Difference, sources: Sources, tmp_path: pathlib.Path) -> None:
    untyped = tool("untyped", {"level": {"enum": [1, 2]}, "far": {"type": "number"}}, [])
    tools = [*TOOLS, untyped]
    [ours] = read_back(family_of(sources, row.name, tmp_path), "off", {"tools": tools}, [row.text])
    calls = [(each["name"], plain(each["arguments"], False)) for each in ours["tool_calls"]]
    assert (calls, ours.get("content", "")) == ([(each[0], plain(each[1], False)) for each in row.calls], row.content)
    try:
        theirs = sources.read(row.name, row.text, tools)
    except ValueError:
        return
    is_same = plain(ours["tool_calls"], False) == plain(theirs.get("tool_calls", []), False)
    assert not is_same or row.content != theirs.get("content", ""), f"equal now: delete it ({row.why})"
