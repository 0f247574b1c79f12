"""The transcripts of llama.cpp's own test of its parsers (tests/test-chat.cpp) read the same by our families.

They are read from llama-cpp-python's source archive (scripts/llama-cpp), as llama_cpp_transcripts.py says; each is of a
chat template, whose family chat_templates.json names. A difference stands in llama_cpp_transcripts.json by its template
and line, with its reason, and is no difference any more where both agree. White space around content and reasoning is not
compared, as templates add and strip it. The prompt's end, which decides how reasoning begins, is not in a transcript:
it is held to each mode of reasoning, and one has to read it so.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import llama_cpp_transcripts  # noqa: E402
from llama_cpp_transcripts import Case  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
HERE = pathlib.Path(__file__).parent
TEMPLATES: dict[str, dict[str, Any]] = json.loads((HERE / "chat_templates.json").read_text())
REASONS: dict[str, dict[str, list[int]]] = json.loads((HERE / "llama_cpp_transcripts.json").read_text())
LISTED = {(template, line) for by_template in REASONS.values() for template, lines in by_template.items() for line in lines}
FAMILIES = sorted({row["family"] for row in TEMPLATES.values() if "family" in row})
MODES = ("off", "auto", "open", "on")
# What stands around the model's turn and is no answer: llama.cpp passes over it.
TURN_BEGINS = {"command_r": "<|CHATBOT_TOKEN|>"}
TURN_ENDS = {"command_r": "<|END_OF_TURN_TOKEN|>", "kimi_k3": "<|close|>message<|sep|>", "ling_3": "<|role_end|>"}
# What ends the answer where there is a call, and llama.cpp does not wait for.
CALL_ENDS = {"gpt_oss": "<|call|>"}
# A test function's parameter: all that it is called with are LFM2's.
TEMPLATE_OF = {"template_path": "LFM2.5-8B-A1B"}


@pytest.fixture(scope="session")
def cases() -> dict[str, list[Case]]:
    done = subprocess.run([ROOT / "scripts/llama-cpp", "sources"], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"SKIPPED: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    reader = llama_cpp_transcripts.Reader((pathlib.Path(done.stdout.strip()) / "tests/test-chat.cpp").read_text())
    made = collections.defaultdict(list)
    for case in reader.cases():
        template = case.template.removeprefix("models/templates/").removesuffix(".jinja")
        case.template = TEMPLATE_OF.get(template, template)
        # What goes on with a message that the prompt has begun, or is cut off, is no whole answer.
        if "continue_final_message" not in case.given and "is_partial" not in case.given:
            made[TEMPLATES[case.template].get("family", "none")].append(case)
    assert len(reader.unread) <= 6, reader.unread
    return made


def request(case: Case) -> dict[str, Any]:
    tools = case.given.get("tools", [[]])[0]
    made: dict[str, Any] = {}
    if tools:
        made["tools"] = [{"type": "function", "function": {"name": name, "parameters": json.loads(schema)}}
                         for name, _, schema in tools]
        if "parallel_tool_calls" in case.given:
            made["parallel_tool_calls"] = case.given["parallel_tool_calls"][0]
        if "tool_choice" in case.given:
            made["tool_choice"] = case.given["tool_choice"][0].removeprefix("COMMON_CHAT_TOOL_CHOICE_").lower()
    if "json_schema" in case.given:
        schema = json.loads(case.given["json_schema"][0])
        made["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return made


def text(case: Case, family: str) -> str:
    whole = case.text.removeprefix(TURN_BEGINS.get(family, "")).removesuffix(TURN_ENDS.get(family, ""))
    if family in CALL_ENDS and "tool_calls" in case.message() and not whole.endswith(CALL_ENDS[family]):
        whole += CALL_ENDS[family]
    return whole


def stripped(message: dict[str, Any]) -> dict[str, Any]:
    texts = {name: message.get(name, "").strip() for name in ("content", "reasoning_content")}
    calls = [{"name": call["name"], "arguments": call["arguments"]} for call in message.get("tool_calls", [])]
    return {name: value for name, value in (texts | {"tool_calls": calls}).items() if value}


def read(family: str, of: list[Case], file: pathlib.Path) -> list[list[str]]:
    """What maskctl says of each, in each mode; an empty text where it is equal."""
    rows = [{"why": str(case.line), "request": request(case), "text": text(case, family), "takes": True,
             "reasoning": mode, "message": case.message()} for case in of for mode in MODES]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = subprocess.run([os.environ["MASKD_MASKCTL"], "family", "test", family, "--local", "--json", file],
                          capture_output=True, text=True)
    report = json.loads(said.stdout)
    assert report["transcripts"] == len(rows), said.stdout + said.stderr
    faults = [""] * len(rows)
    for wrong in report["wrong"]:
        at, fault = wrong["line"] - 1, wrong["fault"]
        reads = json.loads(fault.removeprefix("reads as ")) if fault.startswith("reads as ") else None
        if reads is None or stripped(reads) != stripped(rows[at]["message"]):
            faults[at] = f"{MODES[at % len(MODES)]}: {fault}"
    return [faults[i:i + len(MODES)] for i in range(0, len(rows), len(MODES))]


@pytest.mark.parametrize("family", FAMILIES)
def test_transcripts_read_the_same(family: str, cases: dict[str, list[Case]], tmp_path: pathlib.Path) -> None:
    of = cases.get(family, [])
    if not of:
        pytest.skip("llama.cpp has no transcript of it")
    found = []
    for case, faults in zip(of, read(family, of, tmp_path / "transcripts.jsonl"), strict=True):
        if all(faults) != ((case.template, case.line) in LISTED):
            found.append("\n  ".join([f"{case.template} line {case.line}, {case.given}:", repr(case.text),
                                      f"expected {case.message()}", *filter(None, faults)]))
    assert not found, f"{len(found)} of {len(of)} otherwise than listed\n" + "\n".join(found)


def test_each_difference_is_of_a_transcript(cases: dict[str, list[Case]]) -> None:
    known = {(case.template, case.line) for of in cases.values() for case in of}
    assert not LISTED - known
    total = sum(len(of) for family, of in cases.items() if family != "none")
    print(f"{total - len(LISTED)} of {total} transcripts read the same")
    assert total >= 338
