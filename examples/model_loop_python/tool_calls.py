"""Calls of tools by a real model in llama-cpp-python, in the forms of several families.

    maskd --tokenizer "$(scripts/fetch-vocab --print-flag smollm2)" &
    pip install llama-cpp-python gguf tokenizers 'jsonschema[format-nongpl]'    # builds llama.cpp
    python tool_calls.py --runs 100

A run: the model answers, held to nothing. Then it answers once more with the same seed, held to a
chat grammar. So small a model calls no tool by itself: where its free answer came to its end, the
run makes it begin a call, as an engine does with a bias. All that follows is the model's.

A run is good where
- the text before the call is the free answer, token for token: the masks left it alone
- there is a call, and the answer is whole
- a parser of this file's own (json, ast, re) finds calls whose arguments jsonschema holds valid
- maskd reads the same calls and the same text

Exit status 1: a run is not good.
"""

import argparse
import ast
import json
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import jsonschema
import llama_cpp
import maskd
import numpy as np

from cases import chat
from llama_cpp_run import MODEL

LENGTH = 384
TEXT_TOKENS = 24
CALL_TOKENS = 80


def _tool(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": properties, "required": required, "additionalProperties": False}}}


TOOLS = [
    _tool("get_weather", {"city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "minimum": 1,
                          "maximum": 14}, "unit": {"enum": ["celsius", "fahrenheit"]}}, ["city", "days"]),
    _tool("add", {"a": {"type": "number"}, "b": {"type": "number"}}, ["a", "b"]),
    _tool("write_file", {"path": {"type": "string"}, "text": {"type": "string"}, "append": {"type": "boolean"}},
          ["path", "text"]),
    _tool("search", {"words": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
                     "most": {"type": ["integer", "null"]}}, ["words"]),
]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
SUBJECTS = ["Oslo", "Rome", "Lima", "Cairo", "Tokyo", "Paris", "Delhi", "Quito", "Seoul", "Bern"]
ASKS = ["What is the weather in {}?", "How much is 17 and {n}?", "Write a line about {} to a file.",
        "Search for hotels in {}.", "Will it rain in {} this week?", "Add {n} and 2.5, please.",
        "Note down that {} is nice.", "Find three books about {}.", "Is it cold in {}?", "Tell me about {}."]

Call = tuple[str, dict[str, Any]]
Read = tuple[list[Call], str]  # the calls, and the text around them


def questions() -> list[str]:
    return [ask.format(subject, n=3 * i + 1) for ask in ASKS for i, subject in enumerate(SUBJECTS)]


def read_json(text: str) -> Read:
    """qwen_3: JSON between <tool_call> and </tool_call>."""
    calls: list[Call] = []
    around, at = "", 0
    while (begin := text.find("<tool_call>\n", at)) >= 0:
        around += text[at:begin]
        call, at = json.JSONDecoder().raw_decode(text, begin + len("<tool_call>\n"))
        if not text.startswith("\n</tool_call>", at) or call.keys() != {"name", "arguments"}:
            raise ValueError(f"no call: {text[begin:]!r}")
        calls.append((call["name"], call["arguments"]))
        at += len("\n</tool_call>")
    return calls, around + text[at:]


def read_elements(text: str) -> Read:
    """qwen_3_coder: an element for each argument; strings as they are but for a line break at either
    end, other values as JSON."""
    calls: list[Call] = []
    whole = re.compile(r"<tool_call>\n<function=(\w+)>\n(.*?)</function>\n</tool_call>", re.DOTALL)
    for name, body in whole.findall(text):
        arguments = {}
        for key, value in re.findall(r"<parameter=(\w+)>(.*?)</parameter>", body, re.DOTALL):
            schema = SCHEMAS[name]["properties"][key]
            is_text = schema.get("type") == "string" or "enum" in schema
            arguments[key] = value.removeprefix("\n").removesuffix("\n") if is_text else json.loads(value)
        calls.append((name, arguments))
    return calls, whole.sub("", text)


class _Words(ast.NodeTransformer):
    """JSON's words are values, as SGLang's parser of this form has it, too."""

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
        words = {"true": True, "false": False, "null": None}
        return ast.Constant(words[node.id]) if node.id in words else node


