"""The logits processors, called as transformers' and llama-cpp-python's generation loops call them:
input ids with the prompt in front, scores of the next token, one more token each time."""

import json

import fake_llama_cpp
import numpy as np
import pytest

import maskd

WIDTH = 257
END = 256


class Tensor(np.ndarray):
    """As much of torch's tensor as a processor may use."""


def tensor(values, dtype=np.float32):
    return np.array(values, dtype=dtype).view(Tensor)


def generate(processor, prompts, pick, steps=12):
    """transformers' loop: rows that have ended are padded with END."""
    ids = tensor([list(prompt) for prompt in prompts], np.int64)
    ended = np.zeros(len(prompts), dtype=bool)
    for _ in range(steps):
        scores = processor(ids, tensor(np.zeros((len(prompts), WIDTH))))
        tokens = np.where(ended, END, [pick(i, row) for i, row in enumerate(scores)])
        ended |= tokens == END
        ids = np.concatenate([ids, tokens[:, None]], axis=1).view(Tensor)
        if ended.all():
            break
    width = len(prompts[0])
    return [bytes(int(t) for t in row[width:] if t != END).decode() for row in ids]


@pytest.fixture
def processor(client):
    made = []

    def make(grammar):
        made.append(maskd.TransformersProcessor(client, grammar))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_transformers_batch_greedy(processor):
    texts = generate(processor(maskd.Grammar.regex("(ab|cde)!")), [b"one", b"two"],
                     lambda i, row: int(np.flatnonzero(np.isfinite(row))[-1 if i else 0]))
    assert texts == ["ab!", "cde!"]


def test_transformers_text_is_whole_within_its_tokens(client):
    process = maskd.TransformersProcessor(client, maskd.Grammar.regex("(ab)*c"), max_new_tokens=6)
    (text,) = generate(process, [b"p"], lambda _, row: int(row.argmax()), steps=6)
    process.close()
    assert text == "ababc"


def test_transformers_prompts_are_not_part_of_the_text(processor):
    (text,) = generate(processor(maskd.Grammar.choice(["yes"])), [b'{"a": '],
                       lambda _, row: int(row.argmax()))
    assert text == "yes"


def test_transformers_beams_that_change_places(processor):
    """Beam 1 is dropped, beam 0 goes on in both places, then they change places."""
    process = processor(maskd.Grammar.regex("a[bc][de]|x[yz]"))
    scores = lambda: tensor(np.zeros((2, WIDTH)))  # noqa: E731
    finite = lambda row: bytes(np.flatnonzero(np.isfinite(row)).tolist())  # noqa: E731
    out = process(tensor([list(b"p"), list(b"p")], np.int64), scores())
    assert [finite(row) for row in out] == [b"ax", b"ax"]
    out = process(tensor([list(b"pa"), list(b"px")], np.int64), scores())
    assert [finite(row) for row in out] == [b"bc", b"yz"]
    out = process(tensor([list(b"pab"), list(b"pac")], np.int64), scores())
    assert [finite(row) for row in out] == [b"de", b"de"]
    out = process(tensor([list(b"pacd"), list(b"pabe")], np.int64), scores())
    assert [np.flatnonzero(np.isfinite(row)).tolist() for row in out] == [[END], [END]]


def complete(*processors, max_tokens=40):
    made = fake_llama_cpp.Llama().create_completion(
        "prompt", max_tokens, logits_processor=fake_llama_cpp.LogitsProcessorList(processors))
    return made["choices"][0]


def test_llama_cpp_one_sequence(client):
    with maskd.LlamaCppProcessor(client, maskd.Grammar.json_schema(
            {"type": "object", "properties": {"n": {"enum": [7]}}, "required": ["n"],
             "additionalProperties": False}, white_space="WHITE_SPACE_COMPACT")) as processor:
        answer = complete(processor)
    assert json.loads(answer["text"]) == {"n": 7} and answer["finish_reason"] == "stop"


def test_llama_cpp_beside_another_processor(client):
    def wants_b(ids, scores):
        scores = np.array(scores)
        scores[ord("b")] += 50
        return scores

    with maskd.LlamaCppProcessor(client, maskd.Grammar.regex("[ab]{3}c"), max_new_tokens=5) as processor:
        assert complete(wants_b, processor)["text"] == "bbbc"


def test_llama_cpp_logits_side_by_side(client):
    """As before version 0.3, and as an engine of one's own has them."""
    with maskd.LlamaCppProcessor(client, maskd.Grammar.choice(["x", "y"])) as processor:
        scores = processor(np.array([1, 2], dtype=np.intc), np.zeros(WIDTH, dtype=np.single))
    assert np.flatnonzero(np.isfinite(scores)).tolist() == [ord("x"), ord("y")]


# The exception that is lost on its way through C is printed; pytest warns of it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_llama_cpp_an_error_ends_the_text_and_is_raised_at_the_end(client):
    def insists(ids, scores):
        scores = np.full_like(scores, -np.inf)
        scores[ord("-")] = 0
        return scores

    with pytest.raises(maskd.MaskdError, match="INVALID_ARGUMENT"):
        with maskd.LlamaCppProcessor(client, maskd.Grammar.regex("[a-z]+")) as processor:
            answer = complete(processor, insists)
    assert answer == {"text": "-", "finish_reason": "stop"}


def test_llama_cpp_a_grammar_that_fails_is_said_at_once(client):
    with pytest.raises(maskd.MaskdError, match="INVALID_ARGUMENT"):
        maskd.LlamaCppProcessor(client, maskd.Grammar.regex("(a"))


def test_a_grammar_that_fails_raises_its_error(processor):
    with pytest.raises(maskd.MaskdError, match="INVALID_ARGUMENT"):
        processor(maskd.Grammar.regex("(a"))(tensor([[1]], np.int64), tensor(np.zeros((1, WIDTH))))
