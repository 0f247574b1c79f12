"""What else an engine does beside structured outputs, under maskd and under xgrammar: a real `vllm serve` on a CPU.

    build/venv/bin/python tests/engines/vllm_features.py [--dtype float32] [--subjects 2] [SETUP...]

Each setup is an engine of its own, and so many subjects of each schema of examples/model_loop_python are asked of it,
greedy, 32 at once, under maskd and under vLLM's own xgrammar. All setups, when none is named:

    plain      as the others are compared with
    drafts     n-grams of the prompt are proposed
    cached     prompts begin with the same long text
    preempted  room for a few of the 32 requests
    reasoning  a reasoning parser: 24 tokens without a grammar come first (of a model that knows <think>)
    calls      text that is a call, read by vLLM's parser, and by maskd's (MASKD_FAMILY), whole and streamed

A line for each: how many answers are finished and valid, how many are those of `plain`, and vLLM's own count of what
the setup is for (answers with reasoning are counted here), which must not be 0. Exits with 1 when an answer of maskd's is not valid, or a count is 0.
77: there is no vLLM here (docs/engines.md says how one is installed).
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import vllm_answers
from vllm_engine import Engine, satisfies, text_of

_WAYS = ("maskd", "xgrammar")
_THINKING = 24
_PREFIX = "Answer as well as you can, and be brief. " * 30
_CITIES = ("Paris", "Rome", "Oslo", "Cairo", "Lima", "Quito")
_ARGUMENTS = {
    "type": "object",
    "properties": {"city": {"enum": list(_CITIES)}, "note": {"type": "string", "maxLength": 40},
                   "days": {"type": "array", "items": {"type": "integer", "maximum": 99}, "maxItems": 3}},
    "required": ["city", "note", "days"], "additionalProperties": False}
_TOOL = {"type": "function", "function": {"name": "look_up", "parameters": _ARGUMENTS}}
_CALL = json.dumps({"type": "structural_tag", "format": {
    "type": "tag", "begin": '<tool_call>\n{"name": "look_up", "arguments": ', "end": "}\n</tool_call>",
    "content": {"type": "json_schema", "json_schema": _ARGUMENTS}}})


@dataclass(frozen=True)
class Setup:
    """`counted`: a counter of vLLM's that says that it was so. `engine`: arguments of vllm_engine.serving()."""

    counted: str = ""
    prefix: str = ""
    asked: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)


_SETUPS = {
    "plain": Setup(),
    "drafts": Setup("vllm:spec_decode_num_accepted_tokens_total", engine={"drafts": 4}),
    "cached": Setup("vllm:prefix_cache_hits_total", _PREFIX, engine={"flags": ["--enable-prefix-caching"]}),
    "preempted": Setup("vllm:num_preemptions_total", engine={
        "flags": ["--block-size", "32", "--num-gpu-blocks-override", "66"]}),
    # A text may end where nothing else is allowed: this model would end its reasoning so.
    "reasoning": Setup(asked={"thinking_token_budget": _THINKING, "max_tokens": 160 + _THINKING,
                              "logit_bias": {"0": -100, "1": -100, "2": -100}},
                       engine={"flags": ["--reasoning-parser", "deepseek_r1"]}),
}


