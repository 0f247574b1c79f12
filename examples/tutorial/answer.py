"""A real model's answer that a JSON schema accepts: the tutorial's program (docs/tutorial.md).

    PYTHONPATH=client/python:examples/model_loop_python python examples/tutorial/answer.py "PROMPT"
"""

import json
import os
import pathlib
import sys

import maskd
import numpy as np
from gguf_model import Cache, Model, Span

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "build/vocab/smollm2/smollm2-135m-instruct.gguf"
ADDRESS = os.environ.get("MASKD_ADDRESS", "unix:/tmp/maskd.sock")
MAX_TOKENS = 60
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "city": {"enum": ["Lima", "Oslo", "Kyoto"]},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}


def answer(model: Model, stream: maskd.Stream | None, prompt: str) -> str:
    """Greedy decoding; held to SCHEMA where there is a stream."""
    ends = {model.tokenizer.end}
    applier = maskd.Applier()
    cache = Cache(model, 1, 512)
    fed = model.tokenizer.encode(f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n")
    taken: list[int] = []
    past = 0
    if stream is not None:  # 1. once a sequence: open a row
        grammar = maskd.Grammar("json_schema", json.dumps(SCHEMA))
        stream.submit(maskd.Step().open(1, grammar, remaining_tokens=MAX_TOKENS, wait_s=10))
    while len(taken) < MAX_TOKENS:
        logits = model.forward(np.array(fed), [Span(0, past, len(fed))], np.array([len(fed) - 1]), cache)
        if stream is not None:  # 2. the mask of the step onto the logits, in place
            stream.collect(10).apply(applier, logits, {1: 0})
        token = int(logits[0].argmax())
        if token in ends:
            break
        taken.append(token)
        past += len(fed)
        fed = [token]
        if stream is not None:  # 3. what was sampled; the next forward pass hides the work
            stream.submit(maskd.Step().take(1, [token]))
    return model.tokenizer.decode(taken)


def main() -> None:
    prompt = sys.argv[1] if len(sys.argv) > 1 else "Describe a person as JSON with name, age and city."
    model = Model(str(MODEL))
    print("without a grammar:", repr(answer(model, None, prompt)))
    client = maskd.Client(ADDRESS)
    with client.open_stream(logits_width=model.vocab_size) as stream:
        text = answer(model, stream, prompt)
    print("with the schema:  ", text)
    print("as Python reads it:", json.loads(text))


if __name__ == "__main__":
    main()
