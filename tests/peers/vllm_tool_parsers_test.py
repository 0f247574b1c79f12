"""The families' transcripts read the same by vLLM's own parsers of calls, which know nothing of ours.

Whole, and token by token. A difference is listed with its reason, and is no difference any more where they agree.
"""

import json
import logging
import pathlib
import subprocess
import sys
from typing import Any

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import vllm_tool_parsers  # noqa: E402
from vllm_tool_parsers import Tokenizer  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WHEELS = ("vllm==0.33.0", "partial-json-parser==0.2.1.1.post7", "ijson==3.6.0")
PARSERS = {
    "apertus": "apertus",
    "apriel_1_5": "hunyuan_a13b",
    "deepseek_v3": "deepseek_v3",
    "deepseek_v3_1": "deepseek_v31",
    "deepseek_v3_2": "deepseek_v32",
    "deepseek_v4": "deepseek_v4",
    "deepseek_v4_1": "deepseek_v41",
    "exaone_4": "hermes",
    "functiongemma": "functiongemma",
    "gemma_4": "gemma4",
    "gigachat_3": "gigachat3",
    "gigachat_3_1": "gigachat3",
    "glm_4_5": "glm45",
    "glm_4_7": "glm47",
    "granite_20b_fc": "granite-20b-fc",
    "granite_3": "granite",
    "hy_3": "hy_v3",
    "hy_4": "hy_v4",
    "kimi_k2": "kimi_k2",
    "kimi_k3": "kimi_k3",
    "laguna_xs": "poolside_v1",
    "lfm_2": "lfm2",
    "ling_3": "ling3",
    "llama_3": "llama3_json",
    "llama_4": "llama4_pythonic",
    "mimo": "mimo",
    "minicpm_5": "minicpm5",
    "minimax_m2": "minimax_m2",
    "minimax_m3": "minimax_m3",
    "mistral": "mistral",
    "mistral_nemo": "mistral",
    "mistral_small_3_2": "mistral",
    "muse_glimmer": "muse_glimmer",
    "olmo_3": "olmo3",
    "phi_4_mini": "phi4_mini_json",
    "qwen_3": "hermes",
    "qwen_3_coder": "qwen3_coder",
    "reka_edge": "hermes",
    "seed_oss": "seed_oss",
    "step_3": "step3",
}
NO_PARSER = {
    "cohere_2": "read by cohere_melody, a library of its own",
    "cohere_r7b": "read by cohere_melody, a library of its own",
    "command_r": "vLLM has none",
    "firefunction_2": "vLLM has none",
    "functionary_3_1": "vLLM has none",
    "functionary_3_2": "vLLM has none",
    "gpt_oss": "read by openai_harmony, a library of its own",
    "minimax_m1": "vLLM has none",
    "nemotron_nano_2": "vLLM has none",
    "solar_open": "vLLM has none",
}
# Tokens that matter to a parser beyond those that it asks for.
TOKENIZERS = {
    "hy_3": {"settings": {"token_suffix": ":opensource"},
             "has": ["<arg_key:opensource>", "</arg_key:opensource>", "<arg_value:opensource>",
                     "</arg_value:opensource>", "<tool_sep:opensource>"]},
    "mistral_nemo": {"lacks": ["[ARGS]"]},
}
BOTH, TOKENS = ("whole", "tokens"), ("tokens",)
EVERY = "every transcript"
START = "a call is read at the start of a text alone"
# Why vLLM reads otherwise: family, what the transcript is of, and in which way it comes.
DIFFERS = {
    ("apriel_1_5", "text before a call", TOKENS): START,
    ("functiongemma", EVERY, BOTH): "arguments that are no strings are left out",
    ("granite_20b_fc", "text before a call", TOKENS): START,
    ("llama_4", "text before a call", BOTH): START,
    ("minicpm_5", "a CDATA section, not at the start", BOTH): "a section is looked for anywhere in a value",
    ("minimax_m3", "a schema within itself", BOTH): "an array behind a $ref is an object",
    ("mistral_small_3_2", EVERY, BOTH): "[CALL_ID] and the id are taken for the name's end",
    ("olmo_3", "text before a call", TOKENS): START,
    ("olmo_3", "reasoning", TOKENS): START,
    ("olmo_3", "reasoning that the prompt began", TOKENS): START,
    ("olmo_3", "reasoning may be", TOKENS): START,
    ("olmo_3", "two calls", TOKENS): "2.5 is 2.0 where a token ends behind its point",
    ("phi_4_mini", EVERY, TOKENS): "has no streams",
    ("step_3", "null", BOTH): "null is a text where the schema has a list of types",
}


@pytest.fixture(scope="session", autouse=True)
def installed():
    done = subprocess.run([ROOT / "scripts/engine-sources", *WHEELS], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"SKIPPED: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    logging.disable(logging.CRITICAL)  # it tells of errors that it then swallows
    vllm_tool_parsers.install([pathlib.Path(line) for line in done.stdout.split()])
    yield
    logging.disable(logging.NOTSET)


def transcripts(family: str) -> list[dict[str, Any]]:
    """Those with calls."""
    rows = [json.loads(line) for line in (ROOT / f"tests/families/{family}.jsonl").read_text().splitlines()]
    return [row for row in rows if row["takes"] and (row["message"] or {}).get("tool_calls")]


def reads(way: str, family: str, row: dict[str, Any]) -> Any:
    """Names and arguments, or the text that is no JSON."""
    read = {"whole": vllm_tool_parsers.calls_of, "tokens": vllm_tool_parsers.calls_of_tokens}[way]
    tools = [tool if "function" in tool else {"function": tool} for tool in row["request"]["tools"]]
    try:
        return read(PARSERS[family], row["text"], tools, Tokenizer(**TOKENIZERS.get(family, {})))
    except json.JSONDecodeError as error:
        return error.doc


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # ijson's generators that are left
@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("family", PARSERS)
def test_transcripts_read_the_same(family, way):
    rows = transcripts(family)
    assert len(rows) >= 5
    listed = {why for named, why, ways in DIFFERS if named == family and way in ways}
    for row in rows:
        written = [(call["name"], call["arguments"]) for call in row["message"]["tool_calls"]]
        read = reads(way, family, row)
        differs = row["why"] in listed or EVERY in listed
        assert (read == written) is not differs, (row["why"], row["text"], read)


def test_each_difference_is_of_a_transcript():
    for family, why, _ in DIFFERS:
        assert why in [EVERY, *(row["why"] for row in transcripts(family))]


def test_each_family_has_a_parser_or_a_reason():
    families = {path.stem for path in (ROOT / "tests/families").glob("*.jsonl")}
    assert families == PARSERS.keys() | NO_PARSER.keys() and not PARSERS.keys() & NO_PARSER.keys()