def read_python(text: str) -> Read:
    """lfm_2: a list of calls as Python writes them, or with JSON's words."""
    calls: list[Call] = []
    begin = text.find("<|tool_call_start|>")
    if begin < 0:
        return calls, text
    source, end, behind = text[begin + len("<|tool_call_start|>"):].rpartition("<|tool_call_end|>")
    if not end:
        raise ValueError(f"the calls have no end: {text!r}")
    written = ast.parse(source, mode="eval").body
    if not isinstance(written, ast.List):
        raise ValueError(f"no list: {source!r}")
    for call in written.elts:
        if not isinstance(call, ast.Call):
            raise ValueError(f"no call: {ast.unparse(call)}")
        arguments = {str(one.arg): ast.literal_eval(_Words().visit(one.value)) for one in call.keywords}
        calls.append((ast.unparse(call.func), arguments))
    return calls, text[:begin] + behind


class Begin:
    """At one place of the answer, the tokens that begin a call and no others."""

    def __init__(self, at: int, tokens: list[int]) -> None:
        self._at = at
        self._tokens = tokens

    def __call__(self, input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        place = len(input_ids) - self._at
        if 0 <= place < len(self._tokens):
            token = self._tokens[place]
            score = scores[token]
            scores[:] = -np.inf
            scores[token] = score  # stays refused where the mask refuses it
        return scores


class Runner:
    def __init__(self, model: Any, client: maskd.Client, family: str, trigger: str,
                 read: Callable[[str], Read]) -> None:
        self._model = model
        self._client = client
        self._trigger = model.tokenize(trigger.encode(), add_bos=False, special=True)
        self._read = read
        grammar = maskd.Grammar.chat(family, {"tools": TOOLS})
        self._grammar = client.compile(grammar)
        self._source = grammar

    def fault(self, question: str, seed: int) -> str:
        """What is wrong with a run; empty: nothing."""
        prompt = chat(question)
        free = self._answer(prompt, seed, TEXT_TOKENS, None)
        text_tokens = free["usage"]["completion_tokens"]
        most = text_tokens + len(self._trigger) + CALL_TOKENS
        begin = Begin(free["usage"]["prompt_tokens"] + text_tokens, self._trigger)
        with maskd.LlamaCppProcessor(self._client, self._grammar, max_new_tokens=most) as processor:
            held = self._answer(prompt, seed, most, [processor, begin])
        before, text = free["choices"][0]["text"], held["choices"][0]["text"]
        print(f"  {text!r}", flush=True)
        if not text.startswith(before):
            return f"the text is not {before!r}"
        if held["choices"][0]["finish_reason"] != "stop":
            return "the answer is cut"
        return self._fault_of(text)

    def _fault_of(self, text: str) -> str:
        try:
            calls, around = self._read(text)
            for name, arguments in calls:
                jsonschema.validate(arguments, SCHEMAS[name])
        except (ValueError, KeyError, SyntaxError, jsonschema.ValidationError) as error:
            return f"{type(error).__name__}: {error}"
        if not calls:
            return "there is no call"
        message = self._client.check(self._source, text=text)["message"]
        said = [(call["name"], json.loads(call["arguments"]))
                for call in message.get("tool_calls", [])]
        if said != calls:
            return f"maskd reads {said}, not {calls}"
        content = message.get("content") or ""
        return "" if content.split() == around.split() else f"maskd reads {content!r}, not {around!r}"

    def _answer(self, prompt: str, seed: int, most: int, processors: list[Any] | None) -> Any:
        self._model.reset()  # what is kept of a prompt is computed in other batches, so with other roundings
        return self._model.create_completion(
            prompt, max_tokens=most, temperature=0.7 * (seed % 2), seed=seed,
            logits_processor=processors and llama_cpp.LogitsProcessorList(processors))


FAMILIES = {"qwen_3": ("<tool_call>", read_json), "qwen_3_coder": ("<tool_call>", read_elements),
            "lfm_2": ("<|tool_call_start|>[", read_python)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Calls of tools by a real model, in several families' forms.")
    parser.add_argument("--server", default="unix:/tmp/maskd.sock")
    parser.add_argument("--model", type=pathlib.Path, default=MODEL)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--runs", type=int, default=100, help="of each family, up to 100")
    arguments = parser.parse_args()
    model = llama_cpp.Llama(str(arguments.model), n_ctx=LENGTH, n_threads=1, n_threads_batch=1, verbose=False)
    all_good = True
    with maskd.Client(arguments.server, timeout_s=10) as client:
        for family in arguments.families.split(","):
            trigger, read = FAMILIES[family]
            runner = Runner(model, client, family, trigger, read)
            asked = questions()[:arguments.runs]
            faults = [(question, runner.fault(question, seed)) for seed, question in enumerate(asked)]
            good = sum(not fault for _, fault in faults)
            print("".join(f"  BAD {question!r}: {fault}\n" for question, fault in faults if fault), end="")
            print(f"{family}: {good} of {len(asked)} runs good", flush=True)
            all_good = all_good and good == len(asked)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
