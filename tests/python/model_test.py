"""examples/model_loop_python: a real model through a real server. Needs scripts/fetch-vocab smollm2; without
it nothing here is tested, said aloud and counted as skipped."""

import json
import os
import pathlib
import re
import subprocess
import sys

import jsonschema
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
MODEL = ROOT / "build/vocab/smollm2/smollm2-135m-instruct.gguf"
if not MODEL.is_file():
    pytest.skip(f"NOT TESTED: no {MODEL}; scripts/fetch-vocab smollm2 gets it", allow_module_level=True)

sys.path.insert(0, str(ROOT / "examples/model_loop_python"))
import main as example  # noqa: E402
from gguf_model import Cache, Model, Span  # noqa: E402

import maskd  # noqa: E402


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(str(MODEL))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    socket = pathlib.Path(tmp_path_factory.mktemp("maskd")) / "s"
    flags = [f"--listen=unix:{socket}", "--metrics_listen=",
             f"--tokenizer=smollm2={MODEL},stop=<|im_end|>"]
    with subprocess.Popen([os.environ["MASKD_SERVER"], *flags], stdin=subprocess.DEVNULL) as server:
        with maskd.Client(f"unix:{socket}", timeout_s=60) as connected:
            yield connected
        server.terminate()


@pytest.fixture
def stream(client, model):
    with client.open_stream(model.vocab_size) as opened:
        yield opened


@pytest.fixture(scope="module")
def recorded():
    """What transformers says of the same file: transformers_run.py --logits."""
    return json.loads((ROOT / "tests/python/model_logits.json").read_text())["texts"]


def test_tokens_are_those_of_transformers(model, recorded):
    for text in recorded:
        assert model.tokenizer.encode(text["text"]) == text["tokens"]
        assert model.tokenizer.decode(text["tokens"]) == re.sub(r"<\|\w+\|>", "", text["text"])


def test_logits_are_those_of_transformers(model, recorded):
    """Of all texts in one batch, and of each cut into a prompt and single tokens behind it."""
    tokens = [text["tokens"] for text in recorded]
    ends = np.cumsum([len(each) for each in tokens])
    spans = [Span(slot, 0, len(each)) for slot, each in enumerate(tokens)]
    cache = Cache(model, 2 * len(tokens), 64)
    together = model.forward(np.concatenate(tokens), spans, ends - 1, cache)
    for slot, (each, text) in enumerate(zip(tokens, recorded, strict=True)):
        own = len(tokens) + slot
        model.forward(np.array(each[:-3]), [Span(own, 0, len(each) - 3)], np.array([0]), cache)
        for past in range(len(each) - 3, len(each)):
            alone = model.forward(np.array(each[past:past + 1]), [Span(own, past, 1)], np.array([0]),
                                  cache)
        for logits in (together[slot], alone[0]):
            assert np.argsort(-logits)[:10].tolist() == text["likeliest"]
            np.testing.assert_allclose(logits[text["likeliest"]], text["logits"], atol=2e-3)


def test_a11_every_constrained_answer_is_valid_and_the_free_ones_are_not(model, client, stream):
    """2 schemas (all 20 with MASKD_LONG), 4 regular expressions, 4 choices, 2 tool calls and 3 free
    rows share the batches, with drafts, every second row sampled."""
    of_schemas = example.cases.schema_cases(1)[::1 if os.environ.get("MASKD_LONG") else 10]
    asked = of_schemas + example.cases.other_cases()
    answers, times = example.generate(model, client, stream, asked, of_schemas[:3])
    held, free = answers[:len(asked)], answers[len(asked):]
    assert [answer for answer in held if not answer.valid] == []
    assert len(held) == len(of_schemas) + 10 and {answer.case.kind for answer in held} == {
        "json_schema", "regex", "choice", "tool_call"}
    assert sum(answer.valid for answer in free) < len(free)
    assert times.kept > 0 and times.masked >= times.sampled // 2
    print(f"masks: {100 * times.masks / times.step:.2f} % of {times.steps} steps")


PLACE = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 20},
         "population": {"type": "integer", "minimum": 0, "maximum": 99999999}},
         "required": ["city", "population"], "additionalProperties": False}
OPENAI_REQUESTS = {
    "response_format": {"response_format": {
        "type": "json_schema", "json_schema": {"name": "place", "schema": PLACE, "strict": True}}},
    "tools": {"tools": [{"type": "function", "function": {"name": "look_up", "parameters": PLACE}}],
              "tool_choice": "required", "parallel_tool_calls": False},
}


@pytest.mark.parametrize("name", OPENAI_REQUESTS)
def test_a11_a_request_of_openais_shape_is_answered_as_it_asks(model, client, stream, name):
    """The request as it comes, and the message that maskd reads of the answer; jsonschema judges."""
    grammar = maskd.Grammar.chat("qwen_3", OPENAI_REQUESTS[name], reasoning="off")
    places = ("Paris", "Rome")
    asked = [example.cases.Case(name, place, f"Where is {place}, and how many live there?", grammar, bool)
             for place in places]
    answers, _ = example.generate(model, client, stream, asked, [])
    for answer in answers:
        assert answer.ended
        message = client.check(grammar, text=answer.text)["message"]
        if name == "tools":
            (call,) = message["tool_calls"]
            assert call["name"] == "look_up" and not message["content"]
            written = call["arguments"]
        else:
            assert not message["tool_calls"]
            written = message["content"]
        jsonschema.validate(json.loads(written), PLACE)


def test_drafts_change_no_answer(model, client, stream):
    asked = example.cases.schema_cases(1)[2:20:6]
    texts = []
    for drafts in (0, 4):
        answers, times = example.generate(model, client, stream, asked, [], drafts=drafts)
        texts.append([answer.text for answer in answers if not answer.sampled])
        assert (times.kept > 0) == (drafts > 0)
    assert texts[0] == texts[1] and len(texts[0]) == 2


def test_a2_a_mask_with_one_token_decides_greedy_sampling(model, stream):
    assert example.token_90(model, stream) == {"masked": 90, "free": 15319, "finite": 1,
                                               "others_changed": 0}
