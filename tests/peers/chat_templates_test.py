"""What the chat templates of models write is taken by a family of ours, and reads back as the message that was rendered.

The templates are the 70 that llama-cpp-python's source archive ships (scripts/llama-cpp). chat_templates.json says for each
which family is held to it, with which mode of reasoning, what begins and ends the model's turn, and whether the template
writes content beside calls as reasoning (`content_beside_calls`); or why none is
(`without`); or which of its answers differ and why (`differs`). White space around content is not compared: templates
add and strip it. Over bytes; tests/frontend/real_markers_test.cc has the same answers, which
`chat_templates_test.py write FOLDER` puts into tests/peers/template_answers.jsonl, over real vocabularies.
"""

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="SKIPPED: the package Jinja2 is not installed (scripts/python-env)")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import chat_templates  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
TABLE: dict[str, dict[str, Any]] = json.loads(pathlib.Path(__file__).with_name("chat_templates.json").read_text())
WRITTEN = ROOT / "tests/peers/template_answers.jsonl"
HELD = [name for name, row in TABLE.items() if "family" in row]


@pytest.fixture(scope="session")
def folder() -> pathlib.Path:
    done = subprocess.run([ROOT / "scripts/llama-cpp", "sources"], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"SKIPPED: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip()) / "models/templates"


def transcripts(source: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    """One for each kind of answer that the template writes."""
    answers = chat_templates.Answers(source, row.get("ends", []), row.get("begin", ""))
    made = []
    for why, message in chat_templates.messages():
        try:
            text = answers.text(message)
        except chat_templates.NoAnswer:
            continue
        if row.get("content_beside_calls") == "reasoning" and "tool_calls" in message and "content" in message:
            message["reasoning_content"] = message.pop("content")
        made.append({"why": why, "request": {"tools": chat_templates.TOOLS}, "text": text, "takes": True,
                     "reasoning": row.get("reasoning", "off"), "message": message})
    return made


def wrong(family: str, made: list[dict[str, Any]], file: pathlib.Path) -> list[str]:
    """What maskctl says of the transcripts that are refused, or read as something else than their message."""
    file.write_text("".join(json.dumps(each) + "\n" for each in made))
    said = subprocess.run([os.environ["MASKD_MASKCTL"], "family", "test", family, "--local", "--json", file],
                          capture_output=True, text=True)
    report = json.loads(said.stdout)
    assert report["family"] == family and report["transcripts"] == len(made), said.stdout + said.stderr
    found = []
    for each, verdict in ((made[row["line"] - 1], row["fault"]) for row in report["wrong"]):
        if not verdict.startswith("reads as ") or stripped(json.loads(verdict[9:])) != stripped(each["message"]):
            found.append(f"{each['why']}: {verdict}\n  {each['text']!r}")
    return found


def stripped(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content", "").strip()
    rest = {name: value for name, value in message.items() if name != "content"}
    return rest | {"content": content} if content else rest


def test_the_table_names_every_template(folder: pathlib.Path) -> None:
    assert sorted(TABLE) == sorted(each.stem for each in folder.glob("*.jinja"))


@pytest.mark.parametrize("name", HELD)
def test_answers_read_back(name: str, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    row = TABLE[name]
    made = transcripts((folder / f"{name}.jinja").read_text(), row)
    assert any("tool_calls" in each["message"] for each in made), "the template writes no call"
    found = wrong(row["family"], made, tmp_path / "transcripts.jsonl")
    if "differs" in row:
        assert found, f"all {len(made)} answers are equal now: delete its 'differs' in chat_templates.json"
    else:
        assert not found, f"{len(found)} of {len(made)} answers\n" + "\n".join(found)


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.get("without") == "it writes no calls"])
def test_a_template_without_calls_has_none(name: str, folder: pathlib.Path) -> None:
    made = transcripts((folder / f"{name}.jinja").read_text(), {})
    assert not any("tool_calls" in each["message"] for each in made)


def written(folder: pathlib.Path) -> str:
    """The request, then the answers of all templates that read back equal, a line each."""
    lines = [json.dumps({"request": {"tools": chat_templates.TOOLS}}) + "\n"]
    lines += [json.dumps({"template": name, "family": TABLE[name]["family"],
                          **{key: each[key] for key in ("reasoning", "text", "message")}}, ensure_ascii=False) + "\n"
              for name in HELD if "differs" not in TABLE[name]
              for each in transcripts((folder / f"{name}.jinja").read_text(), TABLE[name])]
    return "".join(lines)


def test_the_written_answers_are_those_of_the_templates(folder: pathlib.Path) -> None:
    assert WRITTEN.read_text() == written(folder), f"write it again: {pathlib.Path(__file__).name} write FOLDER"


def test_nine_in_ten_are_the_bar() -> None:
    """Of the templates that write calls. The bar itself is 90 %; what is reached is kept."""
    can_call = [row for row in TABLE.values() if row.get("without") != "it writes no calls"]
    equal = [row for row in can_call if "family" in row and "differs" not in row]
    print(f"{len(equal)} of {len(can_call)} templates that write calls read back equal")
    assert len(equal) >= 61


if __name__ == "__main__" and sys.argv[1:2] == ["write"]:
    WRITTEN.write_text(written(pathlib.Path(sys.argv[2])))