def thinking_model(model: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """The same model, of which two tokens that it never uses are <think> and </think>; its prompts begin to reason."""
    target.mkdir(exist_ok=True)
    for file in model.iterdir():
        if file.suffix == ".safetensors":
            (target / file.name).unlink(missing_ok=True)
            (target / file.name).symlink_to(file.resolve())
        else:
            shutil.copy(file, target)
    tokenizer = json.loads((target / "tokenizer.json").read_text())
    for name, text in (("<issue_start>", "<think>"), ("<issue_closed>", "</think>")):
        tokenizer["model"]["vocab"][text] = tokenizer["model"]["vocab"].pop(name)
        for added in tokenizer["added_tokens"]:
            if added["content"] == name:
                added |= {"content": text, "special": False}
    (target / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    settings = json.loads((target / "tokenizer_config.json").read_text())
    settings.pop("additional_special_tokens", None)
    settings.pop("extra_special_tokens", None)
    (target / "tokenizer_config.json").write_text(json.dumps(settings))
    template = (target / "chat_template.jinja").read_text()
    (target / "chat_template.jinja").write_text(template.replace("assistant\n", "assistant\n<think>\n"))
    return target


def ask(engine: Engine, setup: Setup, entry: dict[str, Any], subject: str) -> tuple[str, str, str]:
    """A verdict, the content and the reasoning."""
    status, answer = engine.chat(setup.prefix + entry["ask"].format(subject), {"json": entry["schema"]},
                                 **setup.asked)
    if status != 200:
        return "refused" if status == 400 else f"failed ({status})", "", ""
    text = text_of(answer)
    reasoning = answer["choices"][0]["message"].get("reasoning") or ""
    if answer["choices"][0]["finish_reason"] != "stop":
        return "cut", text, reasoning
    return "valid" if satisfies(text, entry["schema"]) else "invalid", text, reasoning


def run_setup(name: str, way: str, arguments: Any, plain: list[str]) -> bool:
    """Prints its line. `plain`: the texts of the setup of that name, which are written or compared with."""
    setup = _SETUPS[name]
    cases = [(entry, subject) for entry in vllm_answers.REQUESTS
             for subject in entry["subjects"][:arguments.subjects]]
    with vllm_answers.running(way, arguments, **setup.engine) as url, \
            concurrent.futures.ThreadPoolExecutor(32) as pool:
        engine = Engine(url)
        answers = list(pool.map(lambda case: ask(engine, setup, *case), cases))
        count = engine.counted(setup.counted) if setup.counted else None
    verdicts = [verdict for verdict, _, _ in answers]
    valid = verdicts.count("valid")
    line = f"{name:10} {way:9} {valid} of {len(cases)} finished and valid"
    if name == "plain":
        plain[:] = [text for _, text, _ in answers]
    elif plain and not setup.prefix and name != "reasoning":
        line += f", {sum(text == other for (_, text, _), other in zip(answers, plain, strict=True))} as plain"
    if name == "reasoning":
        count = sum(bool(reasoning.strip()) for _, _, reasoning in answers)
        line += f", {count} with reasoning"
    elif setup.counted:
        line += f", {setup.counted} {count:.0f}"
    print(line, {each: verdicts.count(each) for each in sorted(set(verdicts) - {"valid"})} or "", flush=True)
    return way != "maskd" or (valid == len(cases) and count != 0)


def _calls(engine: Engine, city: str) -> tuple[Any, Any]:
    """What an answer's calls are, whole and streamed: names and arguments."""
    asked = {"tools": [_TOOL], "structured_outputs": {"structural_tag": _CALL}}
    status, answer = engine.chat(f"The weather in {city}?", **asked)
    message = answer["choices"][0]["message"] if status == 200 else {}
    whole = [(call["function"]["name"], call["function"]["arguments"])
             for call in message.get("tool_calls") or ()]
    _, streamed = engine.streamed(f"The weather in {city}?", **asked)
    return whole, [(call["name"], call["arguments"]) for call in streamed]


def run_calls(way: str, arguments: Any, plain: list[Any]) -> bool:
    """The same calls by vLLM's parser and by maskd's. `plain`: those of the first engine, which has the same masks."""
    maskd = way == "maskd by maskd"
    engine = {"tools": "maskd", "variables": {"MASKD_FAMILY": "qwen_3"}} if maskd else {"tools": "hermes"}
    with vllm_answers.running(way.partition(" ")[0], arguments, **engine) as url:
        pairs = [_calls(Engine(url), city) for city in _CITIES]
    good = sum(len(whole) == 1 and satisfies(whole[0][1], _ARGUMENTS) for whole, _ in pairs)
    read = [[(name, json.loads(text)) for name, text in whole] for whole, _ in pairs]
    same = sum([(name, json.loads(text)) for name, text in streamed] == each
               for (_, streamed), each in zip(pairs, read, strict=True))
    line = f"calls      {way:16} {good} of {len(pairs)} are one call, {same} streamed as whole"
    equal = len(pairs)
    if maskd and plain:
        equal = sum(one == other for one, other in zip(read, plain, strict=True))
        line += f", {equal} read as by vLLM"
    plain[:] = plain or read
    print(line, flush=True)
    return not way.startswith("maskd") or good == same == equal == len(pairs)


def main() -> None:
    parser = vllm_answers.parser_of(__doc__, "vllm-features", 8315, 2)
    parser.add_argument("setups", nargs="*", metavar="SETUP")
    arguments = parser.parse_args()
    vllm_answers.need(arguments)
    thinking = thinking_model(pathlib.Path(arguments.model), pathlib.Path(f"{arguments.model}-thinking"))
    texts: dict[str, list[str]] = {way: [] for way in _WAYS}
    runs: list[Callable[[], bool]] = []
    for name in arguments.setups or [*_SETUPS, "calls"]:
        if name == "calls":
            calls: list[Any] = []
            runs += [lambda way=way, calls=calls: run_calls(way, arguments, calls)
                     for way in ("maskd by vLLM", "maskd by maskd", "xgrammar by vLLM")]
        else:
            model = str(thinking) if name == "reasoning" else arguments.model
            runs += [lambda name=name, way=way, model=model: run_setup(
                name, way, argparse.Namespace(**{**vars(arguments), "model": model}), texts[way]) for way in _WAYS]
    good = [run() for run in runs]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
