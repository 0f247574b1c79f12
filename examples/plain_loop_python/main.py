"""A small engine with a batch: rows that are held to grammars, and one that is free, in one step each.

    maskd &                                     # with its embedded vocabulary: a token is a byte
    python main.py [ADDRESS [SEED]]             # ADDRESS defaults to unix:/tmp/maskd.sock
"""

import sys

import numpy as np

import maskd

SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["Lima", "Oslo", "Kyoto"]}, "celsius": {"enum": [-4, 0, 12, 31]}},
    "required": ["city", "celsius"],
    "additionalProperties": False,
}
# None: the row is never mentioned to the server, and its logits are never touched.
REQUESTS = {
    "json_schema": maskd.Grammar.json_schema(SCHEMA, white_space="compact"),
    "regex": maskd.Grammar.regex("[a-z]{3,8}@example\\.(com|org)"),
    "choice": maskd.Grammar.choice(["positive", "negative", "neutral"]),
    "free": None,
}
MAX_TOKENS = 64


class Model:
    """In place of a real one: noise over printable text, which seldom escapes a letter."""

    def __init__(self, width: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._scores = np.full(width, -30.0, dtype=np.float32)
        self._scores[32:127] = 0.0
        self._scores[ord("\\")] = -20.0

    def forward(self, rows: int) -> np.ndarray:
        noise = self._random.standard_normal((rows, self._scores.size), dtype=np.float32)
        return self._scores + noise


def generate(client: maskd.Client, seed: int) -> dict[str, str]:
    """The text of each request."""
    applier = maskd.Applier()
    names = list(REQUESTS)
    texts: dict[str, list[int]] = {name: [] for name in names}
    width = client.tokenizers()[0]["vocab_size"]
    with client.open_stream(width) as stream:
        model, step = Model(width, seed), maskd.Step()
        for row, grammar in enumerate(REQUESTS.values()):
            if grammar is not None:
                step.open(row, grammar, wait_s=10)
        running = set(range(len(names)))
        while running:
            masked = {row: row for row in running if REQUESTS[names[row]] is not None}
            stream.submit(step)
            logits = model.forward(len(names))  # the server makes the masks meanwhile
            stream.collect().apply(applier, logits, masked)
            step.clear()
            for row in sorted(running):
                token = int(logits[row].argmax())
                if token in stream.stop_ids or len(texts[names[row]]) == MAX_TOKENS:
                    running.discard(row)
                    if row in masked:
                        step.close(row)
                    continue
                texts[names[row]].append(token)
                if row in masked:
                    step.take(row, [token])
    return {name: bytes(tokens).decode(errors="replace") for name, tokens in texts.items()}


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "unix:/tmp/maskd.sock"
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with maskd.Client(address, timeout_s=10) as client:
        for name, text in generate(client, seed).items():
            print(f"{name:12} {text}")


if __name__ == "__main__":
    main()
